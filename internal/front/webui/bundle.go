// Package webui serves the web page of a dump and writes the report that can be sent. Both are the same application:
// the page asks a server, and the report holds its documents in the file. The application is in the folder ui, in
// TypeScript. Its bundle (node build.mjs) is embedded, so that building sosgo needs only Go.
//
// The page shows only documents of --json. The package requests them from an Asker, computes nothing, and knows no
// fields except those in questions.json. Start with NewServer and WriteReport.
package webui

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/front/report"
)

// The script and the style are embedded as gzip files, a third of their size. Most browsers accept them unchanged. go
// generate makes them from the folder bundle, and TestPacked compares them.
//
//go:generate go test . -run ^TestPacked$ -update
//go:embed packed/app.js.gz
var packedScript []byte

//go:embed packed/app.css.gz
var packedStyle []byte

//go:embed bundle/questions.json
var questionsText []byte

// An Asker answers commands with documents.
type Asker interface {
	// Ask writes the document that a command line prints with --json, with only the requested part of its lists. The
	// document contains failures. Canceling ctx stops the command.
	Ask(ctx context.Context, words []string, part report.Window, w io.Writer)
	// Line writes the text that a line prints at the prompt.
	Line(ctx context.Context, line string, w io.Writer)
	// Complete returns completions of the end of before, and the number of characters that they replace.
	Complete(before string) (found []string, length int)
}

// A Subject is the dump that a page shows.
type Subject struct {
	File   string   `json:"file"`             // the dump's name
	Others []string `json:"others,omitempty"` // dumps to compare with, as arguments of diff
}

// A question is a named question of the application.
type question struct {
	Words []string `json:"words"`
	// Count is the number of items of each list in a report.
	Count int `json:"count"`
	// Last reports whether the largest items are at the end of lists.
	Last bool `json:"last"`
	// Each asks the question once for each value at these paths in earlier documents. A path is the name of a
	// question, then fields. The value replaces the word "$".
	Each [][]string `json:"each"`
	// Linked also asks the question for the addresses in the documents of these questions, in this order. If it
	// contains the question itself, addresses in its answers follow.
	Linked []string `json:"linked"`
	// Most is the maximum number of documents from Each and Linked.
	Most int `json:"most"`
	// Served reports whether only a page with a server asks it: a report has a larger answer.
	Served bool `json:"served"`
}

// follows reports whether the question depends on values of other documents.
func (q *question) follows() bool { return len(q.Each)+len(q.Linked) > 0 }

// questions returns the application's questions in the order in which a report asks them.
func questions() (names []string, by map[string]question, err error) {
	if err := json.Unmarshal(questionsText, &by); err != nil {
		return nil, nil, fmt.Errorf("questions.json: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(questionsText))
	for depth := 0; ; {
		t, err := d.Token()
		if err == io.EOF {
			return names, by, nil
		}
		if err != nil {
			return nil, nil, err
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if _, ok := by[v]; ok && depth == 1 {
				names = append(names, v)
			}
		}
	}
}

// script and style are the unpacked script and style of the page.
var (
	script = sync.OnceValue(func() []byte { return unpack(packedScript) })
	style  = sync.OnceValue(func() []byte { return unpack(packedStyle) })
)

// unpack returns the content of an embedded gzip file. It panics on a damaged file; TestPacked unpacks all files.
func unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return b
}

// title returns the title of a page, safe in HTML.
func title(s Subject) string { return html.EscapeString(report.Escape(s.File)) + " · sosgo" }

// window returns the part of lists for a report.
func (q *question) window() report.Window { return report.Window{Count: q.Count, Last: q.Last} }

// address returns the answer's address on the server, exactly as the application requests it (api.ts, ask).
func (q *question) address() string {
	var b strings.Builder
	b.WriteString("api/" + url.PathEscape(q.Words[0]) + "?")
	for _, w := range q.Words[1:] {
		b.WriteString("a=" + url.QueryEscape(w) + "&")
	}
	b.WriteString("count=" + strconv.Itoa(q.Count))
	if q.Last {
		b.WriteString("&last=1")
	}
	return b.String()
}
