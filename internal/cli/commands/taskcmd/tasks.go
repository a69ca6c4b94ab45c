package taskcmd

import (
	"math"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
	"github.com/sosgo/sosgo/internal/report"
)

func tasksCommand() cli.Command {
	return cli.Command{
		Name: "tasks", Group: cli.GroupTasks, NeedsDump: true, Ask: askTasks,
		Summary: "count the tasks by state and method, and list those that failed unnoticed",
		Help: "With -faulted it lists the tasks that failed and whose exceptions nobody has looked at: by await, Wait, Result or Exception. When such a task is collected its exceptions go to " +
			"TaskScheduler.UnobservedTaskException, where most programs lose them.",
		Options: []cli.Option{
			{Name: "faulted", Kind: cli.Bool, Summary: "only tasks that failed and whose exceptions nobody has looked at, each with these"},
			{Name: "status", Kind: cli.Str, Choices: []string{tasks.Created, tasks.WaitingForActivation, tasks.WaitingToRun, tasks.Running, tasks.WaitingForChildrenToComplete,
				tasks.RanToCompletion, tasks.Canceled, tasks.Faulted}, Value: "STATUS", Summary: "only tasks in this state"},
			{Name: "type", Kind: cli.TypeName, Summary: "only objects of types whose name contains this"},
			{Name: "limit", Kind: cli.Int, Value: "N", Summary: "list at most N tasks that failed, 0 for all (100)"},
		},
		Examples: []cli.Example{
			{Line: "tasks", Text: "how many tasks are there, and in which states?"},
			{Line: "tasks -faulted", Text: "which exceptions did nobody see?"},
		},
		Result: report.Result[answer.Tasks](),
	}
}

// faultedTasks is how many tasks that failed are listed unless -limit says otherwise.
const faultedTasks = 100

func askTasks(c *cli.Context) (report.Answer, error) {
	o := tasks.ListOptions{Faulted: c.Bool("faulted"), Limit: faultedTasks}
	o.Status, _ = c.Str("status")
	o.Type, _ = c.Str("type")
	if n, ok := c.Int("limit"); ok {
		if n < 0 || n > math.MaxInt32 {
			return report.Answer{}, c.Usagef("-limit is 0 or more")
		}
		o.Limit = int(n)
	}
	if o.Faulted && o.Status != "" && o.Status != tasks.Faulted {
		return report.Answer{}, c.Usagef("-faulted and -status exclude each other")
	}
	s, err := collected(c)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := s.List(c.Context(), o)
	return ask.Say(out, err, tasktext.Tasks)
}
