package commands

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func traverseHeapCommand() cli.Command {
	return cli.Command{
		Name: "traverseheap", Group: cli.GroupObjects, NeedsDump: true, Run: runTraverseHeap,
		Summary: "writes the heap as a graph to a file: types, roots, and objects with what they refer to",
		Help: "The file has the form of the CLR Profiler, or XML. Roots are handles that keep their object alive, objects that wait for their finalizer, " +
			"and what the compilers say that stacks hold. Free blocks are left out. The file must not exist yet.",
		Options:  []cli.Option{{Name: "xml", Kind: cli.Bool, Summary: "write XML"}},
		Args:     []cli.Arg{{Name: "file", Kind: cli.File, Summary: "file to write"}},
		Examples: []cli.Example{{Line: "traverseheap -xml heap.xml", Text: "the heap for a program of your own"}},
		Result:   []report.Part{report.Whole[traverseItem]()},
	}
}

type traverseItem struct {
	File    string `json:"file" doc:"the file that was written"`
	Types   int    `json:"types" doc:"number of types"`
	Roots   int    `json:"roots" doc:"number of roots"`
	Objects uint64 `json:"objects" doc:"number of objects"`
}

func runTraverseHeap(c *cli.Context) error {
	h, err := scannedHeap(c, false)
	if err != nil {
		return err
	}
	t := &traversal{c: c, h: h, ids: map[target.Addr]int{}}
	if err := t.types(); err != nil {
		return err
	}
	t.collectRoots()
	name, _ := c.Str("file")
	item := traverseItem{File: name, Types: len(t.names), Roots: len(t.roots)}
	if err := writeNewFile(name, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		if t.out = graphWriter(textGraph{b}); c.Bool("xml") {
			t.out = xmlGraph{b}
		}
		if err := t.write(); err != nil {
			return err
		}
		return b.Flush()
	}); err != nil {
		return err
	}
	if item.Objects = t.count; c.JSON() != nil {
		return c.JSON().Value(item)
	}
	c.Printf("file %s saved: %d types, %d roots, %d objects\n", report.Escape(name), item.Types, item.Roots, item.Objects)
	return nil
}

// A heapRoot keeps an object alive.
type heapRoot struct {
	kind   string
	object target.Addr
}

// A traversal writes the graph of a heap.
type traversal struct {
	c     *cli.Context
	h     *heap.Heap
	ids   map[target.Addr]int // of types, from 1 on
	names []string            // by id
	roots []heapRoot
	out   graphWriter
	count uint64
	refs  []target.Addr
	descs map[target.Addr]*heap.GCDesc
	win   *target.Window
}

// noFree chooses what is no free block.
func (t *traversal) noFree() *heap.Filter {
	free := t.h.Runtime().WellKnown().Free
	return &heap.Filter{Type: func(mt *dac.MethodTable) bool { return mt.Addr != free }}
}

// types numbers the types in the order of their first objects.
func (t *traversal) types() error {
	o, done := scanOptions(t.c, "gathering types")
	s, err := t.h.Stats(t.c.Context(), t.noFree(), o)
	done()
	if err != nil {
		return err
	}
	for i := range s.Types {
		mt := s.Types[i].Type.Addr
		t.names = append(t.names, typeNameOr(t.c, t.h.Runtime(), mt))
		t.ids[mt] = len(t.names)
	}
	return nil
}

func (t *traversal) write() error {
	t.out.begin(t.names, t.roots)
	t.descs, t.win = map[target.Addr]*heap.GCDesc{}, target.NewWindow(t.h.Runtime().Memory())
	if err := eachObject(t.c, t.h, t.noFree(), t.object); err != nil {
		return err
	}
	return t.out.end()
}

func (t *traversal) object(o *heap.Object) error {
	t.count++
	t.refs = t.refs[:0]
	d := t.descs[o.Type.Addr]
	if d == nil {
		var err error
		if d, err = heap.ReadGCDesc(t.h.Runtime().Memory(), o.Type); err != nil {
			t.c.Warn(err)
			d = &heap.GCDesc{} // once for each type
		}
		t.descs[o.Type.Addr] = d
	}
	d.Slots(o.Size, func(off uint64) bool {
		to, err := t.win.Uint64(o.Addr + target.Addr(off))
		if err != nil {
			t.c.Warn(fmt.Errorf("references of object %016x: %w", uint64(o.Addr), err))
			return false
		}
		if to != 0 {
			t.refs = append(t.refs, target.Addr(to))
		}
		return true
	})
	return t.out.object(t.count, o.Addr, t.ids[o.Type.Addr], o.Size, t.refs)
}

