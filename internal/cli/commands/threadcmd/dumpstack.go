package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

func dumpStackCommand() cli.Command {
	return cli.Command{
		Name: "dumpstack", Group: cli.GroupThreads, NeedsDump: true, Ask: askDumpStack,
		Summary: "list everything on a stack that looks like a return address",
		Help: "Every word of the stack counts that is the address behind a call instruction, also of calls that ended long " +
			"ago. It needs no unwind data, so it shows what damaged stacks still have; clrstack shows the calls that are going on.",
		Usage: "[-EE] [THREAD | TOP BOTTOM]",
		Args:  []cli.Arg{{Name: "what", Kind: cli.Str, Optional: true, Rest: true, Summary: "a thread, or the ends of a range of memory"}},
		Options: append(ask.ThreadOptions(),
			cli.Option{Name: "EE", Summary: "managed code only"}),
		Examples: []cli.Example{{Line: "dumpstack -EE", Text: "managed methods on the current thread's stack"}},
		Result:   report.Result[answer.Returns](),
	}
}

func eeStackCommand() cli.Command {
	return cli.Command{
		Name: "eestack", Group: cli.GroupThreads, NeedsDump: true, Ask: askEEStack,
		Summary: "dumpstack for all managed threads",
		Usage:   "[-EE] [-short]",
		Options: []cli.Option{
			{Name: "EE", Summary: "managed code only"},
			{Name: "short", Summary: "only threads that hold locks, are hijacked, or are in managed code"},
		},
		Result: report.Result[answer.Returns](),
	}
}

func askDumpStack(c *cli.Context) (report.Answer, error) {
	walker, err := ask.View(c).Walker()
	if err != nil {
		return report.Answer{}, err
	}
	t, between, err := threadOrRange(c)
	if err != nil {
		return report.Answer{}, err
	}
	o := threads.ReturnOptions{Symbols: ask.Dump(c).Symbols(), ManagedOnly: c.Bool("EE")}
	if between != nil {
		o.Ranges = []target.Range{*between}
	}
	return report.Say(threads.Returns(c.Context(), walker, t, o), threadtext.Returns), nil
}

func askEEStack(c *cli.Context) (report.Answer, error) {
	walker, list, err := ask.Stacks(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	o := threads.ReturnOptions{Symbols: ask.Dump(c).Symbols(), ManagedOnly: c.Bool("EE"), BusyOnly: c.Bool("short")}
	return report.Say(threads.AllReturns(c.Context(), walker, list, o), threadtext.AllReturns), nil
}

// threadOrRange reads the argument "what": the thread that it names, or the current
// one, and where it has two addresses the memory between them.
func threadOrRange(c *cli.Context) (*threads.Thread, *target.Range, error) {
	list, err := ask.Threads(c)
	if err != nil {
		return nil, nil, err
	}
	switch args := c.Strings("what"); len(args) {
	case 0:
		return ask.CurrentThread(c, list), nil, nil
	case 1:
		t, err := ask.Thread(c, list, args[0])
		return t, nil, err
	case 2:
		between, err := addressRange(c, args[0], args[1])
		return ask.CurrentThread(c, list), between, err
	}
	return nil, nil, c.Usagef("give a thread, or the two ends of a range")
}

// addressRange is the memory between two addresses, in any order.
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
