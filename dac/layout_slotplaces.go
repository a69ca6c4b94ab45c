package dac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// The entries of a DAC table keep their order within a major version. A servicing release can add or drop a few
// entries, and all later ones move. So the index in a layout table is only where the search starts. An entry
// found by a proof (slotProofs) is an anchor. Entries between two anchors that moved by the same distance moved
// with them. An entry between anchors that moved differently has no known place, and is not used.

// maxSlotShift is the distance from its index up to which an entry is searched. The measured builds of a major
// version differ by two.
const maxSlotShift = 8

// Weights in a chain of anchors. One proof outweighs a shift, and a chain with fewer shifts outweighs one with
// more.
const (
	weightProof = 10 // a structure of the entry's kind
	weightHint  = 1  // a shape that other data may have by chance
	costShift   = 6  // the entries moved relative to those before them
)

// A slotSight is a possible place of an entry.
type slotSight struct {
	index, place int
	weight       int
}

// slotPlaces maps the entries named by a part to their places in a table.
type slotPlaces struct {
	table    *slotTable
	measured int // number of entries in the measured build, 0 if unknown
	slots    []layout.Slot
	sights   map[int][]slotSight // by index
	place    map[int]int         // index -> place, for known places
	proved   map[int]bool        // known places that a proof found
}

func newSlotPlaces(table *slotTable, p *layout.Part) *slotPlaces {
	s := &slotPlaces{table: table, slots: p.Slots(), sights: map[int][]slotSight{}}
	if t := p.DacTable(); t != nil {
		s.measured = t.Slots
	}
	return s
}

// look records the places near index with an address for which accepts returns true.
func (s *slotPlaces) look(index, weight int, accepts func(target.Addr) bool) {
	for place := max(0, index-maxSlotShift); place <= index+maxSlotShift && place < len(s.table.values); place++ {
		if v := s.table.values[place]; v != 0 && accepts(v) {
			s.see(slotSight{index, place, weight})
		}
	}
}

func (s *slotPlaces) see(sight slotSight) {
	if shift := sight.place - sight.index; shift < -maxSlotShift || shift > maxSlotShift {
		return
	}
	for i, old := range s.sights[sight.index] {
		if old.place == sight.place {
			s.sights[sight.index][i].weight = max(old.weight, sight.weight)
			return
		}
	}
	s.sights[sight.index] = append(s.sights[sight.index], sight)
}

// settle decides the place of each entry from the recorded sights.
func (s *slotPlaces) settle() {
	anchors := s.anchors()
	s.place, s.proved = map[int]int{}, map[int]bool{}
	for i := 1; i < len(anchors); i++ {
		from, to := anchors[i-1], anchors[i]
		if to.index < s.end() {
			s.place[to.index], s.proved[to.index] = to.place, true
		}
		if to.place-to.index == from.place-from.index && s.agree(from, to) {
			for _, slot := range s.slots {
				if slot.Index > from.index && slot.Index < to.index {
					s.place[slot.Index] = slot.Index + to.place - to.index
				}
			}
		}
	}
}

// agree reports whether the proofs between two anchors do not contradict that everything between them moved
// alike.
func (s *slotPlaces) agree(from, to slotSight) bool {
	for _, slot := range s.slots {
		if slot.Index <= from.index || slot.Index >= to.index {
			continue
		}
		for _, sight := range s.sights[slot.Index] {
			if sight.weight >= weightProof {
				return false
			}
		}
	}
	return true
}

// end returns the index after the last entry of the measured build, or one after all possible entries.
func (s *slotPlaces) end() int {
	if s.measured > 0 {
		return s.measured
	}
	return 2 * maxDacSlots
}

// anchors returns the sights that all best chains share. The places in a chain rise with the indices. The
// result starts with the start of the table, and ends with its end if that is known.
func (s *slotPlaces) anchors() []slotSight {
	all := []slotSight{{-1, -1, 0}}
	for _, slot := range s.slots {
		for _, sight := range s.sights[slot.Index] {
			if !slices.Contains(all, sight) {
				all = append(all, sight)
			}
		}
	}
	if shift := len(s.table.values) - s.measured; s.measured > 0 && (shift == 0 || s.table.whole && max(shift, -shift) <= maxSlotShift) {
		all = append(all, slotSight{s.measured, len(s.table.values), weightProof})
	}
	slices.SortStableFunc(all, func(a, b slotSight) int { return a.index - b.index })
	up, down := chains(all, false), chains(all, true)
	best, ways := 0, 0.0
	for i := range all {
		total := up[i].value + down[i].value - all[i].weight
		if i == 0 || total > best {
			best = total
		}
	}
	ways = down[0].ways
	var out []slotSight
	for i := range all {
		if up[i].value+down[i].value-all[i].weight == best && up[i].ways*down[i].ways == ways {
			out = append(out, all[i])
		}
	}
	return out
}

