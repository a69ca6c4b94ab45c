package commands

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpObjGCRefsCommand() cli.Command {
	return cli.Command{
		Name: "dumpobjgcrefs", Group: cli.GroupObjects,
		Summary:   "list the objects that an object refers to, as the GC sees them",
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "address of the object"}},
		Result:    []report.Part{report.ListOf[referenceResult]("")},
		NeedsDump: true,
		Run:       runDumpObjGCRefs,
	}
}

// A referenceResult is one reference of an object.
type referenceResult struct {
	Field  string         `json:"field,omitempty" doc:"field that holds it, with a dot between nested structs; empty in arrays"`
	Offset uint64         `json:"offset" doc:"bytes from the first field"`
	Object report.Address `json:"object" doc:"address of the object referred to"`
	Type   string         `json:"type" doc:"its type"`
}

func runDumpObjGCRefs(c *cli.Context) error {
	p, err := newObjectPrinter(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	o, err := p.r.Object(a)
	if err != nil {
		return p.invalid(err)
	}
	if c.JSON() == nil {
		return p.references(o)
	}
	if err := c.JSON().List(""); err != nil {
		return err
	}
	for _, ref := range p.referenceList(o) {
		if err := c.JSON().Item("", ref); err != nil {
			return err
		}
	}
	return nil
}

// references prints the table of dumpobj -refs.
func (p *objectPrinter) references(o objects.Object) error {
	list := p.referenceList(o)
	if len(list) == 0 {
		p.out.print("GC Refs: none\n")
		return nil
	}
	p.out.print("GC Refs:\n")
	t := report.NewTable(p.c.Out,
		report.Column{Name: "Field", Kind: report.Text, Fit: true},
		report.Column{Name: "Offset", Kind: report.HexOffset},
		report.Column{Name: "Object", Kind: report.Pointer},
		report.Column{Name: "Type", Kind: report.TypeName})
	if err := t.Header(); err != nil {
		return err
	}
	for _, r := range list {
		if err := t.Row(r.Field, r.Offset, uint64(r.Object), r.Type); err != nil {
			return err
		}
	}
	return t.Flush()
}

// referenceList collects the references of o. What can't be read is a warning.
func (p *objectPrinter) referenceList(o objects.Object) []referenceResult {
	ho, err := o.Heap()
	if err != nil {
		p.c.Warn(err)
		return nil
	}
	var out []referenceResult
	edges := heap.NewEdges(p.rt, heap.EdgeOptions{LoaderAllocators: !p.c.SOS})
	for ref, err := range edges.Of(&ho) {
		if p.c.Context().Err() != nil {
			break
		}
		if err != nil {
			p.c.Warn(err)
			continue
		}
		out = append(out, p.reference(o, ref))
	}
	return out
}

// reference names what holds a reference of o.
func (p *objectPrinter) reference(o objects.Object, ref heap.Reference) referenceResult {
	res := referenceResult{Object: report.Address(ref.Target), Type: p.typeOfObject(ref.Target)}
	if ref.Slot == 0 {
		// What keeps the object's type alive is not stored in the object.
		res.Field = "(LoaderAllocator)"
		return res
	}
	res.Offset = uint64(ref.Slot-o.Addr) - dac.ObjectHeaderBytes
	res.Field = p.fieldPath(o.Type, res.Offset)
	return res
}

func (p *objectPrinter) typeOfObject(a target.Addr) string {
	o, err := p.r.Object(a)
	if err != nil {
		return absent(p.c, err)
	}
	name, err := o.Type.ManagedName()
	return textOr(p.c, name, err)
}

// fieldPath names the field at an offset in an instance of t: with dots
// through structs in place. It is empty where there is none.
func (p *objectPrinter) fieldPath(t *objects.Type, offset uint64) string {
	path := ""
	for {
		f := fieldAt(t, offset)
		if f == nil {
			return path
		}
		if path != "" {
			path += "."
		}
		path += f.Name
		next := embedded(p.r, f)
		if next == nil {
			return path
		}
		t, offset = next, offset-uint64(f.Offset)
	}
}

// fieldAt is the instance field of t that covers an offset: the last one that
// starts at or before it.
func fieldAt(t *objects.Type, offset uint64) *objects.Field {
	if t.MT.IsArray() {
		return nil
	}
	fields, _ := t.Fields() // what can't be read has no name
	var best *objects.Field
	for _, f := range fields {
		if !f.Static && uint64(f.Offset) <= offset && (best == nil || f.Offset >= best.Offset) {
			best = f
		}
	}
	return best
}

// embedded is the type of a struct that a field holds in place, nil if it holds
// none or one of itself, as the primitive types do.
func embedded(r *objects.Reader, f *objects.Field) *objects.Type {
	if !f.InPlace() {
		return nil
	}
	th, err := f.TypeHandle()
	if err != nil || th == 0 || th&2 != 0 || th == f.Declaring.MT.Addr {
		return nil
	}
	t, err := r.Type(th)
	if err != nil || !t.MT.IsValueType() {
		return nil
	}
	return t
}
