package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startsGoroutine matches code that starts a goroutine, directly or by package workers.
var startsGoroutine = regexp.MustCompile(`go func|\.Go\(func|[wW]g\.Go\(|workers\.[A-Z]`)

// racedElsewhere are folders with goroutines that the tests of other packages exercise, and programs and tools.
var racedElsewhere = []string{"cmd", "heap", "internal/test", "ui"}

// TestRaceLists checks that the step race of .ci/run lists every package that starts goroutines, and no package that
// does not exist.
func TestRaceLists(t *testing.T) {
	listed := raceList(t)
	for _, folder := range listed {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		assert.NotEmpty(t, files, "there is no package %s", folder)
	}
	require.NoError(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		file = filepath.ToSlash(file)
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") && name != "." || slices.Contains(racedElsewhere, file)):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if folder := filepath.ToSlash(filepath.Dir(file)); err == nil && startsGoroutine.Match(text) {
			assert.Contains(t, listed, folder, "%s starts a goroutine", file)
		}
		return err
	}))
}

// raceList returns the folders that the step race names. ./app/{leaks,locks} stands for two folders.
func raceList(t *testing.T) (folders []string) {
	text, err := os.ReadFile(filepath.Join(".ci", "run"))
	require.NoError(t, err)
	_, body, found := strings.Cut(string(text), "\nrace() {\n")
	require.True(t, found)
	body, _, _ = strings.Cut(body, "\n}\n")
	for _, word := range regexp.MustCompile(`[ (](\./?[^ ()]*)`).FindAllStringSubmatch(body, -1) {
		folder := strings.TrimSpace(word[1])
		before, rest, several := strings.Cut(folder, "{")
		names, after, _ := strings.Cut(rest, "}")
		for name := range strings.SplitSeq(names, ",") {
			folders = append(folders, filepath.ToSlash(filepath.Clean(before+name+after)))
		}
		require.Equal(t, several, names != "", folder)
	}
	require.Greater(t, len(folders), 20)
	return folders
}
