package house_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	wordsFile   = "internal/test/house/words.txt"
	grammarFile = "internal/test/house/grammar.txt"
)

// exempt lists files that are generated or have the phrases on purpose.
var exempt = []string{"docs/json.md", "internal/test/house/words_test.go"}

// A phrase is a pattern that prose should avoid, how often it may occur, and what to write instead.
type phrase struct {
	most    float64
	pattern *regexp.Regexp
	instead string
}

// A passage is a comment, a string literal or a line of a document.
type passage struct {
	file    string
	line    int
	text    string
	comment bool
}

// TestWords counts the phrases of words.txt in comments, string literals and documents. A count must not exceed its
// ceiling. -update lowers the ceilings.
func TestWords(t *testing.T) {
	phrases, list := readPhrases(t, wordsFile), allProse(t)
	counts := make([]float64, len(phrases))
	for i, p := range phrases {
		places := placesOf(p, list)
		counts[i] = float64(len(places))
		assert.LessOrEqual(t, counts[i], p.most, "%s may occur %v times; write %s:\n%s", p.pattern, p.most, p.instead, strings.Join(places, "\n"))
	}
	lowerCeilings(t, wordsFile, phrases, counts)
}

// TestGrammar counts the patterns of grammar.txt per 1,000 lines of Go comments. With -v it lists the packages with
// the highest counts. A count must not exceed its ceiling. -update lowers the ceilings.
func TestGrammar(t *testing.T) {
	phrases, list := readPhrases(t, grammarFile), allProse(t)
	list = slices.DeleteFunc(slices.Clone(list), func(p passage) bool { return !p.comment })
	lines, folders := 0, map[string]int{}
	for _, p := range list {
		n := 1 + strings.Count(p.text, "\n")
		lines += n
		folders[path.Dir(p.file)] += n
	}
	rates := make([]float64, len(phrases))
	for i, p := range phrases {
		places := placesOf(p, list)
		rates[i] = math.Ceil(10*1000*float64(len(places))/float64(lines)) / 10
		t.Logf("%s: %d, %.1f per 1,000 of %d lines; most of them in %s", p.pattern, len(places), rates[i], lines, worst(places, folders))
		assert.LessOrEqual(t, rates[i], p.most, "%s per 1,000 lines of comments; write %s", p.pattern, p.instead)
	}
	lowerCeilings(t, grammarFile, phrases, rates)
}

// worst returns the ten folders with the highest counts, with their counts per 1,000 lines.
func worst(places []string, lines map[string]int) string {
	counts := map[string]int{}
	for _, place := range places {
		file, _, _ := strings.Cut(place, ":")
		counts[path.Dir(file)]++
	}
	folders := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	var out []string
	for _, folder := range folders[:min(10, len(folders))] {
		out = append(out, fmt.Sprintf("%s %d (%.0f)", folder, counts[folder], 1000*float64(counts[folder])/float64(lines[folder])))
	}
	return strings.Join(out, ", ")
}

// placesOf returns where a phrase occurs, as FILE:LINE: "TEXT".
func placesOf(p phrase, list []passage) (places []string) {
	for i := range list {
		for _, at := range p.pattern.FindAllStringIndex(list[i].text, -1) {
			line := list[i].line + strings.Count(list[i].text[:at[0]], "\n")
			places = append(places, fmt.Sprintf("%s:%d: %q", list[i].file, line, list[i].text[at[0]:at[1]]))
		}
	}
	return places
}

// TestWordsFindsPhrases checks that phrases are found in comments, string literals and documents only.
func TestWordsFindsPhrases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte("// Package a\n// tells nothing.\npackage a\n\nvar tells = \"it told\" // of it)\n"), 0o600))
	list, err := proseOf(file)
	require.NoError(t, err)
	var found []string
	for _, p := range readPhrases(t, wordsFile) {
		found = append(found, placesOf(p, list)...)
	}
	slash := filepath.ToSlash(file)
	require.ElementsMatch(t, []string{slash + `:2: "tells"`, slash + `:5: "told"`, slash + `:5: "of it)"`}, found)
}

func allProse(t *testing.T) []passage {
	list, err := prose()
	require.NoError(t, err)
	require.Greater(t, len(list), 10000)
	return list
}

// prose reads the whole repository once for all tests.
var prose = sync.OnceValues(func() (list []passage, err error) {
	err = filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
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
		}
		more, err := proseOf(file)
		list = append(list, more...)
		return err
	})
	return list, err
})

// proseOf returns the comments and string literals of a Go file, except import paths, or the lines of a document.
func proseOf(file string) (list []passage, err error) {
	switch filepath.Ext(file) {
	case ".go":
		return goProse(file)
	case ".md":
		raw, err := os.ReadFile(file)
		for i, line := range strings.Split(string(raw), "\n") {
			list = append(list, passage{file: filepath.ToSlash(file), line: i + 1, text: line})
		}
		return list, err
	}
	return nil, nil
}

func goProse(file string) (list []passage, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(f) {
		return nil, nil // the words of another file
	}
	add := func(n ast.Node, text string, comment bool) {
		list = append(list, passage{filepath.ToSlash(file), fset.Position(n.Pos()).Line, text, comment})
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			add(c, c.Text, true)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				add(n, n.Value, false)
			}
		}
		return true
	})
	return list, nil
}

// readPhrases reads lines of the form "MOST | PATTERN | INSTEAD". Lines that begin with # are comments.
func readPhrases(t *testing.T, file string) (out []phrase) {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(strings.TrimSpace(line), " | ")
		require.Len(t, parts, 3, line)
		most, err := strconv.ParseFloat(parts[0], 64)
		require.NoError(t, err, line)
		out = append(out, phrase{most, regexp.MustCompile("(?i)" + parts[1]), parts[2]})
	}
	require.NotEmpty(t, out)
	return out
}

// lowerCeilings writes lower ceilings to the file if -update is given.
func lowerCeilings(t *testing.T, file string, phrases []phrase, now []float64) {
	if !*update {
		return
	}
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var out strings.Builder
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "#") {
			_, rest, _ := strings.Cut(line, " | ")
			line = strconv.FormatFloat(min(phrases[0].most, now[0]), 'f', -1, 64) + " | " + rest
			phrases, now = phrases[1:], now[1:]
		}
		out.WriteString(line)
	}
	require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
}
