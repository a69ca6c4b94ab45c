package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// errPromptInterrupted is Readline's error for a line abandoned by Ctrl-C.
var errPromptInterrupted = errors.New("line given up")

const (
	promptText   = "> "
	defaultWidth = 80 // columns, if the terminal does not report its size
)

// A lineEditor reads lines edited on a terminal, with history and completion. It redraws the whole line after each
// key, so a resized terminal does not confuse it.
type lineEditor struct {
	keys     *keyReader
	out      io.Writer
	fd       int // of the terminal; -1 in tests
	size     func() (width, height int, err error)
	complete func(before string) (found []string, length int) // the completions replace the last length characters
	history  *lineHistory

	line  []rune
	pos   int // of the cursor in line
	row   int // of the cursor, relative to the prompt
	width int // of the terminal at the last drawing

	shown  int    // the history line being edited; -1 for a new line
	kept   []rune // the new line while a history line is shown
	search *lineSearch
}

func newLineEditor(in io.Reader, out io.Writer, fd int, h *lineHistory) *lineEditor {
	e := &lineEditor{keys: &keyReader{r: in}, out: out, fd: fd, history: h}
	e.size = func() (int, int, error) { return term.GetSize(fd) }
	return e
}

// Readline reads a line. The terminal is in raw mode only during the call, so that Ctrl-C can interrupt commands.
func (e *lineEditor) Readline() (string, error) {
	if e.fd >= 0 {
		state, err := term.MakeRaw(e.fd)
		if err != nil {
			return "", err
		}
		defer func() { _ = term.Restore(e.fd, state) }() // an error could only be reported on this terminal
	}
	e.line, e.pos, e.row, e.shown, e.search = nil, 0, 0, -1, nil
	e.width = e.columns()
	e.draw()
	for {
		key, err := e.keys.next(e.resize)
		if err == nil && key == ctrl('D') && len(e.line) == 0 && e.search == nil {
			err = io.EOF
		}
		if err != nil {
			e.leave("")
			return "", err
		}
		switch {
		case e.search != nil && e.searchKey(key):
		case key == ctrl('C'):
			e.leave("^C")
			return "", errPromptInterrupted
		case key == keyEnter || key == '\n':
			e.leave("")
			line := string(e.line)
			e.history.Add(line)
			return line, nil
		default:
			e.edit(key)
		}
		e.draw()
	}
}

// Close saves the history.
func (e *lineEditor) Close() error { return e.history.close() }

// columns returns the width of the terminal.
func (e *lineEditor) columns() int {
	if width, _, err := e.size(); err == nil && width > 0 {
		return width
	}
	return defaultWidth
}

// resize redraws the line if the terminal's width has changed. Terminals rewrap the screen to the new width and keep
// the cursor on its character.
func (e *lineEditor) resize() {
	if width := e.columns(); width != e.width {
		e.width = width
		_, pos := e.content()
		e.row = pos / width
		e.draw()
	}
}

// content returns the text to draw and the cursor's index in it.
func (e *lineEditor) content() (text []rune, pos int) {
	prompt, pos := promptText, e.pos
	if e.search != nil {
		prompt = e.search.prompt()
	}
	text = append([]rune(prompt), e.line...)
	return text, len(text) - len(e.line) + pos
}

// draw redraws the line.
func (e *lineEditor) draw() {
	text, pos := e.content()
	end := len(text) / e.width
	var b strings.Builder
	e.toStart(&b)
	b.WriteString(string(text))
	if len(text)%e.width == 0 {
		b.WriteByte(' ') // moves the cursor to the next row, which terminals do only for a character
	}
	b.WriteString("\x1b[J") // last, because clearing from the top row scrolls the screen into the scroll-back buffer
	e.row = pos / e.width
	if up := end - e.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if right := pos % e.width; right > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", right)
	}
	e.write(b.String())
}

// toStart moves the cursor to the start of the last drawing.
func (e *lineEditor) toStart(b *strings.Builder) {
	if e.row > 0 {
		fmt.Fprintf(b, "\x1b[%dA", e.row)
	}
	b.WriteByte('\r')
}

// leave moves the cursor below the line.
func (e *lineEditor) leave(mark string) {
	e.search, e.pos = nil, len(e.line)
	e.draw()
	e.write(mark + "\r\n")
}

func (e *lineEditor) write(text string) {
	_, _ = io.WriteString(e.out, text) // an error could only be reported on this terminal
}

// edit handles a key.
func (e *lineEditor) edit(key rune) {
	switch key {
	case ctrl('A'):
		e.pos = 0
	case ctrl('E'):
		e.pos = len(e.line)
	case ctrl('B'):
		e.pos = max(e.pos-1, 0)
	case ctrl('F'):
		e.pos = min(e.pos+1, len(e.line))
	case keyWordLeft:
		e.pos = e.wordStart()
	case keyWordRight:
		e.pos = e.wordEnd()
	case ctrl('P'):
		e.show(e.shown + 1)
	case ctrl('N'):
		e.show(e.shown - 1)
	case ctrl('R'):
		e.search = &lineSearch{line: e.line, pos: e.pos, found: -1}
	case ctrl('L'):
		e.write("\x1b[H\x1b[2J")
		e.row = 0
	case ctrl('T'):
		if e.pos > 0 && len(e.line) > 1 {
			e.pos = min(e.pos, len(e.line)-1)
			e.line[e.pos-1], e.line[e.pos] = e.line[e.pos], e.line[e.pos-1]
			e.pos++
		}
	case keyTab:
		e.tab()
	default:
		e.change(key)
	}
}

