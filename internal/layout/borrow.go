package layout

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// Borrowed returns the tables of other processors for an OS, in the order of Candidates, as a replacement for a
// processor without a table. It returns nothing for a processor whose stacks can't be unwound, or whose pointers have
// another size than the tables'.
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

// processorTypes are the structures that hold registers or follow registers. They differ between processors.
var processorTypes = []string{"CalleeSavedRegisters", "TransitionBlock", "HijackArgs", "HelperMethodFrame", "HelperMethodFrame_1OBJ"}

// adopt converts a borrowed table to the process's processor. The compiler keeps the order of a structure's members on
// all processors, but a lock or a buffer of another size moves all later members. Comparing the runtime's own
// descriptor with the descriptor of the table's processor shows how far members moved. Members between two that moved
// alike moved with them; members between two that did not are dropped. Without descriptors, the table stays unchanged.
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

// A mark is a member with known offsets on both processors, and the difference.
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

// shiftAt returns how far a member at an offset moved. The start of a structure stays, and members after the last mark
// move with it.
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

// Adopt fits the table of a loaded candidate to the process if the table has the offsets of another processor or of another
// version: own is the runtime's own descriptor, nil without one.
func (c *Candidate) Adopt(own *Part) error {
	last := len(c.Parts) - 1
	like := c.Parts[last].Like
	if c.Lender == "" && like == "" {
		return nil
	}
	if like == "" {
		like = c.Major
	}
	var lender *Part
	if own != nil {
		var err error
		if lender, err = newestDescriptor(like, c.os, c.arch); err != nil {
			return err
		}
	}
	p := c.Parts[last].adopt(own, lender)
	if c.Lender != "" {
		p.Source += ", of another processor"
	}
	c.Parts[last] = p
	return nil
}

// Fits returns an error if the loaded table supplements descriptors of another form: what one form of descriptors lacks, the
// other has by other names.
func (c *Candidate) Fits(own *Part) error {
	t := c.Parts[len(c.Parts)-1]
	if own == nil || (t.Like != "") == (own.version > 0) {
		return nil
	}
	return target.Unsupportedf("it is no table for descriptors of version %d", own.version)
}

// Name returns the name of the candidate's table, without folder and extension.
func (c *Candidate) Name() string { return strings.TrimSuffix(path.Base(c.table), ".json") }
