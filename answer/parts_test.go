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

// TestRowReasonsOf changes the reasons of missing texts and values in rows, and in the rows of rows.
func TestRowReasonsOf(t *testing.T) {
	missing := answer.Text{Err: target.ErrCorrupt}
	locks := &answer.Locks{Locks: []answer.Lock{{Type: missing, Waiters: answer.Missing[int64](target.ErrCorrupt)}, {Type: answer.Text{S: "A"}}}}
	reasons := answer.RowReasonsOf(&locks)
	assert.Len(t, reasons, 2)
	for _, reason := range reasons {
		*reason = target.ErrInCollection
	}
	assert.Equal(t, "<in collection>", locks.Locks[0].Type.String())
	assert.Equal(t, target.ErrInCollection, locks.Locks[0].Waiters.Err())
	assert.Equal(t, "A", locks.Locks[1].Type.String())
	assert.Empty(t, answer.RowReasonsOf((*answer.Locks)(nil)))
}

// TestRewordTexts checks that a text says why it is missing as its answer puts reasons.
func TestRewordTexts(t *testing.T) {
	g := &answer.Gaps{}
	assert.Equal(t, "<corrupt>", g.Text("", target.ErrCorrupt).String())
	g.RewordTexts(func(error) error { return target.ErrInCollection })
	assert.Equal(t, "<in collection>", g.Text("", target.ErrCorrupt).String())
	assert.Equal(t, "A", g.Text("A", nil).String())
	assert.Equal(t, []error{target.ErrCorrupt, target.ErrInCollection}, g.Noted())
}
