package commands

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpObjCommand() cli.Command {
	return cli.Command{
		Name: "dumpobj", Aliases: []string{"do"}, Group: cli.GroupObjects,
		Summary: "show an object: its type, size, fields and values",
		Help: "The value of a struct field is its address, for dumpvc. Unless SOS's form is asked for, strings, names of enum\n" +
			"values, dates and other values that fit on the line stand behind the field's name.",
		Options: []cli.Option{
			{Name: "nofields", Kind: cli.Bool, Summary: "leave the fields out"},
			{Name: "refs", Kind: cli.Bool, Summary: "list the objects that it refers to, as the GC sees them"},
		},
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "address of the object"}},
		Examples:  []cli.Example{{Line: "dumpobj 7f079cc00b40", Text: "show the object at that address"}},
		Result:    []report.Part{report.Whole[objectResult]()},
		NeedsDump: true,
		Run:       runDumpObj,
	}
}

func runDumpObj(c *cli.Context) error {
	p, err := newObjectPrinter(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	o, err := p.r.Object(a)
	if err != nil {
		return p.invalid(err)
	}
	if c.JSON() != nil {
		return c.JSON().Value(p.objectResult(o, !c.Bool("nofields"), c.Bool("refs")))
	}
	p.noFields = c.Bool("nofields")
	p.object(o)
	if c.Bool("refs") {
		return p.references(o)
	}
	return nil
}

// An objectPrinter prints objects and values in SOS's form.
type objectPrinter struct {
	c        *cli.Context
	rt       *dac.Runtime
	r        *objects.Reader
	out      *pieces
	noFields bool

	threads    []dac.Thread
	hasThreads bool
}

func newObjectPrinter(c *cli.Context) (*objectPrinter, error) {
	rt, err := runtimeOf(c)
	if err != nil {
		return nil, err
	}
	r, err := viewOf(c).Objects()
	if err != nil {
		return nil, err
	}
	return &objectPrinter{c: c, rt: rt, r: r, out: &pieces{w: c.Out, exact: c.SOS}}, nil
}

// invalid says that there is no object, in SOS's words, and returns why.
func (p *objectPrinter) invalid(err error) error {
	if p.c.JSON() == nil && p.c.SOS {
		if errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrNotInDump) {
			p.out.print("<Note: this object has an invalid CLASS field>\n")
		}
		p.out.print("Invalid object\n")
	}
	return err
}

// managedThreads are the runtime's threads, read once.
func (p *objectPrinter) managedThreads() []dac.Thread {
	if !p.hasThreads {
		var err error
		if p.threads, err = p.rt.Threads(); err != nil {
			p.c.Warn(err)
		}
		p.hasThreads = true
	}
	return p.threads
}

// object prints o as dumpobj does.
func (p *objectPrinter) object(o objects.Object) {
	if o.IsFree() {
		p.out.print("Free Object\n")
		p.size(o.Size())
		return
	}
	t := o.Type
	name, err := t.Name()
	p.out.label("Name", textOr(p.c, name, err))
	p.out.label("MethodTable", report.Hex16(t.MT.Addr))
	p.size(o.Size())
	p.runtimeType(o)
	switch {
	case t.MT.IsArray():
		p.arrayLines(o)
	default:
		p.file(t)
		if t.IsString() {
			p.stringLine(o)
		}
	}
	if p.noFields {
		return
	}
	p.out.print("Fields:\n")
	if t.MT.IsArray() {
		p.out.print("None\n")
	} else {
		p.fieldTable(o.Addr+dac.ObjectHeaderBytes, false).print(t)
	}
	p.thinLock(o)
}

func (p *objectPrinter) fieldTable(data target.Addr, valueType bool) *fieldTable {
	return &fieldTable{out: p.out, rt: p.rt, sos: p.c.SOS, warn: p.c.Warn, data: data, valueType: valueType, threads: p.managedThreads}
}

func (p *objectPrinter) size(n uint64, err error) {
	p.out.label("Size", textOr(p.c, fmt.Sprintf("%d(0x%x) bytes", n, n), err))
}

// file prints the file of the module that defines t.
func (p *objectPrinter) file(t *objects.Type) {
	m, err := t.Module()
	path := ""
	if err == nil {
		path, err = moduleFile(m)
	}
	if err == nil && path == "" {
		path = "Unknown Module"
	}
	p.out.label("File", textOr(p.c, path, err))
}

