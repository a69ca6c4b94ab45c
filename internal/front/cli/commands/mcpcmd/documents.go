package mcpcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/front/mcpserver"
)

// A document is a decoded document, with functions that find its parts. What is missing reads as zero.
type document struct{ v any }

// result returns the result of a document.
func result(c *mcpserver.Composed) document { return document{c.Document}.at("result") }

func (d document) at(names ...string) document {
	for _, name := range names {
		m, _ := d.v.(map[string]any)
		d = document{m[name]}
	}
	return d
}

func (d document) list(names ...string) []document {
	l, _ := d.at(names...).v.([]any)
	out := make([]document, len(l))
	for i := range l {
		out[i] = document{l[i]}
	}
	return out
}

func (d document) text(names ...string) string {
	switch v := d.at(names...).v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func (d document) number(names ...string) int {
	n, _ := d.at(names...).v.(json.Number)
	i, _ := n.Int64()
	return int(i)
}

func (d document) has(name string) bool { return d.at(name).v != nil }

// texts returns the texts of a list, at most so many.
func (d document) texts(most int, names ...string) (out []string) {
	for _, e := range d.list(names...) {
		if s := e.text(); s != "" && len(out) < most {
			out = append(out, s)
		}
	}
	return out
}

// cut shortens a text.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// sourcePlace is the place in the source at the end of a frame's line.
var sourcePlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \([^()]*:\d+\)$`) })

// cutFrame shortens a frame's line. Its place in the source stays: it is what leads to the code.
func cutFrame(s string, most int) string {
	place := sourcePlace().FindString(s)
	return cut(strings.TrimSuffix(s, place), most) + cut(place, most)
}

// cutAll shortens frames to the room for each.
func cutAll(list []string, r room) []string {
	for i := range list {
		list[i] = cutFrame(list[i], r.text)
	}
	return list
}

// A group is a list of things that are alike.
type group[T any] struct {
	key  string
	list []T
}

// groups puts alike things together, the largest group first.
func groups[T any](list []T, key func(T) string) []group[T] {
	var out []group[T]
	index := map[string]int{}
	for _, e := range list {
		k := key(e)
		i, ok := index[k]
		if !ok {
			i, index[k] = len(out), len(out)
			out = append(out, group[T]{key: k})
		}
		out[i].list = append(out[i].list, e)
	}
	slices.SortStableFunc(out, func(a, b group[T]) int { return cmp.Compare(len(b.list), len(a.list)) })
	return out
}

// made returns a document of a tool from the documents that it comes from: their warnings stay.
func made(tool string, result any, from ...*mcpserver.Composed) *mcpserver.Composed {
	out := &mcpserver.Composed{Document: map[string]any{"command": tool, "result": plain(result)}}
	var warnings []any
	for _, c := range from {
		out.Exit = cmp.Or(out.Exit, c.Exit)
		if e := c.Document["error"]; e != nil && out.Document["error"] == nil {
			out.Document["error"] = e
		}
		if l, ok := c.Document["warnings"].([]any); ok {
			warnings = append(warnings, l...)
		}
	}
	if len(warnings) > 0 {
		rest := len(warnings) - mostWarnings
		out.Document["warnings"] = warnings[:min(len(warnings), mostWarnings)]
		if rest > 0 {
			out.Document["moreWarnings"] = rest
		}
	}
	return out
}

// unreadable returns the document of a question that has no result, as the document of a tool: its error says why.
// It is nil for other documents.
func unreadable(tool string, c *mcpserver.Composed) *mcpserver.Composed {
	if c.Document["result"] != nil {
		return nil
	}
	out := &mcpserver.Composed{Document: maps.Clone(c.Document), Exit: c.Exit}
	out.Document["command"] = tool
	return out
}

// mostWarnings is the number of warnings that a made document has at most.
const mostWarnings = 3

// plain returns a value as decoded JSON.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	_ = d.Decode(&out) // it was just encoded
	return out
}

// call is a call that an answer recommends, with its purpose.
type call struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	Why       string         `json:"why,omitempty"`
}

// composed makes a tool from a function that makes its document.
func composed(name string, words []string, make func(context.Context, mcpserver.Ask, map[string]any) (*mcpserver.Composed, error)) mcpserver.Tool {
	return mcpserver.Tool{Name: name, NoText: true, Properties: map[string]any{},
		Words: func(map[string]any) ([]string, error) { return words, nil },
		Compose: func(given map[string]any) mcpserver.Composer {
			return func(ctx context.Context, ask mcpserver.Ask) (*mcpserver.Composed, error) {
				return make(ctx, ask, given)
			}
		}}
}

// frameText returns a frame on one line: its method as C# code has it, and its place in the source.
func frameText(f document) string {
	name := compilernames.CSharpMethod(cmp.Or(f.text("exact"), f.text("method"), f.text("function")))
	if name == "" {
		return ""
	}
	if file := f.text("file"); file != "" {
		name += fmt.Sprintf(" (%s:%s)", path.Base(strings.ReplaceAll(file, `\`, "/")), f.text("line"))
	}
	return name
}

// foldedStack returns the lines of a stack, innermost first, at most so many: rounds of repeated calls once, with
// their number.
func foldedStack(frames []document, most int) (out []string) {
	left := 0
	for i := 0; i < len(frames); i++ {
		f := frames[i]
		line := frameText(f)
		if line == "" {
			continue
		}
		if len(out) >= most {
			left++
			continue
		}
		if cycle, repeat := f.number("cycle"), f.number("repeat"); cycle > 0 && repeat > 1 {
			var round []string
			for _, g := range frames[i:min(i+cycle, len(frames))] {
				round = append(round, frameText(g))
			}
			out = append(out, fmt.Sprintf("%d × [%s]", repeat, strings.Join(round, " ← ")))
			i += cycle - 1
			continue
		}
		out = append(out, line)
	}
	if left > 0 {
		out = append(out, fmt.Sprintf("… %d more", left))
	}
	return out
}
