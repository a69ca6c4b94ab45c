package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A holder is a suspended method or a thread that has entered a semaphore, or may have.
type holder struct {
	box      target.Addr
	thread   *stackwalk.Thread // nil for a suspended method
	method   answer.Text
	place    *answer.AsyncPlace
	strength answer.Strength
	doubt    answer.Statement // why it may not hold it
	gives    bool             // its code releases the semaphore
	entered  int              // the offset of the call that entered it, in the IL of method
	given    []int            // the offsets of the calls that give it back
	frame    target.Addr      // the stack pointer of a thread's frame of method
	again    bool             // a suspended method that reads a queue does so in a loop
	another  bool             // it has entered this semaphore or another one
}

// A semaphoreUse describes the holders of a semaphore that suspended code or threads wait for.
type semaphoreUse struct {
	holders   []holder
	suspended bool // suspended code waits for it
	gives     bool // a waiting method releases it later
	// blindWaiters reports that the code of a waiting method could not be read.
	blindWaiters bool
	unread       int      // suspended methods with unreadable code
	inside       []user   // threads in a method that calls a semaphore, perhaps this one, and that did not call it just to wait
	blind        int      // threads with a method with unreadable code
	partial      bool     // not all async methods of the heap could be read
	entries      []string // methods that enter it for their callers
	hiding       []hiding // suspended methods and threads that may have entered it unseen
}

// A user is a thread in a method that calls a semaphore, and may have entered it.
type user struct {
	thread *stackwalk.Thread
	sure   bool // it calls this semaphore, and not perhaps another
	gives  bool // it is inside Release
}

// A stake is what a thread has to do with a semaphore.
type stake int

// Stakes of threads, the stronger last.
const (
	stakeNone    stake = iota
	stakePerhaps       // it calls a semaphore
	stakeUses          // it calls this semaphore
	stakeGives         // it is inside Release of this semaphore
	stakeHolds
)

// A hiding is a method that is past a call which may have entered any semaphore: the code does not show on what object, or what it runs.
type hiding struct {
	method answer.Text
	call   string
	box    target.Addr // of a suspended method; 0 for a thread's
}

// An entry is a method that enters a semaphore for its caller, as AsyncLock.LockAsync does: it waits for the semaphore
// and does not release it.
type entry struct {
	method string      // with its type but without the namespace
	this   target.Addr // the receiver of the method
	lock   *lock
	gives  []tasks.Giver // the methods of this that release the semaphore
}

// wantsSemaphore selects the methods of SemaphoreSlim that take a permit or give one back: what only makes or looks at a semaphore holds none.
func wantsSemaphore(method string) bool { return enters(method) || releasesPermit(method) }

// enters and releasesPermit report whether a method of SemaphoreSlim enters or releases one.
func enters(method string) bool         { return strings.HasPrefix(method, "SemaphoreSlim.Wait") }
func releasesPermit(method string) bool { return method == "SemaphoreSlim.Release" }

// takesPermit reports whether a method does something else than give a permit back.
func takesPermit(method string) bool { return !releasesPermit(method) }

// releasedBy reports whether a call may release what code has entered by another call: it calls Release, of the same object as far as that is
// known, or disposes of what a wrapper has returned.
func releasedBy(entered, later *tasks.Call) bool {
	if releasesPermit(later.Method) {
		return later.Object == entered.Object || later.Object == 0 || entered.Object == 0
	}
	return entered.Releaser && later.Through == "" && givesBack(later.Method)
}

// releasedIn reports whether one of the calls may release what code has entered.
func releasedIn(entered *tasks.Call, list []tasks.Call) bool {
	return slices.ContainsFunc(list, func(later tasks.Call) bool { return releasedBy(entered, &later) })
}

// hidden returns the call by which code may have entered any semaphore that it leaves later, or "". The call is done, and neither its receiver nor
// what a delegate runs is known.
func hidden(done, later []tasks.Call) string {
	for i := range done {
		c := &done[i]
		if c.Awaits || c.Object != 0 || !c.Unknown && !enters(c.Method) {
			continue
		}
		leaves := func(next tasks.Call) bool {
			return next.Unknown || releasedBy(c, &next) || c.Unknown && givesBack(next.Method)
		}
		if !slices.ContainsFunc(done[i+1:], leaves) && slices.ContainsFunc(later, leaves) {
			return cmp.Or(c.Through, c.Method)
		}
	}
	return ""
}

