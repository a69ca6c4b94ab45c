package ondumps_test

import (
	"encoding/binary"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A cooperative is a process with one thread in cooperative mode, in native code without an explicit frame.
type cooperative struct {
	raiser
	rt      *dac.Runtime
	thread  dac.Thread
	managed []stackwalk.Frame // managed frames of the thread before the change
	other   target.Range      // another stack of the thread, or empty
	sp      target.Addr       // stack pointer of the thread there
}

// Threads returns the threads, with the thread on its other stack.
func (c *cooperative) Threads() []target.Thread {
	list := slices.Clone(c.Target.Threads())
	for i := range list {
		if list[i].ID == c.thread.OSID && c.sp != 0 {
			list[i].Registers = native(c.sp, 0)
		}
	}
	return list
}

func openCooperative(t *testing.T, name string) *cooperative {
	raw, err := dump.Open(testdump.Open(t, name).Case.Path, dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { raw.Close() })
	c := &cooperative{raiser: raiser{Target: raw, x: &target.Exception{}, words: map[target.Addr]uint64{}}}
	c.rt, err = dac.Find(c, c, nil)[0].Open()
	require.NoError(t, err)
	list, err := c.rt.Threads()
	require.NoError(t, err)
	c.thread = list[0] // sleeps
	for _, th := range raw.Threads() {
		if th.ID != c.thread.OSID {
			continue
		}
		for f := range stackwalk.NewWalker(c.rt).Walk(t.Context(), &c.thread, th.Registers, stackwalk.WalkOptions{}) {
			if f.Kind == stackwalk.FrameManaged {
				c.managed = append(c.managed, f)
			}
		}
	}
	require.Greater(t, len(c.managed), 2)
	c.thread.Cooperative, c.thread.Frame = true, 0
	return c
}

// ReadMemory reads the whole stack, which canned dumps do not have, and the words.
func (c *cooperative) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := c.Target.ReadMemory(b, a)
	for _, r := range [...]target.Range{c.thread.Stack, c.other} {
		if err != nil && r.Contains(a) && a+target.Addr(len(b)) <= r.End {
			clear(b[n:])
			n, err = len(b), nil
		}
	}
	for at, v := range c.words {
		for i, by := range binary.LittleEndian.AppendUint64(nil, v) {
			if off := at + target.Addr(i) - a; off < target.Addr(n) {
				b[off] = by
			}
		}
	}
	return n, err
}

// walk returns the thread's managed frames, given its registers, and the first frame.
func (c *cooperative) walk(t *testing.T, regs target.Registers, o stackwalk.WalkOptions) (sps []target.Addr, first stackwalk.Frame) {
	n := 0
	for f := range stackwalk.NewWalker(c.rt).Walk(t.Context(), &c.thread, regs, o) {
		if n++; n == 1 {
			first = f
		}
		if f.Kind == stackwalk.FrameManaged {
			sps = append(sps, f.SP)
		}
	}
	return sps, first
}

// sps returns the stack pointers of the managed frames from the i-th on.
func (c *cooperative) sps(i int) (out []target.Addr) {
	for _, f := range c.managed[i:] {
		out = append(out, f.SP)
	}
	return out
}

// signal writes the kernel's frame for a signal that interrupted f to a.
func (c *cooperative) signal(a target.Addr, f *stackwalk.Frame) {
	for off := target.Addr(0); off < 304; off += 8 {
		c.words[a+off] = 0
	}
	for i, r := range [...]target.Reg{target.R8, target.R9, target.R10, target.R11, target.R12, target.R13, target.R14, target.R15, target.RDI,
		target.RSI, target.RBP, target.RBX, target.RDX, target.RAX, target.RCX, target.RSP, target.RIP} {
		v, _ := f.Regs.Get(r)
		c.words[a+40+8*target.Addr(i)] = v
	}
	c.words[a], c.words[a+184], c.words[a+224] = 7, 0x2b<<48|0x33, uint64(a+0x200)&^63
}

