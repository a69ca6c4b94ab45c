package sosgo

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
)

// HeapGraph tells of the heap as a graph: types, roots, and objects with what
// they refer to, which are read while the answer's list is. What can't be read
// is noted in the answer.
func (v *View) HeapGraph(ctx context.Context, o heap.ScanOptions) (*answer.HeapGraph, error) {
	h, err := v.Heap()
	if err != nil {
		return nil, err
	}
	g, err := h.Describe(ctx, o)
	if err != nil {
		return nil, err
	}
	for r, err := range v.Roots(ctx) {
		if err != nil {
			g.Note(err)
			continue
		}
		g.Roots = append(g.Roots, answer.HeapRoot{Kind: r.Kind.String(), Object: r.Object})
	}
	return g, nil
}
