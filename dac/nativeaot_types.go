package dac

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// interfaces returns the interfaces of a type. They follow its virtual methods, one word each.
func (r *nativeAOT) interfaces(mt *MethodTable) ([]target.Addr, error) {
	rd, out := layout.Reader{Mem: r.mem, Base: mt.Addr}, make([]target.Addr, 0, mt.NumInterfaces)
	for i := range int(mt.NumInterfaces) {
		at := rd.Ptr(r.mt.VTable + 8*(int(mt.NumVirtuals)+i))
		if rd.Err != nil {
			return nil, rd.Err
		}
		if _, err := r.MethodTable(at); err != nil {
			return nil, fmt.Errorf("interface %d: %w", i, err)
		}
		out = append(out, at)
	}
	return out, nil
}

// loadedTypes iterates over the types in the map of types that may have objects.
func (r *nativeAOT) loadedTypes() iter.Seq2[*MethodTable, error] {
	return func(yield func(*MethodTable, error) bool) {
		n := r.programNames()
		if n.noType != nil && !yield(nil, n.noType) {
			return
		}
		for _, at := range slices.Sorted(maps.Keys(n.types)) {
			if r.isDefinition(at) {
				continue
			}
			if mt, err := r.MethodTable(at); !yield(mt, err) {
				return
			}
		}
	}
}

// typesNamed iterates over the types in the map of types by address.
func (r *nativeAOT) typesNamed(name, assembly string) iter.Seq2[target.Addr, error] {
	return func(yield func(target.Addr, error) bool) {
		n := r.programNames()
		for _, at := range slices.Sorted(maps.Keys(n.types)) {
			d := n.types[at]
			if d.name == name && (assembly == "" || strings.EqualFold(d.assembly, assembly)) && !yield(at, nil) {
				return
			}
		}
		if n.noType != nil {
			yield(0, n.noType)
		}
	}
}
