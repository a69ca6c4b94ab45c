package memorycmd

import (
	"cmp"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph/leaks"
	"github.com/sosgo/sosgo/graph/roots"
	"github.com/sosgo/sosgo/graph/waste"
	"github.com/sosgo/sosgo/heap"
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

type wasteOptions struct {
	Top  int         `opt:"top" range:"0:" default:"10" help:"rows of each list at most, 0 for all"`
	Kind []wasteKind `opt:"kind" help:"only this kind of waste; may repeat"`
	Min  cli.Bytes   `opt:"min" help:"least waste of a row; sums have the others"`
	Live bool        `opt:"live" help:"only what lives: garbage wastes nothing any more"`
}

// A wasteKind is the name of a kind of waste.
type wasteKind string

// Choices returns the kinds.
func (wasteKind) Choices() []string { return waste.Kinds() }

func wasteCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "waste", OnlyAsks: true,
		Summary: "find wasted memory, such as duplicate strings and empty collections, and what refers to it",
		Help: "It looks for strings with the same content, as dumpheap -strings compares them; arrays of references that are at least half null; arrays of " +
			"values that are all zero or all the same (from 16 bytes on) or end in zeros (at least half of them, from 64 bytes on); arrays and collections without " +
			"elements; collections filled at most by half; values in boxes; and objects whose fields are all null or zero. " +
			"All objects of the heap count, reachable or not, unless -live is given. No byte counts twice: the array of a collection counts for the collection.\n\n" +
			"Collections are List, Dictionary, HashSet, Queue, Stack, SortedList, PriorityQueue, LinkedList and SortedSet, those without type arguments, " +
			"StringBuilder and MemoryStream, and types that derive from them. Holders are fields, static ones too, and arrays; what only a local refers to has none.",
	}, askWaste, memorytext.Waste)
}

func askWaste(c *cli.Context, o *wasteOptions) (*answer.Waste, error) {
	wo := waste.Options{Top: o.Top, Min: uint64(o.Min), Scan: ask.Scan(c, "searching for waste")}
	for _, k := range o.Kind {
		wo.Kinds = append(wo.Kinds, string(k))
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return nil, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	if o.Live {
		if wo.Live, err = ask.Live(c); err != nil {
			return nil, err
		}
	}
	if wo.Statics, err = statics(c, h); err != nil {
		return nil, err
	}
	if wo.Locals, err = locals(c); err != nil {
		return nil, err
	}
	return waste.Find(c.Context(), h, r, wo)
}

// statics lists the static fields that refer to objects. One that can't be read is a warning: its object lacks a holder.
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
		c.Warn(fmt.Errorf("%d static fields, or their types, can't be read: objects may lack holders: %w", missing, first))
	}
	return list, nil
}

// locals lists what the stacks of threads refer to. A stack that can't be read is a warning: its objects lack a holder.
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
		c.Warn(fmt.Errorf("%d stacks, or words of them, can't be read: objects may lack holders: %w", missing, first))
	}
	return list, nil
}
