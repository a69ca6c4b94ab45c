package threadcmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

type osThreadOptions struct {
	ask.ThreadIDs
	Verbose bool   `opt:"verbose,v" help:"also instruction, stack and frame pointer"`
	Current bool   `opt:"current" excludes:"thread" help:"only the current thread"`
	Times   bool   `opt:"times" help:"with processor times, the largest first"`
	Thread  string `arg:"thread,optional" help:"the thread to make the current one"`
}

func threadsCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "threads", Aliases: []string{"setthread"},
		Summary: "list the threads of the OS, or make one the current thread",
		Help: "Without options the thread is an index of this list; a number that is no index, or is hexadecimal, " +
			"is an OS thread id as it is printed. The current thread is marked with *: at first it is the one that crashed.",
		Examples: []cli.Example{
			{Line: "setthread 7", Text: "the thread with DBG 7 in clrthreads"},
			{Line: "setthread -m 1", Text: "the thread with the managed id 1"},
			{Line: "threads -times", Text: "which threads used the processor"},
		},
	}, askThreads, func(p *report.Page, l *answer.OSThreads, o *osThreadOptions) {
		threadtext.OSThreads(p, l, threadtext.OSThreadsOptions{Verbose: o.Verbose, Times: o.Times})
	})
}

func askThreads(c *cli.Context, o *osThreadOptions) (*answer.OSThreads, error) {
	list, err := ask.Threads(c)
	if err != nil {
		return nil, err
	}
	if o.Thread != "" {
		return nil, o.setThread(c, list)
	}
	out := threads.DescribeOS(ask.Dump(c).Target(), list, ask.CurrentThread(c, list))
	if o.Current {
		out.Threads = slices.DeleteFunc(out.Threads, func(t answer.OSThread) bool { return !t.Current })
	}
	if o.Times {
		return out, sortByTimes(out.Threads, func(t *answer.OSThread) (user, kernel answer.Maybe[answer.Seconds]) { return t.User, t.Kernel })
	}
	return out, nil
}

// sortByTimes sorts threads by their processor times, the largest first. It fails if no thread has times.
func sortByTimes[T any](list []T, times func(*T) (user, kernel answer.Maybe[answer.Seconds])) error {
	sum, recorded := func(t T) answer.Seconds {
		user, kernel := times(&t)
		return user.Value + kernel.Value
	}, false
	for i := range list {
		user, _ := times(&list[i])
		recorded = recorded || user.Err() == nil
	}
	if !recorded {
		return threads.Untimed{}
	}
	slices.SortStableFunc(list, func(x, y T) int { return cmp.Compare(sum(y), sum(x)) })
	return nil
}

func (o *osThreadOptions) setThread(c *cli.Context, list []stackwalk.Thread) error {
	t, err := o.Find(c, list, o.Thread)
	if err != nil {
		return err
	}
	if t.OS == nil {
		if t.Managed.OSID != 0 {
			_, err := t.Stack(ask.Dump(c).Target()) // the reason
			return err
		}
		return c.Usagef("no OS thread runs thread %s", o.Thread)
	}
	c.Session.SetThread(t.ID())
	return nil
}

type registerOptions struct {
	ask.ThreadIDs
	Verbose bool     `opt:"verbose,v" help:"also the floating-point and vector registers"`
	Now     bool     `opt:"now" help:"the registers at the time of the dump, also for the thread that raised its exception"`
	What    []string `arg:"thread,optional" help:"the thread (see threads), or the names of registers to print alone"`
}

func registersCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "registers", Aliases: []string{"r"},
		Summary: "print the registers of the current thread",
		Help: "For a thread that raised the exception of the dump they are those of that moment, if the dump has them; " +
			"with -now those of the time of the dump, when the thread usually waits for the dump to be written.",
		Examples: []cli.Example{{Line: "r rip rsp", Text: "two registers"}},
	}, askRegisters, threadtext.Registers)
}