// hides records that a method may have entered any semaphore.
func (s *survey) hides(method answer.Text, call string, box target.Addr) {
	for _, u := range s.uses {
		u.hiding = append(u.hiding, hiding{method, call, box})
	}
}

// givesBack reports whether a method may release what another method has entered.
func givesBack(method string) bool {
	switch method[strings.LastIndexByte(method, '.')+1:] {
	case "Dispose", "DisposeAsync", "Release", "Exit", "Unlock":
		return true
	}
	return false
}

// semaphores determines the holders of the semaphores that suspended code or threads wait for.
func (s *survey) semaphores() error {
	s.uses = map[*lock]*semaphoreUse{}
	waits := map[target.Addr]*operation{} // by box
	for _, op := range s.ops {
		if l := op.thing.lock; l != nil {
			s.use(l).suspended = true
			waits[op.box] = op
		}
	}
	for _, w := range s.waits {
		if l := w.lock; l != nil && l.Kind == answer.LockSemaphore && l.count <= 0 {
			u := s.use(l)
			u.gives = u.gives || s.releases(w) != nil
		}
	}
	if len(s.uses) == 0 {
		return nil
	}
	entries, err := s.entered(waits)
	if err != nil {
		return err
	}
	if err := s.enteredThrough(entries); err != nil {
		return err
	}
	for _, u := range s.uses {
		if !u.gives { // who waits does not release it: it may be a signal, which these have received
			u.holders = slices.DeleteFunc(u.holders, func(h holder) bool { return !h.gives })
		}
	}
	s.threadsInside(entries)
	return nil
}

// use returns the use of l, and adds it if it is missing.
func (s *survey) use(l *lock) *semaphoreUse {
	u := s.uses[l]
	if u == nil {
		u = &semaphoreUse{partial: s.partial}
		s.uses[l] = u
	}
	return u
}

// entered finds the methods that are past their own wait for a semaphore, and the methods that enter one for their
// callers.
func (s *survey) entered(waits map[target.Addr]*operation) (entries []entry, err error) {
	flows := map[*tasks.AwaitPoint]*ilflow.Flow{}
	for m, err := range s.set.Suspended(s.ctx, wantsSemaphore, givesBack) {
		if err != nil {
			return nil, err
		}
		op := waits[m.Object]
		if m.Err != nil {
			if op == nil {
				s.unreadHolder()
			} else {
				s.use(op.thing.lock).blindWaiters = true
			}
			continue
		}
		for i := range m.Calls {
			c := &m.Calls[i]
			l := s.byObj[c.Object]
			u := s.uses[l]
			if u == nil || !enters(c.Method) || c.Awaits && s.waitsStill(m, l) {
				continue
			}
			released := releasedIn(c, m.Calls[i+1:])
			if released && s.left(m, i, flows) {
				continue
			}
			h := holderIn(m, c)
			h.gives = releasedIn(c, m.Later) || releasedIn(c, m.Calls)
			h.given = givenBy(releasesPermit, l.Address, m.Calls, m.Later)
			if released {
				h.doubts(words.PastRelease.Of())
			}
			u.add(h)
		}
		if call := hidden(m.Calls, m.Later); call != "" {
			s.hides(m.Name, call, m.Object)
		}
		if op == nil {
			continue
		}
		if gone := waitsIn(m, op.thing.lock); releasedIn(&gone, s.uncaught(m)) {
			s.use(op.thing.lock).gives = true
		} else if !releasedIn(&gone, m.Calls) {
			entries = s.withEntry(entries, m, op.thing.lock)
		}
	}
	return entries, nil
}

