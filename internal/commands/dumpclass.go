package commands

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/text"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpClassCommand() cli.Command {
	return cli.Command{Name: "dumpclass", Group: cli.GroupTypes, Summary: "describe a type by its EEClass or MethodTable: attributes and fields",
		Args:   []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the EEClass or MethodTable"}},
		Help:   "An EEClass stands for its canonical MethodTable.",
		Result: []report.Part{report.Whole[methodTableResult]()}, NeedsDump: true, Run: runDumpClass}
}

func runDumpClass(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	mt, err := classAt(c, rt, a)
	if err != nil {
		return err
	}
	f := gatherType(rt, mt)
	if c.JSON() != nil {
		return c.JSON().Value(f.result(c, rt))
	}
	c.Printf("Class Name:      %s\n", report.Escape(textOr(c, f.name, f.nameErr)))
	c.Printf("mdToken:         %016x\n", uint32(mt.Token))
	c.Printf("File:            %s\n", report.Escape(textOr(c, f.file, f.fileErr)))
	f.printParentClass(c, rt)
	c.Printf("Module:          %016x\n", uint64(mt.Module))
	c.Printf("Method Table:    %016x\n", uint64(mt.Addr))
	if rt.CanonicalForClass() && mt.Canonical != mt.Addr {
		c.Printf("Canonical:    %016x\n", uint64(mt.Canonical))
	}
	f.printDetails(c, rt)
	return nil
}

// classAt returns the MethodTable at a, or that of the EEClass at a.
func classAt(c *cli.Context, rt *dac.Runtime, a target.Addr) (*dac.MethodTable, error) {
	mt, err := methodTableAt(c, rt, a)
	if err == nil {
		return mt, nil
	}
	if owner, classErr := rt.MethodTableOfClass(a); classErr == nil {
		return owner, nil
	} else if errors.Is(classErr, target.ErrNotInDump) && !errors.Is(err, target.ErrNotInDump) {
		err = classErr
	}
	return nil, fmt.Errorf("%016x is neither an EEClass nor a MethodTable: %w", uint64(a), err)
}

func (f *typeFacts) printParentClass(c *cli.Context, rt *dac.Runtime) {
	if rt.CanonicalForClass() {
		c.Printf("Parent:    %016x\n", uint64(f.mt.Parent))
		return
	}
	var class target.Addr
	var err error
	if f.mt.Parent != 0 {
		var parent *dac.MethodTable
		if parent, err = rt.TrustedMethodTable(f.mt.Parent); err == nil {
			var ee *dac.EEClass
			if ee, err = rt.EEClass(parent); err == nil {
				class = ee.Addr
			}
		}
	}
	c.Printf("Parent Class:    %s\n", textOr(c, report.Hex16(class), err))
}

// The TypeAttributes that SOS names (ECMA-335 II.23.1.15).
var shownTypeAttributes = []struct {
	mask uint32
	name string
}{{0x20, "Interface"}, {0x80, "Abstract"}, {0x1000, "ComImport"}, {0x100, "Sealed"}}

// printDetails prints the attributes, the counts and the fields of the class.
func (f *typeFacts) printDetails(c *cli.Context, rt *dac.Runtime) {
	class := f.class
	if class == nil {
		c.Printf("Class Attributes:    %s\n", absent(c, f.classEr))
		return
	}
	c.Printf("Class Attributes:    %08x  ", class.Attributes)
	for _, a := range shownTypeAttributes {
		if class.Attributes&a.mask != 0 {
			c.Printf("%s ", a.name)
		}
	}
	c.Printf("\n")
	if !rt.CanonicalForClass() && f.mt.NumVirtuals != 0 {
		c.Printf("Vtable Slots:    %d\n", f.mt.NumVirtuals)
		c.Printf("Total Method Slots:  %d\n", rt.NumSlots(f.mt, class))
	}
	c.Printf("NumInstanceFields:   %d\n", class.NumInstanceFields)
	c.Printf("NumStaticFields:     %d\n", class.NumStaticFields)
	if class.NumThreadStatics != 0 {
		c.Printf("NumThreadStaticFields: %d\n", class.NumThreadStatics)
	}
	if class.NumInstanceFields+class.NumStaticFields > 0 {
		if err := printFields(c, f.mt); err != nil {
			c.Warn(err)
		}
	}
}

// printFields prints the fields of a type without an instance: statics have
// values, instance fields only offsets.
func printFields(c *cli.Context, mt *dac.MethodTable) error {
	r, err := viewOf(c).Objects()
	if err != nil {
		return err
	}
	fields, err := r.Fields(mt.Addr, c.Warn)
	if err != nil {
		return err
	}
	page := report.NewPage(c.Out, c.SOS, c.Warn, nil)
	text.Fields(page, fields)
	return page.Err()
}
