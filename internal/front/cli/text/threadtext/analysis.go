package threadtext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Analysis is the text of clrma.
func Analysis(p *report.Page, a *answer.ThreadAnalysis) {
	if p.SOS {
		p.Print("Managed analysis provider: SOSCLRMA\n")
	}
	p.Printf("OSThreadId: %x\nManaged stack trace:\n", a.OSID)
	w := analysisWriter{p: p}
	none := true
	for f := range report.Each(p, a.Frames) {
		none = false
		w.frame(analysisIndent, f)
	}
	if none {
		p.Print("    <no managed frames>\n")
	}
	switch {
	case len(a.Exceptions) > 0:
		p.Print("Current exception:\n")
		w.tree(&a.ExceptionTree)
	case a.Unread != nil:
		p.Printf("Current exception: %s\n", answer.Absent(a.Unread))
	case a.Thrown != 0:
		w.invalid("Current exception:", a.Thrown)
	default:
		p.Print("Current exception: <none>\n")
	}
	for i := range a.Nested {
		n, label := &a.Nested[i], fmt.Sprintf("Nested exception #%d:", i)
		if len(n.Exceptions) == 0 {
			w.invalid(label, n.Address)
			continue
		}
		p.Print(label + "\n")
		w.tree(&n.ExceptionTree)
	}
}

// An analysisWriter writes frames and exceptions as SOS's analysis does.
type analysisWriter struct {
	p       *report.Page
	written []bool // of the tree's exceptions: each is written once
}

const analysisIndent = "    "

func (w *analysisWriter) tree(t *answer.ExceptionTree) {
	w.written = make([]bool, len(t.Exceptions))
	w.exception(analysisIndent, t, 0)
}

// invalid is an exception that can't be read.
func (w *analysisWriter) invalid(label string, a target.Addr) {
	w.p.Printf("%s\n    Exception object: %s\n", label, w.address(a))
}

func (w *analysisWriter) address(a target.Addr) string {
	if w.p.SOS {
		return fmt.Sprintf("%016X", uint64(a))
	}
	return report.Hex16(a)
}

func (w *analysisWriter) maybe(a answer.Maybe[target.Addr]) string {
	if a.Err() != nil {
		return answer.Absent(a.Err())
	}
	return w.address(a.Value)
}

func (w *analysisWriter) frame(indent string, f *answer.Frame) {
	name, offset := f.Name(), f.Offset
	switch {
	case f.Kind == answer.FrameNative && f.Symbol != "":
		name, offset = f.Symbol, &f.SymbolOffset
	case w.p.SOS:
		name = f.Method.String()
	}
	switch {
	case name == "" && f.Module != "": // native code without a name
		name = f.Module
	case f.Module != "":
		name = f.Module + "!" + name
	case w.p.SOS: // of code without a module, as lambdas that were compiled at run time
		name = "UNKNOWN!" + name
	}
	where := place(f.File, f.Line)
	if f.AtException {
		where += atException
	}
	w.line(indent, w.maybe(f.SP), w.maybe(f.IP), name, offset, where)
}

// line is a frame of a stack, or of the trace of an exception.
func (w *analysisWriter) line(indent, sp, ip, name string, offset *uint64, where string) {
	text := ""
	if offset != nil {
		text = fmt.Sprintf("+0x%x", *offset)
	}
	if w.p.SOS {
		where = ""
	}
	w.p.Printf("%s%s %s %s%s%s\n", indent, sp, ip, report.Escape(name), text, where)
}

// exception writes exception i of a tree with those that caused it, in SOS's form with its inner exception alone.
func (w *analysisWriter) exception(indent string, t *answer.ExceptionTree, i int) {
	x := &t.Exceptions[i]
	w.p.Printf("%sException object: %s\n", indent, w.address(x.Address))
	if w.written[i] {
		return
	}
	w.written[i] = true
	w.p.Printf("%sException type:   %s\n", indent, report.Escape(x.Type.String()))
	w.p.Printf("%sMessage:          %s\n%sHResult:          %08x\n", indent, textOrNone(w.p, x.Message, len(indent)+len("Message:          ")), indent, uint64(x.HResult))
	w.trace(indent, x)
	for _, k := range t.Causes[i] {
		if !w.p.SOS || t.Exceptions[k].Address == x.Inner {
			w.p.Printf("%sInnerException:\n", indent)
			w.exception(indent+analysisIndent, t, k)
		}
	}
	omitted := slices.IndexFunc(t.Omitted, func(u answer.OmittedCauses) bool { return u.Exception == i })
	if omitted >= 0 && !w.p.SOS {
		w.p.Printf("%sOther causes: %s\n", indent, answer.Absent(t.Omitted[omitted].Err))
	}
}

// trace writes the stack trace of an exception, in SOS's form with its guess of faults (see Exception.Fault).
func (w *analysisWriter) trace(indent string, x *answer.Exception) {
	w.p.Printf("%sStackTrace (generated):\n", indent)
	adjust := uint64(0)
	if w.p.SOS && x.Fault {
		adjust = 1
	}
	for i := range x.Frames {
		f := &x.Frames[i]
		offset := f.Offset
		if offset != nil {
			moved := *offset + adjust
			offset = &moved
		}
		name, _, _ := strings.Cut(f.Function.String(), "(")
		w.line(indent, w.address(f.SP), w.address(f.IP+target.Addr(adjust)), name, offset, place(f.File, f.Line))
	}
	switch {
	case w.p.SOS:
	case x.TraceError != nil:
		w.p.Printf("%s%s\n", indent, answer.Absent(x.TraceError))
	case len(x.Frames) == 0:
		w.p.Printf("%s<none>\n", indent)
	}
}
