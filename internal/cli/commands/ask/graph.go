package ask

import (
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/target"
)

// GraphOptions are those of whoever wants the graph of objects, with a progress display.
func GraphOptions(c *cli.Context) graph.Options {
	p := c.Progress("building the graph of objects")
	return graph.Options{Jobs: c.Jobs, Progress: func(at graph.Progress) { p.Set(at.Done, at.Total) }}
}

// Holders answers what holds objects. A heap that can't be walked at all is an error, and one that a collection was
// changing is told of.
func Holders(c *cli.Context) (*graph.Holders, error) {
	if _, err := ScannedHeap(c, false); err != nil {
		return nil, err
	}
	h, err := View(c).Holders(c.Context(), GraphOptions(c))
	if err == nil {
		NoteKept(c, h.Graph())
	}
	return h, err
}

// NoteKept warns at the end of the command of what went wrong with the files of -graph-dir.
func NoteKept(c *cli.Context, g *graph.Graph) {
	c.AtEnd(func() {
		for _, err := range g.Notes() {
			c.Warn(err)
		}
	})
}

// Liveness is what -live or -dead chooses, nil for all objects: by where objects start. Both together choose all, as in
// SOS. What the graph lacks is warned of, for an object may live by what can't be read.
func Liveness(c *cli.Context) (func(target.Addr) bool, error) {
	live, dead := c.Bool("live"), c.Bool("dead")
	if live == dead {
		return nil, nil
	}
	is, err := Live(c)
	if err != nil || live {
		return is, err
	}
	return func(a target.Addr) bool { return !is(a) }, nil
}

// Live tells of addresses whether an object that lives starts there.
func Live(c *cli.Context) (func(target.Addr) bool, error) {
	g, err := liveGraph(c)
	if err != nil {
		return nil, err
	}
	return g.LiveStarts(c.Context())
}

// LiveWithoutFinalizers is Live for what the finalizer queue does not keep alive alone.
func LiveWithoutFinalizers(c *cli.Context) (func(target.Addr) bool, error) {
	g, err := liveGraph(c)
	if err != nil {
		return nil, err
	}
	return g.LiveWithout(c.Context(), graph.SourceFinalizer)
}

// liveGraph is the graph for those who want to know what lives, with a warning of what it lacks.
func liveGraph(c *cli.Context) (*graph.Graph, error) {
	g, err := View(c).Graph(c.Context(), GraphOptions(c))
	if err != nil {
		return nil, err
	}
	NoteKept(c, g)
	for _, w := range g.Stats().Warnings() {
		c.Warn(w)
	}
	return g, nil
}

// Chosen is a filter of FilterOptions and of -live and -dead.
func Chosen(c *cli.Context, h *heap.Heap) (*heap.Filter, error) {
	f, err := Filter(c, h)
	if err != nil {
		return nil, err
	}
	if f.Start, err = Liveness(c); err != nil || f.Start == nil || c.Bool("dead") {
		return f, err
	}
	g, err := View(c).Graph(c.Context(), GraphOptions(c))
	if err != nil {
		return nil, err
	}
	f.Counts = g.CountLive
	return f, nil
}
