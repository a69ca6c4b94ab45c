package heapdiff

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// PathDepth is the maximum number of nodes of a path. Deeper nodes are counted at the last one.
const PathDepth = 48

// Paths holds the shortest paths from the roots to all live objects, merged by the names on them. Consecutive objects
// of the same type, such as the links of a list, are one node.
type Paths struct {
	nodes []pathNode // parents first, starting with the root
}

type pathNode struct {
	parent uint32
	depth  uint32
	name   string
	own    Count
	source bool // not an object: a kind of roots, a static field, a frame
}

// summarizePaths merges the paths of a graph into s, on all processors. If there are too many different paths, it
// starts again with a single goroutine that visits the objects in order, because the order of discovery decides which
// paths are omitted.
func (s *Summary) summarizePaths(ctx context.Context, g *graph.Graph, names *graph.Names, o GraphOptions) error {
	reach, err := g.Reach(ctx)
	if err != nil {
		return err
	}
	places, err := offheap.Make[uint32](offheap.BudgetOf(ctx), g.Nodes())
	if err != nil {
		return err
	}
	defer places.Free()
	m := &pathMerger{g: g, reach: reach, names: names, types: newTypeNames(g.Heap().Runtime()), most: cmp.Or(o.most, limits.PathNodes), place: places.Slice(),
		labels: make([]string, len(g.Types()))}
	if err = m.run(ctx, cmp.Or(o.Jobs, runtime.GOMAXPROCS(0))); err == nil && m.isFull() && o.Jobs != 1 {
		clear(m.place)
		err = m.run(ctx, 1)
	}
	if err != nil {
		return err
	}
	for _, n := range slices.Sorted(maps.Keys(m.notes)) {
		s.Note(m.notes[n])
	}
	if m.beyond > 0 {
		s.Note(target.Unsupportedf("more than %d different paths: %d objects count for their holders", m.most, m.beyond))
	}
	s.Paths = &m.paths
	return nil
}

type pathKey struct {
	parent uint32
	name   string
}

// A pathMerger finds the place of each node in the merged paths. The place depends only on the names on the path, so
// several goroutines may find it at the same time.
type pathMerger struct {
	g     *graph.Graph
	reach *graph.Reach
	names *graph.Names
	most  int      // maximum number of nodes
	place []uint32 // by node: 1 + its place in paths, 0 if unknown; accessed by all workers

	mu     sync.Mutex // guards the following fields
	types  *typeNames
	paths  Paths
	at     map[pathKey]uint32
	labels []string // by index of the type
	notes  map[graph.Node]error
	beyond uint64
}

// mergePiece is the number of objects that a worker takes at once.
const mergePiece = 1 << 14

// run counts all live objects at their places. With several workers it ends early if there are too many places.
func (m *pathMerger) run(ctx context.Context, jobs int) error {
	m.paths.nodes, m.at = []pathNode{{name: "roots", source: true}}, map[pathKey]uint32{}
	m.notes, m.beyond = map[graph.Node]error{}, 0
	m.place[m.g.Root()] = 1
	var next atomic.Int64
	var group workers.Group
	for range jobs {
		group.Go(func() {
			w := pathWorker{pathMerger: m, alone: jobs == 1}
			defer w.done()
			for ctx.Err() == nil && (jobs == 1 || !m.isFull()) {
				from := int(next.Add(mergePiece)) - mergePiece
				if from >= m.g.Objects() {
					return
				}
				for n := from; n < min(from+mergePiece, m.g.Objects()); n++ {
					if m.reach.Live(graph.Node(n)) {
						w.add(graph.Node(n))
					}
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// isFull reports whether there were too many places.
func (m *pathMerger) isFull() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.beyond > 0
}

// A pathWorker counts objects for their places. It is not safe for concurrent use.
type pathWorker struct {
	*pathMerger
	alone bool    // no other worker uses place, so no atomic access is needed, which would double the time
	own   []Count // by node of paths
	above []graph.Node
	// last caches recent places, because objects of a kind are close together.
	last [1 << 12]struct {
		parent, typ, place uint32 // the type is 1 + its index
	}
}

func (w *pathWorker) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, c := range w.own {
		w.paths.nodes[i].own.add(c)
	}
}

// add counts an object at its place.
func (w *pathWorker) add(n graph.Node) {
	p := w.placeOf(n)
	if int(p) >= len(w.own) {
		w.own = append(w.own, make([]Count, int(p)+1-len(w.own))...)
	}
	w.own[p].add(Count{1, w.g.Size(n)})
}

func (w *pathWorker) placeOf(n graph.Node) uint32 {
	w.above = w.above[:0]
	p := w.loadPlace(n)
	for p == 0 {
		w.above = append(w.above, n)
		n = w.reach.Parent(n)
		p = w.loadPlace(n)
	}
	p--
	for i := len(w.above) - 1; i >= 0; i-- {
		p = w.placeBelow(p, w.above[i])
		w.storePlace(w.above[i], p+1)
	}
	return p
}

// loadPlace returns 1 + the place of a node, or 0 if unknown.
func (w *pathWorker) loadPlace(n graph.Node) uint32 {
	if w.alone {
		return w.place[n]
	}
	return atomic.LoadUint32(&w.place[n])
}

// storePlace stores 1 + the place of a node.
func (w *pathWorker) storePlace(n graph.Node, p uint32) {
	if w.alone {
		w.place[n] = p
	} else {
		atomic.StoreUint32(&w.place[n], p)
	}
}

// placeBelow returns the place of n, given its parent's place.
func (w *pathWorker) placeBelow(parent uint32, n graph.Node) uint32 {
	if !w.g.IsObject(n) {
		return w.source(parent, n)
	}
	typ := uint32(w.g.TypeIndex(n)) + 1
	e := &w.last[(parent*0x9e3779b1^typ*0x85ebca6b)>>20]
	if e.parent != parent || e.typ != typ {
		e.parent, e.typ, e.place = parent, typ, w.object(parent, int(typ-1))
	}
	return e.place
}

// object returns the place for objects of a type, given its index.
func (m *pathMerger) object(parent uint32, index int) uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.child(parent, m.label(index), false)
}

// child returns the place for a name. The caller holds mu.
func (m *pathMerger) child(parent uint32, name string, source bool) uint32 {
	above := &m.paths.nodes[parent]
	if above.name == name || above.depth >= PathDepth {
		return parent
	}
	key := pathKey{parent, name}
	p, ok := m.at[key]
	if !ok {
		if len(m.paths.nodes) >= m.most {
			m.beyond++
			return parent
		}
		p = uint32(len(m.paths.nodes))
		m.paths.nodes = append(m.paths.nodes, pathNode{parent: parent, depth: above.depth + 1, name: name, source: source})
		m.at[key] = p
	}
	return p
}

// label returns the name of a type. The caller holds mu.
func (m *pathMerger) label(index int) string {
	if m.labels[index] == "" {
		key, err := m.types.key(m.g.Types()[index])
		if m.labels[index] = key.Name; err != nil {
			m.labels[index] = answer.Absent(err)
		}
	}
	return m.labels[index]
}

// source returns the place for a node that is not an object. Threads have no name that is the same in another dump.
func (m *pathMerger) source(parent uint32, n graph.Node) uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := m.g.Source(n).Kind
	name := kind.String()
	if kind != graph.SourceThread {
		own, err := m.names.Source(n)
		switch {
		case err != nil:
			m.notes[n] = err
			name += " " + answer.Absent(err)
		case own != "":
			name = own
		}
	}
	return m.child(parent, name, true)
}
