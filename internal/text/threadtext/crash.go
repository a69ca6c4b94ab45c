package threadtext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
)

// CrashOptions choose how a crash is written.
type CrashOptions struct {
	Lines bool // write places in the source in SOS's form too
}

// Crash is the text of crashinfo.
func Crash(p *report.Page, x *answer.Crash, o CrashOptions) {
	switch {
	case x.Alive:
		p.Print("No crash info to display: the process had not crashed when the dump was taken\n")
	case x.Record != nil:
		crashRecord(p, x.Record)
	default:
		crash(p, x, o)
	}
}

// crash is the page of a crash of CoreCLR.
func crash(p *report.Page, x *answer.Crash, o CrashOptions) {
	line := func(label, text string) {
		if text != "" {
			p.Printf("%-14s %s\n", label, report.Escape(text))
		}
	}
	line("Reason:", x.Reason)
	if x.Code != "" {
		line("Code:", fmt.Sprintf("%s at %s", x.Code, report.Hex16(x.Address)))
	}
	if x.ThreadID != 0 {
		line("Thread:", fmt.Sprintf("0x%x %s", x.ThreadID, x.ThreadName))
	}
	line("Likely cause:", x.Likely)
	for i := range x.Exceptions {
		e := &x.Exceptions[i]
		label := "Caused by:"
		if i == 0 {
			label = "Exception:"
		}
		p.Printf("\n%s %s %s\n", label, report.Hex16(e.Address), report.Escape(e.Type.String()))
		if e.Message != nil {
			p.Printf("    %s\n", report.EscapeText(e.Message.String()))
		}
		trace(p, e, o.Lines)
	}
	if len(x.Stack) > 0 {
		p.Print("\nManaged stack of the thread:\n")
	}
	for i := range x.Stack {
		f := &x.Stack[i]
		where := place(f.File, f.Line)
		if f.Repeat > 1 {
			where += fmt.Sprintf(" (%s times)", report.Commas(uint64(f.Repeat)))
		}
		p.Printf("    %s %s %s%s\n", report.Hex16(f.SP), report.Hex16(f.IP), report.Escape(f.Method.String()), where)
	}
}

const recordRule = "-----------------------------------------------"

// crashRecord writes what a NativeAOT process wrote about its crash. SOS has the
// exception three times: as the current one, as the thread's, and as a list of
// all that are nested in it.
func crashRecord(p *report.Page, r *answer.CrashRecord) {
	p.Printf("CrashReason:        %s\n", r.Reason)
	p.Printf("ThreadId:           %04X\n", r.Thread)
	p.Printf("HResult:            %04X\n", r.HResult)
	p.Printf("RuntimeType:        %s\n", r.RuntimeType)
	p.Printf("RuntimeBaseAddress: %s\n", report.Hex16(r.RuntimeBase))
	p.Printf("RuntimeVersion:     %s\n", report.Escape(r.RuntimeVersion))
	p.Printf("Message:            %s\n", report.EscapeText(r.Message))
	if r.Exception == nil {
		return
	}
	p.Print("\n** Current Exception **\n\n")
	recorded(p, r.Exception, "")
	if !p.SOS {
		return
	}
	p.Printf("\n** Thread %d Exception **\n\n", r.Thread)
	recorded(p, r.Exception, "")
	p.Print("\n** Nested Exceptions **\n\n")
	recorded(p, r.Exception, "")
	for i := range r.Exception.Inners {
		recorded(p, &r.Exception.Inners[i], "")
	}
}

func recorded(p *report.Page, x *answer.RecordedException, indent string) {
	p.Printf("%s%s\n", indent, recordRule)
	p.Printf("%sException object:   %s\n", indent, report.Hex16(x.Address))
	p.Printf("%sException type:     %s\n", indent, report.Escape(x.Type.String()))
	p.Printf("%sHResult:            %08X\n", indent, uint64(x.HResult))
	p.Printf("%sMessage:            %s\n", indent, textOrNone(x.Message))
	p.Printf("%sStackTrace:\n%s    IP               Function\n", indent, indent)
	for i := range x.Frames {
		f := &x.Frames[i]
		offset := uint64(0)
		if f.Offset != nil {
			offset = *f.Offset
		}
		p.Printf("%s    %s %s + 0x%X\n", indent, report.Hex16(f.IP), report.Escape(f.Function.String()), offset)
	}
	if len(x.Inners) > 0 {
		p.Printf("%sInnerExceptions:\n", indent)
	}
	for i := range x.Inners {
		recorded(p, &x.Inners[i], indent+"    ")
	}
}

// Greeting is what the prompt says of a crash before anything was asked. Its
// lines are not escaped.
func Greeting(x *answer.Crash) []string {
	if x == nil {
		return nil
	}
	if x.Record != nil {
		return []string{fmt.Sprintf("crash: %s: %s", x.Record.Reason, x.Record.Message)}
	}
	var out []string
	if x.Code != "" {
		out = append(out, "crash: "+x.Reason)
	}
	if len(x.Exceptions) == 0 {
		return out
	}
	line := "exception: " + x.Exceptions[0].Type.S
	if m := x.Exceptions[0].Message; m != nil && m.Err == nil {
		line += ": " + beginning(m.S)
	}
	return append(out, line, "crashinfo tells more")
}

// beginning is as much of a message as the greeting shows.
func beginning(s string) string {
	const most = 200 // characters
	n := 0
	for i := range s {
		if n == most {
			return s[:i]
		}
		n++
	}
	return s
}
