package locks

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A waiters groups operations that wait at one place for one thing.
type waiters struct {
	answer.OperationWait
	thing *thing
	ops   []*operation

	children int // of a wait for child processes or pipes: how many
}

// listedOperations is how many operations of a group the answer lists.
const listedOperations = 5

// grouped counts equal operations, the most frequent first. Normal waits are counted in idle.
func (g *grapher) grouped(idle *idleCount) []*waiters {
	type key struct {
		thing                    target.Addr
		kind                     answer.WaitKind
		words                    string
		method, file, from, name string
		request                  string
		line                     int
	}
	known := map[key]*waiters{}
	var out []*waiters
	for _, op := range g.s.ops {
		if reason := cmp.Or(op.idle(), op.turn.reason()); reason != "" && !g.holding[op.box] {
			if !g.counted[op.leaf] {
				idle.add(reason, op.method, op.box)
			}
			continue
		}
		t := op.thing
		says := t.says.Text
		if t.outside != "" { // each child has its number
			says = t.says.Says + " " + t.outside
		}
		k := key{t.addr, t.kind, says, op.method.String(), op.file, op.from, g.s.names[t.source], op.request, op.line}
		if name := g.s.names[t.addr]; name != "" && t.isPipe() {
			k.thing, k.name = 0, name // each connection has one
		}
		w := known[k]
		if w == nil {
			w = &waiters{thing: t, OperationWait: answer.OperationWait{Method: op.method, File: op.file, Line: op.line, From: op.from, Request: op.request,
				Kind: t.kind, Object: cmp.Or(t.addr, t.source), Type: t.typ, State: t.state.Text, Counts: t.state, Name: g.nameOf(t),
				Class: cmp.Or(g.s.classes[t.addr], g.s.classes[t.source]), Statement: words.WaitsFor.Of(g.thingText(t))}}
			known[k] = w
			out = append(out, w)
		}
		w.Count++
		w.ops = append(w.ops, op)
		if len(w.First) < listedOperations {
			w.First = append(w.First, op.box)
		}
	}
	slices.SortStableFunc(out, func(a, b *waiters) int { return cmp.Compare(b.Count, a.Count) })
	g.completing = g.completers(out)
	for _, w := range out {
		if w.thing.outside != "" {
			children := map[string]bool{}
			for _, op := range w.ops {
				children[op.thing.says.Text] = true
			}
			w.children = len(children)
			says := words.WaitsFor.Of(andOthers(w.thing.says, w.children))
			w.Statement = says
		}
		if u := g.s.uses[w.thing.lock]; u != nil {
			w.Holders = g.holders(u.holders)
		} else if w.thing.limiter != nil && w.thing.limiter.refill == nil {
			w.Holders = g.holders(g.leasesOf(w.thing.addr).holders)
		} else if !slices.ContainsFunc(w.ops, func(op *operation) bool { return op.leaf != w.ops[0].leaf }) {
			if of := g.completing[w.thing.source]; of != nil {
				w.Holders = g.holders(of.sure)
			}
		}
	}
	return out
}

// nameOf returns the field that holds what code waits for, or "".
func (g *grapher) nameOf(t *thing) string {
	return cmp.Or(g.s.names[t.addr], g.s.names[t.source])
}

// listedHolders is how many holders of a semaphore the answer lists.
const listedHolders = 16

// thingText describes what code waits for, with its name or its address.
func (g *grapher) thingText(t *thing) answer.Statement {
	name := g.nameOf(t)
	switch {
	case t.lock != nil:
		return g.lockText(t.lock)
	case t.channel != nil && name == "":
		return words.ThingAt.Of(t.says, words.Object(t.addr))
	case t.channel != nil:
		return words.ThingIn.Of(t.says, words.Field(name))
	case t.kind == answer.WaitLimiter && name != "":
		return words.LimiterNamed.Of(words.Field(name))
	case t.kind == answer.WaitLimiter:
		return words.LimiterAt.Of(words.Object(t.addr))
	case t.kind == answer.WaitPromise && name != "":
		return words.PromiseIn.Of(words.Field(name))
	case t.kind == answer.WaitPromise && t.addr != 0:
		return words.PromiseAt.Of(words.Type(t.typ.String()), words.Object(t.addr))
	}
	return t.says
}

