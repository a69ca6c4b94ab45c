package locks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Bounds of the references from code to a lease that it has, and of the suspended methods that are looked at.
const (
	leaseDepth   = 4
	leaseObjects = 256
	leaseMethods = 1 << 13
)

// A leaseUse says who has the permits of a ConcurrencyLimiter.
type leaseUse struct {
	holders []holder
	held    int64 // permits of the holders
	kept    int64 // permits of leases that live, and that no holder was found to have
	busy    int64 // threads that run in code which may take or give back a lease: each may have one that is not seen
	whole   bool  // it is known of each lease whether it lives
}

// leased adds to v, which says who waits for a ConcurrencyLimiter, who has its permits. It returns false if those go on so soon that all who wait have their turns.
func (g *grapher) leased(v *answer.Verdict, t *thing, waiting int) (tells bool) {
	u, l := g.leasesOf(t.addr), t.limiter
	missing := max(l.leased-u.held-u.kept, 0)
	if len(u.holders) > 0 && u.kept == 0 && missing <= u.busy {
		turns := (l.queued*int64(len(u.holders)) + u.held - 1) / max(u.held, 1) // one lease may have several permits
		if g.course().all(u.holders, int(min(turns, 1<<20)), crowdAsync).moves && (!g.repeating(u.holders) || waiting < manyBlind && g.blindHolders(u.holders)) {
			return false
		}
	}
	if len(u.holders) == 0 && u.kept == 0 && missing <= u.busy {
		return false // threads that run have them
	}
	if missing == 0 && u.kept == 0 && g.leasedAgain(v, t, u) {
		return true
	}
	if len(u.holders) > 0 {
		h := &u.holders[0]
		wait := g.holderDoes(h, len(u.holders) > 1)
		if more := len(u.holders) - 1; more > 0 {
			v.Statement = v.Plus(words.LeaseHolders.Of(g.holderName(h), words.N(more), wait))
		} else {
			v.Statement = v.Plus(words.LeaseHolder.Of(g.holderName(h), wait))
		}
		if slices.ContainsFunc(u.holders, func(h holder) bool { return g.moves(&h) }) && missing == 0 {
			v.Severity = answer.SeverityWarning // the next waiter is about to go on
		}
		for i := range u.holders[:min(len(u.holders), listedOperations)] {
			v.Show = append(v.Show, g.showHolder(&u.holders[i])...)
		}
	}
	if u.kept > 0 {
		v.Statement = v.Plus(words.LeasesKept.Of(words.N(u.kept)))
	}
	switch lost := missing - u.busy; {
	case lost > 0 && u.whole:
		v.Statement = v.Plus(words.LeasesDropped.Of(words.N(lost)))
	case lost > 0:
		v.Statement = v.Plus(words.LeasesUnfound.Of(words.N(lost)))
	}
	v.Strength = answer.StrengthLikely
	return true
}

// leasedAgain concludes that all who have leases of a rate limiter wait for another one of it, so that none is disposed of.
func (g *grapher) leasedAgain(v *answer.Verdict, t *thing, u *leaseUse) bool {
	for i := range u.holders {
		w := g.waitOf(&u.holders[i])
		if w == nil || w.op == nil || w.op.limited || w.op.thing.kind != answer.WaitLimiter || w.op.thing.addr != t.addr {
			return false
		}
	}
	if len(u.holders) == 0 {
		return false
	}
	v.Kind, v.Strength, v.Severity = answer.FindingDeadlock, answer.StrengthLikely, ""
	first := g.holderName(&u.holders[0])
	if len(u.holders) == 1 {
		v.Statement = words.LeasedAgain.Of(first, g.thingText(t), v.Statement)
	} else {
		v.Statement = words.LeasedAgainMany.Of(first, words.N(len(u.holders)-1), g.thingText(t), v.Statement)
	}
	return true
}

