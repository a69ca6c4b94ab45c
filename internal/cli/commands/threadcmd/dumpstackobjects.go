package threadcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
)

type stackObjectOptions struct {
	place
	Verify  bool `opt:"verify" help:"no unproven and damaged objects"`
	Precise bool `opt:"precise" help:"only what the garbage collector takes for live, frame by frame"`
	All     bool `opt:"all" help:"all threads, one after the other"`
}

func dumpStackObjectsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "dumpstackobjects", Aliases: []string{"dso"},
		Summary: "list the objects that a thread's registers and stack refer to",
		Help: "Every word of the stack is looked at, also those that no longer matter. Only addresses count at which a " +
			"walk of the heap finds an object; where the dump lacks the heap, what looks like an object is marked (unproven). " +
			"One argument is a thread (see threads for its numbers), two are the ends of a range of memory.",
		Usage: "[-verify | -precise] [-all | THREAD | TOP BOTTOM]",
		Examples: []cli.Example{
			{Line: "dso", Text: "the current thread"},
			{Line: "dso -m 4", Text: "the thread with the managed id 4"},
			{Line: "dso 7ffc6db0bf70 7ffc6db0c370", Text: "a range of memory"},
		},
	}, askDumpStackObjects, threadtext.StackObjects)
}

func askDumpStackObjects(c *cli.Context, o *stackObjectOptions) (*answer.StackObjects, error) {
	oo := sosgo.StackObjectOptions{Verify: o.Verify, Extended: ask.FormOf(c).Extended}
	if o.Precise {
		var err error
		if oo.Precise, err = ask.View(c).Walker(); err != nil {
			return nil, err
		}
	}
	if o.All {
		return ask.View(c).AllStackObjects(ask.Context(c), oo)
	}
	t, between, err := o.place.of(c)
	if err != nil {
		return nil, err
	}
	oo.Range = between
	return ask.View(c).StackObjects(ask.Context(c), t, oo)
}
