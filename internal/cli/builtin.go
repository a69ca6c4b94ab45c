package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/sosgo/sosgo/internal/report"
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
	Name    string   `json:"name" doc:"of the command"`
	Aliases []string `json:"aliases,omitempty" doc:"other names"`
	Group   string   `json:"group" doc:"heading in the command list"`
	Summary string   `json:"summary" doc:"one line"`
	Usage   string   `json:"usage" doc:"name, options and arguments"`
}

// builtinCommands returns the commands that need no dump.
func (a *app) builtinCommands() []Command {
	return []Command{
		{Name: "help", Aliases: []string{"?"}, Group: GroupShell, Summary: "show where to start, or explain a command; help all lists all commands",
			Args:     []Arg{{Name: "command", Kind: Str, Optional: true, Summary: "the command to explain, or all"}},
			Examples: []Example{{"help dumpheap", "the options of dumpheap"}},
			Result:   report.Result[[]helpResult](),
			Ask:      a.askHelp},
		{Name: "version", Group: GroupShell, Summary: "print the version of sosgo",
			Result: report.Result[versionResult](), Ask: askVersion},
		{Name: "cls", Group: GroupShell, Hidden: true, Summary: "clear the screen", Ask: func(c *Context) (report.Answer, error) {
			if c.terminal {
				_, err := io.WriteString(a.screen, "\x1b[H\x1b[2J")
				return report.Answer{}, err
			}
			return report.Answer{}, nil
		}},
		{Name: "history", Group: GroupShell, Hidden: true, Summary: "list the lines that were typed at the prompt", Ask: func(*Context) (report.Answer, error) {
			return report.SayText(func(p *report.Page) {
				for _, l := range a.typed {
					p.Print(report.Escape(l) + "\n")
				}
			}), nil
		}},
		{Name: ".echo", Group: GroupShell, Hidden: true, Summary: "print a text",
			Args: []Arg{{Name: "text", Kind: Str, Optional: true, Rest: true, Summary: "the text"}},
			Ask: func(c *Context) (report.Answer, error) {
				text := strings.Join(c.Strings("text"), " ")
				return report.SayText(func(p *report.Page) { p.Print(report.Escape(text) + "\n") }), nil
			}},
		{Name: "exit", Aliases: []string{"quit", "q"}, Group: GroupShell, Summary: "leave the prompt",
			Ask: func(*Context) (report.Answer, error) { return report.Answer{}, errExit }},
		a.promptCommand(),
		a.completionCommand(),
		a.docsCommand(),
	}
}

func askVersion(*Context) (report.Answer, error) {
	return report.Say(version(), func(p *report.Page, v versionResult) {
		p.Printf("sosgo %s (%s, %s)\n", v.Version, v.Go, v.Platform)
	}), nil
}

// version returns that of this program.
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

func (a *app) askHelp(c *Context) (report.Answer, error) {
	list, text := a.table.list, a.overview
	if name, one := c.Str("command"); one && strings.EqualFold(name, "all") {
		text = a.wholeHelp
	} else if one {
		cmd, err := a.table.find(name)
		if err != nil {
			return report.Answer{}, err
		}
		list, text = []*Command{cmd}, func() string { return commandHelp(cmd) }
	}
	var results []helpResult
	for _, cmd := range list {
		if !cmd.Hidden {
			results = append(results, helpResult{cmd.Name, cmd.Aliases, string(cmd.Group), cmd.Summary, cmd.UsageLine()})
		}
	}
	return report.Say(results, func(p *report.Page, _ []helpResult) { p.Print(text()) }), nil
}

// starts are the commands that help shows first, with what each is for.
var starts = []struct{ line, text string }{
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
		if a.table.byName[name] != nil {
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
	writeOptions(&b, globalOptions())
	b.WriteString("\nOptions are written -name or --name, in any case; addresses in hexadecimal, with or without 0x.\n" +
		"\"sosgo help COMMAND\" explains a command.\n")
	return b.String()
}

func (a *app) writeGroup(b *strings.Builder, g Group) {
	first := true
	for _, c := range a.table.list {
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

// commandHelp returns the help on one command.
func commandHelp(c *Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nusage: %s\n", c.Name, c.Summary, c.UsageLine())
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "aliases: %s\n", strings.Join(c.Aliases, ", "))
	}
	if c.Help != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Help))
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

// writeTerm writes a term and its explanation in two columns; a long term has
// a line of its own.
func writeTerm(b *strings.Builder, term, text string) {
	const column = 26
	if len(term) > column-4 {
		fmt.Fprintf(b, "  %s\n%*s%s\n", term, column, "", text)
		return
	}
	fmt.Fprintf(b, "  %-*s%s\n", column-2, term, text)
}
