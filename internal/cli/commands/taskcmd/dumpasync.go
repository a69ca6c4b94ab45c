package taskcmd

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

func dumpAsyncCommand() cli.Command {
	return cli.Command{
		Name: "dumpasync", Group: cli.GroupTasks, NeedsDump: true, Ask: askDumpAsync,
		Summary: "list the stacks of async methods: what each waits for, and who goes on after it",
		Help: "Async code that is suspended has no thread and no stack. Its stacks are put together from the tasks and state machines on the heap: a stack begins with " +
			"what nothing on the heap completes, and below each frame stand those that go on when it completes. Boxes of pooled ValueTask methods are frames, too.\n\n" +
			"The number in parentheses is the state of a state machine: the number of the await at which it is suspended, from 0; -1 if it runs.",
		Options: append(stackOptions(),
			cli.Option{Name: "stats", Kind: cli.Bool, Summary: "count the frames by name instead of listing stacks"},
			cli.Option{Name: "coalesce", Kind: cli.Bool, Summary: "put equal frames of stacks together"},
			cli.Option{Name: "stacks", Kind: cli.Bool, Summary: "list the stacks, as it does anyway: older SOS wants to be told"},
			cli.Option{Name: "fields", Aliases: []string{"f"}, Kind: cli.Bool, Summary: "with the fields of state machines and tasks"},
			cli.Option{Name: "locals", Aliases: []string{"l"}, Kind: cli.Bool, Summary: "with this, parameters and locals of async methods"},
			cli.Option{Name: "roots", Kind: cli.Bool, Summary: "with what keeps each stack alive"},
		),
		Examples: []cli.Example{
			{Line: "dumpasync", Text: "what do all async methods wait for?"},
			{Line: "dumpasync --type ReadAsync", Text: "only the stacks in which ReadAsync stands"},
			{Line: "dumpasync --stats", Text: "which async methods are suspended, and how often?"},
		},
		Result: report.Result[answer.Async](),
	}
}

// stackOptions returns the options that select stacks.
func stackOptions() []cli.Option {
	return []cli.Option{
		{Name: "address", Aliases: []string{"addr"}, Kind: cli.Address, Summary: "only stacks with this task or box"},
		{Name: "methodtable", Aliases: []string{"mt"}, Kind: cli.Address, Summary: "only stacks with objects of this type"},
		{Name: "type", Kind: cli.TypeName, Summary: "only stacks with objects of types whose name contains this"},
		{Name: "tasks", Aliases: []string{"t"}, Kind: cli.Bool, Summary: "also stacks of tasks alone, without an async method"},
		{Name: "completed", Aliases: []string{"c"}, Kind: cli.Bool, Summary: "also what has completed"},
		{Name: "waiting", Kind: cli.Bool, Summary: "only stacks with an async method that is suspended at an await"},
	}
}

// chosenStacks returns the stacks that stackOptions choose.
func chosenStacks(c *cli.Context) tasks.StackOptions {
	o := tasks.StackOptions{Tasks: c.Bool("tasks"), Completed: c.Bool("completed"), Waiting: c.Bool("waiting")}
	o.Address, _ = c.Addr("address")
	o.MethodTable, _ = c.Addr("methodtable")
	o.Type, _ = c.Str("type")
	return o
}

// collected returns the tasks of the heap.
func collected(c *cli.Context) (*tasks.Set, error) {
	r, err := ask.View(c).TaskReader()
	if err != nil {
		return nil, err
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return nil, err
	}
	return r.Collect(c.Context(), h, ask.Scan(c, "looking for tasks"))
}

func askDumpAsync(c *cli.Context) (report.Answer, error) {
	o := chosenStacks(c)
	o.Fields, o.Variables = c.Bool("fields"), c.Bool("locals")
	if c.Bool("stats") && c.Bool("coalesce") {
		return report.Answer{}, c.Usagef("-stats and -coalesce are two answers: choose one")
	}
	s, err := collected(c)
	if err != nil {
		return report.Answer{}, err
	}
	switch {
	case c.Bool("stats"):
		out, err := s.Count(o)
		return ask.Say(out, err, tasktext.Async)
	case c.Bool("coalesce"):
		out, err := s.Merged(c.Context(), o)
		return ask.Say(out, err, tasktext.Async)
	}
	if c.Bool("roots") {
		h, err := ask.Holders(c)
		if err != nil {
			return report.Answer{}, err
		}
		o.Roots = func(ctx context.Context, a target.Addr) (*answer.RootPaths, error) {
			return h.RootPaths(ctx, a, graph.HoldOptions{})
		}
	}
	out, err := s.Listed(c.Context(), o)
	return ask.Say(out, err, tasktext.Async)
}
