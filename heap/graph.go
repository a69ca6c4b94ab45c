package heap

import (
	"context"

	"github.com/sosgo/sosgo/target"
)

// A Node is an object with what it refers to: a node of the graph of objects
// and its edges.
type Node struct {
	Object     Object
	References []target.Addr // in the order of memory; valid during the call
	// Err says why References are not all: the first *GCDescError or
	// *target.MemoryError.
	Err error
}

// Graph passes the objects that f chooses, with what they refer to, to visit:
// in address order, by the caller's goroutine, whatever the number of workers
// that read them. A nil f chooses all. What is in no object, Roots tells. Graph
// ends with the context's error or visit's first one; the Stats are of the
// objects that were passed.
func (h *Heap) Graph(ctx context.Context, f *Filter, e EdgeOptions, o ScanOptions, visit func(*Node) error) (Stats, error) {
	total := NewCounter(h, f)
	err := Scan(ctx, h, f, o, func() *graphCollector {
		return &graphCollector{Counter: NewCounter(h, f), edges: h.Edges(e)}
	}, func(c *graphCollector) error {
		total.Add(c.Counter)
		return c.each(visit)
	})
	return total.Stats(), err
}

// A graphCollector keeps the nodes of a run. Their references lie one behind
// the other: nothing is allocated for each object.
type graphCollector struct {
	*Counter
	edges *Edges
	nodes []graphNode
	refs  []target.Addr
}

type graphNode struct {
	object Object
	end    int // of its references in refs
	err    error
}

func (c *graphCollector) Objects(s *Segment, batch []Object) {
	for i := range batch {
		if o := &batch[i]; c.sieve.Pass(o) {
			c.Count(s, o)
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
