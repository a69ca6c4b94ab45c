package locks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// chains describes the threads that block until a task completes, the awaited locks with known owners, and the threads
// that wait for others in other ways.
func (g *grapher) chains() []answer.Verdict {
	var out []answer.Verdict
	for _, alike := range g.blocked() {
		out = append(out, g.blocks(alike...))
	}
	out = slices.Concat(out, g.held(), g.unheld(), g.others(), g.sharedHandles(), g.fullSemaphores())
	for _, w := range g.s.waits {
		if (len(w.tasks) > 0 || w.event != 0) && !w.completed && !g.circled[w] && w.entry && !w.entryIdles() {
			out = append(out, g.blocks(w))
		}
	}
	return out
}

// blocked groups the threads that block until a task completes by place and awaited async methods. It skips tasks that
// a known thread runs.
func (g *grapher) blocked() [][]*wait {
	var out [][]*wait
	at := map[string]int{}
	for _, w := range g.s.waits {
		if len(w.tasks) == 0 && w.event == 0 || w.completed || g.circled[w] || g.described[w] || w.entry || w.accepts() || g.asksServer(w) || g.awaitsWorkers(w) {
			continue
		}
		row := g.rows[w.thread]
		key := fmt.Sprintf("%s|%q|%t|%s|%t|%s|%d", g.placeOf(w).Text, w.chain, row.Until == "", w.ends.Text, w.proved, w.how, len(w.tasks))
		if i, ok := at[key]; ok && len(w.runners) == 0 && !row.Method.IsZero() {
			out[i] = append(out[i], w)
			continue
		}
		if len(w.runners) == 0 {
			at[key] = len(out)
		}
		out = append(out, []*wait{w})
	}
	return out
}

// asksServer reports whether a thread of its own, no worker of the thread pool, waits for a server or a socket, or for code that has its turn in a pool which
// does not starve: as if it read from the socket itself, it takes no worker from others. A thread with a context that awaits come back to is not meant.
func (g *grapher) asksServer(w *wait) bool {
	p := g.s.pool
	if p == nil || p.Total.Err() != nil || w.async || len(w.tasks) != 1 || g.s.postsTo(w.thread) != "" {
		return false
	}
	says := w.until.Says
	turn := (w.ready || says == words.PoolWorker.Kind()) && !slices.ContainsFunc(p.Verdicts, func(v answer.Verdict) bool { return v.Kind == answer.FindingStarved })
	if !turn && says != words.Connection.Kind() && says != words.ServersAnswer.Kind() && !tasks.WaitsForPeer(w.until) {
		return false
	}
	return !slices.ContainsFunc(p.Workers, func(o answer.PoolWorker) bool { return o.Thread.OSID == w.thread.OS.ID })
}

// blocks describes one thread that blocks until a task completes, or several alike, with the async methods between.
func (g *grapher) blocks(alike ...*wait) answer.Verdict {
	w := alike[0]
	row := g.rows[w.thread]
	block := words.Blocks.Of(g.name(w.thread), g.placeOf(w), completes(w))
	if len(alike) > 1 {
		block = words.BlockAlike.Of(words.N(len(alike)), g.name(w.thread), g.placeOf(w), completes(w))
	}
	main := len(alike) == 1 && g.mainWaits(w)
	if main { // as an async Main does
		block = words.EntryWaits.Of(g.name(w.thread), g.placeOf(w), completes(w))
	}
	if len(w.chain) > 0 {
		block = block.Plus(awaitChain(w))
	}
	deadlock := ""
	switch {
	case w.callback == callbackOfTimer:
		block = block.Plus(g.end(w))
	case len(w.runners) > 0:
		block = block.Plus(words.WhichRuns.Of(g.name(w.runners[0])))
	case row.Until != "":
		block = block.Plus(untilOf(alike))
	case w.ready:
		block = block.Plus(words.CanGoOn.Of())
		if name := g.s.postsTo(w.thread); name != "" && w.ends.IsZero() {
			deadlock = name
			w.proved = false
		}
	}
	v := answer.Conclude(answer.FindingBlocked, words.SyncOverAsync.Of(block), answer.StrengthProved, g.evidences(alike)...)
	v.Show = g.show(w)
	if len(alike) > 1 {
		v.Count = len(alike)
	}
	switch {
	case deadlock != "":
		v.Kind, v.Statement = answer.FindingDeadlock, words.ContextDeadlock.Of(block, words.Type(deadlock))
		v.Because(words.ContextOf.Of(g.name(w.thread)))
	case main:
		v.Kind, v.Statement = answer.FindingEntryPoint, block
	}
	if n := g.sameScheduler(alike); n > 0 {
		meanwhile := words.ThreadsRunScheduler.Of(words.N(n))
		if n == 1 {
			meanwhile = words.ThreadRunsScheduler.Of(g.name(w.thread))
		}
		v.Statement = v.Plus(meanwhile)
		v.Because(words.CurrentTasks.Of())
		if g.onlyWorkers(alike, n) {
			v.Kind, v.Statement, v.Strength = answer.FindingDeadlock, words.SchedulerDeadlock.Of(block, meanwhile), answer.StrengthLikely
			v.Rests = words.Searched
			v.Because(words.RunsTasksIL.Of())
			for _, w := range alike {
				g.circled[w] = true
			}
		}
	}
	if !w.proved {
		v.Strength = answer.StrengthLikely // concluded from the awaited objects
	}
	if g.s.pool != nil && len(g.s.pool.Verdicts) > 0 && slices.ContainsFunc(alike, func(w *wait) bool { return w.until.Says == words.PoolWorker.Kind() }) {
		v.Strength = g.s.pool.Verdicts[0].Strength
		v.Because(g.s.pool.Verdicts[0].Statement)
	}
	v.Sites = g.sites(alike)
	v.Statement = v.Plus(g.onward(w.runners, w))
	return v
}

