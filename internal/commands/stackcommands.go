package commands

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/threads"
	"github.com/sosgo/sosgo/unwind"
)

func stackCommands() []cli.Command {
	return []cli.Command{
		clrStackCommand(),
		parallelStacksCommand(),
		dumpStackCommand(),
		eeStackCommand(),
	}
}

func clrStackCommand() cli.Command {
	return cli.Command{
		Name: "clrstack", Group: cli.GroupThreads, NeedsDump: true,
		Summary: "list the managed frames of a thread's stack",
		Help: "Each line has the stack pointer of a frame, the address that it goes on at, and its method. The runtime's own " +
			"frames, which stand where managed code called other code, are in brackets. The thread is the current one, or " +
			"the one given (see threads for its numbers).",
		Usage: "[-all] [-a | -p | -l] [-gc] [-i] [-f] [-r] [-n] [-c COUNT] [THREAD]",
		Args:  []cli.Arg{{Name: "thread", Kind: cli.Str, Optional: true, Summary: "the thread"}},
		Options: append(threadOptions(),
			cli.Option{Name: "all", Summary: "all managed threads"},
			cli.Option{Name: "a", Summary: "arguments and locals"},
			cli.Option{Name: "p", Summary: "arguments"},
			cli.Option{Name: "l", Summary: "locals"},
			cli.Option{Name: "gc", Summary: "the references that each frame holds"},
			cli.Option{Name: "i", Summary: "the form of the debugging API: native code between managed frames, signatures of metadata"},
			cli.Option{Name: "f", Summary: "full: modules and offsets"},
			cli.Option{Name: "r", Summary: "the registers of each frame"},
			cli.Option{Name: "n", Summary: "no source files and lines"},
			cli.Option{Name: "native", Summary: "native frames too"},
			cli.Option{Name: "pretty", Summary: "lambdas, local functions and async methods by the names in the source"},
			cli.Option{Name: "c", Kind: cli.Int, Summary: "at most so many frames"}),
		Examples: []cli.Example{
			{Line: "clrstack", Text: "the current thread"},
			{Line: "clrstack -all", Text: "all managed threads"},
			{Line: "clrstack -native -m 1", Text: "the thread with the managed id 1, with the native frames between"},
		},
		Result: []report.Part{report.ListOf[stackFrame]("frames")},
		Run:    runClrStack,
	}
}

type stackFrame struct {
	OSID       uint32            `json:"osId" doc:"OS id of the thread"`
	Kind       string            `json:"kind" doc:"managed, explicit (the runtime's own frame) or native"`
	SP         report.Address    `json:"sp" doc:"stack pointer; of an explicit frame its address"`
	IP         report.Address    `json:"ip" doc:"instruction pointer"`
	Trust      string            `json:"trust" doc:"how the frame was found: context, unwind, frame pointer, scan"`
	Frame      string            `json:"frame,omitempty" doc:"class of an explicit frame"`
	Method     string            `json:"method,omitempty" doc:"the method"`
	MD         report.Address    `json:"methodDesc,omitempty" doc:"its MethodDesc"`
	Module     string            `json:"module,omitempty" doc:"file name of the module"`
	Offset     uint64            `json:"offset,omitempty" doc:"of the instruction pointer in the method, or in the module of a native frame"`
	File       string            `json:"file,omitempty" doc:"source file"`
	Line       int               `json:"line,omitempty" doc:"line in it"`
	Register   map[string]string `json:"registers,omitempty" doc:"with -r: the registers that are known"`
	Arguments  []frameVariable   `json:"arguments,omitempty" doc:"with -a or -p: the arguments"`
	Locals     []frameVariable   `json:"locals,omitempty" doc:"with -a or -l: the locals"`
	References []frameReference  `json:"references,omitempty" doc:"with -gc: the references that the frame holds, as the garbage collector sees it"`
	Error      string            `json:"error,omitempty" doc:"why the walk ended here"`
}