// collectRoots lists the roots: handles, finalizer queues, stacks. What can't
// be read is a warning.
func (t *traversal) collectRoots() {
	for e, err := range t.h.Handles() {
		switch {
		case err != nil:
			t.c.Warn(err)
		case e.Type.Strong():
			t.roots = append(t.roots, heapRoot{"handle", e.Object})
		}
	}
	for i := range t.h.SubHeaps() {
		q, err := t.h.FinalizerQueue(i)
		if err != nil {
			t.c.Warn(err)
			continue
		}
		for r, err := range t.h.FinalizerSlots(q.FReachable()) {
			if err != nil {
				t.c.Warn(err)
				break
			}
			t.roots = append(t.roots, heapRoot{"finalizer", r.Target})
		}
	}
	t.stackRoots()
}

func (t *traversal) stackRoots() {
	walker, err := viewOf(t.c).Walker()
	if err != nil {
		t.c.Warn(err)
		return
	}
	threads, err := allThreads(t.c)
	if err != nil {
		t.c.Warn(err)
		return
	}
	for i := range threads {
		th := &threads[i]
		if th.Managed == nil || th.OS == nil {
			continue
		}
		for r, err := range walker.Roots(th.Managed, th.OS.Registers) {
			if err != nil {
				t.c.Warn(fmt.Errorf("stack of thread %#x: %w", th.OS.ID, err))
			} else if a := t.objectOf(r.Object, r.Interior); a != 0 {
				t.roots = append(t.roots, heapRoot{"stack", a})
			}
		}
	}
}

// objectOf is the object that a reference of a stack leads to, 0 if there is
// none: interior references may be to other memory, and frames that an exception
// has left to anything.
func (t *traversal) objectOf(a target.Addr, interior bool) target.Addr {
	if t.h.Segment(a) == nil {
		return 0
	}
	if interior {
		n := t.h.Near(a)
		if n == nil || n.Current == nil && n.Before == nil {
			return 0
		}
		if n.Current != nil {
			return n.Current.Addr
		}
		if n.Before.Free || a >= n.Before.Next() {
			return 0
		}
		return n.Before.Addr
	}
	if o, err := t.h.ObjectAt(a); err != nil || o.Free {
		return 0
	}
	return a
}

// A graphWriter writes the graph in one of the forms.
type graphWriter interface {
	begin(types []string, roots []heapRoot)
	object(id uint64, a target.Addr, typeID int, size uint64, refs []target.Addr) error
	end() error
}

// textGraph is the form of the CLR Profiler's log. Errors of the writer stick
// and come out of Flush.
type textGraph struct{ w *bufio.Writer }

func (g textGraph) begin(types []string, roots []heapRoot) {
	for i, name := range types {
		fmt.Fprintf(g.w, "t %d 0 %s\n", i+1, report.Escape(name))
	}
	g.w.WriteString("\nr")
	for _, r := range roots {
		g.address(' ', r.object)
	}
	g.w.WriteByte('\n')
}

func (g textGraph) object(id uint64, a target.Addr, typeID int, size uint64, refs []target.Addr) error {
	fmt.Fprintf(g.w, "n %d 1 %d %d\n! 1 0x%016x %d\no 0x%016x %d %d ", id, typeID, size, uint64(a), id, uint64(a), typeID, size)
	for _, r := range refs {
		g.address(' ', r)
	}
	return g.w.WriteByte('\n')
}

func (g textGraph) address(before byte, a target.Addr) {
	b := append(g.w.AvailableBuffer(), before, '0', 'x')
	g.w.Write(report.AppendHex(b, uint64(a), 16))
}

func (g textGraph) end() error { return nil }

// xmlGraph is the XML form.
type xmlGraph struct{ w *bufio.Writer }

func (g xmlGraph) begin(types []string, roots []heapRoot) {
	g.w.WriteString(xml.Header + "<gcheap>\n<types>\n")
	for i, name := range types {
		fmt.Fprintf(g.w, "<type id=\"%d\" name=\"%s\"/>\n", i+1, xmlText(name))
	}
	g.w.WriteString("</types>\n<roots>\n")
	for _, r := range roots {
		fmt.Fprintf(g.w, "<root kind=\"%s\" address=\"0x%016x\"/>\n", r.kind, uint64(r.object))
	}
	g.w.WriteString("</roots>\n<objects>\n")
}

func xmlText(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s)) // a Buffer takes everything
	return b.String()
}

func (g xmlGraph) object(_ uint64, a target.Addr, typeID int, size uint64, refs []target.Addr) error {
	fmt.Fprintf(g.w, "<object address=\"0x%016x\" typeid=\"%d\" size=\"%d\"", uint64(a), typeID, size)
	if len(refs) == 0 {
		_, err := g.w.WriteString("/>\n")
		return err
	}
	g.w.WriteString(">\n")
	for _, r := range refs {
		b := append(g.w.AvailableBuffer(), "<member address=\"0x"...)
		b = report.AppendHex(b, uint64(r), 16)
		g.w.Write(append(b, "\"/>\n"...))
	}
	_, err := g.w.WriteString("</object>\n")
	return err
}

func (g xmlGraph) end() error {
	_, err := g.w.WriteString("</objects>\n</gcheap>\n")
	return err
}
