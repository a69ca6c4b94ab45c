package commands

import (
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func finalizeQueueCommand() cli.Command {
	return cli.Command{
		Name: "finalizequeue", Aliases: []string{"fq"}, Group: cli.GroupObjects, NeedsDump: true, Run: runFinalizeQueue,
		Summary: "lists the objects whose finalizer has not run",
		Help: "The queue keeps objects by the generation in which the last collection saw them. Those that are ready for finalization are kept alive " +
			"by it until the finalizer thread has run their finalizer: many of them mean that this thread hangs or is too slow.",
		Options: []cli.Option{
			{Name: "detail", Kind: cli.Bool, Summary: "accepted, and changes nothing: .NET outside Windows has no COM objects to release"},
			{Name: "allready", Kind: cli.Bool, Summary: "only objects that nothing refers to any more"},
			{Name: "short", Kind: cli.Bool, Summary: "only addresses, one a line, for scripts"},
			{Name: "stat", Kind: cli.Bool, Summary: "only the statistics"},
			{Name: "mt", Kind: cli.Address, Summary: "only objects of this MethodTable"},
			{Name: "type", Kind: cli.TypeName, Summary: "only objects of types whose name contains this"},
			{Name: "bycount", Kind: cli.Bool, Summary: "sort the statistics by the number of objects"},
		},
		Result: []report.Part{
			report.ListOf[finalizerQueueItem]("heaps"),
			report.ListOf[objectItem]("objects"),
			report.ListOf[typeStatItem]("statistics"),
			report.ListOf[fragmentItem]("fragments"),
			report.FieldOf[uint64]("count"),
			report.FieldOf[uint64]("size"),
		},
	}
}

type finalizerQueueItem struct {
	Heap        int                 `json:"heap" doc:"number of the GC's heap"`
	Queue       report.Address      `json:"queue" doc:"the queue, 0 if there is none"`
	Generations []finalizerPartItem `json:"generations" doc:"objects whose finalizer is registered, by generation"`
	Ready       finalizerPartItem   `json:"ready" doc:"objects whose finalizer will run"`
	Critical    finalizerPartItem   `json:"critical" doc:"those of them that are CriticalFinalizerObjects, which come last"`
}

type finalizerPartItem struct {
	Generation string         `json:"generation,omitempty" doc:"\"0\", \"1\", \"2\", \"large\" or \"pinned\""`
	Count      uint64         `json:"count" doc:"number of objects"`
	Start      report.Address `json:"start" doc:"first word of the part"`
	End        report.Address `json:"end" doc:"behind its last word"`
}

func finalizerPart(generation string, r target.Range) finalizerPartItem {
	return finalizerPartItem{generation, r.Size() / 8, report.Address(r.Start), report.Address(r.End)}
}

func runFinalizeQueue(c *cli.Context) error {
	if c.Bool("allready") {
		return target.Unsupportedf("-allReady is not there yet: it needs the object graph")
	}
	h, err := heapOf(c)
	if err != nil {
		return err
	}
	d := &dumpHeap{c: c, h: h, rt: h.Runtime(), filter: &heap.Filter{}}
	if d.filter.Type, err = typeFilter(c, d.rt); err != nil {
		return err
	}
	queues, err := finalizerQueues(c, h)
	if err != nil {
		return err
	}
	if err := printQueues(c, queues); err != nil {
		return err
	}
	return d.finalizable(finalizableObjects(c, h, queues))
}

// finalizerQueues reads the queues of all heaps. One that can't be read is a
// warning, unless none can.
func finalizerQueues(c *cli.Context, h *heap.Heap) ([]heap.FinalizerQueue, error) {
	var queues []heap.FinalizerQueue
	var failed error
	for i := range h.SubHeaps() {
		q, err := h.FinalizerQueue(i)
		if err != nil {
			c.Warn(err)
			failed = err
			continue
		}
		queues = append(queues, q)
	}
	if len(queues) == 0 {
		return nil, failed
	}
	return queues, nil
}

func printQueues(c *cli.Context, queues []heap.FinalizerQueue) error {
	if c.JSON() != nil {
		return encodeQueues(c, queues)
	}
	if c.Bool("short") {
		return nil
	}
	if c.SOS {
		// Only Windows has COM objects, and their tables are not read.
		c.Printf("Free-Threaded Interfaces to be released: 0\nMTA Interfaces to be released: 0\nSTA Interfaces to be released: 0\n" +
			"----------------------------------\n\n")
	}
	for i := range queues {
		q := &queues[i]
		c.Printf("Heap %d\n", q.SubHeap)
		for _, part := range shownParts(c, q) {
			c.Printf("generation %s has %d objects (%x->%x)\n", part.Generation, part.Count, uint64(part.Start), uint64(part.End))
		}
		ready := finalizerPart("", q.FReachable())
		c.Printf("Ready for finalization %d objects (%x->%x)\n", ready.Count, uint64(ready.Start), uint64(ready.End))
		c.Printf("------------------------------\n")
	}
	c.Printf("Statistics for all finalizable objects (including all objects ready for finalization):\n")
	return nil
}

// shownParts are the parts of the generations 0, 1 and 2, and of others that
// are not empty. SOS takes them for the parts behind the first, as if there were
// no heap of pinned objects.
func shownParts(c *cli.Context, q *heap.FinalizerQueue) []finalizerPartItem {
	const small = 3
	var parts []finalizerPartItem
	for g, r := range q.Generations {
		if c.SOS {
			if last := small - g; g < small && last+1 < len(q.Bounds) {
				parts = append(parts, finalizerPart(heap.Generation(g).String(), target.Range{Start: q.Bounds[last], End: q.Bounds[last+1]}))
			}
		} else if g < small || r.Size() > 0 {
			parts = append(parts, finalizerPart(heap.Generation(g).String(), r))
		}
	}
	return parts
}

func encodeQueues(c *cli.Context, queues []heap.FinalizerQueue) error {
	for i := range queues {
		q := &queues[i]
		item := finalizerQueueItem{Heap: q.SubHeap, Queue: report.Address(q.Addr), Ready: finalizerPart("", q.Ready), Critical: finalizerPart("", q.Critical)}
		for g, r := range q.Generations {
			item.Generations = append(item.Generations, finalizerPart(heap.Generation(g).String(), r))
		}
		if err := c.JSON().Item("heaps", item); err != nil {
			return err
		}
	}
	return nil
}

// finalizableObjects are the objects of all queues in the queues' order, which
// is that of generations, the oldest first. What can't be read is a warning.
func finalizableObjects(c *cli.Context, h *heap.Heap, queues []heap.FinalizerQueue) []heap.Object {
	var list []heap.Object
	for i := range queues {
		all := target.Range{Start: queues[i].Finalizable().Start, End: queues[i].FReachable().End}
		for r, err := range h.FinalizerSlots(all) {
			if err != nil {
				c.Warn(err)
				break
			}
			o, err := h.ObjectAt(r.Target)
			if err != nil {
				c.Warn(err)
				continue
			}
			list = append(list, o)
		}
	}
	return list
}

// finalizable lists objects and their statistics.
func (d *dumpHeap) finalizable(list []heap.Object) error {
	out, sieve := newObjectList(d, d.filter), heap.NewSieve(d.filter)
	for i := range list {
		if !sieve.Pass(&list[i]) {
			continue
		}
		if out.Count(d.h.Segment(list[i].Addr), &list[i]); !d.c.Bool("stat") {
			out.add(&list[i])
		}
	}
	s := out.Stats()
	if enc := d.c.JSON(); enc != nil {
		if err := enc.List("objects"); err != nil {
			return err
		}
		for _, item := range out.items {
			if err := enc.Item("objects", item); err != nil {
				return err
			}
		}
		return d.printStats(&s)
	}
	short := d.c.Bool("short")
	if !short && out.out.Len() > 0 {
		if err := objectTable(d.c.Out).Header(); err != nil {
			return err
		}
	}
	if _, err := d.c.Out.Write(out.out.Bytes()); err != nil || short {
		return err
	}
	return d.printStats(&s)
}
