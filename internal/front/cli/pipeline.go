package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A lineWriter receives lines without their ends. writeLine returns errOutputClosed when it needs no more lines.
type lineWriter interface {
	writeLine(b []byte) error
	close() error
}

// newPipeline returns a writer that passes its input through filters to w, and a function that ends the output.
func newPipeline(filters [][]word, w io.Writer) (io.Writer, func() error, error) {
	if len(filters) == 0 {
		return w, func() error { return nil }, nil
	}
	var next lineWriter = &lineEnd{bufio.NewWriter(w)}
	for _, f := range slices.Backward(filters) {
		l, err := newFilter(f, next)
		if err != nil {
			return nil, nil, err
		}
		next = l
	}
	s := &lineSplitter{next: next}
	return s, s.close, nil
}

// filterUsage lists the filters, for errors and help.
const filterUsage = "the filters are: grep [-i] [-v] [-F] [-c] TEXT, head [-n N], tail [-n N], sort [-r] [-n] [-u], wc -l, count, uniq, foreach COMMAND"

// sameFilters maps filters of shells to sosgo's.
var sameFilters = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"findstr": {"grep"}, "egrep": {"grep"}, "fgrep": {"grep", "-f"}, "rg": {"grep"}, "find": {"grep"}, "select-string": {"grep", "-i"}, "sls": {"grep", "-i"},
		"measure": {"count"}, "measure-object": {"count"}, "sort-object": {"sort"}, "get-unique": {"uniq"}, "more": {"less"}, "out-host": {"less"},
	}
})

// notFilters maps programs that people put behind | to what sosgo has instead.
var notFilters = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"awk": choosesColumns, "cut": choosesColumns, "select": choosesColumns, "select-object": choosesColumns,
		"where": "dumpheap -where EXPR and query choose rows", "where-object": "dumpheap -where EXPR and query choose rows",
		"sed": "grep chooses lines; query formats values", "tee": writesFile, "tee-object": writesFile, "out-file": writesFile, "clip": writesFile,
		"jq": "sosgo --json COMMAND, in a shell, has jq behind it",
	}
})

const (
	choosesColumns = "dumpheap -short prints addresses alone, dumpheap -select COLUMNS and query choose columns"
	writesFile     = "COMMAND > FILE writes an answer to a file, logopen FILE all that follows"
)

func newFilter(words []word, next lineWriter) (lineWriter, error) {
	name := strings.ToLower(words[0].text)
	if same := sameFilters()[name]; same != nil {
		words, name = slices.Concat(literalWords(same), words[1:]), same[0]
	}
	switch name {
	case "grep":
		return newGrep(words, next)
	case "head", "tail":
		n, err := lineCount(words)
		if err != nil {
			return nil, err
		}
		if name == "head" {
			return &head{next: next, left: n}, nil
		}
		return &tail{next: next, n: n}, nil
	case "sort":
		return newSort(words, next)
	case "wc", "count":
		_, err := filterOptions[countOptions](words)
		return &count{next: next}, err
	case "less": // the terminal's pager shows the output
		return &through{next}, nil
	case "uniq":
		_, err := filterOptions[None](words)
		return &uniq{next: next}, err
	}
	hint := filterUsage
	if instead := notFilters()[name]; instead != "" {
		hint = "instead: " + instead
	}
	return nil, &UsageError{Text: fmt.Sprintf("there is no filter %q", words[0].text), Hint: hint}
}

// cutPrefixFilter moves a filter that stands before its command behind it: MEX's !grep TEXT !dumpheap -stat, and
// WinDbg's .shell -ci "!dumpheap -stat" findstr TEXT.
func (l *line) cutPrefixFilter() {
	if len(l.command) < 3 || l.command[0].literal {
		return
	}
	first := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(l.command[0].text), "!"), "mex.")
	switch {
	case first == ".shell" && strings.EqualFold(l.command[1].text, "-ci") && len(l.command) > 3:
		command, err := lex(l.command[2].text)
		if err != nil || len(command) == 0 || slices.ContainsFunc(command, isOperator) {
			return
		}
		l.filters = slices.Insert(l.filters, 0, l.command[3:])
		l.command = command
	case first == "grep" || first == "head" || first == "tail" || first == "sort":
		i := slices.IndexFunc(l.command[1:], func(w word) bool { return !w.literal && len(w.text) > 1 && w.text[0] == '!' })
		if i < 0 {
			return
		}
		filter := slices.Concat([]word{{text: first}}, l.command[1:i+1])
		l.filters = slices.Insert(l.filters, 0, filter)
		l.command = l.command[i+1:]
	}
}

