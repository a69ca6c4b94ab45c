package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// nameObjects finds the fields that hold objects. Without walk it only reads the static fields.
func (s *survey) nameObjects(wanted map[target.Addr]bool, walk bool, o heap.ScanOptions) error {
	names, err := flows.Names(s.ctx, s.r.b, s.r.heap, wanted, flows.NamesOptions{Walk: walk, Scan: o})
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	s.gaps.Note(err)
	if walk {
		s.nameByCollection(wanted, names, o)
	}
	s.names, s.classes, s.inside = map[target.Addr]string{}, map[target.Addr]string{}, map[target.Addr]target.Addr{}
	for a, name := range names {
		s.names[a], s.classes[a], s.inside[a] = name.Text, name.Class, name.Holder
	}
	s.alike = map[string]int{}
	for l := range s.uses {
		s.alike[s.names[l.Address]]++
	}
	s.alike[""] = 0
	for a, c := range s.bounded { // a semaphore of a collection is known by the name of that one
		name := s.names[c.collection]
		if name == "" || s.names[a] == "" {
			continue
		}
		field := freeNodes
		if c.items {
			field = occupiedNodes
		}
		s.names[a], s.classes[a] = name+"."+field, s.classes[c.collection]
	}
	return nil
}

// nameByCollection gives objects in a node of a collection of the class library the name of the field with the collection, and semaphores in a table of one, as those
// for keys are. It reads the graph of the heap, if there is one, and leaves other names as they are.
func (s *survey) nameByCollection(wanted map[target.Addr]bool, names map[target.Addr]flows.Name, o heap.ScanOptions) {
	var from []target.Addr
	for a := range wanted {
		if name, ok := names[a]; ok && name.Holder != 0 && s.isPart(name.Holder) || !ok && s.uses[s.byObj[a]] != nil {
			from = append(from, a)
		}
	}
	if len(from) == 0 || !s.code.HasGraph() {
		return
	}
	g, err := s.code.Graph()
	if err != nil {
		return
	}
	ctx, done, err := g.Use(s.ctx)
	if err != nil {
		return
	}
	defer done()
	d, err := g.Dominators(ctx)
	if err != nil {
		return
	}
	in, collections := map[target.Addr]target.Addr{}, map[target.Addr]bool{} // by object: the collection
	for _, a := range from {
		n, ok := g.Node(cmp.Or(names[a].Holder, a))
		if ok && names[a].Holder == 0 {
			n = d.Idom(n)
		}
		for range maxCarried {
			if !ok || !g.IsObject(n) || !s.isPart(g.Address(n)) {
				break
			}
			n = d.Idom(n)
		}
		if ok && g.IsObject(n) && strings.HasPrefix(s.typeOf(g.Address(n)).S, "System.Collections.") {
			in[a] = g.Address(n)
			collections[in[a]] = true
		}
	}
	of, err := flows.Names(s.ctx, s.r.b, s.r.heap, collections, flows.NamesOptions{Walk: true, Scan: o})
	s.gaps.Note(err)
	for a, c := range in {
		if name := of[c]; name.Text != "" {
			names[a] = flows.Name{Text: name.Text, Class: name.Class, Holder: names[a].Holder}
		}
	}
}

// isPart reports whether an object is a node of a collection of the class library, a table of its nodes, or an array.
func (s *survey) isPart(a target.Addr) bool {
	class := s.typeOf(a).S
	return strings.HasPrefix(class, "System.Collections.") && (strings.Contains(class, "+") || strings.HasSuffix(class, "[]"))
}

// promiseOwners finds what holds the promises that suspended code waits for: a collection or a TaskCompletionSource.
func (s *survey) promiseOwners() {
	wanted := map[target.Addr]bool{}
	for _, op := range s.ops {
		if op.thing.cause == tasks.CausePromise && op.thing.addr == 0 {
			wanted[op.leaf] = true
		}
	}
	for _, w := range s.waits {
		for _, l := range w.leaves {
			if l.cause == tasks.CausePromise {
				wanted[l.addr] = true
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	s.sources = map[target.Addr]target.Addr{}
	inside := map[target.Addr]bool{} // objects to which a carrier may refer
	for _, a := range s.found.promises {
		o, err := s.r.b.Objects().TrustedObject(a)
		if err != nil {
			continue
		}
		if k, x, err := objects.BindObject[*completionSource](s.r.b, o); err == nil {
			if t, err := k.Task.Addr(x); err == nil && wanted[t] {
				s.sources[t], inside[a] = a, true
			}
		}
	}
	holder := s.carried(inside)
	for _, op := range s.ops {
		if !wanted[op.leaf] || op.thing.cause != tasks.CausePromise || op.thing.addr != 0 {
			continue
		}
		at := s.sources[op.leaf]
		if at == 0 {
			continue
		}
		t := *op.thing
		t.source = at
		if t.addr = s.collection(at, holder); t.addr != 0 {
			t.typ = s.typeOf(t.addr)
		}
		t.removed = t.addr == 0 && len(holder[at]) > 0
		op.thing = &t
	}
}

// collection returns the outermost collection that holds a promise, or 0. It prefers collections to unreferenced
// arrays, which a collection has outgrown. A node of a collection that nothing refers to has been removed.
func (s *survey) collection(promise target.Addr, holders map[target.Addr][]target.Addr) target.Addr {
	best := target.Addr(0)
	var climb func(a target.Addr, depth int)
	climb = func(a target.Addr, depth int) {
		up := slices.DeleteFunc(slices.Clone(holders[a]), func(h target.Addr) bool { return !s.code.Lives(h) }) // garbage owns nothing
		if len(up) == 0 && a != promise && !isNode(s.typeOf(a).S) && (best == 0 || s.isArray(best) && !s.isArray(a)) {
			best = a
		}
		if depth == maxCarried {
			return
		}
		for _, h := range up {
			climb(h, depth+1)
		}
	}
	climb(promise, 0)
	return best
}

// isNode reports whether a class is a part of a collection of the class library, such as a node.
func isNode(class string) bool {
	return strings.HasPrefix(class, "System.Collections.") && strings.Contains(class, ">+") && !strings.HasSuffix(class, "[]")
}

// isArray reports whether an object is an array.
func (s *survey) isArray(a target.Addr) bool {
	o, err := s.r.b.Objects().TrustedObject(a)
	return err == nil && o.Type.MT.IsArray()
}

// Bounds of the collections around a promise: the nesting depth, and the number that hold it at once.
const (
	maxCarried    = 6
	maxCollecting = 32
)

// carried returns, for promises and collections, the collections that refer to them.
func (s *survey) carried(inside map[target.Addr]bool) map[target.Addr][]target.Addr {
	out := map[target.Addr][]target.Addr{}
	if len(inside) == 0 {
		return out
	}
	for _, a := range s.found.carriers {
		inside[a] = true
	}
	edges := s.r.heap.Edges(heap.EdgeOptions{})
	for _, a := range s.found.carriers {
		o, err := s.r.heap.ObjectAt(a)
		if err != nil {
			continue
		}
		for ref, err := range edges.Of(&o) {
			if list := out[ref.Target]; err == nil && inside[ref.Target] && ref.Target != a && len(list) < maxCollecting && !slices.Contains(list, a) {
				out[ref.Target] = append(list, a)
			}
		}
	}
	return out
}
