package threadcmd

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/stacks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

type stackOptions struct {
	ask.ThreadIDs
	All       bool   `opt:"all" help:"all managed threads"`
	Variables bool   `opt:"a" help:"arguments and locals"`
	Arguments bool   `opt:"p" help:"arguments"`
	Locals    bool   `opt:"l" help:"locals"`
	GC        bool   `opt:"gc" help:"the references that each frame holds"`
	Debug     bool   `opt:"i" help:"the form of the debugging API: native code between managed frames, signatures of metadata"`
	Full      bool   `opt:"f" help:"modules and offsets"`
	Registers bool   `opt:"r" help:"the registers of each frame"`
	NoSource  bool   `opt:"n" help:"no source files and lines"`
	Native    bool   `opt:"native" help:"native frames too, also of a thread that never ran managed code"`
	Pretty    bool   `opt:"pretty" help:"lambdas, local functions and async methods by the names in the source"`
	Fold      bool   `opt:"fold" help:"one round of repeated calls, and their number (a stack overflow)"`
	Now       bool   `opt:"now" help:"the stack at the time of the dump, also for the thread that raised its exception"`
	Limit     *int   `opt:"c" range:"0:" help:"frames at most"`
	Thread    string `arg:"thread,optional" help:"the thread"`
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
	so := stacks.Options{StackOptions: threads.StackOptions{
		DescribeOptions: stackwalk.DescribeOptions{
			Source:    !o.NoSource,
			Pretty:    o.Pretty,
			Registers: o.Registers,
			Arguments: o.Variables || o.Arguments,
			Locals:    o.Variables || o.Locals,
		},
		Native:     o.Native,
		Now:        form.Now || o.Now,
		Carried:    form.Carried,
		References: o.GC,
		Fold:       o.Fold,
		Debug:      o.Debug && !o.All,
		Limit:      o.Limit,
	}}
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
		so.Threads = []*threads.Thread{t}
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
