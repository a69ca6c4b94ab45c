package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestWeakest checks that a conclusion is as weak as its weakest evidence.
func TestWeakest(t *testing.T) {
	assert.Equal(t, answer.StrengthProved, answer.Weakest(answer.StrengthRecorded, answer.StrengthProved))
	assert.Equal(t, answer.StrengthLikely, answer.Weakest(answer.StrengthLikely, answer.StrengthProved))
	assert.Equal(t, answer.StrengthUnknown, answer.Weakest(answer.StrengthRecorded, "certain"))
	assert.Equal(t, answer.StrengthUnknown, answer.Weakest())
}
