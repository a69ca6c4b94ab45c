package memorycmd

import (
	"cmp"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph/roots"
	"github.com/sosgo/sosgo/graph/waste"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/report"
)

// defaultTop is how many rows a list has where nobody says otherwise.
const defaultTop = 10

func wasteCommand() cli.Command {
	return cli.Command{
		Name: "waste", Group: cli.GroupMemory, NeedsDump: true, OnlyAsks: true, Ask: askWaste,
		Summary: "finds memory that holds nothing, or the same again, and who refers to it",
		Help: fmt.Sprintf("Looked for are strings of one content (as dumpheap -strings tells them apart), arrays of references of which at least one in %d is null, arrays of "+
			"values that are all zero or all the same (from %d bytes on) or end in zeros (at least one part in %d, from %d bytes on), arrays and collections without "+
			"elements, collections with at most one element for each %d that they have room for, values in boxes, and objects whose fields are all null or zero. "+
			"All objects of the heap count, reachable or not unless -live says otherwise, and no byte counts twice: the array of a collection counts for the collection.\n\n"+
			"Collections are List, Dictionary, HashSet, Queue, Stack, SortedList, PriorityQueue, LinkedList and SortedSet, those without type arguments, "+
			"StringBuilder and MemoryStream, and types that derive from them. Holders are fields, static ones too, and arrays; what a local alone refers to has none.",
			waste.SparseShare, waste.SameBytes, waste.TailShare, waste.TailBytes, waste.FillShare),
		Options: []cli.Option{
			{Name: "top", Kind: cli.Int, Summary: fmt.Sprintf("rows of each list at most, 0 for all (%d)", defaultTop)},
			{Name: "kind", Kind: cli.Str, Repeat: true, Choices: waste.Kinds(), Summary: "only this kind of waste; may repeat"},
			{Name: "min", Kind: cli.Size, Summary: "leave out rows that waste less than this; sums have them"},
			{Name: "live", Kind: cli.Bool, Summary: "only what lives; of garbage nothing is wasted any more"},
		},
		Result: report.Result[answer.Waste](),
	}
}

func askWaste(c *cli.Context) (report.Answer, error) {
	o := waste.Options{Kinds: c.Strings("kind"), Scan: ask.Scan(c, "looking for waste")}
	var err error
	if o.Top, err = top(c); err != nil {
		return report.Answer{}, err
	}
	o.Min, _ = c.Size("min")
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	if c.Bool("live") {
		if o.Live, err = ask.Live(c); err != nil {
			return report.Answer{}, err
		}
	}
	if o.Statics, err = statics(c, h); err != nil {
		return report.Answer{}, err
	}
	if o.Locals, err = locals(c); err != nil {
		return report.Answer{}, err
	}
	w, err := waste.Find(c.Context(), h, r, o)
	return ask.Say(w, err, memorytext.Waste)
}

// statics are the static fields that refer to objects. What can't be read of them is a warning: their objects have a
// holder less.
func statics(c *cli.Context, h *heap.Heap) ([]waste.Static, error) {
	reader, err := ask.View(c).RootReader()
	if err != nil {
		return nil, err
	}
	var list []waste.Static
	missing, first := 0, error(nil)
	for s, err := range reader.Statics(c.Context()) {
		if c.Context().Err() != nil {
			return nil, c.Context().Err()
		}
		if err != nil {
			missing, first = missing+1, cmp.Or(first, err)
			continue
		}
		out := waste.Static{Slot: s.Slot, Object: s.Object, Table: s.Table}
		out.Name.S, out.Name.Err = s.Name()
		if out.Name.Err != nil {
			out.Name.Instead = "a field of " + h.Runtime().NamelessType(s.Field.Declaring.MT.Addr)
		}
		list = append(list, out)
	}
	if missing > 0 {
		c.Warn(fmt.Errorf("%d static fields, or their types, can't be read, and are no holders: %w", missing, first))
	}
	return list, nil
}

// locals are what the stacks of threads refer to. What can't be read of them is a warning: their objects have a holder
// less.
func locals(c *cli.Context) ([]waste.Local, error) {
	reader, err := ask.View(c).RootReader()
	if err != nil {
		return nil, err
	}
	var list []waste.Local
	missing, first := 0, error(nil)
	for root, err := range reader.All(c.Context(), roots.Options{}) {
		switch {
		case c.Context().Err() != nil:
			return nil, c.Context().Err()
		case root.Kind != roots.KindStack:
		case err != nil:
			missing, first = missing+1, cmp.Or(first, err)
		default:
			name := func() answer.Text { return answer.Text{S: reader.Describe(c.Context(), &root).Name} }
			list = append(list, waste.Local{Object: root.Object, Name: name})
		}
	}
	if missing > 0 {
		c.Warn(fmt.Errorf("%d stacks, or words of them, can't be read, and are no holders: %w", missing, first))
	}
	return list, nil
}

// top reads the option -top.
func top(c *cli.Context) (int, error) {
	n, ok := c.Int("top")
	switch {
	case !ok:
		return defaultTop, nil
	case n < 0 || n > 1<<31-1:
		return 0, c.Usagef("-top %d is not a number of rows", n)
	}
	return int(n), nil
}
