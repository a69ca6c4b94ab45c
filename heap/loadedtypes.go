package heap

import (
	"context"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// LoadedTypesOptions choose loaded types. The zero value chooses all.
type LoadedTypesOptions struct {
	Name string // only types whose name contains this, in any case
	Used bool   // only types that have objects
	Scan ScanOptions
}

// LoadedTypes lists the types that the runtime has loaded, with their objects
// counted: by module and token, then arrays and generic instances. Without a
// heap, which is nil then, objects are not counted. What a row lacks comes as an
// error in front of it.
func LoadedTypes(ctx context.Context, rt *dac.Runtime, h *Heap, o LoadedTypesOptions) iter.Seq2[answer.LoadedType, error] {
	return func(yield func(answer.LoadedType, error) bool) {
		counts, err := countTypes(ctx, h, o.Scan)
		if err != nil && !yield(answer.LoadedType{}, err) {
			return
		}
		part := strings.ToLower(o.Name)
		for mt, err := range rt.LoadedTypes() {
			if ctx.Err() != nil {
				yield(answer.LoadedType{}, ctx.Err())
				return
			}
			if err != nil {
				if !yield(answer.LoadedType{}, err) {
					return
				}
				continue
			}
			row := answer.LoadedType{MethodTable: mt.Addr, BaseSize: mt.BaseSize}
			row.Name.S, row.Name.Err = rt.TypeName(mt.Addr, dac.NameManaged)
			n := counts[mt.Addr]
			if counts != nil {
				row.Count, row.Size = &n.Count, &n.Size
			}
			switch {
			case row.Name.Err != nil && !yield(answer.LoadedType{}, row.Name.Err):
				return
			case o.Used && n.Count == 0 || !strings.Contains(strings.ToLower(row.Name.String()), part):
			case !yield(row, nil):
				return
			}
		}
	}
}

// countTypes counts the heap's objects by type; nil without a heap.
func countTypes(ctx context.Context, h *Heap, o ScanOptions) (map[target.Addr]TypeStats, error) {
	if h == nil {
		return nil, nil
	}
	stats, err := h.Stats(ctx, nil, o)
	if err != nil {
		return nil, err
	}
	counts := make(map[target.Addr]TypeStats, len(stats.Types))
	for _, t := range stats.Types {
		counts[t.Type.Addr] = t
	}
	return counts, nil
}
