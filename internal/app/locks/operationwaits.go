package locks

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
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

// holders describes the methods that have entered a semaphore, or that complete a promise.
func (g *grapher) holders(list []holder) (out []answer.OperationHolder) {
	for i := range list {
		h := &list[i]
		d := answer.OperationHolder{Object: h.box, Method: h.method, Strength: h.strength}
		if h.thread != nil {
			thread := h.thread.Describe(g.s.gaps)
			d.Thread = &thread
		}
		if h.place != nil {
			d.File, d.Line = h.place.File, h.place.Line
		}
		if w := g.waitOf(h); w != nil {
			d.Thing = g.what(w)
			d.Waits = d.Thing.Text
		}
		if out = append(out, d); len(out) == listedHolders {
			break
		}
	}
	return out
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

// joined returns one conclusion for each chain of semaphores, about the last one: all that have entered one of the others wait for the next. Few that wait, with
// those that wait behind them, are a warning.
func (g *grapher) joined(list []permitLink) (out []answer.Verdict) {
	at := map[*lock]int{}
	for i := range list {
		at[list[i].lock] = i
	}
	behind := make([]int, len(list))
	linked := make([]bool, len(list))
	for i := range list {
		end := i
		for seen := map[int]bool{}; !seen[end]; {
			seen[end] = true
			if next, ok := at[g.nextLock(list[end].lock)]; ok {
				end = next
			}
		}
		if _, more := at[g.nextLock(list[end].lock)]; end != i && !more { // no circle
			linked[i] = true
			behind[end] += list[i].count
			list[end].verdict.Waiting = append(list[end].verdict.Waiting, list[i].verdict.Waiting...)
		}
	}
	var told []permitLink
	for i := range list {
		if linked[i] {
			continue
		}
		v := &list[i].verdict
		if behind[i] > 0 {
			v.Statement = v.Plus(words.WaitBehind.Of(words.N(behind[i])))
		}
		if list[i].count+behind[i] < fewOperations {
			v.Severity = answer.SeverityWarning
		}
		told = append(told, list[i])
	}
	for _, l := range g.oneField(told) {
		out = append(out, l.verdict)
	}
	return out
}

// oneField joins the conclusions about semaphores that are in the same field of several objects, as where each key has a lock: into the most severe one, and among
// several such into the one about the most operations.
func (g *grapher) oneField(list []permitLink) (out []permitLink) {
	of := map[string][]permitLink{}
	var order []string
	for _, l := range list {
		name := g.s.names[l.lock.Address]
		if g.s.alike[name] < 2 || name == "" {
			name = addressText(l.lock.Address)
		}
		if of[name] == nil {
			order = append(order, name)
		}
		of[name] = append(of[name], l)
	}
	for _, name := range order {
		alike := of[name]
		slices.SortStableFunc(alike, func(a, b permitLink) int {
			if warns := b.verdict.Severity == answer.SeverityWarning; warns != (a.verdict.Severity == answer.SeverityWarning) {
				if warns {
					return -1
				}
				return 1
			}
			return cmp.Compare(b.count, a.count)
		})
		first := alike[0]
		more := 0
		for _, l := range alike[1:] {
			more += l.count
			first.verdict.Waiting = append(first.verdict.Waiting, l.verdict.Waiting...)
		}
		if more > 0 {
			first.verdict.Statement = first.verdict.Plus(words.AlikeWait.Of(words.N(more), words.N(len(alike)-1)))
		}
		out = append(out, first)
	}
	return out
}

// nextLock returns the semaphore that all wait for which have entered another one, or nil.
func (g *grapher) nextLock(l *lock) (next *lock) {
	u := g.s.uses[l]
	if u == nil {
		return nil
	}
	for i := range u.holders {
		w := g.waitOf(&u.holders[i])
		if u.holders[i].strength != answer.StrengthLikely || w == nil || w.lock == nil || w.lock == l || next != nil && w.lock != next {
			return nil
		}
		next = w.lock
	}
	return next
}

// limited reports whether all operations wait for a limited time, or until they are canceled: a few such ask again, as a standby does for its lease.
func limited(groups []*waiters) bool {
	return !slices.ContainsFunc(groups, func(w *waiters) bool {
		return slices.ContainsFunc(w.ops, func(op *operation) bool { return !op.limited })
	})
}

// rings describes the async methods that await each other.
func (g *grapher) rings() []answer.Verdict {
	var out []answer.Verdict
	for _, list := range g.s.circles {
		var methods []answer.Statement
		var show []string
		var sites []answer.Site
		for _, f := range list[:min(len(list), listedOperations)] {
			method, _ := methodOf(f)
			methods = append(methods, words.MethodObject.Of(words.Method(compilernames.Pretty(method.String())), words.Object(f.Object)))
			show = append(show, "dumpasync -address "+addressText(f.Object))
			sites = append(sites, answer.Site{Method: method, Does: string(answer.WaitTask)})
		}
		if more := len(list) - listedOperations; more > 0 {
			methods = append(methods, words.MoreMethods.Of(words.N(more)))
		}
		v := answer.Conclude(answer.FindingDeadlock, words.AwaitsItself.Of(methods[0]), answer.StrengthProved, words.Continuations.Of())
		if len(list) > 1 {
			v.Statement = words.AwaitRing.Of(methods[0], words.Join(", which awaits ", methods[1:]...))
		}
		v.Show, v.Sites = show, sites
		out = append(out, v)
	}
	return out
}

// manyOnOne is how many suspended operations must wait for one promise to be a finding. A few wait for the start or
// the end of a service.
const manyOnOne = 10

// onePromise describes the promises that many suspended operations of the program wait for.
func (g *grapher) onePromise(groups []*waiters) []answer.Verdict {
	var out []answer.Verdict
	of := map[target.Addr][]*waiters{}
	var order []target.Addr
	for _, w := range groups {
		op := w.ops[0]
		if w.thing.kind != answer.WaitPromise || w.thing.addr != 0 || !op.own || op.forgotten || g.lostThings[w.thing.source] ||
			slices.ContainsFunc(w.ops, func(other *operation) bool { return other.leaf != op.leaf }) {
			continue
		}
		if of[op.leaf] == nil {
			order = append(order, op.leaf)
		}
		of[op.leaf] = append(of[op.leaf], w)
	}
	for _, leaf := range order {
		alike, count := of[leaf], 0
		for _, w := range alike {
			count += w.Count
		}
		t := alike[0].thing
		if count < manyOnOne || len(g.completing[t.source].holders()) == 0 && g.blind(count, alike...) {
			continue
		}
		v := answer.Conclude(answer.FindingPromises, words.OnePromise.Of(words.N(count), g.thingText(t)), answer.StrengthRecorded)
		v.Severity, v.Thing, v.Show = inTurn(alike...), g.thingText(t).Text, []string{"dumpobj " + addressText(leaf)}
		for i, w := range alike {
			if i < listedOperations {
				v.Because(g.groupText(w))
				v.Show = append(v.Show, "dumpasync -address "+addressText(w.First[0]))
			}
			v.Waiting = append(v.Waiting, boxes(w.ops)...)
			v.Sites = append(v.Sites, answer.Site{Method: w.Method, Does: string(t.kind), Count: w.Count})
		}
		if g.completer(&v, t) {
			out = append(out, v)
		}
	}
	return out
}

// isQueue reports whether a collection hands out its elements in turn. A dictionary of promises holds awaited answers.
func isQueue(collection string) bool { return !strings.Contains(collection, "Dictionary") }

// groupText describes a group on a line.
func (g *grapher) groupText(w *waiters) answer.Statement {
	caller := answer.Statement{}
	if from := w.Caller(); from != "" {
		caller = words.CallerColon.Of(words.Method(from))
	}
	return words.GroupWaits.Of(words.N(w.Count), caller, words.Method(compilernames.Pretty(w.Method.String())), lineOf(w.File, w.Line),
		words.WaitsFor.Of(g.thingText(w.thing)), words.Object(w.First[0]))
}

// permits adds the methods that have entered a semaphore to v, which says who waits for it. It
// returns false if the wait is nothing to report.
func (g *grapher) permits(v *answer.Verdict, l *lock) bool {
	u := g.s.uses[l]
	if u == nil || l.count > 0 {
		return false // a permit is free: a waiter is about to go on
	}
	var sure, perhaps []*holder
	for i := range u.holders {
		if h := &u.holders[i]; h.strength == answer.StrengthLikely && !u.crowded(l) {
			sure = append(sure, h)
		} else {
			perhaps = append(perhaps, h)
		}
	}
	switch {
	case g.reentered(v, l, u, sure):
	case u.crowded(l):
		first := perhaps[0]
		v.Strength = answer.StrengthPossible
		v.Statement = v.Plus(words.HoldersAmong.Of(words.N(int(l.most)), words.N(len(perhaps)), g.holderName(first), g.holderDoes(first, false)))
	case len(sure) > 0:
		v.Strength, v.Statement = answer.StrengthLikely, v.Plus(words.SemiHolder.Of(g.holderText(sure)))
	case len(perhaps) > 0:
		v.Strength, v.Statement = answer.StrengthPossible, v.Plus(words.SemiHolder.Of(g.holderText(perhaps)))
	case len(u.inside) > 0:
		c := g.course()
		c.known[l.Address] = pace{} // a chain that comes back to it does not move
		moving := slices.DeleteFunc(slices.Clone(u.inside), func(x user) bool {
			return (!x.gives || g.of[x.thread] != nil) && !c.of(&holder{thread: x.thread}).moves
		})
		if slices.ContainsFunc(moving, func(x user) bool { return x.sure }) {
			return false // it has come past the semaphore, or is about to give a permit back
		}
		v.Strength, v.Statement = answer.StrengthPossible, v.Plus(words.MayHaveEntered.Of(words.N(len(u.inside))))
		if len(moving) > 0 {
			v.Severity = answer.SeverityWarning
		}
	case !u.gives && !u.blindWaiters:
		return false // a signal: the waiters never release it
	case len(u.hiding) > 0 && u.unread+u.blind == 0 && !u.blindWaiters:
		h := &u.hiding[0]
		v.Strength = answer.StrengthPossible
		v.Statement = v.Plus(words.HolderHidden.Of(words.N(len(u.hiding)), words.Method(compilernames.Pretty(h.method.String())), words.Method(h.call)))
	default:
		g.nobody(v, u)
	}
	list := append(sure, perhaps...)
	if len(perhaps) == 0 {
		v.BehindMethods = g.atServers(l, u)
	}
	if slices.ContainsFunc(list, func(h *holder) bool { return g.moves(h) || g.course().of(h).moves && !g.repeating([]holder{*h}) }) {
		v.Severity = answer.SeverityWarning // the next waiter may be about to go on
	}
	if v.Kind == answer.FindingPermits && g.unreadHolder(l) != nil {
		v.Severity = answer.SeverityWarning // what they wait for may go on
	}
	for _, h := range list[:min(len(list), listedOperations)] {
		v.Because(g.holderEvidence(h, l))
		v.Show = append(v.Show, g.showHolder(h)...)
	}
	return true
}

// reentered concludes that all holders of a semaphore wait for it again, in methods that they await or call, so that it is
// never released.
func (g *grapher) reentered(v *answer.Verdict, l *lock, u *semaphoreUse, sure []*holder) bool {
	all := int64(len(sure)) >= l.most || l.most == math.MaxInt32 && len(u.inside) == 0 && len(u.hiding) == 0 // no other holder is possible, or none was found
	if len(sure) == 0 || len(sure) < len(u.holders) || !all ||
		slices.ContainsFunc(sure, func(h *holder) bool { w := g.waitOf(h); return w == nil || w.lock != l || !w.ends.IsZero() }) {
		return false
	}
	v.Kind, v.Strength = answer.FindingDeadlock, answer.StrengthLikely
	first := g.holderName(sure[0])
	switch {
	case len(sure) == 1 && sure[0].thread != nil:
		v.Statement = words.ThreadReenters.Of(first, g.lockText(l), v.Statement)
	case len(sure) == 1:
		v.Statement = words.Reentered.Of(first, g.lockText(l), v.Statement)
	default:
		v.Statement = words.ReenteredMany.Of(first, words.N(len(sure)-1), g.lockText(l), v.Statement)
	}
	return true
}

// nobody concludes that a semaphore without permits has no holder among the suspended methods.
func (g *grapher) nobody(v *answer.Verdict, u *semaphoreUse) {
	var unread []answer.Statement
	if u.partial || g.s.incomplete() {
		unread = append(unread, words.UnreadParts.Of())
	}
	if u.unread > 0 {
		unread = append(unread, words.UnreadMethods.Of(words.N(u.unread)))
	}
	if u.blindWaiters {
		unread = append(unread, words.UnreadWaiters.Of())
	}
	if u.blind > 0 {
		unread = append(unread, words.UnreadThreads.Of(words.N(u.blind)))
	}
	if len(unread) > 0 {
		v.Strength, v.Statement = answer.StrengthUnknown, v.Plus(words.NobodyUnread.Of(words.Join(", ", unread...)))
		v.Severity = answer.SeverityWarning // a busy semaphore looks alike
		return
	}
	v.Strength, v.Statement, v.Rests = answer.StrengthLikely, v.Plus(words.NobodyEntered.Of()), leftBehind
	v.Because(words.PermitLost.Of())
}

// holderText names the holders of a semaphore, and what the first of them does.
func (g *grapher) holderText(list []*holder) answer.Statement {
	h := list[0]
	if len(list) == 1 {
		return words.HolderOf.Of(g.holderName(h), entered(h.strength), g.holderDoes(h, false))
	}
	return words.HoldersOf.Of(g.holderName(h), words.N(len(list)-1), entered(h.strength), g.holderDoes(h, true))
}

// holderDoes states what a holder of a semaphore does. first reports that it is the first of several which the sentence names.
func (g *grapher) holderDoes(h *holder, first bool) answer.Statement {
	w := g.waitOf(h)
	switch {
	case h.thread == nil && g.between(h.box):
		if g.dropped(h.box) {
			return words.IteratorDropped.Of(words.Text(subjectOf(first)))
		}
		return words.IteratorWaits.Of(words.Text(subjectOf(first)))
	case w != nil && first:
		return words.AndFirstWaits.Of(g.what(w))
	case w != nil:
		return words.AndWaits.Of(g.what(w))
	case h.thread != nil:
		return g.doing(h.thread)
	}
	return answer.Statement{}
}

// subjectOf begins a clause about a holder, or about the first of several.
func subjectOf(first bool) string {
	if first {
		return "; the first of them"
	}
	return ", and"
}

// holderName names a suspended method or a thread that has entered a semaphore.
func (g *grapher) holderName(h *holder) answer.Statement {
	if h.thread != nil {
		return words.ThreadIn.Of(g.name(h.thread), words.Method(compilernames.Pretty(h.method.String())))
	}
	return words.MethodObject.Of(words.Method(h.method.String()), words.Object(h.box))
}

// showHolder returns the commands that show a holder of a semaphore.
func (g *grapher) showHolder(h *holder) []string {
	if h.thread != nil {
		return showThread(h.thread.Describe(g.s.gaps))
	}
	return []string{"dumpasync -address " + addressText(h.box)}
}

// passes reports whether a semaphore is about to be free for the operations that wait for it: its holders take turns or are about to go on, or the
// waiters are few and what entered it runs on threads, which wait for nothing that is known, such as one that writes a message. If nothing says whether its holders go on, it
// adds that to v.
func (g *grapher) passes(v *answer.Verdict, l *lock, waiting int) bool {
	u := g.s.uses[l]
	if u == nil || len(u.holders) == 0 {
		return false
	}
	return waiting < fewOperations && !slices.ContainsFunc(u.holders, func(h holder) bool { return !g.runsFor(&h) }) || g.takesTurns(v, l, u, waiting, crowdAsync) || g.queued(l, u)
}

// queued reports whether all that may have entered a semaphore, as many as may enter it, go on: what they await has completed, or they wait for
// nothing but their turn in the thread pool. If they are more than may enter it, a thread that runs has just passed it on to another of them.
func (g *grapher) queued(l *lock, u *semaphoreUse) bool {
	return (l.most == math.MaxInt32 || int64(len(u.holders)) >= l.most) && !g.starves(l, u) && !slices.ContainsFunc(u.holders, func(h holder) bool {
		if h.thread != nil {
			return !u.crowded(l) || !g.runs(h.thread)
		}
		op := g.s.standing[h.box]
		return !g.s.goesOn[h.box] && (op == nil || op.thing.cause != tasks.CausePool)
	})
}

// crowded reports whether more seem to have entered a semaphore than may: some of them have left it, or are about to enter.
func (u *semaphoreUse) crowded(l *lock) bool {
	return l.most < math.MaxInt32 && int64(len(u.holders)) > l.most
}

// takesTurns reports whether the holders of a semaphore take turns: it is soon free for all who wait, and no holder stands in a loop that it has begun
// since. A holder in a loop may wait for something that never happens. If they wait for others, as a server, and nothing says since when, the turns must be few,
// and not of all requests; else it adds that to v.
func (g *grapher) takesTurns(v *answer.Verdict, l *lock, u *semaphoreUse, waiting, most int) bool {
	if g.starves(l, u) {
		return false
	}
	p := g.course().turns(l, u, waiting, most)
	return (p.moves || p.asks) && !g.repeating(u.holders) && (p.moves || !g.askers(v, l, waiting, len(u.holders)))
}

// starves reports whether most workers of a starved thread pool wait for a semaphore that suspended code has entered: this needs a worker to go on.
func (g *grapher) starves(l *lock, u *semaphoreUse) bool {
	workers := 0
	for _, w := range g.s.waits {
		if w.lock == l && w.thread != nil && w.thread.Managed != nil && w.thread.Managed.State&dac.ThreadPoolWorker != 0 {
			workers++
		}
	}
	if workers == 0 || !slices.ContainsFunc(u.holders, func(h holder) bool { return h.thread == nil }) || g.s.pool == nil && g.s.queued() != nil {
		return false
	}
	return 2*workers > len(g.s.pool.Workers) && slices.ContainsFunc(g.s.pool.Verdicts, func(v answer.Verdict) bool { return v.Kind == answer.FindingStarved })
}

// pauseOf returns for how long a holder stands in a delay, a sleep or a timed wait, if it does and the dump has the time.
func (g *grapher) pauseOf(h *holder) (length time.Duration, known bool) {
	if t := h.thread; t != nil {
		if w := g.of[t]; w != nil {
			return time.Duration(w.timeout) * time.Millisecond, w.timeout >= 0 && w.how == answer.HowRecorded
		}
		if t.OS == nil || t.Managed == nil {
			return 0, false
		}
		length, known = g.s.sleepOf(t)
		return length, known && length >= 0
	}
	op := g.s.standing[h.box]
	switch {
	case op == nil:
		return 0, false
	case op.thing.cause == tasks.CauseTick:
		length, err := g.s.found.tasks.TickOf(op.leaf)
		return length, err == nil
	case op.thing.cause != tasks.CauseDelay:
		return 0, false
	}
	length, err := g.s.found.tasks.DelayOf(op.leaf)
	return length, err == nil || errors.Is(err, tasks.ErrElapsed) // a worker is about to go on with it
}

// sleepOf returns for how long a thread sleeps, negative for ever, if the program's method calls Thread.Sleep with a constant.
func (s *survey) sleepOf(t *stackwalk.Thread) (length time.Duration, known bool) {
	called := ""
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Missing() != nil || err != nil {
			return 0, false
		}
		if f.Kind != stackwalk.FrameManaged || md == nil {
			continue
		}
		name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		if err != nil {
			return 0, false
		}
		if answer.LibraryMethod(name) {
			called = name
			continue
		}
		if !sleeps(called) {
			return 0, false
		}
		ms, known := s.constantArgument(&f, md)
		return time.Duration(ms) * time.Millisecond, known
	}
	return 0, false
}

