package web

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A defaultPool is a pool of Microsoft.Extensions.ObjectPool. It keeps one object in a field and the others in a queue.
// Up to version 7 it keeps them in an array of wrappers, with the maximum as its length.
type defaultPool struct {
	_     objects.Shape    `of:"Microsoft.Extensions.ObjectPool.DefaultObjectPool<>"`
	Fast  objects.RefField `field:"_fastItem|_firstItem"`
	Count objects.IntField `field:"_numItems,optional"`
	Most  objects.IntField `field:"_maxCapacity,optional"`
	Items objects.RefField `field:"_items"`
}

type pooledItem struct {
	_       objects.Shape    `of:"Microsoft.Extensions.ObjectPool.DefaultObjectPool<>+ObjectWrapper"`
	Element objects.RefField `field:"Element"`
}

// ObjectPools lists the pools of Microsoft.Extensions.ObjectPool.
func (r *Reader) ObjectPools(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.ObjectPools, error) {
	out := &answer.ObjectPools{Pools: []answer.ObjectPool{}}
	g := r.reading(&out.Gaps)
	wanted := map[target.Addr]bool{}
	for object := range shapes.ReadObjects[*defaultPool](ctx, g, h, o) {
		if s, x := shapes.BindAs[*defaultPool](g, object); s != nil {
			out.Pools = append(out.Pools, r.objectPool(g, object, s, x))
			wanted[object.Addr] = true
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	names, err := flows.Names(ctx, r.b, h, wanted, flows.NamesOptions{Walk: true, Scan: o})
	g.Note(err)
	for i := range out.Pools {
		out.Pools[i].Name = names[out.Pools[i].Address].Text
	}
	return out, ctx.Err()
}

// objectPool describes a pool.
func (r *Reader) objectPool(g shapes.Reading, o objects.Object, s *defaultPool, x objects.Instance) answer.ObjectPool {
	out := answer.ObjectPool{Address: o.Addr, Of: g.TypeText(o), Retained: g.IntAt(&s.Count, x), Max: g.IntAt(&s.Most, x)}
	if _, of, ok := strings.Cut(out.Of.S, "<"); ok {
		out.Of.S = strings.TrimSuffix(of, ">")
	}
	if !s.Count.Has() {
		r.wrapped(g, &out, g.ObjectAt(&s.Items, x))
	}
	fast := g.PointerAt(&s.Fast, x)
	out.Max = answer.Of(out.Max.Value+1, out.Max.Err()) // plus the object in the field
	if fast.Err() != nil {
		out.Retained = answer.Missing[int64](fast.Err())
	} else if fast.Value != 0 {
		out.Retained = answer.Of(out.Retained.Value+1, out.Retained.Err())
	}
	return out
}

// wrapped counts the objects of a pool with an array.
func (r *Reader) wrapped(g shapes.Reading, out *answer.ObjectPool, array objects.Object) {
	if array.Addr == 0 {
		return
	}
	s, a, err := objects.BindElements[*pooledItem](r.b, array)
	if err != nil {
		g.Note(err)
		out.Retained, out.Max = answer.Missing[int64](err), answer.Missing[int64](err)
		return
	}
	retained, lost := int64(0), error(nil)
	for i := range a.Len {
		item := g.PointerAt(&s.Element, a.Instance(i))
		if item.Err() != nil {
			lost = item.Err()
		} else if item.Value != 0 {
			retained++
		}
	}
	out.Retained, out.Max = answer.Of(retained, lost), answer.Known(int64(a.Len))
}
