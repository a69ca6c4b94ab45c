package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A possession says whether the stack of a lock's recorded owner agrees with the record. Locks record the id of a thread. The runtime gives the id of a
// thread that has ended to a new one, which seems to hold then what the other left locked.
type possession uint8

const (
	heldUnread  possession = iota // not all of the stack and its code could be read, or the code does not show whether it has
	heldEntered                   // a method on the stack is past a call that enters this lock
	heldUnseen                    // no method on the stack is
)

// possession judges the thread that a lock records as its owner, if it alone is listed as the holder. The lists of threads prove other holders.
func (s *survey) possession(holders []*stackwalk.Thread, l *lock) possession {
	if len(holders) != 1 || holders[0] != l.owner || holders[0].OS == nil {
		return heldEntered
	}
	return s.possessionOf(holders[0], l)
}

// possessionOf reads the methods on the stack of the thread that a lock records as its owner.
func (s *survey) possessionOf(t *stackwalk.Thread, l *lock) possession {
	if t.OS == nil || t.Managed == nil || s.found == nil {
		return heldUnread
	}
	unread := false
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Missing() != nil {
			return heldUnread
		}
		md, err := f.Method()
		if f.Kind != stackwalk.FrameManaged || err == nil && md == nil {
			continue
		}
		if err != nil {
			unread = true
			continue
		}
		held, err := s.entersIn(t, &f, md, l)
		if held == heldEntered && err == nil {
			return heldEntered
		}
		unread = unread || err != nil || held == heldUnread
	}
	if unread {
		return heldUnread
	}
	return heldUnseen
}

// entersIn reports whether a frame's method has entered a lock. That is not known where the frame's place in the IL is not, where the method may have left
// the lock since, or where it may have entered it in an earlier turn of a loop. Where the code does not show on what object it is called, the frame has to
// refer to the lock.
func (s *survey) entersIn(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc, l *lock) (possession, error) {
	refers := func() bool { return s.refersTo(t, f, l.Address) }
	class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative)
	switch {
	case err != nil:
		return heldUnseen, err
	case l.Kind == answer.LockLazy && strings.HasPrefix(class, "System.Lazy`1"): // often compiled ahead; it enters the lock
		return sureIf(refers()), nil
	case slices.Contains(lockClasses, class): // it is about to enter
		return heldUnseen, nil
	}
	if sync, err := isSynchronized(md); sync || err != nil {
		return sureIf(md.IsStatic() && l.Type.S == "System.RuntimeType" || refers()), err
	}
	names, err := s.found.tasks.CallsOf(md)
	if err != nil || !slices.ContainsFunc(names, entersLock) {
		return heldUnseen, err
	}
	around, err := s.around(t, f, md)
	if err != nil {
		return heldUnread, nil //nolint:nilerr // its code can enter a lock; where the frame stands in it is unknown
	}
	_, loops, err := s.loopsOf(f, md)
	if err != nil {
		return heldUnread, nil //nolint:nilerr // as above
	}
	return enteredIn(around, loops, l.Address, refers), nil
}

// sureIf returns whether a method that enters locks of its kind has entered a lock: it has for sure, or that is not known.
func sureIf(sure bool) possession {
	if sure {
		return heldEntered
	}
	return heldUnread
}

// lockClasses are the classes with the methods that enter locks for their callers.
var lockClasses = []string{"System.Threading.Monitor", "System.Threading.Lock", "System.Threading.ReaderWriterLockSlim"}

// refersTo reports whether the frame of a thread refers to an object, by what the collector finds there or by a variable.
func (s *survey) refersTo(t *stackwalk.Thread, f *stackwalk.Frame, a target.Addr) bool {
	for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
		if err != nil {
			break
		}
		if root.FrameSP == f.SP && root.Object == a && !root.Interior {
			return true
		}
	}
	args, locals, _ := stackwalk.Variables(f, s.r.b.Objects()) // the arguments are known without the locals
	return slices.ContainsFunc(slices.Concat(args, locals), func(v stackwalk.Variable) bool {
		if v.Err != nil || !v.Located {
			return false
		}
		value, err := v.Value()
		if err != nil || value.Kind() != objects.KindReference {
			return false
		}
		at, err := value.Addr()
		return err == nil && at == a
	})
}

// methodSynchronized is the flag of methods that hold the monitor of their object or class while they run (MethodImplOptions.Synchronized, II.23.1.10).
const methodSynchronized = 0x20

// isSynchronized reports whether a method enters a monitor without a call in its IL. Methods that are made at run time have no row to say so.
func isSynchronized(md *dac.MethodDesc) (bool, error) {
	if md.Kind == dac.MethodDynamic {
		return false, nil
	}
	m, err := md.Module()
	if err != nil {
		return false, err
	}
	meta, err := m.Metadata()
	if err != nil {
		return false, err
	}
	def, err := meta.MethodDef(md.Token.Row())
	return def.ImplFlags&methodSynchronized != 0, err
}

// enteredIn reports whether the calls that are done have entered the lock at a and not left it. refers reports whether the frame refers to the lock: it
// decides where the code does not show what a call enters. What a loop may have done before is not known.
func enteredIn(around *tasks.Around, loops ilflow.Loops, a target.Addr, refers func() bool) possession {
	var entered []target.Addr // and not left
	out := heldUnseen
	for i := range around.Before {
		switch c := &around.Before[i]; {
		case entersLock(c.Method):
			entered = append(entered, c.Object)
		case leavesLock(c.Method):
			for k := len(entered) - 1; k >= 0; k-- {
				if on := entered[k]; on == c.Object || on == 0 || c.Object == 0 {
					entered = slices.Delete(entered, k, k+1)
					if on == 0 || on == a {
						out = heldUnread // another way through the code may not have left it
					}
					break
				}
			}
		}
	}
	switch {
	case slices.Contains(entered, a):
		return heldEntered
	case slices.Contains(entered, 0):
		return sureIf(refers())
	}
	for i := range around.Later {
		c := &around.Later[i]
		if !entersLock(c.Method) || c.Object != 0 && c.Object != a {
			continue
		}
		for start, end := range loops {
			if start <= c.Offset && c.Offset < end {
				out = heldUnread
			}
		}
	}
	return out
}

// entersLock reports whether a method enters a lock for its caller, as Monitor.Enter, Lock.EnterScope and ReaderWriterLockSlim.TryEnterWriteLock do.
func entersLock(method string) bool {
	_, name, _ := strings.Cut(method, ".")
	return strings.HasPrefix(name, "Enter") || strings.HasPrefix(name, "TryEnter") || name == "ReliableEnter"
}

// leavesLock reports whether a method leaves a lock that entersLock has entered.
func leavesLock(method string) bool {
	_, name, _ := strings.Cut(method, ".")
	return strings.HasPrefix(name, "Exit") || method == "Scope.Dispose"
}
