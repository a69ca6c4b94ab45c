// Package heapsnapshot writes the graph of a heap as a .heapsnapshot file for Chrome DevTools, Visual Studio
// Code and memlab. The format is V8's (github.com/v8/v8, src/profiler/heap-snapshot-generator.cc). Start at
// Write.
//
// Objects are named by type, and strings by their text; edges are named by field or element. Above them are the
// roots by kind, and "[unreachable]" for garbage. Retained sizes, which these tools compute, equal
// graph.Dominators'. The id of a node, shown as @4711, is the object's position by address, because Chrome
// keeps only 32 bits. Object maps it to the address.
package heapsnapshot

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/target"
)

// Limits of the readers.
const (
	maxNumbers = 1<<32 - 1        // of nodes, six each, and of edges, three each: arrays of JavaScript
	maxText    = 1<<29 - 24       // characters of all strings: one string of V8
	textShare  = maxText - 64<<20 // of these, for the text of strings
	maxSize    = 1<<32 - 1        // of one object
	maxChars   = 1000             // of the text of one string, as in V8
)

// A Summary describes the written file.
type Summary struct {
	answer.Gaps
	Objects uint64
	Nodes   int // objects, and what keeps them alive
	Edges   uint64
	Size    uint64 // bytes of all objects in the file
	Chars   int    // largest number of characters of a string in the file
}

// Options change the file.
type Options struct {
	// Mask, if not nil, replaces secrets in the text of strings.
	Mask func(string) string
	// Hides, if not nil, reports whether the text of the string at an address is hidden, because it is a secret by the name beside it: edges
	// show the names.
	Hides func(target.Addr) bool
}

// Write writes the heap. If no reader of the format could open it, Write returns target.ErrUnsupported before
// it writes anything. The bytes are the same for any number of workers. Beside the graph it takes a few
// megabytes.
func Write(ctx context.Context, w io.Writer, h *pieces.Heap, o Options) (*Summary, error) {
	ctx, done, err := h.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	e := &encoder{ctx: ctx, h: h, g: h.Graph, summary: &Summary{}, w: bufio.NewWriterSize(w, 1<<20), mask: o.Mask, hides: o.Hides}
	if err := e.plan(); err != nil {
		return nil, err
	}
	e.file()
	if e.err == nil {
		e.err = e.w.Flush()
	}
	return e.summary, e.err
}

type encoder struct {
	ctx     context.Context
	h       *pieces.Heap
	g       *graph.Graph
	summary *Summary
	w       *bufio.Writer
	err     error

	types   []pieces.Type
	slots   []slots // by TypeIndex
	live    *graph.Liveness
	dead    []graph.Node
	names   names
	sources []uint32            // names of the Sources
	mask    func(string) string // of Options
	hides   func(target.Addr) bool
	isText  []bool   // by TypeIndex: objects are strings
	texts   []uint32 // number of strings before each piece, and in all
	own     ownNames
}

// ownNames are the names that are not from the dump.
type ownNames struct{ root, unreachable, dependent, allocator, unknown uint32 }

// names holds the snapshot's string table without the text of strings, deduplicated.
type names struct {
	list  []string
	index map[string]uint32
}

func (n *names) indexOf(s string) uint32 {
	i, known := n.index[s]
	if !known {
		i = uint32(len(n.list))
		n.index[s] = i
		n.list = append(n.list, s)
	}
	return i
}

// plan collects the names, and checks that everything fits.
func (e *encoder) plan() error {
	d, err := e.g.Dominators(e.ctx)
	if err != nil {
		return err
	}
	if e.dead, err = d.Children(e.ctx, d.Garbage()); err != nil {
		return err
	}
	if e.live, err = e.g.Live(e.ctx); err != nil {
		return err
	}
	e.names = names{index: map[string]uint32{}}
	e.names.indexOf("<dummy>")
	e.own = ownNames{e.names.indexOf(""), e.names.indexOf("[unreachable]"), e.names.indexOf("(dependent handle)"), e.names.indexOf("(loader allocator)"), e.names.indexOf("(reference)")}
	e.types = e.h.Types(&e.summary.Gaps)
	text := e.h.Objects.Runtime().WellKnown().String
	e.isText = make([]bool, len(e.types))
	for i := range e.types {
		e.names.indexOf(e.types[i].Name)
		e.isText[i] = e.types[i].Addr == text && text != 0
	}
	e.planSources()
	if err := e.planSlots(); err != nil {
		return err
	}
	for i, name := range e.names.list {
		e.names.list[i] = e.h.Masked(name)
	}
	s := e.summary
	s.NoteAll(e.g.Stats().Warnings())
	s.Objects, s.Nodes = uint64(e.g.Objects()), e.g.Nodes()+1
	s.Edges = uint64(e.g.Edges()) + uint64(len(e.dead)) + 1
	if uint64(s.Nodes) > maxNumbers/6 || s.Edges > maxNumbers/3 {
		return target.Unsupportedf("the heap has %d objects and roots and %d references: readers of .heapsnapshot files have room for %d and %d",
			s.Nodes, s.Edges, maxNumbers/6, maxNumbers/3)
	}
	return e.planTexts()
}

