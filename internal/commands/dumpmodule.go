package commands

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpModuleCommand() cli.Command {
	return cli.Command{Name: "dumpmodule", Group: cli.GroupTypes, Summary: "describe a managed module",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the Module"}},
		Options: []cli.Option{{Name: "mt", Kind: cli.Bool, Summary: "list the loaded types that it defines and refers to"}},
		Result: []report.Part{report.FieldOf[moduleDetails]("module"), report.ListOf[moduleType]("types"),
			report.ListOf[moduleType]("references")},
		NeedsDump: true, Run: runDumpModule}
}

// moduleDetails is the JSON result of dumpmodule.
type moduleDetails struct {
	Module          report.Address            `json:"module" doc:"address of the Module"`
	Name            string                    `json:"name,omitempty" doc:"path of the file"`
	Assembly        report.Address            `json:"assembly" doc:"address of the Assembly"`
	ImageBase       report.Address            `json:"imageBase,omitempty" doc:"where the image lies"`
	LoaderAllocator report.Address            `json:"loaderAllocator,omitempty" doc:"owns the module's structures"`
	Dynamic         bool                      `json:"dynamic" doc:"made by Reflection.Emit"`
	InMemory        bool                      `json:"inMemory" doc:"loaded from bytes, not from a file"`
	Flat            bool                      `json:"flat" doc:"the image is laid out as in its file"`
	Maps            map[string]report.Address `json:"maps" doc:"tables from metadata rows to structures"`
	Metadata        report.Address            `json:"metadata,omitempty" doc:"where the metadata lies"`
	MetadataSize    uint64                    `json:"metadataSize,omitempty" doc:"bytes of metadata"`
}

type moduleType struct {
	MethodTable report.Address `json:"methodTable" doc:"of the type"`
	Token       report.Address `json:"token" doc:"TypeDef or TypeRef"`
	Name        string         `json:"name,omitempty" doc:"of the type"`
}

// The lookup maps in SOS's order, with its names.
var shownMaps = []struct {
	name string
	kind dac.Map
}{
	{"TypeDefToMethodTableMap", dac.MapTypeDef}, {"TypeRefToMethodTableMap", dac.MapTypeRef}, {"MethodDefToDescMap", dac.MapMethodDef},
	{"FieldDefToDescMap", dac.MapFieldDef}, {"MemberRefToDescMap", dac.MapMemberRef}, {"FileReferencesMap", dac.MapFileRef},
	{"AssemblyReferencesMap", dac.MapAssemblyRef},
}

func runDumpModule(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	m, err := rt.Module(a)
	if err != nil {
		return fmt.Errorf("%016x is not a Module: %w", uint64(a), err)
	}
	d := describeModule(c, m)
	if c.JSON() != nil {
		err = c.JSON().Field("module", d)
	} else {
		d.print(c)
	}
	if err == nil && c.Bool("mt") {
		err = listModuleTypes(c, rt, m)
	}
	return err
}

func describeModule(c *cli.Context, m *dac.Module) moduleDetails {
	d := moduleDetails{Module: report.Address(m.Addr), Assembly: report.Address(m.Assembly), Maps: map[string]report.Address{}}
	name, err := moduleFile(m)
	if d.Name = textOr(c, name, err); d.Name == "" {
		d.Name = "Unknown Module"
	}
	d.Dynamic, _ = m.IsDynamic() // a layout that can't tell knows no dynamic module
	at, err := m.Image()
	if err != nil {
		c.Warn(err)
	}
	d.ImageBase = report.Address(at.Start)
	path, pathErr := m.Path()
	d.InMemory = pathErr == nil && path == "" && at.Start != 0
	if d.Flat, err = m.IsFlat(); err != nil {
		c.Warn(err)
	}
	for _, k := range shownMaps {
		table, err := m.MapTable(k.kind)
		if err != nil && !errors.Is(err, target.ErrUnsupported) { // not every runtime has all maps
			c.Warn(err)
		}
		d.Maps[k.name] = report.Address(table)
	}
	allocator, err := m.LoaderAllocator()
	if err != nil && !errors.Is(err, target.ErrUnsupported) { // before 8 modules don't name it
		c.Warn(err)
	}
	d.LoaderAllocator = report.Address(allocator)
	if _, err := m.Metadata(); err != nil {
		c.Warn(err)
	} else {
		where := m.MetadataSource()
		d.Metadata, d.MetadataSize = report.Address(where.Addr), where.Size
	}
	return d
}

func (d *moduleDetails) print(c *cli.Context) {
	c.Printf("Name: %s\nAttributes:              ", report.Escape(d.Name))
	for _, f := range []struct {
		set  bool
		name string
	}{{!d.Dynamic, "PEFile"}, {d.Dynamic, "Reflection IsDynamic IsInMemory"}, {d.InMemory, "IsInMemory"}, {d.Flat, "IsFileLayout"}} {
		if f.set {
			c.Printf("%s ", f.name)
		}
	}
	c.Printf("\n")
	line := func(label string, a report.Address) { c.Printf("%-24s %016x\n", label+":", uint64(a)) }
	line("Assembly", d.Assembly)
	line("BaseAddress", d.ImageBase)
	line("LoaderHeap", d.LoaderAllocator)
	for _, k := range shownMaps {
		line(k.name, d.Maps[k.name])
	}
	if d.ImageBase != 0 && d.Metadata != 0 {
		c.Printf("MetaData start address:  %016x (%d bytes)\n", uint64(d.Metadata), d.MetadataSize)
	}
}

func listModuleTypes(c *cli.Context, rt *dac.Runtime, m *dac.Module) error {
	const header = "\nTypes %s in this module\n\n%16s %16s %s\n------------------------------------------------------------------------------\n"
	for _, l := range []struct {
		list, verb, column string
		kind               dac.Map
		table              metadata.TableID
	}{{"types", "defined", "TypeDef", dac.MapTypeDef, metadata.TableTypeDef}, {"references", "referenced", "TypeRef", dac.MapTypeRef, metadata.TableTypeRef}} {
		if c.JSON() == nil {
			column := l.column
			if l.kind == dac.MapTypeRef {
				column = fmt.Sprintf("  %16s", column) // SOS's header has two blanks more here
			}
			c.Printf(header, l.verb, "MT", column, "Name")
		} else if err := c.JSON().List(l.list); err != nil {
			return err
		}
		for e, err := range m.Entries(l.kind) {
			if err != nil {
				c.Warn(err)
				continue
			}
			token := metadata.NewToken(l.table, e.Row)
			t := moduleType{report.Address(e.Value), report.Address(token), rowName(c, rt, m, token, e.Value)}
			if c.JSON() != nil {
				if err := c.JSON().Item(l.list, t); err != nil {
					return err
				}
				continue
			}
			c.Printf("%016x 0x%08x %s\n", uint64(t.MethodTable), uint64(t.Token), report.Escape(t.Name))
		}
	}
	return nil
}

// rowName is the name of a type that a lookup map has: what metadata calls it,
// which is there in dumps that lack the MethodTable.
func rowName(c *cli.Context, rt *dac.Runtime, m *dac.Module, token metadata.Token, mt target.Addr) string {
	md, err := m.Metadata()
	if err == nil {
		var name string
		if name, err = md.TypeFullName(token); err == nil {
			return name
		}
	}
	name, err := rt.TypeHandleName(mt, dac.NameNative)
	return textOr(c, name, err)
}
