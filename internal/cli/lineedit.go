package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/sosgo/sosgo/internal/outfile"
	"github.com/sosgo/sosgo/internal/report"
)

// errPromptInterrupted is Readline's error for a line that Ctrl-C gave up.
var errPromptInterrupted = errors.New("line given up")

// A lineEditor reads lines that are edited on a terminal: with history, which Ctrl-R
// searches, and completion.
type lineEditor struct {
	terminal *term.Terminal
	keys     *keyReader
	fd       int // of the terminal; -1 in tests
	out      io.Writer
	complete func(line []rune, pos int) (suffixes [][]rune, length int)
	history  *lineHistory

	sought string // by Ctrl-R
	found  int    // history line that it shows; -1 for none
}

func newLineEditor(in io.Reader, out io.Writer, fd int, h *lineHistory) *lineEditor {
	e := &lineEditor{keys: &keyReader{r: in}, fd: fd, out: out, history: h, found: -1}
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, out}, "> ")
	e.terminal.History = h
	e.terminal.AutoCompleteCallback = e.key
	return e
}

// Readline reads a line. The terminal is raw only for as long as that takes, so that
// commands can be interrupted.
func (e *lineEditor) Readline() (string, error) {
	if e.fd >= 0 {
		state, err := term.MakeRaw(e.fd)
		if err != nil {
			return "", err
		}
		defer func() { _ = term.Restore(e.fd, state) }() // there is no other way to say it than on this terminal
		if width, height, err := term.GetSize(e.fd); err == nil && width > 0 {
			_ = e.terminal.SetSize(width, height)
		}
	}
	line, err := e.terminal.ReadLine()
	switch {
	case e.keys.interrupted:
		e.keys.interrupted = false
		return "", errPromptInterrupted
	case errors.Is(err, term.ErrPasteIndicator):
		err = nil
	case err == io.EOF:
		_, _ = io.WriteString(e.out, "\r\n")
	}
	return line, err
}

// Close keeps the history.
func (e *lineEditor) Close() error { return e.history.close() }

// The keys that the editor adds to the terminal's.
const (
	keyTab    = '\t'
	keyCtrlR  = 'R' - '@'
	keyCtrlC  = 'C' - '@'
	giveUp    = "\x05\x15\r" // to the end of the line, delete it, Enter
	listWidth = 78           // characters of a row of completions
)

// key is asked about each key first.
func (e *lineEditor) key(line string, pos int, key rune) (string, int, bool) {
	if key != keyCtrlR {
		e.found = -1
	}
	switch key {
	case keyTab:
		line, pos = e.tab(line, pos)
	case keyCtrlR:
		line, pos = e.search(line, pos)
	default:
		return "", 0, false
	}
	return line, pos, true
}

// tab completes the word in front of pos as far as all candidates agree, and lists
// them where they don't.
func (e *lineEditor) tab(line string, pos int) (string, int) {
	before := []rune(line[:pos])
	suffixes, length := e.complete(before, len(before))
	if len(suffixes) == 0 {
		return line, pos
	}
	common := string(suffixes[0])
	for _, s := range suffixes[1:] {
		for !strings.HasPrefix(string(s), common) {
			r := []rune(common)
			common = string(r[:len(r)-1])
		}
	}
	if common == "" {
		e.list(string(before[len(before)-length:]), suffixes)
	}
	return line[:pos] + common + line[pos:], pos + len(common)
}

// list writes candidates above the line.
func (e *lineEditor) list(typed string, suffixes [][]rune) {
	var b strings.Builder
	column := 0
	for _, s := range suffixes {
		word := typed + string(s)
		if column > 0 && column+len(word) > listWidth {
			b.WriteByte('\n')
			column = 0
		}
		b.WriteString(word + " ")
		column += len(word) + 1
	}
	_, _ = io.WriteString(e.terminal, b.String()+"\n")
}

// search shows the newest line of the history with what was typed in it, in any case;
// once more, the one before.
func (e *lineEditor) search(line string, pos int) (string, int) {
	if e.found < 0 {
		e.sought = strings.ToLower(line)
	}
	for i := e.found + 1; i < e.history.Len(); i++ {
		if l := e.history.At(i); strings.Contains(strings.ToLower(l), e.sought) {
			e.found = i
			return l, len(l)
		}
	}
	return line, pos
}

// A keyReader reads keys, and makes Ctrl-C give up the line: the terminal takes it for
// the end of input.
type keyReader struct {
	r           io.Reader
	pending     []byte
	interrupted bool
}

func (k *keyReader) Read(p []byte) (int, error) {
	if len(k.pending) == 0 {
		n, err := k.r.Read(p)
		if n == 0 {
			return 0, err
		}
		k.pending = bytes.Clone(p[:n])
	}
	next := k.pending // up to the next Ctrl-C
	switch i := bytes.IndexByte(k.pending, keyCtrlC); {
	case i == 0:
		k.interrupted = true
		k.pending = slices.Concat([]byte(giveUp), k.pending[1:])
		next = k.pending[:len(giveUp)]
	case i > 0:
		next = k.pending[:i]
	}
	n := copy(p, next)
	k.pending = k.pending[n:]
	return n, nil
}

// A lineHistory is the lines of this prompt and of those before it.
type lineHistory struct {
	path  string   // of its file; empty for none
	lines []string // the oldest first
	added []string
}

// readHistory reads the history; what can't be read is no reason not to begin.
func readHistory(path string) *lineHistory {
	h := &lineHistory{path: path}
	text, err := os.ReadFile(path)
	if path == "" || err != nil {
		return h
	}
	for line := range strings.Lines(string(text)) {
		h.remember(strings.TrimRight(line, "\r\n"))
	}
	return h
}

// Add, Len and At are term.History's.
func (h *lineHistory) Add(line string) {
	if h.remember(line) {
		h.added = append(h.added, line)
	}
}

func (h *lineHistory) remember(line string) bool {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line || report.Escape(line) != line {
		return false
	}
	if len(h.lines) == historyLines {
		h.lines = slices.Delete(h.lines, 0, 1)
	}
	h.lines = append(h.lines, line)
	return true
}

// Len returns the number of lines.
func (h *lineHistory) Len() int { return len(h.lines) }

// At returns a line, the newest first.
func (h *lineHistory) At(i int) string { return h.lines[len(h.lines)-1-i] }

// close adds the new lines to the file, which another prompt may have written to, and
// keeps it short.
func (h *lineHistory) close() error {
	if h.path == "" || len(h.added) == 0 {
		return nil
	}
	now := readHistory(h.path)
	for _, l := range h.added {
		now.remember(l)
	}
	h.added = nil
	if _, err := os.Stat(h.path); errors.Is(err, fs.ErrNotExist) { // what was typed is for nobody else
		f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return outfile.Write(h.path, outfile.Options{}, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(now.lines, "\n")+"\n")
		return err
	})
}