// untilOf describes what the methods wait for that threads wait for, which most of them do if it is not the same.
func untilOf(alike []*wait) answer.Statement {
	counts := map[string]int{}
	most := alike[0]
	for _, w := range alike {
		if counts[w.until.Text]++; counts[w.until.Text] > counts[most.until.Text] {
			most = w
		}
	}
	if len(counts) == 1 {
		return words.WhichWaitsFor.Of(most.until)
	}
	return words.MostWaitFor.Of(words.N(counts[most.until.Text]), most.until)
}

// completes describes the tasks that a blocked thread waits for.
func completes(w *wait) answer.Statement {
	switch {
	case len(w.tasks) > 1:
		return words.TasksComplete.Of(words.N(len(w.tasks)))
	case w.async:
		return words.AsyncCompletes.Of()
	}
	return words.TaskCompletes.Of()
}

// awaitChain names the async methods between a thread and what it waits for.
func awaitChain(w *wait) answer.Statement { return words.AwaitChain.Of(chainMethods(w)) }

func chainMethods(w *wait) answer.Statement {
	var list []answer.Statement
	for _, name := range w.chain {
		list = append(list, words.Method(name))
	}
	return words.Join(" awaits ", list...)
}

// sameScheduler counts the threads that run a task of a TaskScheduler while the awaited task is queued in the same one.
func (g *grapher) sameScheduler(alike []*wait) (n int) {
	if g.s.running == nil {
		return 0
	}
	for _, w := range alike {
		if name := w.scheduler; name != "" {
			for task, t := range g.s.running.tasks {
				if t != w.thread {
					continue
				}
				if own, err := g.s.found.tasks.SchedulerOf(task); err == nil && own == name {
					n++
					break
				}
			}
		}
	}
	return n
}

// onlyWorkers reports whether only threads that wait without a limit for tasks in the queue of a scheduler can run its tasks, and n of them do so now: no
// other code that can still run leads to a call that does.
func (g *grapher) onlyWorkers(alike []*wait, n int) bool {
	if n != len(alike) || slices.ContainsFunc(alike, func(w *wait) bool { return !w.ends.IsZero() || w.timeout >= 0 || w.scheduler != alike[0].scheduler }) {
		return false
	}
	r, err := g.s.code.Callers(func(method string) (target.Addr, bool) {
		_, name, _ := strings.Cut(method, ".")
		return 0, name == "TryExecuteTask"
	})
	if err != nil || r == nil || r.Outside || r.Calls == 0 {
		return false
	}
	for t := range r.Threads {
		if !slices.ContainsFunc(alike, func(w *wait) bool { return w.thread == t }) {
			return false
		}
	}
	return true
}

