package webui

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/front/report"
)

const (
	// MaxReport is the maximum size of a report in bytes.
	MaxReport   = 5 << 20
	maxDocument = 1 << 20  // maximum bytes of one document in a report
	maxAnswer   = 16 << 20 // bytes; a longer document is left out
	mostGrown   = 500      // rows of the comparison's lists
	// triesPerLink bounds the addresses tried for each wanted document, since many addresses are not objects.
	triesPerLink = 4
	fewestDigits = 5 // of an object's address
)

// WriteReport writes a page without a server: a file with the documents that the application requests. It shortens
// lists as questions.json says, and further if a document would be too large; such a document records it. progress
// receives the number of answered questions and the total.
func WriteReport(ctx context.Context, w io.Writer, a Asker, s Subject, progress func(done, total int)) error {
	names, by, err := questions()
	if err != nil {
		return err
	}
	d := &documents{asker: a, results: map[string]any{}, links: map[string][]string{}, asked: map[string]bool{}, left: MaxReport - frameSize()}
	for i, name := range names {
		progress(i, len(names))
		if by[name].Served {
			continue
		}
		if err := d.add(ctx, name, by[name]); err != nil {
			return err
		}
	}
	if len(s.Others) > 0 {
		if _, err := d.ask(ctx, append([]string{"diff", "-paths"}, s.Others...), report.Window{Count: mostGrown}, false); err != nil {
			return err
		}
	}
	progress(len(names), len(names))
	return writeReport(w, s, d.kept)
}

// frameSize returns the approximate size of a report without documents.
func frameSize() int { return len(script()) + len(style()) + 16<<10 }

type document struct {
	key  string // the command's words
	text []byte
}

// documents collects the documents of a report.
type documents struct {
	asker   Asker
	results map[string]any      // by question, for the questions that depend on them
	links   map[string][]string // addresses in results
	asked   map[string]bool
	kept    []document
	left    int
	full    bool
}

func (d *documents) add(ctx context.Context, name string, q question) error {
	if !q.follows() {
		result, err := d.ask(ctx, q.Words, q.window(), false)
		d.results[name] = result
		return err
	}
	var own []any // the results of this question
	answered := 0
	seen := map[string]bool{}
	tries := q.Most * triesPerLink
	ask := func(values []string) error {
		for _, v := range values {
			if seen[v] || answered >= q.Most || tries == 0 || d.full {
				continue
			}
			seen[v] = true
			words := slices.Clone(q.Words)
			words[slices.Index(words, "$")] = v
			known := d.asked[strings.Join(words, " ")]
			result, err := d.ask(ctx, words, q.window(), true)
			if err != nil {
				return err
			}
			tries--
			if result != nil {
				own = append(own, result)
			}
			if result != nil || known {
				answered++
			}
		}
		return nil
	}
	for _, path := range q.Each {
		if err := ask(valuesAt(d.results[path[0]], path[1:])); err != nil {
			return err
		}
	}
	for _, from := range q.Linked {
		if from != name {
			if err := ask(d.linked(from)); err != nil {
				return err
			}
			continue
		}
		for len(own) > 0 {
			next := addresses(own[0], nil)
			own = own[1:]
			if err := ask(next); err != nil {
				return err
			}
		}
	}
	d.results[name] = own
	return nil
}

// linked returns the addresses in the results of a question.
func (d *documents) linked(name string) []string {
	list, ok := d.links[name]
	if !ok {
		list = addresses(d.results[name], nil)
		d.links[name] = list
	}
	return list
}

// ask adds the document of a command and returns its result, or nil. It does nothing for a document asked before. It
// drops an optional document if the result is missing or the file is full.
func (d *documents) ask(ctx context.Context, words []string, part report.Window, optional bool) (any, error) {
	key := strings.Join(words, " ")
	if d.asked[key] {
		return nil, nil
	}
	d.asked[key] = true
	out := &bounded{most: maxAnswer}
	d.asker.Ask(ctx, words, part, out)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if out.full {
		if !optional {
			d.keep(key, absent(words[0], "the document is too large for a report"))
		}
		return nil, nil
	}
	dec := json.NewDecoder(&out.Buffer)
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	result := v["result"]
	if optional && result == nil {
		return nil, nil
	}
	text, err := fit(v)
	if err != nil {
		return nil, err
	}
	if text == nil {
		text = absent(words[0], "the document is too large for a report")
	}
	text = safe(text)
	if optional && !d.fits(key, text) {
		d.full = true
		return nil, nil
	}
	d.keep(key, text)
	return result, nil
}

// fits reports whether a document fits into the report.
func (d *documents) fits(key string, text []byte) bool { return len(text)+len(key)*2 <= d.left-(4<<10) }

// keep adds an escaped document, or a note if it does not fit.
func (d *documents) keep(key string, text []byte) {
	if !d.fits(key, text) {
		text = absent(key, "the report is full")
	}
	if d.left -= len(text) + len(key)*2 + 8; d.left > 0 {
		d.kept = append(d.kept, document{key, text})
	}
}