// left reports whether a suspended method has given back for sure what it entered by its call at index i. flows caches the control flow of methods.
func (s *survey) left(m *tasks.Suspended, i int, flows map[*tasks.AwaitPoint]*ilflow.Flow) bool {
	p, err := s.found.tasks.AwaitOf(m.Object)
	if err != nil || p == nil {
		return false
	}
	g := flowOf(p, flows)
	in := &m.Calls[i]
	return g != nil && slices.ContainsFunc(m.Calls[i+1:], func(c tasks.Call) bool {
		return releasesPermit(c.Method) && c.Object == in.Object && g.Leaves(in.Offset, c.Offset, p.At)
	})
}

// waitsIn returns the call by which a method waits for a semaphore, or one of an unknown semaphore.
func waitsIn(m *tasks.Suspended, l *lock) tasks.Call {
	for i := range m.Calls {
		if c := &m.Calls[i]; c.Awaits && enters(c.Method) && (c.Object == 0 || c.Object == l.Address) {
			return *c
		}
	}
	return tasks.Call{Object: l.Address}
}

// unreadHolder records a suspended method with unreadable code. It may hold any semaphore.
func (s *survey) unreadHolder() {
	for _, u := range s.uses {
		u.unread++
	}
}

// holderIn returns a method that is past its wait in a call as a holder.
func holderIn(m *tasks.Suspended, call *tasks.Call) holder {
	return holder{box: m.Object, method: m.Name, place: m.Place, strength: answer.StrengthLikely, entered: call.Offset}
}

// doubts records why it is no more than possible that h holds its semaphore.
func (h *holder) doubts(why answer.Statement) {
	h.strength, h.doubt = answer.StrengthPossible, why
}

// add adds a suspended method.
func (u *semaphoreUse) add(h holder) {
	i := slices.IndexFunc(u.holders, func(x holder) bool { return x.box == h.box })
	if i < 0 {
		u.holders = append(u.holders, h)
		return
	}
	x := &u.holders[i]
	if h.strength == answer.StrengthPossible {
		x.doubts(h.doubt)
	}
	x.gives, x.entered = x.gives || h.gives, min(x.entered, h.entered)
	x.given = append(x.given, h.given...)
}

// givenBy returns the offsets of the calls that give back an object for sure.
func givenBy(gives func(method string) bool, object target.Addr, calls ...[]tasks.Call) (out []int) {
	for _, list := range calls {
		for i := range list {
			if c := &list[i]; gives(c.Method) && c.Object == object {
				out = append(out, c.Offset)
			}
		}
	}
	return out
}

// shortMethod strips namespaces and enclosing types from a method's name, as the names of IL calls have them.
func shortMethod(name string) string {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return name
	}
	class, _, _ := strings.Cut(name[:at], "[") // type arguments have dots
	for i := 1; i < len(class); i++ {
		if class[i] == '<' && class[i-1] != '.' && class[i-1] != '+' { // else the name is a compiler's
			class = class[:i]
		}
	}
	if i := strings.LastIndexAny(class, ".+"); i >= 0 {
		class = class[i+1:]
	}
	class, _, _ = strings.Cut(class, "`")
	return class + name[at:]
}

// enteredThrough finds the methods that have entered a semaphore by one of the entries.
func (s *survey) enteredThrough(entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	wanted := func(method string) bool {
		return givesBack(method) || slices.ContainsFunc(entries, func(e entry) bool { return e.named(method) || e.leaves(method) })
	}
	flows := map[*tasks.AwaitPoint]*ilflow.Flow{}
	for m, err := range s.set.Suspended(s.ctx, wanted, nil) {
		if err != nil {
			return err
		}
		if m.Err != nil {
			continue // counted
		}
		for i := range m.Calls {
			s.enteredBy(m, i, entries, flows)
		}
	}
	return nil
}