func (e *encoder) planSources() {
	x := e.g.Names(e.h.Objects)
	for i := range e.g.Nodes() - e.g.Objects() - 1 {
		n := e.g.SourceNode(i)
		text := x.Text(&e.summary.Gaps, n)
		name := text.S
		if text.Err != nil {
			name = text.Instead
		}
		if name == "" {
			name = e.g.Source(n).Kind.String()
		}
		e.sources = append(e.sources, e.names.indexOf("["+name+"]"))
	}
}

// planTexts counts the strings, and decides how much of each fits.
func (e *encoder) planTexts() error {
	choices := [...]int{maxChars, 200, 50, 10, 0}
	type sums struct {
		texts uint32
		chars [len(choices)]uint64
		size  uint64
	}
	all := sums{}
	base := uint64(22) // bytes of an empty string
	for i, is := range e.isText {
		if is {
			base = uint64(e.types[i].BaseSize)
		}
	}
	err := pieces.InOrder(e.ctx, e.h, pieces.None, func(_ struct{}, p *pieces.Piece, _ sums) (s sums, _ error) {
		for n := p.From; n < p.To; n++ {
			size := e.g.Size(n)
			s.size += min(size, maxSize)
			if !e.isText[e.g.TypeIndex(n)] {
				continue
			}
			s.texts++
			for i, c := range choices {
				s.chars[i] += min((size-min(base, size))/2, uint64(c)) + 4 // quotes, comma, line
			}
		}
		return s, nil
	}, func(s sums) error {
		e.texts = append(e.texts, all.texts)
		all.texts += s.texts
		all.size += s.size
		for i := range all.chars {
			all.chars[i] += s.chars[i]
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.texts = append(e.texts, all.texts)
	e.summary.Size = all.size
	for i, c := range choices {
		if all.chars[i] <= textShare*3/4 { // some characters take several
			e.summary.Chars = c
			return nil
		}
	}
	return target.Unsupportedf("the heap has %d strings: readers of .heapsnapshot files have no room for so many", all.texts)
}

// firstObject returns the number in the file of the first object. The root, the Sources and the node for
// garbage precede it.
func (e *encoder) firstObject() uint64 { return uint64(len(e.sources)) + 2 }

// fileNode returns the number in the file of a node of the graph.
func (e *encoder) fileNode(n graph.Node) uint64 {
	switch {
	case e.g.IsObject(n):
		return e.firstObject() + uint64(n)
	case n == e.g.Root():
		return 0
	}
	return uint64(n) - uint64(e.g.Objects()) + 1
}

func (e *encoder) print(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

func (e *encoder) write(b []byte) error {
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
	return e.err
}

// meta describes the numbers, as in V8.
const meta = `{"node_fields":["type","name","id","self_size","edge_count","trace_node_id"],` +
	`"node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic","concatenated string",` +
	`"sliced string","symbol","bigint"],"string","number","number","number","number"],` +
	`"edge_fields":["type","name_or_index","to_node"],` +
	`"edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],` +
	`"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],` +
	`"trace_node_fields":["id","function_info_index","count","size","children"],` +
	`"sample_fields":["timestamp_us","last_assigned_id"],"location_fields":["object_index","script_id","line","column"]}`

// Types of nodes and edges, as in meta.
const (
	nodeString    = 2
	nodeObject    = 3
	nodeSynthetic = 9

	edgeElement  = 1
	edgeProperty = 2
	edgeInternal = 3
	edgeWeak     = 6
)

func (e *encoder) file() {
	e.print(`{"snapshot":{"meta":` + meta + `,"node_count":` + strconv.Itoa(e.summary.Nodes) + `,"edge_count":` +
		strconv.FormatUint(e.summary.Edges, 10) + `,"trace_function_count":0},` + "\n" + `"nodes":[`)
	e.nodes()
	e.print("],\n" + `"edges":[`)
	e.edges()
	e.print("],\n" + `"trace_function_infos":[],` + "\n" + `"trace_tree":[],` + "\n" + `"samples":[],` + "\n" + `"locations":[],` + "\n" + `"strings":[`)
	e.strings()
	e.print("]}\n")
}

// id returns the id of a node of the graph: 1 for the root, 3 for the first object and so on, and after the
// objects the Sources. The id of an object depends only on the objects.
func id(g *graph.Graph, n graph.Node) uint64 {
	if n == g.Root() {
		return 1
	}
	return 2*uint64(n) + 3
}

// Object returns the address of the object with an id in the output of Write for the same heap. ok is false if
// no object has the id.
func Object(g *graph.Graph, id uint64) (a target.Addr, ok bool) {
	if id < 3 || id%2 == 0 || (id-3)/2 >= uint64(g.Objects()) {
		return 0, false
	}
	return g.Address(graph.Node((id - 3) / 2)), true
}

// appendNode appends a node. All nodes except the first start with a comma.
func appendNode(b []byte, typ int, name uint32, id, size uint64, edges int) []byte {
	if id != 1 {
		b = append(b, ',')
	}
	b = strconv.AppendInt(b, int64(typ), 10)
	b = append(b, ',')
	b = strconv.AppendUint(b, uint64(name), 10)
	b = append(b, ',')
	b = strconv.AppendUint(b, id, 10)
	b = append(b, ',')
	b = strconv.AppendUint(b, size, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(edges), 10)
	return append(b, ",0\n"...)
}

func (e *encoder) nodes() {
	b := appendNode(nil, nodeSynthetic, e.own.root, id(e.g, e.g.Root()), 0, len(e.g.Referents(e.g.Root()))+1)
	for i, name := range e.sources {
		b = appendNode(b, nodeObject, name, id(e.g, e.g.SourceNode(i)), 0, len(e.g.Referents(e.g.SourceNode(i))))
	}
	_ = e.write(appendNode(b, nodeObject, e.own.unreachable, 2*uint64(e.g.Nodes())+1, 0, len(e.dead))) // kept in e
	firstText := uint32(len(e.names.list))
	e.eachPiece(func(_ *edgeReader, p *pieces.Piece, b []byte) []byte {
		text := firstText + e.texts[p.Index]
		for n := p.From; n < p.To; n++ {
			i := e.g.TypeIndex(n)
			typ, name := nodeObject, e.names.index[e.types[i].Name]
			if e.isText[i] {
				typ, name = nodeString, text
				text++
			}
			b = appendNode(b, typ, name, id(e.g, n), min(e.g.Size(n), maxSize), len(e.g.Referents(n)))
		}
		return b
	})
}

// maskedChars is the number of characters of a string to search for secrets. A secret that is cut off would not
// be recognized.
const maskedChars = 16 << 10

// masked appends the text of a string without secrets.
func (e *encoder) masked(b []byte, a target.Addr) ([]byte, error) {
	if e.hides != nil && e.hides(a) {
		return jsonenc.AppendString(b, secrets.Mask), nil
	}
	text, _, err := e.g.Heap().StringText(a, maskedChars)
	if err != nil {
		return append(b, `""`...), err
	}
	text = e.mask(text)
	for i := range text {
		if i >= e.summary.Chars {
			text = text[:i]
			break
		}
	}
	return jsonenc.AppendString(b, text), nil
}

// strings writes the names, and the text of strings.
func (e *encoder) strings() {
	var b []byte
	for i, s := range e.names.list {
		if i > 0 {
			b = append(b, ",\n"...)
		}
		b = jsonenc.AppendString(b, s)
	}
	room := int64(maxText) - int64(len(b)) - 4*int64(e.texts[len(e.texts)-1])
	_ = e.write(b) // kept in e
	lost := false
	none := []byte(nil)
	type piece struct {
		text  []byte
		texts int
		err   error
	}
	err := pieces.InOrder(e.ctx, e.h, e.textState, func(s *textState, p *pieces.Piece, reuse piece) (piece, error) {
		out := piece{text: reuse.text[:0]}
		for n := p.From; n < p.To; n++ {
			if e.isText[e.g.TypeIndex(n)] {
				out.texts++
				out.text = append(out.text, ",\n"...)
				var err error
				if e.mask != nil {
					out.text, err = e.masked(out.text, p.Address(n))
				} else {
					out.text, err = s.append(out.text, p.Address(n), e.summary.Chars)
				}
				if err != nil && out.err == nil {
					out.err = err
				}
			}
		}
		return out, nil
	}, func(p piece) error {
		if p.err != nil {
			e.summary.Note(p.err)
		}
		if room -= int64(len(p.text)); room < 0 { // more than planned: characters that are written as six
			room += int64(len(p.text))
			if !lost {
				lost = true
				e.summary.Note(target.Unsupportedf("what the strings say has no room in a .heapsnapshot file: of some it is left out"))
			}
			for none = none[:0]; p.texts > 0; p.texts-- {
				none = append(none, ",\n\"\""...)
			}
			return e.write(none)
		}
		return e.write(p.text)
	})
	e.err = cmp.Or(e.err, err)
}
