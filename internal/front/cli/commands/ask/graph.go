package ask

import (
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/target"
)

// GraphOptions returns the options for building the object graph, with a progress display.
func GraphOptions(c *cli.Context) graph.Options {
	p := c.Progress("building the graph of objects")
	return graph.Options{Jobs: c.Jobs, Progress: func(at graph.Progress) { p.Set(at.Done, at.Total) }}
}

// Holders returns the holders of objects. It fails if the heap cannot be walked, and warns if a collection was in
// progress.
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

// NoteKept warns, at the end of the command, of problems with the files of -graph-dir.
func NoteKept(c *cli.Context, g *graph.Graph) {
	c.AtEnd(func() {
		for _, err := range g.Notes() {
			c.Warn(err)
		}
	})
}

// Liveness selects live or dead objects.
type Liveness struct {
	Live bool `opt:"live" help:"only objects that something keeps alive (see gcroot)"`
	Dead bool `opt:"dead" help:"only objects that nothing keeps alive, and free blocks"`
}

// Starts returns a filter by the start address of objects, or nil for all objects. Both options together select all
// objects, as in SOS. It warns of missing parts of the graph, since they may keep objects alive.
func (l *Liveness) Starts(c *cli.Context) (func(target.Addr) bool, error) {
	if l.Live == l.Dead {
		return nil, nil
	}
	is, err := Live(c)
	if err != nil || l.Live {
		return is, err
	}
	return func(a target.Addr) bool { return !is(a) }, nil
}

// Live returns a function that reports whether a live object starts at an address.
func Live(c *cli.Context) (func(target.Addr) bool, error) {
	g, err := liveGraph(c)
	if err != nil {
		return nil, err
	}
	return g.LiveStarts(c.Context())
}

// liveGraph returns the object graph and warns of its missing parts.
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

// Chosen returns a filter for the objects that f and l select.
func Chosen(c *cli.Context, h *heap.Heap, f *Filter, l *Liveness) (*heap.Filter, error) {
	out, err := f.Of(c, h)
	if err != nil {
		return nil, err
	}
	if out.Start, err = l.Starts(c); err != nil || out.Start == nil || l.Dead {
		return out, err
	}
	g, err := View(c).Graph(c.Context(), GraphOptions(c))
	if err != nil {
		return nil, err
	}
	out.Counts = g.CountLive
	return out, nil
}
