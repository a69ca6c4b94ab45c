package memorymap_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/image/malloc"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// native is a dump of a process that allocated known numbers of malloc blocks.
const native = "../../../testdata/dumps/native/net10-malloc"

func openNative(t *testing.T) *sosgo.Dump {
	t.Helper()
	d, err := sosgo.Open(native+"/net10-malloc.dmp.zst", sosgo.Options{NoLocalFiles: true})
	if os.IsNotExist(err) {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func describe(t *testing.T, d *sosgo.Dump) *answer.MemoryMap {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	m, err := memorymap.Memory(context.Background(), v.Process, memorymap.Options{List: true, Malloc: true})
	require.NoError(t, err)
	return m
}

func kind(t *testing.T, m *answer.MemoryMap, k answer.MemoryKind) *answer.MemorySum {
	t.Helper()
	for i := range m.Kinds {
		if m.Kinds[i].Kind == k {
			return &m.Kinds[i]
		}
	}
	t.Fatalf("no memory of kind %s", k)
	return nil
}

// TestMissingParts repeats the query, each time without one of the pieces of memory that the answer was read from.
func TestMissingParts(t *testing.T) {
	testdump.Open(t, "net10-zoo").Sweep(t, 600, false, func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(memorymap.Memory(t.Context(), v.Process, memorymap.Options{List: true, Malloc: true}))
	})
}

// TestBlocks compares the malloc blocks with the program's output: the number of each size by arena.
func TestBlocks(t *testing.T) {
	d := openNative(t)
	facts, err := os.ReadFile(native + "/facts.txt")
	require.NoError(t, err)
	a, err := malloc.Open(d.Target(), d.Memory())
	require.NoError(t, err)
	type place struct {
		arena string
		size  uint64
	}
	inUse := map[place]int{}
	for i := range a.Arenas {
		name := "thread"
		if a.Arenas[i].Main {
			name = "main"
		}
		for c, err := range a.Chunks(context.Background(), &a.Arenas[i]) {
			require.NoError(t, err)
			if c.State == malloc.ChunkInUse {
				inUse[place{name, c.Size}]++
			}
		}
	}
	v, err := d.View("")
	require.NoError(t, err)
	checked := 0
	for line := range strings.Lines(string(facts)) {
		var arena, first string
		var size, kept, freed int
		fields := strings.FieldsFunc(strings.TrimSpace(line), func(r rune) bool { return r == '.' || r == ' ' })
		switch {
		case fields[0] != "malloc":
			continue
		case fields[3] == "first":
			_, err = fmt.Sscanf(fields[1]+" "+fields[2]+" "+fields[4], "%s %d %s", &arena, &size, &first)
		default:
			_, err = fmt.Sscanf(strings.Join(fields[1:4], " ")+" "+fields[5], "%s %d %d %d", &arena, &size, &kept, &freed)
		}
		require.NoError(t, err, line)
		chunk := (uint64(size) + 8 + 15) &^ 15
		if arena == "mmap" {
			chunk = (uint64(size) + 16 + 4095) &^ 4095
		}
		checked++
		if first != "" {
			var at target.Addr
			_, err = fmt.Sscanf(first, "%x", (*uint64)(&at))
			require.NoError(t, err)
			is := resolve.Address(context.Background(), v.Process, at+100)
			require.NotNil(t, is.Memory, line)
			assert.Equal(t, &answer.NativeBlock{Address: at, Size: chunk, State: "in use"}, is.Memory.Block, line)
			continue
		}
		if arena == "mmap" {
			m := describe(t, d)
			require.NotNil(t, m.Native)
			assert.Equal(t, m.Native.Counted, &m.Native.Mapped, "malloc counts the same")
			assert.GreaterOrEqual(t, m.Native.Mapped.Blocks, uint64(kept))
			assert.GreaterOrEqual(t, m.Native.Mapped.Bytes, uint64(kept)*chunk)
			continue
		}
		assert.Equal(t, kept, inUse[place{arena, chunk}], line)
	}
	assert.Equal(t, 14, checked)
}

// TestNativeSums compares the sums of malloc with the counters of its arenas.
func TestNativeSums(t *testing.T) {
	m := describe(t, openNative(t))
	n := m.Native
	require.NotNil(t, n)
	assert.Empty(t, m.Noted())
	assert.True(t, m.Complete, "the kernel lists all mappings")
	assert.Len(t, n.Arenas, 9)
	var size uint64
	for _, a := range n.Arenas {
		size += a.Size
		assert.Zero(t, a.Unread)
		assert.NoError(t, a.Err)
	}
	sum := kind(t, m, answer.MemoryMalloc)
	assert.Equal(t, size, sum.Size)
	assert.Equal(t, n.InUse.Bytes, *sum.InUse)
	assert.Equal(t, n.Free.Bytes+n.Cached.Bytes+n.Top.Bytes, *sum.Free)
	assert.Less(t, size-*sum.InUse-*sum.Free, uint64(len(n.Arenas))*2400, "the rest are the structures of the arenas")
	var classes, words answer.NativeSum
	for _, s := range n.Sizes {
		classes.Blocks, classes.Bytes = classes.Blocks+s.InUse.Blocks, classes.Bytes+s.InUse.Bytes
	}
	assert.Equal(t, n.InUse, classes)
	for _, s := range n.Words {
		words.Blocks, words.Bytes = words.Blocks+s.Blocks, words.Bytes+s.Bytes
	}
	assert.Equal(t, answer.NativeSum{Blocks: n.InUse.Blocks + n.Mapped.Blocks, Bytes: n.InUse.Bytes + n.Mapped.Bytes}, words)
	require.NotEmpty(t, n.Owners)
	var owned answer.NativeSum
	for _, o := range n.Owners {
		owned.Blocks, owned.Bytes = owned.Blocks+o.Blocks, owned.Bytes+o.Bytes
	}
	assert.Equal(t, n.Words["image"], owned)
	assert.Contains(t, n.Owners[0].Module, "libcoreclr.so")
}

// A readable target records memory without access as readable.
type readable struct{ target.Target }

func (r readable) Regions() iter.Seq[target.Region] {
	return func(yield func(target.Region) bool) {
		for of := range r.Target.Regions() {
			if of.Prot == 0 && of.Kind != "" {
				of.Prot = target.ProtRead
			}
			if !yield(of) {
				return
			}
		}
	}
}

// TestReserveOfGcore checks that malloc's reserved memory counts as malloc's, although gcore records it as readable.
func TestReserveOfGcore(t *testing.T) {
	d := openNative(t)
	want := kind(t, describe(t, d), answer.MemoryMallocReserve)
	require.NotZero(t, want.Size)
	over, err := sosgo.OpenTarget(readable{d.File()}, sosgo.Options{NoLocalFiles: true})
	require.NoError(t, err)
	defer over.Close()
	assert.Equal(t, want.Size, kind(t, describe(t, over), answer.MemoryMallocReserve).Size)
}

// TestSums compares the sums with the list of mappings, and the parts with each other.
func TestSums(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		m := describe(t, d.Dump)
		var size, stored uint64
		for r := range d.Target().Regions() {
			if r.Kind != target.RegionFree {
				size, stored = size+r.Size, stored+r.Stored
			}
		}
		assert.Equal(t, size, m.Mappings.Size)
		assert.Equal(t, stored, m.Mappings.Stored)
		sums := map[string]answer.MemorySum{}
		var at target.Addr
		for _, r := range m.Ranges {
			assert.GreaterOrEqual(t, r.Start, at)
			at = r.End
			k := string(r.Kind) + r.Detail
			s := sums[k]
			s.Ranges, s.Size, s.Stored = s.Ranges+1, s.Size+uint64(r.End-r.Start), s.Stored+r.Stored
			sums[k] = s
		}
		var total answer.MemorySum
		for _, k := range m.Kinds {
			s := sums[string(k.Kind)+k.Detail]
			assert.Equal(t, [3]uint64{uint64(s.Ranges), s.Size, s.Stored}, [3]uint64{uint64(k.Ranges), k.Size, k.Stored}, k.Kind)
			assert.LessOrEqual(t, k.NoAccess, k.Size)
			if k.InUse != nil {
				assert.LessOrEqual(t, *k.InUse, k.Size, k.Kind)
			}
			total.Size, total.Stored, total.NoAccess = total.Size+k.Size, total.Stored+k.Stored, total.NoAccess+k.NoAccess
		}
		assert.Len(t, m.Kinds, len(sums))
		assert.Equal(t, [3]uint64{m.Mappings.Size, m.Mappings.Stored, m.Mappings.NoAccess}, [3]uint64{total.Size, total.Stored, total.NoAccess})
	})
}

