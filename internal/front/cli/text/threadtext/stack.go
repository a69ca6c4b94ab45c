package threadtext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// StackOptions choose the form of stacks.
type StackOptions struct {
	All       bool // several threads
	Full      bool // modules and offsets
	Registers bool
	Variables bool // there are arguments or locals
}

// Stacks is the text of clrstack.
func Stacks(p *report.Page, s *answer.Stacks, o StackOptions) {
	if s.Debug != nil {
		debugStack(p, s)
		return
	}
	for t := range report.Each(p, s.Threads) {
		if o.All {
			p.Printf("OS Thread Id: %#x\n", t.OSID)
		} else {
			threadHeading(p, &t.ThreadID)
		}
		if t.Frames == nil {
			p.Print(unmanagedThread)
			continue
		}
		p.Printf("%16s %16s %s\n", "Child SP", "IP", "Call Site")
		w := frameWriter{p: p, o: o}
		for f := range report.Each(p, t.Frames) {
			if f.Cycle > 0 {
				p.Printf("%s times the next %s:\n", report.Commas(uint64(f.Repeat)), frameCount(f.Cycle))
			}
			w.frame(f)
		}
	}
}

// threadHeading is the line that SOS prints before what belongs to a thread.
func threadHeading(p *report.Page, t *answer.ThreadID) {
	p.Printf("OS Thread Id: %#x (%d)\n", t.OSID, t.Index)
}

const unmanagedThread = "Unable to walk the managed stack. The current thread is likely not a \n" +
	"managed thread. You can run clrthreads to get a list of managed threads in\nthe process\n"

// A frameWriter writes the frames of one thread.
type frameWriter struct {
	p *report.Page
	o StackOptions

	// carried holds the registers as SOS prints them: a register that a frame does not restore keeps
	// its value from the frame above.
	carried target.Registers
}

func (w *frameWriter) frame(f *answer.Frame) {
	ip := pointer(f.IP)
	if f.Kind == answer.FrameExplicit && (w.o.Full || f.IP.Err() != nil) { // the frame's own address suffices
		ip = ""
	}
	w.p.Printf("%16s %16s %s\n", pointer(f.SP), ip, w.callSite(f))
	if w.o.Registers {
		w.registers(f.Registers.Registers)
	}
	for i := range f.References {
		w.p.Printf("%*s%s\n", referenceIndent, "", referenceLine(w.p, &f.References[i]))
	}
	if w.o.Variables && f.Kind == answer.FrameManaged {
		w.variables("PARAMETERS", f.Arguments, true)
		w.variables("LOCALS", f.Locals, false)
		w.p.Print("\n")
	}
}

// callSite returns the last column.
func (w *frameWriter) callSite(f *answer.Frame) string {
	var b strings.Builder
	switch f.Kind {
	case answer.FrameExplicit:
		fmt.Fprintf(&b, "[%s: %s] ", report.Escape(f.Class), pointer(f.SP))
		w.method(&b, f)
	case answer.FrameManaged:
		w.method(&b, f)
		if w.o.Full {
			writeOffset(&b, f)
		}
	case answer.FrameOther:
		if f.Runtime != nil {
			fmt.Fprintf(&b, "[%d frames of the runtime #%d: use -runtime %d]", f.Count, *f.Runtime, *f.Runtime)
		}
	case answer.FrameNative:
		if f.Generated {
			b.WriteString(f.NativeName())
		} else if f.Symbol != "" {
			fmt.Fprintf(&b, "%s!%s + %d", report.Escape(f.Module), report.Escape(f.Symbol), f.SymbolOffset)
		} else {
			b.WriteString(report.Escape(f.Module))
			writeOffset(&b, f)
		}
	}
	if f.File != "" {
		fmt.Fprintf(&b, " [%s @ %d]", report.Escape(f.File), f.Line)
	}
	if f.AtException {
		b.WriteString(atException)
	}
	if !w.p.SOS && f.Guessed {
		fmt.Fprintf(&b, " (found by %s)", f.Trust)
	}
	return b.String()
}