// arrayLines prints rank, length and element type, and the content of an array
// of bytes or characters as text.
func (p *objectPrinter) arrayLines(o objects.Object) {
	a, err := o.Array()
	if err != nil {
		p.out.label("Array", absent(p.c, err))
		return
	}
	p.out.printf("Array:       Rank %d, Number of elements %d, Type %s", a.Rank, a.Len, arrayElementWord(&a))
	p.out.print("\n")
	switch a.ElementType() {
	case metadata.ElementI1, metadata.ElementU1, metadata.ElementChar:
		if t := a.Element(); t == nil || !t.IsEnum() {
			p.content(&a)
		}
	}
}

// arrayElementWord is SOS's word for the elements of a: an enum counts as a
// struct.
func arrayElementWord(a *objects.Array) string {
	t := a.Element()
	switch {
	case t == nil:
		return elementWord(metadata.ElementPtr)
	case t.MT.Category() == dac.CategorySZArray:
		return elementWord(metadata.ElementSZArray)
	case t.MT.Category() == dac.CategoryArray:
		return elementWord(metadata.ElementArray)
	case t.IsEnum():
		return elementWord(metadata.ElementValueType)
	}
	return elementWord(a.ElementType())
}

// contentChars is how many elements of a byte or character array are printed.
const contentChars = 128

func (p *objectPrinter) content(a *objects.Array) {
	text := make([]byte, 0, contentChars)
	for n, v := range a.Values() {
		if n == contentChars {
			break
		}
		bits, err := v.Bits()
		if err != nil {
			p.out.label("Content", absent(p.c, err))
			return
		}
		if bits < 0x20 || bits > 0x7e {
			bits = '.'
		}
		text = append(text, byte(bits))
	}
	p.out.print("Content:     ")
	p.out.print(string(text))
	p.out.print("\n")
}

// How long a string may be to be printed whole: SOS's limit, and the one where
// the reader is a person.
const (
	sosStringChars    = 0x200000
	personStringChars = 4096
)

func (p *objectPrinter) stringLine(o objects.Object) {
	n, err := o.Length()
	if err != nil {
		p.out.label("String", absent(p.c, err))
		return
	}
	limit, more := -1, ""
	switch {
	case p.c.SOS && n > sosStringChars:
		p.out.label("String", "<String is invalid or too large to print>")
		p.out.print("\n")
		return
	case !p.c.SOS && n > personStringChars:
		limit, more = personStringChars, fmt.Sprintf("… (%d characters: dumpstring prints all)", n)
	}
	text, err := o.Text(limit)
	if err != nil {
		p.out.label("String", absent(p.c, err))
		return
	}
	p.out.print("String:      ")
	p.out.print(report.Escape(text) + more)
	p.out.print("\n")
}

// runtimeType prints which type a System.RuntimeType object stands for.
func (p *objectPrinter) runtimeType(o objects.Object) {
	th, ok, err := o.RuntimeType()
	if !ok && err == nil {
		return
	}
	if err != nil {
		p.out.label("Type Name", absent(p.c, err))
		return
	}
	name, err := p.rt.TypeHandleName(th, dac.NameNative)
	p.out.label("Type Name", textOr(p.c, name, err))
	if th&2 != 0 {
		p.out.label("TypeDesc", report.Hex16(th))
		return
	}
	p.out.label("Type MT", report.Hex16(th))
}

// thinLock prints the lock that the object's header holds.
func (p *objectPrinter) thinLock(o objects.Object) {
	h, err := p.rt.ObjectHeader(o.Addr)
	if err != nil {
		p.c.Warn(err)
		return
	}
	lock, ok := p.rt.ThinLock(h)
	if !ok {
		return
	}
	p.out.printf("ThinLock owner %x (%s), Recursive %x\n", lock.Owner, report.Hex16(p.lockOwner(lock)), lock.Recursion)
}

// lockOwner is the Thread with the managed id of a thin lock's owner, 0 if
// there is none.
func (p *objectPrinter) lockOwner(l dac.ThinLock) target.Addr {
	for _, t := range p.managedThreads() {
		if t.ManagedID == l.Owner {
			return t.Addr
		}
	}
	return 0
}
