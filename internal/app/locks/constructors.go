package locks

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// waitingStack is how many bytes of a stack are searched for the class that a thread waits for.
// The waiting code is at its top.
const waitingStack = 16 << 10

// constructor returns the class for which t waits and the thread that runs its static constructor, or 0. The
// described layouts do not include the runtime's list of running constructors. constructor therefore selects a class
// with its MethodTable in the waiting frames and its constructor on another stack.
func (s *survey) constructor(t *stackwalk.Thread, a *threads.ThreadActivity) (class target.Addr, runner *stackwalk.Thread) {
	if a.Activity == threads.ActivityRuntime && a.Entered == nil {
		return 0, nil
	}
	running := s.constructors()
	if len(running) == 0 {
		return 0, nil
	}
	words, err := s.waitingWords(t, a)
	for ; len(words) >= 8; words = words[8:] {
		word := target.Addr(binary.LittleEndian.Uint64(words))
		if runner := running[word]; runner != nil && runner != t {
			return word, runner
		}
	}
	if err != nil {
		s.lose(fmt.Errorf("static constructor that thread %#x may wait for: %w", t.ID(), err))
	}
	return 0, nil
}

// waitingWords returns the bytes of t's stack that hold the variables of the waiting code. In .NET 10 this code is
// managed and at the top of the stack. In earlier versions a helper of the runtime or the preparation of a method for
// its first call waits (MethodTable::CheckRunClassInitThrowing); the bytes are then the stack above the calling frame.
// With an error, waitingWords returns the bytes that it could read.
func (s *survey) waitingWords(t *stackwalk.Thread, a *threads.ThreadActivity) ([]byte, error) {
	stack, err := t.Stack(s.r.process)
	if err == nil && len(stack.Ranges) == 0 {
		err = target.ErrNotInDump
	}
	if err != nil {
		return nil, err
	}
	r := stack.Ranges[0]
	if a.Entered != nil {
		if !r.Contains(a.Entered.Addr) {
			return nil, target.Corruptf("the frame at %#x is not on it", uint64(a.Entered.Addr))
		}
		r.End = a.Entered.Addr
	}
	words := make([]byte, min(r.Size(), waitingStack))
	n, err := s.r.rt.Memory().ReadMemory(words, r.Start)
	return words[:n], err
}

// constructors returns the classes with a static constructor on a stack, with their threads.
func (s *survey) constructors() map[target.Addr]*stackwalk.Thread {
	if s.ctors != nil {
		return s.ctors
	}
	s.ctors = map[target.Addr]*stackwalk.Thread{}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.OS == nil || t.Managed == nil {
			continue
		}
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			if err := f.Missing(); err != nil {
				s.lose(fmt.Errorf("the static constructors that thread %#x runs: %w", t.ID(), err))
			}
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			var name string
			if err == nil && md != nil {
				name, err = md.Name()
			}
			if err != nil {
				s.lose(fmt.Errorf("the static constructors that thread %#x runs: %w", t.ID(), err))
			} else if name == ".cctor" {
				s.ctors[md.MethodTable] = t
			}
		}
	}
	return s.ctors
}

// runningConstructors returns the running static constructors as locks held by their threads, sorted by class address.
func (s *survey) runningConstructors() []answer.Lock {
	var out []answer.Lock
	running := s.constructors()
	for _, class := range slices.Sorted(maps.Keys(running)) {
		d := running[class].Describe(s.gaps)
		l := answer.Lock{Address: class, Kind: answer.LockConstructor, Type: s.gaps.Text(s.r.rt.TypeName(class, dac.NameManaged)), Held: true, OwnerID: d.ManagedID, Owner: &d,
			Waiters: answer.Missing[int64](errNoCount)}
		for _, w := range s.waits {
			if w.class == class {
				l.Waiting = append(l.Waiting, answer.LockWaiter{Thread: w.thread.Describe(s.gaps), How: w.how})
			}
		}
		out = append(out, l)
	}
	return out
}

var errNoCount = target.Unsupportedf("the runtime does not count who waits for a static constructor")
