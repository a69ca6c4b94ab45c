package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
	"github.com/sosgo/sosgo/target"
)

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

// The helpers of package ask, for the commands that still stand here.
func scannedHeap(c *cli.Context, ignoreGCState bool) (*heap.Heap, error) {
	return ask.ScannedHeap(c, ignoreGCState)
}
func filterOptions() []cli.Option                                 { return ask.FilterOptions() }
func filterOf(c *cli.Context, h *heap.Heap) (*heap.Filter, error) { return ask.Filter(c, h) }

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
