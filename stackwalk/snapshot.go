package stackwalk

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// The outcomes of a Snapshot other than success. Each is a state of the thread or a decision of the caller. A stack
// that ends early is an error of package target.
var (
	// ErrSnapshotAborted reports that the caller stopped the walk (CORPROF_E_STACKSNAPSHOT_ABORTED).
	ErrSnapshotAborted = errors.New("the snapshot was aborted")
	// ErrSnapshotUnsafe reports that the thread can't be walked: it is dead, has not started, or its registers are
	// not in the dump (CORPROF_E_STACKSNAPSHOT_UNSAFE).
	ErrSnapshotUnsafe = fmt.Errorf("the thread can't be walked: %w", target.ErrUnsupported)
	// ErrSnapshotUnmanagedContext reports that the thread runs code of the runtime itself, which can't be left
	// without a seed, or that the seed is not in managed code (CORPROF_E_STACKSNAPSHOT_UNMANAGED_CTX).
	ErrSnapshotUnmanagedContext = fmt.Errorf("unmanaged code on top, and no seed in managed code: %w", target.ErrUnsupported)
	// ErrSnapshotNoManagedFrames reports that the stack has no managed frame.
	ErrSnapshotNoManagedFrames = fmt.Errorf("no managed frames: %w", target.ErrUnsupported)
)

// SnapshotOptions selects how a Snapshot is taken.
type SnapshotOptions struct {
	// Registers adds the registers to each entry (COR_PRF_SNAPSHOT_REGISTER_CONTEXT).
	Registers bool
	// Seed holds registers of the thread further up its stack, in managed code. It is ignored if the first managed
	// frame is known without it.
	Seed *target.Registers
	// Synchronous walks the thread as if it walked its own stack. Explicit frames then lead out of the runtime's
	// code, and no seed is needed.
	Synchronous bool
	// Hybrid puts the unmanaged frames of each run into its entry.
	Hybrid bool
}

// A SnapshotFrame is one entry of a Snapshot.
type SnapshotFrame struct {
	// Function is the method of a managed frame. It is nil for a run of unmanaged frames ("function 0").
	Function *dac.MethodDesc
	// Class is the MethodTable that declares Function. For shared code it is the canonical one.
	Class target.Addr
	// IP and SP are the registers of the frame, or of the leaf of a run.
	IP, SP target.Addr
	// Registers is set if SnapshotOptions selects it.
	Registers *target.Registers
	// Native holds the frames of a run, the leaf first, if Hybrid is set.
	Native []Frame
}

// A Snapshot walks one thread's stack under the contract of the profiling API's DoStackSnapshot (ICorProfilerInfo2):
//
//   - Entries come leaf first, and the outermost caller last.
//   - Each managed frame is one entry. Each run of unmanaged frames is one entry without a Function. The caller walks
//     the unmanaged frames, or uses Hybrid.
//   - A walk starts at the leaf if the thread stopped in managed code, or in unmanaged code that managed code called
//     through P/Invoke or COM.
//   - If the thread stopped in the runtime's own code, which compiles, allocates or collects, the first managed frame
//     is unknown. Without Seed the outcome is ErrSnapshotUnmanagedContext. With Seed the walk starts there and ignores
//     the frames above. Synchronous lifts this rule.
//   - A seed must point to managed code, or the outcome is ErrSnapshotUnmanagedContext. A wrong seed gives wrong
//     entries, but does no harm.
//   - The caller can stop at any entry; the outcome is ErrSnapshotAborted.
//
// The API's rules about suspended threads and locks do not apply to a dump.
type Snapshot struct {
	w       *Walker
	thread  *dac.Thread
	regs    target.Registers
	options SnapshotOptions
	enter   bool // see walk
	err     error
}

// Snapshot prepares a snapshot of t, given its registers.
func (w *Walker) Snapshot(t *dac.Thread, regs target.Registers, o SnapshotOptions) *Snapshot {
	return &Snapshot{w: w, thread: t, regs: regs, options: o}
}

// Err returns the outcome of the last walk: nil, one of the ErrSnapshot errors, or why the stack ended early.
func (s *Snapshot) Err() error { return s.err }