// onward describes, one after another, the waits of the threads for which from waits. It ends at a thread that does not
// wait for another, or at a wait already described.
func (g *grapher) onward(list []*stackwalk.Thread, from *wait) answer.Statement {
	var out []answer.Statement
	seen := map[*wait]bool{from: true}
	for len(list) > 0 {
		at := max(slices.IndexFunc(list, func(t *stackwalk.Thread) bool { return g.of[t] != nil }), 0)
		w := g.of[list[at]]
		if w == nil {
			out = append(out, g.doing(list[at]))
			break
		}
		if seen[w] {
			break
		}
		seen[w], g.described[w] = true, true
		if g.circled[w] {
			out = append(out, words.DescribedAbove.Of(g.name(w.thread)))
			break
		}
		out = append(out, words.ItselfWaits.Of(g.name(w.thread), g.waits(w), g.placeOf(w), g.end(w)))
		list = w.runners
	}
	return words.Join("", out...)
}

// waits describes what a thread waits for, with the address where it helps.
func (g *grapher) waits(w *wait) answer.Statement {
	row := g.rows[w.thread]
	switch {
	case len(w.chain) > 0:
		return words.AwaitedChain.Of(g.does(w, false), chainMethods(w))
	case w.outside != nil || w.join || w.serves != "" || w.callback == callbackOfToken:
		return g.does(w, true)
	}
	return words.DoesObject.Of(g.does(w, true), g.addressName(row.Object))
}

// end describes what must happen before a thread can proceed, as far as it is known.
func (g *grapher) end(w *wait) answer.Statement {
	switch {
	case len(w.runners) > 0 && w.lock != nil:
		return words.WhichHolds.Of(g.name(w.runners[0]), words.Text(holdsVerb(w.lock)))
	case w.join:
		return answer.Statement{}
	case w.serves != "":
		return words.WhichServes.Of(g.name(w.runners[0]), words.Text(w.serves))
	case len(w.runners) > 0 && w.callback == callbackOfTimer:
		return words.WhileRuns.Of(g.name(w.runners[0]), words.Text(w.callback))
	case len(w.runners) > 0 && w.object.Addr != 0 && w.callback == "":
		return words.WhichHolds.Of(g.name(w.runners[0]), words.Text(w.holdsHandle()))
	case len(w.runners) > 0:
		return words.WhichRuns.Of(g.name(w.runners[0]))
	case !w.until.IsZero():
		return words.WhichWaitsFor.Of(w.until)
	case w.lock != nil && w.lock.Kind == answer.LockSemaphore:
		if u := g.s.uses[w.lock]; u != nil && len(u.holders) > 0 {
			return words.StateHolder.Of(w.lock.Counts, g.holderName(&u.holders[0]), entered(u.holders[0].strength))
		}
		if c := g.s.boundedOf(w); c.items && w.lock.count == 0 {
			return words.StateItems.Of(words.Object(c.collection))
		}
		return words.StateUnknown.Of(w.lock.Counts)
	}
	return answer.Statement{}
}

// holdsHandle says how the thread for which w waits has a handle of the operating system.
func (w *wait) holdsHandle() string {
	if w.byCode {
		return "likely holds"
	}
	return "holds"
}

// others describes where waits for a thread's end or a static constructor lead.
func (g *grapher) others() []answer.Verdict {
	var out []answer.Verdict
	for _, w := range g.s.waits {
		if g.circled[w] || g.described[w] || w.lock != nil || len(w.tasks) > 0 || !slices.ContainsFunc(w.runners, func(t *stackwalk.Thread) bool { return g.of[t] != nil }) || g.joinsWorkers(w) {
			continue
		}
		if len(g.constructorWaits(w)) >= contended {
			continue // described together
		}
		if kind, _, _ := g.heldBy(nil, w.runners, 1); w.class != 0 && kind == answer.NoFinding {
			continue // the constructor goes on in a moment
		}
		if g.joinGoesOn(w) || w.byCode && (g.atHandle(w.object.Addr) > 1 || g.course().mutex(w.object).moves) {
			continue // the threads that wait for one Mutex are described together
		}
		v := answer.Conclude(answer.FindingWait, words.OtherWait.Of(g.name(w.thread), g.does(w, true), g.placeOf(w), g.end(w), g.onward(w.runners, w)), answer.StrengthLikely, g.evidence(w))
		v.Show, v.Sites = g.show(w), []answer.Site{g.site(w)}
		v.Behind = g.behindThreads(w)
		out = append(out, v)
	}
	return out
}

// behindThreads returns the OS ids of the threads that a wait is for, if all of them wait themselves.
func (g *grapher) behindThreads(w *wait) []uint32 {
	var list []holder
	for _, t := range w.runners {
		list = append(list, holder{thread: t})
	}
	return g.waitingIDs(list)
}
