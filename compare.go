package sosgo

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/heapdiff"
)

// A HeapSummary holds the facts of a heap that CompareHeaps compares. It does not need its dump any more.
type HeapSummary struct{ summary *heapdiff.Summary }

// SummarizeHeap counts the objects of the heap by type and generation, and returns them under a name for the dump. It
// notes unreadable parts in the comparison.
func (v *View) SummarizeHeap(ctx context.Context, name string) (*HeapSummary, error) {
	h, err := v.Heap()
	if err != nil {
		return nil, err
	}
	s, err := heapdiff.Summarize(ctx, name, h, v.Scanning(ctx, "counting objects", heap.ScanOptions{}))
	if err != nil {
		return nil, err
	}
	return &HeapSummary{s}, nil
}

// CompareOptions select rows of a comparison. The zero value selects everything that changed.
type CompareOptions struct {
	Top     int    // types at most; 0 for all
	Min     uint64 // least change of a row in bytes
	Growing bool   // only what grew from each of three or more dumps to the next
}

// CompareHeaps compares heaps, the oldest first: what grew? Failure of the answer says that they can't be compared.
func CompareHeaps(list []*HeapSummary, o CompareOptions) *answer.HeapDiff {
	var all []*heapdiff.Summary
	for _, s := range list {
		if s == nil {
			s = &HeapSummary{}
		}
		all = append(all, s.summary)
	}
	return heapdiff.Compare(all, heapdiff.Options{Top: o.Top, Min: o.Min, Growing: o.Growing})
}
