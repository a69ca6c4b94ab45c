package livecmd

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestCheck checks that the dump of another process is refused. In a pid namespace, the process knows another id than others see.
func TestCheck(t *testing.T) {
	f, err := os.Open("../../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst")
	if os.IsNotExist(err) {
		t.Skip("there are no canned dumps here")
	}
	require.NoError(t, err)
	defer f.Close()
	const id = 0x2cde
	out, err := check(f, 1, id)
	require.NoError(t, err)
	assert.NotZero(t, out.Threads)
	_, err = check(f, 1, id+1)
	assert.ErrorIs(t, target.Kind(err), target.ErrCorrupt)
	assert.ErrorContains(t, err, "it is of process 11486")
}
