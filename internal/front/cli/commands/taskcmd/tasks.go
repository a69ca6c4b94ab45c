package taskcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/tasktext"
)

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
	}, ask.With(async.Tasks), tasktext.Tasks)
}

type stateOptions struct {
	Value  *int64     `opt:"value,v" range:"-2147483648:4294967295" help:"the value of a task's m_stateFlags, decimal or with 0x"`
	Object cli.Object `arg:"address,optional" help:"a task"`
}

func taskStateCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "taskstate", Aliases: []string{"tks"},
		Summary: "describe the state of a task, or a value of m_stateFlags",
		Examples: []cli.Example{
			{Line: "taskstate 7efbcd80dd90", Text: "did this task fail?"},
			{Line: "taskstate -v 33555456", Text: "what do these flags mean?"},
		},
	}, askTaskState, tasktext.State)
}

func askTaskState(c *cli.Context, o *stateOptions) (*answer.TaskState, error) {
	if o.Value != nil {
		return tasks.DescribeFlags(tasks.Flags(*o.Value)), nil
	}
	if !o.Object.Given {
		return nil, c.Usagef("which task? Give its address, or flags with -value")
	}
	out, err := async.State(ask.Context(c), ask.View(c), o.Object.Addr)
	if errors.As(err, new(*tasks.NotTaskError)) {
		return nil, cli.WithText(tasktext.NoTask, err)
	}
	return out, err
}
