package house_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var lowerWords = flag.Bool("words", false, "write the ceilings that fell to .ci/words")

const (
	wordsFile    = "internal/test/house/words.txt"
	ceilingsFile = ".ci/words"
)

// exempt lists generated files and files that contain the phrases on purpose.
var exempt = []string{"docs/json.md", "internal/test/house/words_test.go", "CHANGELOG.md"}

// A phrase is a pattern that prose must not match, and its replacement.
type phrase struct {
	pattern *regexp.Regexp
	first   string // the beginning of its first word, for a fast search
	instead string
}

// TestWords counts the phrases of words.txt in comments, string literals and documents, by folder.
// A count may not exceed its ceiling in .ci/words, which is 0 for a folder without an entry.
// Ceilings only fall: -words writes them.
func TestWords(t *testing.T) {
	phrases := phrasesOf(t)
	counts, places := map[string]int{}, map[string][]string{}
	note := func(file string, line int, text string) {
		lower := strings.ToLower(text)
		for _, p := range phrases {
			if !strings.Contains(lower, p.first) {
				continue
			}
			for _, m := range p.pattern.FindAllString(text, -1) {
				folder := path.Dir(filepath.ToSlash(file))
				counts[folder]++
				places[folder] = append(places[folder], fmt.Sprintf("%s:%d: %q: write %s", file, line, m, p.instead))
			}
		}
	}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") && name != "." {
				return fs.SkipDir
			}
			return nil
		case slices.Contains(exempt, filepath.ToSlash(file)):
			return nil
		case strings.HasSuffix(file, ".go"):
			return proseOf(file, note)
		case strings.HasSuffix(file, ".md"):
			raw, err := os.ReadFile(file)
			for i, line := range strings.Split(string(raw), "\n") {
				note(file, i+1, line)
			}
			return err
		}
		return nil
	})
	require.NoError(t, err)
	ceilings := ceilingsOf(t)
	if *lowerWords {
		writeCeilings(t, ceilings, counts)
		return
	}
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		n, most := counts[folder], ceilings[folder]
		assert.LessOrEqual(t, n, most, "%s has %d phrases of %s, at most %d are allowed:\n%s",
			folder, n, wordsFile, most, strings.Join(places[folder][max(0, n-20):], "\n"))
	}
}

// TestWordsFindsPhrases checks that phrases are found in prose and nowhere else.
func TestWordsFindsPhrases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte("// Package a tells nothing.\npackage a\n\nvar tells = \"it told\" // of it)\n"), 0o600))
	phrases, found := phrasesOf(t), map[int]int{}
	require.NoError(t, proseOf(file, func(_ string, line int, text string) {
		for _, p := range phrases {
			found[line] += len(p.pattern.FindAllString(text, -1))
		}
	}))
	require.Equal(t, map[int]int{1: 1, 4: 2}, found)
}

// proseOf calls note for every comment and string literal of a Go file, except import paths and struct tags.
func proseOf(file string, note func(file string, line int, text string)) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			note(file, fset.Position(c.Pos()).Line, c.Text)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				note(file, fset.Position(n.Pos()).Line, n.Value)
			}
		}
		return true
	})
	return nil
}

// firstWord matches the first word of a phrase. The last letter does not count if a question mark
// follows.
var firstWord = regexp.MustCompile(`^\\b([a-z]+)(\??)`)

func phrasesOf(t *testing.T) (out []phrase) {
	raw, err := os.ReadFile(wordsFile)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		pattern, instead, ok := strings.Cut(line, " | ")
		require.True(t, ok, line)
		first := firstWord.FindStringSubmatch(pattern)
		require.NotNil(t, first, "%s: a phrase begins with a word", line)
		word := first[1]
		if first[2] != "" {
			word = word[:len(word)-1]
		}
		out = append(out, phrase{regexp.MustCompile("(?i)" + pattern), word, instead})
	}
	require.NotEmpty(t, out)
	return out
}

func ceilingsOf(t *testing.T) map[string]int {
	raw, err := os.ReadFile(ceilingsFile)
	require.NoError(t, err)
	out := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		folder, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		require.NoError(t, err, line)
		out[folder] = n
	}
	return out
}

// writeCeilings lowers the ceilings to the counts. A count above its ceiling stays an error.
func writeCeilings(t *testing.T, ceilings, counts map[string]int) {
	var b strings.Builder
	b.WriteString("# Most phrases of internal/test/house/words.txt in a folder. Ceilings only fall: go test ./internal/test/house -run TestWords -words\n")
	for _, folder := range slices.Sorted(maps.Keys(ceilings)) {
		if n := min(ceilings[folder], counts[folder]); n > 0 {
			fmt.Fprintf(&b, "%s %d\n", folder, n)
		}
	}
	require.NoError(t, os.WriteFile(ceilingsFile, []byte(b.String()), 0o644))
}