// sleeps reports whether a method of the class library is the one in which a thread sleeps. The compiler may inline the first.
func sleeps(method string) bool {
	return method == "System.Threading.Thread.Sleep" || method == "System.Threading.Thread.SleepInternal"
}

// constantArgument returns the constant with which a frame's method calls Thread.Sleep, in which it is: the longest of several calls that may be meant, because the place of a
// frame is the begin of a statement, or of what a compiler leaves on the evaluation stack for it.
func (s *survey) constantArgument(f *stackwalk.Frame, md *dac.MethodDesc) (value int64, known bool) {
	il, err := reach.ILOffset(f)
	if err != nil || dac.CodeOf(f.Runtime).ILReplaced(md) != nil {
		return 0, false
	}
	meta, err := md.Metadata()
	if err != nil {
		return 0, false
	}
	body, err := dac.CodeOf(f.Runtime).IL(md)
	if err != nil {
		return 0, false
	}
	return ilflow.SleepAt(body.Code, il, func(t metadata.Token) string { return tasks.MemberName(meta, t) })
}

// entered states that a method has entered a semaphore, worded by strength.
func entered(strength answer.Strength) answer.Statement {
	if strength == answer.StrengthLikely {
		return words.LikelyEntered.Of()
	}
	return words.MayEntered.Of()
}

