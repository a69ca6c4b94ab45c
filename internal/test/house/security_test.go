package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecurityTable checks that each door in SECURITY.md has tests, and that these exist.
func TestSecurityTable(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "## Doors and dangers\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	tests := map[string]bool{} // as folder.Test
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(b, -1) {
			tests[filepath.Base(filepath.Dir(path))+"."+string(m[1])] = true
		}
		return err
	}))
	named := regexp.MustCompile("`(\\w+\\.(?:Test|Fuzz)\\w+)`")
	doors := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| door") {
			continue
		}
		doors++
		names := named.FindAllStringSubmatch(line, -1)
		assert.NotEmpty(t, names, line)
		for _, n := range names {
			assert.True(t, tests[n[1]], "%s is not a test", n[1])
		}
	}
	assert.Equal(t, 15, doors)
}

// opensOtherwise are the files that may open files by package os, with the files that they open. All others open files by
// mmapfile.OpenRegular, so that no path of a dump, a client or a folder makes sosgo wait for a pipe or touch a device.
var opensOtherwise = map[string]string{
	"dump/space_linux.go":                      "/proc",
	"internal/base/outfile/sweep.go":           "folders",
	"internal/base/outfile/owner_unix.go":      "folders",
	"internal/front/cli/commands/ask/rules.go": "a file of the command line, which may be a pipe",
	"internal/front/remote/fetch.go":           "a file of the command line, which may be a pipe",
	"internal/live/processes/memory.go":        "/proc",
	"internal/live/processes/proc.go":          "/proc",
	"internal/live/diagport/dial_unix.go":      "folders",
}

// temporaryOtherwise are the files that may create temporary files by package os. All others use package outfile, which
// removes what a killed process leaves.
var temporaryOtherwise = map[string]string{
	"dump/temp_unix.go":    "a file without a name",
	"dump/temp_windows.go": "a file that ends with the process",
	"dump/cache.go":        "swept by itself",
}

// TestOpenRegular checks that no other code opens files for reading by package os.
func TestOpenRegular(t *testing.T) {
	onlyIn(t, regexp.MustCompile(`\bos\.(Open|ReadFile)\(`), opensOtherwise, "open files by mmapfile.OpenRegular")
}

// TestTemporaryFiles checks that no other code creates temporary files and folders by package os.
func TestTemporaryFiles(t *testing.T) {
	onlyIn(t, regexp.MustCompile(`\bos\.(CreateTemp|MkdirTemp)\(`), temporaryOtherwise, "use outfile.Create or outfile.TempDir")
}

// onlyIn checks that exactly these files of the product have the code.
func onlyIn(t *testing.T, code *regexp.Regexp, files map[string]string, instead string) {
	t.Helper()
	found := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/test/") || strings.HasPrefix(path, "docs/") {
			return err
		}
		b, err := os.ReadFile(path)
		if code.Match(b) {
			found++
			assert.Contains(t, files, path, instead)
		}
		return err
	}))
	assert.Equal(t, len(files), found)
}

// TestLimitsAreNoDamage: what a limit of the user or of sosgo leaves out is target.ErrLimit and no damage of the dump, which a fleet would keep for good.
func TestLimitsAreNoDamage(t *testing.T) {
	limited := regexp.MustCompile(`(?s)\bCorrupt(?:Heap)?f\(\s*"[^"\n]*(?:\(limit|limit \(|the first %d|the others are)[^"\n]*"`)
	bounds := regexp.MustCompile(`\bLimitf\(`)
	n := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		n += len(bounds.FindAll(b, -1))
		for _, call := range limited.FindAll(b, -1) {
			if strings.Contains(string(call), " no end") || strings.Contains(string(call), "without an end") {
				continue // a list that does not end is damaged
			}
			assert.Fail(t, "a limit is called damage: use target.Limitf", "%s: %s", path, call)
		}
		return err
	}))
	assert.Greater(t, n, 20)
}

// attackers are what tests of a package call, by the package that it must use to serve or to ask others. Each package that does is a door of its own.
var attackers = map[string]string{
	"internal/front/serving":  "strangers.Come(", // many idle clients
	"internal/base/webclient": "hostile.Attack(", // servers that lie, hang and redirect
}

// TestDoorsAreAttacked checks that no package serves or asks servers by itself, and that the tests of those that do by the common packages attack them.
func TestDoorsAreAttacked(t *testing.T) {
	byItself := regexp.MustCompile(`\bhttp\.(Server|Client|Transport)\{|\bhttp\.(DefaultClient|DefaultTransport|Get|Head|Post|PostForm|ListenAndServe\w*|Serve\w*)\b\(?|\bnet\.(Dial\w*|Listen\w*)\(`)
	handsOn := regexp.MustCompile(`"` + modulePath + `/internal/front/(?:dap|webui|mcpserver)"`)
	serves := map[string]bool{"http.ServeContent(": true, "http.ServeMux": true, "http.ServeFile(": true}
	sources, tests := map[string]string{}, map[string]string{} // by folder
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "internal/test/") || strings.HasPrefix(path, "docs/") {
			return err
		}
		b, err := os.ReadFile(path)
		folder := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") {
			tests[folder] += string(b)
			return err
		}
		sources[folder] += string(b)
		return err
	}))
	doors := map[string]int{}
	for folder, source := range sources {
		if attackers[folder] == "" {
			for _, found := range byItself.FindAllString(source, -1) {
				assert.True(t, serves[found], "%s: %s: use packages serving and webclient", folder, found)
			}
		}
		for common, attack := range attackers {
			if strings.Contains(source, `"`+modulePath+"/"+common+`"`) {
				doors[common]++
				assert.Contains(t, tests[folder], attack, folder)
			}
		}
		if strings.Contains(source, "net.ListenConfig") { // what listens hands the listener to a door
			assert.True(t, handsOn.MatchString(source), "%s: what does it serve by?", folder)
		}
	}
	assert.Equal(t, map[string]int{"internal/front/serving": 3, "internal/base/webclient": 2}, doors)
}
