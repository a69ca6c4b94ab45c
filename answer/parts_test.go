package answer_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestReasonsOf changes a reason that stands beside the gaps of an answer.
func TestReasonsOf(t *testing.T) {
	w := &answer.Waits{Lost: errors.New("lost")}
	reasons := answer.ReasonsOf(&w)
	assert.Len(t, reasons, 1)
	*reasons[0] = errors.New("moved")
	assert.EqualError(t, w.Lost, "moved")
	pool := answer.ThreadPool{Queued: answer.Missing[uint64](target.ErrCorrupt)}
	for _, reason := range answer.ReasonsOf(&pool) {
		*reason = target.ErrNotInDump
	}
	assert.Equal(t, target.ErrNotInDump, pool.Queued.Err())
	assert.Empty(t, answer.ReasonsOf(&answer.Waits{}))
	assert.Empty(t, answer.ReasonsOf((*answer.Waits)(nil)))
}
