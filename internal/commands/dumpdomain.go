package commands

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpDomainCommand() cli.Command {
	return cli.Command{Name: "dumpdomain", Group: cli.GroupTypes, Summary: "list the application domain's assemblies and modules",
		Args:   []cli.Arg{{Name: "address", Kind: cli.Address, Optional: true, Summary: "of the domain; all domains without it"}},
		Result: []report.Part{report.ListOf[domainResult]("")}, NeedsDump: true, Run: runDumpDomain}
}

// domainResult is an item of the JSON result of dumpdomain.
type domainResult struct {
	Address    report.Address    `json:"address" doc:"of the domain"`
	Kind       string            `json:"kind" doc:"\"system\" or \"application\""`
	Name       string            `json:"name,omitempty" doc:"friendly name"`
	Heaps      []domainHeap      `json:"heaps,omitempty" doc:"native heaps that the domain's structures lie in"`
	Assemblies []assemblyDetails `json:"assemblies,omitempty" doc:"in the order in which they were loaded"`
}

type domainHeap struct {
	Kind    string         `json:"kind" doc:"what the runtime keeps in it"`
	Address report.Address `json:"address" doc:"of the heap"`
}

// assemblyDetails is the JSON result of dumpassembly.
type assemblyDetails struct {
	Assembly report.Address `json:"assembly" doc:"address of the Assembly"`
	Domain   report.Address `json:"domain" doc:"domain that it belongs to"`
	Path     string         `json:"path,omitempty" doc:"of its file; absent for one made in memory"`
	Dynamic  bool           `json:"dynamic" doc:"made by Reflection.Emit"`
	Module   report.Address `json:"module" doc:"address of its Module"`
	Name     string         `json:"name,omitempty" doc:"path of the module, or what it is"`
}

func newAssemblyDetails(c *cli.Context, domain target.Addr, m *dac.Module) assemblyDetails {
	a := assemblyDetails{Assembly: report.Address(m.Assembly), Domain: report.Address(domain), Module: report.Address(m.Addr)}
	path, err := m.Path()
	a.Path = textOr(c, path, err)
	a.Dynamic, _ = m.IsDynamic() // a layout that can't tell knows no dynamic module
	name, err := moduleLabel(m)
	a.Name = textOr(c, name, err)
	return a
}

func (a *assemblyDetails) printModule(c *cli.Context) {
	c.Printf("  Module\n  %016x    %s\n", uint64(a.Module), report.Escape(a.Name))
}

func dumpAssemblyCommand() cli.Command {
	return cli.Command{Name: "dumpassembly", Group: cli.GroupTypes, Summary: "describe an assembly",
		Args:   []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the Assembly"}},
		Result: []report.Part{report.Whole[assemblyDetails]()}, NeedsDump: true, Run: runDumpAssembly}
}

func runDumpAssembly(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	addr, _ := c.Addr("address")
	as, err := rt.Assembly(addr)
	if err != nil {
		return fmt.Errorf("%016x is not an Assembly: %w", uint64(addr), err)
	}
	domain, err := rt.AppDomain()
	if err != nil && domain.Addr == 0 {
		c.Warn(err)
	}
	a := newAssemblyDetails(c, domain.Addr, as.Module)
	if c.JSON() != nil {
		return c.JSON().Value(a)
	}
	name := a.Path
	if name == "" {
		name = "Unknown"
	}
	c.Printf("Parent Domain:      %016x\nName:               %s\n", uint64(a.Domain), report.Escape(name))
	a.printModule(c)
	return nil
}

func runDumpDomain(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	domains, err := domainsOf(c, rt)
	if err != nil {
		return err
	}
	want, one := c.Addr("address")
	found := false
	for _, d := range domains {
		if one && d.Address != report.Address(want) {
			continue
		}
		found = true
		if c.JSON() != nil {
			if err := c.JSON().Item("", d); err != nil {
				return err
			}
			continue
		}
		d.print(c)
	}
	if !found {
		return fmt.Errorf("%016x is not a domain: %w", uint64(want), target.ErrCorrupt)
	}
	return nil
}