// absent returns a document with the reason why the original is missing.
func absent(command, why string) []byte {
	text, _ := json.Marshal(map[string]any{"command": command, "schema": report.JSONSchema, "error": report.Problem{
		Text: why, Kind: "other", Advice: "sosgo web shows all of it"}})
	return safe(text)
}

// fit encodes a document. It halves the length of lists and texts until the document fits, and returns nil if it
// cannot fit.
func fit(v map[string]any) ([]byte, error) {
	for most := 4096; ; most /= 2 {
		if least(v, maxDocument) >= 0 { // saves encoding a document that cannot fit
			if text, err := report.EncodeJSON(v); err != nil || len(text) <= maxDocument {
				return text, err
			}
		}
		if most <= 4 {
			return nil, nil
		}
		v["shortened"] = true
		v["result"] = shorten(v["result"], most)
	}
}

// least returns bytes minus the minimum size of v's JSON. The result is negative if v cannot fit.
func least(v any, bytes int) int {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if bytes = least(e, bytes-len(k)-len(`"":`)); bytes < 0 {
				break
			}
		}
	case []any:
		for _, e := range v {
			if bytes = least(e, bytes); bytes < 0 {
				break
			}
		}
	case string:
		bytes -= len(v) + len(`""`)
	case json.Number:
		bytes -= len(v)
	}
	return bytes
}

// shorten cuts lists to most items, and texts to sixteen times as many characters.
func shorten(v any, most int) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = shorten(v[k], most)
		}
	case []any:
		v = v[:min(len(v), most)]
		for i := range v {
			v[i] = shorten(v[i], most)
		}
		return v
	case string:
		if r := []rune(v); len(r) > 16*most {
			return string(r[:16*most]) + "…"
		}
	}
	return v
}

// valuesAt returns the texts at a path of fields, for every item of lists on the way.
func valuesAt(v any, path []string) []string {
	switch v := v.(type) {
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, valuesAt(item, path)...)
		}
		return all
	case map[string]any:
		if len(path) > 0 {
			return valuesAt(v[path[0]], path[1:])
		}
	case string:
		if len(path) == 0 {
			return []string{v}
		}
	}
	return nil
}

// isAddress reports whether a value has the form of an object's address in documents.
func isAddress(v string) bool {
	digits, ok := strings.CutPrefix(v, "0x")
	return ok && len(digits) >= fewestDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// addresses appends the addresses in the fields of a value, including the arguments of sentences, in the order of
// field names.
func addresses(v any, all []string) []string {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = addresses(item, all)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			all = addresses(v[k], all)
		}
	case string:
		if isAddress(v) {
			all = append(all, v)
		}
	}
	return all
}

// safe escapes JSON for a script element.
func safe(text []byte) []byte {
	for _, r := range []struct{ from, to string }{{"<", `\u003c`}, {">", `\u003e`}, {"&", `\u0026`}, {"\u2028", `\u2028`}, {"\u2029", `\u2029`}} {
		text = bytes.ReplaceAll(text, []byte(r.from), []byte(r.to))
	}
	return text
}

// writeReport writes the file. Its content security policy allows only the script and the style, by their hashes.
func writeReport(w io.Writer, s Subject, docs []document) error {
	script, style := script(), style()
	var b bytes.Buffer
	b.WriteString(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` +
		`script-src '` + hash(script) + `'; style-src '` + hash(style) + `'; img-src data:; base-uri 'none'; form-action 'none'">` +
		`<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><title>` +
		title(s) + `</title><link rel="icon" href="data:,"><style>`)
	b.Write(style)
	b.WriteString(`</style></head><body><div id="app"></div>` + noScript + `<script type="application/json" id="report">{"subject":`)
	subject, err := report.EncodeJSON(s)
	if err != nil {
		return err
	}
	b.Write(safe(subject))
	b.WriteString(`,"documents":{`)
	for i, d := range docs {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := report.EncodeJSON(d.key)
		if err != nil {
			return err
		}
		b.WriteByte('\n')
		b.Write(safe(key))
		b.WriteByte(':')
		b.Write(d.text)
	}
	b.WriteString("}}</script><script>")
	b.Write(script)
	b.WriteString("</script></body></html>\n")
	_, err = w.Write(b.Bytes())
	return err
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// A bounded buffer accepts at most most bytes.
type bounded struct {
	bytes.Buffer
	most int
	full bool
}

// errFull is the error for a document that is too large.
var errFull = fmt.Errorf("more than %d bytes: %w", maxAnswer, io.ErrShortWrite)

func (b *bounded) Write(p []byte) (int, error) {
	if b.full = b.full || b.Len()+len(p) > b.most; b.full {
		return 0, errFull
	}
	return b.Buffer.Write(p)
}
