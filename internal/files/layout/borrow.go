package layout

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// Borrowed returns the tables of other processors for an OS, in the order of Candidates, to replace a missing
// table. Tables of the system with the same sources come first (see sourceSystem). It returns nothing for a
// processor that stacks cannot be unwound for, or with another pointer size.
func Borrowed(os target.OS, arch target.Arch, prefer string) []Candidate {
	if _, err := arch.Processor(); err != nil {
		return nil
	}
	var out []Candidate
	if system := sourceSystem(os); system != os {
		for _, c := range Candidates(system, arch, prefer) {
			c.Lender = c.os
			out = append(out, c)
		}
	}
	for _, lender := range target.Followed() {
		if lender == arch || lender.PointerSize() != arch.PointerSize() {
			continue
		}
		for _, c := range Candidates(sourceSystem(os), lender, prefer) {
			c.Lender, c.otherProcessor = lender.String(), true
			if sourceSystem(os) != os {
				c.Lender = c.os + "-" + c.Lender
			}
			out = append(out, c)
		}
	}
	return out
}

// sourceSystem returns the system with the tables that serve for os. The runtime for macOS is built like the
// one for Linux, with locks of other sizes (the runtime's src/coreclr/pal).
func sourceSystem(os target.OS) target.OS {
	if os == target.OSDarwin {
		return target.OSLinux
	}
	return os
}

// processorTypes lists the structures that hold registers or follow registers. They differ between processors.
var processorTypes = []string{"CalleeSavedRegisters", "TransitionBlock", "HijackArgs", "HelperMethodFrame", "HelperMethodFrame_1OBJ"}

// adopt converts a table to another processor or version. The compiler keeps the order of a structure's members
// on all processors, but a lock or buffer of another size moves all later members. Comparing the runtime's own
// descriptors with the description of the table's version, lender, shows how far members moved. Members between
// two that moved alike moved with them. Members between two that moved differently are dropped, with that
// reason. Members after the last one, and all members of a structure without a description, are assumed to have
// moved with it. Without descriptors, the table stays unchanged.
func (p *Part) adopt(own []*Part, lender *Part) *Part {
	out := *p
	out.Verified = nil
	out.types = maps.Clone(p.types)
	out.doubts, out.assumed = map[string]error{}, map[string]bool{}
	for name, t := range out.types {
		var marks []mark
		for _, o := range own {
			if lender == nil {
				break
			}
			mine, described := o.types[name]
			if theirs, both := lender.types[name]; described && both {
				marks = append(marks, commonMembers(mine, theirs, p.names[name])...)
			}
		}
		slices.SortStableFunc(marks, func(a, b mark) int { return a.at - b.at })
		out.types[name] = t.moved(marks, func(field string, at int, known bool) {
			if !known {
				out.doubts[name+"."+field] = target.Unsupportedf("the members around it moved apart since the version that was measured")
			} else if len(marks) == 0 || at > marks[len(marks)-1].at {
				out.assumed[name+"."+field] = true
			}
		})
	}
	return &out
}

// A mark is the offset of a member on the lender, and its difference on the process.
type mark struct{ at, shift int }

// commonMembers returns the members that both descriptions of a structure have. names maps own members to the
// lender's names.
func commonMembers(own, lender partType, names map[string]string) []mark {
	var out []mark
	for name, to := range own.fields {
		if from, both := lender.fields[cmp.Or(names[name], name)]; both {
			out = append(out, mark{from.Offset, to.Offset - from.Offset})
		}
	}
	if own.size >= 0 && lender.size >= 0 {
		out = append(out, mark{lender.size, own.size - lender.size})
	}
	return out
}

// moved returns t with its members moved like the marks around them. It calls seen for each member, with
// whether its place is known.
func (t partType) moved(marks []mark, seen func(field string, at int, known bool)) partType {
	out := partType{size: -1, fields: make(map[string]Field, len(t.fields))}
	if shift, known := shiftAt(marks, t.size); known && t.size >= 0 {
		out.size = t.size + shift
	}
	for name, f := range t.fields {
		shift, known := shiftAt(marks, f.Offset)
		seen(name, f.Offset, known)
		if known {
			f.Offset += shift
			out.fields[name] = f
		}
	}
	return out
}

