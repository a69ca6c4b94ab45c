package threadcmd

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

func clrStackCommand() cli.Command {
	return cli.Command{
		Name: "clrstack", Group: cli.GroupThreads, NeedsDump: true, Ask: askCLRStack,
		Summary: "list the managed frames of a thread's stack",
		Help: "Each line has the stack pointer of a frame, the address that it goes on at, and its method. The runtime's own " +
			"frames, which stand where managed code called other code, are in brackets. The thread is the current one, or " +
			"the one given (see threads for its numbers). Of the thread that raised the exception that the dump was written for the stack is that " +
			"of this moment, where it has run native code alone since, and the first frame says so.",
		Usage: "[-all] [-a | -p | -l] [-gc] [-i] [-f] [-r] [-n] [-fold] [-c COUNT] [THREAD]",
		Args:  []cli.Arg{{Name: "thread", Kind: cli.Str, Optional: true, Summary: "the thread"}},
		Options: append(ask.ThreadOptions(),
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
			cli.Option{Name: "fold", Summary: "of calls that repeat themselves one round alone, and how often they were there (a stack overflow)"},
			cli.Option{Name: "now", Summary: "of the thread that raised the dump's exception the stack as it was when the dump was written"},
			cli.Option{Name: "c", Kind: cli.Int, Summary: "at most so many frames"}),
		Examples: []cli.Example{
			{Line: "clrstack", Text: "the current thread"},
			{Line: "clrstack -all", Text: "all managed threads"},
			{Line: "clrstack -native -m 1", Text: "the thread with the managed id 1, with the native frames between"},
		},
		Result: report.Result[answer.Stacks](),
	}
}

func askCLRStack(c *cli.Context) (report.Answer, error) {
	walker, err := ask.Walker(c, c.Bool("native"))
	if err != nil {
		return report.Answer{}, err
	}
	list, err := stackThreads(c, walker)
	if err != nil {
		return report.Answer{}, err
	}
	o := stackOptions(c)
	form := threadtext.StackOptions{All: c.Bool("all"), Full: c.Bool("f"), Registers: o.Registers, Variables: o.Arguments || o.Locals}
	return report.Say(threads.Stacks(c.Context(), walker, list, o), func(p *report.Page, s *answer.Stacks) {
		threadtext.Stacks(p, s, form)
	}), nil
}

// stackThreads are the threads that -all or the argument choose.
func stackThreads(c *cli.Context, w *stackwalk.Walker) ([]*threads.Thread, error) {
	all, err := ask.Threads(c)
	if err != nil {
		return nil, err
	}
	if c.Bool("all") {
		return ask.RunningThreads(c, all, w.Runtime()), nil
	}
	text, _ := c.Str("thread")
	t, err := ask.Thread(c, all, text)
	return []*threads.Thread{t}, err
}

func stackOptions(c *cli.Context) threads.StackOptions {
	o := threads.StackOptions{
		DescribeOptions: stackwalk.DescribeOptions{
			Source:    !c.Bool("n"),
			Pretty:    c.Bool("pretty"),
			Registers: c.Bool("r"),
			Arguments: c.Bool("a") || c.Bool("p"),
			Locals:    c.Bool("a") || c.Bool("l"),
			Symbols:   ask.Dump(c).Symbols(),
		},
		Native:     c.Bool("native"),
		Now:        c.SOS || c.Bool("now"),
		Carried:    c.SOS,
		References: c.Bool("gc"),
		Fold:       c.Bool("fold"),
		Debug:      c.Bool("i") && !c.Bool("all"),
	}
	if n, ok := c.Int("c"); ok {
		limit := int(n)
		o.Limit = &limit
	}
	o.Walk = walkOfAll(c)
	return o
}

// walkOfAll is the walk of a process with several CLRs, nil for another: through
// the eyes of all, or where one was chosen, with the others' frames only counted.
// SOS has the eyes of one.
func walkOfAll(c *cli.Context) func(context.Context, uint32, stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	switch d := ask.Dump(c); {
	case c.SOS || !d.SeveralRuntimes():
		return nil
	case c.Session.Runtime() != "":
		return ask.View(c).FoldedWalk
	default:
		return d.MergedWalk
	}
}
