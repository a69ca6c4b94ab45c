package reach

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// HasGraph reports whether it can be said which objects live.
func (c *Code) HasGraph() bool { return c.Graph != nil }

// Lives reports whether code that runs later may find an object. A static field that the compiler made for a delegate does not count, for code that reads
// such a field names the method, too, nor do variables that their method reads no more. Without a graph of the heap every object counts.
func (c *Code) Lives(a target.Addr) bool {
	if c.Graph == nil {
		return true
	}
	if c.living == nil {
		g, err := c.Graph()
		if err != nil {
			c.Graph = nil
			return true
		}
		used, done, err := g.Use(c.ctx)
		if err != nil {
			return true
		}
		defer done()
		seen := c.Later(used, g, nil)
		c.living = func(a target.Addr) bool {
			n, ok := g.Node(a)
			return !ok || seen == nil || seen.Has(n)
		}
	}
	return c.living(a)
}

// WholeGraph returns the graph of the heap, for conclusions from what it does not reach: nil if anything of the process was not read. done ends its use, for which
// ctx is.
func (c *Code) WholeGraph() (g *graph.Graph, ctx context.Context, done func()) {
	if c.Graph == nil || !c.whole() {
		return nil, nil, nil
	}
	g, err := c.Graph()
	if err != nil {
		return nil, nil, nil
	}
	if ctx, done, err = g.Use(c.ctx); err != nil {
		return nil, nil, nil
	}
	return g, ctx, done
}

// Later returns the nodes of a graph that code which runs later may find, or nil if it was stopped. It does not go on at a node that without reports.
func (c *Code) Later(ctx context.Context, g *graph.Graph, without func(graph.Node) bool) *graph.Set {
	_, _ = c.Frames() // a frame that can't be read may read any of its variables
	seen := g.NewSet()
	todo := []graph.Node{g.Root()}
	seen.Add(g.Root())
	for n, err := range c.Unrooted(g) {
		if err != nil {
			return nil
		}
		if seen.Add(n) {
			todo = append(todo, n)
		}
	}
	dropped, idle, caches := c.dropped(g), c.uncanceled(g), c.caches(g)
	for steps := 0; len(todo) > 0; steps++ {
		if steps%(1<<16) == 0 && ctx.Err() != nil {
			return nil
		}
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if without != nil && without(n) || idle != nil && idle(n) {
			continue
		}
		src := g.Source(n)
		if src != nil && src.Static != nil && src.Static.Field != nil && cachesDelegate(src.Static.Field.Name) {
			continue
		}
		unread := slices.Concat(dropped[n], caches(n))
		for to := range c.Referents(g, n) {
			if !slices.Contains(unread, to) && seen.Add(to) {
				todo = append(todo, to)
			}
		}
	}
	return seen
}

// dropped returns, by object with the variables of a suspended method, the delegates in variables that the method reads no more.
func (c *Code) dropped(g *graph.Graph) map[graph.Node][]graph.Node {
	out, seen := map[graph.Node][]graph.Node{}, map[target.Addr]bool{}
	if c.Boxes == nil {
		return out
	}
	for a := range c.Boxes() {
		if seen[a] {
			continue
		}
		seen[a] = true
		in, list := c.Tasks.Unread(a)
		n, ok := g.Node(in)
		if !ok {
			continue
		}
		for _, d := range list {
			if to, ok := g.Node(d); ok {
				out[n] = append(out[n], to)
			}
		}
	}
	return out
}

// Referents yields what a node refers to, without the variables of a frame that its method reads no more.
func (c *Code) Referents(g *graph.Graph, n graph.Node) iter.Seq[graph.Node] {
	return func(yield func(graph.Node) bool) {
		var in *Frame
		if src := g.Source(n); src != nil && src.Frame != nil {
			in = c.frameAt(src.Frame)
		}
		for _, to := range g.Referents(n) {
			if (in == nil || !g.IsObject(to) || c.reads(in, g.Type(to))) && !yield(to) {
				return
			}
		}
	}
}

