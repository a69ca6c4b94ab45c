package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

func dumpStackObjectsCommand() cli.Command {
	return cli.Command{
		Name: "dumpstackobjects", Aliases: []string{"dso"}, Group: cli.GroupThreads, NeedsDump: true, Ask: askDumpStackObjects,
		Summary: "list the objects that a thread's registers and stack refer to",
		Help: "Every word of the stack is looked at, also those that no longer matter. Only addresses count at which a " +
			"walk of the heap finds an object; where the dump lacks the heap, what looks like an object is marked (unproven). " +
			"With one argument that thread is taken (see threads for its numbers), with two the memory between them.",
		Usage: "[-verify | -precise] [-all | THREAD | TOP BOTTOM]",
		Args:  []cli.Arg{{Name: "what", Kind: cli.Str, Optional: true, Rest: true, Summary: "a thread, or the ends of a range of memory"}},
		Options: append(ask.ThreadOptions(),
			cli.Option{Name: "verify", Summary: "leave out unproven and damaged objects"},
			cli.Option{Name: "precise", Summary: "only what the garbage collector takes for live, frame by frame"},
			cli.Option{Name: "all", Summary: "all threads, one after the other"}),
		Examples: []cli.Example{
			{Line: "dso", Text: "the current thread"},
			{Line: "dso -m 4", Text: "the thread with the managed id 4"},
			{Line: "dso 7ffc6db0bf70 7ffc6db0c370", Text: "a range of memory"},
		},
		Result: report.Result[answer.StackObjects](),
	}
}

func askDumpStackObjects(c *cli.Context) (report.Answer, error) {
	scanner, err := ask.View(c).Scanner()
	if err != nil {
		return report.Answer{}, err
	}
	// SOS's form has the rows that SOS has, also those from behind the stack.
	o := threads.ObjectOptions{Verify: c.Bool("verify"), Extended: c.SOS}
	if c.Bool("precise") {
		if o.Precise, err = ask.View(c).Walker(); err != nil {
			return report.Answer{}, err
		}
	}
	if c.Bool("all") {
		list, err := ask.Threads(c)
		if err != nil {
			return report.Answer{}, err
		}
		return report.Say(threads.AllStackObjects(c.Context(), scanner, list, o), threadtext.StackObjects), nil
	}
	t, between, err := threadOrRange(c)
	if err != nil {
		return report.Answer{}, err
	}
	o.Range = between
	list, err := threads.StackObjects(c.Context(), scanner, t, o)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(list, threadtext.StackObjects), nil
}