func runClrStack(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	walker, err := viewOf(c).Walker()
	if err != nil {
		return err
	}
	threads, err := allThreads(c)
	if err != nil {
		return err
	}
	if c.JSON() != nil {
		if err := c.JSON().List("frames"); err != nil {
			return err
		}
	}
	refs, err := newReferencePrinter(c, walker)
	if err != nil {
		return err
	}
	p := &framePrinter{c: c, rt: rt, walker: walker, max: -1, vars: newVariablePrinter(c), refs: refs}
	if n, ok := c.Int("c"); ok {
		p.max = int(n)
	}
	if c.Bool("all") {
		return p.all(threads)
	}
	text, _ := c.Str("thread")
	t, err := chosenThread(c, threads, text)
	if err != nil {
		return err
	}
	if c.Bool("i") && c.JSON() == nil {
		p.debugStack(t)
		return nil
	}
	p.heading(threadHeading(t))
	return p.stack(t)
}

// A framePrinter prints stacks.
type framePrinter struct {
	c      *cli.Context
	rt     *dac.Runtime
	walker *stackwalk.Walker
	max    int // frames of a thread, -1 for all
	lines  map[target.Addr]code.SourceLine
	vars   *variablePrinter
	refs   *referencePrinter

	// carried are the registers as SOS prints them: what a frame does not tell
	// keeps the value of the frame above.
	carried target.Registers
}

// all prints the stacks of all managed threads that an OS thread runs.
func (p *framePrinter) all(threads []sosgo.Thread) error {
	for _, t := range runningThreads(p.c, p.rt, threads) {
		p.heading(fmt.Sprintf("OS Thread Id: %#x", t.OS.ID))
		if err := p.stack(t); err != nil {
			return err
		}
	}
	return nil
}

// runningThreads picks the managed threads that an OS thread runs, in the
// runtime's order.
func runningThreads(c *cli.Context, rt *dac.Runtime, list []sosgo.Thread) []*sosgo.Thread {
	out, err := threads.InRuntimeOrder(list, rt)
	if err != nil {
		c.Warn(err)
	}
	return slices.DeleteFunc(out, func(t *sosgo.Thread) bool { return t.OS == nil })
}

func (p *framePrinter) heading(s string) {
	if p.c.JSON() == nil {
		p.c.Printf("%s\n", s)
	}
}

const unmanagedThread = "Unable to walk the managed stack. The current thread is likely not a \n" +
	"managed thread. You can run clrthreads to get a list of managed threads in\nthe process\n"

// stack prints one thread's stack.
func (p *framePrinter) stack(t *sosgo.Thread) error {
	if t.Managed == nil || t.OS == nil {
		p.heading(strings.TrimSuffix(unmanagedThread, "\n"))
		return nil
	}
	p.heading(fmt.Sprintf("%16s %16s %s", "Child SP", "IP", "Call Site"))
	p.carried = target.Registers{Arch: t.OS.Registers.Arch}
	p.refs.thread(t)
	n := 0
	for f := range p.frames(t) {
		if n == p.max {
			return nil
		}
		if f.Err != nil {
			p.c.Warn(fmt.Errorf("stack of thread %#x ends at %#x: %w", t.OS.ID, uint64(f.SP), f.Err))
		}
		if err := p.frame(t, &f); err != nil {
			return err
		}
		n++
	}
	return p.c.Context().Err()
}

// frames walks t: through the chosen runtime's eyes, or, in a process with
// several CLRs of which the user chose none, through those of all.
func (p *framePrinter) frames(t *sosgo.Thread) iter.Seq[stackwalk.Frame] {
	o := stackwalk.WalkOptions{Native: p.c.Bool("native")}
	if d := dumpOf(p.c); !p.c.SOS && p.c.Session.Runtime() == "" && d.SeveralRuntimes() {
		return d.MergedWalk(p.c.Context(), t.OS.ID, o)
	}
	return p.walker.Walk(p.c.Context(), t.Managed, t.OS.Registers, o)
}

func (p *framePrinter) frame(t *sosgo.Thread, f *stackwalk.Frame) error {
	r := p.describe(t, f)
	if p.c.JSON() != nil {
		if p.vars.wants(f) {
			p.vars.variablesJSON(f, r)
		}
		r.References = p.refs.referencesJSON(f)
		return p.c.JSON().Item("frames", r)
	}
	ip := report.Hex16(f.IP)
	if f.Kind == stackwalk.FrameExplicit && p.c.Bool("f") {
		ip = strings.Repeat(" ", 16)
	}
	p.c.Printf("%s %s %s\n", report.Hex16(f.SP), ip, p.callSite(f, r))
	if p.c.Bool("r") {
		p.registers(&f.Regs)
	}
	p.refs.print(f)
	if p.vars.wants(f) {
		p.vars.print(f)
	}
	return nil
}

