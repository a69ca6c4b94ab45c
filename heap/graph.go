package heap

import (
	"context"

	"github.com/sosgo/sosgo/target"
)

// A Node is an object with its references: a node of the object graph and its edges.
type Node struct {
	Object     Object
	References []target.Addr // in memory order; valid during the call
	Err        error         // why References are incomplete: the first *GCDescError or *target.MemoryError
}

// GraphOptions control Graph.
type GraphOptions struct {
	EdgeOptions
	ScanOptions
}

// Graph calls visit with the objects that f selects and their references. It calls in address order from the caller's
// goroutine, independent of the number of workers that read them. A nil f selects all. See Roots for references outside
// of objects. Graph returns ctx's error or the first error of visit. The Stats count the visited objects.
func (h *Heap) Graph(ctx context.Context, f *Filter, o GraphOptions, visit func(*Node) error) (Stats, error) {
	total := NewCounter(h, f)
	err := Scan(ctx, h, f, o.ScanOptions, func() *graphCollector {
		return &graphCollector{Counter: NewCounter(h, f), edges: h.Edges(o.EdgeOptions)}
	}, func(c *graphCollector) error {
		total.Add(c.Counter)
		return c.each(visit)
	})
	return total.Stats(), err
}

// A graphCollector keeps the nodes of a run. Their references are consecutive, so an object needs no allocation.
type graphCollector struct {
	*Counter
	edges *Edges
	nodes []graphNode
	refs  []target.Addr
}

type graphNode struct {
	object Object
	end    int // end of its references in refs
	err    error
}

func (c *graphCollector) Objects(s *Segment, batch []Object) {
	for i := range batch {
		if o := &batch[i]; c.sieve.Pass(o) {
			c.countOne(s, o)
			c.add(o)
		}
	}
}

func (c *graphCollector) add(o *Object) {
	n := graphNode{object: *o}
	if refs, ok := c.edges.Whole(c.refs, o); ok {
		c.refs, n.end = refs, len(refs)
		c.nodes = append(c.nodes, n)
		return
	}
	for ref, err := range c.edges.Of(o) {
		if err != nil {
			n.err = err
			break
		}
		c.refs = append(c.refs, ref.Target)
	}
	n.end = len(c.refs)
	c.nodes = append(c.nodes, n)
}

func (c *graphCollector) Reset() {
	c.Counter.Reset()
	c.nodes, c.refs = c.nodes[:0], c.refs[:0]
}

func (c *graphCollector) each(visit func(*Node) error) error {
	from := 0
	for i := range c.nodes {
		n := &c.nodes[i]
		if err := visit(&Node{Object: n.object, References: c.refs[from:n.end:n.end], Err: n.err}); err != nil {
			return err
		}
		from = n.end
	}
	return nil
}
