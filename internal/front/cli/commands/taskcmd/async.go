package taskcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/tasktext"
)

type asyncOptions struct {
	tasks.StackOptions
	Stats    bool `opt:"stats" help:"count the frames by name instead of listing stacks"`
	Coalesce bool `opt:"coalesce" help:"put equal frames of stacks together; with -stats, where they are counted, it changes nothing"`
	Stacks   bool `opt:"stacks" help:"list the stacks, which is the default; older versions of SOS need it"`
	Fields   bool `opt:"fields,f" help:"with the fields of state machines and tasks"`
	Locals   bool `opt:"locals,l" help:"with this, parameters and locals of async methods"`
	Roots    bool `opt:"roots" help:"with what keeps each stack alive"`
}

func dumpAsyncCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpasync",
		Summary: "list the stacks of async methods: what each waits for, and what awaits it",
		Help: "Async code that is suspended has no thread and no stack. Its stacks are put together from the tasks and state machines on the heap: a " +
			"stack begins with what nothing on the heap completes, and below each frame stand those that go on when it completes. Boxes of pooled " +
			"ValueTask methods are frames, too, and so are the functions of F#'s asyncs.\n\nThe number in parentheses is the state of a state machine: " +
			"the number of the await at which it is suspended, from 0; -1 if it runs.",
		Examples: []cli.Example{
			{Line: "dumpasync", Text: "what do all async methods wait for?"},
			{Line: "dumpasync --type ReadAsync", Text: "only stacks with ReadAsync"},
			{Line: "dumpasync --stats", Text: "which async methods are suspended, and how often?"},
		},
	}, askDumpAsync, tasktext.Async)
}

func askDumpAsync(c *cli.Context, o *asyncOptions) (*answer.Async, error) {
	ao := async.StackOptions{StackOptions: o.StackOptions, WithRoots: o.Roots}
	ao.Fields, ao.Variables, ao.Machines = o.Fields, o.Locals, ask.FormOf(c).Machines
	switch {
	case o.Stats:
		ao.Form = async.Counted
	case o.Coalesce:
		ao.Form = async.Merged
	}
	return async.Stacks(ask.Context(c), ask.View(c), ao)
}

// chosenStacks selects stacks of async methods.
type callOptions struct {
	tasks.StackOptions
	Locals bool `opt:"locals,l" help:"with this, parameters and locals of the first of equal calls"`
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
	}, func(c *cli.Context, o *callOptions) (*answer.AsyncCalls, error) {
		o.Variables = o.Locals
		return async.Calls(ask.Context(c), ask.View(c), o.StackOptions)
	}, tasktext.Calls)
}
