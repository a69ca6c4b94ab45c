package memory

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// held computes an answer from the process's Holders.
func held[T any](ctx context.Context, p *process.Process, compute func(ctx context.Context, c *process.Call, h *graph.Holders) (T, error)) (T, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (none T, err error) {
		h, err := c.NotedHolders()
		if err != nil {
			return none, err
		}
		return compute(ctx, c, h)
	})
}

// GCRoot lists what keeps an object alive: a path to it from each kind of root.
func GCRoot(ctx context.Context, p *process.Process, object target.Addr, o graph.HoldOptions) (*answer.RootPaths, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.RootPaths, error) {
		return h.RootPaths(ctx, object, o)
	})
}

// PathTo returns a path by which one object keeps another alive.
func PathTo(ctx context.Context, p *process.Process, from, to target.Addr, order graph.PathOrder) (*answer.ObjectPath, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.ObjectPath, error) {
		return h.PathTo(ctx, from, to, order)
	})
}

// Retained counts the bytes freed without the objects of each type, assembly, namespace or generation.
func Retained(ctx context.Context, p *process.Process, o graph.RetainedOptions) (*answer.Retained, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Retained, error) {
		return h.Retained(ctx, o)
	})
}

// RetainedBy counts the bytes freed without each of the objects, and lists up to types of their types; 0 lists all.
func RetainedBy(ctx context.Context, p *process.Process, objects []target.Addr, types int) (*answer.Retained, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Retained, error) {
		return h.RetainedBy(ctx, objects, types)
	})
}

// Dominators returns the tree of the objects that own most of the heap.
func Dominators(ctx context.Context, p *process.Process, o graph.TreeOptions) (*answer.Dominators, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Dominators, error) {
		return h.DominatorTree(ctx, o)
	})
}

// DominatorsOf lists the owners of an object, and at most top objects that it owns; 0 lists all.
func DominatorsOf(ctx context.Context, p *process.Process, object target.Addr, top int) (*answer.Dominators, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Dominators, error) {
		return h.DominatorsOf(ctx, object, top)
	})
}

// DominatorChildren lists the objects that an object owns directly, or the objects without an owner, the largest first.
func DominatorChildren(ctx context.Context, p *process.Process, o graph.ChildOptions) (*answer.Dominators, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Dominators, error) {
		return h.DominatorChildren(ctx, o)
	})
}

// Referrers lists what refers to an object.
func Referrers(ctx context.Context, p *process.Process, object target.Addr, o graph.LinkOptions) (*answer.Links, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Links, error) {
		return h.Referrers(ctx, object, o)
	})
}

// Referents lists what an object refers to.
func Referents(ctx context.Context, p *process.Process, object target.Addr, o graph.LinkOptions) (*answer.Links, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Links, error) {
		return h.Referents(ctx, object, o)
	})
}

// HandlesHold counts the bytes freed without each GC handle.
func HandlesHold(ctx context.Context, p *process.Process, o graph.HandleOptions) (*answer.Handles, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Handles, error) {
		hold, err := h.HandlesHold(ctx, o)
		if err != nil {
			return nil, err
		}
		out := &answer.Handles{Hold: hold, Count: answer.Known(uint64(len(hold.Rows) + hold.More))}
		out.NoteAll(hold.Noted())
		return out, nil
	})
}

// Closure lists what an object keeps alive directly or through others.
func Closure(ctx context.Context, p *process.Process, object target.Addr, o graph.KeepOptions) (*answer.Closure, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Closure, error) {
		o.Scan = c.Scan("scanning the heap", o.Scan)
		return h.KeptBy(ctx, object, o)
	})
}

// ClosureOfType is Closure for all objects of a type together.
func ClosureOfType(ctx context.Context, p *process.Process, methodTable target.Addr, o graph.KeepOptions) (*answer.Closure, error) {
	return held(ctx, p, func(ctx context.Context, c *process.Call, h *graph.Holders) (*answer.Closure, error) {
		o.Scan = c.Scan("scanning the heap", o.Scan)
		return h.KeptByType(ctx, methodTable, o)
	})
}
