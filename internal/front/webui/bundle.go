// Package webui is the web page of a dump and the report that one can send: the same application, once with a server
// that answers it, and once with the documents inside of the file. The application is written in TypeScript and stands
// in the folder ui of the repository; what is embedded is made of it (node build.mjs), so that Go alone builds sosgo.
//
// All that is shown comes from the documents that --json prints. The package asks for them by an Asker, knows none of
// their fields but those that questions.json names, and computes nothing.
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

// The script and the style are embedded as gzip files, which most browsers take as they are: a third of their size. go generate
// makes them of the folder bundle, and TestPacked compares.
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
	// Ask writes the document that a command line prints with --json, with only the requested part of
	// its lists. The document reports failures. The end of ctx stops it.
	Ask(ctx context.Context, words []string, part report.Window, w io.Writer)
	// Line writes what a line prints as text at the prompt.
	Line(ctx context.Context, line string, w io.Writer)
	// Complete returns the words that may stand in place of the last characters of a line, and how many these are.
	Complete(before string) (found []string, length int)
}

// A Subject is what a page is about.
type Subject struct {
	File   string   `json:"file"`             // the dump's name
	Others []string `json:"others,omitempty"` // dumps that it can be compared with, as diff wants them named
}

// A question is one of those that the application asks by name.
type question struct {
	Words []string `json:"words"`
	// Count is how many items of each list are wanted, in a report.
	Count int `json:"count"`
	// Last says that the largest are at the end of lists.
	Last bool `json:"last"`
	// Each has the question asked once for each value that these paths lead to, in documents that were asked for
	// before: the name of a question, and fields. The value takes the place of the word "$".
	Each [][]string `json:"each"`
	// Linked has it asked for the addresses in the documents of these questions, too, in this order. Where it is itself
	// among them, what its own answers lead to follows.
	Linked []string `json:"linked"`
	// Most is how many of these are answered at most.
	Most int `json:"most"`
}

// follows reports whether the question is asked for values of other documents.
func (q *question) follows() bool { return len(q.Each)+len(q.Linked) > 0 }

// questions returns those of the application in the order in which a report asks them.
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

// script and style unpack the script and the style of the page once.
var (
	script = sync.OnceValue(func() []byte { return unpack(packedScript) })
	style  = sync.OnceValue(func() []byte { return unpack(packedStyle) })
)

// unpack returns the content of an embedded gzip file. TestPacked unpacks each.
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

// window returns the part of lists that a report wants.
func (q *question) window() report.Window { return report.Window{Count: q.Count, Last: q.Last} }

// address returns where the server has the answer: the one that the application asks for, to the letter (api.ts, ask).
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
