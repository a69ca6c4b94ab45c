package typetext

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// The lookup maps in SOS's order.
var lookupMaps = []string{"TypeDefToMethodTableMap", "TypeRefToMethodTableMap", "MethodDefToDescMap", "FieldDefToDescMap",
	"MemberRefToDescMap", "FileReferencesMap", "AssemblyReferencesMap"}

// Module is the text of dumpmodule.
func Module(p *report.Page, d *answer.ModuleDetails) {
	m := &d.Module
	p.Printf("Name: %s\n", report.Escape(m.Name.String()))
	moduleAttributes(p, m)
	line := func(label, value string) { p.Printf("%-24s %s\n", label+":", value) }
	line("Assembly", report.Hex16(m.Assembly))
	line("BaseAddress", text.Hex16(m.ImageBase.Maybe))
	line("LoaderHeap", text.Hex16(m.LoaderAllocator.Maybe))
	for _, name := range lookupMaps {
		line(name, text.Hex16(m.Maps[name]))
	}
	if !m.ImageBase.IsZero() && !m.Metadata.IsZero() {
		p.Printf("MetaData start address:  %s (%d bytes)\n", report.Hex16(m.Metadata.Value), m.MetadataSize)
	}
	if l := m.DomainLocal; l != nil && !p.SOS {
		line("DomainLocalModule", fmt.Sprintf("%s (%d dynamic %s)", report.Hex16(l.Address), l.DynamicClasses,
			report.Noun(uint64(l.DynamicClasses), "class", "classes")))
		line("GCStatics", text.Hex16(l.GCStatics.Maybe))
	}
	if d.Types != nil {
		moduleTypes(p, "defined", "TypeDef", d.Types)
		// SOS's header has two blanks more here.
		moduleTypes(p, "referenced", fmt.Sprintf("  %16s", "TypeRef"), d.References)
	}
}

func moduleAttributes(p *report.Page, m *answer.Module) {
	p.Print("Attributes:              ")
	if m.Dynamic {
		p.Print("Reflection IsDynamic IsInMemory ")
	} else {
		p.Print("PEFile ")
	}
	if m.InMemory {
		p.Print("IsInMemory ")
	}
	switch {
	case m.Flat.Err() != nil && !p.SOS:
		p.Print("IsFileLayout=" + answer.Absent(m.Flat.Err()))
	case m.Flat.Value:
		p.Print("IsFileLayout ")
	}
	p.Print("\n")
}

func moduleTypes(p *report.Page, verb, column string, types iter.Seq2[answer.ModuleType, error]) {
	p.Printf("\nTypes %s in this module\n\n%16s %16s %s\n", verb, "MT", column, "Name")
	p.Print("------------------------------------------------------------------------------\n")
	for t := range report.Each(p, types) {
		p.Printf("%s 0x%08x %s\n", report.Hex16(t.MethodTable), uint64(t.Token), report.Escape(t.Name.String()))
	}
}

// Domains is the text of dumpdomain.
func Domains(p *report.Page, domains iter.Seq2[*answer.Domain, error]) {
	for d := range report.Each(p, domains) {
		domain(p, d)
	}
}

func domain(p *report.Page, d *answer.Domain) {
	title, name := "System Domain:", "None"
	if d.Kind == answer.DomainApplication {
		title, name = "Domain 1:", d.Name.String()
	}
	p.Printf("--------------------------------------\n%-19s %s\n", title, report.Hex16(d.Address))
	for _, h := range d.Heaps {
		p.Printf("%-19s %s\n", h.Kind+":", report.Hex16(h.Address))
	}
	p.Printf("Stage:              OPEN\nName:               %s\n", report.Escape(name))
	for i := range d.Assemblies {
		if i > 0 {
			p.Print("\n")
		}
		assemblyInDomain(p, &d.Assemblies[i])
	}
	if len(d.Assemblies) > 0 {
		p.Print("\n")
	}
}

func assemblyInDomain(p *report.Page, a *answer.Assembly) {
	dynamic := ""
	if a.Dynamic {
		dynamic = " (Dynamic)"
	}
	p.Printf("Assembly:           %s%s [%s]\n", report.Hex16(a.Assembly), dynamic, report.Escape(a.Path.String()))
	assemblyModule(p, a)
}

func assemblyModule(p *report.Page, a *answer.Assembly) {
	p.Printf("  Module\n  %s    %s\n", report.Hex16(a.Module), report.Escape(a.Name.String()))
}

// Assembly is the text of dumpassembly.
func Assembly(p *report.Page, a *answer.Assembly) {
	name := a.Path.String()
	if name == "" {
		name = "Unknown"
	}
	p.Printf("Parent Domain:      %s\nName:               %s\n", text.Hex16(a.Domain), report.Escape(name))
	assemblyModule(p, a)
}

// AppDomain is the text of findappdomain.
func AppDomain(p *report.Page, d *answer.AppDomain) {
	p.Printf("AppDomain: %s\nName:      %s\nID:        %d\n", report.Hex16(d.Address), report.Escape(d.Name.String()), d.ID)
}

// LoadContext is the text of dumpalc.
func LoadContext(p *report.Page, l *answer.LoadContext) {
	if l.Object == nil {
		p.Print("Name:        System.Runtime.Loader.DefaultAssemblyLoadContext\nThe managed instance of this context doesn't exist yet\n")
		return
	}
	text.Object(p, l.Object)
}

// InvalidObject writes SOS's text for an address without an object.
func InvalidObject(p *report.Page, err error) { text.InvalidObject(p, err) }
