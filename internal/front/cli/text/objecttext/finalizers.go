package objecttext

import (
	"fmt"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Finalizers is the text of finalizequeue.
func Finalizers(p *report.Page, f *answer.Finalizers, o ListingOptions) {
	if !o.Short {
		cleanupBlocks(p, f.SyncBlocks)
		if p.SOS {
			sosInterfaces(p, f.COM)
		}
		finalizerQueues(p, f.Queues)
		if f.Unread > 0 {
			p.Printf("%d of the objects can't be read\n", f.Unread)
		}
		if f.OnlyReady {
			p.Print("Statistics for all finalizable objects that are no longer rooted:\n")
		} else {
			p.Print("Statistics for all finalizable objects (including all objects ready for finalization):\n")
		}
	}
	Listing(p, &f.Listing, o)
}

// cleanupBlocks are the sync blocks that the finalizer thread has yet to clean up. Where they can't be read there is no
// line; the answer notes why.
func cleanupBlocks(p *report.Page, blocks answer.Maybe[[]target.Addr]) {
	switch {
	case blocks.Err() != nil:
	case p.SOS:
		sosCleanupBlocks(p, blocks.Value)
	case len(blocks.Value) > 0:
		p.Printf("%d sync blocks wait to be cleaned up by the finalizer thread\n", len(blocks.Value))
	}
}

// sosCleanupBlocks is SOS's table. In SOS's own an empty list has a row of zeros that counts: it asks for the next
// block before it looks whether there is one.
func sosCleanupBlocks(p *report.Page, blocks []target.Addr) {
	const row = "%16s %16s %16s %16s\n"
	p.Printf(row, "SyncBlock", "RCW", "CCW", "ComClassFactory")
	unread := answer.Absent(target.ErrUnsupported)
	for _, b := range blocks {
		p.Printf(row, fmt.Sprintf("%012x", uint64(b)), unread, unread, unread)
	}
	p.Printf("SyncBlocks to be cleaned up: %d\n", len(blocks))
}

// sosInterfaces are the lines of COM objects that wait for their release. Where there is COM they are not read.
func sosInterfaces(p *report.Page, com bool) {
	number := "0"
	if com {
		number = answer.Absent(target.ErrUnsupported)
	}
	for _, kind := range []string{"Free-Threaded", "MTA", "STA"} {
		p.Printf("%s Interfaces to be released: %s\n", kind, number)
	}
	p.Print("----------------------------------\n\n")
}

func finalizerQueues(p *report.Page, queues []answer.FinalizerQueue) {
	for i := range queues {
		q := &queues[i]
		p.Printf("Heap %d\n", q.Heap)
		for _, part := range shownParts(p, q) {
			p.Printf("generation %s has %d objects (%x->%x)\n", part.Generation, part.Count, uint64(part.Start), uint64(part.End))
		}
		p.Printf("Ready for finalization %d objects (%x->%x)\n", q.Critical.Count+q.Ready.Count, uint64(q.Critical.Start), uint64(q.Ready.End))
		p.Print("------------------------------\n")
	}
}

// smallGenerations are those that have a line also when they are empty.
const smallGenerations = 3

// shownParts returns the parts of the generations 0, 1 and 2, and of others that are not empty.
func shownParts(p *report.Page, q *answer.FinalizerQueue) []answer.FinalizerPart {
	if p.SOS {
		return sosParts(q)
	}
	var parts []answer.FinalizerPart
	for g, part := range q.Generations {
		if g < smallGenerations || part.Count > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// sosParts returns the parts that SOS takes for generations 0, 1 and 2: those after the first, ignoring the heap of
// pinned objects.
func sosParts(q *answer.FinalizerQueue) []answer.FinalizerPart {
	var parts []answer.FinalizerPart
	for g := range min(smallGenerations, len(q.Generations)) {
		last := smallGenerations - g
		if last+1 >= len(q.Bounds) {
			continue
		}
		r := target.Range{Start: q.Bounds[last], End: q.Bounds[last+1]}
		parts = append(parts, answer.FinalizerPart{Generation: strconv.Itoa(g), Count: r.Size() / 8, Start: r.Start, End: r.End})
	}
	return parts
}
