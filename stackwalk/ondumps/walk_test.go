package ondumps_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// registersByName returns the registers of an architecture by the oracle's names.
func registersByName(arch target.Arch) map[string]target.Reg {
	out := map[string]target.Reg{}
	for n := range target.Reg(64) {
		out[target.RegName(arch, n)] = n
	}
	return out
}

// eachStack calls f for each thread of d that has a managed stack.
func eachStack(t testing.TB, d *sosgo.Dump, f func(w *stackwalk.Walker, th *stackwalk.Thread)) {
	threads, err := d.Threads()
	if err != nil {
		t.Logf("threads: %v", err)
	}
	w, err := d.Walker()
	if errors.Is(err, target.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	for i := range threads {
		if threads[i].Managed != nil && threads[i].OS != nil {
			f(w, &threads[i])
		}
	}
}

// TestWalkAgainstOracle compares every frame with the runtime's own data access library: order, addresses, kinds and
// preserved registers.
func TestWalkAgainstOracle(t *testing.T) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		want := map[uint32][]map[string]any{}
		d.Oracle(t, "stacks", func(line map[string]any) {
			if _, ok := line["ip"]; ok {
				id := uint32(line["osId"].(float64))
				want[id] = append(want[id], line)
			}
		})
		frames, registers, wrong := 0, 0, 0
		byName := registersByName(d.Dump.Target().Platform().Arch)
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			list := want[th.OS.ID]
			if len(list) == 1 && list[0]["method"] == nil && list[0]["frame"] == nil {
				list = nil // the oracle's form for a thread without frames
			}
			i := 0
			for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
				if i >= len(list) {
					assert.Empty(t, list, "thread %x goes on at %v", th.OS.ID, f.SP) // the oracle has no frames of a thread for which it failed
					break
				}
				line := list[i]
				i++
				frames++
				assert.Equal(t, testdump.Address(line["ip"]), f.IP, "thread %x frame %d", th.OS.ID, i-1)
				assert.Equal(t, testdump.Address(line["sp"]), f.SP, "thread %x frame %d", th.OS.ID, i-1)
				assert.Equal(t, line["kind"] == "ManagedMethod", f.Kind == stackwalk.FrameManaged)
				if name, ok := line["frame"]; ok {
					assert.Equal(t, name, f.Explicit.Class)
				}
				regs, _ := line["registers"].(map[string]any)
				for name, v := range regs {
					n, ok := byName[name]
					if !assert.True(t, ok, "register %s", name) {
						continue
					}
					if got, known := f.Regs.Get(n); known {
						if registers++; testdump.Address(v) != target.Addr(got) {
							wrong++
							t.Logf("thread %x frame %d: %s is %#x, the oracle says %v", th.OS.ID, i-1, name, got, v)
						}
					}
				}
			}
			assert.Equal(t, len(list), i, "frames of thread %x", th.OS.ID)
		})
		t.Logf("%d frames, %d registers, %d of them differ", frames, registers, wrong)
		assert.LessOrEqual(t, wrong, registers/100)
		return frames
	})
}

// TestWalkCanned walks every stack of the canned dumps in every way. Frames come in the order of the stack, and the
// walk ends.
func TestWalkCanned(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			for _, native := range []bool{false, true} {
				var last target.Addr
				leaf := false // a leaf may have the stack pointer of its caller
				for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{Native: native}) {
					if f.Kind != stackwalk.FrameExplicit {
						assert.True(t, f.SP > last || leaf && f.SP == last, "%v after %v", f.SP, last)
						last, leaf = f.SP, f.Exact && f.Regs.Arch == target.ArchARM64
					}
				}
			}
		})
	})
}

func snapshot(w *stackwalk.Walker, th *stackwalk.Thread, o stackwalk.SnapshotOptions) ([]stackwalk.SnapshotFrame, error) {
	s := w.Snapshot(th.Managed, th.OS.Registers, o)
	var out []stackwalk.SnapshotFrame
	for f := range s.Frames(context.Background()) {
		out = append(out, f)
	}
	return out, s.Err()
}

// TestSnapshotContract checks the contract of DoStackSnapshot on every stack.
func TestSnapshotContract(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no runtime with managed frames")
		}
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			var managed []stackwalk.Frame
			for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
				if f.Kind == stackwalk.FrameManaged {
					managed = append(managed, f)
				}
			}
			got, err := snapshot(w, th, stackwalk.SnapshotOptions{Synchronous: true, Registers: true})
			n := 0
			for i, f := range got {
				require.NotNil(t, f.Registers)
				if f.Function == nil {
					assert.False(t, i > 0 && got[i-1].Function == nil, "two runs of unmanaged frames beside each other")
					continue
				}
				require.Less(t, n, len(managed))
				assert.Equal(t, managed[n].IP, f.IP, "one entry for each managed frame, leaf first")
				assert.Equal(t, managed[n].SP, f.SP)
				assert.Equal(t, managed[n].Code.Method, f.Function)
				n++
			}
			assert.Equal(t, len(managed), n)
			if n == 0 {
				assert.Error(t, err)
				return
			}
			checkSeeds(t, w, th, managed, got)
			checkAbort(t, w, th)
		})
	})
}

