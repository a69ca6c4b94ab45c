package reach

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestObjectOf checks that a variable of a loop that can't be read is an error, and not the end of the loop's objects.
func TestObjectOf(t *testing.T) {
	for _, list := range [][]stackwalk.Variable{nil, {{}}, {{Located: true, Err: target.ErrNotInDump}}} {
		_, err := ObjectOf(list, 0)
		assert.Error(t, err)
	}
}
