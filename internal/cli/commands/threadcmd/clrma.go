package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

type threadOptions struct {
	ask.ThreadIDs
	Thread string `arg:"thread,optional" help:"the thread"`
}

func clrmaCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "clrma",
		Summary: "analyze a thread: its managed frames, its last exception and the causes",
		Help: "It is what WinDbg's !analyze requests from a runtime: managed frames, the exception with those that caused it, and those that " +
			"were being handled besides. crashinfo explains why the process died.",
		Examples: []cli.Example{{Line: "clrma", Text: "the current thread"}},
	}, askCLRMA, threadtext.Analysis)
}

func askCLRMA(c *cli.Context, o *threadOptions) (*answer.ThreadAnalysis, error) {
	list, err := ask.Threads(c)
	if err != nil {
		return nil, err
	}
	t, err := o.ThreadIDs.Thread(c, list, o.Thread)
	if err != nil {
		return nil, err
	}
	so := threads.StackOptions{Now: ask.FormOf(c).Now, Walk: walkOfAll(c), DescribeOptions: stackwalk.DescribeOptions{Source: true, Symbols: ask.Dump(c).Symbols()}}
	return ask.View(c).Analyze(ask.Context(c), t, so)
}
