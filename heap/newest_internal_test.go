package heap

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// TestNewest checks which addresses may be in memory that the allocator is about to hand out.
func TestNewest(t *testing.T) {
	s := &Segment{Objects: target.Range{Start: 0x100000, End: 0x202018}}
	h := &Heap{subHeaps: []SubHeap{{AllocAllocated: 0x202018}}, gaps: []target.Range{{Start: 0x1fff00, End: 0x200000}}}
	assert.True(t, h.newest(s, 0x200000), "it follows the last context")
	assert.False(t, h.newest(s, 0x1ffe00), "a context begins behind it")
	assert.False(t, h.newest(s, 0x180000), "more than is handed out at once")
	other := &Segment{Objects: target.Range{Start: 0x300000, End: 0x302018}}
	assert.False(t, h.newest(other, 0x302000), "nothing is allocated in this segment")
}
