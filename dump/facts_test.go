package dump_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// TestFacts: a File has the container's data besides memory, and its SparseMemory.
func TestFacts(t *testing.T) {
	cases, err := testcase.CannedCases()
	require.NoError(t, err)
	for _, c := range cases {
		f, err := dump.Open(c.Path, dump.Options{})
		require.NoError(t, err)
		assert.NoError(t, f.Truncated(), c.Name)
		first, ok := f.NextStored(0)
		require.True(t, ok, c.Name)
		assert.True(t, target.Available(f, first, 1), c.Name)
		claims := f.Claims()
		require.NotNil(t, claims, c.Name)
		if f.Format == dump.FormatMinidump {
			assert.Empty(t, f.Environment(), "%s: a process of Windows", c.Name)
		}
		assert.Equal(t, target.ClaimsOf(f.Target), claims, c.Name)
		for _, x := range f.Contents() {
			assert.NotZero(t, x, c.Name)
		}
		require.NoError(t, f.Close())
	}
}

// TestDefaultCache: the cache is in the user's cache folder, if the user has one.
func TestDefaultCache(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	assert.Contains(t, dump.DefaultCache(), home)
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	assert.Empty(t, dump.DefaultCache())
}
