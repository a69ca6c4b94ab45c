package commands

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/crash"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func threadsCommand() cli.Command {
	return cli.Command{
		Name: "threads", Aliases: []string{"setthread"}, Group: cli.GroupThreads, NeedsDump: true,
		Summary: "list the threads of the OS, or make one the current thread",
		Help: "Without options the thread is an index of this list; a number that is no index, or is hexadecimal (0x), " +
			"is an OS thread id. The current thread is marked with *: at first it is the one that crashed, if the dump tells.",
		Args: []cli.Arg{{Name: "thread", Kind: cli.Str, Optional: true, Summary: "to make the current one"}},
		Options: append(threadOptions(),
			cli.Option{Name: "verbose", Aliases: []string{"v"}, Summary: "also print instruction, stack and frame pointer"}),
		Examples: []cli.Example{
			{Line: "setthread 7", Text: "the thread with DBG 7 in clrthreads"},
			{Line: "setthread -m 1", Text: "the thread with the managed id 1"},
		},
		Result: []report.Part{report.ListOf[osThread]("threads")},
		Run:    runThreads,
	}
}

type osThread struct {
	threadResult
	Current bool            `json:"current,omitempty" doc:"the current thread"`
	IP      *report.Address `json:"ip,omitempty" doc:"instruction pointer"`
	SP      *report.Address `json:"sp,omitempty" doc:"stack pointer"`
	FP      *report.Address `json:"fp,omitempty" doc:"frame pointer"`
	TEB     report.Address  `json:"teb,omitempty" doc:"thread environment block (Windows)"`
	Signal  int             `json:"signal,omitempty" doc:"signal that the thread took (Linux)"`
}

func runThreads(c *cli.Context) error {
	threads, err := allThreads(c)
	if err != nil {
		return err
	}
	if text, ok := c.Str("thread"); ok {
		t, err := ask.FindThread(c, threads, text)
		if err != nil {
			return err
		}
		if t.OS == nil {
			return c.Usagef("no OS thread runs thread %s", text)
		}
		c.Session.SetThread(t.ID())
		return nil
	}
	if c.JSON() != nil {
		if err := c.JSON().List("threads"); err != nil {
			return err
		}
	}
	current := currentThread(c, threads)
	for i := range threads {
		t := &threads[i]
		if t.OS == nil {
			continue
		}
		if c.JSON() == nil {
			printOSThread(c, t, t == current)
		} else if err := c.JSON().Item("threads", newOSThread(c, t, t == current)); err != nil {
			return err
		}
	}
	return nil
}

func printOSThread(c *cli.Context, t *sosgo.Thread, current bool) {
	mark := " "
	if current {
		mark = "*"
	}
	c.Printf("%s%d 0x%04X (%d)%s\n", mark, t.Index, t.OS.ID, t.OS.ID, threadRemark(c, t))
	if !c.Bool("verbose") {
		return
	}
	regs := &t.OS.Registers
	for _, p := range []struct {
		label string
		get   func() (target.Addr, bool)
	}{{"IP", regs.IP}, {"SP", regs.SP}, {"FP", regs.FP}} {
		text := notInDump
		if a, ok := p.get(); ok {
			text = "0x" + report.Hex16(a)
		}
		c.Printf("    %-3s %s\n", p.label, text)
	}
	c.Printf("    TEB 0x%s\n", report.Hex16(t.OS.TEB))
}

// threadRemark is what sosgo adds to a line of threads.
func threadRemark(c *cli.Context, t *sosgo.Thread) string {
	if c.SOS {
		return ""
	}
	s := ""
	if t.Managed != nil {
		s = " managed " + strconv.FormatUint(uint64(t.Managed.ManagedID), 10)
	}
	if name := threadName(c, t); name != "" {
		s += " " + strconv.Quote(name)
	}
	if id, ok := crash.ThreadID(dumpOf(c).Target()); ok && id == t.ID() {
		e, _ := dumpOf(c).Target().Exception()
		s += " crashed: " + report.Escape(e.Words)
	}
	return s
}