// lockText describes a lock by the field that holds it, or by its type and address, and by both if the fields of several objects hold such locks.
func (g *grapher) lockText(l *lock) answer.Statement {
	if name := g.s.names[l.Address]; g.s.alike[name] > 1 {
		return words.LockAt.Of(words.Text(string(l.Kind)), words.NamedObject.Of(words.Object(l.Address), words.Field(name)))
	} else if name != "" {
		return words.NamedLock.Of(words.Field(name), words.Text(string(l.Kind)))
	}
	return words.LockAt.Of(words.Text(string(l.Kind)), words.Object(l.Address))
}

func addressText(a target.Addr) string { return fmt.Sprintf("%016x", uint64(a)) }

// nodes adds graph nodes for the operations that wait for a semaphore or for running code, or hold a semaphore.
func (g *grapher) nodes() {
	for _, op := range g.s.ops {
		w := &wait{op: op, how: answer.HowRecorded, timeout: -1, lock: op.thing.lock, proved: true}
		if slices.Contains(op.library, timedWait) {
			w.ends = words.EndsLimited.Of()
		}
		if op.thing.cause == tasks.CauseRunning {
			if t := g.s.runs(op.leaf); t != nil {
				w.runners = []*stackwalk.Thread{t}
			}
		}
		if op.wait = w; w.lock != nil || len(w.runners) > 0 {
			g.ops = append(g.ops, w)
		}
	}
	for _, w := range g.s.waits {
		g.of[w.thread] = w
	}
	leaves := map[target.Addr]*operation{}
	for _, op := range g.s.ops {
		if leaves[op.leaf] == nil {
			leaves[op.leaf] = op
		}
	}
	for _, w := range g.s.waits {
		for _, l := range w.leaves {
			if op := leaves[l.addr]; op != nil && (op.thing.lock != nil || len(op.wait.runners) > 0) {
				w.behind = append(w.behind, op.wait)
			}
		}
	}
	for l, u := range g.s.uses {
		var list []*wait
		for _, h := range u.holders {
			if h.thread == nil {
				g.holding[h.box] = true
			}
			w := g.waitOf(&h)
			if h.strength != answer.StrengthLikely || u.crowded(l) {
				w = nil
			}
			list = append(list, w)
		}
		if l.most < math.MaxInt32 && int64(len(list)) < l.most {
			list = nil // a holder that was not found may release a permit
		}
		g.entered[l] = list
	}
	for _, w := range slices.Concat(g.s.waits, g.ops) {
		if list := g.entered[w.lock]; len(list) == 1 && list[0] != nil && list[0] != w {
			w.behind = append(w.behind, list[0])
		}
	}
	// One of several holders is enough to go on, so they belong to a cycle only if each of them leads back to it.
	for _, w := range slices.Concat(g.s.waits, g.ops) {
		if list := g.entered[w.lock]; len(list) > 1 && !slices.ContainsFunc(list, func(h *wait) bool { return h == nil || h == w || !g.reaches(h, w.lock) }) {
			w.behind = append(w.behind, list...)
		}
	}
}

// timedWait is the method of SemaphoreSlim that waits with a timeout or a token.
const timedWait = "System.Threading.SemaphoreSlim.WaitUntilCountOrTimeoutAsync"

// reaches reports whether a wait leads to a lock, directly or through others.
func (g *grapher) reaches(from *wait, l *lock) bool {
	seen := map[*wait]bool{}
	todo := []*wait{from}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if w == nil || seen[w] {
			continue
		}
		if seen[w] = true; w.lock == l {
			return true
		}
		todo = append(append(todo, g.next(w)...), g.entered[w.lock]...)
	}
	return false
}

// next returns the waits that must end before w can.
func (g *grapher) next(w *wait) (out []*wait) {
	for _, t := range slices.Concat(w.runners, w.signals) {
		if n := g.of[t]; n != nil {
			out = append(out, n)
		}
	}
	return append(out, w.behind...)
}

