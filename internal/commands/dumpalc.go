package commands

import (
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

func dumpALCCommand() cli.Command {
	return cli.Command{Name: "dumpalc", Group: cli.GroupTypes, Summary: "print the AssemblyLoadContext that the type of an object was loaded into",
		Args:   []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the object"}},
		Result: []report.Part{report.Whole[objectResult]()}, NeedsDump: true, Run: runDumpALC}
}

func runDumpALC(c *cli.Context) error {
	p, err := newObjectPrinter(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	o, err := p.r.Object(a)
	if err != nil {
		return p.invalid(err)
	}
	m, err := p.rt.Module(o.Type.MT.Module)
	if err != nil {
		return err
	}
	alc, err := m.LoadContext()
	if err != nil {
		return err
	}
	if alc == 0 {
		if c.JSON() == nil {
			c.Printf("Name:        System.Runtime.Loader.DefaultAssemblyLoadContext\nThe managed instance of this context doesn't exist yet\n")
		}
		return nil
	}
	if o, err = p.r.Object(alc); err != nil {
		return p.invalid(err)
	}
	if c.JSON() != nil {
		return c.JSON().Value(p.objectResult(o, true, false))
	}
	p.object(o)
	return nil
}