func newOSThread(c *cli.Context, t *sosgo.Thread, current bool) osThread {
	known := func(a target.Addr, ok bool) *report.Address {
		v := report.Address(a)
		if !ok {
			return nil
		}
		return &v
	}
	r := osThread{threadResult: newThreadResult(c, t), Current: current, TEB: report.Address(t.OS.TEB), Signal: t.OS.Signal}
	r.IP, r.SP, r.FP = known(t.OS.Registers.IP()), known(t.OS.Registers.SP()), known(t.OS.Registers.FP())
	return r
}

func registersCommand() cli.Command {
	return cli.Command{
		Name: "registers", Aliases: []string{"r"}, Group: cli.GroupThreads, NeedsDump: true,
		Summary: "print the registers of the current thread",
		Args:    []cli.Arg{{Name: "thread", Kind: cli.Str, Optional: true, Summary: "instead of the current one (see threads)"}},
		Options: append(threadOptions(),
			cli.Option{Name: "verbose", Aliases: []string{"v"}, Summary: "also print the floating-point and vector registers"}),
		Result: []report.Part{report.ListOf[registerResult]("registers")},
		Run:    runRegisters,
	}
}

type registerResult struct {
	Name  string         `json:"name" doc:"name of the register"`
	Value report.Address `json:"value" doc:"its value"`
}

func runRegisters(c *cli.Context) error {
	threads, err := allThreads(c)
	if err != nil {
		return err
	}
	text, _ := c.Str("thread")
	t, err := chosenThread(c, threads, text)
	if err != nil {
		return err
	}
	if t.OS == nil || !t.OS.Registers.Known() {
		return fmt.Errorf("registers of thread %#x: %w", t.ID(), target.ErrNotInDump)
	}
	for _, n := range registerOrder(c, &t.OS.Registers) {
		if err := printRegister(c, &t.OS.Registers, n); err != nil {
			return err
		}
	}
	if c.Bool("verbose") {
		return printFloat(c, t.OS.Registers.Float)
	}
	return nil
}

// registerOrder lists what to print: SOS's registers in SOS's order, which is that
// of the processor's CONTEXT, then the known ones that SOS does not have.
func registerOrder(c *cli.Context, regs *target.Registers) []target.Reg {
	var out []target.Reg
	listed := map[target.Reg]bool{}
	if p, err := regs.Arch.Processor(); err == nil {
		for _, m := range p.Context.Registers {
			out, listed[m.Reg] = append(out, m.Reg), true
		}
	}
	if c.SOS && len(out) > 0 {
		return out
	}
	for n := range regs.All {
		if !listed[n] {
			out = append(out, n)
		}
	}
	return out
}

func printRegister(c *cli.Context, regs *target.Registers, n target.Reg) error {
	name := target.RegName(regs.Arch, n)
	v, ok := regs.Get(n)
	if j := c.JSON(); j != nil {
		if !ok {
			return nil
		}
		return j.Item("registers", registerResult{Name: name, Value: report.Address(v)})
	}
	if !ok {
		c.Printf("%s = %s\n", name, notInDump)
		return nil
	}
	digits := 16
	if p, err := regs.Arch.Processor(); err == nil {
		digits = 2 * p.RegSize(n)
	}
	c.Printf("%s = 0x%0*X\n", name, digits, v)
	return nil
}

// The FXSAVE area (Intel SDM, volume 1, 10.5): x87 registers of 16 bytes from
// 32 on, of which 10 count; MXCSR at 24; the XMM registers from 160 on.
const (
	fxMXCSR = 24
	fxST    = 32
	fxXMM   = 160
	fxSize  = 512
)

func printFloat(c *cli.Context, b []byte) error {
	if c.JSON() != nil {
		return nil
	}
	if len(b) < fxSize {
		c.Warn(fmt.Errorf("floating-point registers: %w", target.ErrNotInDump))
		return nil
	}
	le := binary.LittleEndian
	c.Printf("mxcsr = 0x%08x\n", le.Uint32(b[fxMXCSR:]))
	for i := range 8 {
		at := b[fxST+16*i:]
		c.Printf("st%d = 0x%04x%016x\n", i, le.Uint16(at[8:]), le.Uint64(at))
	}
	for i := range 16 {
		at := b[fxXMM+16*i:]
		low := le.Uint64(at)
		c.Printf("xmm%d = 0x%016x%016x (%v)\n", i, le.Uint64(at[8:]), low, math.Float64frombits(low))
	}
	return nil
}
