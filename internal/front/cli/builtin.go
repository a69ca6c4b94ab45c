package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/front/report"
)

// versionResult is the JSON result of version.
type versionResult struct {
	Version  string `json:"version" doc:"of sosgo; \"devel\" for a build from a checkout"`
	Revision string `json:"revision,omitempty" doc:"the commit it was built from"`
	Go       string `json:"go" doc:"the Go release it was built with"`
	Platform string `json:"platform" doc:"operating system and processor it was built for"`
}

// helpResult is an item of the JSON result of help.
type helpResult struct {
	Name     string        `json:"name" doc:"of the command"`
	Aliases  []string      `json:"aliases,omitempty" doc:"other names"`
	Group    string        `json:"group" doc:"heading in the command list"`
	Summary  string        `json:"summary" doc:"one line"`
	Usage    string        `json:"usage" doc:"name, options and arguments"`
	Help     string        `json:"help,omitempty" doc:"further paragraphs"`
	Dump     bool          `json:"dump,omitempty" doc:"it needs a dump"`
	Args     []helpArg     `json:"args,omitempty" doc:"its arguments, in their order"`
	Options  []helpOption  `json:"options,omitempty" doc:"its options"`
	Examples []helpExample `json:"examples,omitempty" doc:"command lines"`
}

// helpValue describes the value of an argument or an option.
type helpValue struct {
	Kind    string   `json:"kind" doc:"flag, address, number, size, text, type, file or duration"`
	Summary string   `json:"summary" doc:"what it is"`
	Value   string   `json:"value,omitempty" doc:"how help writes the value"`
	Choices []string `json:"choices,omitempty" doc:"the only values"`
	Min     *int64   `json:"min,omitempty" doc:"least number"`
	Max     *int64   `json:"max,omitempty" doc:"greatest number"`
	Default string   `json:"default,omitempty" doc:"value if none is given"`
	Many    bool     `json:"many,omitempty" doc:"there may be several"`
}

// helpArg is an argument of a command.
type helpArg struct {
	Name       string `json:"name" doc:"in lower case"`
	Optional   bool   `json:"optional,omitempty" doc:"it may be left out"`
	Expression bool   `json:"expression,omitempty" doc:"an expression of eval, a register or a name may stand for the address"`
	helpValue
}

// helpOption is an option of a command.
type helpOption struct {
	Name     string   `json:"name" doc:"without the dash"`
	Aliases  []string `json:"aliases,omitempty" doc:"other names"`
	Required bool     `json:"required,omitempty" doc:"it has to be given"`
	Excludes []string `json:"excludes,omitempty" doc:"options and arguments that can't be given with it"`
	Requires []string `json:"requires,omitempty" doc:"one of these has to be given with it"`
	helpValue
}

// helpExample is a command line and what it is for.
type helpExample struct {
	Line string `json:"line" doc:"the command line, without sosgo"`
	Text string `json:"text" doc:"what it is for"`
}

// describe returns what help lists for a command.
func describe(c *Command) helpResult {
	h := helpResult{Name: c.Name, Aliases: c.Aliases, Group: string(c.Group), Summary: c.Summary, Usage: c.UsageLine(),
		Help: strings.TrimSpace(c.help()), Dump: c.NeedsDump}
	options, args := c.Declares()
	for _, a := range args {
		h.Args = append(h.Args, helpArg{Name: a.Name, Optional: a.Optional, Expression: a.Expression || a.Method,
			helpValue: a.describe("")})
	}
	for _, o := range options {
		h.Options = append(h.Options, helpOption{Name: o.Name, Aliases: o.Aliases, Required: o.Required, Excludes: o.Excludes, Requires: o.Requires,
			helpValue: o.describe(o.placeholder())})
	}
	for _, e := range c.Examples {
		h.Examples = append(h.Examples, helpExample(e))
	}
	return h
}

func (p *param) describe(value string) helpValue {
	return helpValue{p.Kind.String(), p.Summary, value, p.Choices, p.Min, p.Max, p.Default, p.Many}
}

