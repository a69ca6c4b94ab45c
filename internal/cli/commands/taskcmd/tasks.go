package taskcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
)

type taskOptions struct {
	Faulted bool   `opt:"faulted" excludes:"status" help:"only tasks that failed and whose exceptions nobody has looked at, each with these"`
	Status  string `opt:"status" value:"STATUS" choices:"Created|WaitingForActivation|WaitingToRun|Running|WaitingForChildrenToComplete|RanToCompletion|Canceled|Faulted" help:"only tasks in this state"`
	Type    string `opt:"type" kind:"type" help:"only objects of types whose name contains this"`
	Limit   int    `opt:"limit" range:"0:" default:"100" help:"list at most N tasks that failed, 0 for all"`
}

func tasksCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "tasks",
		Summary: "count the tasks by state and method, or list those that failed unobserved",
		Help: "-faulted lists failed tasks whose exceptions were never observed by await, Wait, Result or Exception. When such a task is collected its exceptions go to " +
			"TaskScheduler.UnobservedTaskException, where most programs lose them.",
		Examples: []cli.Example{
			{Line: "tasks", Text: "how many tasks are there, and in which states?"},
			{Line: "tasks -faulted", Text: "which exceptions went unobserved?"},
		},
	}, func(c *cli.Context, o *taskOptions) (*answer.Tasks, error) {
		return ask.View(c).Tasks(ask.Context(c), sosgo.TaskOptions{Faulted: o.Faulted, Status: o.Status, Type: o.Type, Limit: o.Limit})
	}, tasktext.Tasks)
}
