package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func heapCommands() []cli.Command {
	return []cli.Command{
		dumpHeapCommand(),
		eeheapCommand(),
		dumpGenCommand(),
		gcHeapStatCommand(),
		sizeStatsCommand(),
		listNearObjCommand(),
	}
}

// generationNames are SOS's names of generations, and sosgo's.
var generationNames = []struct {
	name string
	gen  heap.Generation
}{
	{"gen0", heap.Generation0},
	{"gen1", heap.Generation1},
	{"gen2", heap.Generation2},
	{"loh", heap.GenerationLarge}, {"large", heap.GenerationLarge},
	{"poh", heap.GenerationPinned}, {"pinned", heap.GenerationPinned},
	{"foh", heap.GenerationFrozen}, {"frozen", heap.GenerationFrozen},
}

// scanOptions are those of a scan with a progress display, which the returned
// function ends.
func scanOptions(c *cli.Context, label string) (heap.ScanOptions, func()) {
	p := c.Progress(label)
	return heap.ScanOptions{Jobs: c.Jobs, Progress: p.Set}, p.Done
}

// typeNameOr is the name of a type, or what SOS prints where there is none.
func typeNameOr(c *cli.Context, rt *dac.Runtime, mt target.Addr) string {
	name, err := rt.TypeName(mt, dac.NameManaged)
	if err != nil {
		c.Warn(err)
		return fmt.Sprintf("<unknown_type_%x>", uint64(mt))
	}
	return name
}

// scannedHeap is heapOf for commands that need objects: a heap without segments
// is an error that says why, and one that a collection was changing is told,
// unless the user does not want to hear it.
func scannedHeap(c *cli.Context, ignoreGCState bool) (*heap.Heap, error) {
	h, err := viewOf(c).Heap()
	if err != nil {
		return nil, err
	}
	if len(h.Segments()) == 0 && len(h.Warnings()) > 0 {
		return nil, fmt.Errorf("no segment of the heap can be read: %w", h.Warnings()[0])
	}
	if h.InGC() && !ignoreGCState {
		c.Warn(target.Corruptf("the dump was taken during a garbage collection: the heap is read as far as it is sound"))
	}
	return heapOf(c)
}

// warnCorrupt passes on what a scan could not read. When it read nothing at
// all, that is the command's error.
func warnCorrupt(c *cli.Context, s *heap.Stats) error {
	if s.Count == 0 && len(s.Corruptions) > 0 {
		return fmt.Errorf("no object can be read: %w", s.Corruptions[0])
	}
	for _, e := range s.Corruptions {
		c.Warn(e)
	}
	if more := s.Corrupt - len(s.Corruptions); more > 0 {
		c.Warn(target.Corruptf("%d further places of the heap can't be read", more))
	}
	return nil
}

// typeStatItem is the JSON of one line of statistics.
type typeStatItem struct {
	MethodTable report.Address `json:"methodTable" doc:"the type"`
	Count       uint64         `json:"count" doc:"objects of the type"`
	Size        uint64         `json:"size" doc:"their total size in bytes"`
	Type        string         `json:"type" doc:"name of the type"`
}