// explicit writes an explicit frame of a class, followed by what the runtime records of f, to a.
func (c *cooperative) explicit(t *testing.T, class string, a, next target.Addr, f *stackwalk.Frame) {
	off, err := c.rt.Layout().Offset(class, "TargetContext")
	require.NoError(t, err)
	link, err := c.rt.Layout().Offset("Frame", "Next")
	require.NoError(t, err)
	id, err := c.rt.Layout().Uint(class + "Identifier")
	if err != nil { // before 10 the vtable identifies the class
		vtable, err := c.rt.Layout().(*layout.Layout).VTable(class)
		require.NoError(t, err)
		id = uint64(vtable)
	}
	c.words[a], c.words[a+target.Addr(link)] = id, uint64(next)
	for _, r := range target.AMD64().Context.Registers {
		if v, _ := f.Regs.Get(r.Reg); r.Size == 8 {
			c.words[a+target.Addr(off)+target.Addr(r.Offset)] = v
		}
	}
}

// TestOverflowStack: the handler of a stack overflow runs on a stack of its own, on either side of the thread's. The
// explicit frame there leads to the code that overflowed; the data for the runtime's own unwinder does not. The frames
// of the thread's own stack follow, wherever they lie.
func TestOverflowStack(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		for _, above := range []bool{false, true} {
			c := openCooperative(t, name)
			c.other = target.Range{Start: c.thread.Stack.Start - 0x100000, End: c.thread.Stack.Start - 0xf0000}
			if above {
				c.other = target.Range{Start: c.thread.Stack.End + 0x100000, End: c.thread.Stack.End + 0x110000}
			}
			f, sp := &c.managed[1], c.other.Start+0x1000
			fp, frame := sp+0x2000, sp+0x100
			c.explicit(t, "FaultingExceptionFrame", frame, target.Addr(^uint64(0)), f)
			c.words[fp], c.words[fp+8] = 0, uint64(f.IP) // the runtime's own mark of the place of the fault
			c.thread.Frame = frame
			got, first := c.walk(t, native(sp, fp), stackwalk.WalkOptions{})
			assert.Equal(t, c.sps(1), got, name)
			assert.Equal(t, frame, first.SP, name)

			plain := c.managed[len(c.managed)-1].SP + 0x10
			c.explicit(t, "FaultingExceptionFrame", frame, plain, f)
			c.explicit(t, "FaultingExceptionFrame", plain, target.Addr(^uint64(0)), f)
			got, _ = c.walk(t, native(sp, fp), stackwalk.WalkOptions{})
			assert.Equal(t, c.sps(1)[:1], got[:1], name)
			c.sp = sp
			var chain []target.Addr
			for f, err := range c.rt.Frames(&c.thread) {
				require.NoError(t, err, name)
				chain = append(chain, f.Addr)
			}
			assert.Equal(t, []target.Addr{frame, plain}, chain, name)
		}
	}
}

// TestRegistersOfUnmanagedCalls: an explicit frame records three registers of a method that called unmanaged code. The
// other registers hold what later code left in them.
func TestRegistersOfUnmanagedCalls(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		w, err := d.Walker()
		require.NoError(t, err)
		list, err := d.Threads()
		require.NoError(t, err)
		calls := 0
		for i := range list {
			if list[i].Managed == nil || list[i].OS == nil {
				continue
			}
			var last stackwalk.Frame
			for f := range w.Walk(t.Context(), list[i].Managed, list[i].OS.Registers, stackwalk.WalkOptions{}) {
				if f.Kind == stackwalk.FrameManaged && last.Kind == stackwalk.FrameExplicit && last.Explicit.Kind == dac.FrameInlinedCall {
					calls++
					for r := range f.Regs.All {
						assert.Contains(t, []target.Reg{target.RIP, target.RSP, target.RBP}, r, name)
					}
					carried := stackwalk.WalkOptions{Now: true, Carried: true}
					for g := range w.Walk(t.Context(), list[i].Managed, list[i].OS.Registers, carried) {
						if _, ok := g.Regs.Get(target.RBX); g.Kind == stackwalk.FrameManaged && g.SP == f.SP {
							assert.True(t, ok, "%s: as SOS", name)
						}
					}
				}
				last = f
			}
		}
		assert.NotZero(t, calls, name)
	}
}

