package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

type finalizerOptions struct {
	Detail   bool `opt:"detail" help:"accepted without effect: .NET outside Windows has no COM objects to release"`
	AllReady bool `opt:"allready" help:"only objects that nothing but the queue keeps alive: their finalizers run next, or after the next collection"`
	statistics
	ask.Types
}

func finalizeQueueCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "finalizequeue", Aliases: []string{"fq"},
		Summary: "list the objects whose finalizer has not run",
		Help: "The queue keeps objects by the generation in which the last collection saw them. It keeps those that are ready for finalization alive " +
			"until the finalizer thread has run their finalizer: many of them mean that this thread hangs or is too slow.",
	}, askFinalizeQueue, func(p *report.Page, f *answer.Finalizers, o *finalizerOptions) {
		objecttext.Finalizers(p, f, objecttext.ListingOptions{Short: o.Short})
	})
}

func askFinalizeQueue(c *cli.Context, o *finalizerOptions) (*answer.Finalizers, error) {
	h, err := ask.Heap(c)
	if err != nil {
		return nil, err
	}
	fo := heap.FinalizerOptions{Filter: &heap.Filter{}, OnlyStatistics: o.Stat, ByCount: o.ByCount}
	if fo.Filter.Type, err = o.Types.Of(c, h); err != nil {
		return nil, err
	}
	if o.AllReady {
		if fo.Live, err = ask.Live(c); err != nil {
			return nil, err
		}
	}
	f, err := h.ListFinalizers(fo)
	if err != nil {
		for _, gap := range f.Noted() {
			c.Warn(gap)
		}
		return nil, err
	}
	return f, nil
}
