package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

type parallelOptions struct {
	AllThreads bool `opt:"allthreads,a" help:"all thread ids of a group, instead of four"`
	Runtime    bool `opt:"runtime,r" help:"the runtime's own frames too"`
}

func parallelStacksCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "parallelstacks", Aliases: []string{"pstacks"},
		Summary: "show the stacks of all threads in one picture",
		Help: "Threads that came through the same calls share their lines; the number before a call counts the threads " +
			"in it. The outermost caller of each group stands last, and the threads (~~~~) above the call that they are in.",
		Examples: []cli.Example{{Line: "pstacks -a", Text: "with all thread ids"}},
	}, askParallelStacks, func(p *report.Page, s *answer.ParallelStacks, o *parallelOptions) {
		threadtext.Parallel(p, s, threadtext.ParallelOptions{AllThreads: o.AllThreads})
	})
}

func askParallelStacks(c *cli.Context, o *parallelOptions) (*answer.ParallelStacks, error) {
	walker, list, err := ask.Stacks(c, false)
	if err != nil {
		return nil, err
	}
	return threads.ParallelStacks(c.Context(), walker, list, o.Runtime)
}
