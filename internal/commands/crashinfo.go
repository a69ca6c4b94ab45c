package commands

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo"
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
	crash, err := viewOf(c).Crash()
	if crash == nil {
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
	if crash.Record != nil {
		return crashRecord(c, crash.Record)
	}
	r := crashPage(c, crash)
	if e := c.JSON(); e != nil {
		return e.Value(r)
	}
	printCrash(c, r)
	return nil
}

// crashPage collects what is known of a crash of CoreCLR.
func crashPage(c *cli.Context, crash *sosgo.Crash) *crashResult {
	r := &crashResult{Reason: "unknown"}
	if x := crash.Exception; x != nil {
		r.Reason, r.Code, r.Address = crashReason(x), x.Words, report.Address(x.Address)
	}
	if t := crash.Thread; t != nil {
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
	for a := crash.Thrown; a != 0 && !seen[a] && len(seen) < limits.ParentChain; {
		seen[a] = true
		e, err := p.result(a)
		if err != nil {
			c.Warn(err)
			break
		}
		r.Exceptions = append(r.Exceptions, *e)
		a = target.Addr(e.Inner)
	}
	if crash.Thread != nil {
		r.Stack = crashStack(c, crash.Thread)
	}
	r.Likely = likelyCause(r)
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

// crashReasons are the codes that processes die of, in words.
var crashReasons = map[string]string{
	"SIGABRT":    "the process aborted itself: an unhandled exception, FailFast, or a native assertion",
	"SIGSEGV":    "memory was touched that the process may not touch",
	"SIGBUS":     "memory was touched that is not there: a mapped file that shrank, or a wrong alignment",
	"SIGFPE":     "an arithmetic fault in native code",
	"SIGILL":     "an instruction that the processor does not have",
	"SIGQUIT":    "somebody asked for the dump (SIGQUIT)",
	"SIGTRAP":    "a breakpoint or a trap",
	"SIGKILL":    "the process was killed",
	"0xe0434352": "a managed exception was not handled",
	"0xc0000005": "memory was touched that the process may not touch (access violation)",
	"0xc00000fd": "the stack overflowed",
	"0xc0000409": "the process ended itself at once (fail fast)",
	"0xc0000374": "the native heap is corrupt",
	"0xc0000094": "an integer was divided by zero in native code",
	"0x80000003": "a breakpoint",
	"0x80131506": "the runtime found an error in itself (ExecutionEngineException)",
}

func crashReason(x *target.Exception) string {
	name, _, _ := strings.Cut(x.Words, "/")
	if s, ok := crashReasons[strings.ToLower(name)]; ok {
		return s
	}
	if s, ok := crashReasons[name]; ok {
		return s
	}
	return "exception or signal " + x.Words
}

// causes explain the exceptions whose name alone does not.
var causes = map[string]string{
	"System.NullReferenceException":         "a member was used of a reference that was null",
	"System.OutOfMemoryException":           "no memory could be had: see eeheap and gcheapstat, and the limits of the container",
	"System.StackOverflowException":         "a method called itself without end: the stack shows which",
	"System.AccessViolationException":       "native code, or unsafe code, touched memory that is not its own",
	"System.IndexOutOfRangeException":       "an array was used with an index outside its bounds",
	"System.InvalidCastException":           "an object was not of the type that the code took it for",
	"System.DllNotFoundException":           "a native library was not found where the process looked for it",
	"System.TypeInitializationException":    "a static constructor threw: the inner exception says what",
	"System.AggregateException":             "tasks failed: the inner exceptions say how",
	"System.ObjectDisposedException":        "an object was used after it had been disposed",
	"System.Threading.ThreadAbortException": "the thread was aborted",
}

// likelyCause words what the exceptions and the stack say together.
func likelyCause(r *crashResult) string {
	if len(r.Exceptions) == 0 {
		return ""
	}
	first, root := r.Exceptions[0], r.Exceptions[len(r.Exceptions)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "%s was not caught", first.Type)
	if len(r.Exceptions) > 1 {
		fmt.Fprintf(&b, "; it goes back to %s", root.Type)
	}
	if root.Message != nil && *root.Message != "" {
		fmt.Fprintf(&b, ": %s", *root.Message)
	}
	if s, ok := causes[root.Type]; ok {
		fmt.Fprintf(&b, " (%s)", s)
	}
	if f := culprit(root.Frames); f != nil {
		fmt.Fprintf(&b, ", in %s", f.Function)
		if f.File != "" {
			fmt.Fprintf(&b, " [%s @ %d]", f.File, f.Line)
		}
	}
	return b.String()
}

// culprit is the innermost frame that is not the framework's: there a fault is
// most likely made. Nil for no frames.
func culprit(frames []traceFrame) *traceFrame {
	for i := range frames {
		if f := frames[i].Function; !strings.HasPrefix(f, "System.") && !strings.HasPrefix(f, "Microsoft.") {
			return &frames[i]
		}
	}
	if len(frames) == 0 {
		return nil
	}
	return &frames[0]
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
