package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpRuntimeTypesCommand() cli.Command {
	return cli.Command{Name: "dumpruntimetypes", Group: cli.GroupTypes, Summary: "list the System.RuntimeType objects of the heap and the types that they stand for",
		Result: []report.Part{report.ListOf[runtimeTypeItem]("")}, NeedsDump: true, Run: runDumpRuntimeTypes}
}

// runtimeTypeItem is an item of the JSON result of dumpruntimetypes.
type runtimeTypeItem struct {
	Address report.Address `json:"address" doc:"of the RuntimeType object"`
	Handle  report.Address `json:"typeHandle" doc:"MethodTable of the type, or its TypeDesc with the second bit set"`
	Name    string         `json:"name,omitempty" doc:"of the type"`
}

func runDumpRuntimeTypes(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	h, err := heapOf(c)
	if err != nil {
		return err
	}
	r, err := viewOf(c).Objects()
	if err != nil {
		return err
	}
	wanted, err := typeNamed(rt, "System.RuntimeType")
	if err != nil {
		return err
	}
	p, err := newRuntimeTypePrinter(c, rt, r)
	if err != nil {
		return err
	}
	for o, err := range h.Objects() {
		if c.Context().Err() != nil {
			return c.Context().Err()
		}
		if err != nil {
			c.Warn(err)
			continue
		}
		if o.Type != nil && o.Type.Addr == wanted {
			if err := p.row(o.Addr); err != nil {
				return err
			}
		}
	}
	return p.end()
}

// typeNamed is the MethodTable of a type of CoreLib.
func typeNamed(rt *dac.Runtime, name string) (target.Addr, error) {
	lib, err := rt.CoreLib()
	if err != nil {
		return 0, err
	}
	md, err := lib.Metadata()
	if err != nil {
		return 0, err
	}
	t, ok := md.FindTypeDef(name)
	if !ok {
		return 0, target.Unsupportedf("%s has no type %s", "System.Private.CoreLib", name)
	}
	mt, err := lib.LoadedType(t)
	if err == nil && mt == 0 {
		err = fmt.Errorf("%s is not loaded: %w", name, target.ErrNotInDump)
	}
	return mt, err
}

type runtimeTypePrinter struct {
	c      *cli.Context
	rt     *dac.Runtime
	r      *objects.Reader
	domain target.Addr
	table  *report.Table
	rows   int
}

func newRuntimeTypePrinter(c *cli.Context, rt *dac.Runtime, r *objects.Reader) (*runtimeTypePrinter, error) {
	domain, err := rt.AppDomain()
	if err != nil {
		c.Warn(err)
	}
	p := &runtimeTypePrinter{c: c, rt: rt, r: r, domain: domain.Addr}
	if c.JSON() != nil {
		return p, c.JSON().List("")
	}
	p.table = report.NewTable(c.Out, report.Column{Name: "Address", Kind: report.Pointer}, report.Column{Name: "Domain", Kind: report.Pointer},
		report.Column{Name: "MT", Kind: report.Pointer}, report.Column{Name: "Type Name", Kind: report.TypeName})
	return p, nil
}

// row prints the type that the object at a stands for. SOS does not know the
// names of those that have no MethodTable, and their domain neither.
func (p *runtimeTypePrinter) row(a target.Addr) error {
	o, err := p.r.Object(a)
	if err != nil {
		p.c.Warn(err)
		return nil
	}
	handle, err := o.Field("m_handle").Addr()
	if err != nil {
		p.c.Warn(err)
		return nil
	}
	name, err := p.rt.TypeHandleName(handle, dac.NameManaged)
	name = textOr(p.c, name, err)
	if p.c.JSON() != nil {
		return p.c.JSON().Item("", runtimeTypeItem{report.Address(a), report.Address(handle), name})
	}
	if p.rows == 0 {
		if err := p.table.Header(); err != nil {
			return err
		}
	}
	p.rows++
	if handle&2 != 0 {
		return p.table.Row(uint64(a), nil, uint64(handle), name)
	}
	return p.table.Row(uint64(a), uint64(p.domain), uint64(handle), name)
}

func (p *runtimeTypePrinter) end() error {
	if p.c.JSON() == nil && p.rows == 0 {
		p.c.Printf("No System.RuntimeType objects found.\n")
	}
	return nil
}
