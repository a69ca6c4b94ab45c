package ondumps_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// openDamaged opens a canned dump with memory that the returned value changes.
func openDamaged(t *testing.T, name string) (*sosgo.Dump, *stackMemory) {
	d := testdump.Open(t, name)
	mem := &stackMemory{}
	o := d.Options()
	o.WrapMemory = func(m target.Memory) target.Memory { mem.Memory = m; return mem }
	damaged, err := sosgo.Open(d.Plain(), o)
	require.NoError(t, err)
	t.Cleanup(func() { damaged.Close() })
	return damaged, mem
}

// walkDamaged opens a canned dump as openDamaged does. It returns its walker, and the thread worker with its undamaged
// managed frames.
func walkDamaged(t *testing.T, name string) (d *sosgo.Dump, mem *stackMemory, w *stackwalk.Walker, th *stackwalk.Thread, whole []target.Addr) {
	d, mem = openDamaged(t, name)
	w, err := d.Walker()
	require.NoError(t, err)
	th = worker(t, d)
	whole, err = managedFrames(w, th, th.OS.Registers, stackwalk.WalkOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, whole)
	return d, mem, w, th, whole
}

// worker returns the thread of the scenario "zoo" that holds locks.
func worker(t *testing.T, d *sosgo.Dump) *stackwalk.Thread {
	list, err := d.Threads()
	require.NoError(t, err)
	for i := range list {
		if name, _ := list[i].Name(); name == "zoo worker" {
			return &list[i]
		}
	}
	t.Fatal("there is no worker")
	return nil
}

// managedFrames returns the instruction pointers of the managed frames of a walk, and
// why it ended.
func managedFrames(w *stackwalk.Walker, th *stackwalk.Thread, regs target.Registers, o stackwalk.WalkOptions) (ips []target.Addr, err error) {
	for f := range w.Walk(context.Background(), th.Managed, regs, o) {
		if f.Kind == stackwalk.FrameManaged {
			ips = append(ips, f.IP)
		}
		err = f.Err
	}
	return ips, err
}

// TestExplicitFramesThatLoop: a circle in the chain of explicit frames ends the walk as damage, after the frames above
// it.
func TestExplicitFramesThatLoop(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		_, mem, w, th, _ := walkDamaged(t, name)

		at := th.Managed.Frame
		frame, err := target.Bytes(mem.Memory, at, 16)
		require.NoError(t, err)
		mem.at, mem.b = at, slices.Clone(frame)
		self := make([]byte, 8)
		for i := range self {
			self[i] = byte(at >> (8 * i))
		}
		copy(mem.b[8:], self) // Frame::m_Next
		for _, o := range []stackwalk.WalkOptions{{}, {Native: true}} {
			n := 0
			var last stackwalk.Frame
			for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, o) {
				last = f
				n++
			}
			assert.Less(t, n, 100)
			if !o.Native { // unwinding needs no explicit frames
				assert.ErrorIs(t, last.Err, target.ErrCorrupt)
			}
		}
		_, err = snapshot(w, th, stackwalk.SnapshotOptions{})
		assert.Error(t, err)
	}
}

// TestStackThatIsMissing: if the stack is not in the dump, a walk ends with ErrNotInDump, after the frames that need
// only registers.
func TestStackThatIsMissing(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		d, mem := openDamaged(t, name)
		w, err := d.Walker()
		require.NoError(t, err)
		th := worker(t, d)
		var seed target.Registers
		for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
			if f.Kind == stackwalk.FrameManaged {
				seed = f.Regs
				break
			}
		}
		sp, _ := seed.SP()
		mem.hole = target.Range{Start: sp - 0x1000, End: sp + 0x4000}
		for _, regs := range []target.Registers{th.OS.Registers, seed} {
			frames := slices.Collect(w.Walk(context.Background(), th.Managed, regs, stackwalk.WalkOptions{}))
			require.NotEmpty(t, frames)
			ip, _ := regs.IP()
			assert.Equal(t, ip, frames[0].IP)
			assert.ErrorIs(t, frames[len(frames)-1].Err, target.ErrNotInDump)
		}
		failed := 0
		for root, err := range w.Roots(context.Background(), th.Managed, seed) {
			if err != nil {
				assert.ErrorIs(t, err, target.ErrNotInDump)
				failed++
			} else {
				assert.NotZero(t, root.FrameSP)
			}
		}
		assert.NotZero(t, failed)
		holes := 0
		for r, err := range w.Returns(context.Background(), target.Range{Start: sp - 0x100, End: sp + 0x5000}) {
			if err != nil {
				assert.ErrorIs(t, err, target.ErrNotInDump)
				holes++
				continue
			}
			assert.False(t, mem.hole.Contains(r.Slot))
		}
		assert.NotZero(t, holes)
	}
}

// TestRegistersThatAreNotKnown: without registers, explicit frames lead to the same managed frames. A reference in an
// unknown register is not null.
func TestRegistersThatAreNotKnown(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo", "net9-zoo"} {
		d := testdump.Open(t, name)
		w, err := d.Walker()
		require.NoError(t, err)
		th := worker(t, d.Dump)
		whole, err := managedFrames(w, th, th.OS.Registers, stackwalk.WalkOptions{})
		require.NoError(t, err)
		blind, err := managedFrames(w, th, target.Registers{Arch: th.OS.Registers.Arch}, stackwalk.WalkOptions{})
		require.NoError(t, err)
		assert.Equal(t, whole, blind)
	}

	d := testdump.Open(t, "net10-stacks")
	list, err := d.Threads()
	require.NoError(t, err)
	w, err := d.Walker()
	require.NoError(t, err)
	seen := 0
	for i := range list {
		if name, _ := list[i].Name(); name != "spinning" {
			continue
		}
		regs := list[i].OS.Registers
		few := target.Registers{Arch: regs.Arch}
		for _, r := range []target.Reg{target.RIP, target.RSP, target.RBP} {
			v, _ := regs.Get(r)
			few.Set(r, v)
		}
		for root, err := range w.Roots(context.Background(), list[i].Managed, few) {
			if err != nil {
				assert.ErrorIs(t, err, target.ErrUnsupported)
				assert.Zero(t, root.Object)
				seen++
			}
		}
	}
	assert.NotZero(t, seen, "the loop has references in registers")
}