// native returns registers of native code without unwind data.
func native(sp, fp target.Addr) target.Registers {
	r := target.Registers{Arch: target.ArchAMD64}
	r.SetIP(0x7fff00001000)
	r.SetSP(sp)
	if fp != 0 {
		r.SetFP(fp)
	}
	return r
}

// TestSignalFrames: the walk of a thread that handles a signal starts with the interrupted managed code and all of its
// registers. It is found by the instructions that the handler returns to, or by the shape of the kernel's frame.
func TestSignalFrames(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		c := openCooperative(t, name)
		f := &c.managed[1]
		at := f.SP - 0x400&^15
		c.signal(at, f)

		got, first := c.walk(t, native(at-0x80, 0), stackwalk.WalkOptions{})
		assert.Equal(t, c.sps(1), got, name)
		assert.True(t, first.Exact, name)
		assert.Equal(t, unwind.TrustScan, first.Trust, "%s: no code proves it", name)
		assert.NoError(t, first.Lost)
		want, _ := f.Regs.Get(target.RBX)
		rbx, ok := first.Regs.Get(target.RBX)
		assert.True(t, ok)
		assert.Equal(t, want, rbx)

		regs := native(at, 0)
		code := at - 0x40 // mov $15, %rax; syscall
		c.words[code], c.words[code+8] = 0x0f0000000fc0c748, 0x05
		regs.SetIP(code)
		got, first = c.walk(t, regs, stackwalk.WalkOptions{})
		assert.Equal(t, c.sps(1), got, name)
		assert.Equal(t, unwind.TrustUnwind, first.Trust, name)
		got, first = c.walk(t, regs, stackwalk.WalkOptions{Native: true})
		assert.Equal(t, c.sps(1), got, "%s: native frames too", name)
		assert.Equal(t, stackwalk.FrameNative, first.Kind)
		got, _ = c.walk(t, regs, stackwalk.WalkOptions{Now: true})
		assert.Empty(t, got, "%s: as SOS", name)
		got = nil
		var gaps answer.Gaps
		for f, err := range stackwalk.NewWalker(c.rt).DebugStack(t.Context(), &c.thread, regs, stackwalk.WalkOptions{}, &gaps) {
			require.NoError(t, err)
			assert.Equal(t, f.SP == at || f.SP > c.managed[len(c.managed)-1].SP, f.Native, "%s: the handler is native, and what started the thread", name)
			if !f.Native {
				got = append(got, f.SP)
			}
		}
		assert.Equal(t, c.sps(1), got, "%s: as debuggers show it", name)

		c.words[at+184] = 0 // without selectors the words are something else
		got, first = c.walk(t, native(at-0x80, 0), stackwalk.WalkOptions{})
		assert.Empty(t, got, name)
		assert.ErrorContains(t, first.Err, "can't be unwound", name)
	}
}