// change handles a key that inserts or deletes.
func (e *lineEditor) change(key rune) {
	switch key {
	case keyBackspace, ctrl('H'):
		e.remove(e.pos-1, e.pos)
	case keyDelete, ctrl('D'):
		e.remove(e.pos, e.pos+1)
	case ctrl('K'):
		e.remove(e.pos, len(e.line))
	case ctrl('U'):
		e.remove(0, e.pos)
	case ctrl('W'):
		e.remove(e.wordStart(), e.pos)
	default:
		if unicode.IsPrint(key) {
			e.insert([]rune{key})
		}
	}
}

func (e *lineEditor) insert(text []rune) {
	e.line = slices.Insert(slices.Clone(e.line), e.pos, text...)
	e.pos += len(text)
}

func (e *lineEditor) remove(from, to int) {
	if from = max(from, 0); from < min(to, len(e.line)) {
		e.line, e.pos = slices.Delete(slices.Clone(e.line), from, min(to, len(e.line))), from
	}
}

// wordStart returns the start of the word before the cursor.
func (e *lineEditor) wordStart() int {
	i := e.pos
	for i > 0 && e.line[i-1] == ' ' {
		i--
	}
	for i > 0 && e.line[i-1] != ' ' {
		i--
	}
	return i
}

// wordEnd returns the end of the word after the cursor.
func (e *lineEditor) wordEnd() int {
	i := e.pos
	for i < len(e.line) && e.line[i] == ' ' {
		i++
	}
	for i < len(e.line) && e.line[i] != ' ' {
		i++
	}
	return i
}

// show shows a history line, or the new line for -1.
func (e *lineEditor) show(i int) {
	if i < -1 || i >= e.history.Len() {
		return
	}
	if e.shown < 0 {
		e.kept = e.line
	}
	e.shown, e.line = i, e.kept
	if i >= 0 {
		e.line = []rune(e.history.At(i))
	}
	e.pos = len(e.line)
}

// tab inserts the common prefix of all completions. If they differ after it, tab lists them.
func (e *lineEditor) tab() {
	found, length := e.complete(string(e.line[:e.pos]))
	if len(found) == 0 {
		return
	}
	common := []rune(found[0])
	for _, s := range found[1:] {
		n := 0
		for _, r := range s {
			if n == len(common) || common[n] != r {
				break
			}
			n++
		}
		common = common[:n]
	}
	if len(common) > length || len(found) == 1 {
		e.remove(e.pos-length, e.pos)
		e.insert(common)
	} else {
		e.list(found)
	}
}

// list writes candidates above the line.
func (e *lineEditor) list(found []string) {
	var b strings.Builder
	e.toStart(&b)
	column := 0
	for _, word := range found {
		n := utf8.RuneCountInString(word)
		if column > 0 && column+n >= e.width {
			b.WriteString("\x1b[K\r\n")
			column = 0
		}
		b.WriteString(word + " ")
		column += n + 1
	}
	e.write(b.String() + "\x1b[K\r\n")
	e.row = 0
}

// A lineSearch is a backward search of the history, started by Ctrl-R.
type lineSearch struct {
	line   []rune // the line before the search
	pos    int
	text   []rune // the search text, matched in any case
	found  int    // history line; -1 before the first match
	failed bool
}

func (s *lineSearch) prompt() string {
	failed := ""
	if s.failed {
		failed = "failed "
	}
	return fmt.Sprintf("(%sreverse-i-search)`%s': ", failed, string(s.text))
}

// searchKey handles a key during a search. It returns false if the key ends the search and must be handled by edit.
func (e *lineEditor) searchKey(key rune) bool {
	s := e.search
	switch {
	case key == ctrl('R') && len(s.text) == 0:
		s.text = e.history.sought
		e.seek(0)
	case key == ctrl('R'):
		e.seek(s.found + 1)
	case key == keyBackspace || key == ctrl('H'):
		s.text = s.text[:max(len(s.text)-1, 0)]
		e.seek(0)
	case key == ctrl('G'):
		e.search, e.line, e.pos = nil, s.line, s.pos
	case key == keyEscape:
		e.search = nil
	case unicode.IsPrint(key):
		s.text = append(slices.Clip(s.text), key)
		e.seek(max(s.found, 0))
	default:
		e.search = nil
		return false
	}
	return true
}

// seek shows the first history line, from a given one on, that contains the search text.
func (e *lineEditor) seek(from int) {
	s := e.search
	if len(s.text) == 0 {
		s.found, s.failed, e.line, e.pos = -1, false, s.line, s.pos
		return
	}
	e.history.sought = s.text
	text := strings.ToLower(string(s.text))
	for i := from; i < e.history.Len(); i++ {
		line := e.history.At(i)
		if at := strings.Index(strings.ToLower(line), text); at >= 0 {
			s.found, s.failed, e.shown = i, false, -1
			e.line, e.pos = []rune(line), min(at, len([]rune(line)))
			return
		}
	}
	s.failed = true
}
