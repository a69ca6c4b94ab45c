package layout

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// Borrowed returns what the tables have for other processors of an OS, in the order of Candidates: what may do for a
// processor of which there is no table. It is empty for one whose stacks can't be followed, and for one with pointers
// of another size than those of the tables.
func Borrowed(os target.OS, arch target.Arch, prefer string) []Candidate {
	if _, err := arch.Processor(); err != nil {
		return nil
	}
	var out []Candidate
	for _, lender := range target.Followed() {
		if lender == arch || lender.PointerSize() != arch.PointerSize() {
			continue
		}
		for _, c := range Candidates(os, lender, prefer) {
			c.Lender = lender.String()
			out = append(out, c)
		}
	}
	return out
}

// processorTypes are the structures that hold registers, or lie behind such in their like: those of one processor say
// nothing about another's.
var processorTypes = []string{"CalleeSavedRegisters", "TransitionBlock", "HijackArgs", "HelperMethodFrame", "HelperMethodFrame_1OBJ"}

// adopt makes a borrowed table one for the process. The compiler gives a structure the same order of members on all
// processors; a lock or a buffer of another size moves all that follows. So what the runtime's own descriptor says of a
// structure, held against what the descriptor of the table's processor says, tells by how much the members between have
// moved: those between two that moved alike moved with them, and those between two that did not are left out. Without
// descriptors, the table stays as it is.
func (p *Part) adopt(own, lender *Part) *Part {
	out := *p
	out.Verified = nil
	out.types = maps.Clone(p.types)
	for _, name := range processorTypes {
		delete(out.types, name)
	}
	if own == nil || lender == nil {
		return &out
	}
	for name, t := range out.types {
		if marks := marksOf(own.types[name], lender.types[name]); len(marks) > 0 {
			out.types[name] = t.moved(marks)
		}
	}
	return &out
}

// A mark is a member whose offset is known on both processors, and by how much it moved.
type mark struct{ at, shift int }

func marksOf(own, lender partType) []mark {
	var out []mark
	for name, from := range lender.fields {
		if to, both := own.fields[name]; both {
			out = append(out, mark{from.Offset, to.Offset - from.Offset})
		}
	}
	if own.size >= 0 && lender.size >= 0 {
		out = append(out, mark{lender.size, own.size - lender.size})
	}
	slices.SortFunc(out, func(a, b mark) int { return a.at - b.at })
	return out
}

// moved is t with its members moved as the marks around them.
func (t partType) moved(marks []mark) partType {
	out := partType{size: -1, fields: make(map[string]Field, len(t.fields))}
	if shift, known := shiftAt(marks, t.size); known && t.size >= 0 {
		out.size = t.size + shift
	}
	for name, f := range t.fields {
		if shift, known := shiftAt(marks, f.Offset); known {
			f.Offset += shift
			out.fields[name] = f
		}
	}
	return out
}

// shiftAt is by how much a member at an offset moved: what starts a structure stays, and behind the last mark all is
// moved as it is.
func shiftAt(marks []mark, at int) (int, bool) {
	n, exact := slices.BinarySearchFunc(marks, at, func(m mark, at int) int { return m.at - at })
	before := mark{}
	if n > 0 {
		before = marks[n-1]
	}
	switch {
	case exact:
		return marks[n].shift, true
	case n == len(marks):
		return before.shift, true
	}
	return before.shift, before.shift == marks[n].shift
}

// Adopt makes the table of a borrowed candidate that was loaded one for the process: own is the runtime's own
// descriptor, nil without one.
func (c *Candidate) Adopt(own *Part) error {
	last := len(c.Parts) - 1
	var lender *Part
	if own != nil {
		var err error
		if lender, err = newestDescriptor(c.Major, c.os, c.arch); err != nil {
			return err
		}
	}
	p := c.Parts[last].adopt(own, lender)
	p.Source += ", of another processor"
	c.Parts[last] = p
	return nil
}

// Name is what the candidate's table is called, without its folder.
func (c *Candidate) Name() string { return strings.TrimSuffix(path.Base(c.table), ".json") }