// suspended draws conclusions from the waits of suspended code outside any cycle.
func (g *grapher) suspended(groups []*waiters) []answer.Verdict {
	var out []answer.Verdict
	groups = slices.DeleteFunc(slices.Clone(groups), func(w *waiters) bool { // another task lets them go on, such as a delay
		return w.thing.kind == answer.WaitPromise && !slices.ContainsFunc(w.ops, func(op *operation) bool { return !op.first })
	})
	type subject struct {
		thing  *thing
		groups []*waiters
		count  int
	}
	var list []*subject
	type subjectKey struct {
		addr target.Addr
		name string
	}
	known := map[subjectKey]*subject{}
	for _, w := range groups {
		t := w.thing
		if t.addr == 0 {
			continue
		}
		k := subjectKey{addr: t.addr}
		if name := g.s.names[t.addr]; name != "" && t.isPipe() {
			k = subjectKey{name: name}
		}
		s := known[k]
		if s == nil {
			s = &subject{thing: t}
			known[k] = s
			list = append(list, s)
		}
		s.groups = append(s.groups, w)
		for _, op := range w.ops {
			if op.wait == nil || !g.circled[op.wait] {
				s.count++
			}
		}
	}
	out = append(out, g.onePromise(groups)...)
	told := map[*waiters]bool{}
	var links []permitLink
	out = append(out, g.chained(groups)...)
	for _, s := range list {
		t := s.thing
		state := answer.Statement{}
		if !t.state.IsZero() && !(t.isPipe() && s.count > 1) {
			state = words.CommaState.Of(t.state)
		}
		v := answer.Conclude(answer.FindingPermits, words.OperationsWait.Of(words.N(s.count), g.thingText(t), state), answer.StrengthRecorded)
		v.Class, v.Show, v.Thing = s.groups[0].Class, []string{"dumpobj " + addressText(t.addr)}, g.thingText(t).Text
		for _, w := range s.groups[:min(len(s.groups), listedOperations)] {
			v.Because(g.groupText(w))
			v.Show = append(v.Show, "dumpasync -address "+addressText(w.First[0]))
		}
		for _, w := range s.groups {
			v.Waiting = append(v.Waiting, boxes(w.ops)...)
			v.Sites = append(v.Sites, answer.Site{Method: w.Method, Does: string(t.kind), Count: w.Count})
		}
		tells := s.count > 0
		switch {
		case !tells || g.lostThings[t.addr]:
			tells = false
		case t.lock != nil:
			tells = g.permits(&v, t.lock) && !(v.Strength == answer.StrengthUnknown && g.blind(s.count, s.groups...)) && !g.passes(&v, t.lock, s.count) && !(s.count < contended && limited(s.groups))
			if tells {
				g.noteUnread(t.lock)
			}
		case t.channel != nil && t.writes:
			v.Kind = answer.FindingFull
			if tells = g.channel(&v, t.channel) && !(v.Strength == answer.StrengthPossible && g.blind(s.count, s.groups...)); s.count < manyForgotten && t.channel.kind != &channelKind {
				v.Severity = answer.SeverityWarning
			}
		case t.kind == answer.WaitLimiter:
			noted := len(g.s.gaps.Noted())
			if tells = g.limiter(&v, t, s.count); !tells && len(g.s.gaps.Noted()) > noted {
				for _, w := range s.groups {
					g.blinded = append(g.blinded, w.ops...)
				}
			}
		case t.kind == answer.WaitPromise && s.count > 1 && isQueue(t.typ.S):
			v.Kind, v.Statement = answer.FindingPromises, v.Plus(words.PromisesNobody.Of())
			v.Severity = inTurn(s.groups...)
			tells = !slices.ContainsFunc(s.groups, func(w *waiters) bool { return g.anyCompleted(w.ops) }) && !g.blind(s.count, s.groups...)
		default:
			tells = false
		}
		if tells && t.lock != nil && v.Kind == answer.FindingPermits {
			links = append(links, permitLink{lock: t.lock, verdict: v, count: s.count})
		} else if tells {
			out = append(out, v)
		}
		if tells {
			for _, w := range s.groups {
				told[w] = true
			}
		}
	}
	return slices.Concat(out, g.joined(links), g.unreached(groups, told))
}

// A permitLink is the conclusion that operations wait for a semaphore, which may be one of a chain.
type permitLink struct {
	lock    *lock
	verdict answer.Verdict
	count   int // of operations
}

// limited reports whether all operations wait for a limited time, or until they are canceled: a few such ask again, as a standby does for its lease.
func limited(groups []*waiters) bool {
	return !slices.ContainsFunc(groups, func(w *waiters) bool {
		return slices.ContainsFunc(w.ops, func(op *operation) bool { return !op.limited })
	})
}

// manyOnOne is how many suspended operations must wait for one promise to be a finding. A few wait for the start or
// the end of a service.
const manyOnOne = 10

// groupText describes a group on a line.
func (g *grapher) groupText(w *waiters) answer.Statement {
	caller := answer.Statement{}
	if from := w.Caller(); from != "" {
		caller = words.CallerColon.Of(words.Method(from))
	}
	return words.GroupWaits.Of(words.N(w.Count), caller, words.Method(compilernames.Pretty(w.Method.String())), lineOf(w.File, w.Line),
		words.WaitsFor.Of(g.thingText(w.thing)), words.Object(w.First[0]))
}