// builtinCommands returns the commands of this package.
func (a *app) builtinCommands() []Command {
	return append(a.logCommands(),
		AskWith(Command{Name: "help", Aliases: []string{"?"}, Group: GroupShell, Summary: "show where to start, or explain a command; help all lists all commands",
			Examples: []Example{{"help dumpheap", "the options of dumpheap"}},
		}, a.askHelp, a.printHelp),
		Ask(Command{Name: "version", Group: GroupShell, Summary: "print the version of sosgo"},
			func(*Context, *None) (versionResult, error) { return version(), nil },
			func(p *report.Page, v versionResult) { p.Printf("sosgo %s (%s, %s)\n", v.Version, v.Go, v.Platform) }),
		Print(Command{Name: "cls", Group: GroupShell, Hidden: true, Summary: "clear the screen"}, func(c *Context, _ *None, p *report.Page) {
			if c.terminal {
				_, err := io.WriteString(a.screen, "\x1b[H\x1b[2J")
				p.Fail(err)
			}
		}),
		Print(Command{Name: "history", Group: GroupShell, Hidden: true, Summary: "list the lines that were typed at the prompt"},
			func(_ *Context, _ *None, p *report.Page) {
				for _, l := range a.typed {
					p.Print(report.Escape(l) + "\n")
				}
			}),
		Print(Command{Name: ".echo", Group: GroupShell, Hidden: true, Summary: "print a text"},
			func(_ *Context, o *echoOptions, p *report.Page) {
				p.Print(report.Escape(strings.Join(o.Text, " ")) + "\n")
			}),
		Do(Command{Name: "exit", Aliases: []string{"quit", "q"}, Group: GroupShell, Summary: "leave the prompt"},
			func(*Context, *None) (report.Answer, error) { return report.Answer{}, errExit }),
		moduleFilesCommand(),
		a.promptCommand(),
		a.completionCommand(),
		a.docsCommand())
}

type echoOptions struct {
	Text []string `arg:"text,optional" help:"the text"`
}