// enteredBy adds a suspended method to those that have entered a semaphore by its call at index i, if that calls one of the entries. flows caches the
// control flow of methods.
func (s *survey) enteredBy(m *tasks.Suspended, i int, entries []entry, flows map[*tasks.AwaitPoint]*ilflow.Flow) {
	c := &m.Calls[i]
	var found []entry
	for _, e := range entries {
		known := c.Object != 0 || c.First == e.lock.Address
		if e.calledBy(c) && (c.First == 0 || s.byObj[c.First] == nil || known) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return
	}
	leaves := func(later tasks.Call) bool { return givesBack(later.Method) || leavesBy(found, &later) }
	given := slices.ContainsFunc(m.Calls[i+1:], leaves)
	if !given && !slices.ContainsFunc(m.Later, leaves) {
		return // it is no lock for this method
	}
	for _, e := range found {
		u := s.use(e.lock)
		u.gives = true
		u.entries = append(u.entries, e.method)
	}
	if c.Awaits && m.Behind {
		return // the entry has not returned: it is a holder itself if it is past its wait
	}
	at, kept, isKept := s.keptBy(m, c)
	if given && s.leftBy(m, i, at, kept, isKept, found, flows) {
		return
	}
	var led []target.Addr // the semaphores to which leads what it keeps
	if isKept && kept.Field != 0 {
		name := at.Member(kept.Field)
		led = s.found.tasks.SemaphoresIn(m.Object, name[strings.LastIndexByte(name, '.')+1:])
	}
	for _, e := range found {
		if c.Awaits && s.stands(m.Object, e.lock) {
			continue
		}
		h := holderIn(m, c)
		h.gives = true
		known := c.Object != 0 || c.First == e.lock.Address
		switch own := e.this == 0 || slices.Contains(s.found.tasks.SemaphoresOf(e.this), e.lock.Address); { // else there is one for each key
		case !own && len(led) == 1 && led[0] != e.lock.Address:
			continue
		case given:
			h.doubts(words.PastRelease.Of())
		case !known, !own && len(led) != 1:
			h.doubts(words.OrForAnother.Of())
			h.another = true
		}
		s.use(e.lock).add(h)
	}
}

// keptBy returns the variable in which a suspended method keeps what it got from a call of its own, and its present await. ok is false if it is not known.
func (s *survey) keptBy(m *tasks.Suspended, c *tasks.Call) (at *tasks.AwaitPoint, kept ilflow.Kept, ok bool) {
	at, err := s.found.tasks.AwaitOf(m.Object)
	if err != nil || at == nil {
		return nil, kept, false
	}
	kept, ok = ilflow.KeptOf(at.Code, c.Offset, at.Member)
	return at, kept, ok
}

// leftBy reports whether a suspended method has left for sure what it entered by its call at index i: it has disposed of what it got, or has called a method of the
// same object to leave, on each path.
func (s *survey) leftBy(m *tasks.Suspended, i int, at *tasks.AwaitPoint, kept ilflow.Kept, isKept bool, entries []entry, flows map[*tasks.AwaitPoint]*ilflow.Flow) bool {
	if at == nil {
		return false
	}
	g := flowOf(at, flows)
	if g == nil {
		return false
	}
	in := &m.Calls[i]
	if isKept {
		list := g.Disposals(kept, func(method metadata.Token) bool { return givesBack(at.Member(method)) })
		if len(list) > 0 && g.LeavesKept(in.Offset, kept, list, at.At) {
			return true
		}
	}
	class, _, _ := strings.Cut(in.Method, ".")
	return slices.ContainsFunc(m.Calls[i+1:], func(c tasks.Call) bool {
		method := cmp.Or(c.Through, c.Method)
		is := givesBack(method) && strings.HasPrefix(method, class+".") && c.Object == in.Object || leavesBy(entries, &c)
		return is && g.Leaves(in.Offset, c.Offset, at.At)
	})
}

// flowOf returns the control flow of a suspended method, or nil if it can't be read. flows caches it.
func flowOf(p *tasks.AwaitPoint, flows map[*tasks.AwaitPoint]*ilflow.Flow) *ilflow.Flow {
	g, known := flows[p]
	if !known {
		var err error
		if g, err = ilflow.ReadFlow(&metadata.MethodBody{Code: p.Code, Clauses: p.Clauses}); err != nil {
			g = nil
		}
		flows[p] = g
	}
	return g
}

// stands reports whether a method waits for a lock, directly or through others.
func (s *survey) stands(box target.Addr, l *lock) bool {
	op := s.standing[box]
	return op != nil && l != nil && op.thing.lock == l
}

// waitsStill reports whether a suspended method that awaits a call which enters a lock still waits for that.
func (s *survey) waitsStill(m *tasks.Suspended, l *lock) bool {
	op := s.standing[m.Object]
	return s.stands(m.Object, l) || m.Behind && op != nil && op.thing.cause == tasks.CauseSemaphore && op.thing.lock == nil // which one can't be read
}