// checkSeeds: if the runtime is on top of the stack, only a seed helps. Otherwise it is ignored.
func checkSeeds(t *testing.T, w *stackwalk.Walker, th *stackwalk.Thread, managed []stackwalk.Frame, whole []stackwalk.SnapshotFrame) {
	seed := managed[len(managed)-1].Regs
	unseeded, err := snapshot(w, th, stackwalk.SnapshotOptions{})
	seeded, seededErr := snapshot(w, th, stackwalk.SnapshotOptions{Seed: &seed})
	if errors.Is(err, stackwalk.ErrSnapshotUnmanagedContext) {
		assert.Empty(t, unseeded)
		require.NotEmpty(t, seeded)
		assert.Equal(t, managed[len(managed)-1].IP, seeded[0].IP, "the walk starts at the seed")
		bad := th.OS.Registers
		_, err := snapshot(w, th, stackwalk.SnapshotOptions{Seed: &bad})
		assert.ErrorIs(t, err, stackwalk.ErrSnapshotUnmanagedContext, "a seed in unmanaged code")
		return
	}
	assert.Equal(t, len(whole), len(unseeded))
	assert.Equal(t, unseeded, seeded, "a seed that is not needed is ignored")
	assert.Equal(t, err, seededErr)
}

func checkAbort(t *testing.T, w *stackwalk.Walker, th *stackwalk.Thread) {
	s := w.Snapshot(th.Managed, th.OS.Registers, stackwalk.SnapshotOptions{Synchronous: true})
	for range s.Frames(context.Background()) {
		break
	}
	assert.ErrorIs(t, s.Err(), stackwalk.ErrSnapshotAborted)
}

func TestSnapshotUnsafe(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
		gone := *th
		os := *th.OS
		os.Registers = target.Registers{Arch: target.ArchAMD64}
		gone.OS = &os
		_, err := snapshot(w, &gone, stackwalk.SnapshotOptions{})
		assert.ErrorIs(t, err, stackwalk.ErrSnapshotUnsafe)
	})
}

// A stackMemory replaces the bytes of one stack, and does not have the bytes in the hole.
type stackMemory struct {
	target.Memory
	at   target.Addr
	b    []byte
	hole target.Range
}

func (m *stackMemory) Span(a target.Addr) []byte {
	b := m.span(a)
	if m.hole.Contains(a) {
		return nil
	}
	if a < m.hole.Start && uint64(len(b)) > uint64(m.hole.Start-a) {
		return b[:m.hole.Start-a]
	}
	return b
}

// NextStored makes searches quick. It reports the replaced bytes too.
func (m *stackMemory) NextStored(a target.Addr) (target.Addr, bool) {
	next, ok := target.NextStored(m.Memory, a)
	if ok && m.hole.Contains(next) {
		return target.NextStored(m.Memory, m.hole.End)
	}
	return next, ok
}

func (m *stackMemory) span(a target.Addr) []byte {
	if a >= m.at && uint64(a-m.at) < uint64(len(m.b)) {
		return m.b[a-m.at:]
	}
	if s := m.Memory.Span(a); a >= m.at || uint64(len(s)) <= uint64(m.at-a) {
		return s
	}
	return m.Memory.Span(a)[:m.at-a]
}

func (m *stackMemory) View(a target.Addr, n int) ([]byte, bool) {
	if s := m.Span(a); n <= len(s) {
		return s[:n:n], true
	}
	s := make([]byte, n)
	_, err := m.ReadMemory(s, a)
	return s, err == nil
}

func (m *stackMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	for n := 0; n < len(p); {
		if s := m.Span(a + target.Addr(n)); len(s) > 0 {
			n += copy(p[n:], s)
			continue
		}
		at, piece := a+target.Addr(n), p[n:]
		if m.hole.Contains(at) {
			return n, &target.MemoryError{Addr: at, Size: len(piece), Err: target.ErrNotInDump}
		}
		for _, end := range []target.Addr{m.at, m.hole.Start} { // unmapped memory has no spans
			if at < end && uint64(len(piece)) > uint64(end-at) {
				piece = piece[:end-at]
			}
		}
		got, err := m.Memory.ReadMemory(piece, at)
		if n += got; err != nil {
			return n, err
		}
	}
	return len(p), nil
}

// FuzzWalk walks a stack of arbitrary content in a real process: addresses of code and of explicit frames, and other
// words. The highest bit of thread selects native activations.
func FuzzWalk(f *testing.F) {
	d := testdump.Open(f, "net10-stacks")
	wrapped := &stackMemory{}
	o := d.Options()
	o.WrapMemory = func(m target.Memory) target.Memory { wrapped.Memory = m; return wrapped }
	fuzzed, err := sosgo.Open(d.Plain(), o)
	if err != nil {
		f.Skip(err)
	}
	defer fuzzed.Close()
	var all []stackwalk.Thread
	var walker *stackwalk.Walker
	eachStack(f, fuzzed, func(w *stackwalk.Walker, th *stackwalk.Thread) { walker, all = w, append(all, *th) })
	if len(all) == 0 {
		f.Skip("no managed threads")
	}
	for i := range all {
		sp, _ := all[i].OS.Registers.SP()
		if b := wrapped.Memory.Span(sp); len(b) > 0 {
			for _, native := range []uint8{0, 0x80} {
				f.Add(uint8(i)|native, append([]byte(nil), b[:min(len(b), 2048)]...), uint16(0))
			}
		}
	}
	f.Fuzz(func(t *testing.T, thread uint8, stack []byte, frame uint16) {
		th := all[int(thread&0x7f)%len(all)]
		sp, _ := th.OS.Registers.SP()
		wrapped.at, wrapped.b = sp, stack
		if len(stack) >= 8 && frame%2 == 1 { // an explicit frame inside the stack
			m := *th.Managed
			m.Frame = sp + target.Addr(frame)%target.Addr(len(stack))&^7
			binary.LittleEndian.PutUint64(stack[(m.Frame-sp)&^7:][:8:8], uint64(frame>>1)%20)
			th.Managed = &m
		}
		n := 0
		for fr := range walker.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{Native: thread >= 0x80}) {
			_, _ = fr.Method()
			if n++; n > 1<<20 {
				t.Fatal("the walk does not end")
			}
		}
		_ = unwind.TrustScan
	})
}
