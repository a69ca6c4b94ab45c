package testdump_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
)

func TestManagedName(t *testing.T) {
	for in, want := range map[string]string{
		"System.String":   "System.String",
		"System.Int32[,]": "System.Int32[,]",
		"System.Int32[*]": "System.Int32<*>",
		"System.Collections.Generic.List`1[System.Int32]":                                                                 "System.Collections.Generic.List<System.Int32>",
		"System.Collections.Generic.List`1[System.Int32][]":                                                               "System.Collections.Generic.List<System.Int32>[]",
		"Zoo.Outer`1+Inner`1[System.String,System.Int32]":                                                                 "Zoo.Outer<System.String>+Inner<System.Int32>",
		"Zoo.Outer`1[System.Collections.Generic.Dictionary`2[System.Int32,System.Collections.Generic.List`1[Zoo.Point]]]": "Zoo.Outer<System.Collections.Generic.Dictionary<System.Int32, System.Collections.Generic.List<Zoo.Point>>>",
		"Zoo.Everything+<Count>d__20":                                                                                     "Zoo.Everything+<Count>d__20",
	} {
		assert.Equal(t, want, testdump.ManagedName(in), in)
	}
}

// TestCanned opens every canned dump and compares it with its manifest.
func TestCanned(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		require.Equal(t, d.Manifest.OS, d.Target().Platform().OS.String())
		if d.Manifest.PID != 0 { // a crashed program may have been gone too early
			require.Equal(t, d.Manifest.PID, d.Target().Process().ID)
		}
		require.Empty(t, d.Case.Modules, "a canned dump needs no module files")
		raw, err := d.Raw()
		require.NoError(t, err)
		require.Equal(t, d.File().Size, int64(len(raw)))
	})
}

func TestOnce(t *testing.T) {
	require.Same(t, testdump.Open(t, "net10-zoo"), testdump.Open(t, "net10-zoo"))
}