// Options of the filters.
type (
	grepOptions struct {
		Fold   bool   `opt:"i" help:"in any case"`
		Invert bool   `opt:"v" help:"lines without the text"`
		Fixed  bool   `opt:"f" help:"the text is no expression"`
		Regexp bool   `opt:"e" help:"the text is an expression, as it may be anyway"`
		Count  bool   `opt:"c" help:"the number of lines"`
		Text   string `arg:"text" help:"the text"`
	}
	endOptions struct {
		N int `opt:"n" range:"0:2147483647" default:"10" help:"lines"`
	}
	sortOptions struct {
		Reverse bool `opt:"r" help:"the last first"`
		Numeric bool `opt:"n" help:"by the number at the start"`
		Unique  bool `opt:"u" help:"equal lines once"`
	}
	countOptions struct {
		Lines bool `opt:"l" help:"lines, as it does anyway"`
	}
)

// filterOptions parses the options of a filter like a command's.
func filterOptions[O any](words []word) (*O, error) {
	c := declares[O](Command{Name: words[0].text})
	p := newParser(&c, nil)
	if _, err := p.parse(words[1:], false); err != nil {
		return nil, err
	}
	if p.help {
		return nil, &UsageError{Command: c.Name, Text: c.UsageLine(), Hint: filterUsage}
	}
	if err := p.bind(); err != nil {
		return nil, err
	}
	return p.own.filled().(*O), nil
}

// lineCount parses the number of head and tail: -n 5 or -5. The default is 10.
func lineCount(words []word) (int, error) {
	if len(words) == 2 { // -5, or 5
		if n, err := strconv.ParseUint(strings.TrimPrefix(words[1].text, "-"), 10, 31); err == nil {
			return int(n), nil
		}
	}
	o, err := filterOptions[endOptions](words)
	if err != nil {
		return 0, err
	}
	return o.N, nil
}

// A lineSplitter splits its input into lines.
type lineSplitter struct {
	next  lineWriter
	part  []byte
	ended bool // next needs no more lines
}

func (s *lineSplitter) Write(p []byte) (int, error) {
	rest := p
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			s.part = append(s.part, rest...)
			return len(p), nil
		}
		l := rest[:i]
		if len(s.part) > 0 {
			s.part = append(s.part, l...)
			l = s.part
		}
		if err := s.next.writeLine(l); err != nil {
			s.ended = true
			return 0, err
		}
		s.part, rest = s.part[:0], rest[i+1:]
	}
}

func (s *lineSplitter) close() error {
	if len(s.part) > 0 {
		if err := s.next.writeLine(s.part); err != nil && !errors.Is(err, errOutputClosed) {
			return err
		}
	}
	err := s.next.close()
	if errors.Is(err, errOutputClosed) || isBrokenPipe(err) {
		return nil
	}
	return err
}

// lineEnd writes lines to w.
type lineEnd struct{ w *bufio.Writer }

func (e *lineEnd) writeLine(b []byte) error {
	if _, err := e.w.Write(b); err != nil {
		return err
	}
	return e.w.WriteByte('\n')
}

func (e *lineEnd) close() error { return e.w.Flush() }

// grep passes lines that contain the text or match it as a regular expression. It tries both, because type names
// contain special characters: Outer+Inner must find itself.
type grep struct {
	next   lineWriter
	text   []byte
	re     *regexp.Regexp // nil if the text is not a valid expression
	fold   bool
	invert bool
}

func newGrep(words []word, next lineWriter) (lineWriter, error) {
	o, err := filterOptions[grepOptions](words)
	if err != nil {
		return nil, err
	}
	if o.Count {
		next = &count{next: next}
	}
	g, text := &grep{next: next, fold: o.Fold, invert: o.Invert}, o.Text
	g.text = []byte(text)
	if g.fold {
		g.text, text = bytes.ToLower(g.text), "(?i)"+text
	}
	if !o.Fixed && regexp.QuoteMeta(text) != text {
		// An invalid expression is searched as plain text.
		g.re, _ = regexp.Compile(text)
	}
	return g, nil
}

func (g *grep) writeLine(b []byte) error {
	if g.match(b) == g.invert {
		return nil
	}
	return g.next.writeLine(b)
}