// Unrooted iterates over the objects that code of the program can get although no root need lead to them: by weak handles, and those with finalizers, which
// will run. Finalizers of the class library call nothing of the program: a timer's does not call its callback. It ends at an error.
func (c *Code) Unrooted(g *graph.Graph) iter.Seq2[graph.Node, error] {
	return func(yield func(graph.Node, error) bool) {
		h := g.Heap()
		for e, err := range h.Handles() {
			if err != nil {
				yield(0, err)
				return
			}
			if n, ok := g.Node(e.Object); ok && !e.Type.Strong() && !yield(n, nil) {
				return
			}
		}
		for i := range h.SubHeaps() {
			q, err := h.FinalizerQueue(i)
			if err != nil {
				yield(0, err)
				return
			}
			for slot, err := range h.FinalizerSlots(q.Finalizable()) {
				if err != nil {
					yield(0, err)
					return
				}
				if n, ok := g.Node(slot.Target); ok && !c.ofLibrary(g.Type(n)) && !yield(n, nil) {
					return
				}
			}
		}
	}
}

// ofLibrary reports whether a class is of the class library.
func (c *Code) ofLibrary(mt *dac.MethodTable) bool {
	name, err := c.rt.TypeName(mt.Addr, dac.NameNative)
	return err == nil && strings.HasPrefix(name, "System.")
}

// frameAt returns the frame of the program at a frame with roots, or nil.
func (c *Code) frameAt(at *graph.RootFrame) *Frame {
	for _, f := range c.frames {
		if at.Method != nil && f.Frame.SP == at.SP && f.Method.Addr == at.Method.Addr {
			return f
		}
	}
	return nil
}

// reads reports whether a method may still read a variable that refers to an object: one of its class, of a base class or of an interface of it.
func (c *Code) reads(f *Frame, mt *dac.MethodTable) bool {
	return slices.ContainsFunc(f.loads, func(class string) bool {
		switch class {
		case "":
			return true
		case tasks.LoadsNumber:
			return false
		case tasks.LoadsArray:
			return mt.IsArray()
		case tasks.LoadsReceiver:
			return !c.isDelegate(mt)
		}
		is, known := c.converts[conversion{mt.Addr, class}]
		if !known {
			is = c.is(mt, class)
			c.converts[conversion{mt.Addr, class}] = is
		}
		return is
	})
}

// A conversion takes an object with a MethodTable for a class or an interface.
type conversion struct {
	mt    target.Addr
	class string
}

// is reports whether objects of a type are of a class or an interface, given by the name of its definition. What can't be read may be.
func (c *Code) is(mt *dac.MethodTable, class string) bool {
	t, err := c.Binder.Objects().TrustedType(mt.Addr)
	if err != nil {
		return true
	}
	if mt.IsArray() {
		return strings.HasPrefix(class, "System.") // Array, Object, and the interfaces of arrays
	}
	all, err := t.Interfaces()
	if err != nil {
		return true
	}
	for i := range all {
		if name, err := c.Binder.Definition(all[i].Definition); err != nil || name == class {
			return true
		}
	}
	for ; t != nil && err == nil; t, err = t.Base() {
		name, nameless := c.Binder.Definition(t)
		if nameless != nil || name == class {
			return true
		}
	}
	return err != nil
}

// caches returns a function with the delegates that an object for variables of lambdas keeps for code that uses them again, as a static field of a compiler does.
func (c *Code) caches(g *graph.Graph) func(graph.Node) []graph.Node {
	known := map[*dac.MethodTable][]*objects.Field{}
	return func(n graph.Node) (out []graph.Node) {
		if !g.IsObject(n) {
			return nil
		}
		mt := g.Type(n)
		fields, ok := known[mt]
		if !ok {
			if t, err := c.Binder.Objects().TrustedType(mt.Addr); err == nil {
				list, _ := t.Fields() // without a field all is followed
				for _, f := range list {
					if !f.Static && strings.HasPrefix(f.Name, "<>9__") {
						fields = append(fields, f)
					}
				}
			}
			known[mt] = fields
		}
		if len(fields) == 0 {
			return nil
		}
		o, err := c.Binder.Objects().TrustedObject(g.Address(n))
		if err != nil {
			return nil
		}
		for _, v := range o.Fields() {
			if f := v.Field(); f == nil || !strings.HasPrefix(f.Name, "<>9__") {
				continue
			}
			if a, err := v.Addr(); err == nil {
				if to, ok := g.Node(a); ok {
					out = append(out, to)
				}
			}
		}
		return out
	}
}

// cachesDelegate reports whether a compiler made a static field to keep a delegate for code that uses it again.
func cachesDelegate(field string) bool {
	return strings.HasPrefix(field, "<") && !strings.HasSuffix(field, "k__BackingField")
}
