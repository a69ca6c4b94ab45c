package dac

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// A slotRuntime is a runtime that is opened with a changed table of globals.
type slotRuntime struct {
	inst *Instance
	own  []ownPart
	used layout.Candidate
	read *slotTable
	want *slotPlaces

	merged [2]*layout.Layout // without own and with own
}

// known returns the layout without a table of globals. It is built once.
func (s *slotRuntime) known(own []ownPart) *layout.Layout {
	m := &s.merged[0]
	if own != nil {
		m = &s.merged[1]
	}
	if *m == nil {
		*m = merge(own, s.used, nil)
	}
	return *m
}

// slotRuntimes lists the runtimes of a dump with such a table.
func slotRuntimes(t *testing.T, d target.Target) (out []slotRuntime) {
	for _, inst := range Find(d, d, nil) {
		if inst.Flavor != FlavorCoreCLR {
			continue
		}
		rt, err := inst.Open()
		require.NoError(t, err)
		if rt.places == nil {
			continue
		}
		own, _ := inst.ownParts()
		candidates := layout.Candidates(d.Platform().OS, d.Platform().Arch, inst.Version())
		sources := rt.Layout().Sources()
		for _, c := range candidates {
			require.NoError(t, c.Load(true))
			if p := c.Parts[len(c.Parts)-1]; p.Source == sources[len(sources)-1] {
				out = append(out, slotRuntime{inst: inst, own: own, used: c, read: inst.readSlots(p.DacTable()), want: rt.places})
			}
		}
	}
	return out
}

// shifted returns a table with n more entries before place, or with -n fewer from there on.
func (s *slotTable) shifted(place, n int, filler target.Addr) *slotTable {
	out := &slotTable{whole: s.whole}
	if n < 0 {
		out.values = slices.Delete(slices.Clone(s.values), place, min(place-n, len(s.values)))
		return out
	}
	more := slices.Repeat([]target.Addr{filler}, n)
	out.values = slices.Insert(slices.Clone(s.values), place, more...)
	return out
}

// TestShiftedSlots moves the entries of each runtime's table of globals by one or two from each place on, as
// servicing releases do. Every entry must have the right place or none. Places alternate between one and two.
func TestShiftedSlots(t *testing.T) {
	cases, err := testcase.CannedCases()
	require.NoError(t, err)
	step := 3 // neighbours nearly always give the same result
	if !testcase.Complete() {
		step = 13
	}
	for _, c := range cases {
		if !c.HasRuntime() {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			d, err := dump.Open(c.Plain(), dump.Options{})
			require.NoError(t, err)
			defer d.Close()
			found, all := 0, 0
			for _, s := range slotRuntimes(t, d) {
				for place := 0; place <= len(s.read.values); place += step {
					by := 1 + (place+place/8)%2 // every eighth place is also checked with own parts
					for _, n := range []int{-by, by} {
						f, a := s.check(t, place, n)
						found, all = found+f, all+a
					}
				}
			}
			t.Logf("%d of %d entries found", found, all)
			assert.Greater(t, 10*found, 7*all, "most entries are found")
		})
	}
}

// check opens the runtime with a shifted table. It counts the entries with a place, and the entries that could
// have one.
func (s *slotRuntime) check(t *testing.T, place, n int) (found, all int) {
	t.Helper()
	filler := s.inst.Module.Base + target.Addr(s.inst.Module.Size)/2&^7
	if n%2 == 0 {
		filler = s.read.values[min(place, len(s.read.values)-1)] // the same entry twice
	}
	table := s.read.shifted(place, n, filler)
	part := s.used.Parts[len(s.used.Parts)-1]
	for _, own := range [][]ownPart{nil, s.own} {
		if own != nil && place%8 != 0 {
			continue // the descriptor makes it easier
		}
		places, err := s.inst.proveSlots(table, part, s.known(own))
		require.NoError(t, err)
		for _, slot := range places.slots {
			want, err := s.want.address(slot.Index)
			if err != nil {
				continue
			}
			if slices.Contains(table.values, want) {
				all++
			}
			got, err := places.address(slot.Index)
			if err != nil {
				assert.ErrorIs(t, err, target.ErrUnsupported)
				continue
			}
			if found++; got != want {
				t.Errorf("%+d at %d, own %t: %s (vtable %t) is said to be entry %d: %s", n, place, own != nil, slot.Name, slot.VTable,
					places.place[slot.Index], fmt.Sprint(places.sights[slot.Index]))
			}
		}
	}
	return found, all
}

// TestServicingRelease checks that 8.0.0 opens, with two globals fewer than the measured build.
func TestServicingRelease(t *testing.T) {
	c := testcase.Open(t, "net8a-zoo-withheap")
	d, err := dump.Open(c.Plain(), dump.Options{})
	require.NoError(t, err)
	defer d.Close()
	insts := Find(d, d, nil)
	require.Len(t, insts, 1)
	assert.Equal(t, "8.0.23.53103", insts[0].Version(), "its own version string is not in the dump")
	rt, err := insts[0].Open()
	require.NoError(t, err)
	assert.Equal(t, "entries shifted by -1 from FCallMethods on, -2 from EEJitManager on", rt.DescribeShifts())
	_, unknown := rt.places.shifts()
	assert.Empty(t, unknown)
}

