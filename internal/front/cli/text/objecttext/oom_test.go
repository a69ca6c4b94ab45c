package objecttext

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestOutOfMemory: a record has SOS's sentences, ours with the heap and the request; that there was no failed
// allocation is said of heaps alone that can be read.
func TestOutOfMemory(t *testing.T) {
	text := func(sos bool, o answer.OutOfMemory) string {
		return page(sos, func(p *report.Page) { OutOfMemory(p, &o) })
	}
	failed := answer.OutOfMemory{Heaps: 2, Failures: []answer.FailedAllocation{{Heap: 1, Reason: answer.OOMLowMemory, Large: true,
		AllocationSize: 85024, Collection: 1017, Failure: answer.OOMReserveSegment, Size: 262144, AvailableMB: 1023}}}
	const details = "Details: LOH Failed to reserve memory 262,144 bytes - on GC entry available commit space was 1,023 MB\n"
	assert.Equal(t, "Low on memory during GC\n"+details, text(true, failed))
	assert.Equal(t, "Heap 1: Low on memory during GC\nAllocation: 85,024 bytes, after collection 1,017\n"+details, text(false, failed))
	assert.Equal(t, "There was no managed OOM due to allocations on the GC heap\n", text(false, answer.OutOfMemory{Heaps: 2}))
	assert.Equal(t, "Unknown whether there was a managed OOM\n", text(false, answer.OutOfMemory{Heaps: 2, Unread: 2}))
	assert.Equal(t, "The record of 1 of 2 heaps can't be read\n", text(true, answer.OutOfMemory{Heaps: 2, Unread: 1}))
}