// version returns the version of this program.
func version() versionResult {
	v := versionResult{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if m := info.Main.Version; m != "" && m != "(devel)" {
			v.Version = m
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return v
}

type helpOptions struct {
	Command string `arg:"command,optional" help:"the command to explain, or all"`
}

// one returns the command to explain, or nil for all commands.
func (o *helpOptions) one(t *table) (*Command, error) {
	if o.Command == "" || strings.EqualFold(o.Command, "all") {
		return nil, nil
	}
	if t.named(o.Command) == nil && isOfPrompt(o.Command) {
		return t.find(promptName)
	}
	return t.find(o.Command)
}

// isOfPrompt reports whether the help of the prompt describes a word that is no command.
func isOfPrompt(word string) bool {
	word = strings.ToLower(strings.TrimPrefix(word, "."))
	return word == "prompt" || word == "|" || slices.Contains(filterNames, word) || slices.Contains(loops, word)
}

func (a *app) askHelp(_ *Context, o *helpOptions) ([]helpResult, error) {
	one, err := o.one(a.table)
	if err != nil {
		return nil, err
	}
	list := a.table.list()
	if one != nil {
		list = []*Command{one}
	}
	var out []helpResult
	for _, c := range list {
		if !c.Hidden {
			out = append(out, describe(c))
		}
	}
	return out, nil
}

func (a *app) printHelp(p *report.Page, _ []helpResult, o *helpOptions) {
	text := a.overview()
	switch one, _ := o.one(a.table); {
	case one != nil:
		text = one.HelpText()
	case o.Command != "":
		text = a.wholeHelp()
	}
	for line := range strings.Lines(text) {
		hang := 0
		if strings.HasPrefix(line, "  ") {
			hang = termColumn
		}
		p.Sentence("", hang, strings.TrimSuffix(line, "\n"))
	}
}

// termColumn is the column of explanations in lists of commands and options.
const termColumn = 26

// starts lists the commands that help shows first, with the question that each answers.
var starts = []struct{ line, text string }{
	{"triage", "what is wrong with the process?"},
	{"crashinfo", "why did the process die?"},
	{"waits", "why does it hang? deadlocks, held locks, threads that block"},
	{"summarize", "one line of JSON: crash, suspects, sizes"},
	{"clrstack -all", "the stacks of all managed threads"},
	{"threadpool", "is the thread pool starved?"},
	{"dumpheap -stat", "what fills the heap, by type"},
	{"leaks", "what holds most of the memory?"},
	{"gcroot ADDRESS", "what keeps this object alive?"},
	{"dumpobj ADDRESS", "an object with its fields"},
	{"query TEXT", "a question of your own, in steps or in SQL"},
	{"web", "all of it in a browser"},
	{"doctor", "what the dump holds, and what is missing"},
}

// overview returns the help without a command; it fits on a screen.
func (a *app) overview() string {
	var b strings.Builder
	b.WriteString("sosgo answers what SOS answers about dumps of .NET processes, with nothing installed.\n\n" +
		"usage: sosgo -d DUMP COMMAND [ARGUMENTS]\n       sosgo DUMP              the prompt\n\nStart here:\n")
	for _, s := range starts {
		name, _, _ := strings.Cut(s.line, " ")
		if a.table.named(name) != nil {
			writeTerm(&b, s.line, s.text)
		}
	}
	b.WriteString("\nOptions are written -name, --name or /name, in any case; addresses in hexadecimal, with or without 0x.\n" +
		"\"sosgo help all\" lists all commands and options, \"sosgo help COMMAND\" explains one.\n")
	return b.String()
}

// wholeHelp lists all commands and options.
func (a *app) wholeHelp() string {
	var b strings.Builder
	b.WriteString("sosgo answers what SOS answers about dumps of .NET processes, with nothing installed.\n\n" +
		"usage: sosgo [OPTIONS] COMMAND [ARGUMENTS]\n\n")
	for _, g := range Groups() {
		a.writeGroup(&b, g)
	}
	b.WriteString("Options, before or after the command:\n")
	writeOptions(&b, a.global.options)
	b.WriteString("\nOptions are written -name or --name, in any case; addresses in hexadecimal, with or without 0x.\n" +
		"\"sosgo help COMMAND\" explains a command.\n")
	return b.String()
}

func (a *app) writeGroup(b *strings.Builder, g Group) {
	first := true
	for _, c := range a.table.list() {
		if c.Group != g || c.Hidden {
			continue
		}
		if first {
			fmt.Fprintf(b, "%s:\n", g)
			first = false
		}
		writeTerm(b, strings.Join(append([]string{c.Name}, c.Aliases...), ", "), c.Summary)
	}
	if !first {
		b.WriteByte('\n')
	}
}

// HelpText returns the help on the command.
func (c *Command) HelpText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nusage: %s\n", c.Name, c.Summary, c.UsageLine())
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "aliases: %s\n", strings.Join(c.Aliases, ", "))
	}
	if c.Help != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.help()))
	}
	options, args := c.Declares()
	if len(args) > 0 {
		b.WriteString("\nArguments:\n")
		for _, a := range args {
			writeTerm(&b, strings.ToUpper(a.Name), a.Summary)
		}
	}
	if len(options) > 0 {
		b.WriteString("\nOptions:\n")
		writeOptions(&b, options)
	}
	if len(c.Examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, e := range c.Examples {
			writeTerm(&b, e.Line, e.Text)
		}
	}
	return b.String()
}

func writeOptions(b *strings.Builder, options []Option) {
	for i := range options {
		o := &options[i]
		term := o.synopsis()
		for _, alias := range o.Aliases {
			term += ", -" + alias
		}
		writeTerm(b, term, o.Summary)
	}
}

// writeTerm writes a term and its explanation in two columns. A long term is on a line of its own.
func writeTerm(b *strings.Builder, term, text string) {
	const column = termColumn
	if len(term) > column-4 {
		fmt.Fprintf(b, "  %s\n%*s%s\n", term, column, "", text)
		return
	}
	fmt.Fprintf(b, "  %-*s%s\n", column-2, term, text)
}
