package typetext

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Method is the text of dumpmd.
func Method(p *report.Page, m *answer.Method) {
	field := func(label, value string) { p.Printf("%-21s %s\n", label, report.Escape(value)) }
	field("Method Name:", text.String(m.Name))
	field("Class:", text.Hex16(m.Class.Maybe))
	field("MethodTable:", report.Hex16(m.MethodTable))
	field("mdToken:", report.Hex16(m.Token))
	field("Module:", text.Hex16(m.Module.Maybe))
	field("IsJitted:", jitted(m))
	code := m.Code.Maybe
	if answer.Is(code, 0) {
		code = answer.Known(^target.Addr(0))
	}
	field("Current CodeAddr:", text.Hex16(code))
	p.Printf("Version History:\n  ILCodeVersion:      %s\n  ReJIT ID:           %s\n", ilVersion(m), rejit(m))
	il := m.IL.Maybe
	if p.SOS && !m.MetadataInDump {
		il = answer.Known[target.Addr](0) // SOS reads metadata from the dump alone here
	}
	p.Printf("  IL Addr:            %s\n", text.Hex16(il))
	for _, v := range slices.Backward(m.Versions) {
		p.Printf("     CodeAddr:           %s  (%s)\n     NativeCodeVersion:  %s\n", report.Hex16(v.Code), v.Tier, report.Hex16(v.Node))
	}
}

func jitted(m *answer.Method) string {
	switch {
	case m.Jitted.Err() != nil:
		return answer.Absent(m.Jitted.Err())
	case m.Jitted.Value:
		return "yes"
	}
	return "no"
}

// ilVersion returns the ILCodeVersionNode of the code, or 0 for the IL in the metadata. No layout describes the node
// of a profiler's IL.
func ilVersion(m *answer.Method) string {
	if m.ReJIT.Err() == nil && m.ReJIT.Value != 0 {
		return text.Hex16(answer.Missing[target.Addr](target.ErrUnsupported))
	}
	return text.Hex16(answer.Of(target.Addr(0), m.ReJIT.Err()))
}

// rejit returns the ReJIT ID of the code, or the word for why it is missing.
func rejit(m *answer.Method) string {
	if m.ReJIT.Err() != nil {
		return answer.Absent(m.ReJIT.Err())
	}
	return strconv.FormatUint(m.ReJIT.Value, 10)
}

// MethodAt is the text of ip2md.
func MethodAt(p *report.Page, m *answer.Method) {
	p.Printf("MethodDesc:   %s\n", report.Hex16(m.MethodDesc))
	Method(p, m)
	if s := m.Source; s != nil {
		p.Printf("Source file:  %s @ %d\n", report.Escape(s.File), s.Line)
	}
}

// NoMethodDesc is what SOS prints of an address that holds no MethodDesc.
func NoMethodDesc(p *report.Page, a target.Addr) {
	if p.SOS {
		p.Printf("%s is not a MethodDesc\n", report.Hex16(a))
	}
}

// NoMethodAt is what SOS prints of an address in no method's code.
func NoMethodAt(p *report.Page, a target.Addr) {
	switch {
	case !p.SOS:
	case a == 0:
		p.Printf("%s is not IP\n", report.Hex16(a))
	default:
		p.Print("Failed to request MethodData, not in JIT code range\n")
	}
}

// Handlers is the text of ehinfo.
func Handlers(p *report.Page, h *answer.Handlers) {
	if h.Details == nil {
		p.Print("No EH info available\n")
		return
	}
	p.Printf("MethodDesc:   %s\n", report.Hex16(h.Method))
	Method(p, h.Details)
	p.Print("\n")
	for i := range h.Clauses {
		handler(p, h.Start, i, &h.Clauses[i])
	}
}

func handler(p *report.Page, start target.Addr, i int, c *answer.HandlerClause) {
	p.Printf("EHHandler %d: %s ", i, c.Kind)
	if c.Kind == answer.HandlerTyped {
		p.Printf("catch(%s) ", report.Escape(c.Catches.String()))
	}
	switch {
	case c.Cloned:
		p.Print("(cloned finally)")
	case c.Duplicate:
		p.Print("(duplicate)")
	}
	p.Printf("\nClause:  %s\nHandler: %s\n", codeRange(start, c.Try), codeRange(start, c.Handler))
	if c.Filter != nil {
		p.Printf("Filter: [%s] [%x]\n", tickAddress(start+target.Addr(*c.Filter)), *c.Filter)
	}
	p.Print("\n")
}

// codeRange returns a range as addresses and as offsets, in SOS's form.
func codeRange(start target.Addr, s answer.CodeSpan) string {
	return fmt.Sprintf("[%s, %s] [%x, %x]",
		tickAddress(start+target.Addr(s.Start)), tickAddress(start+target.Addr(s.End)), s.Start, s.End)
}

// tickAddress returns an address as Windows debuggers print it.
func tickAddress(a target.Addr) string {
	s := report.Hex16(a)
	return s[:8] + "`" + s[8:]
}

// Signature is the text of dumpsig and dumpsigelem.
func Signature(p *report.Page, s *answer.Signature) { p.Printf("%s\n", report.Escape(s.Signature)) }
