package threadcmd

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

type osThreadOptions struct {
	ask.ThreadIDs
	Verbose bool   `opt:"verbose,v" help:"also instruction, stack and frame pointer"`
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
		},
	}, askThreads, func(p *report.Page, l *answer.OSThreads, o *osThreadOptions) {
		threadtext.OSThreads(p, l, threadtext.OSThreadsOptions{Verbose: o.Verbose})
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
	return threads.DescribeOS(ask.Dump(c).Target(), list, ask.CurrentThread(c, list)), nil
}

func (o *osThreadOptions) setThread(c *cli.Context, list []threads.Thread) error {
	t, err := o.Find(c, list, o.Thread)
	if err != nil {
		return err
	}
	if t.OS == nil {
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
	ro := threads.RegisterOptions{Float: o.Verbose}
	if x, ok := ask.Dump(c).Target().Exception(); ok && !o.Now && !ask.FormOf(c).Now {
		ro.Exception = &x
	}
	current, err := ask.CurrentThread(c, list).DescribeRegisters(ro)
	if err == nil {
		if some := named(current, o.What); some != nil {
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
	return t.DescribeRegisters(ro)
}

// named returns the registers with some names alone; nil where there are no names, or one is none.
func named(all *answer.Registers, names []string) *answer.Registers {
	var out *answer.Registers
	for _, name := range names {
		one := all.Only(strings.TrimPrefix(name, "@"))
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