// blindHolders reports whether the code of some holders, or of what they await, can't be read: whether they go on is not known then. It notes why.
func (g *grapher) blindHolders(holders []holder) bool {
	for i := range holders {
		op := g.s.standing[holders[i].box]
		if op == nil {
			continue
		}
		for _, a := range op.path {
			if _, err := g.s.found.tasks.AwaitOf(a); err != nil && (a == holders[i].box || !g.s.ofLibrary(a)) {
				g.s.gaps.Note(fmt.Errorf("what suspended code does that has leases of a rate limiter, in %s: %w", holders[i].method.S, err))
				return true
			}
			if a == holders[i].box {
				break
			}
		}
	}
	return false
}

// leasesOf returns who has the permits of a ConcurrencyLimiter, once for each.
func (g *grapher) leasesOf(limiter target.Addr) *leaseUse {
	if u := g.leases[limiter]; u != nil {
		return u
	}
	u := g.s.findLeases(limiter)
	for i := range g.s.r.threads {
		if t := &g.s.r.threads[i]; g.of[t] == nil && g.s.handlesLeases(t) {
			u.busy++
		}
	}
	g.leases[limiter] = u
	return u
}

// A leaseOwner is code that refers to a lease.
type leaseOwner struct {
	box    target.Addr
	thread *stackwalk.Thread
	steps  int
	field  target.Addr // the object in its own field or variable that leads to the lease
	shared bool        // other code is as near
}

// findLeases finds the leases of a limiter that are not disposed of, and the code that refers to each by the fewest references.
func (s *survey) findLeases(limiter target.Addr) *leaseUse {
	out := &leaseUse{}
	if graph, _, done := s.code.WholeGraph(); graph != nil {
		done()
		out.whole = true
	}
	permits := map[target.Addr]int64{}
	for found, err := range objects.BoundObjects[*lease](s.ctx, s.r.b, s.r.heap, nil, heap.ScanOptions{}) {
		if err != nil {
			out.whole = false
			continue
		}
		k, x := found.Shape, found.At()
		of, err := k.Limiter.Addr(x)
		if err == nil && of != limiter {
			continue
		}
		v, err2 := ints(x, &k.Permits, &k.Disposed)
		if err = errors.Join(err, err2); err != nil {
			out.whole = false
		} else if v[0] > 0 && v[1] == 0 {
			permits[found.Object.Addr] = v[0]
		}
	}
	owners := s.leaseOwners(permits)
	seen := map[target.Addr]int{} // by box: its index in holders, plus 1
	threads := map[*stackwalk.Thread]bool{}
	for a, n := range permits {
		switch o := owners[a]; {
		case o == nil || o.shared:
			if out.whole && s.code.Lives(a) {
				out.kept += n
			}
			continue
		case o.thread != nil:
			if !threads[o.thread] {
				threads[o.thread] = true
				out.holders = append(out.holders, holder{thread: o.thread, method: s.innerMethod(o.thread), strength: answer.StrengthLikely, gives: true})
			}
			out.held += n
		default:
			out.held += n
			if i := seen[o.box]; i > 0 {
				out.holders[i-1].entered = min(out.holders[i-1].entered, s.storedIn(o.box, o.field))
				continue
			}
			h := holder{box: o.box, method: s.found.tasks.MethodOf(o.box), strength: answer.StrengthLikely, gives: true, entered: s.storedIn(o.box, o.field)}
			out.holders = append(out.holders, h)
			seen[o.box] = len(out.holders)
		}
	}
	slices.SortFunc(out.holders, func(a, b holder) int {
		switch {
		case a.box < b.box:
			return -1
		case a.box > b.box:
			return 1
		case a.thread != nil && b.thread != nil:
			return int(a.thread.Managed.ManagedID) - int(b.thread.Managed.ManagedID)
		}
		return 0
	})
	return out
}

