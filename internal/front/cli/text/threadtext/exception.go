package threadtext

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// ExceptionOptions choose how exceptions are written.
type ExceptionOptions struct {
	Nested bool // write the nested exceptions too
	Lines  bool // write places in the source in SOS's form too
}

// ThrownException is the text of printexception.
func ThrownException(p *report.Page, x *answer.ThrownException, o ExceptionOptions) {
	if x.All != nil {
		allExceptions(p, x, o)
		endingException(p, x.Ended, o.Lines)
		return
	}
	if x.Exception == nil {
		if x.Unread == nil {
			p.Print("There is no current managed exception on this thread\n")
		} else {
			p.Print("It is not known whether this thread has a managed exception\n")
		}
		otherExceptions(p, x.Others)
		endingException(p, x.Ended, o.Lines)
		return
	}
	exception(p, x.Exception, o.Lines)
	if len(x.Others) > 0 && !p.SOS {
		p.Print("The runtime set this exception for a fatal error. The thread has another one, which pe ADDRESS prints:\n")
		for i := range x.Others {
			carried(p, &x.Others[i])
		}
	}
	if !o.Nested {
		if x.HasNested {
			p.Print("There are nested exceptions on this thread. Run with -nested for details\n")
		}
		return
	}
	if x.Nested == nil {
		return
	}
	for n, err := range x.Nested {
		if p.Ended(err) {
			return
		}
		p.Print("\nNested exception -------------------------------------------------------------\n")
		if err != nil {
			InvalidException(p, n.Address)
			p.Warn(err)
			continue
		}
		exception(p, n, o.Lines)
	}
}

// otherExceptions reports which threads have an exception.
func otherExceptions(p *report.Page, list []answer.CarriedException) {
	if p.SOS {
		return
	}
	if len(list) > 0 {
		p.Print("Threads with an exception (pe -all prints them):\n")
	}
	for i := range list {
		carried(p, &list[i])
	}
}

// endingException writes the exception that ended the process, which no thread has.
func endingException(p *report.Page, x *answer.EndingException, lines bool) {
	if p.SOS || x == nil {
		return
	}
	p.Printf("The process died of an exception of thread %s [%s]:\n", threadName(&x.Thread), x.Strength)
	for _, e := range x.Evidence {
		p.Printf("  - %s\n", report.Escape(e))
	}
	exception(p, &x.Exception, lines)
}

// allExceptions writes the exceptions of all threads.
func allExceptions(p *report.Page, x *answer.ThrownException, o ExceptionOptions) {
	n := 0
	for row, err := range x.All {
		if p.Ended(err) {
			return
		}
		p.Printf("Thread %s: %s\n", threadName(&row.Carried.Thread), carriedWords[row.Carried.State])
		n++
		if err != nil {
			p.Printf("Exception object: %s\n", report.Hex16(row.Carried.Exception))
			p.Warn(err)
			continue
		}
		exception(p, &row.Exception, o.Lines)
		p.Print("\n")
	}
	if n == 0 && x.Unread == nil {
		p.Print("No thread has a managed exception\n")
	}
}

// InvalidException writes SOS's line for an object that is not an exception, beside the error.
func InvalidException(p *report.Page, a target.Addr) {
	if p.SOS {
		p.Printf("Invalid exception object: %s\n", report.Hex16(a))
	}
}

func exception(p *report.Page, x *answer.Exception, lines bool) {
	p.Printf("Exception object: %s\n", report.Hex16(x.Address))
	p.Printf("Exception type:   %s\n", report.Escape(x.Type.String()))
	p.Printf("Message:          %s\n", textOrNone(p, x.Message, len("Message:          ")))
	inner := "<none>"
	if x.Inner != 0 {
		inner = fmt.Sprintf("%s, Use printexception %s to see more.", report.Escape(x.InnerType.String()), report.Hex16(x.Inner))
	}
	p.Printf("InnerException:   %s\nStackTrace (generated):\n", inner)
	trace(p, x, lines)
	p.Printf("StackTraceString: %s\nHResult: %08x\n", textOrNone(p, x.StackTrace, len("StackTraceString: ")), uint64(x.HResult))
}

func textOrNone(p *report.Page, t *answer.Text, indent int) string {
	if t == nil {
		return "<none>"
	}
	return text.Message(p, t.String(), indent)
}

// trace writes the stack trace of an exception. SOS adds 1 to the addresses of one that it takes for a fault.
func trace(p *report.Page, x *answer.Exception, lines bool) {
	if len(x.Frames) == 0 {
		words := "<none>"
		if x.TraceError != nil && !p.SOS {
			words = answer.Absent(x.TraceError)
		}
		p.Print(words + "\n")
		return
	}
	adjust := uint64(0)
	if p.SOS && x.Fault {
		adjust = 1
	}
	stack, header := "", "" // of runtimes that keep no stack pointers
	tracked := slices.ContainsFunc(x.Frames, func(f answer.TraceFrame) bool { return f.SP != 0 })
	if tracked {
		header = "SP               "
	}
	p.Printf("    %sIP               Function\n", header)
	for i := range x.Frames {
		f := &x.Frames[i]
		if tracked {
			stack = report.Hex16(f.SP) + " "
		}
		offset := ""
		if f.Offset != nil {
			offset = fmt.Sprintf("+0x%x", *f.Offset+adjust)
		}
		where := ""
		if lines || !p.SOS {
			where = place(f.File, f.Line)
		}
		p.Printf("    %s%s %s%s%s\n", stack, report.Hex16(uint64(f.IP)+adjust), report.Escape(f.Function.String()), offset, where)
		if f.Foreign && !p.SOS {
			p.Print("    --- rethrown here ---\n")
		}
	}
	p.Print("\n")
}

// place returns a place in the source behind a frame, empty if it is not known.
func place(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf(" [%s @ %d]", report.Escape(file), line)
}
