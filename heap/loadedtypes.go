package heap

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// LoadedTypesOptions selects loaded types. The zero value selects all.
type LoadedTypesOptions struct {
	Name    string        // only types with this in their name, ignoring case
	Modules []target.Addr // only types of these modules; nil for all
	Used    bool          // only types that have objects
	Scan    ScanOptions
}

// LoadedTypes lists the types that the runtime has loaded, with their object counts: by module and token, then
// arrays and generic instances. With a nil h it does not count objects. If a part of the heap is unreadable, a
// type without a counted object has no count. An error before a row is about that row; errors about counts come
// first.
func LoadedTypes(ctx context.Context, rt *dac.Runtime, h *Heap, o LoadedTypesOptions) iter.Seq2[answer.LoadedType, error] {
	return func(yield func(answer.LoadedType, error) bool) {
		counts, lacks := countTypes(ctx, h, o.Scan)
		for _, err := range lacks {
			if !yield(answer.LoadedType{}, err) {
				return
			}
		}
		whole := h != nil && len(lacks) == 0 && len(h.Lost()) == 0
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
			if o.Modules != nil && !slices.Contains(o.Modules, mt.Module) {
				continue
			}
			row := answer.LoadedType{MethodTable: mt.Addr, BaseSize: mt.BaseSize}
			row.Name.S, row.Name.Err = rt.TypeName(mt.Addr, dac.NameManaged)
			n := counts[mt.Addr]
			if n.Count != 0 || whole {
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

// countTypes counts the heap's objects by type. It also returns errors for unreadable parts. It returns nil
// without a heap.
func countTypes(ctx context.Context, h *Heap, o ScanOptions) (map[target.Addr]TypeStats, []error) {
	if h == nil {
		return nil, nil
	}
	stats, err := h.Stats(ctx, nil, o)
	if err != nil {
		return nil, []error{err}
	}
	var gaps answer.Gaps
	if err := stats.Note(&gaps); err != nil {
		return nil, []error{err}
	}
	counts := make(map[target.Addr]TypeStats, len(stats.Types))
	for _, t := range stats.Types {
		counts[t.Type.Addr] = t
	}
	return counts, gaps.Noted()
}
