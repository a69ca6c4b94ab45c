package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typeKeys feeds keys to the editor as a terminal does, and returns its lines.
func typeKeys(t *testing.T, h *lineHistory, keys ...string) (lines []string, screen string) {
	t.Helper()
	a := fakeApp(t, io.Discard, nil)
	var out bytes.Buffer
	var in []io.Reader
	for _, k := range keys { // each is one read
		in = append(in, strings.NewReader(k))
	}
	e := newLineEditor(io.MultiReader(in...), &out, -1, h)
	e.complete = completer{a}.Do
	for {
		line, err := e.Readline()
		switch {
		case errors.Is(err, errPromptInterrupted):
			line = "^C"
		case err != nil:
			assert.ErrorIs(t, err, io.EOF)
			return lines, out.String()
		}
		lines = append(lines, line)
	}
}

func TestLineEditor(t *testing.T) {
	for keys, want := range map[string][]string{
		"lines 3\rrows\r":             {"lines 3", "rows"},
		"lines 3\x03rows\r":           {"^C", "rows"},
		"\x03\x03x\r":                 {"^C", "^C", "x"},
		"ab\x03":                      {"^C"},
		"help vers\t\r":               {"help version "},
		"ro\t-js\t\r":                 {"rows -json "},
		"do -m\tt 1\r":                {"do -mt 1"},
		"one\rtwo\r\x1b[A\x1b[A\r":    {"one", "two", "one"},
		"dumpobj 1\rx\rOBJ\x12\r":     {"dumpobj 1", "x", "dumpobj 1"},
		"do 1\rdo 2\rx\rdo\x12\x12\r": {"do 1", "do 2", "x", "do 1"},
		"do 1\rnothing\x12\r":         {"do 1", "nothing"},
		"ab\x7fc\r\x04never\r":        {"ac"},
		"žluť\t 1\x1b[D\x1b[D0\r":     {"žluť0 1"},
	} {
		lines, _ := typeKeys(t, readHistory(""), keys)
		assert.Equal(t, want, lines, "%q", keys)
		apart, _ := typeKeys(t, readHistory(""), strings.Split(keys, "")...)
		assert.Equal(t, want, apart, "key by key: %q", keys)
	}
	_, screen := typeKeys(t, readHistory(""), "do -m\t")
	assert.Contains(t, screen, "-mt ")
	assert.Contains(t, screen, "-min ", "candidates that differ are listed")
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h := readHistory(path)
	lines, _ := typeKeys(t, h, "one\r\r  \rtwo\rtwo\rthree\x1b[A\r")
	assert.Equal(t, []string{"one", "", "  ", "two", "two", "two"}, lines)
	other := readHistory(path)
	other.Add("meanwhile")
	require.NoError(t, other.close())
	require.NoError(t, h.close())
	require.NoError(t, h.close(), "nothing new")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "meanwhile\none\ntwo\n", string(text))
	st, err := os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, st.Mode().Perm()&0o077, "for nobody else")

	for i := range historyLines + 5 {
		h.Add(fmt.Sprint("line ", i))
	}
	assert.Equal(t, historyLines, h.Len())
	assert.Equal(t, fmt.Sprint("line ", historyLines+4), h.At(0))
	require.NoError(t, h.close())
	assert.Equal(t, historyLines, readHistory(path).Len())
	require.NoError(t, os.WriteFile(path, []byte("good\nbad \x1b[2J\n"), 0o600))
	assert.Equal(t, []string{"good"}, readHistory(path).lines, "a file can be anybody's")
}