// holderEvidence states why a method holds a semaphore.
func (g *grapher) holderEvidence(h *holder, l *lock) answer.Statement {
	var line answer.Statement
	if h.place != nil && h.place.File != "" {
		line = words.AtLine.Of(words.Place(h.place.File, h.place.Line))
	}
	return words.PastItsWait.Of(g.holderName(h), g.lockText(l), line, h.doubt)
}

// channel concludes which methods read a full channel or pipe.
func (g *grapher) channel(v *answer.Verdict, c *channelWait) bool {
	if c.kind == &blockKind {
		return g.fullBlock(v, c)
	}
	readers, unknown := g.readersOf(c)
	if c.kind == &pipeKind && !g.programs(c, readers, unknown) {
		return false
	}
	if len(readers) == 0 {
		reads, sure := g.readingOf(c)
		if unknown || !sure { // it may read this channel
			v.Statement, v.Strength, v.Severity = v.Plus(words.NobodyTakes.Of()), answer.StrengthPossible, answer.SeverityWarning
		} else {
			v.Statement = v.Plus(words.NoReader.Of())
		}
		return !reads
	}
	if g.course().channel(c).moves {
		return false
	}
	g.behind(v, readers)
	h, wait := readers[0], answer.Statement{}
	op := g.s.standing[h.box]
	if op != nil {
		wait = words.AndWaitsFor.Of(g.thingText(op.thing))
	}
	if c.kind == &pipeKind && (op == nil || !op.stalls()) {
		return false // it writes at the speed at which something else takes the data
	}
	v.Strength = answer.StrengthLikely
	v.Statement = v.Plus(words.ReadsIt.Of(words.MethodObject.Of(words.Method(h.method.String()), words.Object(h.box)), wait))
	v.Show = append(v.Show, "dumpasync -address "+addressText(h.box))
	return true
}

