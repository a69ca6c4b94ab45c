package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A place is the argument of commands about a thread's stack or a range of memory.
type place struct {
	ask.ThreadIDs
	What []string `arg:"what,optional" help:"a thread, or the ends of a range of memory"`
}

// of returns the thread, by default the current one, and the range if two addresses were given.
func (p *place) of(c *cli.Context) (*stackwalk.Thread, *target.Range, error) {
	list, err := ask.Threads(c)
	if err != nil {
		return nil, nil, err
	}
	switch len(p.What) {
	case 0:
		return ask.CurrentThread(c, list), nil, nil
	case 1:
		t, err := p.ThreadIDs.Thread(c, list, p.What[0])
		return t, nil, err
	case 2:
		between, err := addressRange(c, p.What[0], p.What[1])
		return ask.CurrentThread(c, list), between, err
	}
	return nil, nil, c.Usagef("give a thread, or the two ends of a range")
}

// addressRange returns the memory between two addresses, given in any order.
func addressRange(c *cli.Context, a, b string) (*target.Range, error) {
	from, err := cli.ParseAddress(a)
	if err != nil {
		return nil, c.Usagef("%v", err)
	}
	to, err := cli.ParseAddress(b)
	if err != nil {
		return nil, c.Usagef("%v", err)
	}
	return &target.Range{Start: min(from, to), End: max(from, to)}, nil
}

type returnOptions struct {
	place
	EE bool `opt:"EE" help:"managed code only"`
}

func dumpStackCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpstack",
		Summary: "list everything on a stack that looks like a return address",
		Help: "Every word of the stack counts that is the address behind a call instruction, also of calls that ended long " +
			"ago. It needs no unwind data, so it shows what damaged stacks still have; clrstack shows the calls that are going on.",
		Usage:    "[-EE] [THREAD | TOP BOTTOM]",
		Examples: []cli.Example{{Line: "dumpstack -EE", Text: "managed methods on the current thread's stack"}},
	}, askDumpStack, threadtext.Returns)
}

func askDumpStack(c *cli.Context, o *returnOptions) (*answer.Returns, error) {
	t, between, err := o.place.of(c)
	if err != nil {
		return nil, err
	}
	ro := threads.ReturnOptions{ManagedOnly: o.EE}
	if between != nil {
		ro.Ranges = []target.Range{*between}
	}
	return stacks.ReturnAddresses(ask.Context(c), ask.View(c), t, ro)
}

type allReturnOptions struct {
	EE    bool `opt:"EE" help:"managed code only"`
	Short bool `opt:"short" help:"only threads that hold locks, are hijacked, or are in managed code"`
}

func eeStackCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "eestack",
		Summary: "run dumpstack for all managed threads",
	}, askEEStack, threadtext.AllReturns)
}

func askEEStack(c *cli.Context, o *allReturnOptions) (*answer.Returns, error) {
	walker, list, err := ask.Stacks(c, false)
	if err != nil {
		return nil, err
	}
	return threads.AllReturns(c.Context(), walker, list,
		threads.ReturnOptions{Symbols: ask.Dump(c).Symbols(), ManagedOnly: o.EE, BusyOnly: o.Short}), nil
}

type stackObjectOptions struct {
	place
	Verify  bool `opt:"verify" help:"no unproven and damaged objects"`
	Precise bool `opt:"precise" help:"only what the garbage collector takes for live, frame by frame"`
	All     bool `opt:"all" help:"all threads, one after the other"`
}

func dumpStackObjectsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "dumpstackobjects", Aliases: []string{"dso"},
		Summary: "list the objects that a thread's registers and stack refer to",
		Help: "Every word of the stack is looked at, also those that no longer matter. Only addresses count at which a " +
			"walk of the heap finds an object; where the dump lacks the heap, what looks like an object is marked (unproven). " +
			"One argument is a thread (see threads for its numbers), two are the ends of a range of memory.",
		Usage: "[-verify | -precise] [-all | THREAD | TOP BOTTOM]",
		Examples: []cli.Example{
			{Line: "dso", Text: "the current thread"},
			{Line: "dso -m 4", Text: "the thread with the managed id 4"},
			{Line: "dso 7ffd9b33db90 7ffd9b33dfa0", Text: "a range of memory"},
		},
	}, askDumpStackObjects, threadtext.StackObjects)
}

func askDumpStackObjects(c *cli.Context, o *stackObjectOptions) (*answer.StackObjects, error) {
	oo := threads.ObjectOptions{Verify: o.Verify, Extended: ask.FormOf(c).Extended}
	if o.Precise {
		var err error
		if oo.Precise, err = ask.View(c).Walker(); err != nil {
			return nil, err
		}
	}
	if o.All {
		return stacks.AllStackObjects(ask.Context(c), ask.View(c), oo)
	}
	t, between, err := o.place.of(c)
	if err != nil {
		return nil, err
	}
	oo.Range = between
	return stacks.StackObjects(ask.Context(c), ask.View(c), t, oo)
}