// threadsInside finds, for each semaphore, the threads that are past their own wait for it, and counts those in methods
// that call a semaphore or enter this one through another method. A method in which a thread just waits for it does not count.
func (s *survey) threadsInside(entries []entry) {
	wanted := func(method string) bool {
		return wantsSemaphore(method) || invokes(method) || slices.ContainsFunc(entries, func(e entry) bool { return e.method == method })
	}
	known := map[target.Addr]*methodCalls{}
	waits := map[*stackwalk.Thread]*lock{}
	for _, w := range s.waits {
		waits[w.thread] = w.lock
	}
	var f stackwalk.Frame // one for all: it is large
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil || s.ctx.Err() != nil {
			continue
		}
		used := map[*semaphoreUse]stake{}
		blind, waiting := false, waits[t]
		leaving := false // it is inside Release
		unseen := hiding{}
		for f = range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			blind = blind || f.Missing() != nil
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			if err == nil && md != nil {
				var m *methodCalls
				if m, err = s.calls(f.Runtime, md, known, wanted); err == nil {
					leaving = leaving || m.name == releaseMethod
				}
				if err == nil && m.own {
					gives, call := s.frameUses(used, t, &f, m, waiting, leaving)
					leaving = leaving && !gives
					if call != "" && unseen.call == "" {
						unseen = hiding{method: answer.Text{S: m.name}, call: call}
					}
					if wraps, _ := s.found.tasks.EntersFor(md); !wraps {
						waiting = nil // its callers do not stand in this wait
					}
				}
			}
			blind = blind || err != nil
		}
		if unseen.call != "" {
			s.hides(unseen.method, unseen.call, 0)
		}
		for _, u := range s.uses {
			if has := used[u]; has != stakeNone && has != stakeHolds {
				u.inside = append(u.inside, user{t, has >= stakeUses, has == stakeGives})
			}
			if blind {
				u.blind++
			}
		}
	}
}

// releaseMethod is the qualified name of the method that gives a permit back.
const releaseMethod = "System.Threading.SemaphoreSlim.Release"

// frameUses records in used which semaphores the method of a frame has entered, or may have. waits is what the thread
// waits for in this frame. leaving reports that the thread is inside Release: what the frame is about to release is no longer held for sure,
// and gives is true if there is such a semaphore. unseen is the call by which the method may have entered any.
func (s *survey) frameUses(used map[*semaphoreUse]stake, t *stackwalk.Thread, f *stackwalk.Frame, m *methodCalls, waits *lock, leaving bool) (gives bool, unseen string) {
	if len(m.list) == 0 {
		return false, ""
	}
	around, err := s.around(t, f, m.method)
	s.missing(err)
	if err == nil {
		unseen = hidden(slices.DeleteFunc(slices.Clone(around.Before), func(c tasks.Call) bool { return !c.Unknown }), around.Later)
	} else if !slices.ContainsFunc(m.list, func(name string) bool { return !invokes(name) }) {
		return false, "" // what delegates run is rarely a lock's
	}
	var near map[target.Addr]bool
	signals := !slices.ContainsFunc(m.list, takesPermit)
	for l, u := range s.uses {
		through := slices.ContainsFunc(m.list, func(name string) bool { return slices.Contains(u.entries, name) })
		switch {
		case err == nil && leaving && givesNext(around, l.Address):
			gives = true
			used[u] = max(used[u], stakeGives)
		case err == nil && pastWait(around, l.Address) != nil:
			if used[u] != stakeHolds {
				h := s.threadHolder(t, f, m)
				h.entered, h.given = pastWait(around, l.Address).Offset, givenBy(releasesPermit, l.Address, around.Before, around.Later)
				u.holders = append(u.holders, h)
			}
			used[u] = stakeHolds
		case used[u] == stakeHolds || waits == l:
		case err != nil:
			used[u] = max(used[u], stakePerhaps)
		default:
			for _, c := range slices.Concat(around.Before, around.Later) {
				switch {
				case !wantsSemaphore(c.Method) || c.Object != 0 && c.Object != l.Address:
				case signals && !u.gives && !u.blindWaiters: // those who wait for it do not give it back: who does, need not have entered
				case c.Object == l.Address:
					used[u] = max(used[u], stakeUses)
				default:
					used[u] = max(used[u], stakePerhaps)
					if near == nil {
						near = s.mentions(t, f)
					}
					if near[l.Address] {
						used[u] = max(used[u], stakeUses)
					}
				}
			}
			if through {
				used[u] = max(used[u], stakePerhaps)
			}
		}
	}
	return gives, unseen
}

