package hosting_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/target"
)

// TestAccumulates checks that several objects of a type accumulate only in a root scope. A single one may be a
// singleton.
func TestAccumulates(t *testing.T) {
	assert.True(t, hosting.Accumulates(answer.Known(true), 2))
	assert.False(t, hosting.Accumulates(answer.Known(true), 1))
	assert.False(t, hosting.Accumulates(answer.Known(false), 2))
	assert.False(t, hosting.Accumulates(answer.Of(true, target.ErrNotInDump), 2))
}
