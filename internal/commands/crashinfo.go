package commands

import (
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/crash"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

type crashResult struct {
	Reason     string            `json:"reason" doc:"what ended the process, in words"`
	Code       string            `json:"code,omitempty" doc:"signal or exception code"`
	Address    report.Address    `json:"address,omitempty" doc:"where it happened, or the address that was touched"`
	ThreadID   uint32            `json:"osThreadId,omitempty" doc:"the thread that died"`
	ThreadName string            `json:"threadName,omitempty" doc:"its name"`
	Likely     string            `json:"likely,omitempty" doc:"the likely cause, in words"`
	Exceptions []exceptionResult `json:"exceptions,omitempty" doc:"the managed exception and its causes, outermost first"`
	Stack      []crashFrame      `json:"stack,omitempty" doc:"managed frames of the thread, leaf first"`
}

type crashFrame struct {
	SP     report.Address `json:"sp" doc:"stack pointer"`
	IP     report.Address `json:"ip" doc:"instruction pointer"`
	Method string         `json:"method" doc:"method, or kind of frame"`
	File   string         `json:"file,omitempty" doc:"source file"`
	Line   int            `json:"line,omitempty" doc:"line in it"`
	Repeat int            `json:"repeat,omitempty" doc:"how often the same call follows itself, if more than once"`
}

func crashInfoCommand() cli.Command {
	return cli.Command{
		Name: "crashinfo", Group: cli.GroupThreads, NeedsDump: true,
		Summary: "say on one page why the process died",
		Help: "The signal or exception record, the thread that died, its stack, the managed exception with its causes, and the likely reason in plain words. " +
			"Of a NativeAOT process it is what the process wrote about itself.",
		Options: []cli.Option{
			{Name: "e", Summary: "accepted for SOS's sake"},
			{Name: "lines", Summary: "print source files and lines in SOS's form too"},
		},
		Examples: []cli.Example{{Line: "crashinfo", Text: "the first thing to ask a crash dump"}},
		Result:   []report.Part{report.Whole[crashResult]()},
		Run:      runCrashInfo,
	}
}

func runCrashInfo(c *cli.Context) error {
	died, err := viewOf(c).Crash()
	if died == nil {
		if err != nil {
			return err
		}
		if e := c.JSON(); e != nil {
			return e.Value(crashResult{Reason: "the dump is of a process that had not crashed"})
		}
		c.Printf("No crash info to display: the process had not crashed when the dump was taken\n")
		return nil
	}
	if err != nil {
		c.Warn(err)
	}
	if died.Record != nil {
		return crashRecord(c, died.Record)
	}
	r := crashPage(c, died)
	if e := c.JSON(); e != nil {
		return e.Value(r)
	}
	printCrash(c, r)
	return nil
}

// crashPage collects what is known of a crash of CoreCLR.
func crashPage(c *cli.Context, died *crash.Crash) *crashResult {
	r := &crashResult{Reason: "unknown"}
	if x := died.Exception; x != nil {
		r.Reason, r.Code, r.Address = crash.Reason(x), x.Words, report.Address(x.Address)
	}
	if t := died.Thread; t != nil {
		r.ThreadID = t.ID()
		name, err := t.Name()
		r.ThreadName = textOr(c, name, err)
	}
	rt, err := runtimeOf(c)
	if err != nil {
		c.Warn(err)
		return r
	}
	p := &exceptionPrinter{c: c, rt: rt}
	seen := map[target.Addr]bool{}
	for a := died.Thrown; a != 0 && !seen[a] && len(seen) < limits.ParentChain; {
		seen[a] = true
		e, err := p.result(a)
		if err != nil {
			c.Warn(err)
			break
		}
		r.Exceptions = append(r.Exceptions, *e)
		a = target.Addr(e.Inner)
	}
	if died.Thread != nil {
		r.Stack = crashStack(c, died.Thread)
	}
	r.Likely = crash.LikelyCause(faults(r.Exceptions))
	return r
}

// crashStack lists the managed frames of the thread that died.
func crashStack(c *cli.Context, t *sosgo.Thread) []crashFrame {
	if t.Managed == nil || t.OS == nil {
		return nil
	}
	walker, err := viewOf(c).Walker()
	if err != nil {
		c.Warn(err)
		return nil
	}
	var out []crashFrame
	for f := range walker.Walk(c.Context(), t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Err != nil {
			c.Warn(fmt.Errorf("the stack ends at %#x: %w", uint64(f.SP), f.Err))
		}
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		row := crashFrame{SP: report.Address(f.SP), IP: report.Address(f.IP)}
		name, err := f.Name()
		row.Method = textOr(c, name, err)
		if line, err := f.SourceLine(); err == nil {
			row.File, row.Line = line.File, line.Line
		}
		// A stack overflow has a hundred thousand frames of one method.
		if n := len(out); n > 0 && out[n-1].Method == row.Method && out[n-1].Line == row.Line && row.Method != "" {
			out[n-1].Repeat = max(out[n-1].Repeat, 1) + 1
			continue
		}
		out = append(out, row)
	}
	return out
}

// faults are what crash looks at of exceptions.
func faults(list []exceptionResult) []crash.Fault {
	out := make([]crash.Fault, len(list))
	for i := range list {
		e := &list[i]
		out[i].Type = e.Type
		if e.Message != nil {
			out[i].Message = *e.Message
		}
		for _, f := range e.Frames {
			out[i].Trace = append(out[i].Trace, crash.Place{Function: f.Function, File: f.File, Line: f.Line})
		}
	}
	return out
}

func printCrash(c *cli.Context, r *crashResult) {
	line := func(label, text string) {
		if text != "" {
			c.Printf("%-14s %s\n", label, report.Escape(text))
		}
	}
	line("Reason:", r.Reason)
	if r.Code != "" {
		line("Code:", fmt.Sprintf("%s at %s", r.Code, report.Hex16(r.Address)))
	}
	if r.ThreadID != 0 {
		line("Thread:", fmt.Sprintf("0x%x %s", r.ThreadID, r.ThreadName))
	}
	line("Likely cause:", r.Likely)
	p := &exceptionPrinter{c: c}
	for i := range r.Exceptions {
		e := &r.Exceptions[i]
		label := "Caused by:"
		if i == 0 {
			label = "Exception:"
		}
		c.Printf("\n%s %s %s\n", label, report.Hex16(e.Address), report.Escape(e.Type))
		if e.Message != nil {
			c.Printf("    %s\n", report.EscapeText(*e.Message))
		}
		p.printFrames(e.Frames)
	}
	if len(r.Stack) > 0 {
		c.Printf("\nManaged stack of the thread:\n")
	}
	for _, f := range r.Stack {
		where := ""
		if f.File != "" {
			where = fmt.Sprintf(" [%s @ %d]", report.Escape(f.File), f.Line)
		}
		if f.Repeat > 1 {
			where += fmt.Sprintf(" (%s times)", report.Commas(uint64(f.Repeat)))
		}
		c.Printf("    %s %s %s%s\n", report.Hex16(f.SP), report.Hex16(f.IP), report.Escape(f.Method), where)
	}
}
