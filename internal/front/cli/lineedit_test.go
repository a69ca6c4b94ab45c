package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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
	e.complete = completer{a: a}.Do
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
		"lines 3\rrows\r":                {"lines 3", "rows"},
		"lines 3\x03rows\r":              {"^C", "rows"},
		"\x03\x03x\r":                    {"^C", "^C", "x"},
		"ab\x03":                         {"^C"},
		"help vers\t\r":                  {"help version "},
		"ro\t-js\t\r":                    {"rows -json "},
		"do -m\tt 1\r":                   {"do -mt 1"},
		"one\rtwo\r\x1b[A\x1b[A\r":       {"one", "two", "one"},
		"one\rtw\x1b[A\x1b[Bo\r":         {"one", "two"},
		"a b\x17c\x01x\x1b[3~y\x05z\r":   {"xy cz"},
		"abc\x1b[D\x1b[D\x0b\x14d\r":     {"ad"},
		"one two\x1bb\x1bb\x1bf3\x15x\r": {"x two"},
		"a\x1b[99;2ub\x1b[1~c\r":         {"cab"},
		"dumpobj 1\rx\r\x12OBJ\r":        {"dumpobj 1", "x", "dumpobj 1"},
		"do 1\rdo 2\rx\r\x12do\x12\r":    {"do 1", "do 2", "x", "do 1"},
		"do 1\r\x12\r":                   {"do 1", ""},
		"do 1\rab\x12zz\r":               {"do 1", "ab"},
		"do 1\rab\x12d\x07c\r":           {"do 1", "abc"},
		"do 1\r\x12d\x052\r":             {"do 1", "do 12"},
		"do 1\rdx\r\x12dx\x7f \x7f\r":    {"do 1", "dx", "dx"},
		"do 1\r\x12d\r\x12\x12\r":        {"do 1", "do 1", "do 1"},
		"do 1\r\x12d\x03x\r":             {"do 1", "^C", "x"},
		"ab\x7fc\r\x04never\r":           {"ac"},
		"žluť\t 1\x1b[D\x1b[D0\r":        {"žluť0 1"},
	} {
		lines, _ := typeKeys(t, readHistory(""), keys)
		assert.Equal(t, want, lines, "%q", keys)
		apart, _ := typeKeys(t, readHistory(""), strings.Split(keys, "")...)
		assert.Equal(t, want, apart, "key by key: %q", keys)
	}
	lines, _ := typeKeys(t, readHistory(""), "do 1\rab\x12d", "\x1b", "\r")
	assert.Equal(t, []string{"do 1", "do 1"}, lines, "Esc alone ends the search")
	_, screen := typeKeys(t, readHistory(""), "do -m\t")
	assert.Contains(t, screen, "-mt ")
	assert.Contains(t, screen, "-min ", "candidates that differ are listed")
}

// TestSearchIsShown: the search shows what is sought, and nothing of the history before that.
func TestSearchIsShown(t *testing.T) {
	_, screen := typeKeys(t, readHistory(""), "dumpobj 1\r", "\x12")
	_, after, _ := strings.Cut(screen, "\r\n")
	assert.Contains(t, after, "(reverse-i-search)`': \x1b[J", "nothing is found before something is sought")
	_, screen = typeKeys(t, readHistory(""), "dumpobj 1\r", "\x12", "ob")
	assert.Contains(t, screen, "(reverse-i-search)`ob': dumpobj 1")
	_, screen = typeKeys(t, readHistory(""), "dumpobj 1\r", "\x12", "zz")
	assert.Contains(t, screen, "(failed reverse-i-search)`zz': ")
}

// A fakeScreen is a terminal that wraps its rows anew when it gets another width, as most do.
type fakeScreen struct {
	width    int
	rows     [][]rune
	wrapped  []bool // the row goes on in the next
	row, col int
}

func (s *fakeScreen) put(r rune) {
	if s.col == s.width {
		s.wrapped[s.row] = true
		s.row, s.col = s.row+1, 0
		s.grow()
	}
	for len(s.rows[s.row]) <= s.col {
		s.rows[s.row] = append(s.rows[s.row], ' ')
	}
	s.rows[s.row][s.col] = r
	s.col++
}

func (s *fakeScreen) grow() {
	for len(s.rows) <= s.row {
		s.rows, s.wrapped = append(s.rows, nil), append(s.wrapped, false)
	}
}

var screenSequence = regexp.MustCompile(`^\x1b\[(\d*)([ACJK])`)

func (s *fakeScreen) Write(p []byte) (int, error) {
	s.grow()
	for text := string(p); text != ""; {
		if m := screenSequence.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			n, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "A":
				s.row, s.col = s.row-n, min(s.col, s.width-1)
			case "C":
				s.col += n
			case "J":
				s.rows, s.wrapped = s.rows[:s.row+1], s.wrapped[:s.row+1]
				fallthrough
			case "K":
				s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
				s.wrapped[s.row] = false
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		switch r {
		case '\r':
			s.col = 0
		case '\n':
			s.row++
			s.grow()
		default:
			s.put(r)
		}
	}
	return len(p), nil
}

// resize wraps the rows anew. The cursor stays at its character.
func (s *fakeScreen) resize(width int) {
	old := *s
	*s = fakeScreen{width: width}
	s.grow()
	for i, row := range old.rows {
		if i == old.row {
			defer func(row, col int) { s.row, s.col = row+(col+old.col)/width, (col+old.col)%width }(s.row, s.col)
		}
		for _, r := range row {
			s.put(r)
		}
		if i < len(old.rows)-1 && !old.wrapped[i] {
			s.row, s.col = s.row+1, 0
			s.grow()
		}
	}
}

func (s *fakeScreen) text() string {
	var b strings.Builder
	for i, row := range s.rows {
		b.WriteString(string(row))
		if !s.wrapped[i] {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestResize checks that a long line is drawn once, for any change of the terminal's width and any cursor position.
func TestResize(t *testing.T) {
	for _, back := range []int{0, 1, 17, 59, 60} {
		long := strings.Repeat("0123456789", 6)
		screen := &fakeScreen{width: 31}
		_, _ = io.WriteString(screen, "before\r\n")
		e := newLineEditor(strings.NewReader(""), screen, -1, readHistory(""))
		e.size = func() (int, int, error) { return screen.width, 24, nil }
		e.width, e.shown = screen.width, -1
		e.draw()
		for _, r := range long {
			e.edit(r)
			e.draw()
		}
		for range back {
			e.edit(ctrl('B'))
			e.draw()
		}
		for _, width := range []int{31, 20, 62, 63, 100, 15, 30, 8, 31} {
			screen.resize(width)
			e.resize()
			assert.Equal(t, "before\n> "+long+"\n", strings.ReplaceAll(screen.text(), " \n", "\n"), "%d columns, %d back", width, back)
		}
		e.edit('x')
		e.draw()
		at := len(long) - back
		assert.Equal(t, "before\n> "+long[:at]+"x"+long[at:]+"\n", strings.ReplaceAll(screen.text(), " \n", "\n"))
		e.leave("")
		_, _ = io.WriteString(screen, "after\r\n")
		assert.Equal(t, "before\n> "+long[:at]+"x"+long[at:]+"\nafter\n\n", strings.ReplaceAll(screen.text(), " \n", "\n"))
	}
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
