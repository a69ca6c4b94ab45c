package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A holder is a suspended method that has entered a semaphore, or may have.
type holder struct {
	box      target.Addr
	method   answer.Text
	place    *answer.AsyncPlace
	strength answer.Strength
}

// A semaphoreUse describes the holders of a semaphore that suspended code waits for.
type semaphoreUse struct {
	holders []holder
	gives   bool // a waiting method releases it later
	// blindWaiters reports that the code of a waiting method could not be read.
	blindWaiters bool
	unread       int      // suspended methods with unreadable code
	inside       int      // threads in a method that calls a semaphore
	blind        int      // threads with a method with unreadable code
	partial      bool     // not all async methods of the heap could be read
	entries      []string // methods that enter it for their callers
}

// An entry is a method that enters a semaphore for its caller, as AsyncLock.LockAsync does: it waits for the semaphore
// and does not release it.
type entry struct {
	method string      // with its type but without the namespace
	this   target.Addr // the receiver of the method
	lock   *lock
}

// wantsSemaphore selects the methods of SemaphoreSlim.
func wantsSemaphore(method string) bool { return strings.HasPrefix(method, "SemaphoreSlim.") }

// enters and gives report whether a method of SemaphoreSlim enters or releases one.
func enters(method string) bool { return strings.HasPrefix(method, "SemaphoreSlim.Wait") }
func gives(method string) bool  { return method == "SemaphoreSlim.Release" }

// givesBack reports whether a method may release what another method has entered.
func givesBack(method string) bool {
	switch method[strings.LastIndexByte(method, '.')+1:] {
	case "Dispose", "DisposeAsync", "Release", "Exit", "Unlock":
		return true
	}
	return false
}

// semaphores determines the holders of the semaphores that suspended code waits for.
func (s *survey) semaphores() error {
	s.uses = map[*lock]*semaphoreUse{}
	waits := map[target.Addr]*operation{} // by box
	for _, op := range s.ops {
		if l := op.thing.lock; l != nil {
			s.use(l)
			waits[op.box] = op
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
	s.threadsInside(entries)
	return nil
}

// usersOf determines the holders of a semaphore that only threads wait for, if the waiting methods release it later.
func (s *survey) usersOf(l *lock) (*semaphoreUse, error) {
	others := s.uses
	defer func() { s.uses = others }()
	s.uses = map[*lock]*semaphoreUse{l: {partial: s.partial, gives: true}}
	if s.set != nil {
		if _, err := s.entered(nil); err != nil {
			return nil, err
		}
	}
	s.threadsInside(nil)
	return s.uses[l], s.ctx.Err()
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
	for m, err := range s.set.Suspended(s.ctx, wantsSemaphore) {
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
			if u == nil || !enters(c.Method) || c.Awaits && s.stands(m.Object, l) {
				continue
			}
			after := func(later tasks.Call) bool {
				return gives(later.Method) && (later.Object == c.Object || later.Object == 0)
			}
			u.add(m, slices.ContainsFunc(m.Calls[i+1:], after))
		}
		if op == nil {
			continue
		}
		if slices.ContainsFunc(m.Later, gives) {
			s.use(op.thing.lock).gives = true
		} else if !slices.ContainsFunc(m.Calls, func(c tasks.Call) bool { return gives(c.Method) }) {
			if e := (entry{shortMethod(m.Name.S), m.This, op.thing.lock}); !slices.Contains(entries, e) {
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// unreadHolder records a suspended method with unreadable code. It may hold any semaphore.
func (s *survey) unreadHolder() {
	for _, u := range s.uses {
		u.unread++
	}
}

// add adds a method that is past its wait. released reports that a release lies between the wait and the present await.
func (u *semaphoreUse) add(m *tasks.Suspended, released bool) {
	h := holder{m.Object, m.Name, m.Place, answer.StrengthLikely}
	if released {
		h.strength = answer.StrengthPossible
	}
	for i := range u.holders {
		if u.holders[i].box == h.box {
			u.holders[i].strength = answer.Weakest(h.strength, u.holders[i].strength)
			return
		}
	}
	u.holders = append(u.holders, h)
}

// shortMethod strips namespaces and enclosing types from a method's name, as the names of IL calls have them.
func shortMethod(name string) string {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return name
	}
	class := name[:at]
	if i := strings.LastIndexAny(class, ".+"); i >= 0 {
		class = class[i+1:]
	}
	class, _, _ = strings.Cut(class, "<")
	class, _, _ = strings.Cut(class, "`")
	return class + name[at:]
}

// enteredThrough finds the methods that have entered a semaphore by one of the entries.
func (s *survey) enteredThrough(entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	wanted := func(method string) bool {
		return givesBack(method) || slices.ContainsFunc(entries, func(e entry) bool { return e.method == method })
	}
	for m, err := range s.set.Suspended(s.ctx, wanted) {
		if err != nil {
			return err
		}
		if m.Err != nil {
			continue // counted
		}
		for i := range m.Calls {
			c := &m.Calls[i]
			for _, e := range entries {
				if e.method != c.Method || e.this != 0 && c.Object != 0 && e.this != c.Object {
					continue
				}
				given := slices.ContainsFunc(m.Calls[i+1:], func(later tasks.Call) bool { return givesBack(later.Method) })
				if !given && !slices.ContainsFunc(m.Later, givesBack) {
					continue // it is no lock for this method
				}
				u := s.use(e.lock)
				u.gives = true
				u.entries = append(u.entries, e.method)
				if c.Awaits && s.stands(m.Object, e.lock) {
					continue
				}
				u.add(m, c.Object == 0 || given)
			}
		}
	}
	return nil
}

// stands reports whether a method waits for a lock, directly or through others.
func (s *survey) stands(box target.Addr, l *lock) bool { return s.outer[box] == l && l != nil }

// threadsInside counts, for each semaphore, the threads in methods that call a semaphore or enter this one through
// another method.
func (s *survey) threadsInside(entries []entry) {
	wanted := func(method string) bool {
		return wantsSemaphore(method) || slices.ContainsFunc(entries, func(e entry) bool { return e.method == method })
	}
	known := map[target.Addr][]string{}
	waits := map[*threads.Thread]*lock{}
	for _, w := range s.waits {
		waits[w.thread] = w.lock
	}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil || s.ctx.Err() != nil {
			continue
		}
		var calls []string
		blind := false
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			blind = blind || f.Missing() != nil
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			if err == nil && md != nil {
				var list []string
				if list, err = s.calls(f.Runtime, md, known, wanted); err == nil {
					calls = append(calls, list...)
				}
			}
			blind = blind || err != nil
		}
		for l, u := range s.uses {
			if waits[t] != l && slices.ContainsFunc(calls, func(method string) bool { return wantsSemaphore(method) || slices.Contains(u.entries, method) }) {
				u.inside++
			}
			if blind {
				u.blind++
			}
		}
	}
}

// calls returns the calls of a program's method that wanted selects.
func (s *survey) calls(rt *dac.Runtime, md *code.MethodDesc, known map[target.Addr][]string, wanted func(string) bool) ([]string, error) {
	if list, ok := known[md.Addr]; ok {
		return list, nil
	}
	name, err := code.Of(rt).MethodName(md, code.MethodQualified)
	if err != nil {
		return nil, err
	}
	var list []string
	if !answer.LibraryMethod(name) {
		if list, err = s.found.tasks.CallsOf(md); err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(method string) bool { return !wanted(method) })
	}
	known[md.Addr] = list
	return list, nil
}
