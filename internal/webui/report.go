package webui

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/report"
)

const (
	// MaxReport is how many bytes a report has at most, whatever the dump has.
	MaxReport   = 5 << 20
	maxDocument = 1 << 20  // how many bytes of a report one document has at most
	maxAnswer   = 16 << 20 // how many bytes of a document are looked at; a longer one is left out
)

// WriteReport writes a page that needs no server: one file with the documents that the application
// would request. Lists are cut as questions.json says, and further in a document that would be too
// large, which then records it. progress receives the number of answered questions and the total.
func WriteReport(ctx context.Context, w io.Writer, a Asker, s Subject, progress func(done, total int)) error {
	names, by, err := questions()
	if err != nil {
		return err
	}
	d := &documents{asker: a, results: map[string]any{}, left: MaxReport - frameSize()}
	for i, name := range names {
		progress(i, len(names))
		if err := d.add(ctx, name, by[name]); err != nil {
			return err
		}
	}
	progress(len(names), len(names))
	return writeReport(w, s, d.kept)
}

// frameSize is about how much a report has besides its documents.
func frameSize() int { return len(file("app.js")) + len(file("app.css")) + 16<<10 }

type document struct {
	key  string // the words of its command
	text []byte
}

// documents are those of a report while they are asked for.
type documents struct {
	asker   Asker
	results map[string]any // results by the names of questions, for those that follow from them
	kept    []document
	left    int
}

func (d *documents) add(ctx context.Context, name string, q question) error {
	if len(q.Each) == 0 {
		result, err := d.ask(ctx, q.Words, q.window())
		d.results[name] = result
		return err
	}
	var values []string
	for _, path := range q.Each {
		for _, v := range valuesAt(d.results[path[0]], path[1:]) {
			if !slices.Contains(values, v) && len(values) < q.Most {
				values = append(values, v)
			}
		}
	}
	for _, v := range values {
		words := slices.Clone(q.Words)
		words[slices.Index(words, "$")] = v
		if _, err := d.ask(ctx, words, q.window()); err != nil {
			return err
		}
	}
	return nil
}

// ask adds the document of a command and returns its result.
func (d *documents) ask(ctx context.Context, words []string, part report.Window) (any, error) {
	out := &bounded{most: maxAnswer}
	d.asker.Ask(ctx, words, part, out)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key := strings.Join(words, " ")
	if out.full {
		d.keep(key, absent(words[0], "the document is too large for a report"))
		return nil, nil
	}
	dec := json.NewDecoder(&out.Buffer)
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	text, err := fit(v)
	if err != nil {
		return nil, err
	}
	if text == nil {
		text = absent(words[0], "the document is too large for a report")
	}
	d.keep(key, text)
	return v["result"], nil
}

// keep adds a document while there is room for it.
func (d *documents) keep(key string, text []byte) {
	text = safe(text)
	if len(text)+len(key)*2 > d.left-(4<<10) {
		text = safe(absent(key, "the report is full"))
	}
	if d.left -= len(text) + len(key)*2 + 8; d.left > 0 {
		d.kept = append(d.kept, document{key, text})
	}
}

// absent returns a document that says why there is none.
func absent(command, why string) []byte {
	text, _ := json.Marshal(map[string]any{"command": command, "schema": report.JSONSchema, "error": report.Problem{
		Text: why, Kind: "other", Advice: "sosgo web shows all of it"}})
	return text
}

// fit encodes a document, with lists at any depth cut shorter and shorter, and texts too, until it fits. Nil is one that does not.
func fit(v map[string]any) ([]byte, error) {
	text, err := report.EncodeJSON(v)
	for most := 4096; err == nil && len(text) > maxDocument && most > 4; most /= 2 {
		v["shortened"] = true
		v["result"] = shorten(v["result"], most)
		text, err = report.EncodeJSON(v)
	}
	if len(text) > maxDocument {
		return nil, err
	}
	return text, err
}

// shorten cuts lists to so many items, and texts to sixteen times as many characters.
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

// valuesAt returns the texts that a path of fields leads to; lists on the way are gone through.
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

// safe is JSON that can stand in a script element: no sign of it ends the element or begins a comment.
func safe(text []byte) []byte {
	for _, r := range []struct{ from, to string }{{"<", `\u003c`}, {">", `\u003e`}, {"&", `\u0026`}, {"\u2028", `\u2028`}, {"\u2029", `\u2029`}} {
		text = bytes.ReplaceAll(text, []byte(r.from), []byte(r.to))
	}
	return text
}

// writeReport writes the file. Its script and its style are allowed by their hashes, and nothing else is.
func writeReport(w io.Writer, s Subject, docs []document) error {
	script, style := file("app.js"), file("app.css")
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

// bounded is a buffer that takes no more than so much.
type bounded struct {
	bytes.Buffer
	most int
	full bool
}

// errFull ends a command whose document is too large.
var errFull = fmt.Errorf("more than %d bytes: %w", maxAnswer, io.ErrShortWrite)

func (b *bounded) Write(p []byte) (int, error) {
	if b.full = b.full || b.Len()+len(p) > b.most; b.full {
		return 0, errFull
	}
	return b.Buffer.Write(p)
}