// TestHandlerOnOtherStack: the native code of a handler on a stack of its own comes before all frames of the thread's
// own stack, including explicit frames, wherever the stacks lie.
func TestHandlerOnOtherStack(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		for _, above := range []bool{false, true} {
			c := openCooperative(t, name)
			c.other = target.Range{Start: c.thread.Stack.Start - 0x100000, End: c.thread.Stack.Start - 0x80000}
			if above {
				c.other = target.Range{Start: c.thread.Stack.End + 0x100000, End: c.thread.Stack.End + 0x180000}
			}
			code := c.other.Start + 0x100
			first := code + 0x1000
			second := first + 0x1000
			c.words[code], c.words[code+8] = 0x0f0000000fc0c748, 0x05 // mov $15, %rax; syscall
			regs := native(first, 0)
			regs.SetIP(code)
			handler := stackwalk.Frame{Regs: regs}
			handler.Regs.SetSP(second)
			c.signal(first, &handler)
			c.signal(second, &c.managed[1])

			last := len(c.managed) - 1
			plain := c.managed[last].SP
			c.explicit(t, "FaultingExceptionFrame", plain, target.Addr(^uint64(0)), &c.managed[last])
			c.thread.Frame = plain
			want := append([]target.Addr{first, second}, c.sps(1)[:last-1]...)
			want = append(want, plain, c.managed[last].SP)
			walker := stackwalk.NewWalker(c.rt)
			o := stackwalk.WalkOptions{Native: true}
			for _, walk := range []iter.Seq[stackwalk.Frame]{walker.Walk(t.Context(), &c.thread, regs, o),
				stackwalk.MergedWalk(t.Context(), []stackwalk.Part{{Walker: walker, Thread: &c.thread, Registers: regs}}, o)} {
				var got []target.Addr
				for f := range walk {
					got = append(got, f.SP)
				}
				require.GreaterOrEqual(t, len(got), len(want), name)
				assert.Equal(t, want, got[:len(want)], "%s %v", name, above)
			}
		}
	}
}

// TestCallsWithoutFrames: managed code that called native code without an explicit frame is found by unwinding. If that
// fails, the walk reports missing frames and references. Threads in preemptive mode always have a frame.
func TestCallsWithoutFrames(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		c := openCooperative(t, name)
		f := &c.managed[1]
		fp := f.SP - 0x10
		old, _ := f.Regs.FP()
		c.words[fp], c.words[fp+8] = uint64(old), uint64(f.IP)

		regs := native(fp-0x100, fp)
		got, first := c.walk(t, regs, stackwalk.WalkOptions{})
		assert.Equal(t, c.sps(1), got, name)
		assert.Equal(t, unwind.TrustFP, first.Trust, name)
		assert.False(t, first.Exact, name)
		got, _ = c.walk(t, regs, stackwalk.WalkOptions{Now: true})
		assert.Empty(t, got, "%s: as SOS", name)

		c.words[fp+8] = 0
		roots := func() (errs []error) {
			for r, err := range stackwalk.NewWalker(c.rt).Roots(t.Context(), &c.thread, regs) {
				if err != nil && r.Frame == 0 {
					errs = append(errs, err)
				}
			}
			return errs
		}
		got, first = c.walk(t, regs, stackwalk.WalkOptions{})
		assert.Empty(t, got, name)
		assert.ErrorContains(t, first.Err, "can't be unwound", name)
		assert.NotEmpty(t, roots(), name)
		c.thread.Cooperative = false
		_, first = c.walk(t, regs, stackwalk.WalkOptions{})
		assert.NoError(t, first.Err, name)
		assert.Empty(t, roots(), name)
	}
}

// TestReplacedReturnAddress: if the runtime replaced a return address to stop the thread when the method returns, the
// walk uses the address in the Thread.
func TestReplacedReturnAddress(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		c := openCooperative(t, name)
		leaf, caller := &c.managed[0], &c.managed[1]
		slot := caller.SP - 8
		kept := c.thread.Addr + 0x80
		was, err := target.Uint64(c, slot)
		require.NoError(t, err)
		require.Equal(t, uint64(caller.IP), was)
		c.words[slot] = 0x7fff00001000 // the stub
		got, _ := c.walk(t, leaf.Regs, stackwalk.WalkOptions{})
		assert.Equal(t, c.sps(0)[:1], got, name)

		c.words[kept], c.words[kept+8] = was, uint64(slot)
		c.thread.State |= dac.ThreadHijacked
		got, _ = c.walk(t, leaf.Regs, stackwalk.WalkOptions{})
		assert.Equal(t, c.sps(0), got, name)
		c.words[kept] = 0x1000 // not managed code
		got, _ = c.walk(t, leaf.Regs, stackwalk.WalkOptions{})
		assert.Equal(t, c.sps(0)[:1], got, name)
	}
}