// describe collects what is printed about f.
func (p *framePrinter) describe(t *sosgo.Thread, f *stackwalk.Frame) *stackFrame {
	r := &stackFrame{OSID: t.OS.ID, Kind: f.Kind.String(), SP: report.Address(f.SP), IP: report.Address(f.IP), Trust: f.Trust.String()}
	if f.Err != nil {
		r.Error = f.Err.Error()
	}
	if f.Kind == stackwalk.FrameExplicit {
		r.Frame = f.Explicit.Class
	}
	if f.Module.Base != 0 {
		r.Module, r.Offset = dac.BaseName(f.Module.Path), uint64(f.IP-f.Module.Base)
	}
	p.method(f, r)
	if p.c.Bool("r") {
		r.Register = map[string]string{}
		for reg, v := range f.Regs.All {
			r.Register[target.RegName(f.Regs.Arch, reg)] = fmt.Sprintf("%#x", v)
		}
	}
	return r
}

// method names f's method and its place in it.
func (p *framePrinter) method(f *stackwalk.Frame, r *stackFrame) {
	md, err := f.Method()
	if err != nil {
		r.Method = absent(p.c, err)
		return
	}
	if md == nil {
		return
	}
	r.MD = report.Address(md.Addr)
	name, err := f.Name()
	r.Method = textOr(p.c, name, err)
	if p.c.Bool("pretty") {
		r.Method = report.PrettyMethod(r.Method)
	}
	if m, err := md.Module(); err == nil {
		if file, err := m.File(); err == nil {
			r.Module = dac.BaseName(file)
		}
	}
	if f.Kind == stackwalk.FrameManaged {
		r.Offset = uint64(f.Code.Offset)
		p.source(f, r)
	}
}

// callSite is the last column.
func (p *framePrinter) callSite(f *stackwalk.Frame, r *stackFrame) string {
	var b strings.Builder
	switch f.Kind {
	case stackwalk.FrameExplicit:
		fmt.Fprintf(&b, "[%s: %s] ", report.Escape(r.Frame), report.Hex16(f.SP))
		p.methodText(&b, r)
	case stackwalk.FrameManaged:
		p.methodText(&b, r)
		if p.c.Bool("f") {
			fmt.Fprintf(&b, " + %d", r.Offset)
		}
	case stackwalk.FrameNative:
		fmt.Fprintf(&b, "%s + %d", report.Escape(r.Module), r.Offset)
	}
	if r.File != "" {
		fmt.Fprintf(&b, " [%s @ %d]", report.Escape(r.File), r.Line)
	}
	if !p.c.SOS && f.Trust < unwind.TrustUnwind {
		fmt.Fprintf(&b, " (found by %s)", f.Trust)
	}
	return b.String()
}

// methodText writes the method, with -f after its module.
func (p *framePrinter) methodText(b *strings.Builder, r *stackFrame) {
	if p.c.Bool("f") && r.Module != "" {
		b.WriteString(report.Escape(r.Module) + "!")
	}
	b.WriteString(report.Escape(r.Method))
}

// registerRows is how SOS groups the registers of x64.
var registerRows = [][]target.Reg{
	{target.RSP, target.RBP, target.RIP}, {target.RAX, target.RBX, target.RCX}, {target.RDX, target.RSI, target.RDI},
	{target.R8, target.R9, target.R10}, {target.R11, target.R12, target.R13}, {target.R14, target.R15},
}

func (p *framePrinter) registers(regs *target.Registers) {
	if p.c.SOS {
		for r, v := range regs.All {
			p.carried.Set(r, v)
		}
		regs = &p.carried
	}
	for _, row := range registerRows {
		p.c.Printf("   ")
		for _, r := range row {
			v, ok := regs.Get(r)
			text := report.Hex16(v)
			if !ok {
				text = fmt.Sprintf("%-16s", "<unknown>")
			}
			p.c.Printf(" %3s=%s", target.RegName(regs.Arch, r), text)
		}
		p.c.Printf("\n")
	}
}
