package commands

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
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
	t := &traversal{c: c, h: h, ids: map[target.Addr]int{}, blind: map[target.Addr]bool{}}
	if err := t.types(); err != nil {
		return err
	}
	for r, err := range viewOf(c).Roots(c.Context()) {
		if err != nil {
			c.Warn(err)
			continue
		}
		t.roots = append(t.roots, r)
	}
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

// A traversal writes the graph of a heap.
type traversal struct {
	c     *cli.Context
	h     *heap.Heap
	ids   map[target.Addr]int // of types, from 1 on
	names []string            // by id
	roots []heap.Root
	out   graphWriter
	count uint64
	blind map[target.Addr]bool // types whose references can't be told, and of which a warning told so
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
	o, done := scanOptions(t.c, "scanning the heap")
	s, err := t.h.Graph(t.c.Context(), t.noFree(), heap.EdgeOptions{}, o, t.object)
	done()
	if err == nil {
		err = warnCorrupt(t.c, &s)
	}
	if err != nil {
		return err
	}
	return t.out.end()
}

func (t *traversal) object(n *heap.Node) error {
	t.count++
	o := &n.Object
	if n.Err != nil {
		t.warn(o, n.Err)
	}
	return t.out.object(t.count, o.Addr, t.ids[o.Type.Addr], o.Size, n.References)
}

// warn tells why references of o are missing: for a whole type once.
func (t *traversal) warn(o *heap.Object, err error) {
	if desc := (*heap.GCDescError)(nil); !errors.As(err, &desc) {
		t.c.Warn(fmt.Errorf("references of object %016x: %w", uint64(o.Addr), err))
	} else if !t.blind[desc.MethodTable] {
		t.blind[desc.MethodTable] = true
		t.c.Warn(err)
	}
}

// A graphWriter writes the graph in one of the forms.
type graphWriter interface {
	begin(types []string, roots []heap.Root)
	object(id uint64, a target.Addr, typeID int, size uint64, refs []target.Addr) error
	end() error
}

// textGraph is the form of the CLR Profiler's log. Errors of the writer stick
// and come out of Flush.
type textGraph struct{ w *bufio.Writer }

func (g textGraph) begin(types []string, roots []heap.Root) {
	for i, name := range types {
		fmt.Fprintf(g.w, "t %d 0 %s\n", i+1, report.Escape(name))
	}
	g.w.WriteString("\nr")
	for _, r := range roots {
		g.address(' ', r.Object)
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

func (g xmlGraph) begin(types []string, roots []heap.Root) {
	g.w.WriteString(xml.Header + "<gcheap>\n<types>\n")
	for i, name := range types {
		fmt.Fprintf(g.w, "<type id=\"%d\" name=\"%s\"/>\n", i+1, xmlText(name))
	}
	g.w.WriteString("</types>\n<roots>\n")
	for _, r := range roots {
		fmt.Fprintf(g.w, "<root kind=\"%s\" address=\"0x%016x\"/>\n", r.Kind, uint64(r.Object))
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
