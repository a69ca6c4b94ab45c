package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

func parallelStacksCommand() cli.Command {
	return cli.Command{
		Name: "parallelstacks", Aliases: []string{"pstacks"}, Group: cli.GroupThreads, NeedsDump: true, Ask: askParallelStacks,
		Summary: "show the stacks of all threads in one picture",
		Help: "Threads that came through the same calls share their lines; the number before a call is how many threads " +
			"are in it. The outermost caller of each group stands last, and the threads (~~~~) above the call that they are in.",
		Options: []cli.Option{
			{Name: "allthreads", Aliases: []string{"a"}, Summary: "all thread ids of a group, instead of four"},
			{Name: "runtime", Aliases: []string{"r"}, Summary: "the runtime's own frames too"},
		},
		Examples: []cli.Example{{Line: "pstacks -a", Text: "with all thread ids"}},
		Result:   report.Result[answer.ParallelStacks](),
	}
}

func askParallelStacks(c *cli.Context) (report.Answer, error) {
	walker, list, err := ask.Stacks(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	stacks, err := threads.ParallelStacks(c.Context(), walker, list, c.Bool("runtime"))
	if err != nil {
		return report.Answer{}, err
	}
	o := threadtext.ParallelOptions{AllThreads: c.Bool("allthreads")}
	return report.Say(stacks, func(p *report.Page, s *answer.ParallelStacks) { threadtext.Parallel(p, s, o) }), nil
}
