package process

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/roots"
)

// Graph returns the graph of the heap's objects and of what keeps them alive. The first caller builds it with its options, and all share
// it; Jobs of 0 means Options.Jobs. It is closed with the dump. A failed graph is not kept: the next caller builds it anew. The largest
// MaxMemory of all callers bounds its memory. A heap without a readable object is an error.
func (p *Process) Graph(ctx context.Context, o graph.Options) (*graph.Graph, error) {
	p = p.orNone()
	g, err := p.graph.GetContext(background(ctx), func(ctx context.Context) (*graph.Graph, error) { return p.buildGraph(ctx, o) })
	if err != nil {
		return nil, err
	}
	g.Allow(o.MaxMemory)
	return g, nil
}

// buildGraph builds the graph while the dump is open.
func (p *Process) buildGraph(ctx context.Context, o graph.Options) (*graph.Graph, error) {
	ctx, done, err := p.dump.users.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	h, err := p.Heap()
	if err != nil {
		return nil, err
	}
	if err := h.Unread(); err != nil {
		return nil, err
	}
	reader, err := p.RootReader()
	if err != nil {
		return nil, err
	}
	roots, err := graph.RootsOf(ctx, h, reader)
	if err != nil {
		return nil, err
	}
	o = p.building(ctx, o)
	if o.Keep == nil && p.dump.options.GraphDir != "" {
		if o.Keep, err = p.keep(); err != nil {
			return nil, err
		}
	}
	g, err := graph.Build(ctx, h, roots, o)
	if err != nil {
		return nil, err
	}
	if warnings := g.Stats().Warnings(); g.Objects() == 0 && len(warnings) > 0 {
		g.Close()
		return nil, fmt.Errorf("no object of the heap can be read: %w", warnings[0])
	}
	return g, nil
}

// keep returns how the graph is kept in Options.GraphDir. The names of its files begin with that of the dump and a
// number of its content, so that those of dumps with the same name don't get into each other's way; that it is of a
// certain time makes sure that what is kept of a dump is not believed once it was written again.
func (p *Process) keep() (*graph.Keep, error) {
	d := p.dump
	fingerprint, err := d.file.Fingerprint()
	if err != nil {
		return nil, err
	}
	name := "dump"
	k := &graph.Keep{Dir: d.options.GraphDir, Dump: fingerprint, NoMmap: d.options.NoMmap}
	if path := d.file.Path; path != "" {
		name = filepath.Base(path)
		if info, err := os.Stat(path); err == nil {
			k.Dump = info.ModTime().UTC().AppendFormat(k.Dump, time.RFC3339Nano)
		}
	}
	k.Name = fmt.Sprintf("%.100s-%x", name, fingerprint[:8])
	if i := slices.Index(d.Runtimes(), p.inst); i > 0 {
		k.Name += fmt.Sprintf("-%d", i)
	}
	return k, nil
}

// Holders answers what holds objects, by the Graph, which is built with o if nobody has yet.
func (p *Process) Holders(ctx context.Context, o graph.Options) (*graph.Holders, error) {
	p = p.orNone()
	ctx, done, err := p.dump.users.Use(background(ctx))
	if err != nil {
		return nil, err
	}
	defer done()
	g, err := p.Graph(ctx, o)
	if err != nil {
		return nil, err
	}
	objects, err := p.Objects()
	if err != nil {
		return nil, err
	}
	reader, err := p.RootReader()
	if err != nil {
		return nil, err
	}
	return graph.NewHolders(g, objects, reader), nil
}

// closeGraphs gives the memory of the graphs back, and forgets them: memory that is given back
// must not be found again by who uses the dump when it is closed, for to touch it ends the process.
func (d *Dump) closeGraphs() {
	d.mu.Lock()
	processes := slices.Collect(maps.Values(d.processes))
	d.mu.Unlock()
	for _, p := range processes {
		if g, ok := p.graph.Take(); ok {
			g.Close()
		}
	}
}

// RootReader reads what keeps the objects of the runtime's heap alive; see package
// roots. Where stacks can't be walked at all, its All says so.
func (p *Process) RootReader() (*roots.Reader, error) {
	p = p.orNone()
	return p.roots.Get(func() (*roots.Reader, error) {
		h, err := p.Heap()
		if err != nil {
			return nil, err
		}
		objects, err := p.Objects()
		if err != nil {
			return nil, err
		}
		walker, err := p.Walker()
		if err != nil {
			return nil, err
		}
		return roots.New(h, objects, walker, p.Threads), nil
	})
}

// Roots iterates over what keeps objects of the runtime alive: roots.Reader.All with all strong roots. What can't be read is an error of
// the iteration, and the rest goes on; so does the context's error, which is the last. An object may be a root several times.
func (p *Process) Roots(ctx context.Context) iter.Seq2[roots.Root, error] {
	r, err := p.RootReader()
	if err != nil {
		return func(yield func(roots.Root, error) bool) { yield(roots.Root{}, err) }
	}
	return r.All(ctx, roots.Options{})
}