// Frames walks the stack. Err then returns the outcome, which may be the error of ctx.
func (s *Snapshot) Frames(ctx context.Context) iter.Seq[SnapshotFrame] {
	return func(yield func(SnapshotFrame) bool) {
		start, err := s.start()
		if err != nil {
			s.err = err
			return
		}
		g := &snapshotGrouper{options: s.options, yield: yield}
		w := &walk{ctx: ctx, w: s.w, thread: s.thread, options: WalkOptions{Native: s.options.Hybrid}, runs: true, yield: g.add,
			cur: s.w.unwinder.Cursor(stackOf(s.thread, start)), enter: s.enter}
		w.begin(start, start == s.options.Seed)
		g.flush()
		s.err = g.outcome()
	}
}

// start returns the registers at which the walk starts.
func (s *Snapshot) start() (*target.Registers, error) {
	const gone = dac.ThreadDead | dac.ThreadUnstarted
	ip, known := s.regs.IP()
	if _, ok := s.regs.SP(); !known || !ok || s.w == nil || s.w.rt == nil || s.thread == nil || s.thread.State&gone != 0 {
		return nil, ErrSnapshotUnsafe
	}
	if s.isManaged(ip) || s.options.Synchronous || s.leadsOut() {
		return &s.regs, nil
	}
	if s.options.Seed == nil {
		return nil, ErrSnapshotUnmanagedContext
	}
	if ip, ok := s.options.Seed.IP(); !ok || !s.isManaged(ip) {
		return nil, ErrSnapshotUnmanagedContext
	}
	return s.options.Seed, nil
}

func (s *Snapshot) isManaged(ip target.Addr) bool {
	info, err := s.w.code.MethodAt(ip)
	return err == nil && info.Method != nil
}

// leadsOut reports whether the topmost explicit frame, apart from markers, is a call from managed into unmanaged code.
// A thread without such frames runs no code of the runtime on behalf of managed code.
func (s *Snapshot) leadsOut() bool {
	for f, err := range s.w.rt.Frames(s.thread) {
		if err != nil {
			return false
		}
		switch f.Kind {
		case dac.FramePlain:
			continue
		case dac.FrameInlinedCall:
			how, err := s.w.rt.FrameCaller(&f, &target.Registers{Arch: s.regs.Arch})
			if err == nil && how == dac.CallerNone {
				continue // between two calls
			}
			return err == nil
		}
		return f.Kind == dac.FrameTransition && f.CallsUnmanaged()
	}
	return true
}

// A snapshotGrouper builds a Snapshot's entries from a walk's frames.
type snapshotGrouper struct {
	options SnapshotOptions
	yield   func(SnapshotFrame) bool
	run     *SnapshotFrame // of unmanaged frames, not yielded yet
	managed int
	stopped bool
	err     error
}

func (g *snapshotGrouper) add(f Frame) bool {
	if f.Lost != nil {
		g.err = f.Lost
	}
	if f.Err != nil {
		g.err = f.Err
	}
	switch f.Kind {
	case FrameNative:
		if g.run == nil {
			g.run = g.newEntry(&f)
		}
		if g.options.Hybrid {
			g.run.Native = append(g.run.Native, f)
		}
	case FrameManaged:
		if !g.flush() {
			return false
		}
		g.managed++
		e := g.newEntry(&f)
		e.Function, e.Class = f.Code.Method, f.Code.Method.MethodTable
		return g.emit(e)
	}
	return !g.stopped
}

func (g *snapshotGrouper) newEntry(f *Frame) *SnapshotFrame {
	e := &SnapshotFrame{IP: f.IP, SP: f.SP}
	if g.options.Registers {
		regs := f.Regs
		e.Registers = &regs
	}
	return e
}

// flush yields the open run of unmanaged frames.
func (g *snapshotGrouper) flush() bool {
	if run := g.run; run != nil && !g.stopped {
		g.run = nil
		return g.emit(run)
	}
	return !g.stopped
}

func (g *snapshotGrouper) emit(e *SnapshotFrame) bool {
	g.stopped = !g.yield(*e)
	return !g.stopped
}

func (g *snapshotGrouper) outcome() error {
	switch {
	case g.stopped:
		return ErrSnapshotAborted
	case g.err != nil:
		return g.err
	case g.managed == 0:
		return ErrSnapshotNoManagedFrames
	}
	return nil
}
