package waste

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/process"
)

// Waste finds memory without content or with repeated content, and the places that refer to it.
func Waste(ctx context.Context, p *process.Process, o Options) (*answer.Waste, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Waste, error) {
		o.Scan = c.Scan("searching for waste", o.Scan)
		h, err := c.ObjectHeap()
		if err != nil {
			return nil, err
		}
		r, err := c.Objects()
		if err != nil {
			return nil, err
		}
		if o.OnlyLive && o.Live == nil {
			if o.Live, err = c.Live(); err != nil {
				return nil, err
			}
		}
		if o.Statics == nil {
			if o.Statics, err = statics(ctx, c, h); err != nil {
				return nil, err
			}
		}
		if o.Locals == nil {
			if o.Locals, err = locals(ctx, c); err != nil {
				return nil, err
			}
		}
		return Find(ctx, h, r, o)
	})
}

// statics lists the static fields that refer to objects. Unreadable fields are noted: their objects miss a holder.
func statics(ctx context.Context, c *process.Call, h *heap.Heap) ([]Static, error) {
	reader, err := c.RootReader()
	if err != nil {
		return nil, err
	}
	var list []Static
	missing, first := 0, error(nil)
	for s, err := range reader.Statics(ctx) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			missing, first = missing+1, cmp.Or(first, err)
			continue
		}
		out := Static{Slot: s.Slot, Object: s.Object, Table: s.Table}
		out.Name.S, out.Name.Err = s.Name()
		if out.Name.Err != nil {
			out.Name.Instead = "a field of " + h.Runtime().NamelessType(s.Field.Declaring.MT.Addr)
		}
		list = append(list, out)
	}
	if missing > 0 {
		c.Note(fmt.Errorf("%d static fields, or their types, can't be read: objects may lack holders: %w", missing, first))
	}
	return list, nil
}

// locals lists the references on the stacks of threads. Unreadable words are noted: their objects miss a holder.
func locals(ctx context.Context, c *process.Call) ([]Local, error) {
	reader, err := c.RootReader()
	if err != nil {
		return nil, err
	}
	var list []Local
	missing, first := 0, error(nil)
	for root, err := range reader.All(ctx, graph.RootOptions{}) {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case root.Kind != graph.RootStack:
		case err != nil:
			missing, first = missing+1, cmp.Or(first, err)
		default:
			name := func() answer.Text { return answer.Text{S: reader.Describe(ctx, &root).Name} }
			list = append(list, Local{Object: root.Object, Name: name})
		}
	}
	if missing > 0 {
		c.Note(fmt.Errorf("%d stacks, or words of them, can't be read: objects may lack holders: %w", missing, first))
	}
	return list, nil
}