// TestUnprovedSlots checks that an entry between proofs that moved differently is not used, and that its
// readers return the reason. A call that a thread is in shows the class of its frame, and with it the other
// entries.
func TestUnprovedSlots(t *testing.T) {
	const beforeFrames = 110
	c := testcase.Open(t, "net8-stacks-withheap")
	d, err := dump.Open(c.Plain(), dump.Options{})
	require.NoError(t, err)
	defer d.Close()
	s := slotRuntimes(t, d)[0]
	rt, err := s.inst.tryWith(s.own, s.used, s.read.shifted(beforeFrames, 1, s.inst.Module.Base+0x1000))
	require.NoError(t, err)
	_, failed := tally(rt.probes)
	require.Empty(t, failed)
	assert.Contains(t, rt.DescribeShifts(), "nothing proves the place of DebuggerClassInitMarkFrame")
	assert.Contains(t, rt.DescribeShifts(), "+1 from InlinedCallFrame on")
	_, err = rt.layout.VTable("HelperMethodFrame")
	assert.ErrorIs(t, err, target.ErrUnsupported)
	assert.ErrorContains(t, err, "nothing in the process proves")
	_, err = rt.layout.VTable("InlinedCallFrame")
	assert.NoError(t, err)
	threads, err := rt.Threads()
	require.NoError(t, err)
	unsupported := 0
	for i := range threads {
		for _, err := range rt.Frames(&threads[i]) {
			if err != nil {
				unsupported++
				require.ErrorIs(t, err, target.ErrUnsupported)
			}
		}
	}
	assert.Positive(t, unsupported)
}

// TestUnusedSyncTable checks that a process without sync blocks has none, also if the place of their table is unknown: a build dropped
// an entry before it, and no used entry proves the table. With used entries, their reader returns the reason.
func TestUnusedSyncTable(t *testing.T) {
	const before = 60
	c := testcase.Open(t, "net10-zoo-withheap")
	d, err := dump.Open(c.Plain(), dump.Options{})
	require.NoError(t, err)
	defer d.Close()
	s := slotRuntimes(t, d)[0]
	rt, err := s.inst.Open()
	require.NoError(t, err)
	table, err := rt.GlobalPointer("SyncTableEntries")
	require.NoError(t, err)
	cache, err := rt.GlobalPointer("SyncBlockCache")
	require.NoError(t, err)
	counter := cache + target.Addr(rt.off.SyncCache.Next)
	blocks := func(next uint32) (errs []error) {
		unused := patched{d, table, make([]byte, (syncTableInitial+1)*rt.off.SyncEntry.Size)}
		s.inst.mem = patched{unused, counter, binary.LittleEndian.AppendUint32(nil, next)}
		moved, err := s.inst.tryWith(nil, s.used, s.read.shifted(before, -1, 0)) // as single files of musl, without a descriptor
		require.NoError(t, err)
		require.Contains(t, moved.DescribeShifts(), "nothing proves the place of SyncTableEntries")
		for _, err := range moved.SyncBlocks() {
			errs = append(errs, err)
		}
		return errs
	}
	assert.Empty(t, blocks(1))
	errs := blocks(2)
	require.Len(t, errs, 1)
	assert.ErrorIs(t, errs[0], target.ErrUnsupported)
}

// countedMemory counts reads.
type countedMemory struct {
	target.Memory
	reads int
}

func (m *countedMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	m.reads++
	return m.Memory.ReadMemory(p, a)
}

func (m *countedMemory) View(a target.Addr, n int) ([]byte, bool) {
	m.reads++
	return m.Memory.View(a, n)
}

// TestDescribedSlots checks that variables with addresses in the runtime's descriptor are not searched, and
// that all places are the ones that a search finds.
func TestDescribedSlots(t *testing.T) {
	c := testcase.Open(t, "net10-zoo-withheap")
	d, err := dump.Open(c.Plain(), dump.Options{})
	require.NoError(t, err)
	defer d.Close()
	s := slotRuntimes(t, d)[0]
	part := s.used.Parts[len(s.used.Parts)-1]
	prove := func(own []ownPart) (*slotPlaces, int) {
		mem := &countedMemory{Memory: d}
		s.inst.mem = mem
		places, err := s.inst.proveSlots(s.read, part, s.known(own))
		require.NoError(t, err)
		return places, mem.reads
	}
	described, few := prove(s.own)
	// Without own parts, the candidate's descriptor has no addresses.
	searched, many := prove(nil)
	assert.Less(t, 3*few, many)
	for index, place := range searched.place {
		assert.Equal(t, place, described.place[index], index)
	}
	t.Logf("%d reads instead of %d", few, many)
}
