package taskcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
	"github.com/sosgo/sosgo/internal/report"
)

func asyncStacksCommand() cli.Command {
	return cli.Command{
		Name: "asyncstacks", Group: cli.GroupTasks, NeedsDump: true, Ask: askAsyncStacks,
		Summary: "merge the stacks of async methods, as parallelstacks does those of threads",
		Help: "It begins with what nothing awaits; what that awaits stands below it, and at the end of each stack what it waits for. Methods that stand at the same await and are awaited " +
			"alike are one line, with their number in front.",
		Options: stackOptions(),
		Examples: []cli.Example{
			{Line: "asyncstacks", Text: "what do most async methods wait for?"},
			{Line: "asyncstacks -type Contoso", Text: "only the stacks in which a type of Contoso stands"},
		},
		Result: report.Result[answer.AsyncCalls](),
	}
}

func askAsyncStacks(c *cli.Context) (report.Answer, error) {
	s, err := collected(c)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := s.Calls(c.Context(), chosenStacks(c))
	return ask.Say(out, err, tasktext.Calls)
}
