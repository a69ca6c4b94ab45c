package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
	"github.com/sosgo/sosgo/internal/text/objecttext"
	"github.com/sosgo/sosgo/report"
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
		},
		Examples: []cli.Example{{Line: "gchandles -type Pinned", Text: "what can't be moved"}},
		Result:   report.Result[answer.Handles](),
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