// TestHijackStub: a method has returned to the runtime's stub, which has no frame yet. The place of the return address
// holds the method's result, which may be an address of managed code.
func TestHijackStub(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		c := openCooperative(t, name)
		caller, other := &c.managed[1], &c.managed[len(c.managed)-1]
		slot := caller.SP - 8
		kept := c.thread.Addr + 0x80
		was := uint64(caller.IP)
		fp := slot - 8 // of native code that the stub called, with only a frame pointer
		old, _ := caller.Regs.FP()
		c.words[fp], c.words[slot] = uint64(old), uint64(other.IP)
		c.words[kept], c.words[kept+8] = was, uint64(slot)
		c.thread.State |= dac.ThreadHijacked
		for _, o := range []stackwalk.WalkOptions{{}, {Native: true}} {
			got, _ := c.walk(t, native(fp-0x80, fp), o)
			assert.Equal(t, c.sps(1), got, name)
			var first stackwalk.Frame
			for f := range stackwalk.NewWalker(c.rt).Walk(t.Context(), &c.thread, native(fp-0x80, fp), o) {
				if f.Kind == stackwalk.FrameManaged {
					first = f
					break
				}
			}
			assert.Equal(t, caller.IP, first.IP, name)
		}
		c.words[kept] = 0x1000 // not managed code: the word in its place is not used either
		got, _ := c.walk(t, native(fp-0x80, fp), stackwalk.WalkOptions{})
		assert.NotContains(t, got, caller.SP, name)
	}
}

// TestRedirectedThread: a thread that the runtime stopped has all its registers in the CONTEXT of a ResumableFrame.
// Without the CONTEXT, the walk reports that frames and references before the next explicit frame are missing.
func TestRedirectedThread(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo", "win-net6-zoo"} {
		c := openCooperative(t, name)
		f := &c.managed[1]
		off, err := c.rt.Layout().Offset("ResumableFrame", "TargetContextPtr")
		require.NoError(t, err, name)
		id, err := c.rt.Layout().Uint("ResumableFrameIdentifier")
		if err != nil { // before 10 the vtable identifies the class
			a, err := c.rt.Layout().(*layout.Layout).VTable("ResumableFrame")
			require.NoError(t, err, name)
			id = uint64(a)
		}
		frame, context := f.SP-0x800&^15, f.SP-0x700&^15
		next, err := c.rt.Layout().Offset("Frame", "Next")
		require.NoError(t, err)
		c.words[frame], c.words[frame+target.Addr(next)], c.words[frame+target.Addr(off)] = id, ^uint64(0), uint64(context)
		for _, r := range target.AMD64().Context.Registers {
			if v, _ := f.Regs.Get(r.Reg); r.Size == 8 {
				c.words[context+target.Addr(r.Offset)] = v
			}
		}
		c.thread.Frame = frame
		regs := native(frame-0x100, 0)
		got, first := c.walk(t, regs, stackwalk.WalkOptions{})
		assert.Equal(t, c.sps(1), got, name)
		assert.Equal(t, stackwalk.FrameExplicit, first.Kind)
		assert.NoError(t, first.Lost, name)

		// Another frame is next, and the CONTEXT is not in the dump.
		lower := frame + 0x40
		c.words[frame+target.Addr(next)], c.words[frame+target.Addr(off)] = uint64(lower), 0x10
		c.words[lower], c.words[lower+target.Addr(next)], c.words[lower+target.Addr(off)] = id, ^uint64(0), uint64(context)
		var lost []error
		for f := range stackwalk.NewWalker(c.rt).Walk(t.Context(), &c.thread, regs, stackwalk.WalkOptions{}) {
			if f.Lost != nil {
				lost = append(lost, f.Lost)
			}
		}
		require.Len(t, lost, 1, name)
		assert.ErrorContains(t, lost[0], "ResumableFrame")
	}
}
