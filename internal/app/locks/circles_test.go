package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestLoopObject checks that a variable of a loop that can't be read is an error, and not the end of the loop's objects.
func TestLoopObject(t *testing.T) {
	for _, list := range [][]stackwalk.Variable{nil, {{}}, {{Located: true, Err: target.ErrNotInDump}}} {
		_, err := loopObject(list, 0)
		assert.Error(t, err)
	}
}
