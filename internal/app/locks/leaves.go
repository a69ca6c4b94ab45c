package locks

import (
	"math"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
)

// withEntry adds the entry by which a method waits for a semaphore, with the methods of the same object that leave it: a pool of the program is entered and left
// so, by methods of any name.
func (s *survey) withEntry(list []entry, m *tasks.Suspended, l *lock) []entry {
	e := entry{method: shortMethod(m.Name.S), this: m.This, lock: l}
	if slices.ContainsFunc(list, func(x entry) bool { return x.method == e.method && x.this == e.this && x.lock == e.lock }) {
		return list
	}
	if e.this != 0 {
		if e.gives = s.found.tasks.Givers(e.this, l.Address, releasesPermit, enters); !s.balanced(e) {
			e.gives = nil
		}
	}
	return append(list, e)
}

// balanced reports whether all code of the program that calls a method which leaves an entry does so behind a call of the entry. Else the semaphore may count the
// items of a queue: what adds one has entered nothing. Where not all code can be read, a semaphore with a maximum of its own counts as one to be left.
func (s *survey) balanced(e entry) bool {
	p := channelPool{entries: []entry{e}}
	leads, err := s.code.Leads(p.sought, p.after)
	if err != nil {
		return e.lock.most < math.MaxInt32
	}
	return len(e.gives) == 0 || leads.Calls == 0
}

// named reports whether a call that names a method may run the entry: by its own name, or by one of an interface or a base class.
func (e *entry) named(method string) bool {
	return e.method == method || e.this != 0 && bareMethod(e.method) == bareMethod(method)
}

// calledBy reports whether a call runs the entry, as far as the code shows on what.
func (e *entry) calledBy(c *tasks.Call) bool {
	if c.Object != 0 && c.Object == e.this {
		return e.named(c.Method)
	}
	return e.method == c.Method && (e.this == 0 || c.Object == 0)
}

// leaves reports whether a call that names a method may run one that leaves the semaphore for the callers of the entry.
func (e *entry) leaves(method string) bool {
	return slices.ContainsFunc(e.gives, func(g tasks.Giver) bool { return g.Name == bareMethod(method) })
}

// leavesBy reports whether a call leaves the semaphore of one of the entries: it is made on the same object.
func leavesBy(entries []entry, c *tasks.Call) bool {
	return slices.ContainsFunc(entries, func(e entry) bool {
		class, _, _ := strings.Cut(e.method, ".")
		return e.leaves(c.Method) && (c.Object == e.this || c.Object == 0 && strings.HasPrefix(c.Method, class+"."))
	})
}

// bareMethod returns the name of a method without its class.
func bareMethod(method string) string { return method[strings.LastIndexByte(method, '.')+1:] }

// uncaught returns the calls behind a method's present await that are not only made where an exception is caught: what gives a permit back there keeps it
// for its caller where all goes well.
func (s *survey) uncaught(m *tasks.Suspended) []tasks.Call {
	at, err := s.found.tasks.AwaitOf(m.Object)
	if err != nil || at == nil {
		return m.Later
	}
	return slices.DeleteFunc(slices.Clone(m.Later), func(c tasks.Call) bool {
		return slices.ContainsFunc(at.Clauses, func(x metadata.Clause) bool {
			start := int(x.HandlerOffset)
			return (x.Kind == metadata.ClauseCatch || x.Kind == metadata.ClauseFilter) && c.Offset >= start && c.Offset < start+int(x.HandlerLength)
		})
	})
}
