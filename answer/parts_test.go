package answer_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestReasonsOf changes a reason that stands beside the gaps of an answer.
func TestReasonsOf(t *testing.T) {
	w := &answer.Waits{Lost: errors.New("lost")}
	reasons := answer.ReasonsOf(&w)
	assert.Len(t, reasons, 1)
	*reasons[0] = errors.New("moved")
	assert.EqualError(t, w.Lost, "moved")
	assert.Empty(t, answer.ReasonsOf(&answer.Waits{}))
	assert.Empty(t, answer.ReasonsOf((*answer.Waits)(nil)))
}