func askRegisters(c *cli.Context, o *registerOptions) (*answer.Registers, error) {
	list, err := ask.Threads(c)
	if err != nil {
		return nil, err
	}
	if o.Verbose {
		if err := c.MayShowBytes(); err != nil {
			return nil, err // vector registers have parts of texts that were copied
		}
	}
	ro := threads.RegisterOptions{Float: o.Verbose}
	if x, ok := ask.Dump(c).Target().Exception(); ok && !o.Now && !ask.FormOf(c).Now {
		ro.Exception = &x
	}
	current, err := threads.DescribeRegisters(ask.CurrentThread(c, list), ro)
	if err == nil {
		if some := named(current, byRole(ask.Dump(c).Target(), o.What)); some != nil {
			return some, nil
		}
	}
	if len(o.What) > 1 {
		return nil, c.Usagef("%s: not all of these are registers, and only one thread can be given", strings.Join(o.What, " "))
	}
	t, err := o.Thread(c, list, strings.Join(o.What, ""))
	if err != nil {
		return nil, err
	}
	return threads.DescribeRegisters(t, ro)
}

// byRole replaces the debuggers' names for roles, such as $pc, by the names of the processor's registers.
func byRole(t target.Target, names []string) []string {
	p, err := t.Platform().Arch.Processor()
	if err != nil {
		return names
	}
	out := slices.Clone(names)
	for i, name := range out {
		out[i] = strings.ToLower(strings.TrimLeft(name, "@$"))
		switch out[i] {
		case "pc", "ip":
			out[i] = target.RegName(p.Arch, p.IP)
		case "sp":
			out[i] = target.RegName(p.Arch, p.SP)
		case "fp":
			out[i] = target.RegName(p.Arch, p.FP)
		}
	}
	return out
}

// named returns only the registers with the given names. It returns nil if names is empty or contains an unknown
// register.
func named(all *answer.Registers, names []string) *answer.Registers {
	var out *answer.Registers
	for _, name := range names {
		one := all.Only(name)
		switch {
		case one == nil:
			return nil
		case out == nil:
			out = one
		default:
			out.Registers = append(out.Registers, one.Registers...)
		}
	}
	return out
}

type managedOptions struct {
	stacks.ManagedOptions
	Times            bool `opt:"times" excludes:"stacks" help:"with processor times, the largest first"`
	ManagedException bool `opt:"managedexception" help:"no output: the first thread that threw an exception becomes the current one"`
}

func clrThreadsCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "clrthreads",
		Summary: "list the managed threads: ids, state, GC mode, allocation context, exception",
		Help: "DBG is the number that setthread and dso take; XXXX marks a thread that is dead or has " +
			"not started. Lock Count is -00001 where the runtime does not count locks (.NET 8 and later).",
	}, askCLRThreads, func(p *report.Page, l *answer.ManagedThreads, o *managedOptions) {
		threadtext.ManagedThreads(p, l, o.Times)
	})
}

func askCLRThreads(c *cli.Context, o *managedOptions) (*answer.ManagedThreads, error) {
	if o.ManagedException {
		rt, err := ask.Runtime(c)
		if err != nil {
			return nil, err
		}
		list, err := ask.Threads(c)
		if err != nil {
			return nil, err
		}
		t, err := threads.FirstThrower(list, rt)
		if t != nil {
			c.Session.SetThread(t.ID())
		}
		return nil, err
	}
	out, err := stacks.ManagedThreads(c.Context(), ask.View(c), o.ManagedOptions)
	if err != nil || !o.Times {
		return out, err
	}
	return out, sortByTimes(out.Threads, func(t *answer.ManagedThread) (user, kernel answer.Maybe[answer.Seconds]) { return t.User, t.Kernel })
}

type stateOptions struct {
	State target.Addr `arg:"state" help:"the bits, hexadecimal"`
}

func threadStateCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "threadstate", NoDump: true,
		Summary: "explain the State column of clrthreads",
	}, func(c *cli.Context, o *stateOptions) (*answer.ThreadStates, error) {
		if o.State>>32 != 0 {
			return nil, c.Usagef("%#x has more than 32 bits", uint64(o.State))
		}
		return &answer.ThreadStates{States: dac.ThreadState(o.State).Words()}, nil
	}, threadtext.States)
}

func syncBlkCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "syncblk",
		Summary: "list the locked sync blocks and their owners",
		Help: "MonitorHeld is 1 for the owner and 2 for each thread that waits. Locks that nobody has waited for stand in " +
			"the header of the object (dumpheap -thinlock), those of System.Threading.Lock in its fields.",
	}, ask.With(stacks.SyncBlocks), threadtext.SyncBlocks)
}