// mentions returns the objects that a frame refers to, and those that their fields refer to.
func (s *survey) mentions(t *stackwalk.Thread, f *stackwalk.Frame) map[target.Addr]bool {
	out := map[target.Addr]bool{}
	edges := s.r.heap.Edges(heap.EdgeOptions{})
	for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
		if err != nil || root.FrameSP != f.SP || root.Interior || root.Object == 0 {
			continue
		}
		out[root.Object] = true
		o, err := s.r.heap.ObjectAt(root.Object)
		if err != nil || o.Type.IsArray() {
			continue
		}
		for ref, err := range edges.Of(&o) {
			if err == nil {
				out[ref.Target] = true
			}
		}
	}
	return out
}

// invokes reports whether a method has the name by which delegates are invoked.
func invokes(method string) bool { return strings.HasSuffix(method, ".Invoke") }

// givesNext reports whether the first release of a method's calls that are not done gives back a semaphore's permit.
func givesNext(around *tasks.Around, semaphore target.Addr) bool {
	i := slices.IndexFunc(around.Later, func(c tasks.Call) bool { return releasedBy(&tasks.Call{Releaser: true}, &c) })
	return i >= 0 && releasedBy(&tasks.Call{Object: semaphore, Releaser: true}, &around.Later[i])
}

// pastWait returns the call by which a method has entered a semaphore that it releases later, or nil.
func pastWait(around *tasks.Around, semaphore target.Addr) *tasks.Call {
	var in *tasks.Call
	for i := range around.Before {
		switch c := &around.Before[i]; {
		case enters(c.Method) && c.Object == semaphore:
			in = c
		case in != nil && releasedBy(in, c):
			in = nil
		}
	}
	if in == nil || !releasedIn(in, around.Later) {
		return nil
	}
	return in
}

// threadHolder describes a thread that is past its wait in a frame.
func (s *survey) threadHolder(t *stackwalk.Thread, f *stackwalk.Frame, m *methodCalls) holder {
	h := holder{thread: t, method: answer.Text{S: m.name}, strength: answer.StrengthLikely, gives: true, frame: f.SP}
	if line, err := f.SourceLine(); err == nil {
		h.place = &answer.AsyncPlace{File: line.File, Line: line.Line}
	}
	return h
}

// around returns the calls of a frame's method before and after the instruction at which the frame stands.
func (s *survey) around(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc) (*tasks.Around, error) {
	il, err := reach.ILOffset(f)
	if err != nil {
		return nil, err
	}
	return s.found.tasks.CallsAround(md, il, s.code.Receiver(t, f, md))
}

// methodCalls are the calls of a method.
type methodCalls struct {
	method *dac.MethodDesc
	name   string
	own    bool     // the program's, and not a library's
	list   []string // those that are wanted
}

// calls returns the calls of a program's method that wanted selects.
func (s *survey) calls(rt *dac.Runtime, md *dac.MethodDesc, known map[target.Addr]*methodCalls, wanted func(string) bool) (*methodCalls, error) {
	if m, ok := known[md.Addr]; ok {
		return m, nil
	}
	name, err := dac.CodeOf(rt).MethodName(md, dac.MethodQualified)
	if err != nil {
		return nil, err
	}
	m := &methodCalls{method: md, name: name, own: !answer.LibraryMethod(name)}
	if m.own {
		if m.list, err = s.found.tasks.CallsOf(md); err != nil {
			return nil, err
		}
		m.list = slices.DeleteFunc(m.list, func(method string) bool { return !wanted(method) })
	}
	known[md.Addr] = m
	return m, nil
}
