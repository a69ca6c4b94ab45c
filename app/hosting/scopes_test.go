package hosting

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestAccumulates: several objects of a type accumulate in a root scope alone, and one may be a singleton.
func TestAccumulates(t *testing.T) {
	assert.True(t, accumulates(answer.Known(true), 2))
	assert.False(t, accumulates(answer.Known(true), 1))
	assert.False(t, accumulates(answer.Known(false), 2))
	assert.False(t, accumulates(answer.Maybe[bool]{Value: true, Err: target.ErrNotInDump}, 2))
}
