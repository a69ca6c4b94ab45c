package threadpool

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
)

// judge concludes whether a pool keeps up with its work. Activities of threads are concluded from the
// methods on their stacks, so conclusions from them are at most likely. waits is asked only about a pool that looks starved.
func judge(p *answer.ThreadPool, q *answer.WorkQueues, waits ReadWaits, pauses ReadPauses) answer.Verdict {
	switch {
	case p.Kind == answer.PoolUnknown:
		return unjudged(words.PoolUnknown.Of(), words.PoolUnread.Of(words.Text(p.Total.Err().Error())))
	case p.Queued.Err() != nil:
		return unjudged(words.PoolUnknown.Of(), words.QueuesUnread.Of(words.Text(p.Queued.Err().Error())))
	case p.Queued.Value == 0:
		v := answer.Conclude(answer.NoFinding, words.PoolWithoutWork.Of(), answer.StrengthProved, words.QueuesEmpty.Of())
		if blocked(p) > 0 {
			v.Because(doing(p)...)
		}
		return v
	case p.Total.Err() != nil || p.Running.Err() != nil:
		return unjudged(words.PoolUncounted.Of(words.N(p.Queued.Value)), words.CountersUnread.Of())
	}
	v := behindLocks(p, q, inPauses(p, q, weigh(p, q), pauses), waits)
	v.Because(words.WorkersBusy.Of(words.N(p.Running.Value), words.N(p.Total.Value)))
	if parked := p.Total.Value - p.Running.Value - free(p); parked > 0 {
		v.Because(words.WorkersParked.Of(words.N(p.Goal.Value), words.N(parked)))
	}
	stands := doing(p)
	if k := min(1, len(stands)); 2*blocked(p) >= active(p) { // what blocks most workers explains a starved pool, so it comes first
		v.Because(stands[:k]...)
		stands = stands[k:]
	}
	if p.Max.Err() == nil && p.Total.Value >= p.Max.Value {
		v.Because(words.PoolAtMost.Of(words.N(p.Max.Value)))
	}
	if p.Clock.Err() == nil && p.Dequeued.Err() == nil && p.Clock.Value > p.Dequeued.Value {
		v.Because(words.LastTaken.Of(words.Milliseconds(p.Clock.Value - p.Dequeued.Value)))
	}
	v.Because(fills(p, q)...)
	v.Because(stands...)
	return v
}

// unjudged returns the verdict for a pool that can't be judged.
func unjudged(says, why answer.Statement) answer.Verdict {
	return answer.Conclude(answer.NoFinding, says, answer.StrengthUnknown, why)
}

// weigh compares the queued work with the workers.
func weigh(p *answer.ThreadPool, q *answer.WorkQueues) answer.Verdict {
	idle := free(p)
	items, free := words.N(p.Queued.Value), words.N(idle)
	n, waiting := active(p), blocked(p)
	all, running := words.N(n), words.N(n-waiting)
	if !stalled(p, stallMs) && p.Queued.Value <= pile*uint64(n) {
		waiting -= usesFiles(p)
	}
	lasting := waiting
	if taking(p) && blocked(p) < n {
		lasting -= contending(p)
	}
	conclude := func(kind answer.FindingKind, strength answer.Strength, sites []answer.Site, says answer.Statement) answer.Verdict {
		v := answer.Conclude(kind, says, strength)
		v.Sites = sites
		return v
	}
	switch total := uint64(max(p.Total.Value, 0)); {
	case idle > 0 && p.Queued.Value > pile*total && stalled(p, stallMs):
		return conclude(answer.FindingPile, answer.StrengthLikely, queuedSites(q), words.PilesUpThoughFree.Of(items, free))
	case idle > 0 && p.Queued.Value > total:
		return conclude(answer.FindingPoolKeepsUp, answer.StrengthPossible, standing(p), words.MayKeepUp.Of(items, free))
	case idle > 0:
		return conclude(answer.FindingPoolKeepsUp, answer.StrengthLikely, standing(p), words.KeepsUp.Of(items, free))
	case n == 0 && p.Total.Value > 0 && int64(len(p.Workers)) >= p.Total.Value && !stalled(p, longStallMs): // they have just taken an item, or just finished one
		return conclude(answer.FindingPoolKeepsUp, answer.StrengthPossible, standing(p), words.MayKeepUp.Of(items, words.N(len(p.Workers))))
	case n == 0:
		return conclude(answer.NoFinding, answer.StrengthUnknown, standing(p), words.WorkersUnknown.Of(items))
	case waiting == n:
		return begun(conclude(answer.FindingStarved, answer.StrengthLikely, standing(p), words.Starved.Of(items, all)), p)
	case 2*lasting >= n && (p.Queued.Value > uint64(n) || stalled(p, longStallMs)): // the workers that run take fewer items soon
		return begun(conclude(answer.FindingStarved, answer.StrengthLikely, standing(p), words.NearlyStarved.Of(items, words.N(waiting), all)), p)
	case p.Queued.Value > longPile*uint64(n):
		return conclude(answer.FindingPile, answer.StrengthLikely, queuedSites(q), words.PilesUp.Of(items, running, all))
	default:
		return conclude(answer.NoFinding, answer.StrengthLikely, standing(p), words.PoolBusy.Of(items, running, all))
	}
}

