package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
)

func dumpVCCommand() cli.Command {
	return cli.Command{
		Name: "dumpvc", Group: cli.GroupObjects,
		Summary: "show a value type in place: its fields and values",
		Args: []cli.Arg{
			{Name: "mt", Kind: cli.Address, Summary: "MethodTable of the value type"},
			{Name: "address", Kind: cli.Address, Summary: "address of its first field"},
		},
		Examples:  []cli.Example{{Line: "dumpvc 7f07a5b34f68 7efbcd805d40", Text: "show the struct that dumpobj listed with that MT and value"}},
		Result:    []report.Part{report.Whole[structResult]()},
		NeedsDump: true,
		Run:       runDumpVC,
	}
}

func runDumpVC(c *cli.Context) error {
	p, err := newObjectPrinter(c)
	if err != nil {
		return err
	}
	mt, _ := c.Addr("mt")
	a, _ := c.Addr("address")
	s, err := p.r.Struct(mt, a)
	if err != nil {
		if c.JSON() == nil && c.SOS {
			p.out.print("Not a managed object\n")
		}
		return fmt.Errorf("dumpvc: %w", err)
	}
	if c.JSON() != nil {
		return c.JSON().Value(p.structResult(s))
	}
	p.value(s)
	return nil
}

// value prints s as dumpvc does. Its size is that of the box, as in SOS.
func (p *objectPrinter) value(s objects.Struct) {
	t := s.Type
	name, err := t.Name()
	p.out.label("Name", textOr(p.c, name, err))
	p.out.label("MethodTable", report.Hex16(t.MT.Addr))
	if p.rt.CanonicalForClass() {
		if t.MT.Canonical != t.MT.Addr {
			p.out.printf("Canonical: %s\n", report.Hex16(t.MT.Canonical))
		}
	} else {
		p.class(t)
	}
	p.size(uint64(t.MT.BaseSize), nil)
	p.file(t)
	if p.noFields {
		return
	}
	p.out.print("Fields:\n")
	p.fieldTable(s.Addr, true).print(t)
}

// class prints the EEClass, which is the canonical MethodTable since 9.
func (p *objectPrinter) class(t *objects.Type) {
	if p.rt.CanonicalForClass() {
		p.out.label("EEClass", report.Hex16(t.MT.Canonical))
		return
	}
	class, err := p.rt.EEClass(t.MT)
	if err != nil {
		p.out.label("EEClass", absent(p.c, err))
		return
	}
	p.out.label("EEClass", report.Hex16(class.Addr))
}

// printFields prints the fields of a type without an instance: statics have
// values, instance fields only offsets.
func printFields(c *cli.Context, mt *dac.MethodTable) error {
	p, err := newObjectPrinter(c)
	if err != nil {
		return err
	}
	t, err := p.r.Type(mt.Addr)
	if err != nil {
		return err
	}
	// Offsets are those in a box, of value types too: as SOS counts without an
	// instance.
	p.fieldTable(0, false).print(t)
	return nil
}