// TestHeap compares the memory of generations with the segments of the heap, and their objects with gcheapstat's.
func TestHeap(t *testing.T) {
	kinds := map[string]answer.MemoryKind{"0": answer.MemoryGeneration0, "2": answer.MemoryGeneration2, "large": answer.MemoryLarge, "pinned": answer.MemoryPinned}
	for _, name := range []string{"net10-zoo", "net8-zoo", "win-net10-zoo", "net10-zoo-servergc"} {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			m := describe(t, d.Dump)
			v, err := d.View("")
			require.NoError(t, err)
			sizes, err := memory.Generations(context.Background(), v.Process, memory.GenerationsOptions{})
			require.NoError(t, err)
			for g, k := range kinds {
				var live, free, committed uint64
				for _, h := range sizes.Heaps {
					i := slices.IndexFunc(h.Generations, func(s answer.GenerationSize) bool { return s.Generation == g })
					live, free, committed = live+h.Generations[i].Live, free+h.Generations[i].Free, committed+h.Generations[i].Committed
				}
				s := kind(t, m, k)
				assert.Equal(t, [3]uint64{committed, live, free}, [3]uint64{s.Size, *s.InUse, *s.Free}, g)
			}
		})
	}
}

// TestSegments reads a heap of segments. Generations share one segment; its objects count once.
func TestSegments(t *testing.T) {
	d := testdump.Open(t, "net31-zoo")
	m := describe(t, d.Dump)
	v, err := d.View("")
	require.NoError(t, err)
	sizes, err := memory.Generations(context.Background(), v.Process, memory.GenerationsOptions{})
	require.NoError(t, err)
	list := sizes.Heaps[0].Generations
	shared := list[len(list)-1]
	require.Equal(t, answer.Ephemeral, shared.Generation)
	s := kind(t, m, answer.MemoryEphemeral)
	assert.Equal(t, [2]uint64{shared.Live, shared.Free}, [2]uint64{*s.InUse, *s.Free})
}

// TestMallocOfCorpus compares the blocks found in whole dumps with malloc's own counters.
func TestMallocOfCorpus(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-stacks-full", "sxs-full", "nativeaot-crash-full"), func(t *testing.T, d *testdump.Dump) int {
		a, err := malloc.Open(d.Target(), d.Memory())
		require.NoError(t, err)
		assert.Empty(t, a.Missing)
		for i := range a.Arenas {
			var size uint64
			for _, h := range a.Arenas[i].Heaps {
				size += h.Range.Size()
			}
			assert.Equal(t, a.Arenas[i].System, size)
			for _, err := range a.Chunks(context.Background(), &a.Arenas[i]) {
				assert.NoError(t, err)
			}
		}
		m := describe(t, d.Dump)
		assert.Equal(t, m.Native.Counted, &m.Native.Mapped)
		return len(a.Arenas)
	})
}
