package typetext

import (
	"slices"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli/text"
	"github.com/sosgo/sosgo/internal/report"
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
	if code == answer.Known[target.Addr](0) {
		code.Value = ^target.Addr(0)
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
	case m.Jitted.Err != nil:
		return answer.Absent(m.Jitted.Err)
	case m.Jitted.Value:
		return "yes"
	}
	return "no"
}

// ilVersion returns the ILCodeVersionNode of the code: 0 for the IL in the metadata. No layout has the
// place of a profiler's.
func ilVersion(m *answer.Method) string {
	v := answer.Maybe[target.Addr]{Err: m.ReJIT.Err}
	if v.Err == nil && m.ReJIT.Value != 0 {
		v.Err = target.ErrUnsupported
	}
	return text.Hex16(v)
}

// rejit returns the ReJIT ID of the code, or the word for why it is missing.
func rejit(m *answer.Method) string {
	if m.ReJIT.Err != nil {
		return answer.Absent(m.ReJIT.Err)
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