// A chainEnd describes the best chain that ends at a sight: its weight, and the number of equally good chains.
type chainEnd struct {
	value int
	ways  float64
}

// chains returns for each sight the best chain from the start of the table to it or, with down, from it to the
// end.
func chains(all []slotSight, down bool) []chainEnd {
	out := make([]chainEnd, len(all))
	for k := range all {
		i := k
		if down {
			i = len(all) - 1 - k
		}
		best := chainEnd{}
		if i == 0 || down {
			best.ways = 1 // a chain starts at the start, and may end anywhere
		}
		for j := range all {
			a, b := all[j], all[i]
			if down {
				a, b = b, a
			}
			if a.index >= b.index || a.place >= b.place {
				continue
			}
			v := out[j].value
			if a.place-a.index != b.place-b.index {
				v -= costShift
			}
			switch {
			case best.ways == 0 || v > best.value:
				best = chainEnd{v, out[j].ways}
			case v == best.value:
				best.ways += out[j].ways
			}
		}
		best.value += all[i].weight
		out[i] = best
	}
	return out
}

// address returns the address in the entry that the part has at index.
func (s *slotPlaces) address(index int) (target.Addr, error) {
	place, known := s.place[index]
	switch {
	case !known:
		return 0, target.Unsupportedf("nothing in the process proves its place in the runtime's table of globals, which is %s",
			s.difference())
	case place >= len(s.table.values) || s.table.values[place] == 0:
		return 0, target.Unsupportedf("entry %d of the runtime's table of globals has no address of the runtime", place)
	}
	return s.table.values[place], nil
}

func (s *slotPlaces) difference() string {
	n := len(s.table.values)
	switch {
	case s.measured == 0 || !s.table.whole && n != s.measured:
		return "of unknown length"
	case n == s.measured:
		return fmt.Sprintf("as long as the known one, %d entries", n)
	}
	return fmt.Sprintf("%d entries long, and the known one is %d", n, s.measured)
}

// shifts returns the entries that moved from their index in the measured build, and those without a known
// place.
func (s *slotPlaces) shifts() (moved, unknown []string) {
	last := 0
	for _, slot := range s.slots {
		place, known := s.place[slot.Index]
		if !known {
			unknown = append(unknown, slot.Name)
			continue
		}
		if shift := place - slot.Index; shift != last {
			moved = append(moved, fmt.Sprintf("%+d from %s on", shift, slot.Name))
			last = shift
		}
	}
	return moved, unknown
}

// probe counts the known entries of the table.
func (s *slotPlaces) probe() Probe {
	p := Probe{Name: "table of globals", Detail: fmt.Sprintf("%d of %d entries proved, %d placed between them", len(s.proved),
		len(s.slots), len(s.place)-len(s.proved))}
	if len(s.proved) == 0 {
		p.Result = ProbeNotInDump
	}
	return p
}

// DescribeShifts describes how the entries of the runtime's table of globals differ from the measured build. It
// lists moved entries, and entries without a proved place; readers of these get target.ErrUnsupported. It
// returns "" if the tables agree.
func (r *Runtime) DescribeShifts() string {
	if r.places == nil {
		return ""
	}
	const listed = 8
	moved, unknown := r.places.shifts()
	var parts []string
	if len(moved) > 0 {
		parts = append(parts, "entries shifted by "+strings.Join(moved, ", "))
	}
	if n := len(unknown); n > listed {
		unknown = append(unknown[:listed:listed], fmt.Sprintf("and %d more", n-listed))
	}
	if len(unknown) > 0 {
		parts = append(parts, "nothing proves the place of "+strings.Join(unknown, ", "))
	}
	return strings.Join(parts, "; ")
}
