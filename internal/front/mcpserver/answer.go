package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/front/report"
)

const (
	formatJSON = "json"
	formatText = "text"

	// Arguments of all tools.
	argumentDump   = "dump"
	argumentFormat = "format"
	argumentCursor = "cursor" // of the tool more
)

// more is the tool that continues an answer.
var more = Tool{Name: "more", Summary: "go on with an answer that was too long", NoText: true, Required: []string{argumentCursor},
	Properties: map[string]any{argumentCursor: map[string]any{"type": "string", "description": "the cursor at the end of the answer"}}}

// A question is a tool call with checked arguments.
type question struct {
	tool   *Tool
	given  map[string]any // the arguments
	raw    json.RawMessage
	dump   string
	words  []string
	format string
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
	Next     *Call          `json:"next,omitempty"`
}

// mostArguments bounds the arguments of a call in bytes: answers repeat them beside what has a budget. mostCursor is for the tool more: a cursor has the
// arguments of a call in base64.
const (
	mostArguments = 4 << 10
	mostCursor    = 2 * mostArguments
)

// question parses the arguments of a call.
func (s *Server) question(t *Tool, raw json.RawMessage) (*question, error) {
	given := map[string]any{}
	most := mostArguments
	if t == &more {
		most = mostCursor
	}
	if len(raw) > most {
		return nil, fmt.Errorf("the arguments have %d bytes; a call may have %d", len(raw), most)
	}
	if len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&given); err != nil {
			return nil, fmt.Errorf("the arguments are no JSON object: %w", err)
		}
	}
	if t == &more {
		return s.continued(given)
	}
	q := &question{tool: t, raw: raw, format: formatJSON}
	if len(s.options.Dumps) == 1 {
		q.dump = s.options.Dumps[0].ID
	}
	for name, to := range map[string]*string{argumentDump: &q.dump, argumentFormat: &q.format} {
		if v, ok := given[name]; ok {
			if *to, ok = v.(string); !ok {
				return nil, fmt.Errorf("%s is not a text", name)
			}
			delete(given, name)
		}
	}
	switch {
	case q.dump == "":
		return nil, fmt.Errorf("the argument %s is missing; the dumps are %s", argumentDump, s.ids())
	case !slices.Contains(s.idList(), q.dump):
		return nil, fmt.Errorf("there is no dump %q; the dumps are %s", q.dump, s.ids())
	case t.NoText && q.format != formatJSON:
		return nil, fmt.Errorf("the tool %s has no format %q: it answers in %s", t.Name, q.format, formatJSON)
	case q.format != formatJSON && q.format != formatText:
		return nil, fmt.Errorf("format %q is neither %s nor %s", q.format, formatJSON, formatText)
	}
	for name := range given {
		if t.Properties[name] == nil {
			return nil, fmt.Errorf("the tool %s has no argument %q; it has %s", t.Name, name, strings.Join(slices.Sorted(maps.Keys(s.properties(t))), ", "))
		}
	}
	for _, name := range t.Required {
		if v, ok := given[name]; !ok || v == nil {
			return nil, fmt.Errorf("the argument %s is missing", name)
		}
	}
	var err error
	q.given = given
	q.words, err = t.Words(given)
	return q, err
}

// asked converts q for an Asker.
func (q *question) asked(part *report.Window) Question {
	return Question{Dump: q.dump, Words: q.words, Part: part, Watch: q.watch}
}

func (s *Server) ids() string { return strings.Join(s.idList(), ", ") }

func (s *Server) idList() (out []string) {
	for _, d := range s.options.Dumps {
		out = append(out, d.ID)
	}
	return out
}

// A cursor is a call and the position at which its answer continues.
type cursor struct {
	Tool      string          `json:"t"`
	Arguments json.RawMessage `json:"a,omitempty"`
	From      int             `json:"f"`
}

