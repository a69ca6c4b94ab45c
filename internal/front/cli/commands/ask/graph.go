package ask

import (
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/target"
)

// GraphOptions returns the options of building the graph of objects, with a progress display.
func GraphOptions(c *cli.Context) graph.Options {
	p := c.Progress("building the graph of objects")
	return graph.Options{Jobs: c.Jobs, Progress: func(at graph.Progress) { p.Set(at.Done, at.Total) }}
}

// Holders returns what answers questions about holders. A heap that can't be walked at all is an error; one that a
// collection was changing is a warning.
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

// Liveness chooses objects by whether something keeps them alive.
type Liveness struct {
	Live bool `opt:"live" help:"only objects that something keeps alive (see gcroot)"`
	Dead bool `opt:"dead" help:"only objects that nothing keeps alive, and free blocks"`
}

// Starts returns the filter that l chooses, by where objects start; nil for all objects. Both options together choose
// all, as in SOS. What the graph lacks is a warning, because an object may live by what can't be read.
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

// liveGraph returns the graph of objects, and warns of what it lacks.
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

// Chosen makes a filter of what f and l choose.
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
