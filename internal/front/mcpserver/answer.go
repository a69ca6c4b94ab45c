package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/front/report"
)

const (
	formatJSON = "json"
	formatText = "text"
)

// A question is a tool call with checked arguments.
type question struct {
	dump   string
	words  []string
	format string
	budget int
	from   int // items of lists, or bytes of text, already sent

	watch func(work string, at func() (done, total uint64, runs bool))
}

// A reply is the answer of a tool.
type reply struct {
	Dump     string         `json:"dump"`
	Replay   string         `json:"replay"`
	Exit     int            `json:"exit"`
	Document map[string]any `json:"document,omitempty"`
	Text     string         `json:"text,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
	Cut      []string       `json:"cut,omitempty"`
	Next     string         `json:"next,omitempty"`
}

// question parses the arguments of a call.
func (s *Server) question(t *Tool, raw json.RawMessage) (*question, error) {
	given := map[string]any{}
	if len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&given); err != nil {
			return nil, fmt.Errorf("the arguments are no JSON object: %w", err)
		}
	}
	q := &question{format: formatJSON, budget: s.options.Budget}
	if len(s.options.Dumps) == 1 {
		q.dump = s.options.Dumps[0].ID
	}
	cursor := ""
	for name, to := range map[string]*string{"dump": &q.dump, "format": &q.format, "cursor": &cursor} {
		if v, ok := given[name]; ok {
			if *to, ok = v.(string); !ok {
				return nil, fmt.Errorf("%s is not a text", name)
			}
			delete(given, name)
		}
	}
	if v, ok := given["budget"]; ok {
		n, _ := v.(json.Number)
		i, err := n.Int64()
		if err != nil || i < LeastBudget || i > int64(s.options.Budget) {
			return nil, fmt.Errorf("budget is not a number between %d and %d", LeastBudget, s.options.Budget)
		}
		q.budget = int(i)
		delete(given, "budget")
	}
	switch {
	case !slices.ContainsFunc(s.options.Dumps, func(d Dump) bool { return d.ID == q.dump }):
		return nil, fmt.Errorf("there is no dump %q; the dumps are %s", q.dump, s.ids())
	case q.format != formatJSON && q.format != formatText:
		return nil, fmt.Errorf("format %q is neither %s nor %s", q.format, formatJSON, formatText)
	}
	for name := range given {
		if t.Properties[name] == nil {
			return nil, fmt.Errorf("the tool %s has no argument %q; it has %s", t.Name, name, strings.Join(slices.Sorted(maps.Keys(s.properties(t))), ", "))
		}
	}
	for _, name := range t.Required {
		if _, ok := given[name]; !ok {
			return nil, fmt.Errorf("the argument %s is missing", name)
		}
	}
	var err error
	if q.words, err = t.Words(given); err != nil {
		return nil, err
	}
	if cursor != "" {
		q.from, err = q.parseCursor(cursor)
	}
	return q, err
}

// asked converts q for an Asker.
func (q *question) asked(part *report.Window) Question {
	return Question{Dump: q.dump, Words: q.words, Part: part, Watch: q.watch}
}

func (s *Server) ids() string {
	var ids []string
	for _, d := range s.options.Dumps {
		ids = append(ids, d.ID)
	}
	return strings.Join(ids, ", ")
}

// A cursor is the position at which an answer continues. Its sum ties it to one question.
type cursor struct {
	From int    `json:"f"`
	Sum  string `json:"s"`
}

func (q *question) sum() string {
	h := sha256.Sum256([]byte(q.dump + "\x00" + q.format + "\x00" + strings.Join(q.words, "\x00")))
	return base64.RawURLEncoding.EncodeToString(h[:9])
}

func (q *question) cursor(from int) string {
	return base64.RawURLEncoding.EncodeToString(encode(cursor{from, q.sum()}))
}

func (q *question) parseCursor(text string) (int, error) {
	var c cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &c) != nil || c.From <= 0 || c.Sum != q.sum() {
		return 0, errors.New("the cursor is not of an answer to this question: give it with the same tool, dump, format and arguments")
	}
	return c.From, nil
}

// answer asks q and cuts the answer to the budget.
func (s *Server) answer(ctx context.Context, q *question) (*reply, error) {
	a := &reply{Dump: q.dump, Replay: clean(s.asker.Line(q.dump, q.words, q.format == formatJSON))}
	if q.format == formatText {
		return a, s.text(ctx, q, a)
	}
	for count := pageItems; ; count /= 10 {
		out := &bounded{most: maxAnswer}
		code, err := s.asker.Ask(ctx, q.asked(&report.Window{From: q.from, Count: count}), out, io.Discard)
		if err != nil {
			return nil, err
		}
		if out.full && count > 1 {
			continue
		}
		a.Exit = code
		return a, s.document(q, a, out)
	}
}

// document fills the reply from a document.
func (s *Server) document(q *question, a *reply, out *bounded) error {
	var doc map[string]any
	d := json.NewDecoder(&out.Buffer)
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		if out.full {
			return fmt.Errorf("the answer has more than %d bytes: ask for less of it, or with format text", maxAnswer)
		}
		return fmt.Errorf("the command has answered with no document: %w", err)
	}
	cleaned(doc)
	a.Document = doc
	listed, more := fit(a, q.budget)
	if len(encode(a.Document)) > q.budget {
		return fmt.Errorf("the answer does not fit into %d bytes: ask for less of it, or with format text, which goes on", q.budget)
	}
	if more {
		a.Next = q.cursor(q.from + listed)
	}
	return nil
}

// text fills the reply from a command's text.
func (s *Server) text(ctx context.Context, q *question, a *reply) error {
	notes := &bounded{most: LeastBudget}
	out := &textPage{clean: clean, skip: q.from, left: q.budget}
	code, err := s.asker.Ask(ctx, q.asked(nil), out, notes)
	if err != nil {
		return err
	}
	out.end()
	a.Exit, a.Text = code, out.kept.String()
	for line := range strings.Lines(notes.String()) {
		a.Notes = append(a.Notes, clean(strings.TrimSuffix(line, "\n")))
	}
	if out.more {
		a.Next = q.cursor(q.from + out.kept.Len())
	}
	return nil
}

// A textPage keeps a part of the text written to it, cleaned line by line.
type textPage struct {
	clean func(string) string
	skip  int // bytes of the cleaned text before the part
	left  int // bytes that still fit
	line  []byte
	kept  strings.Builder
	more  bool // text follows the part
}

// maxLine is the maximum number of bytes cleaned at once.
const maxLine = 1 << 20

// Write implements io.Writer. It fails once the part is full, which stops the command.
func (p *textPage) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			if p.line = append(p.line, b...); len(p.line) > maxLine {
				p.put(p.clean(string(p.line)))
				p.line = p.line[:0]
			}
			break
		}
		p.line = append(p.line, b[:i]...)
		p.put(p.clean(string(p.line)) + "\n")
		p.line, b = p.line[:0], b[i+1:]
	}
	if p.more {
		return 0, io.ErrClosedPipe
	}
	return n, nil
}

// end adds an unterminated last line.
func (p *textPage) end() {
	if len(p.line) > 0 && !p.more {
		p.put(p.clean(string(p.line)))
	}
}

func (p *textPage) put(text string) {
	skipped := min(p.skip, len(text))
	p.skip -= skipped
	switch text = text[skipped:]; {
	case text == "" || p.more:
	case len(text) <= p.left:
		p.kept.WriteString(text)
		p.left -= len(text)
	default:
		p.more = true
		if p.kept.Len() > 0 {
			return // the line starts the next part
		}
		end := p.left
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		p.kept.WriteString(text[:end])
	}
}

// A bounded keeps the first most bytes and then fails.
type bounded struct {
	bytes.Buffer

	most int
	full bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		b.full = true
		return 0, io.ErrClosedPipe
	}
	return b.Buffer.Write(p)
}

// encode returns v as JSON without a trailing newline.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // values decoded from JSON always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
