package commands

import (
	"fmt"
	"strconv"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpArrayCommand() cli.Command {
	return cli.Command{
		Name: "dumparray", Group: cli.GroupObjects,
		Summary: "list the elements of an array",
		Help: "The elements of an array of structs or numbers are shown by their addresses, for dumpvc; unless SOS's form is asked\n" +
			"for, values that fit on the line stand behind.",
		Options: []cli.Option{
			{Name: "start", Kind: cli.Int, Summary: "first index, of an array of one dimension"},
			{Name: "length", Kind: cli.Int, Summary: "number of elements, of an array of one dimension"},
			{Name: "details", Kind: cli.Bool, Summary: "show each element as dumpobj or dumpvc does"},
			{Name: "nofields", Kind: cli.Bool, Summary: "leave the elements' fields out, with -details"},
		},
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "address of the array"}},
		Examples:  []cli.Example{{Line: "dumparray -start 10 -length 5 7efbcd805f00", Text: "list elements 10 to 14"}},
		Result:    []report.Part{report.Whole[arrayHeader](), report.ListOf[elementResult]("elements")},
		NeedsDump: true,
		Run:       runDumpArray,
	}
}

func runDumpArray(c *cli.Context) error {
	p, err := newObjectPrinter(c)
	if err != nil {
		return err
	}
	addr, _ := c.Addr("address")
	o, err := p.r.Object(addr)
	if err != nil {
		return p.invalid(err)
	}
	if !o.Type.MT.IsArray() {
		if c.JSON() == nil && c.SOS {
			p.out.print("Not an array, please use dumpobj instead\n")
		}
		return target.Unsupportedf("object %016x is not an array: use dumpobj", uint64(addr))
	}
	a, err := o.Array()
	if err != nil {
		return err
	}
	first, n, err := p.arrayRange(&a)
	if err != nil {
		return err
	}
	if c.JSON() != nil {
		return p.arrayJSON(&a, first, n)
	}
	p.noFields = c.Bool("nofields")
	p.arrayHeader(&a)
	return p.elements(&a, first, n)
}

// arrayRange is what -start and -length choose: the position in memory of the
// first element and the number of elements.
func (p *objectPrinter) arrayRange(a *objects.Array) (first, n uint32, err error) {
	start, hasStart := p.c.Int("start")
	length, hasLength := p.c.Int("length")
	if !hasStart && !hasLength {
		return 0, a.Len, nil
	}
	if a.Rank > 1 {
		p.refuse("For multi-dimension array, length and start index are supported\n")
		return 0, 0, p.c.Usagef("-start and -length are for arrays of one dimension")
	}
	if hasStart {
		start -= int64(a.LowerBounds[0])
	}
	if start < 0 || start > int64(a.Len) {
		p.refuse("Start index out of range\n")
		return 0, 0, p.c.Usagef("start index %d is out of range: the array has %d elements from index %d", start+int64(a.LowerBounds[0]), a.Len, a.LowerBounds[0])
	}
	if length < 0 {
		return 0, 0, p.c.Usagef("length %d is negative", length)
	}
	left := int64(a.Len) - start
	if !hasLength || length > left {
		length = left
	}
	return uint32(start), uint32(length), nil
}

// refuse prints SOS's words where SOS's form is asked for.
func (p *objectPrinter) refuse(words string) {
	if p.c.SOS && p.c.JSON() == nil {
		p.out.print(words)
	}
}

func (p *objectPrinter) arrayHeader(a *objects.Array) {
	t := a.Type
	name, err := t.Name()
	p.out.label("Name", textOr(p.c, name, err))
	p.out.label("MethodTable", report.Hex16(t.MT.Addr))
	p.class(t)
	p.size(a.Size())
	p.out.printf("Array:       Rank %d, Number of elements %d, Type %s\n", a.Rank, a.Len, arrayElementWord(a))
	p.out.printf("Element Methodtable: %s\n", report.Hex16(t.MT.PerInstInfo))
}

// elements prints n elements from the one at position first.
func (p *objectPrinter) elements(a *objects.Array, first, n uint32) error {
	index := make([]int32, a.Rank)
	var line []byte
	for i := first; i < first+n; i++ {
		if i&0xfff == 0 && p.c.Context().Err() != nil {
			return p.c.Context().Err()
		}
		line = line[:0]
		for _, k := range a.Index(i, index) {
			line = append(line, '[')
			line = strconv.AppendInt(line, int64(k), 10)
			line = append(line, ']')
		}
		line = append(line, ' ')
		p.element(string(line), a.At(i))
	}
	return nil
}

// element prints one element: a reference, null, or the address of a value.
func (p *objectPrinter) element(label string, v objects.Value) {
	p.out.print(label)
	if v.Kind() != objects.KindReference && v.Err() == nil {
		note := ""
		if !p.c.SOS {
			note = elementNote(v)
		}
		p.out.print(report.Hex16(v.Location()) + note + "\n")
		if p.c.Bool("details") {
			p.valueDetails(v)
		}
		return
	}
	at, err := v.Addr()
	switch {
	case err != nil:
		p.out.print(absent(p.c, err) + "\n")
	case at == 0:
		p.out.print("null\n")
	default:
		note := ""
		if s := v.Inline(inlineChars); s != "" && !p.c.SOS {
			note = " " + report.Escape(s)
		}
		p.out.print(report.Hex16(at) + note + "\n")
		if p.c.Bool("details") {
			p.objectDetails(at)
		}
	}
}

// elementNote is the value of an element that is not a reference.
func elementNote(v objects.Value) string {
	s := v.Inline(inlineChars)
	if s == "" {
		s = v.Plain(inlineChars)
	}
	return " " + report.Escape(s)
}

// detailsIndent is how far -details sets the elements in.
const detailsIndent = 4

func (p *objectPrinter) indented(f func()) {
	p.out.indent += detailsIndent
	f()
	p.out.indent -= detailsIndent
}

func (p *objectPrinter) objectDetails(a target.Addr) {
	p.indented(func() {
		o, err := p.r.Object(a)
		if err != nil {
			p.out.print(absent(p.c, fmt.Errorf("element: %w", err)) + "\n")
			return
		}
		p.object(o)
	})
}

func (p *objectPrinter) valueDetails(v objects.Value) {
	t, err := v.Type()
	if err != nil || t == nil {
		return // a pointer
	}
	p.indented(func() { p.value(objects.Struct{Addr: v.Location(), Type: t}) })
}
