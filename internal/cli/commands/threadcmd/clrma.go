package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/crash"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

func clrmaCommand() cli.Command {
	return cli.Command{
		Name: "clrma", Group: cli.GroupThreads, NeedsDump: true, Ask: askCLRMA,
		Summary: "analyse a thread: its managed frames, what it threw last, and what that goes back to",
		Help: "It is what WinDbg's !analyze asks of a runtime: managed frames, the exception with those that caused it, and those that " +
			"were being handled besides. crashinfo says why the process died.",
		Args:     []cli.Arg{{Name: "thread", Kind: cli.Str, Optional: true, Summary: "the thread"}},
		Options:  ask.ThreadOptions(),
		Examples: []cli.Example{{Line: "clrma", Text: "the current thread"}},
		Result:   report.Result[answer.ThreadAnalysis](),
	}
}

func askCLRMA(c *cli.Context) (report.Answer, error) {
	walker, err := ask.Walker(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	list, err := ask.Threads(c)
	if err != nil {
		return report.Answer{}, err
	}
	text, _ := c.Str("thread")
	t, err := ask.Thread(c, list, text)
	if err != nil {
		return report.Answer{}, err
	}
	o := threads.StackOptions{Now: c.SOS, Walk: walkOfAll(c), DescribeOptions: stackwalk.DescribeOptions{Source: true, Symbols: ask.Dump(c).Symbols()}}
	return report.Say(crash.Analyze(c.Context(), walker, t, o), threadtext.Analysis), nil
}
