package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph/leaks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
)

type leakOptions struct {
	Share cli.Percent `opt:"share" default:"10%" help:"least share of a suspect"`
	Min   cli.Percent `opt:"min" default:"2%" help:"least share of a listed holder"`
	Size  cli.Bytes   `opt:"size" default:"64k" help:"least bytes of a listed holder, whatever its share"`
	Count int         `opt:"count" range:"2:" default:"100" help:"number of objects, handlers, timers, registrations or dead weak references from which they are listed"`
	Top   int         `opt:"top" range:"0:" default:"10" help:"rows at most, 0 for all"`
}

func leaksCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "leaks", OnlyAsks: true,
		Summary: "show the largest holders of live memory, and patterns that usually leak",
		Help: "It looks for objects that own many objects of one type (-count), single objects that retain much, and objects that nothing owns alone, with " +
			"what refers to most of them; then for what leaks in .NET: events with many handlers, timers that call the same method, callbacks registered with one " +
			"CancellationTokenSource, disposables in the root scope of a service provider, dead weak references. Each has its holder, from a static field if one holds it. " +
			"Objects that await finalization come last.\n\n" +
			"A suspect retains at least -share of live memory. Holders of -min and -size are listed too; events, timers, registrations and weak references whatever they " +
			"retain. A large holder is no proof of a leak: compare with an earlier dump (diff). Weak references hold nothing; caches, and what is attached by a " +
			"ConditionalWeakTable, are named as such.",
		Examples: []cli.Example{{Line: "leaks", Text: "why does the process use so much memory?"}},
	}, askLeaks, memorytext.Leaks)
}

func askLeaks(c *cli.Context, o *leakOptions) (*answer.Leaks, error) {
	h, err := ask.Holders(c)
	if err != nil {
		return nil, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	return leaks.Find(c.Context(), h, r, leaks.Options{Share: float64(o.Share), Least: float64(o.Min), Bytes: uint64(o.Size), Count: o.Count,
		Top: o.Top, Jobs: c.Jobs})
}
