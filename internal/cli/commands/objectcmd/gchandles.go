package objectcmd

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func gcHandlesCommand() cli.Command {
	return cli.Command{
		Name: "gchandles", Group: cli.GroupObjects, NeedsDump: true, Ask: askGCHandles,
		Summary: "lists the GC handles and what they refer to",
		Help: "Strong, Pinned, AsyncPinned and SizedRef handles keep an object alive; a Dependent one keeps the object in the column Data " +
			"alive as long as the other lives; the weak ones keep nothing alive.",
		Options: []cli.Option{
			{Name: "stat", Kind: cli.Bool, Summary: "only the statistics"},
			{Name: "type", Kind: cli.Str, Value: "TYPE", Summary: "only handles of this type, such as Pinned, Strong, WeakLong or Dependent"},
			{Name: "perdomain", Kind: cli.Bool, Summary: "statistics for each application domain"},
			{Name: "retained", Kind: cli.Bool, Summary: "what would be free without each handle, those with most first, and sums"},
			{Name: "holds", Kind: cli.Bool, Summary: "as -retained, with the types of what would be free"},
			{Name: "path", Kind: cli.Bool, Summary: "as -retained, with what else keeps the object alive, where something does"},
			{Name: "top", Kind: cli.Int, Summary: fmt.Sprintf("with -retained, -holds or -path: at most N rows, 0 for all (%d)", defaultHandles)},
		},
		Examples: []cli.Example{
			{Line: "gchandles -type Pinned", Text: "what can't be moved"},
			{Line: "gchandles -retained -type Strong", Text: "which handles would free memory if they were freed?"},
		},
		Result: report.Result[answer.Handles](),
	}
}

func askGCHandles(c *cli.Context) (report.Answer, error) {
	var only []heap.HandleType
	if name, ok := c.Str("type"); ok {
		t, ok := heap.ParseHandleType(name)
		if !ok {
			return report.Answer{}, c.Usagef("Unknown handle type '%s'.", name)
		}
		only = append(only, t)
	}
	if c.Bool("retained") || c.Bool("holds") || c.Bool("path") {
		return askHandlesHold(c, only)
	}
	if c.Has("top") {
		return report.Answer{}, c.Usagef("-top goes with -retained, -holds or -path")
	}
	h, err := ask.Heap(c)
	if err != nil {
		return report.Answer{}, err
	}
	list, err := h.ListHandles(c.Context(), only...)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(list, func(p *report.Page, h *answer.Handles) {
		objecttext.Handles(p, h, objecttext.HandlesOptions{Stat: c.Bool("stat"), PerDomain: c.Bool("perdomain")})
	}), nil
}

const (
	defaultHandles = 30 // rows of -retained, where nobody says otherwise
	holdsTypes     = 4  // rows of -holds for each handle
	maxHandles     = 1 << 20
)

func askHandlesHold(c *cli.Context, only []heap.HandleType) (report.Answer, error) {
	if c.Bool("stat") || c.Bool("perdomain") {
		return report.Answer{}, c.Usagef("-stat and -perdomain do not go with -retained, -holds and -path")
	}
	for _, t := range only {
		if !t.Strong() && t != heap.HandleDependent {
			return report.Answer{}, c.Usagef("%s handles keep nothing alive", t)
		}
	}
	o := graph.HandleOptions{Types: only, Top: defaultHandles, Path: c.Bool("path")}
	if c.Bool("holds") {
		o.Holds = holdsTypes
	}
	if n, given := c.Int("top"); given {
		if n < 0 || n > maxHandles {
			return report.Answer{}, c.Usagef("-top is a number from 0 to %d", maxHandles)
		}
		o.Top = int(n)
	}
	h, err := ask.Holders(c)
	if err != nil {
		return report.Answer{}, err
	}
	hold, err := h.HandlesHold(c.Context(), o)
	if err != nil {
		return report.Answer{}, err
	}
	out := &answer.Handles{Hold: hold, Count: answer.Known(uint64(len(hold.Rows) + hold.More))}
	out.NoteAll(hold.Noted())
	return report.Say(out, func(p *report.Page, h *answer.Handles) { objecttext.HandlesHold(p, h.Hold) }), nil
}
