package commands

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func printExceptionCommand() cli.Command {
	return cli.Command{
		Name: "printexception", Aliases: []string{"pe"}, Group: cli.GroupThreads, NeedsDump: true,
		Summary: "print an exception and where it was thrown",
		Help:    "Without an address it is the exception that the current thread threw last.",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Optional: true, Summary: "of the exception object"}},
		Options: []cli.Option{
			{Name: "lines", Summary: "also print source files and lines (outside SOS's form they are always printed)"},
			{Name: "nested", Summary: "also print the exceptions that the thread was handling when it threw"},
			{Name: "ccw", Kind: cli.Address, Summary: "not supported: needs the tables of COM interop"},
		},
		Examples: []cli.Example{{Line: "pe -nested", Text: "all that went wrong on this thread"}},
		Result:   []report.Part{report.Whole[exceptionResult]()},
		Run:      runPrintException,
	}
}

type exceptionResult struct {
	Address    report.Address    `json:"address" doc:"the exception object"`
	Type       string            `json:"type" doc:"its type"`
	Message    *string           `json:"message,omitempty" doc:"its message; absent if it has none of its own"`
	Inner      report.Address    `json:"inner,omitempty" doc:"the exception that caused it"`
	InnerType  string            `json:"innerType,omitempty" doc:"its type"`
	HResult    report.Address    `json:"hresult" doc:"HRESULT"`
	Frames     []traceFrame      `json:"frames,omitempty" doc:"stack trace, the innermost frame first"`
	StackTrace *string           `json:"stackTraceString,omitempty" doc:"stack trace as text, if managed code asked for it"`
	Nested     []exceptionResult `json:"nested,omitempty" doc:"with -nested: exceptions that were being handled when it was thrown"`
}

type traceFrame struct {
	SP       report.Address `json:"sp" doc:"stack pointer"`
	IP       report.Address `json:"ip" doc:"instruction pointer, inside the call"`
	Function string         `json:"function" doc:"module and method"`
	Offset   *uint64        `json:"offset,omitempty" doc:"of the instruction in the method's code"`
	File     string         `json:"file,omitempty" doc:"source file"`
	Line     int            `json:"line,omitempty" doc:"line in it"`
	Foreign  bool           `json:"foreign,omitempty" doc:"the last frame before the exception was thrown again elsewhere"`
}

func runPrintException(c *cli.Context) error {
	if c.Has("ccw") {
		return target.Unsupportedf("-ccw: exceptions are not looked up by their COM wrappers")
	}
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	threads, err := allThreads(c)
	if err != nil {
		return err
	}
	t := currentThread(c, threads)
	a, given := c.Addr("address")
	if !given {
		if a, err = lastThrown(t); err != nil {
			return err
		}
		if a == 0 {
			return noException(c)
		}
	}
	nested := nestedExceptions(c, rt, t)
	p := &exceptionPrinter{c: c, rt: rt}
	if c.JSON() != nil {
		return p.json(a, nested)
	}
	if err := p.print(a); err != nil {
		return err
	}
	if !c.Bool("nested") {
		if len(nested) > 0 {
			c.Printf("There are nested exceptions on this thread. Run with -nested for details\n")
		}
		return nil
	}
	for _, n := range nested {
		c.Printf("\nNested exception -------------------------------------------------------------\n")
		if err := p.print(n); err != nil {
			c.Warn(err)
		}
	}
	return nil
}

// lastThrown is the exception that a thread threw last, 0 for none.
func lastThrown(t *sosgo.Thread) (target.Addr, error) {
	if t.Managed == nil {
		return 0, target.Unsupportedf("the current thread is unmanaged; clrthreads lists the managed ones")
	}
	return t.Managed.LastThrown, t.Managed.LastThrownError
}

func noException(c *cli.Context) error {
	if c.JSON() == nil {
		c.Printf("There is no current managed exception on this thread\n")
	}
	return nil
}

func nestedExceptions(c *cli.Context, rt *dac.Runtime, t *sosgo.Thread) []target.Addr {
	if t.Managed == nil {
		return nil
	}
	nested, err := rt.NestedExceptions(t.Managed)
	if err != nil {
		c.Warn(fmt.Errorf("nested exceptions of thread %d: %w", t.Managed.ManagedID, err))
	}
	return nested
}

// An exceptionPrinter prints exceptions.
type exceptionPrinter struct {
	c  *cli.Context
	rt *dac.Runtime
}

func (p *exceptionPrinter) json(a target.Addr, nested []target.Addr) error {
	r, err := p.result(a)
	if err != nil {
		return err
	}
	if p.c.Bool("nested") {
		for _, n := range nested {
			if inner, err := p.result(n); err != nil {
				p.c.Warn(err)
			} else {
				r.Nested = append(r.Nested, *inner)
			}
		}
	}
	return p.c.JSON().Value(r)
}

