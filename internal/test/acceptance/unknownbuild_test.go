package acceptance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestUnknownBuildWithoutFiles: a kernel's core has the memory that the runtime's library wrote,
// and no page of its file. The library's own descriptor is found there although the build is in no
// catalogue.
func TestUnknownBuildWithoutFiles(t *testing.T) {
	d := openBare(t, bareKernel)
	rt, err := d.Runtime()
	require.NoError(t, err)
	m := rt.Instance().Module
	head, err := target.Bytes(d.Memory(), m.Base, 0x1000)
	require.NoError(t, err)
	id := strings.Index(string(head), string(rt.Instance().Identity.BuildID))
	require.Positive(t, id)
	var overlay testcase.Overlay
	overlay.Set(testcase.Damage{At: m.Base + target.Addr(id), Bytes: []byte{^head[id]}})
	unknown, err := sosgo.Open(filepath.Join(bareDumps, bareKernel, bareKernel+".dmp.zst"), sosgo.Options{Offline: true,
		WrapMemory: func(m target.Memory) target.Memory { overlay.Memory = m; return &overlay }})
	require.NoError(t, err)
	defer unknown.Close()
	other, err := unknown.Runtime()
	require.NoError(t, err)
	assert.NotEqual(t, rt.Instance().Identity, other.Instance().Identity)
	named, absent := typeNames(t, d)
	gotNamed, gotAbsent := typeNames(t, unknown)
	assert.Equal(t, named, gotNamed)
	assert.Equal(t, absent, gotAbsent)
}

// TestTablesOfTheProcessor: if the runtime's version is known and nothing of its library is in the
// dump, no table for another processor is tried.
func TestTablesOfTheProcessor(t *testing.T) {
	testdump.Corpus(t, testcase.Named("arm64-net10-zoo-withheap"), func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		m := rt.Instance().Module
		_, err = d.Without(t, target.Range{Start: m.Base + 0x1000, End: m.Base + target.Addr(m.Size)}).Runtime()
		assert.ErrorContains(t, err, "10.0: ")
		assert.NotContains(t, err.Error(), "x64")
		return 1
	})
}
