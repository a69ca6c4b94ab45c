package typetext

import (
	"errors"
	"iter"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// MethodTable writes the text of dumpmt, or of dumpmt -all if details is set.
func MethodTable(p *report.Page, t *answer.Type, details bool) {
	if t.Free {
		p.Print("Free MethodTable\n")
		return
	}
	row := func(label, value string) { p.Printf("%-20s %s\n", label, report.Escape(value)) }
	row("Parent:", report.Hex16(*t.Parent))
	switch {
	case !t.ByCanonical:
		row("EEClass:", text.Hex16(t.EEClass.Maybe))
	case t.Canonical != t.MethodTable:
		row("Canonical:", report.Hex16(t.Canonical))
	}
	row("Module:", text.Hex16(t.Module.Maybe))
	row("Name:", text.String(t.Name))
	row("mdToken:", token(t))
	row("File:", text.String(t.File))
	loader(row, t)
	row("BaseSize:", report.Hex(uint64(t.DataSize)))
	if t.ComponentSize != 0 {
		row("ComponentSize:", report.Hex(uint64(t.ComponentSize)))
	}
	row("Has GC Pointers:", strconv.FormatBool(t.GCPointers))
	if t.Methods != nil {
		row("Number of Methods:", strconv.Itoa(*t.Methods))
	} else {
		row("Number of Methods:", answer.Absent(t.EEClass.Err()))
	}
	p.Printf("%-29s %d\n", "Number of IFaces in IFaceMap:", t.NumInterfaces)
	if t.InitializerFailed && !p.SOS {
		row("Class initializer:", initializerFailed)
	}
	if t.HasMethods {
		methodTable(p, t)
	}
	if details {
		p.Print("--------------------------------------\nAdditional Details\n")
		classDetails(p, t)
	}
}

// loader writes the loader of a type. Runtimes without load contexts have no line for it.
func loader(row func(label, value string), t *answer.Type) {
	if !answer.Is(t.LoaderAllocator.Maybe, 0) {
		row("LoaderAllocator:", text.Hex16(t.LoaderAllocator.Maybe))
	}
	switch {
	case errors.Is(t.LoadContext.Err(), target.ErrUnsupported):
	case answer.Is(t.LoadContext.Maybe, 0):
		row("AssemblyLoadContext:", "Default ALC - The managed instance of this context doesn't exist yet.")
	default:
		row("AssemblyLoadContext:", text.Hex16(t.LoadContext.Maybe))
	}
}

// methodTable writes the methods of a type. SOS prints NONE for missing code.
func methodTable(p *report.Page, t *answer.Type) {
	p.Print("--------------------------------------\nMethodDesc Table\n")
	table := p.Columns(16, 16, 6, -16, 0)
	table.Row("Entry", "MethodDesc", "JIT", "Slot", "Name")
	for i := range t.MethodList {
		m := &t.MethodList[i]
		code := m.Code.String()
		if p.SOS && m.Code.Err != nil {
			code = "NONE"
		}
		table.Row(report.Hex16(m.Entry), report.Hex16(m.MethodDesc), code, report.Hex16(uint64(m.Slot)), text.String(m.Name))
	}
}

// initializerFailed is the state of a class with a static constructor that threw an exception.
const initializerFailed = "failed (it threw an exception)"

// token returns the metadata token of a type, or the reason why it is missing.
func token(t *answer.Type) string {
	if t.Token == 0 && t.Module.Err() != nil {
		return answer.Absent(t.Module.Err())
	}
	return report.Hex16(t.Token)
}

// Class is the text of dumpclass.
func Class(p *report.Page, t *answer.Type) {
	p.Printf("Class Name:      %s\n", report.Escape(text.String(t.Name)))
	p.Printf("mdToken:         %s\n", token(t))
	p.Printf("File:            %s\n", report.Escape(text.String(t.File)))
	if t.ByCanonical {
		p.Printf("Parent:    %s\n", report.Hex16(*t.Parent))
	} else {
		p.Printf("Parent Class:    %s\n", text.Hex16(t.ParentClass))
	}
	p.Printf("Module:          %s\n", text.Hex16(t.Module.Maybe))
	p.Printf("Method Table:    %s\n", report.Hex16(t.MethodTable))
	if t.InitializerFailed && !p.SOS {
		p.Printf("Initializer:     %s\n", initializerFailed)
	}
	if t.ByCanonical && t.Canonical != t.MethodTable {
		p.Printf("Canonical:    %s\n", report.Hex16(t.Canonical))
	}
	classDetails(p, t)
}

// The TypeAttributes that SOS prints (ECMA-335 II.23.1.15).
var typeAttributes = []struct {
	mask answer.Hex
	name string
}{{0x20, "Interface"}, {0x80, "Abstract"}, {0x1000, "ComImport"}, {0x100, "Sealed"}}

// classDetails writes the attributes, the counts and the fields of the class.
func classDetails(p *report.Page, t *answer.Type) {
	if t.Attributes == nil {
		p.Printf("Class Attributes:    %s\n", answer.Absent(t.EEClass.Err()))
		return
	}
	p.Printf("Class Attributes:    %08x  ", uint64(*t.Attributes))
	for _, a := range typeAttributes {
		if *t.Attributes&a.mask != 0 {
			p.Printf("%s ", a.name)
		}
	}
	p.Print("\n")
	if !t.ByCanonical && t.NumVirtuals != 0 {
		p.Printf("Vtable Slots:    %d\n", t.NumVirtuals)
		p.Printf("Total Method Slots:  %d\n", t.NumSlots)
	}
	p.Printf("NumInstanceFields:   %d\n", *t.InstanceFields)
	p.Printf("NumStaticFields:     %d\n", *t.StaticFields)
	if t.ThreadStatics != 0 {
		p.Printf("NumThreadStaticFields: %d\n", t.ThreadStatics)
	}
	if t.Listed() {
		text.Fields(p, &t.FieldList)
	}
}

// LoadedTypes is the text of types.
func LoadedTypes(p *report.Page, types iter.Seq2[answer.LoadedType, error]) {
	table := p.Table(
		report.Column{Name: "MT", Kind: report.Pointer},
		report.Column{Name: "BaseSize", Kind: report.PlainInteger},
		report.Column{Name: "Count", Kind: report.Integer},
		report.Column{Name: "TotalSize", Kind: report.Integer},
		report.Column{Name: "Class Name", Kind: report.Text})
	p.Fail(table.Header())
	for t := range report.Each(p, types) {
		if t.Count == nil {
			p.Fail(table.Row(uint64(t.MethodTable), t.BaseSize, nil, nil, t.Name))
			continue
		}
		p.Fail(table.Row(uint64(t.MethodTable), t.BaseSize, *t.Count, *t.Size, t.Name))
	}
}

// Statics is the text of statics.
func Statics(p *report.Page, fields iter.Seq2[answer.StaticField, error]) {
	for f := range report.Each(p, fields) {
		value, note := text.PlaceText(p.SOS, &f.Place)
		if note != "" {
			note = " = " + report.Escape(note)
		}
		thread := ""
		if f.Thread != nil {
			thread = " [" + report.Escape(text.Thread(f.Thread)) + "]"
		}
		slot := ""
		if f.Slot != 0 { // a field that was never initialized has no slot; a slot may also be unknown
			slot = report.Hex16(f.Slot)
		}
		p.Printf("%16s %16s %s.%s%s%s\n", slot, value,
			report.Escape(f.DeclaringType.String()), report.Escape(f.Name.String()), thread, note)
	}
}

// RuntimeTypes is the text of dumpruntimetypes. SOS prints no domain for types without a MethodTable.
func RuntimeTypes(p *report.Page, types iter.Seq2[answer.RuntimeType, error]) {
	table := p.Table(report.Column{Name: "Address", Kind: report.Pointer}, report.Column{Name: "Domain", Kind: report.Pointer},
		report.Column{Name: "MT", Kind: report.Pointer}, report.Column{Name: "Type Name", Kind: report.TypeName})
	none := true
	for t := range report.Each(p, types) {
		if none {
			p.Fail(table.Header())
			none = false
		}
		var domain any
		if t.Handle&2 == 0 {
			domain = uint64(t.Domain)
		}
		p.Fail(table.Row(uint64(t.Address), domain, uint64(t.Handle), t.Name))
	}
	if none && p.Err() == nil {
		p.Print("No System.RuntimeType objects found.\n")
	}
}
