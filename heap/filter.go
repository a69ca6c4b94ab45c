package heap

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A Filter selects objects. The zero value and a nil *Filter select all.
type Filter struct {
	Segments    func(*Segment) bool // selects whole segments; nil selects all
	Generations []Generation        // the set of selected generations; nil selects all
	Range       target.Range        // where the objects start; empty is everywhere
	// Type selects types; nil selects all. Several goroutines may call it, a few times for each type.
	Type func(*dac.MethodTable) bool
	// Start selects objects by their address; nil selects all. Several goroutines may call it, for each object
	// that passes the other tests.
	Start func(target.Addr) bool
	// Counts, if not nil, counts the objects that Start selects by type, as Stats would, considering
	// only the filter's Type and sizes. It is called if the filter has no other tests.
	Counts func(context.Context, *Filter) (Stats, error)
	// Where, if not nil, returns a test of objects for one goroutine. It gets each object that passes the other tests.
	Where            func() func(*Object) bool
	MinSize, MaxSize uint64 // MinSize and MaxSize bound the size in bytes; 0 means no bound
}

// orAll returns f, or a filter that selects all if f is nil.
func (f *Filter) orAll() *Filter {
	if f == nil {
		return &Filter{}
	}
	return f
}

// isAll reports whether f selects all objects.
func (f *Filter) isAll() bool {
	return f == nil || f.Segments == nil && f.Generations == nil && f.Range == (target.Range{}) && f.Type == nil && f.Start == nil && f.Where == nil && f.MinSize == 0 && f.MaxSize == 0
}

// Spans returns the parts of segments that contain the filter's objects, in address order.
func (h *Heap) Spans(f *Filter) []Span {
	f = f.orAll()
	var spans []Span
	for i := range h.segments {
		s := &h.segments[i]
		if f.Segments != nil && !f.Segments(s) {
			continue
		}
		for _, r := range s.generations(f.Generations) {
			if f.Range != (target.Range{}) {
				r = target.Range{Start: max(r.Start, f.Range.Start), End: min(r.End, f.Range.End)}
			}
			if r.Size() > 0 {
				spans = append(spans, Span{Segment: s, Range: r})
			}
		}
	}
	return spans
}

// generations returns the parts of s with objects of gens, by address.
func (s *Segment) generations(gens []Generation) []target.Range {
	if gens == nil {
		return []target.Range{s.Objects}
	}
	var parts []target.Range
	for _, g := range [...]Generation{Generation2, Generation1, Generation0, GenerationLarge, GenerationPinned, GenerationFrozen} {
		if r := s.generationRange(g); r.Size() > 0 && slices.Contains(gens, g) {
			parts = append(parts, r)
		}
	}
	return parts
}

// generationRange returns the part of s with objects of generation g, or an empty range. In an ephemeral
// segment generation 2 comes first.
func (s *Segment) generationRange(g Generation) target.Range {
	if s.Kind != KindEphemeral {
		if s.Generation(s.Objects.Start) == g {
			return s.Objects
		}
		return target.Range{}
	}
	switch g {
	case Generation0:
		return s.Gen0
	case Generation1:
		return s.Gen1
	case Generation2:
		return s.Gen2
	}
	return target.Range{}
}

// A Sieve applies a Filter's tests of single objects. It is for one goroutine.
type Sieve struct {
	filter *Filter
	all    bool
	types  []verdict // by Object.typeID
	max    uint64
	where  func(*Object) bool
}

type verdict uint8

const (
	unknown verdict = iota
	chosen
	refused
)

// NewSieve returns a Sieve for f.
func NewSieve(f *Filter) *Sieve {
	f = f.orAll()
	s := &Sieve{filter: f, max: f.MaxSize}
	if s.max == 0 {
		s.max = ^uint64(0)
	}
	if f.Where != nil {
		s.where = f.Where()
	}
	s.all = f.Where == nil && f.Type == nil && f.Start == nil && f.MinSize == 0 && f.MaxSize == 0
	return s
}

// Pass reports whether o passes.
func (s *Sieve) Pass(o *Object) bool {
	if o == nil || s.filter == nil && !s.all {
		return false
	}
	if s.all {
		return true
	}
	if o.Size < s.filter.MinSize || o.Size > s.max {
		return false
	}
	return (s.filter.Type == nil || s.passType(o)) && (s.filter.Start == nil || s.filter.Start(o.Addr)) && (s.where == nil || s.where(o))
}

func (s *Sieve) passType(o *Object) bool {
	if int(o.typeID) >= len(s.types) {
		s.types = append(s.types, make([]verdict, int(o.typeID)+1-len(s.types))...)
	}
	v := &s.types[o.typeID]
	if *v == unknown {
		*v = refused
		if s.filter.Type(o.Type) {
			*v = chosen
		}
	}
	return *v == chosen
}
