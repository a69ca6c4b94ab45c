package commands

import (
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
)

// handleCommands are those about what keeps objects alive, and whether the heap
// is sound.
func handleCommands() []cli.Command {
	return []cli.Command{
		dumpExceptionsCommand(),
	}
}

// An objectCollector is a heap.Collector of the objects that a filter chooses.
type objectCollector struct {
	*heap.Counter
	sieve *heap.Sieve
	list  []heap.Object
}

func (l *objectCollector) Objects(s *heap.Segment, batch []heap.Object) {
	for i := range batch {
		if o := &batch[i]; l.sieve.Pass(o) {
			l.Count(s, o)
			l.list = append(l.list, *o)
		}
	}
}

func (l *objectCollector) Reset() {
	l.Counter.Reset()
	l.list = l.list[:0]
}

// eachObject scans the heap and calls f, in the caller's goroutine and in
// address order, for the objects that the filter chooses. Places that can't be
// read are warnings.
func eachObject(c *cli.Context, h *heap.Heap, filter *heap.Filter, f func(*heap.Object) error) error {
	total := heap.NewCounter(h, filter)
	o, done := scanOptions(c, "scanning the heap")
	err := heap.Scan(c.Context(), h, h.Spans(filter), o, func() *objectCollector {
		return &objectCollector{Counter: heap.NewCounter(h, filter), sieve: heap.NewSieve(filter)}
	}, func(l *objectCollector) error {
		total.Add(l.Counter)
		for i := range l.list {
			if err := f(&l.list[i]); err != nil {
				return err
			}
		}
		return nil
	})
	done()
	if err != nil {
		return err
	}
	s := total.Stats()
	return warnCorrupt(c, &s)
}
