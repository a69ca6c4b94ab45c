package mcpcmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/mcpserver"
	"github.com/sosgo/sosgo/internal/front/report"
)

// offered are the commands with a tool of their own; the tool "command" runs the others. Clients always keep the list
// of tools in context, so it holds only what most questions need. The grouped tools come among them.
var offered = []string{toolInvestigate, "triage", "crashinfo", "printexception", "dumpexceptions", toolThreads, toolStacks, "clrstack",
	"waits", "locks", "tasks", "asyncstacks", "threadpool", toolRequests, "httpclients", "sqlpools",
	"memory", "gc", toolTypes, "dumpheap", "leaks", "retained", "dominators", "gcroot", "referrers", "caches", "waste", "diff",
	"dumpobj", "items", "statics", "eval", "query", "process", "modules", "doctor"}

// anyCommand is the name of the tool that runs the other commands.
const anyCommand = "command"

// unlisted are options that tools do not have: they change nothing for agents, or the tool "command" has them for the
// rare case. The key "" is of all tools.
var unlisted = map[string][]string{"": {"noprogress", "ignoregcstate"}, "clrstack": {"i", "n", "f", "r", "pretty", "tid", "managed"},
	"dumpheap": {"short", "segment", "heap"}}

// lists reports whether a tool has an option of its command.
func lists(tool, option string) bool {
	return !slices.Contains(unlisted[""], option) && !slices.Contains(unlisted[tool], option)
}

// presets are options that tools have set, unless a call says otherwise.
var presets = map[string]string{"clrstack": "fold"}

// tools returns the tools.
func (a *asker) tools() []mcpserver.Tool {
	out := a.grouped()
	others := &strings.Builder{}
	for _, cmd := range a.c.Commands() {
		switch {
		case slices.ContainsFunc(out, func(t mcpserver.Tool) bool { return t.Name == cmd.Name }):
		case !slices.Contains(offered, cmd.Name):
			fmt.Fprintf(others, " %s", cmd.Name)
		case cmd.Name != "diff" || len(a.list) > 1:
			out = append(out, a.tool(cmd))
		}
	}
	slices.SortStableFunc(out, func(x, y mcpserver.Tool) int { return slices.Index(offered, x.Name) - slices.Index(offered, y.Name) })
	return append(out, mcpserver.Tool{Name: anyCommand, Summary: "run any other command that only reads",
		Help: "The resource sosgo://commands/all lists the commands, sosgo://commands/NAME explains one. Without a tool of their own are:" + others.String(),
		Properties: map[string]any{
			"command":   map[string]any{"type": "string", "description": "the command's name"},
			"arguments": map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": "options, as -name=value, and arguments; -- ends options"},
		}, Required: []string{"command"}, Words: commandWords})
}

// commandWords returns the command line for the tool "command".
func commandWords(given map[string]any) ([]string, error) {
	name, ok := given["command"].(string)
	if !ok || strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("command is not the name of a command")
	}
	words := []string{name}
	list, ok := given["arguments"].([]any)
	if given["arguments"] != nil && !ok {
		return nil, fmt.Errorf("arguments is not a list of texts")
	}
	for _, w := range list {
		text, ok := w.(string)
		if !ok {
			return nil, fmt.Errorf("arguments is not a list of texts")
		}
		words = append(words, text)
	}
	return words, nil
}

// A parameter is an option or argument of a command.
type parameter struct {
	name, summary string
	kind          cli.Kind
	choices       []string
	least, most   *int64
	many, dump    bool
	option        bool
}

