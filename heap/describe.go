package heap

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// Describe returns the heap as a graph. It counts types at once, and reads objects while the answer's list is
// consumed. The answer has the Roots of the heap; callers add roots on stacks. Objects that
// can't be read are missing rows of the list; references that can't be read are notes.
func (h *Heap) Describe(ctx context.Context, o ScanOptions) (*answer.HeapGraph, error) {
	free := h.Runtime().WellKnown().Free
	f := &Filter{Type: func(mt *dac.MethodTable) bool { return mt.Addr != free }}
	s, err := h.Stats(ctx, f, o)
	if err != nil {
		return nil, err
	}
	g := &answer.HeapGraph{}
	ids := map[target.Addr]int{}
	for i := range s.Types {
		ids[s.Types[i].Type.Addr] = len(g.Types)
		g.Types = append(g.Types, h.typeName(&g.Gaps, s.Types[i].Type))
	}
	g.Objects = h.graphObjects(ctx, g, f, o, ids)
	return g, nil
}

func (h *Heap) graphObjects(ctx context.Context, g *answer.HeapGraph, f *Filter, o ScanOptions, ids map[target.Addr]int) iter.Seq2[*answer.GraphObject, error] {
	return answer.NewRows(&g.Gaps, func(yield func(*answer.GraphObject, error) bool) error {
		blind := map[target.Addr]bool{} // types with unknown references that are already reported
		var row answer.GraphObject
		s, err := h.Graph(ctx, f, GraphOptions{ScanOptions: o}, func(n *Node) error {
			noteReferences(g, n, blind)
			mt := n.Object.Type.Addr
			row = answer.GraphObject{Address: n.Object.Addr, MethodTable: mt, Type: ids[mt], Size: n.Object.Size, References: n.References}
			if !yield(&row, nil) {
				return errEnough
			}
			return nil
		})
		if err == nil {
			err = s.unread()
		}
		if err != nil {
			return err
		}
		for _, err := range append(slices.Clone(h.Warnings()), s.lost()...) {
			if !yield(nil, err) {
				break
			}
		}
		return nil
	})
}

// noteReferences records why references of an object are missing, once per type.
func noteReferences(g *answer.HeapGraph, n *Node, blind map[target.Addr]bool) {
	var desc *GCDescError
	switch {
	case n.Err == nil:
	case !errors.As(n.Err, &desc):
		g.Note(fmt.Errorf("references of object %016x: %w", uint64(n.Object.Addr), n.Err))
	case !blind[desc.MethodTable]:
		blind[desc.MethodTable] = true
		g.Note(n.Err)
	}
}
