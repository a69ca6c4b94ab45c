package objects_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestFixedBuffers: a fixed-size buffer in a struct has all elements that the program of testdata/dumps/emitted stored,
// and no more.
func TestFixedBuffers(t *testing.T) {
	const dir = "../testdata/dumps/emitted/net10-emit"
	facts, err := os.ReadFile(filepath.Join(dir, "facts.txt"))
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	_, at, ok := strings.Cut(string(facts), "Holder ")
	require.True(t, ok)
	a, err := strconv.ParseUint(strings.Fields(at)[0], 16, 64)
	require.NoError(t, err)
	d, _ := testdump.OverlaidFile(t, filepath.Join(dir, "net10-emit.dmp.zst"), sosgo.Options{Offline: true})
	rt, err := d.Runtime()
	require.NoError(t, err)
	o, err := objects.New(rt).Object(target.Addr(a))
	require.NoError(t, err)
	assert.Equal(t, "{Bytes={0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45}, Odd={0, -1, -2}, Reals={0.5, 1.5}, After=77}",
		o.Field("B").Inline(300))
	leaves, err := o.Type.Leaves()
	require.NoError(t, err)
	assert.Len(t, leaves, 4, "what refers to objects is told by the first element of each")
}