// TestReturnsHaveTheFrames: the return address of every calling managed frame is among the return addresses of the
// stack.
func TestReturnsHaveTheFrames(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasHeap() {
			t.Skip("no runtime, or no heap")
		}
		compared := 0
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			assert.NotNil(t, w.Runtime())
			stack, err := th.Stack(d.Target())
			require.NoError(t, err)
			found := map[target.Addr]target.Addr{} // by slot
			for _, r := range stack.Ranges {
				for ret, err := range w.Returns(context.Background(), r) {
					if err == nil {
						found[ret.Slot] = ret.IP
					}
				}
			}
			above := stackwalk.FrameNative
			for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
				called := above == stackwalk.FrameManaged
				if above = f.Kind; !called || f.Kind != stackwalk.FrameManaged || f.Exact {
					continue
				}
				if _, err := target.Bytes(d.Memory(), f.IP-8, 8); err != nil {
					continue // the code that would show the call is not in the dump
				}
				compared++
				assert.Equal(t, f.IP, found[f.SP-8], "thread %x: the call pushed its return address below the frame at %v", th.ID(), f.SP)
			}
		})
		assert.NotZero(t, compared)
	})
}

// TestContextsThatEnd: every walk ends soon after its context, with its error.
func TestContextsThatEnd(t *testing.T) {
	for _, name := range []string{"net10-stacks", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			began := time.Now()
			frames := slices.Collect(w.Walk(ended, th.Managed, th.OS.Registers, stackwalk.WalkOptions{}))
			assert.ErrorIs(t, frames[len(frames)-1].Err, context.Canceled)
			var last error
			for _, last = range w.Roots(ended, th.Managed, th.OS.Registers) {
			}
			assert.ErrorIs(t, last, context.Canceled)
			sp, _ := th.OS.Registers.SP()
			last = nil
			for _, last = range w.Returns(ended, target.Range{Start: sp, End: sp + 1<<20}) {
			}
			assert.ErrorIs(t, last, context.Canceled)
			s := w.Snapshot(th.Managed, th.OS.Registers, stackwalk.SnapshotOptions{Synchronous: true})
			assert.LessOrEqual(t, len(slices.Collect(s.Frames(ended))), 1)
			assert.ErrorIs(t, s.Err(), context.Canceled)
			assert.Less(t, time.Since(began), 5*time.Second)
		})
	}
}

// TestModules: a native frame is in the module that its instruction pointer is in.
func TestModules(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		native := 0
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{Native: true}) {
				m, ok := w.Module(f.IP)
				if f.Kind == stackwalk.FrameNative && ok {
					native++
					assert.Equal(t, m, f.Module)
					assert.Contains(t, d.Target().Modules(), m)
				}
			}
		})
		assert.NotZero(t, native)
	}
}

// TestMapOfCodeThatIsMissing: without the map from code to methods, a walk has the frames that explicit frames lead to,
// or an error. It does not end without error in native code.
func TestMapOfCodeThatIsMissing(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo", "net9-zoo", "net10-zoo", "win-net8-zoo", "win-net10-zoo"} {
		d, mem, w, th, whole := walkDamaged(t, name)
		holes := codeMaps(t, d)
		require.NotEmpty(t, holes)
		for _, hole := range holes {
			mem.hole = hole
			partial, err := managedFrames(w, th, th.OS.Registers, stackwalk.WalkOptions{})
			if len(partial) < len(whole) {
				assert.ErrorIs(t, err, target.ErrNotInDump, name)
			}
			returns := threads.Returns(context.Background(), w, th, threads.ReturnOptions{ManagedOnly: true})
			for range returns.Returns {
			}
			assert.Equal(t, err != nil, slices.ContainsFunc(returns.Noted(), func(err error) bool { return errors.Is(err, target.ErrNotInDump) }), name)
		}
	}
}

// codeMaps returns the ranges in the dump of the maps of compiled code: a word for each 256 bytes of code.
func codeMaps(t *testing.T, d *sosgo.Dump) (out []target.Range) {
	rt, err := d.Runtime()
	require.NoError(t, err)
	var node struct {
		Start int `layout:"StartAddress"`
		End   int `layout:"EndAddress"`
		Map   int `layout:"HeaderMap"`
	}
	require.NoError(t, rt.Layout().Bind("CodeHeapListNode", &node))
	sections, _ := dac.CodeOf(rt).RangeSections() // the readable ones
	for _, s := range sections {
		if s.Kind != dac.CodeJIT {
			continue
		}
		var words [3]target.Addr
		for i, off := range []int{node.Start, node.End, node.Map} {
			if words[i], err = target.Pointer(d.Memory(), s.Heap+target.Addr(off)); err != nil {
				break
			}
		}
		if err == nil { // except the first word, for the stub or method before the ones that run
			out = append(out, target.Range{Start: words[2] + 4, End: words[2] + (words[1]-words[0])/64 + 64})
		}
	}
	return out
}