// tool makes a tool from a command's declaration.
func (a *asker) tool(cmd *cli.Command) mcpserver.Tool {
	t := mcpserver.Tool{Name: cmd.Name, Summary: cmd.Summary, Properties: map[string]any{}}
	t.Help, _, _ = strings.Cut(cmd.Help, "\n\n")
	if cmd.Raw { // the help describes a language that clients cannot guess
		t.Help = cmd.HelpText()
	}
	options, args := cmd.Declares()
	var list []parameter
	for i := range options {
		if o := &options[i]; o.Kind != cli.File && (!o.Reveals || a.options.Secrets) && lists(cmd.Name, o.Name) {
			summary := o.Summary
			if len(o.Excludes) > 0 {
				summary += "; not with " + strings.Join(o.Excludes, ", ")
			}
			if len(o.Requires) > 0 {
				summary += "; only with " + strings.Join(o.Requires, " or ")
			}
			list = append(list, parameter{o.Name, summary, o.Kind, o.Choices, o.Min, o.Max, o.Many, false, true})
			if o.Required {
				t.Required = append(t.Required, o.Name)
			}
		}
	}
	if cmd.DumpArg {
		args = args[1:]
	}
	for i := range args {
		g := &args[i]
		list = append(list, parameter{g.Name, g.Summary, g.Kind, g.Choices, g.Min, g.Max, g.Many && !cmd.Raw, g.Kind == cli.File, false})
		if !g.Optional {
			t.Required = append(t.Required, g.Name)
		}
	}
	for i := range list {
		t.Properties[list[i].name] = a.schema(&list[i])
	}
	t.Words = func(given map[string]any) ([]string, error) { return a.words(cmd.Name, list, preset(cmd.Name, given)) }
	t.Compose = shaped(cmd.Name, t.Words)
	r := report.NamedResult{Name: cmd.Name, Type: cmd.Result}
	t.Document, t.Defs = report.SchemaOf(r)
	return t
}

// preset returns the arguments of a call with the tool's own settings.
func preset(tool string, given map[string]any) map[string]any {
	option, ok := presets[tool]
	if _, set := given[option]; !ok || set {
		return given
	}
	out := maps.Clone(given)
	if out == nil {
		out = map[string]any{}
	}
	out[option] = true
	return out
}

// schema returns the JSON Schema of a parameter.
func (a *asker) schema(p *parameter) map[string]any {
	s := map[string]any{"type": "string"}
	switch p.kind {
	case cli.Bool:
		s["type"] = "boolean"
	case cli.Int:
		s["type"] = "integer"
		if p.least != nil {
			s["minimum"] = *p.least
		}
		if p.most != nil {
			s["maximum"] = *p.most
		}
	}
	if len(p.choices) > 0 {
		s["enum"] = p.choices
	}
	if p.dump {
		var ids []string
		for _, d := range a.list {
			ids = append(ids, d.ID)
		}
		s["enum"] = ids
	}
	if p.many {
		s = map[string]any{"type": "array", "items": s}
	}
	s["description"] = p.summary
	return s
}

// words returns the command line for arguments. It writes options as -name=value and ends them with --, so that no
// value is read as an option.
func (a *asker) words(command string, list []parameter, given map[string]any) ([]string, error) {
	out := []string{command}
	var args []string
	for i := range list {
		p := &list[i]
		v, ok := given[p.name]
		if !ok || v == nil {
			continue
		}
		values := []any{v}
		if p.many {
			if several, ok := v.([]any); ok {
				values = several
			}
		}
		for _, v := range values {
			text, err := a.text(p, v)
			switch {
			case err != nil:
				return nil, fmt.Errorf("%s: %w", p.name, err)
			case !p.option:
				args = append(args, text)
			case p.kind == cli.Bool && text == "true":
				out = append(out, "-"+p.name)
			default:
				out = append(out, "-"+p.name+"="+text)
			}
		}
	}
	if len(args) > 0 {
		if slices.ContainsFunc(args, func(w string) bool {
			return strings.HasPrefix(w, "-") || strings.HasPrefix(w, "/") && !slices.Contains(a.paths(), w)
		}) {
			out = append(out, "--")
		}
		out = append(out, args...)
	}
	return out, nil
}

// paths returns the dumps as named by the user.
func (a *asker) paths() (out []string) {
	for _, d := range a.list {
		out = append(out, d.File)
	}
	return out
}

// text formats a value for a command line.
func (a *asker) text(p *parameter, v any) (string, error) {
	switch v := v.(type) {
	case bool:
		if p.kind == cli.Bool {
			return strconv.FormatBool(v), nil
		}
	case json.Number:
		if p.kind == cli.Int || p.kind == cli.Size || p.kind == cli.Str {
			return v.String(), nil
		}
	case string:
		switch {
		case p.dump && a.dumps[v] == nil:
			return "", fmt.Errorf("there is no dump %q", v)
		case p.dump:
			return a.dumps[v].path, nil
		case p.kind != cli.Bool:
			return v, nil
		}
	}
	word := map[cli.Kind]string{cli.Bool: "true or false", cli.Int: "a number", cli.Address: "a text with an address, such as 0x7f0012345678"}[p.kind]
	if word == "" {
		word = "a text"
	}
	return "", fmt.Errorf("the value is not %s", word)
}