// next returns the call that continues the answer of q.
func (q *question) next(from int) *Call {
	c := base64.RawURLEncoding.EncodeToString(encode(cursor{q.tool.Name, q.raw, from}))
	return &Call{Tool: more.Name, Arguments: map[string]any{argumentCursor: c}}
}

// continued returns the question of a cursor. A cursor that a client made up gets what the call in it may get.
func (s *Server) continued(given map[string]any) (*question, error) {
	text, ok := given[argumentCursor].(string)
	switch {
	case given[argumentCursor] == nil:
		return nil, fmt.Errorf("the argument %s is missing", argumentCursor)
	case !ok:
		return nil, fmt.Errorf("%s is not a text", argumentCursor)
	case len(given) > 1:
		return nil, fmt.Errorf("the tool %s has no argument but %s", more.Name, argumentCursor)
	}
	var c cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &c) != nil || c.From <= 0 {
		return nil, errBadCursor
	}
	i := slices.IndexFunc(s.options.Tools, func(t Tool) bool { return t.Name == c.Tool })
	if i < 0 {
		return nil, errBadCursor
	}
	q, err := s.question(&s.options.Tools[i], c.Arguments)
	if err == nil {
		q.from = c.From
	}
	return q, err
}

var errBadCursor = errors.New("the cursor is none of an answer: give it as it was")

// answer asks q and cuts the answer to the budget.
func (s *Server) answer(ctx context.Context, q *question) (*reply, error) {
	a := &reply{Dump: q.dump, Replay: clean(s.asker.Line(q.dump, q.words, q.format == formatJSON))}
	if q.format == formatText {
		return a, s.text(ctx, q, a)
	}
	if q.tool.Compose != nil {
		if make := q.tool.Compose(q.given); make != nil {
			c, err := make(ctx, func(ctx context.Context, words ...string) (*Composed, error) { return s.whole(ctx, q, words) })
			if err != nil {
				return nil, err
			}
			a.Exit = c.Exit
			window(c.Document, q.from)
			err = s.document(q, a, c.Document)
			if a.Next == nil && q.from == 0 {
				delete(a.Document, "lists") // they are whole
			}
			return a, err
		}
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
		doc, err := decode(out)
		if err != nil {
			return nil, err
		}
		return a, s.document(q, a, doc)
	}
}

// whole returns the whole document of a command.
func (s *Server) whole(ctx context.Context, q *question, words []string) (*Composed, error) {
	out := &bounded{most: maxAnswer}
	code, err := s.asker.Ask(ctx, Question{Dump: q.dump, Words: words, Part: &report.Window{Count: math.MaxInt32}, Watch: q.watch}, out, io.Discard)
	if err != nil {
		return nil, err
	}
	doc, err := decode(out)
	return &Composed{doc, code}, err
}

// decode decodes a document.
func decode(out *bounded) (map[string]any, error) {
	var doc map[string]any
	d := json.NewDecoder(&out.Buffer)
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		if out.full {
			return nil, fmt.Errorf("the answer has more than %d bytes: ask for less of it, or with format text", maxAnswer)
		}
		return nil, fmt.Errorf("the command has answered with no document: %w", err)
	}
	return doc, nil
}

// document fills the reply from a document.
func (s *Server) document(q *question, a *reply, doc map[string]any) error {
	slim(doc)
	s.withCalls(doc, q.dump)
	cleaned(doc)
	a.Document = doc
	listed, more := fit(a, s.options.Budget)
	if len(encode(a.Document)) > s.options.Budget {
		return fmt.Errorf("the answer does not fit into %d bytes: ask for less of it, or with format text, which goes on", s.options.Budget)
	}
	if more {
		a.Next = q.next(q.from + listed)
	}
	return nil
}

// text fills the reply from a command's text.
func (s *Server) text(ctx context.Context, q *question, a *reply) error {
	notes := &bounded{most: LeastBudget}
	out := &textPage{clean: clean, skip: q.from, left: s.options.Budget}
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
		a.Next = q.next(q.from + out.kept.Len())
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