// shiftAt returns the shift of a member at an offset. The start of a structure does not move, and members after
// the last mark move with it.
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

// Adopt adapts the table of a loaded candidate to the process if the table is for another processor, system or
// version. own are the runtime's own descriptors.
func (c *Candidate) Adopt(own ...*Part) error {
	last := len(c.Parts) - 1
	table := c.Parts[last]
	if c.Lender == "" && table.Like == "" {
		return nil
	}
	var lender *Part
	if len(own) > 0 {
		var err error
		if lender, err = c.describes(cmp.Or(table.Like, c.Major), table.Like != ""); err != nil {
			return err
		}
	}
	p := table.adopt(own, lender)
	switch {
	case c.otherProcessor:
		for _, name := range processorTypes {
			delete(p.types, name)
		}
		p.Source += ", of another processor"
	case c.Lender != "":
		p.Source += ", of another system"
	}
	c.Parts[last] = p
	return nil
}

// describes returns the description of a major version: its newest descriptor, and with completed also the
// additions of its own table.
func (c *Candidate) describes(major string, completed bool) (*Part, error) {
	d, err := newestDescriptor(major, c.os, c.arch)
	if err != nil || d == nil || !completed {
		return d, err
	}
	number, _, _ := strings.Cut(major, ".")
	t, err := partCache.get("tables/supplement"+number+"-"+c.os+"-"+c.arch+".json", readTable)
	if err != nil {
		return nil, err
	}
	out := &Part{types: maps.Clone(d.types)}
	for name, added := range t.types {
		m := partType{size: added.size, fields: maps.Clone(added.fields)}
		if first, ok := d.types[name]; ok {
			maps.Copy(m.fields, first.fields)
			if first.size >= 0 {
				m.size = first.size
			}
		}
		out.types[name] = m
	}
	return out, nil
}

// Assumed reports whether the place of a member of the table ("Thread.GCFrame") follows only from members
// before it. Such a member must be proved.
func (p *Part) Assumed(member string) bool { return p.assumed[member] }

// Has reports whether p has a member.
func (p *Part) Has(member string) bool {
	name, field, _ := strings.Cut(member, ".")
	_, ok := p.types[name].fields[field]
	return ok
}

// Without returns p without the members in reasons.
func (p *Part) Without(reasons map[string]error) *Part {
	out := *p
	out.types, out.doubts = maps.Clone(p.types), maps.Clone(p.doubts)
	for member, reason := range reasons {
		name, field, _ := strings.Cut(member, ".")
		t := out.types[name]
		t.fields = maps.Clone(t.fields)
		delete(t.fields, field)
		out.types[name] = t
		out.doubts[member] = reason
	}
	return &out
}

// Fits returns an error if the loaded table supplements descriptors of another form. Each form has other names
// for members that the other lacks.
func (c *Candidate) Fits(own ...*Part) error {
	t := c.Parts[len(c.Parts)-1]
	if len(own) == 0 {
		return nil
	}
	if (t.Like != "") == (own[0].version > 0) {
		return c.fitsLocks(own)
	}
	return target.Unsupportedf("it is no table for descriptors of version %d", own[0].version)
}

// fitsLocks returns an error if the process's descriptor shows that locks have another size than in the
// candidate: one precedes the list in a ThreadStore.
func (c *Candidate) fitsLocks(own []*Part) error {
	const store, list, measured = "ThreadStore", "FirstThreadLink", "x64"
	t := c.Parts[len(c.Parts)-1]
	growth := c.growth
	if growth == 0 && len(t.growths) > 0 {
		growth = t.growths[0]
	}
	if growth == 0 {
		return nil
	}
	base, err := newestDescriptor(c.Major, c.os, measured)
	if err != nil || base == nil {
		return err
	}
	from, known := base.types[store].fields[list]
	for _, o := range own {
		if to, described := o.types[store].fields[list]; known && described && to.Offset-from.Offset != growth {
			return target.Unsupportedf("locks of the process are %d bytes larger than on %s, those of the table %d", to.Offset-from.Offset, measured, growth)
		}
	}
	return nil
}