// domainsOf are the system domain and the application domain; .NET Core has no
// others.
func domainsOf(c *cli.Context, rt *dac.Runtime) ([]domainResult, error) {
	system, err := rt.SystemDomain()
	if err != nil {
		return nil, err
	}
	app, err := rt.AppDomain()
	if err != nil && app.Addr == 0 {
		return nil, err
	}
	name := textOr(c, app.Name, err)
	heaps := domainHeaps(c, rt)
	out := []domainResult{{Address: report.Address(system), Kind: "system", Heaps: heaps},
		{Address: report.Address(app.Addr), Kind: "application", Name: name, Heaps: heaps}}
	mods, err := rt.Modules()
	if err != nil {
		c.Warn(err)
	}
	for _, m := range mods {
		out[1].Assemblies = append(out[1].Assemblies, newAssemblyDetails(c, app.Addr, m))
	}
	return out, nil
}

// domainHeaps are the heaps that SOS names for a domain.
func domainHeaps(c *cli.Context, rt *dac.Runtime) []domainHeap {
	global, err := rt.GlobalLoaderAllocator()
	var l *dac.LoaderAllocator
	if err == nil {
		l, err = rt.LoaderAllocator(global)
	}
	if err != nil {
		c.Warn(err)
	}
	if l == nil {
		return nil
	}
	var out []domainHeap
	for _, k := range []dac.LoaderHeapKind{dac.LowFrequencyHeap, dac.HighFrequencyHeap, dac.StubHeap} {
		if h := l.Heap(k); h != nil {
			out = append(out, domainHeap{k.String(), report.Address(h.Addr)})
		}
	}
	return out
}

func (d *domainResult) print(c *cli.Context) {
	title, name := "System Domain:", "None"
	if d.Kind == "application" {
		title, name = "Domain 1:", d.Name
	}
	c.Printf("--------------------------------------\n%-19s %016x\n", title, uint64(d.Address))
	for _, h := range d.Heaps {
		c.Printf("%-19s %016x\n", h.Kind+":", uint64(h.Address))
	}
	c.Printf("Stage:              OPEN\nName:               %s\n", report.Escape(name))
	for i, a := range d.Assemblies {
		if i > 0 {
			c.Printf("\n")
		}
		c.Printf("Assembly:           %016x%s [%s]\n", uint64(a.Assembly), [2]string{"", " (Dynamic)"}[trueIndex(a.Dynamic)], report.Escape(a.Path))
		a.printModule(c)
	}
	if len(d.Assemblies) > 0 {
		c.Printf("\n")
	}
}

func findAppDomainCommand() cli.Command {
	return cli.Command{Name: "findappdomain", Group: cli.GroupTypes, Summary: "say which application domain an object belongs to",
		Args:   []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the object"}},
		Help:   "Since .NET Core a process has one application domain.",
		Result: []report.Part{report.Whole[appDomainResult]()}, NeedsDump: true, Run: runFindAppDomain}
}

type appDomainResult struct {
	Address report.Address `json:"address" doc:"of the AppDomain"`
	Name    string         `json:"name,omitempty" doc:"friendly name"`
	ID      int            `json:"id" doc:"number of the domain"`
}

func runFindAppDomain(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	mt, err := rt.ObjectMethodTable(a)
	if err == nil {
		_, err = rt.MethodTable(mt)
	}
	if errors.Is(err, target.ErrCorrupt) || a == 0 {
		return fmt.Errorf("%016x is not a managed object: %w", uint64(a), err)
	}
	domain, err := rt.AppDomain()
	if err != nil && domain.Addr == 0 {
		return err
	}
	name := textOr(c, domain.Name, err)
	if c.JSON() != nil {
		return c.JSON().Value(appDomainResult{report.Address(domain.Addr), name, 1})
	}
	c.Printf("AppDomain: %016x\nName:      %s\nID:        1\n", uint64(domain.Addr), report.Escape(name))
	return nil
}
