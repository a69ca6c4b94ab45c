package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func finalizeQueueCommand() cli.Command {
	return cli.Command{
		Name: "finalizequeue", Aliases: []string{"fq"}, Group: cli.GroupObjects, NeedsDump: true, Ask: askFinalizeQueue,
		Summary: "lists the objects whose finalizer has not run",
		Help: "The queue keeps objects by the generation in which the last collection saw them. Those that are ready for finalization are kept alive " +
			"by it until the finalizer thread has run their finalizer: many of them mean that this thread hangs or is too slow.",
		Options: []cli.Option{
			{Name: "detail", Kind: cli.Bool, Summary: "accepted, and changes nothing: .NET outside Windows has no COM objects to release"},
			{Name: "allready", Kind: cli.Bool, Summary: "only objects that nothing but the queue keeps alive: their finalizers run next, or after the next collection"},
			{Name: "short", Kind: cli.Bool, Summary: "only addresses, one a line, for scripts"},
			{Name: "stat", Kind: cli.Bool, Summary: "only the statistics"},
			{Name: "mt", Kind: cli.Address, Summary: "only objects of this MethodTable"},
			{Name: "type", Kind: cli.TypeName, Summary: "only objects of types whose name contains this"},
			{Name: "bycount", Kind: cli.Bool, Summary: "sort the statistics by the number of objects"},
		},
		Result: report.Result[answer.Finalizers](),
	}
}

func askFinalizeQueue(c *cli.Context) (report.Answer, error) {
	h, err := ask.Heap(c)
	if err != nil {
		return report.Answer{}, err
	}
	o := heap.FinalizerOptions{Filter: &heap.Filter{}, OnlyStatistics: c.Bool("stat"), ByCount: c.Bool("bycount")}
	if o.Filter.Type, err = ask.TypeFilter(c, h); err != nil {
		return report.Answer{}, err
	}
	if c.Bool("allready") {
		if o.Live, err = ask.Live(c); err != nil {
			return report.Answer{}, err
		}
	}
	f, err := h.ListFinalizers(o)
	if err != nil {
		for _, gap := range f.Noted() {
			c.Warn(gap)
		}
		return report.Answer{}, err
	}
	return report.Say(f, func(p *report.Page, f *answer.Finalizers) {
		objecttext.Finalizers(p, f, objecttext.ListingOptions{Short: c.Bool("short")})
	}), nil
}
