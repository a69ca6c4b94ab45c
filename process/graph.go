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
)

// Graph returns the graph of the heap's objects and roots. The first call builds it with its options, and all callers
// share it. o.Jobs of 0 means Options.Jobs.
//
// A failed build is not kept: the next call builds again. It fails if no object of the heap is readable. Dump.Close
// closes the graph.
func (p *Process) Graph(ctx context.Context, o graph.Options) (*graph.Graph, error) {
	return p.graph.GetContext(ctx, func(ctx context.Context) (*graph.Graph, error) { return p.buildGraph(ctx, o) })
}

// buildGraph builds the graph while the dump is open.
func (p *Process) buildGraph(ctx context.Context, o graph.Options) (*graph.Graph, error) {
	ctx, done, err := p.dump.users.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx = p.dump.WithMaxMemory(ctx)
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

// keep returns where the graph is kept in Options.GraphDir. File names start with the dump's name and a hash, which
// separates dumps with the same name. The file's time detects a dump that was overwritten.
func (p *Process) keep() (*graph.Keep, error) {
	d := p.dump
	fingerprint, err := d.file.Fingerprint()
	if err != nil {
		return nil, err
	}
	name := "dump"
	k := &graph.Keep{Dir: d.options.GraphDir, Dump: fingerprint, NoMmap: d.options.NoMmap, Lost: d.Lost}
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

// Holders returns the reader of what keeps objects alive. It builds the Graph with o if necessary.
func (p *Process) Holders(ctx context.Context, o graph.Options) (*graph.Holders, error) {
	ctx, done, err := p.dump.users.Use(ctx)
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

// closeGraphs closes the graphs and removes them from d's processes. Their memory is unmapped, so a later caller must
// not find them: touching it would crash the program.
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

// RootReader returns the reader of the roots of the runtime's heap. If stacks cannot be walked, its All yields the
// reason.
func (p *Process) RootReader() (*graph.RootReader, error) {
	return p.roots.Get(func() (*graph.RootReader, error) {
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
		return graph.NewRootReader(h, objects, walker, p.Threads), nil
	})
}

// Roots iterates over all strong roots; see graph.RootReader.All. An unreadable part yields an error, and the iteration
// continues. The context's error ends it. An object may be a root several times.
func (p *Process) Roots(ctx context.Context) iter.Seq2[graph.Root, error] {
	r, err := p.RootReader()
	if err != nil {
		return func(yield func(graph.Root, error) bool) { yield(graph.Root{}, err) }
	}
	return r.All(ctx, graph.RootOptions{})
}