// begun weakens a verdict of starvation if it may be a normal moment: few items wait, and the pool has seen no reason yet to add a worker, though it
// could.
func begun(v answer.Verdict, p *answer.ThreadPool) answer.Verdict {
	grown := p.Goal.Err() != nil || p.Min.Err() != nil || p.Goal.Value <= 0 || p.Goal.Value > p.Min.Value
	full := p.Max.Err() != nil || p.Total.Value >= p.Max.Value
	if grown || full || stalled(p, stallMs) || p.Queued.Value > fewItems*uint64(active(p)) {
		return v
	}
	v.Strength, v.Severity = answer.StrengthPossible, answer.SeverityWarning
	return v
}

// usesFiles counts the workers that read or write files, or the console. That rarely takes long, unlike a wait for a pipe, and code that uses many files is often seen
// there.
func usesFiles(p *answer.ThreadPool) (n int) {
	for i := range p.Workers {
		w := &p.Workers[i]
		if w.Waits && (w.Activity.Kind == answer.ActivityConsole || w.Activity.Kind == answer.ActivityFile && !usesPipe(w)) {
			n++
		}
	}
	return n
}

// usesPipe reports whether a worker reads or writes what is no file on a disk.
func usesPipe(w *answer.PoolWorker) bool {
	return w.Activity.Text == threads.WaitsForPipe || strings.HasPrefix(w.Activity.Text, threads.UsesPipe)
}

// contending counts the workers that wait for a lock. While workers take items, others hold it for a moment: who waits for one that is held for long is
// said of the lock.
func contending(p *answer.ThreadPool) (n int) {
	for i := range p.Workers {
		if w := &p.Workers[i]; w.Waits && w.Activity.Kind == answer.ActivityLock {
			n++
		}
	}
	return n
}

// taking reports whether a worker has taken an item in the last stallMs.
func taking(p *answer.ThreadPool) bool {
	return p.Clock.Err() == nil && p.Dequeued.Err() == nil && !stalled(p, stallMs)
}

// fewItems is how many items for each worker a burst of work leaves for a moment.
const fewItems = 10

// Thresholds of a growing queue. One dump does not show growth, and a batch of work may just have arrived: some hundred items for each worker. No item
// records since when it waits. Where all work, a new one waits for five seconds behind longPile items for each worker that take 10 ms each.
const (
	pile     = 100  // items for each worker, if workers are free and take no item for stallMs
	longPile = 500  // items for each worker, if all work
	stallMs  = 1000 // twice as long as the pool waits before it adds a worker to one that took nothing (PortableThreadPool.GateThread)

	longStallMs = 10 * stallMs // the few items that wait have waited for long
)

// free returns how many more workers may take work. The pool lets no more work than its target; other workers are parked (PortableThreadPool,
// ThreadCounts.NumThreadsGoal). A target of 0 is unknown.
func free(p *answer.ThreadPool) int64 {
	most := p.Total.Value
	if p.Goal.Err() == nil && p.Goal.Value > 0 {
		most = min(most, p.Goal.Value)
	}
	return max(most-p.Running.Value, 0)
}

