package threadcmd

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/stackwalk"
)

type stackOptions struct {
	ask.ThreadIDs
	All       bool `opt:"all" help:"all managed threads"`
	Variables bool `opt:"a" help:"arguments and locals"`
	Full      bool `opt:"f" help:"modules and offsets"`
	NoSource  bool `opt:"n" help:"no source files and lines"`
	stacks.Options
	Thread string `arg:"thread,optional" help:"the thread"`
}

func clrStackCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "clrstack",
		Summary: "list the managed frames of a thread's stack",
		Help: "Each line has the stack pointer of a frame, the address that it goes on at, and its method. The runtime's own " +
			"frames, which stand where managed code called other code, are in brackets. The thread is the current one, or " +
			"the one given (see threads for its numbers). For the thread that raised the exception of the dump, the stack is that " +
			"of this moment, if it has run only native code since; the first frame shows it.",
		Usage: "[-all] [-a | -p | -l] [-gc] [-i] [-f] [-r] [-n] [-fold] [-c COUNT] [THREAD]",
		Examples: []cli.Example{
			{Line: "clrstack", Text: "the current thread"},
			{Line: "clrstack -all", Text: "all managed threads"},
			{Line: "clrstack -native -m 1", Text: "the thread with the managed id 1, with the native frames between"},
		},
	}, askCLRStack, func(p *report.Page, s *answer.Stacks, o *stackOptions) {
		threadtext.Stacks(p, s, threadtext.StackOptions{All: o.All, Full: o.Full, Registers: o.Registers, Variables: o.Variables || o.Arguments || o.Locals})
	})
}

func askCLRStack(c *cli.Context, o *stackOptions) (*answer.Stacks, error) {
	form := ask.FormOf(c)
	so := o.Options
	so.Source, so.Carried, so.Now = !o.NoSource, form.Carried, form.Now || o.Now
	so.Arguments, so.Locals = o.Arguments || o.Variables, o.Locals || o.Variables
	so.Debug = o.Debug && !o.All
	switch {
	case form.OneRuntime:
		so.Runtimes = stacks.OneRuntime
	case c.Session.Runtime() != "":
		so.Runtimes = stacks.FoldedRuntimes
	}
	if !o.All {
		all, err := ask.Threads(c)
		if err != nil {
			return nil, err
		}
		t, err := o.ThreadIDs.Thread(c, all, o.Thread)
		if err != nil {
			return nil, err
		}
		so.Threads = []*stackwalk.Thread{t}
	}
	return stacks.Stacks(ask.Context(c), ask.View(c), so)
}

// walkOfAll returns the walk for a process with several CLRs, or nil for other processes. The walk merges the frames
// of all CLRs. If a runtime was selected, it only counts the frames of the others.
func walkOfAll(c *cli.Context) func(context.Context, uint32, stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	switch d := ask.Dump(c); {
	case ask.FormOf(c).OneRuntime || !d.SeveralRuntimes():
		return nil
	case c.Session.Runtime() != "":
		return ask.View(c).FoldedWalk
	default:
		return d.MergedWalk
	}
}
