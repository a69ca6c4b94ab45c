package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/unwind"
)

func dumpStackCommand() cli.Command {
	return cli.Command{
		Name: "dumpstack", Group: cli.GroupThreads, NeedsDump: true,
		Summary: "list everything on a stack that looks like a return address",
		Help: "Every word of the stack counts that is the address behind a call instruction, also of calls that ended long " +
			"ago. It needs no unwind data, so it shows what damaged stacks still have; clrstack shows the calls that are going on.",
		Usage: "[-EE] [THREAD | TOP BOTTOM]",
		Args:  []cli.Arg{{Name: "what", Kind: cli.Str, Optional: true, Rest: true, Summary: "a thread, or the ends of a range of memory"}},
		Options: append(threadOptions(),
			cli.Option{Name: "EE", Summary: "managed code only"}),
		Examples: []cli.Example{{Line: "dumpstack -EE", Text: "managed methods on the current thread's stack"}},
		Result:   []report.Part{report.ListOf[stackReturn]("returns")},
		Run:      runDumpStack,
	}
}

func eeStackCommand() cli.Command {
	return cli.Command{
		Name: "eestack", Group: cli.GroupThreads, NeedsDump: true,
		Summary: "dumpstack for all managed threads",
		Usage:   "[-EE] [-short]",
		Options: []cli.Option{
			{Name: "EE", Summary: "managed code only"},
			{Name: "short", Summary: "only threads that hold locks, are hijacked, or are in managed code"},
		},
		Result: []report.Part{report.ListOf[stackReturn]("returns")},
		Run:    runEEStack,
	}
}

type stackReturn struct {
	OSID     uint32         `json:"osId,omitempty" doc:"OS id of the thread"`
	Slot     report.Address `json:"slot" doc:"the word of the stack"`
	IP       report.Address `json:"ip" doc:"the return address"`
	Method   string         `json:"method,omitempty" doc:"the method or the native module that the address is in, with the nearest export"`
	Trust    string         `json:"trust" doc:"scan: the call may have ended long ago"`
	Callee   report.Address `json:"callee,omitempty" doc:"what the instruction before it calls, where the code tells"`
	CalleeIn string         `json:"calleeIn,omitempty" doc:"the method or native module of the callee"`
}

func runDumpStack(c *cli.Context) error {
	p, threads, err := newReturnPrinter(c)
	if err != nil {
		return err
	}
	args := c.Strings("what")
	text := ""
	if len(args) == 1 {
		text = args[0]
	}
	t, err := chosenThread(c, threads, text)
	if err != nil {
		return err
	}
	p.print("%s\n", threadHeading(t))
	switch len(args) {
	case 0, 1:
		return p.thread(t)
	case 2:
		top, err := cli.ParseAddress(args[0])
		if err != nil {
			return c.Usagef("%v", err)
		}
		bottom, err := cli.ParseAddress(args[1])
		if err != nil {
			return c.Usagef("%v", err)
		}
		return p.ranges(t, target.Range{Start: min(top, bottom), End: max(top, bottom)})
	}
	return c.Usagef("give a thread, or the two ends of a range")
}

func runEEStack(c *cli.Context) error {
	p, threads, err := newReturnPrinter(c)
	if err != nil {
		return err
	}
	for _, t := range runningThreads(c, p.rt, threads) {
		p.print("---------------------------------------------\nThread %3d\n", t.Index)
		if c.Bool("short") && !p.isBusy(t) {
			continue
		}
		if err := p.thread(t); errors.Is(err, target.ErrNotInDump) {
			c.Warn(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// A returnPrinter prints the return addresses of stacks.
type returnPrinter struct {
	c       *cli.Context
	rt      *dac.Runtime
	walker  *stackwalk.Walker
	symbols *image.Symbols
}

func newReturnPrinter(c *cli.Context) (*returnPrinter, []sosgo.Thread, error) {
	rt, err := runtimeOf(c)
	if err != nil {
		return nil, nil, err
	}
	walker, err := viewOf(c).Walker()
	if err != nil {
		return nil, nil, err
	}
	threads, err := allThreads(c)
	if err != nil {
		return nil, nil, err
	}
	if c.JSON() != nil {
		err = c.JSON().List("returns")
	}
	return &returnPrinter{c: c, rt: rt, walker: walker, symbols: dumpOf(c).Symbols()}, threads, err
}

func (p *returnPrinter) print(format string, args ...any) {
	if p.c.JSON() == nil {
		p.c.Printf(format, args...)
	}
}

// isBusy reports whether eestack -short shows t.
func (p *returnPrinter) isBusy(t *sosgo.Thread) bool {
	m := t.Managed
	if m.State&dac.ThreadHijacked != 0 || m.LockCount != 0 && m.LockCount != ^uint32(0) {
		return true
	}
	ip, _ := t.OS.Registers.IP()
	managed, err := code.Of(p.rt).IsCode(ip)
	return err == nil && managed
}

func (p *returnPrinter) thread(t *sosgo.Thread) error {
	s, err := t.Stack(dumpOf(p.c).Target())
	if err != nil {
		return err
	}
	return p.ranges(t, s.Ranges...)
}

func (p *returnPrinter) ranges(t *sosgo.Thread, ranges ...target.Range) error {
	if t.OS != nil {
		ip, _ := t.OS.Registers.IP()
		p.print("Current frame: %s\n", report.Escape(p.place(ip)))
	}
	note := " (found by scan: each is a call that may have ended)"
	if p.c.SOS {
		note = ""
	}
	p.print("%-16s %-16s %s%s\n", "Child-SP", "RetAddr", "Caller, Callee", note)
	for _, r := range ranges {
		for ret, err := range p.walker.Returns(p.c.Context(), r) {
			if err != nil {
				p.c.Warn(err)
				continue
			}
			if err := p.row(t, ret); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *returnPrinter) row(t *sosgo.Thread, ret stackwalk.Return) error {
	info, err := code.Of(p.rt).MethodAt(ret.IP)
	if managed := err == nil && info.Method != nil; p.c.Bool("EE") && !managed {
		return nil
	}
	r := stackReturn{OSID: t.ID(), Slot: report.Address(ret.Slot), IP: report.Address(ret.IP), Method: p.place(ret.IP),
		Trust: unwind.TrustScan.String(), Callee: report.Address(ret.Callee)}
	if ret.Callee != 0 && !p.c.Bool("EE") {
		r.CalleeIn = p.place(ret.Callee)
	}
	if p.c.JSON() != nil {
		return p.c.JSON().Item("returns", &r)
	}
	line := fmt.Sprintf("%s %s %s", report.Hex16(ret.Slot-8), report.Hex16(ret.IP), report.Escape(r.Method))
	if r.CalleeIn != "" {
		line += ", calling " + report.Escape(r.CalleeIn)
	}
	p.c.Printf("%s\n", strings.TrimRight(line, " "))
	return nil
}

// place says what code an address is in.
func (p *returnPrinter) place(a target.Addr) string {
	info, err := code.Of(p.rt).MethodAt(a)
	if err == nil && info.Method != nil {
		name, err := code.Of(p.rt).MethodName(info.Method, code.MethodFull)
		return fmt.Sprintf("(MethodDesc %s + %#x %s)", report.Hex16(info.Method.Addr), info.Offset, textOr(p.c, name, err))
	}
	if s, ok := p.symbols.At(a); ok {
		return s.String()
	}
	return report.Hex16(a)
}