// atException marks where a walk began.
const atException = " (where the exception was raised)"

// writeOffset writes the frame's place in its method or module, where it is known.
func writeOffset(b *strings.Builder, f *answer.Frame) {
	switch {
	case f.Offset != nil:
		fmt.Fprintf(b, " + %d", *f.Offset)
	case f.Kind == answer.FrameNative && f.Module == "":
		b.WriteString("<unknown module>")
	}
}

// method writes the method, in full after its module.
func (w *frameWriter) method(b *strings.Builder, f *answer.Frame) {
	if w.o.Full && f.Module != "" {
		b.WriteString(report.Escape(f.Module) + "!")
	}
	name := f.Name()
	if w.p.SOS {
		name = f.Method.String()
	}
	b.WriteString(report.Escape(name))
	if !w.p.SOS && f.Method.Err != nil && f.MethodDesc != 0 { // something to go on with: dumpmd, dumpmt
		fmt.Fprintf(b, " (MethodDesc %s)", report.Hex16(f.MethodDesc))
	}
}

func (w *frameWriter) registers(regs target.Registers) {
	processor, err := regs.Arch.Processor()
	if err != nil {
		w.p.Warn(err)
		return
	}
	if w.p.SOS {
		w.carried.Arch = regs.Arch
		for r, v := range regs.All {
			w.carried.Set(r, v)
		}
		regs = w.carried
	}
	for _, row := range processor.Rows {
		w.p.Print("   ")
		for _, r := range row {
			v, ok := regs.Get(r)
			text := report.Hex16(v)
			if !ok {
				text = fmt.Sprintf("%-16s", "<unknown>")
			}
			w.p.Printf(" %3s=%s", target.RegName(regs.Arch, r), text)
		}
		w.p.Print("\n")
	}
}

func (w *frameWriter) variables(title string, vars []answer.Variable, arguments bool) {
	if len(vars) == 0 {
		return
	}
	w.p.Printf("    %s:\n", title)
	for i := range vars {
		if w.p.SOS {
			w.p.Printf("        %s\n", w.sosVariable(&vars[i], arguments))
		} else {
			w.p.Printf("        %s\n", variable(&vars[i], arguments))
		}
	}
}

// sosVariable returns a variable as SOS has it: arguments with their names.
func (w *frameWriter) sosVariable(v *answer.Variable, argument bool) string {
	text := ""
	if argument && v.Name != "" {
		text = report.Escape(v.Name) + " "
	}
	if text += sosPlace(v, argument); text != "" {
		text += "= "
	}
	return text + w.sosValue(v)
}

// sosPlace returns where a variable is, as SOS words it.
func sosPlace(v *answer.Variable, parentheses bool) string {
	if !v.Located || v.Split {
		return ""
	}
	text := "<CLR reg>"
	if v.Address != 0 {
		text = "0x" + report.Hex16(v.Address)
	}
	if parentheses {
		text = "(" + text + ")"
	}
	return text + " "
}

// sosValue returns the number in a variable's place. SOS extends the sign of 16 bits.
func (w *frameWriter) sosValue(v *answer.Variable) string {
	switch {
	case v.State == answer.VariableNoData:
		return "<no data>"
	case v.WordErr != nil:
		if v.State == answer.VariableValue { // else the value's error was noted
			w.p.Warn(v.WordErr)
		}
		return "<unable to retrieve data>"
	case v.WordSize == 2:
		return "0x" + report.Hex16(uint64(int64(int16(v.Word))))
	}
	return "0x" + report.Hex16(v.Word)
}

