package house_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

// TestExamplesNeedFewImports checks that each common task of an importer takes at most two packages beside the root.
func TestExamplesNeedFewImports(t *testing.T) {
	const tasks, imports = 20, 3
	root, err := testcase.ModuleRoot()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "docs", "examples", "*_test.go"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(files), tasks)
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		own := 0
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, "sosgo/sosgo") {
				own++
			}
			assert.NotContains(t, i.Path.Value, "/internal/", path)
		}
		assert.True(t, own >= 1 && own <= imports, "%s imports %d packages of sosgo", path, own)
	}
}

// TestProgramsAreShort checks that each complete program in docs/examples stays below 120 lines, and has a test.
func TestProgramsAreShort(t *testing.T) {
	const lines = 120
	root, err := testcase.ModuleRoot()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "docs", "examples", "*", "main.go"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(files), 3)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Less(t, bytes.Count(text, []byte("\n")), lines, path)
		assert.FileExists(t, filepath.Join(filepath.Dir(path), "main_test.go"))
	}
}
