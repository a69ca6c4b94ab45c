package commands

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/crash"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// The words that SOS has for the numbers of a crash record.
var (
	recordReasons = []string{"Unknown", "UnhandledException", "EnvironmentFailFast", "InternalFailFast"}
	recordTypes   = []string{"Unknown", "Desktop", "NetCore", "SingleFile", "NativeAOT", "Other"}
)

func wordOf(words []string, n int) string {
	if n < 0 || n >= len(words) {
		return fmt.Sprint(n)
	}
	return words[n]
}

const recordRule = "-----------------------------------------------"

// crashRecord prints what a NativeAOT process wrote about its crash. SOS has
// the exception three times: as the current one, as the thread's, and as a
// list of all that are nested in it.
func crashRecord(c *cli.Context, r *crash.Record) error {
	if e := c.JSON(); e != nil {
		return e.Value(crashRecordJSON(c, r))
	}
	c.Printf("CrashReason:        %s\n", wordOf(recordReasons, r.Reason))
	c.Printf("ThreadId:           %04X\n", r.Thread)
	c.Printf("HResult:            %04X\n", r.HResult)
	c.Printf("RuntimeType:        %s\n", wordOf(recordTypes, r.RuntimeType))
	c.Printf("RuntimeBaseAddress: %s\n", report.Hex16(r.RuntimeBase))
	c.Printf("RuntimeVersion:     %s\n", report.Escape(r.RuntimeVersion))
	c.Printf("Message:            %s\n", report.EscapeText(r.Message))
	if r.Exception == nil {
		return nil
	}
	c.Printf("\n** Current Exception **\n\n")
	printRecorded(c, r.Exception, "")
	if c.SOS {
		c.Printf("\n** Thread %d Exception **\n\n", r.Thread)
		printRecorded(c, r.Exception, "")
		c.Printf("\n** Nested Exceptions **\n\n")
		printRecorded(c, r.Exception, "")
		for _, inner := range r.Exception.Inner {
			printRecorded(c, inner, "")
		}
	}
	return nil
}

func printRecorded(c *cli.Context, x *crash.RecordedException, indent string) {
	c.Printf("%s%s\n", indent, recordRule)
	if indent != "" {
		indent = strings.Repeat(" ", len(indent))
	}
	c.Printf("%sException object:   %s\n", indent, report.Hex16(x.Address))
	c.Printf("%sException type:     %s\n", indent, report.Escape(x.Type))
	c.Printf("%sHResult:            %08X\n", indent, x.HResult)
	c.Printf("%sMessage:            %s\n", indent, report.EscapeText(x.Message))
	c.Printf("%sStackTrace:\n%s    IP               Function\n", indent, indent)
	for _, f := range x.Stack {
		c.Printf("%s    %s %s + 0x%X\n", indent, report.Hex16(f.IP), report.Escape(recordedFunction(c, f)), f.Offset)
	}
	if len(x.Inner) > 0 {
		c.Printf("%sInnerExceptions:\n", indent)
	}
	for _, inner := range x.Inner {
		printRecorded(c, inner, indent+"    ")
	}
}

func recordedFunction(c *cli.Context, f crash.RecordedFrame) string {
	name := f.Name
	if name == "" {
		name = "<unknown>"
	}
	for _, m := range dumpOf(c).Target().Modules() {
		if m.Base == f.Module {
			return target.BaseName(m.Path) + "!" + name
		}
	}
	return name
}

func crashRecordJSON(c *cli.Context, r *crash.Record) *crashResult {
	out := &crashResult{Reason: wordOf(recordReasons, r.Reason), Code: fmt.Sprintf("%#x", r.HResult), ThreadID: r.Thread, Likely: r.Message}
	var add func(x *crash.RecordedException)
	add = func(x *crash.RecordedException) {
		message := x.Message
		e := exceptionResult{Address: report.Address(x.Address), Type: x.Type, Message: &message, HResult: report.Address(x.HResult)}
		for _, f := range x.Stack {
			offset := f.Offset
			e.Frames = append(e.Frames, traceFrame{IP: report.Address(f.IP), Function: recordedFunction(c, f), Offset: &offset})
		}
		out.Exceptions = append(out.Exceptions, e)
		for _, inner := range x.Inner {
			add(inner)
		}
	}
	if r.Exception != nil {
		add(r.Exception)
	}
	return out
}
