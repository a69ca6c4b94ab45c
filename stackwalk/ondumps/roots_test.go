package ondumps_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// gcRoot is a line of oracle/stackroots.jsonl.
type gcRoot struct {
	OSID     uint32 `json:"osId"`
	Address  string
	Object   string
	Type     *string
	Interior bool
	Pinned   bool
	Register *string
	Frame    struct {
		IP, SP string
		Frame  *string
	}
}

// key returns what identifies a root. The frame is not part of it: the oracle puts the roots of a frame with an
// explicit frame under the latter's address. The value of an interior pointer is not part of it: the oracle resolves it
// to the object around.
func (r *gcRoot) key() string {
	place := fmt.Sprintf("at %x", uint64(number(r.Address)))
	if number(r.Address) == 0 {
		place = fmt.Sprintf("in %s of %x", strings.ToLower(*r.Register), uint64(number(r.Frame.SP))) // X19 in the oracle
	}
	object := fmt.Sprintf("%x", uint64(number(r.Object)))
	if r.Interior {
		object = "interior"
	}
	return fmt.Sprintf("thread %x %s: %s pinned %v", r.OSID, place, object, r.Pinned)
}

func keyOf(osID uint32, r *stackwalk.Root) string {
	place := fmt.Sprintf("at %x", uint64(r.Addr))
	if r.Addr == 0 {
		place = fmt.Sprintf("in %s of %x", r.Slot, uint64(r.FrameSP))
	}
	object := fmt.Sprintf("%x", uint64(r.Object))
	if r.Interior {
		object = "interior"
	}
	return fmt.Sprintf("thread %x %s: %s pinned %v", osID, place, object, r.Pinned)
}

// TestRoots compares the roots of every thread with the oracle's. The oracle omits null and pointers to no object. If
// the runtime's own enumeration failed, the oracle has fewer roots, and a status.
func TestRoots(t *testing.T) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		want := readGCRoots(t, d.Case)
		got, all, failed := rootsOf(t, d.Dump)
		for key, sp := range want {
			assert.True(t, all[key] || failed[number(sp)], "missing: %s", key)
		}
		extra := 0
		for key := range got {
			if _, ok := want[key]; !ok {
				extra++
			}
		}
		t.Logf("%d roots of the oracle, %d others", len(want), extra)
		return len(want)
	})
}

// readGCRoots returns the roots by key, with the SP of their frames.
func readGCRoots(t *testing.T, c *testcase.Case) map[string]string {
	out := map[string]string{}
	for _, r := range testcase.Oracle[gcRoot](t, c, "stackroots") {
		// A register without a type is not an object: the oracle read another register.
		if r.Type != nil || number(r.Address) != 0 && number(r.Object)%8 == 0 {
			out[r.key()] = r.Frame.SP
		}
	}
	return out
}

// rootsOf returns the roots of all threads: those that refer to objects, and all. It also returns the frames with
// unknown roots.
func rootsOf(t *testing.T, d *sosgo.Dump) (objects, all map[string]bool, failed map[target.Addr]bool) {
	w, err := d.Walker()
	require.NoError(t, err)
	threads, err := d.Threads()
	require.NoError(t, err)
	objects, all, failed = map[string]bool{}, map[string]bool{}, map[target.Addr]bool{}
	for i := range threads {
		th := &threads[i]
		if th.OS == nil || th.Managed == nil {
			continue
		}
		for r, err := range w.Roots(context.Background(), th.Managed, th.OS.Registers) {
			if err != nil {
				assert.ErrorIs(t, err, target.ErrNotInDump)
				failed[r.FrameSP] = true
				continue
			}
			key := keyOf(th.OS.ID, &r)
			all[key] = true
			if r.Object != 0 && !r.Interior {
				objects[key] = true
			}
		}
	}
	return objects, all, failed
}

// TestRootsOfGCFrames: references that the runtime's own code protects are among the roots: an object, null, or
// interior. In net10-stacks-full a thread runs a finally clause, and only the two GCFrames of the handling keep its
// exception alive.
func TestRootsOfGCFrames(t *testing.T) {
	cases := testcase.Named("net10-stacks-full", "net9-stacks-withheap", "net8-stacks-withheap", "net8a-zoo-withheap", "win-net10-stacks-withheap",
		"win-net9-zoo-withheap", "win-net8-stacks-withheap", "win-net6-stacks-withheap")
	testdump.Corpus(t, cases, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		protected, alone := 0, 0
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			held, chained := map[target.Addr]bool{}, map[target.Addr]int{}
			for r, err := range w.Roots(context.Background(), th.Managed, th.OS.Registers) {
				if err != nil {
					assert.ErrorIs(t, err, target.ErrNotInDump)
					assert.False(t, r.Chained, "%v", err)
					continue
				}
				if !r.Chained {
					held[r.Object] = true
					continue
				}
				protected++
				assert.Equal(t, "GCFrame", r.Explicit)
				assert.True(t, th.Managed.Stack.Contains(r.FrameSP))
				if r.Object == 0 || r.Interior {
					continue
				}
				chained[r.Object]++
				_, err := h.ObjectAt(r.Object)
				assert.NoError(t, err, "thread %d, at %v", th.Managed.ManagedID, r.Addr)
			}
			for object, n := range chained {
				if !held[object] {
					alone += n
				}
			}
		})
		if d.Case.Name == "net10-stacks-full" {
			assert.Equal(t, 2, alone, "references that nothing else of their thread holds")
		}
		return protected
	})
}

// number returns a hexadecimal address of an oracle, or 0 for an empty one.
func number(s string) target.Addr {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return 0
	}
	return target.Addr(v)
}

// TestRootsInPrologue: a thread stopped at the first instruction of a method has no frame for it yet. Slots of that
// frame would be read from the caller's.
func TestRootsInPrologue(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	w, err := d.Walker()
	require.NoError(t, err)
	threads, err := d.Threads()
	require.NoError(t, err)
	entered, slots := 0, 0
	for i := range threads {
		th := &threads[i]
		if th.OS == nil || th.Managed == nil {
			continue
		}
		var frames []stackwalk.Frame
		for f := range w.Walk(t.Context(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
			frames = append(frames, f)
		}
		for i := range frames[:max(0, len(frames)-1)] {
			f, caller := &frames[i], &frames[i+1]
			if f.Kind != stackwalk.FrameManaged || caller.Kind != stackwalk.FrameManaged || f.Code.Funclet {
				continue
			}
			regs := caller.Regs
			regs.Set(target.RIP, uint64(f.Code.Start))
			regs.Set(target.RSP, uint64(caller.SP)-8) // place of the return address
			for r, err := range w.Roots(t.Context(), th.Managed, regs) {
				if err != nil || r.FrameIP != f.Code.Start {
					slots += len(r.Slot.String())
					continue
				}
				assert.Zero(t, r.Addr, "%x: a slot of a frame that is not there: %s", uint64(f.Code.Start), r.Slot)
			}
			entered++
		}
	}
	assert.Greater(t, entered, 10)
	assert.NotZero(t, slots, "the callers have theirs")
}
