package webui

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sosgo/sosgo/internal/front/report"
)

const (
	// MaxLines is the maximum number of lines of a Markdown report.
	MaxLines      = 200
	mostFindings  = 12
	mostUnread    = 8
	linesOfOutput = 45 // of one command
	longestLine   = 160
)

// ticket is what a Markdown report takes from triage and doctor.
type ticket struct {
	Findings []struct {
		Kind, Severity, Strength, Text string
		Next                           []string
	}
	Quiet   []string
	Unknown []struct{ Subject, Reason string }
}

// process is what a Markdown report takes from doctor.
type process struct {
	Command, Distribution, OS, Arch, Format, Taken string
	Size                                           int64
	Runtimes                                       []struct {
		Kind, Version string
		Chosen        bool
	}
}

// WriteMarkdown writes a report for a ticket: what is wrong, and what the commands for the first finding print. It has
// at most MaxLines lines. Texts of the process can't end a block or form a link.
func WriteMarkdown(ctx context.Context, w io.Writer, a Asker, s Subject) error {
	var t ticket
	unjudged, err := result(ctx, a, "triage", &t)
	if err != nil {
		return err
	}
	var p process
	if _, err := result(ctx, a, "doctor", &p); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", plain(s.File))
	for _, f := range p.facts() {
		fmt.Fprintf(&b, "- %s: %s\n", f[0], plain(f[1]))
	}
	b.WriteString("\n## What is wrong\n\n")
	for i, f := range t.Findings {
		if i == mostFindings {
			fmt.Fprintf(&b, "%d. %d more\n", i+1, len(t.Findings)-i)
			break
		}
		fmt.Fprintf(&b, "%d. **%s** (%s, %s): %s\n", i+1, f.Kind, f.Severity, f.Strength, plain(f.Text))
	}
	switch {
	case unjudged != "":
		fmt.Fprintf(&b, "Not known: %s\n", plain(unjudged))
	case len(t.Findings) == 0:
		b.WriteString("Nothing wrong was found in what could be looked at.\n")
	default:
		for i, line := range t.Findings[0].Next {
			if i == 2 {
				break
			}
			var out bytes.Buffer
			a.Line(ctx, line, &out)
			writeBlock(&b, line, out.String())
		}
	}
	b.WriteString("\n## What was looked at\n\n")
	if len(t.Quiet) > 0 {
		fmt.Fprintf(&b, "Checked, nothing wrong: %s.\n\n", strings.Join(t.Quiet, ", "))
	}
	var reasons []string
	subjects := map[string][]string{}
	for _, u := range t.Unknown {
		if subjects[u.Reason] == nil {
			reasons = append(reasons, u.Reason)
		}
		subjects[u.Reason] = append(subjects[u.Reason], u.Subject)
	}
	for i, reason := range reasons {
		if i == mostUnread {
			fmt.Fprintf(&b, "- %d more\n", len(reasons)-i)
			break
		}
		fmt.Fprintf(&b, "- Not all could be read: %s: %s\n", strings.Join(subjects[reason], ", "), plain(reason))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// facts returns names and values of the process, as far as they are known.
func (p *process) facts() (list [][2]string) {
	add := func(name string, parts ...string) {
		if v := strings.TrimSpace(strings.Join(parts, " ")); v != "" {
			list = append(list, [2]string{name, v})
		}
	}
	system := p.Distribution
	if system == "" {
		system = p.OS
	}
	add("process", p.Command)
	for _, r := range p.Runtimes {
		if r.Chosen {
			add("runtime", r.Kind, r.Version)
		}
	}
	add("system", system, p.Arch)
	add("taken", p.Taken)
	add("dump", p.Format, fmt.Sprint(p.Size), "bytes")
	return list
}

// result reads the result of a command's document into v. If the command has no result, it returns the reason. A
// document that is no JSON is an error.
func result(ctx context.Context, a Asker, command string, v any) (reason string, err error) {
	out := &bounded{most: maxAnswer}
	a.Ask(ctx, []string{command}, report.Window{Count: mostFindings * 10}, out)
	if err := ctx.Err(); err != nil {
		return "", err
	}
	var doc struct {
		Result json.RawMessage
		Error  struct{ Text string }
	}
	if err = json.Unmarshal(out.Bytes(), &doc); err == nil && len(doc.Result) > 0 {
		err = json.Unmarshal(doc.Result, v)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	if len(doc.Result) == 0 {
		reason = cmp.Or(doc.Error.Text, "no answer")
	}
	return reason, nil
}

// writeBlock writes the output of a command as a block of code. Its fence is longer than all runs of backticks in it.
func writeBlock(b *strings.Builder, line, output string) {
	lines := strings.Split(strings.TrimRight(report.EscapeText(output), "\n"), "\n")
	cut := len(lines) - linesOfOutput
	lines = lines[:min(len(lines), linesOfOutput)]
	fence := "```"
	for strings.Contains(output, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n### `%s`\n\n%s\n", strings.ReplaceAll(report.Escape(line), "`", "'"), fence)
	for _, l := range lines {
		if r := []rune(l); len(r) > longestLine {
			l = string(r[:longestLine]) + "…"
		}
		b.WriteString(l + "\n")
	}
	b.WriteString(fence + "\n")
	if cut > 0 {
		fmt.Fprintf(b, "\n%d more lines\n", cut)
	}
}

// marks are the texts that mean something in Markdown within a line. On sites with tickets, addresses and names behind
// @ become links without any mark. Those of names are made of the finished page, where an entity for @ is @ again: a
// space without width follows it. So does one behind the signs of another ticket, # and GH-: a backslash doesn't prevent that link.
var marks = strings.NewReplacer("\\", `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "|", `\|`, "#", `\#&#8203;`, "!", `\!`,
	"GH-", "GH-&#8203;", "gh-", "gh-&#8203;", "&", "&amp;", "~", `\~`, "@", "@&#8203;", "://", ":&#47;&#47;", "www.", "www&#46;", "WWW.", "WWW&#46;")

// plain returns a text of the process on one line, without a meaning in Markdown.
func plain(s string) string {
	return marks.Replace(report.Escape(strings.Join(strings.Fields(s), " ")))
}
