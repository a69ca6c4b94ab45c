package taskcmd

import (
	"errors"
	"math"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
	"github.com/sosgo/sosgo/internal/report"
)

func taskStateCommand() cli.Command {
	return cli.Command{
		Name: "taskstate", Aliases: []string{"tks"}, Group: cli.GroupTasks, NeedsDump: true, Ask: askTaskState,
		Summary: "says in which state a task is, or what a value of m_stateFlags means",
		Args:    []cli.Arg{ask.OptionalObject("address", "a task")},
		Options: []cli.Option{{Name: "value", Aliases: []string{"v"}, Kind: cli.Int, Summary: "the value of a task's m_stateFlags, decimal or with 0x"}},
		Examples: []cli.Example{
			{Line: "taskstate 7fea85811918", Text: "did this task fail?"},
			{Line: "taskstate -v 33555456", Text: "what do these flags mean?"},
		},
		Result: report.Result[answer.TaskState](),
	}
}

func askTaskState(c *cli.Context) (report.Answer, error) {
	if v, ok := c.Int("value"); ok {
		if v < math.MinInt32 || v > math.MaxUint32 {
			return report.Answer{}, c.Usagef("-value %d has more than 32 bits", v)
		}
		return report.Say(tasks.DescribeFlags(tasks.Flags(v)), tasktext.State), nil
	}
	a, ok := c.Addr("address")
	if !ok {
		return report.Answer{}, c.Usagef("which task? Give its address, or flags with -value")
	}
	r, err := ask.View(c).TaskReader()
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.DescribeState(a)
	if errors.As(err, new(*tasks.NotTaskError)) {
		return report.SayText(tasktext.NoTask), err
	}
	return ask.Say(out, err, tasktext.State)
}
