package commands_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestLoneSurrogates checks that commands print a lone surrogate as an escape and write it to files as a replacement
// character.
func TestLoneSurrogates(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	raw, err := d.Raw()
	require.NoError(t, err)
	const whole, half = "w\x00\xf6\x00r\x00l\x00d\x00", "w\x00\x00\xd8r\x00l\x00d\x00"
	require.True(t, bytes.Contains(raw, []byte(whole)))
	kept := *d.Case
	damaged := &testdump.Dump{Case: &kept}
	damaged.Path = filepath.Join(t.TempDir(), "damaged.dmp")
	require.NoError(t, os.WriteFile(damaged.Path, bytes.ReplaceAll(raw, []byte(whole), []byte(half)), 0o600))
	address := ""
	for _, f := range d.Manifest.Objects() {
		if f.Name == "root.Primitives.String" {
			address = f.Addr.String()
		}
	}
	ask := func(args ...string) string {
		code, stdout, stderr := sosgo(t, damaged, args...)
		require.Zero(t, code, stderr)
		return stdout
	}
	const want = `hello, w\ud800rld 你好`
	for _, args := range [][]string{{"dumpobj", address}, {"--json", "dumpobj", address}, {"--json", "dumpstring", address}, {"dumpstring", "-raw", address},
		{"eval", "Debuggee.Zoo.Scenario.Root.Primitives.String"}, {"--json", "query", `from string where this matches /^hello, w.rld/ | select this`}} {
		assert.Contains(t, ask(args...), want, "%q", args)
	}
	assert.Equal(t, want+"\n", ask("dumpstring", address))
	file := filepath.Join(t.TempDir(), "text")
	ask("dumpstring", "-out", file, address)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, want, string(text))
}
