package cli

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/internal/front/report"
)

type docsOptions struct {
	Document string `arg:"document" choices:"man|commands|json|schema" help:"the manual page (roff), the command reference, the fields of the JSON results (Markdown) or their JSON Schema"`
}

func (a *app) docsCommand() Command {
	return Print(Command{
		Name: "docs", Group: GroupShell, Summary: "print a document that is made from the command table",
		Examples: []Example{{"docs man > sosgo.1", "the manual page"}},
	}, func(_ *Context, o *docsOptions, p *report.Page) {
		switch o.Document {
		case "man":
			a.writeMan(p)
		case "commands":
			a.writeReference(p)
		case "json":
			p.Fail(report.WriteFields(p, a.results()))
		case "schema":
			p.Fail(report.WriteSchema(p, a.results()))
		}
	})
}

// visible returns the listed commands of a group.
func (a *app) visible(g Group) []*Command {
	var out []*Command
	for _, c := range a.table.list() {
		if c.Group == g && !c.Hidden {
			out = append(out, c)
		}
	}
	return out
}

// writeReference writes the command list in Markdown.
func (a *app) writeReference(p *report.Page) {
	var b strings.Builder
	for _, g := range Groups() {
		commands := a.visible(g)
		if len(commands) == 0 {
			continue
		}
		fmt.Fprintf(&b, "**%s**\n\n| command | aliases | answers |\n|---|---|---|\n", g)
		for _, c := range commands {
			usage := strings.ReplaceAll(c.UsageLine(), "|", `\|`)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", usage, strings.Join(c.Aliases, ", "), strings.ReplaceAll(c.Summary, "|", `\|`))
		}
		b.WriteByte('\n')
	}
	p.Print(strings.TrimSuffix(b.String(), "\n"))
}

// results returns the JSON results of the listed commands.
func (a *app) results() []report.NamedResult {
	var out []report.NamedResult
	for _, c := range a.table.list() {
		if c.Hidden || c.session != nil || c.Name == "exit" {
			continue
		}
		r := report.NamedResult{Name: c.Name, Type: c.Result}
		if r.Type == nil {
			r.Type = report.Result[textLines]()
		}
		out = append(out, r)
	}
	return out
}

// textLines is the JSON result of text-only answers.
type textLines struct {
	Text []string `json:"text" doc:"the lines"`
}

// exitCodes describes the exit codes for the manual page.
var exitCodes = [...]struct {
	code int
	text string
}{
	{ExitOK, "The command answered. Parts that are missing are printed as such and summed up in a warning."},
	{ExitUsage, "The command line is wrong, or names an existing file or folder for a new one."},
	{ExitOpen, "The dump, or another file, can't be opened, read or written."},
	{ExitNotInDump, "The answer needs memory that the dump does not have."},
	{ExitCorrupt, "The data is there and impossible."},
	{ExitUnsupported, "The data is there and sosgo can't interpret it, or the question can't be answered: a name is unknown, a limit is reached."},
	{ExitBug, "sosgo itself is wrong: please report it. In a session the other commands are still run."},
	{ExitGate, "The command answered, and the answer is beyond what an option allows (diff -fail-above, -fail-growth)."},
	{ExitWrite, "The answer, or a file, can't be written."},
	{ExitInterrupted, "Stopped by Ctrl-C."},
}

// writeMan writes the manual page.
func (a *app) writeMan(p *report.Page) {
	var b strings.Builder
	b.WriteString(".TH SOSGO 1\n.SH NAME\nsosgo \\- answer what SOS answers about dumps of .NET processes\n" +
		".SH SYNOPSIS\n.B sosgo\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n" +
		".SH DESCRIPTION\nOptions are written \\-name or \\-\\-name, in any case. Addresses are hexadecimal, with or without 0x.\n" +
		"Several lines given with \\-c share one session and are all run; the exit code is that of the first that failed.\n" +
		".SH OPTIONS\n")
	manOptions(&b, a.global.options)
	b.WriteString(".SH COMMANDS\n")
	for _, g := range Groups() {
		if commands := a.visible(g); len(commands) > 0 {
			fmt.Fprintf(&b, ".SS %s\n", roff(string(g)))
			for _, c := range commands {
				manCommand(&b, c)
			}
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, ".TP\n%d\n%s\n", e.code, roff(e.text))
	}
	b.WriteString(".SH ENVIRONMENT\n.TP\nSOSGO_DUMP\nThe dump, where no option names it.\n" +
		".TP\nSOSGO_SOS\nSet to 1: as \\-sos.\n.TP\nSOSGO_PAGER, PAGER\nThe pager for long output on a terminal; without both it is less. An empty SOSGO_PAGER is as \\-no\\-pager.\n" +
		".TP\nSOSGO_TOKEN\nA bearer token for the https address of a dump.\n.TP\nAWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL\n" +
		"The credentials and the store of a dump at s3://BUCKET/KEY.\n" +
		".TP\nSOSGO_PANIC\nSet to 1: a bug of sosgo ends the program and shows where it happened.\n.TP\nXDG_STATE_HOME\nThe prompt's history is kept in sosgo/history there.\n")
	p.Print(b.String())
}

func manCommand(b *strings.Builder, c *Command) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s.", roff(c.UsageLine()), roff(c.Summary))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, " Also: %s.", roff(strings.Join(c.Aliases, ", ")))
	}
	b.WriteByte('\n')
	if options, _ := c.Declares(); len(options) > 0 {
		b.WriteString(".RS\n")
		manOptions(b, options)
		b.WriteString(".RE\n")
	}
	if c.Help != "" {
		fmt.Fprintf(b, ".IP\n.nf\n%s\n.fi\n", roff(strings.TrimSpace(c.help())))
	}
}

func manOptions(b *strings.Builder, options []Option) {
	for i := range options {
		fmt.Fprintf(b, ".TP\n.B %s\n%s.\n", roff(options[i].synopsis()), roff(options[i].Summary))
	}
}

// roff escapes characters that roff interprets: backslashes, dashes, and dots and quotes at the start of a line.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
