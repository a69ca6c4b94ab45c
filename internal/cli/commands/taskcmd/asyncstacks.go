package taskcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
	"github.com/sosgo/sosgo/target"
)

// chosenStacks selects stacks of async methods.
type chosenStacks struct {
	Address     target.Addr `opt:"address,addr" help:"only stacks with this task or box"`
	MethodTable target.Addr `opt:"methodtable,mt" help:"only stacks with objects of this type"`
	Type        string      `opt:"type" kind:"type" help:"only stacks with objects of types whose name contains this"`
	Tasks       bool        `opt:"tasks,t" help:"also stacks of tasks alone, without an async method"`
	Completed   bool        `opt:"completed,c" help:"also what has completed"`
	Waiting     bool        `opt:"waiting" help:"only stacks with an async method that is suspended at an await"`
}

// options returns the library's options.
func (o *chosenStacks) options() tasks.StackOptions {
	return tasks.StackOptions{Address: o.Address, MethodTable: o.MethodTable, Type: o.Type, Tasks: o.Tasks, Completed: o.Completed, Waiting: o.Waiting}
}

func asyncStacksCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "asyncstacks",
		Summary: "merge the stacks of async methods, as parallelstacks merges those of threads",
		Help: "It begins with what nothing awaits; awaited calls follow below, and at the end of each stack what it waits for. Methods at the same await that are awaited " +
			"alike are one line, with their number in front.",
		Examples: []cli.Example{
			{Line: "asyncstacks", Text: "what do most async methods wait for?"},
			{Line: "asyncstacks -type Contoso", Text: "only stacks with a type of Contoso"},
		},
	}, func(c *cli.Context, o *chosenStacks) (*answer.AsyncCalls, error) {
		return ask.View(c).AsyncCalls(ask.Context(c), o.options())
	}, tasktext.Calls)
}