// variable returns a variable with its name, place, type and value.
func variable(v *answer.Variable, argument bool) string {
	name := v.Name
	switch {
	case name != "":
	case argument:
		name = fmt.Sprintf("A_%d", v.Index)
	default:
		name = fmt.Sprintf("V_%d", v.Index)
	}
	switch {
	case v.Register != "":
		name += " (" + v.Register + ")"
	case v.Address != 0:
		name += " (0x" + report.Hex16(v.Address) + ")"
	}
	value := v.Value
	if v.State != answer.VariableValue {
		value = "<" + string(v.State) + ">"
	}
	return fmt.Sprintf("%s: %s = %s", report.Escape(name), report.Escape(v.Type.String()), report.Escape(value))
}

// The limits of SOS's lines of references: the indentation, the width of SP and IP, and the characters of a string,
// without and with its type.
const (
	referenceIndent = 34
	sosStringLimit  = 31
	sosTypeLimit    = 127
)

// referenceLine returns a reference in SOS's form, which leaves out an offset of zero.
func referenceLine(p *report.Page, r *answer.Root) string {
	var b strings.Builder
	if r.Place != "" {
		b.WriteString(strings.TrimSuffix(r.Place, "+0") + ": ")
	}
	if r.Address != 0 {
		b.WriteString(report.Hex16(r.Address) + " -> ")
	}
	b.WriteString(report.Hex16(r.Object))
	if r.Pinned {
		b.WriteString(" (pinned)")
	}
	if r.Interior {
		b.WriteString(" (interior)")
	}
	if r.Object != 0 && !r.Interior {
		b.WriteString(" - " + referenceType(p, r))
	}
	return b.String()
}

// referenceType returns an object's type, and the text of a string.
func referenceType(p *report.Page, r *answer.Root) string {
	name := r.Type.String()
	if v := r.Value; v.Present {
		v.S = firstUnits(p.Masked(v.S), sosStringLimit)
		name += ": " + v.String()
	}
	if runes := []rune(name); p.SOS && len(runes) > sosTypeLimit {
		name = string(runes[:sosTypeLimit])
	}
	return report.Escape(name)
}

// firstUnits is s as far as n UTF-16 code units go.
func firstUnits(s string, n int) string {
	for i, r := range s {
		if r > 0xffff {
			n--
		}
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// frameCount returns a number of frames in words.
func frameCount(n int) string {
	if n == 1 {
		return "frame"
	}
	return fmt.Sprintf("%d frames", n)
}

// debugRule frames the stack of the debugging API.
var debugRule = strings.Repeat("=", 77)

// debugLabel is the line of one of the runtime's own frames.
func debugLabel(p *report.Page, f answer.DebugFrame) {
	p.Printf("%s (null) [%s: %s]\n", report.Hex16(f.SP), f.Label, report.Hex16(f.SP))
}

// debugStack is the stack in the form that SOS has through the debugging API.
func debugStack(p *report.Page, s *answer.Stacks) {
	p.Printf("\n\n\nDumping managed stack and managed variables using ICorDebug.\n%s\n", debugRule)
	p.Printf("%-16s %-16s %s\n", "Child SP", "IP", "Call Site")
	var held []answer.DebugFrame
	for f := range report.Each(p, s.Debug) {
		switch {
		case f.Label != "" && p.SOS:
			held = append(held, f) // SOS looks for them when it comes to a managed frame
			continue
		case f.Label != "":
			debugLabel(p, f)
			continue
		case !f.Native:
			for _, h := range held {
				debugLabel(p, h)
			}
			held = nil
		}
		p.Printf("%s %s ", report.Hex16(f.SP), report.Hex16(f.IP))
		switch {
		case f.Native:
			p.Print("[NativeStackFrame]\n")
		case f.Unnamed && p.SOS:
			// SOS does not end the line of a method without metadata.
		case f.Unnamed || f.Method.Err != nil:
			p.Printf("%s\n", report.Escape(f.Method.String()))
		default:
			p.Printf("%s (%s)\n", report.Escape(f.Method.S), report.Escape(f.Module.String()))
		}
	}
	p.Printf("Stack walk complete.\n%s\n", debugRule)
}
