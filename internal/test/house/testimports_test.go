package house_test

import (
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compiledTwice are the packages with both kinds of tests: in them, and on dumps that are opened by packages that import them. Their
// few tests of the first kind do not deserve a folder.
var compiledTwice = strings.Fields("internal/app/crash internal/app/sqlpools internal/app/tasks internal/app/threadpool internal/app/web " +
	"internal/front/cli/commands/mcpcmd internal/front/dap internal/heapdiff internal/threads")

// TestCompiledOnce checks that packages with tests inside them (package x, not x_test) have no tests that import
// packages above them. Go would compile everything in between twice, which took a fifth of the time of all checks.
// Such a package opens its dumps through lower packages, or keeps its tests on dumps in a separate folder, ondumps.
func TestCompiledOnce(t *testing.T) {
	imports, _ := importsOf(t)
	for _, dir := range testPackages {
		imports[dir] = testImports(t, dir, func(file string, _ string) bool { return !strings.HasSuffix(file, "_test.go") })
	}
	var twice []string
	for dir := range imports {
		inside, outside := false, testImports(t, dir, func(file, name string) bool {
			return strings.HasSuffix(file, "_test.go") && strings.HasSuffix(name, "_test")
		})
		testImports(t, dir, func(file, name string) bool {
			inside = inside || strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(name, "_test")
			return false
		})
		above := func(p string) bool { return p != dir && reaches(imports, p, dir, map[string]bool{}) }
		if inside && dir != "sosgo" && slices.ContainsFunc(outside, above) {
			twice = append(twice, dir)
		}
	}
	slices.Sort(twice)
	assert.Equal(t, compiledTwice, twice)
}

// testPackages are imported only by tests.
var testPackages = []string{"internal/test/synth", "internal/test/testcase", "internal/test/testdump", "internal/test/testheap"}

// testImports returns the packages of this module that the files of a folder import. want selects the files by file
// and package name.
func testImports(t *testing.T, dir string, want func(file, name string) bool) []string {
	if dir == "sosgo" {
		dir = "."
	}
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	require.NoError(t, err)
	var out []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		if !want(name, file.Name.Name) {
			continue
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if own, ok := strings.CutPrefix(imported, modulePath); ok {
				out = append(out, packageName(path.Clean(strings.TrimPrefix(own, "/"))))
			}
		}
	}
	return out
}
