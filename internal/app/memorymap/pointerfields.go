package memorymap

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/malloc"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A PointerField is a field of a class, or an array, with addresses of native memory.
type PointerField struct {
	Name    string      // class and field
	Count   uint64      // places of native memory to which such fields of objects refer
	Bytes   uint64      // their size
	Example target.Addr // the first object, or the array with the most
	Arrays  int         // how many arrays have them as elements, 0 for a field; 1 if one array has all of them
	Held    string      // the field with the array Example, if it is known
	most    uint64      // how many of them Example has, of arrays
}

// A pointerPlace is a place with an address of native memory in the objects of a type.
type pointerPlace struct {
	offset, step uint64 // step is 0 for a field, and the size of an element in an array
	name         string
	element      bool // of an array, with no field
}

// pointerPlaces returns the places of native addresses in objects of a type.
func pointerPlaces(t *objects.Type) (out []pointerPlace) {
	name, err := t.ManagedName()
	if err != nil {
		return nil
	}
	of, start, step := t, uint64(dac.ObjectHeaderBytes), uint64(0)
	if t.MT.IsArray() {
		if of, err = t.Element(); err != nil || !of.MT.IsValueType() || t.MT.ComponentSize < 8 {
			return nil
		}
		start, step = uint64(t.MT.BaseSize)-8, uint64(t.MT.ComponentSize)
		if e, err := of.ElementType(); err == nil && isNative(e) {
			return []pointerPlace{{start, step, name, true}}
		}
	}
	leaves, _ := of.Leaves() // those before one that can't be read
	for _, l := range leaves {
		if !isNative(l.Type) {
			continue
		}
		if field, err := of.FieldPath(l.Offset); err == nil && field != "" {
			path := strings.TrimSuffix(strings.TrimSuffix(name+"."+field, "._value"), "._handle") // the fields of an IntPtr and of a GCHandle
			out = append(out, pointerPlace{start + l.Offset, step, path, step > 0 && path == name})
		}
	}
	return out
}

func isNative(e metadata.ElementType) bool {
	return e == metadata.ElementI || e == metadata.ElementU || e == metadata.ElementPtr
}

// blocks returns the blocks of malloc in use, by address.
func (m *Map) blocks(ctx context.Context) []target.Range {
	var out []target.Range
	for i := range m.mapped {
		out = append(out, target.Range{Start: m.mapped[i].Data(), End: m.mapped[i].Addr + target.Addr(m.mapped[i].Size)})
	}
	for i := range m.malloc.Arenas {
		for c, err := range m.malloc.Chunks(ctx, &m.malloc.Arenas[i]) {
			if err == nil && c.State == malloc.ChunkInUse && len(out) < limits.MallocMapped {
				out = append(out, target.Range{Start: c.Data(), End: c.Addr + target.Addr(c.Size)})
			}
		}
	}
	slices.SortFunc(out, func(a, b target.Range) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// PointerFields returns the fields of objects with addresses in to, which is sorted and does not overlap: those that refer to most bytes first. It reads
// all objects of the GC heap. A range counts for the first field found.
func PointerFields(ctx context.Context, p *process.Process, to []target.Range) ([]PointerField, error) {
	return process.Answer(ctx, p, func(ctx context.Context, _ *process.Call) ([]PointerField, error) { return pointerFields(ctx, p, to) })
}

func pointerFields(ctx context.Context, p *process.Process, to []target.Range) ([]PointerField, error) {
	h, err := p.Heap()
	if err != nil {
		return nil, err
	}
	r, err := p.Objects()
	if err != nil {
		return nil, err
	}
	byType, byName := map[*dac.MethodTable][]pointerPlace{}, map[string]*PointerField{}
	seen, left := make([]bool, len(to)), 0
	for o, err := range h.Objects() {
		if left--; left < 0 {
			if left = lookStep; ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if err != nil || o.Free {
			continue
		}
		places, known := byType[o.Type]
		if !known {
			if t, err := r.TrustedType(o.Type.Addr); err == nil {
				places = pointerPlaces(t)
			}
			byType[o.Type] = places
		}
		for _, place := range places {
			var x *PointerField
			hits := uint64(0)
			for at := place.offset; at+8 <= o.Size; at += place.step {
				a, err := target.Pointer(h.Memory(), o.Addr+target.Addr(at))
				if k, found := rangeOf(to, a); err == nil && found {
					if x = byName[place.name]; x == nil {
						x = &PointerField{Name: place.name, Example: o.Addr}
						byName[place.name] = x
					}
					if hits++; !seen[k] {
						seen[k] = true
						x.Count, x.Bytes = x.Count+1, x.Bytes+to[k].Size()
					}
				}
				if place.step == 0 {
					break
				}
			}
			if place.element && hits > 0 {
				if x.Arrays++; hits > x.most {
					x.most, x.Example = hits, o.Addr // a list that grew has left smaller ones behind
				}
			}
		}
	}
	var out []PointerField
	for _, x := range byName {
		if x.Arrays > 1 && x.most >= x.Count {
			x.Arrays = 1
		}
		if x.Count > 0 {
			out = append(out, *x)
		}
	}
	slices.SortFunc(out, func(a, b PointerField) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	out = out[:min(len(out), mostFields)]
	return out, nameArrays(ctx, p, h, out)
}

// nameArrays finds the fields with the first arrays.
func nameArrays(ctx context.Context, p *process.Process, h *heap.Heap, list []PointerField) error {
	wanted := map[target.Addr]bool{}
	for i := range list {
		if list[i].Arrays > 0 {
			wanted[list[i].Example] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	b, err := p.Shapes()
	if err != nil {
		return err
	}
	names, _ := flows.Names(ctx, b, h, wanted, flows.NamesOptions{Walk: true}) // arrays without a name keep their type
	for i := range list {
		list[i].Held = names[list[i].Example].Text
	}
	return ctx.Err()
}

// mostFields is how many fields are named.
const mostFields = 3

// lookStep is the number of objects between two checks of the context.
const lookStep = 1 << 13

// rangeOf returns the index of the range that contains an address.
func rangeOf(list []target.Range, a target.Addr) (int, bool) {
	k, exact := slices.BinarySearchFunc(list, a, func(r target.Range, a target.Addr) int { return cmp.Compare(r.Start, a) })
	if !exact {
		k--
	}
	return k, k >= 0 && k < len(list) && list[k].Contains(a)
}