// keepsUp reports whether methods that take from a queue stand in delays so short that all who wait have had their turn briefly later: the queue is full
// by design, and what adds to it is slowed down.
func (g *grapher) keepsUp(readers []holder, writers int) bool {
	longest, timed := time.Duration(0), 0
	for i := range readers {
		if length, known := g.pauseOf(&readers[i]); known && length <= briefly && !g.s.repeats(&readers[i], false) {
			longest, timed = max(longest, length), timed+1
		}
	}
	return timed > 0 && time.Duration((writers+timed-1)/timed)*longest <= briefly
}

// receives reports whether a method that reads a full channel waits for an item of this channel, or is in no channel's list of waiters: it has been
// removed there and goes on.
func (g *grapher) receives(h *holder, c *channelWait) bool {
	op := g.s.standing[h.box]
	if op == nil {
		return g.s.goesOn[h.box]
	}
	switch t := op.thing; t.cause {
	case tasks.CauseChannelRead:
		return t.channel == nil || t.channel == c
	case tasks.CauseChannelWrite, tasks.CauseChannel:
		return t.channel == nil
	}
	return false
}

// reading reports whether a thread that moves is in a method of the program which reads a channel in a loop. The channel is full by design then, as
// long as what writes is faster. sure is false if the code of such a thread, or which channel it reads, is not known.
func (g *grapher) reading(c *channelWait) (reads, sure bool) {
	sure = true
	known := map[target.Addr]*methodCalls{}
	for i := range g.s.r.threads {
		t := &g.s.r.threads[i]
		if t.Managed == nil || t.OS == nil || g.s.ctx.Err() != nil || !g.threadMoves(t) {
			continue
		}
		for f := range g.s.r.walker.Walk(g.s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			if sure = sure && f.Missing() == nil; f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			if err == nil && md == nil {
				continue
			}
			var m *methodCalls
			if err == nil {
				m, err = g.s.calls(f.Runtime, md, known, c.kind.reads)
			}
			if err != nil {
				sure = false
			}
			if err != nil || len(m.list) == 0 {
				continue
			}
			if _, loops, err := g.s.loopsOf(&f, md); err != nil || len(loops) == 0 {
				sure = sure && err == nil
				continue
			}
			is, known := g.readsIn(t, &f, md, c)
			if is {
				return true, true
			}
			sure = sure && known
		}
	}
	return false, sure
}

