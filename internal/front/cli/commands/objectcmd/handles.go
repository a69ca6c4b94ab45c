package objectcmd

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/report"
)

type handleOptions struct {
	Stat      bool        `opt:"stat" excludes:"retained,holds,path" help:"only the statistics"`
	Type      *handleType `opt:"type" value:"TYPE" help:"only handles of this type, such as Pinned, Strong, WeakLong or Dependent"`
	PerDomain bool        `opt:"perdomain" excludes:"retained,holds,path" help:"statistics for each application domain"`
	Retained  bool        `opt:"retained" help:"the memory freed with each handle, largest first, and sums"`
	Holds     bool        `opt:"holds" help:"as -retained, with the types of that memory"`
	Path      bool        `opt:"path" help:"as -retained, with what else keeps the object alive"`
	Top       *int        `opt:"top" range:"0:1048576" requires:"retained,holds,path" help:"rows at most, 0 for all (30)"`
}

// A handleType is the type of a GC handle.
type handleType heap.HandleType

// UnmarshalText parses the name of a type.
func (t *handleType) UnmarshalText(text []byte) error {
	parsed, ok := heap.ParseHandleType(string(text))
	if !ok {
		//lint:ignore ST1005 these are SOS's words
		return fmt.Errorf("Unknown handle type '%s'.", text)
	}
	*t = handleType(parsed)
	return nil
}

func gcHandlesCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "gchandles",
		Summary: "list the GC handles and what they refer to",
		Help: "Strong, Pinned, AsyncPinned and SizedRef handles keep an object alive; a Dependent one keeps the object in the column Data " +
			"alive as long as the other lives; the weak ones keep nothing alive.",
		Examples: []cli.Example{
			{Line: "gchandles -type Pinned", Text: "objects that can't be moved"},
			{Line: "gchandles -retained -type Strong", Text: "which handles would free memory if they were freed?"},
		},
	}, askGCHandles, func(p *report.Page, h *answer.Handles, o *handleOptions) {
		if h.Hold != nil {
			objecttext.HandlesHold(p, h.Hold)
		} else {
			objecttext.Handles(p, h, objecttext.HandlesOptions{Stat: o.Stat, PerDomain: o.PerDomain})
		}
	})
}

func askGCHandles(c *cli.Context, o *handleOptions) (*answer.Handles, error) {
	var only []heap.HandleType
	if o.Type != nil {
		only = append(only, heap.HandleType(*o.Type))
	}
	if o.Retained || o.Holds || o.Path {
		return askHandlesHold(c, o, only)
	}
	return memory.Handles(ask.Context(c), ask.View(c), only...)
}

// holdsTypes is the number of types that -holds shows for each handle.
const holdsTypes = 4

func askHandlesHold(c *cli.Context, o *handleOptions, only []heap.HandleType) (*answer.Handles, error) {
	for _, t := range only {
		if !t.Strong() && t != heap.HandleDependent {
			return nil, c.Usagef("%s handles keep nothing alive", t)
		}
	}
	ho := graph.HandleOptions{Types: only, Top: 30, Path: o.Path}
	if o.Holds {
		ho.Holds = holdsTypes
	}
	if o.Top != nil {
		ho.Top = *o.Top
	}
	return memory.HandlesHold(ask.Context(c), ask.View(c), ho)
}

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