func (g *grep) match(b []byte) bool {
	l := b
	if g.fold {
		l = bytes.ToLower(b)
	}
	return bytes.Contains(l, g.text) || g.re != nil && g.re.Match(b)
}

func (g *grep) close() error { return g.next.close() }

// head passes the first lines.
type head struct {
	next lineWriter
	left int
}

func (h *head) writeLine(b []byte) error {
	if h.left == 0 {
		return errOutputClosed
	}
	h.left--
	if err := h.next.writeLine(b); err != nil {
		return err
	}
	if h.left == 0 {
		return errOutputClosed
	}
	return nil
}

func (h *head) close() error { return h.next.close() }

// tail passes the last n lines.
type tail struct {
	keeper
	next  lineWriter
	n     int
	lines [][]byte // a ring buffer
	at    int
}

func (t *tail) writeLine(b []byte) error {
	var err error
	var line []byte
	switch {
	case t.n == 0:
	case len(t.lines) < t.n:
		line, err = t.keep(b, nil)
		t.lines = append(t.lines, line)
	default:
		t.lines[t.at], err = t.keep(b, t.lines[t.at])
		t.at = (t.at + 1) % t.n
	}
	return err
}

func (t *tail) close() error {
	return writeAll(t.next, slices.Concat(t.lines[t.at:], t.lines[:t.at]))
}

func writeAll(next lineWriter, lines [][]byte) error {
	for _, l := range lines {
		if err := next.writeLine(l); errors.Is(err, errOutputClosed) {
			break
		} else if err != nil {
			return err
		}
	}
	return next.close()
}

// mostKept is the maximum number of bytes that sort and tail keep.
const mostKept = 256 << 20

// A keeper keeps lines.
type keeper struct{ bytes int }

// keep returns a copy of a line. lost is the line that it replaces.
func (k *keeper) keep(b, lost []byte) ([]byte, error) {
	if k.bytes += len(b) - len(lost); k.bytes > mostKept {
		return nil, &UsageError{Text: "the lines are too many to be kept for sort or tail", Hint: "COMMAND > FILE writes them to a file"}
	}
	return append(lost[:0], b...), nil
}

// sorter passes all lines in the order of their bytes or of their leading numbers.
type sorter struct {
	keeper
	next    lineWriter
	lines   [][]byte
	reverse bool
	numeric bool
}

func newSort(words []word, next lineWriter) (lineWriter, error) {
	o, err := filterOptions[sortOptions](words)
	if err != nil {
		return nil, err
	}
	if o.Unique {
		next = &uniq{next: next}
	}
	return &sorter{next: next, reverse: o.Reverse, numeric: o.Numeric}, nil
}

func (s *sorter) writeLine(b []byte) error {
	line, err := s.keep(b, nil)
	s.lines = append(s.lines, line)
	return err
}

func (s *sorter) close() error {
	slices.SortStableFunc(s.lines, func(a, b []byte) int {
		if s.reverse {
			a, b = b, a
		}
		if s.numeric {
			if d := cmp.Compare(leadingNumber(a), leadingNumber(b)); d != 0 {
				return d
			}
		}
		return bytes.Compare(a, b)
	})
	return writeAll(s.next, s.lines)
}

// leadingNumber returns the number at the start of a line, or 0. It ignores commas.
func leadingNumber(b []byte) float64 {
	b = bytes.TrimLeft(b, " \t")
	end := 0
	for end < len(b) && strings.IndexByte("0123456789,.-", b[end]) >= 0 {
		end++
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(string(b[:end]), ",", ""), 64)
	if err != nil {
		return 0
	}
	return n
}

// through passes all lines.
type through struct{ next lineWriter }

func (t *through) writeLine(b []byte) error { return t.next.writeLine(b) }

func (t *through) close() error { return t.next.close() }

// count passes the number of lines.
type count struct {
	next lineWriter
	n    int
}

func (c *count) writeLine([]byte) error {
	c.n++
	return nil
}

func (c *count) close() error {
	return writeAll(c.next, [][]byte{strconv.AppendInt(nil, int64(c.n), 10)})
}

// uniq drops lines that equal the one before.
type uniq struct {
	next lineWriter
	last []byte
	any  bool
}

func (u *uniq) writeLine(b []byte) error {
	if u.any && bytes.Equal(b, u.last) {
		return nil
	}
	u.last, u.any = append(u.last[:0], b...), true
	return u.next.writeLine(b)
}

func (u *uniq) close() error { return u.next.close() }
