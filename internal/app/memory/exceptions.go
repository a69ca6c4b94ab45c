package memory

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
)

// HeapExceptions lists the exception objects on the heap that f selects, in the order of addresses. A nil f selects all.
// Each row has the message and the innermost frame. A place where the walk of the heap had to skip memory is a missing
// row.
func HeapExceptions(ctx context.Context, r *objects.Reader, h *heap.Heap, f *heap.Filter, o heap.ScanOptions) *answer.Exceptions {
	a := &answer.Exceptions{Count: answer.Missing[uint64](answer.ErrUnread)}
	only := heap.Filter{}
	if f != nil {
		only = *f
	}
	also := only.Type
	only.Type = func(mt *dac.MethodTable) bool {
		is, err := r.Runtime().IsException(mt)
		return err == nil && is && (also == nil || also(mt))
	}
	a.Exceptions = answer.NewRows(&a.Gaps, func(yield func(answer.HeapException, error) bool) error {
		n := uint64(0)
		list := h.List(ctx, heap.ListOptions{Filter: &only, OnlyObjects: true, Scan: o})
		for x, err := range list.Objects.All() {
			var row answer.HeapException
			if err == nil {
				n++
				row = exception(&a.Gaps, r, &x)
			}
			if !yield(row, err) {
				return nil
			}
		}
		if list.Failure() == nil {
			a.Count = answer.Known(n)
		}
		return nil
	})
	return a
}

// exception returns the row of an exception object. It records missing parts in g.
func exception(g *answer.Gaps, r *objects.Reader, o *answer.HeapObject) answer.HeapException {
	row := answer.HeapException{Address: o.Address, MethodTable: o.MethodTable}
	row.Type = g.Text(r.Runtime().TypeName(o.MethodTable, dac.NameManaged))
	x, err := dac.CodeOf(r.Runtime()).DescribeException(o.Address, dac.ExceptionOptions{Brief: true})
	if err != nil {
		text := g.Text("", err)
		row.Message = &text
		return row
	}
	g.NoteAll(x.Noted())
	row.Message = x.Message
	if len(x.Frames) > 0 {
		row.Frame = x.Frames[0].Method
	} else {
		row.Frame = answer.Text{Err: x.TraceError}
	}
	return row
}