// active counts the workers that are not parked.
func active(p *answer.ThreadPool) int {
	n := 0
	for i := range p.Workers {
		if !p.Workers[i].Idle {
			n++
		}
	}
	return n
}

// stalled reports whether no worker has taken an item for stallMs.
func stalled(p *answer.ThreadPool, ms int64) bool {
	return p.Clock.Err() == nil && p.Dequeued.Err() == nil && p.Clock.Value-p.Dequeued.Value >= ms
}

// mostQueued is how many of the queued methods the verdict names.
const mostQueued = 3

// fills returns the methods, or else the types, of most queued items.
func fills(p *answer.ThreadPool, q *answer.WorkQueues) []answer.Statement {
	rows := queuedSites(q)
	slices.SortStableFunc(rows, func(a, b answer.Site) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Method.S+a.Does, b.Method.S+b.Does))
	})
	var out []answer.Statement
	read := 0
	for i := range rows {
		read += rows[i].Count
	}
	if uint64(read) < p.Queued.Value {
		out = append(out, words.QueuedRead.Of(words.N(read)))
	}
	for i := range rows {
		if i == mostQueued {
			out = append(out, words.QueuedOthers.Of(words.N(len(rows)-i)))
			break
		}
		timers := answer.Statement{}
		if rows[i].Does != "" {
			timers = words.OfTimers.Of()
		}
		out = append(out, words.QueuedAlike.Of(words.N(rows[i].Count), words.N(p.Queued.Value), words.Method(rows[i].Method.S), timers))
	}
	return out
}

// queuedSites counts the queued items by their methods, or else their types.
func queuedSites(q *answer.WorkQueues) (out []answer.Site) {
	type key struct{ name, does string }
	at := map[key]int{}
	for i := range q.Queues {
		for j := range q.Queues[i].Items {
			item := &q.Queues[i].Items[j]
			k := key{name: item.Method.S}
			unread := error(nil)
			if item.Method.Err != nil || k.name == "" {
				k.name, unread = item.Type.String(), item.Type.Err
			}
			if item.Kind == answer.ItemTimer {
				k.does = words.OfTimers.Of().Text
			}
			n, ok := at[k]
			if !ok {
				n = len(out)
				at[k], out = n, append(out, answer.Site{Method: answer.Text{S: k.name, Err: unread}, Does: k.does})
			}
			out[n].Count++
		}
	}
	return out
}

// standing returns where the blocked workers are.
func standing(p *answer.ThreadPool) (out []answer.Site) {
	for i := range p.Workers {
		if w := &p.Workers[i]; w.Waits {
			out = append(out, answer.Site{Method: w.Activity.Caller, Does: string(w.Activity.Kind), Thread: w.Thread.OSID})
		}
	}
	return out
}

// blocked counts the workers that wait for something other than work.
func blocked(p *answer.ThreadPool) int {
	n := 0
	for i := range p.Workers {
		if p.Workers[i].Waits {
			n++
		}
	}
	return n
}

// doing describes the activities of the workers, grouped by activity and method.
func doing(p *answer.ThreadPool) []answer.Statement {
	type row struct {
		does    answer.Statement
		threads []answer.Statement
	}
	var rows []row
	for i := range p.Workers {
		w := &p.Workers[i]
		does := words.Text(w.Activity.Text)
		if c := w.Activity.Caller; !c.IsZero() {
			does = words.DoesIn.Of(does, words.Method(c.String()))
		}
		at := slices.IndexFunc(rows, func(r row) bool { return r.does.Text == does.Text })
		if at < 0 {
			at, rows = len(rows), append(rows, row{does: does})
		}
		rows[at].threads = append(rows[at].threads, words.ThreadNumber(w.Thread))
	}
	slices.SortStableFunc(rows, func(a, b row) int { return len(b.threads) - len(a.threads) })
	var out []answer.Statement
	for _, r := range rows {
		out = append(out, words.WorkersDo.Of(words.N(len(r.threads)), r.does, words.Join(", ", r.threads...)))
	}
	return out
}
