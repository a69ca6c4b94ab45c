package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/testdump"
)

// exportForms are the forms that are one file.
var exportForms = []string{"gcdump", "heapsnapshot", "pprof", "speedscope", "folded"}

// TestExport: each form is written where the user says, says what it wrote, and does not write over a file that is there.
func TestExport(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	for _, form := range exportForms {
		t.Run(form, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "out")
			code, text, stderr := sosgo(t, d, "--json", "export", form, file)
			require.Zero(t, code, stderr)
			var said struct {
				Result struct{ Form, Path, Of string }
			}
			require.NoError(t, json.Unmarshal([]byte(text), &said))
			assert.Equal(t, form, said.Result.Form)
			assert.Equal(t, file, said.Result.Path)
			first, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.NotEmpty(t, first)

			code, _, stderr = sosgo(t, d, "export", form, "-o", file)
			assert.NotZero(t, code)
			assert.Contains(t, stderr, "exist")
			other := filepath.Join(t.TempDir(), "other")
			code, text, stderr = sosgo(t, d, "-jobs", "1", "export", form, "-o", other)
			require.Zero(t, code, stderr)
			assert.Contains(t, text, form)
			again, err := os.ReadFile(other)
			require.NoError(t, err)
			assert.True(t, string(first) == string(again), "the same bytes for any number of workers")
		})
	}
}

// TestExportFails: a place that can't be written to, and one that is full, leave nothing.
func TestExportFails(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	for _, form := range exportForms {
		dir := t.TempDir()
		code, _, stderr := sosgo(t, d, "export", form, filepath.Join(dir, "no", "such", "folder"))
		assert.NotZero(t, code)
		assert.NotEmpty(t, stderr)
		code, _, stderr = sosgo(t, d, "export", form)
		assert.Equal(t, cli.ExitUsage, code, stderr)
		code, _, stderr = sosgo(t, d, "export", form, "a", "-o", "b")
		assert.Equal(t, cli.ExitUsage, code, stderr)
		if runtime.GOOS == "linux" {
			code, _, stderr = sosgo(t, d, "export", form, "/dev/full")
			assert.NotZero(t, code)
			assert.Contains(t, stderr, "no space left")
		}
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, left)
	}
	code, _, stderr := sosgo(t, d, "export", "dbase", "x")
	assert.Equal(t, cli.ExitUsage, code, stderr)
}
