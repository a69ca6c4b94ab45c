package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A possession says whether the stack of a lock's recorded owner agrees with the record. Locks record the id of a thread. The runtime gives the id of a
// thread that has ended to a new one, which seems to hold then what the other left locked.
type possession uint8

const (
	heldUnread  possession = iota // not all of the stack and its code could be read
	heldEntered                   // a method on the stack is past a call that enters a lock, of this object as far as that is known
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
		has, err := s.entersIn(t, &f, md, l)
		if has {
			return heldEntered
		}
		unread = unread || err != nil
	}
	if unread {
		return heldUnread
	}
	return heldUnseen
}

// entersIn reports whether a frame's method has entered a lock, which may be l, or can have where the frame's place in the IL is unknown. In a loop it may
// have done so in an earlier turn.
func (s *survey) entersIn(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc, l *lock) (bool, error) {
	if l.Kind == answer.LockLazy { // the code of Lazy, often compiled ahead, enters it
		if class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative); err == nil && strings.HasPrefix(class, "System.Lazy`1") {
			return true, nil
		}
	}
	if sync, err := isSynchronized(md); sync || err != nil {
		return sync, err
	}
	names, err := s.found.tasks.CallsOf(md)
	if err != nil || !slices.ContainsFunc(names, entersLock) {
		return false, err
	}
	around, err := s.around(t, f, md)
	if err != nil {
		return true, nil //nolint:nilerr // its code can enter a lock; where the frame stands in it is unknown
	}
	_, loops, err := s.loopsOf(f, md)
	return err != nil || enteredIn(around, loops, l.Address), nil
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

// enteredIn reports whether one of the calls that are done, or that a loop may have done before, enters the lock at a or one that the code does not show.
func enteredIn(around *tasks.Around, loops map[int]int, a target.Addr) bool {
	is := func(c tasks.Call) bool { return entersLock(c.Method) && (c.Object == 0 || c.Object == a) }
	return slices.ContainsFunc(around.Before, is) || slices.ContainsFunc(around.Later, func(c tasks.Call) bool {
		if !is(c) {
			return false
		}
		for start, end := range loops {
			if start <= c.Offset && c.Offset < end {
				return true
			}
		}
		return false
	})
}

// entersLock reports whether a method enters a lock for its caller, as Monitor.Enter, Lock.EnterScope and ReaderWriterLockSlim.TryEnterWriteLock do.
func entersLock(method string) bool {
	_, name, _ := strings.Cut(method, ".")
	return strings.HasPrefix(name, "Enter") || strings.HasPrefix(name, "TryEnter") || name == "ReliableEnter"
}
