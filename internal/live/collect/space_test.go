package collect

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/live/processes"
)

// TestEstimate checks that measured dumps were no larger than what was estimated before, and not much smaller.
func TestEstimate(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		kind               answer.DumpKind
		writable, readable uint64
		threads            int
		file               uint64
	}{
		{answer.DumpHeap, 1832 * mb / 10, 2971 * mb / 10, 14, 1933 * mb / 10},
		{answer.DumpHeap, 1918 * mb / 10, 3059 * mb / 10, 22, 2028 * mb / 10},
		{answer.DumpMini, 1924 * mb / 10, 3065 * mb / 10, 22, 185 * mb / 10},
		{answer.DumpMini, 1924 * mb / 10, 3065 * mb / 10, 12, 209 * mb / 10},
		{answer.DumpFull, 1924 * mb / 10, 3102 * mb / 10, 22, 3102 * mb / 10},
	} {
		got := estimate(c.kind, &processes.Mapped{Writable: c.writable, Readable: c.readable}, c.threads)
		assert.GreaterOrEqual(t, got, c.file, "%v", c)
		assert.Less(t, got, c.file+40*mb, "%v", c)
	}
	assert.Zero(t, estimate(answer.DumpHeap, nil, 1))
}
