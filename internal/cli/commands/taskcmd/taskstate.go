package taskcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
)

type stateOptions struct {
	Value  *int64     `opt:"value,v" range:"-2147483648:4294967295" help:"the value of a task's m_stateFlags, decimal or with 0x"`
	Object cli.Object `arg:"address,optional" help:"a task"`
}

func taskStateCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "taskstate", Aliases: []string{"tks"},
		Summary: "describe the state of a task, or a value of m_stateFlags",
		Examples: []cli.Example{
			{Line: "taskstate 7fea85811918", Text: "did this task fail?"},
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
	out, err := ask.View(c).TaskState(ask.Context(c), o.Object.Addr)
	if errors.As(err, new(*tasks.NotTaskError)) {
		return nil, cli.WithText(tasktext.NoTask, err)
	}
	return out, err
}
