package heap

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// handleTypes lists the handle types in the order in which SOS counts them.
var handleTypes = [...]HandleType{HandleStrong, HandlePinned, HandleAsyncPinned, HandleRefCounted, HandleWeakLong, HandleWeakShort,
	HandleWeakNativeCOM, HandleWeakInteriorPointer, HandleVariable, HandleSizedRef, HandleDependent, HandleCrossReference}

// ParseHandleType returns the handle type with a name such as Pinned, without regard to case, or false.
func ParseHandleType(name string) (HandleType, bool) {
	for _, t := range handleTypes {
		if strings.EqualFold(name, t.String()) {
			return t, true
		}
	}
	return 0, false
}

// ListHandles lists and counts the handles of the given types, or of all types, that refer to an object. An unreadable
// part of a table is a missing row. The list fails if all are unreadable. ListHandles returns ctx's error.
func (h *Heap) ListHandles(ctx context.Context, types ...HandleType) (*answer.Handles, error) {
	a := &answer.Handles{Heaps: len(h.subHeaps), All: len(types) == 0, Count: answer.Missing[uint64](answer.ErrUnread)}
	var list []Handle
	var lost []error
	for e, err := range h.Handles() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			lost = append(lost, err)
		}
		if e.Object != 0 && (a.All || slices.Contains(types, e.Type)) {
			list = append(list, e)
		}
	}
	if len(list) == 0 && len(lost) > 0 {
		a.Fail(lost[0])
		a.Handles = answer.NewRows(&a.Gaps, func(func(answer.Handle, error) bool) error { return nil })
		return a, nil
	}
	slices.SortStableFunc(list, func(a, b Handle) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Type, b.Type))
	})
	system, err := h.Runtime().SystemDomain()
	a.SystemDomain = answer.Of(system, err)
	domain, err := h.Runtime().AppDomain()
	a.AppDomain = answer.Of(domain.Addr, err)
	a.Handles = h.handleRows(ctx, a, list, lost)
	return a, nil
}

// handleRows yields the rows of handles and what was lost, and then adds their counts to a.
func (h *Heap) handleRows(ctx context.Context, a *answer.Handles, list []Handle, lost []error) iter.Seq2[answer.Handle, error] {
	return answer.NewRows(&a.Gaps, func(yield func(answer.Handle, error) bool) error {
		var tally answer.HandleTally
		names := map[target.Addr]answer.Text{}
		for i := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := h.handleRow(&a.Gaps, &list[i], names)
			tally.Add(&row)
			if !yield(row, nil) {
				return nil
			}
		}
		for _, err := range lost {
			if !yield(answer.Handle{}, err) {
				return nil
			}
		}
		a.Types, a.Counts, a.Count = tally.Types(), nil, answer.Known(tally.Count)
		for _, t := range handleTypes {
			if n := tally.Of(t.String()); n != 0 {
				a.Counts = append(a.Counts, answer.HandleCount{Type: t.String(), Count: n})
			}
		}
		return nil
	})
}

func (h *Heap) handleRow(g *answer.Gaps, e *Handle, names map[target.Addr]answer.Text) answer.Handle {
	row := answer.Handle{Address: e.Addr, Type: e.Type.String(), Object: e.Object, Dependent: e.Dependent(), Table: e.Table}
	if e.Type != HandleDependent {
		row.Extra = target.Addr(e.Extra)
	}
	o, err := h.ObjectAt(e.Object)
	if err != nil {
		row.ObjectType = g.Text("", fmt.Errorf("object of handle %016x: %w", uint64(e.Addr), err))
		return row
	}
	row.Size, row.MethodTable = o.Size, o.Type.Addr
	name, ok := names[o.Type.Addr]
	if !ok {
		name = g.Text(h.Runtime().TypeName(o.Type.Addr, dac.NameNative))
		names[o.Type.Addr] = name
	}
	row.ObjectType = name
	return row
}