// result reads an exception with all that is printed of it. What is missing of
// it is a warning.
func (p *exceptionPrinter) result(a target.Addr) (*exceptionResult, error) {
	e, err := p.rt.Exception(a)
	if err != nil {
		return nil, fmt.Errorf("not a valid exception object: %w", err)
	}
	name, err := p.rt.TypeName(e.Type.Addr, dac.NameNative)
	r := &exceptionResult{
		Address: report.Address(a), Type: textOr(p.c, name, err), HResult: report.Address(e.HResult),
		Message: p.text(e.Message), StackTrace: p.text(e.StackTraceString), Inner: report.Address(e.Inner),
	}
	if e.Inner != 0 {
		name, err := p.rt.ObjectTypeName(e.Inner)
		r.InnerType = textOr(p.c, name, err)
	}
	frames, err := p.rt.StackTrace(&e)
	if err != nil {
		p.c.Warn(err)
	}
	adjust := p.c.SOS && looksLikeFault(&e)
	for i := range frames {
		if adjust {
			frames[i].IP++
		}
		r.Frames = append(r.Frames, p.frame(&frames[i]))
	}
	return r, nil
}

// codeManaged is the code of exceptions that managed code threw.
const codeManaged = 0xe0434352

// faultResults are the HRESULTs of the exceptions that stand for hardware
// faults.
var faultResults = [...]uint32{
	0x80070216, // COR_E_ARITHMETIC
	0x80131516, // COR_E_OVERFLOW
	0x80020012, // COR_E_DIVIDEBYZERO
	0x80131537, // COR_E_FORMAT
	0x80004003, // COR_E_NULLREFERENCE
	0x80131541, // COR_E_DATAMISALIGNED
}

// looksLikeFault is SOS's guess that the processor raised an exception: then it
// adds 1 to the addresses of the trace. The guess is often wrong, so that only
// SOS's own form has it.
func looksLikeFault(e *dac.Exception) bool {
	return e.XCode != codeManaged || slices.Contains(faultResults[:], e.HResult)
}

// maxText is how many UTF-16 units of an exception's texts are printed.
const maxText = 1 << 20

// text reads a string, nil for a null reference.
func (p *exceptionPrinter) text(a target.Addr) *string {
	if a == 0 {
		return nil
	}
	s, err := p.rt.StringAt(a, maxText)
	s = textOr(p.c, s, err)
	return &s
}

func (p *exceptionPrinter) frame(f *dac.TraceFrame) traceFrame {
	r := traceFrame{SP: report.Address(f.SP), IP: report.Address(f.IP), Foreign: f.Foreign}
	name, err := p.function(f.Method)
	r.Function = textOr(p.c, name, err)
	if f.IP == 0 {
		return r // written before the runtime knew the address
	}
	info, err := code.Of(p.rt).MethodAt(f.IP)
	if err != nil {
		p.c.Warn(err)
		return r
	}
	offset := uint64(f.IP - info.Start)
	if info.Cold {
		offset = uint64(info.Offset)
	}
	r.Offset = &offset
	if p.c.Bool("lines") || !p.c.SOS {
		// Most modules of a dump have no symbols: that is no part of the answer.
		if line, err := code.Of(p.rt).SourceLine(info); err == nil {
			r.File, r.Line = line.File, line.Line
		}
	}
	return r
}

// function is Module.dll!Type.Method(Parameters).
func (p *exceptionPrinter) function(method target.Addr) (string, error) {
	md, err := code.Of(p.rt).MethodDesc(method)
	if err != nil {
		return "", err
	}
	name, err := code.Of(p.rt).MethodName(md, code.MethodFull)
	if err != nil {
		return "", err
	}
	mod, err := md.Module()
	if err != nil {
		return "", err
	}
	path, err := mod.Path()
	if err != nil && !errors.Is(err, target.ErrNotInDump) {
		return "", err
	}
	if path == "" {
		return name, nil
	}
	return target.BaseName(path) + "!" + name, nil
}

func (p *exceptionPrinter) print(a target.Addr) error {
	c := p.c
	r, err := p.result(a)
	if err != nil {
		if c.SOS {
			c.Printf("Invalid exception object: %s\n", report.Hex16(a))
		}
		return err
	}
	orNone := func(s *string) string {
		if s == nil {
			return "<none>"
		}
		return report.EscapeText(*s)
	}
	c.Printf("Exception object: %s\n", report.Hex16(r.Address))
	c.Printf("Exception type:   %s\n", report.Escape(r.Type))
	c.Printf("Message:          %s\n", orNone(r.Message))
	inner := "<none>"
	if r.Inner != 0 {
		inner = fmt.Sprintf("%s, Use printexception %s to see more.", report.Escape(r.InnerType), report.Hex16(r.Inner))
	}
	c.Printf("InnerException:   %s\nStackTrace (generated):\n", inner)
	p.printFrames(r.Frames)
	c.Printf("StackTraceString: %s\nHResult: %08x\n", orNone(r.StackTrace), uint64(r.HResult))
	return nil
}

func (p *exceptionPrinter) printFrames(frames []traceFrame) {
	c := p.c
	if len(frames) == 0 {
		c.Printf("<none>\n")
		return
	}
	c.Printf("    SP               IP               Function\n")
	for i := range frames {
		f := &frames[i]
		offset := ""
		if f.Offset != nil {
			offset = fmt.Sprintf("+0x%x", *f.Offset)
		}
		line := ""
		if f.File != "" {
			line = fmt.Sprintf(" [%s @ %d]", report.Escape(f.File), f.Line)
		}
		c.Printf("    %s %s %s%s%s\n", report.Hex16(f.SP), report.Hex16(f.IP), report.Escape(f.Function), offset, line)
		if f.Foreign && !c.SOS {
			c.Printf("    --- thrown again from here ---\n")
		}
	}
	c.Printf("\n")
}