// readsIn reports whether a frame's method calls the reader of a channel, by the objects that its code and its roots show. known is false if they
// do not show the reader of each call.
func (g *grapher) readsIn(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc, c *channelWait) (is, known bool) {
	around, err := g.s.around(t, f, md)
	if err != nil {
		return false, false
	}
	known = true
	for _, call := range slices.Concat(around.Before, around.Later) {
		if !c.kind.reads(call.Method) {
			continue
		}
		of := c.kind.of(g.s, call.Object)
		if of == c.object.Addr {
			return true, true
		}
		known = known && of != 0
	}
	for root, err := range g.s.r.walker.Roots(g.s.ctx, t.Managed, t.OS.Registers) {
		if err != nil {
			break // the calls decide whether it is known
		}
		if root.FrameSP == f.SP && !root.Interior && c.kind.of(g.s, root.Object) == c.object.Addr {
			return true, true
		}
	}
	return false, known
}

// channelOf returns the channel of a reader, or 0 if a is no reader or it can't be read.
func (s *survey) channelOf(a target.Addr) target.Addr {
	if a == 0 {
		return 0
	}
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		return 0
	}
	k, x, is, err := shapes.TryBind[*channelReader](s.r.b, o)
	if !is || err != nil {
		return 0
	}
	p, err := k.Parent.Addr(x)
	if err != nil {
		return 0
	}
	return p
}

// readers returns the suspended methods that have read a channel or stand in a loop that reads it, and whether others may be such: a compiler puts the
// condition of a loop behind its body.
func (g *grapher) readers(c *channelWait) (out []holder, unknown bool) {
	for m, err := range g.s.set.Suspended(g.s.ctx, c.kind.reads, nil) {
		if err != nil {
			return out, true
		}
		if m.Err != nil {
			unknown = true
			continue
		}
		if g.between(m.Object) {
			continue // the code that goes through its elements reads for it
		}
		reads := func(call tasks.Call) bool { return c.kind.of(g.s, call.Object) == c.object.Addr }
		again, last := g.s.readsAgain(m, reads)
		if !again && !slices.ContainsFunc(m.Calls, reads) {
			unknown = unknown || slices.ContainsFunc(slices.Concat(m.Calls, m.Later), func(call tasks.Call) bool { return call.Object == 0 && !call.Unknown })
			continue
		}
		out = append(out, holder{box: m.Object, method: m.Name, place: m.Place, strength: answer.StrengthLikely, again: again, entered: last})
	}
	if len(out) == 0 {
		list, unread := g.through(c)
		return list, unknown || unread
	}
	return out, unknown
}