// leaseOwners returns the nearest code that refers to each lease: a suspended method, the outermost one of those that await each other, or a thread.
func (s *survey) leaseOwners(leases map[target.Addr]int64) map[target.Addr]*leaseOwner {
	out := map[target.Addr]*leaseOwner{}
	if len(leases) == 0 {
		return out
	}
	methods := map[target.Addr]bool{}
	var order []target.Addr
	add := func(a target.Addr) {
		if !methods[a] && len(order) < leaseMethods {
			methods[a] = true
			order = append(order, a)
		}
	}
	for _, op := range s.ops {
		for _, a := range op.path {
			add(a)
		}
	}
	for a := range s.goesOn {
		add(a)
	}
	for a := range s.standing {
		add(a)
	}
	slices.Sort(order)
	take := func(lease target.Addr, o leaseOwner) {
		old := out[lease]
		switch {
		case old == nil || o.steps < old.steps:
			out[lease] = &o
		case o.steps > old.steps:
		case o.box != 0 && old.box != 0 && s.standing[o.box] != nil && s.standing[o.box] == s.standing[old.box]:
			path := s.standing[o.box].path
			if slices.Index(path, o.box) > slices.Index(path, old.box) {
				o.shared = old.shared
				out[lease] = &o
			}
		default:
			old.shared = true
		}
	}
	// It does not go on at other suspended methods, at limiters, and at tasks that have not completed: their continuations are other code.
	q := tracer{s: s, steps: leaseDepth, objects: leaseObjects, through: func(a target.Addr) bool { return leases[a] == 0 && !methods[a] && s.carriesLease(a) }}
	for _, a := range order {
		for r := range q.from(a) {
			if leases[r.object] != 0 {
				take(r.object, leaseOwner{box: a, field: r.first, steps: r.steps})
			}
		}
	}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil || s.ctx.Err() != nil {
			continue
		}
		var roots []target.Addr
		for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
			if err == nil && !root.Interior && !slices.Contains(roots, root.Object) {
				roots = append(roots, root.Object)
			}
		}
		for r := range q.from(roots...) {
			if leases[r.object] != 0 {
				take(r.object, leaseOwner{thread: t, steps: r.steps})
			}
		}
	}
	return out
}

// carriesLease reports whether an object may be a part of what code has: it is no task that has not completed, and no limiter.
func (s *survey) carriesLease(a target.Addr) bool {
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		return false
	}
	if is, err := objects.IsShape[*limiter](s.r.b, o.Type); is || err != nil {
		return false
	}
	if _, _, is, err := shapes.TryBind[*task](s.r.b, o); err != nil || !is {
		return err == nil
	}
	cause, err := s.found.tasks.CauseOf(a)
	return err == nil && cause == tasks.CauseNone
}

// storedIn returns the offset at which a suspended method last stored what its field with an object has, or 0.
func (s *survey) storedIn(box, object target.Addr) int {
	p, err := s.found.tasks.AwaitOf(box)
	if err != nil || p == nil {
		return 0
	}
	o, err := s.r.heap.ObjectAt(box)
	if err != nil {
		return 0
	}
	typed, err := s.r.b.Objects().Of(o)
	if err != nil {
		return 0
	}
	var parts []string
	s.r.heap.Edges(heap.EdgeOptions{}).Slots(&o, object, 0, o.Size, func(off uint64) bool {
		parts = append(parts, strings.Split(typed.SlotName(off), ".")...)
		return true
	})
	last := 0
	for in, err := range metadata.Instructions(p.Code) {
		if err != nil {
			return 0
		}
		if in.Offset >= p.At {
			break
		}
		if in.Opcode.String() == "stfld" {
			name := p.Member(in.Token())
			if slices.Contains(parts, name[strings.LastIndexByte(name, '.')+1:]) {
				last = in.Offset
			}
		}
	}
	return last
}

// innerMethod returns the innermost method of the program on a thread's stack.
func (s *survey) innerMethod(t *stackwalk.Thread) answer.Text {
	for md := range s.methodsOf(t) {
		return s.gaps.Text(dac.CodeOf(s.r.rt).MethodName(md, dac.MethodQualified))
	}
	return answer.Text{}
}

// handlesLeases reports whether a thread is in code that may take or give back a lease.
func (s *survey) handlesLeases(t *stackwalk.Thread) bool {
	if t.Managed == nil || t.OS == nil {
		return false
	}
	known := map[target.Addr]*methodCalls{}
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Kind != stackwalk.FrameManaged || err != nil || md == nil {
			continue
		}
		if name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified); err == nil && strings.HasPrefix(name, "System.Threading.RateLimiting.") {
			return true
		}
		if m, err := s.calls(f.Runtime, md, known, acquires); err == nil && len(m.list) > 0 {
			return true
		}
	}
	return false
}
