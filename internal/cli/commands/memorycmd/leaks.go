package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph/leaks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
)

type leakOptions struct {
	Share cli.Percent `opt:"share" default:"10%" help:"what a suspect retains at least"`
	Min   cli.Percent `opt:"min" default:"2%" help:"what is listed at least"`
	Size  cli.Bytes   `opt:"size" default:"64k" help:"bytes that are listed at least, whatever their share"`
	Count int         `opt:"count" range:"2:" default:"100" help:"objects, handlers, timers, registrations or dead weak references that are many"`
	Top   int         `opt:"top" range:"0:" default:"10" help:"rows at most, 0 for all"`
}

func leaksCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "leaks", OnlyAsks: true,
		Summary: "show the largest holders of live memory, and what may only grow",
		Help: "It looks for objects that own many objects of one type (-count), single objects that retain much, and objects that nothing owns alone, with " +
			"what refers to most of them; then for what leaks in .NET: events with many handlers, timers that call the same method, callbacks registered with one " +
			"CancellationTokenSource, disposables in the root scope of a service provider, dead weak references. Each has its holder, from a static field if one holds it. " +
			"Objects that await finalization come last.\n\n" +
			"A suspect retains at least -share of what lives; what retains -min and -size is listed, events, timers, registrations and weak references whatever they " +
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
