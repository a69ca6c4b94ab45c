package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// distinctWarnings is how many different warnings one command keeps; the rest is only counted.
const distinctWarnings = 100

// A Context is one run of a command: its options, its output, its session. It is for one goroutine, except Progress.
type Context struct {
	Command *Command
	Session *Session
	// SOS asks for SOS's exact form, without what sosgo adds. The form is the
	// renderer's; a command looks at it only where SOS's question is another one.
	SOS bool
	// Jobs is the number of workers that the command may use, at least 1.
	Jobs int

	app  *app
	ctx  context.Context
	own  *binding // the command's struct
	dump Dump
	buf  *bufio.Writer
	// out is buf; in JSON mode lines of text become items of the result "text".
	// Its errors can be ignored: a command whose output nobody reads is canceled.
	out    io.Writer
	json   *report.JSONEncoder
	text   *jsonText
	stderr *stderrWriter

	terminal bool
	redact   bool
	masking  *secrets.Writer
	mask     func(string) string // nil while the secrets of the dump are not known

	broken   breakable
	progress []*Progress
	atEnd    []func()

	warnings []report.Problem
	warned   int
	kinds    []kindCount // of all warnings, in the order in which they came first
}

// Context is canceled when the user stops the command or nobody reads its output any more. Loops over many items look at it now and then.
func (c *Context) Context() context.Context { return c.ctx }

// Dump returns the open dump; nil unless the command NeedsDump.
func (c *Context) Dump() Dump { return c.dump }

// OpenDump opens the dump for commands that don't always need it.
func (c *Context) OpenDump() (Dump, error) {
	if c.dump != nil {
		return c.dump, nil
	}
	p := c.Progress("opening")
	defer p.Done()
	d, err := c.Session.Open(c.ctx, p.Set)
	if err == nil {
		c.dump = d
		if t, ok := d.(interface{ Truncated() error }); ok && t.Truncated() != nil {
			c.Warn(t.Truncated())
		}
	}
	return c.dump, err
}

// OpenAnother opens another dump than the session's, as that was opened. It is closed when the answer is written.
func (c *Context) OpenAnother(path string) (Dump, error) {
	p := c.Progress("opening " + path)
	defer p.Done()
	var d Dump
	var err error
	c.wholly(func() { d, err = c.Session.OpenAnother(c.ctx, path, p.Set) }) // it may be unpacked to a file
	if err != nil {
		return nil, err
	}
	c.AtEnd(func() {
		if err := d.Close(); err != nil {
			c.Warn(err)
		}
	})
	if t, ok := d.(interface{ Truncated() error }); ok && t.Truncated() != nil {
		c.Warn(fmt.Errorf("%s: %w", path, t.Truncated()))
	}
	return d, nil
}

// Usagef returns an error that says how the command line is wrong.
func (c *Context) Usagef(format string, args ...any) error {
	p := parser{command: c.Command}
	return p.usagef(format, args...)
}

// WantsJSON reports whether the result is wanted as JSON. It is only for commands
// that can be asked for a form of their own, which is then one form too many.
func (c *Context) WantsJSON() bool { return c.json != nil }

// Terminal reports whether the text goes to a terminal, not through a filter or to a file, where only ASCII is certain
// to be shown. It is for the choice of a form that the user did not choose.
func (c *Context) Terminal() bool { return c.terminal }

// Commands returns the commands that a Desk answers and that are listed, by name.
func (c *Context) Commands() []*Command {
	var out []*Command
	for _, cmd := range c.app.table.list() {
		if !cmd.Hidden && !cmd.Serves && cmd.session == nil && cmd.Group != GroupShell {
			out = append(out, cmd)
		}
	}
	return out
}

// Version returns the version of this program.
func (c *Context) Version() string { return version().Version }

// Page returns a page that writes text to w, such as a file, in the form that the user wants.
func (c *Context) Page(w io.Writer) *report.Page { return report.NewPage(w, c.SOS, c.Warn) }

// Warn records that a part of the answer is missing or doubtful. The command
// goes on; one line on stderr sums up at its end, and JSON lists the warnings.
func (c *Context) Warn(err error) {
	text, kind, advice := err.Error(), kindWord(err), ""
	c.count(kind)
	if inModuleFile(err) {
		advice = moduleAdvice
	}
	i := slices.IndexFunc(c.warnings, func(p report.Problem) bool { return p.Text == text })
	switch {
	case i >= 0:
		c.warnings[i].Count = max(c.warnings[i].Count, 1) + 1
	case len(c.warnings) < distinctWarnings:
		c.warnings = append(c.warnings, report.Problem{Text: text, Kind: kind, Advice: advice})
	}
}

// count counts a warning of a kind.
func (c *Context) count(kind string) {
	c.warned++
	i := slices.IndexFunc(c.kinds, func(k kindCount) bool { return k.kind == kind })
	if i < 0 {
		i, c.kinds = len(c.kinds), append(c.kinds, kindCount{kind: kind})
	}
	c.kinds[i].n++
}

// A kindCount is how many warnings of a kind there are.
type kindCount struct {
	kind string
	n    int
}

// Note prints a line on stderr at once, for what the user has to know while the command runs.
func (c *Context) Note(line string) { c.stderr.print("sosgo: " + report.Escape(line) + "\n") }

// Warned returns how often the command has warned so far.
func (c *Context) Warned() int { return c.warned }

// AtEnd registers f to be called when the answer is written. f may call Warn about what only the whole answer shows.
func (c *Context) AtEnd(f func()) { c.atEnd = append(c.atEnd, f) }

// warningLine sums the warnings up, with advice if that is wanted; it is empty when there are none. It does not repeat failure, the error that is
// printed below it.
func (c *Context) warningLine(advice bool, failure error) string {
	said, saidKind := 0, ""
	for i := range c.warnings {
		if w := &c.warnings[i]; failure != nil && w.Text == failure.Error() {
			said, saidKind = max(w.Count, 1), w.Kind
		}
	}
	if c.warned == said {
		return ""
	}
	var kinds []string
	for _, k := range c.kinds {
		if k.kind == saidKind {
			k.n -= said
		}
		if k.n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", k.n, k.kind))
		}
	}
	if said > 0 {
		return fmt.Sprintf("warning: other parts of the answer are missing, too (%s)", strings.Join(kinds, ", "))
	}
	first := report.Escape(c.warnings[0].Text)
	for _, w := range c.warnings {
		if advice && w.Advice != "" {
			first += "\n  " + w.Advice
			break
		}
	}
	if c.warned == 1 {
		return fmt.Sprintf("warning: %s", first)
	}
	return fmt.Sprintf("warning: the answer is incomplete: %d parts are missing (%s); the first: %s", c.warned, strings.Join(kinds, ", "), first)
}

// Addresses returns the addresses that were given as arguments and options.
func (c *Context) Addresses() (out []target.Addr) {
	options, args := c.Command.Declares()
	for i := range args {
		out = append(out, addresses(c.own.values(&args[i].param))...)
	}
	for i := range options {
		out = append(out, addresses(c.own.values(&options[i].param))...)
	}
	return out
}

// ChangeAddresses replaces each address that was given as an argument or option by what to returns for it.
func (c *Context) ChangeAddresses(to func(target.Addr) target.Addr) {
	options, args := c.Command.Declares()
	for i := range args {
		c.own.change(&args[i].param, to)
	}
	for i := range options {
		c.own.change(&options[i].param, to)
	}
}

// FindObjects replaces each expression, register or name that stands for an address by what find returns.
func (c *Context) FindObjects(find func(text string, arg *Arg) (Object, error)) error {
	for i := range c.own.args {
		arg := &c.own.args[i]
		text := c.own.words[arg.Name]
		if text == "" {
			continue
		}
		o, err := find(text, arg)
		if err != nil {
			return err
		}
		if c.own.find(arg, o); o.Type == "" {
			c.Session.SetLast(o.Addr)
		}
	}
	return nil
}

// jsonText turns lines of text into items of the JSON result "text".
type jsonText struct {
	enc  *report.JSONEncoder
	part []byte
}

func (t *jsonText) Write(p []byte) (int, error) {
	rest := p
	for {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		t.part = append(t.part, line...)
		if !found {
			return len(p), nil
		}
		if err := t.flush(); err != nil {
			return 0, err
		}
		rest = after
	}
}

func (t *jsonText) flush() error {
	err := t.enc.Item("text", string(t.part))
	t.part = t.part[:0]
	return err
}

// close writes a last line that has no end.
func (t *jsonText) close() error {
	if len(t.part) == 0 {
		return nil
	}
	return t.flush()
}

// errorLine is err as it stands on stderr: nothing if the answer states it.
func errorLine(command string, err error) string {
	if errors.As(err, new(*statedError)) {
		return ""
	}
	var b strings.Builder
	b.WriteString("sosgo: ")
	if command != "" {
		b.WriteString(command + ": ")
	}
	b.WriteString(report.Escape(err.Error()) + "\n")
	if a := Advice(err); a != "" && !errors.Is(err, errInterrupted) {
		b.WriteString("  " + report.Escape(a) + "\n")
	}
	return b.String()
}

// A command that computes for seconds has gigabytes of memory when the user wants no more of it. To give them back
// piece by piece, once each goroutine has looked at its context, takes longer than to end the process, where that has
// nothing else to do: then the system takes all of it at once.

// A breakable reports whether the command may be broken off now.
type breakable struct {
	// whole is held by the command but while it asks, shared by what must be done as a whole while it does, and in the
	// end by who breaks it off.
	whole sync.RWMutex
	may   bool // the process has nothing else to do
}

// asking lets the command be broken off until end is called. Where it was broken off end does not return.
func (c *Context) asking() (end func()) {
	if !c.broken.may {
		return func() {}
	}
	c.broken.whole.Unlock()
	return c.broken.whole.Lock
}

// wholly calls do, during which the command is not broken off. It is for what the command does while it asks, in any goroutine.
func (c *Context) wholly(do func()) {
	if c.broken.may {
		c.broken.whole.RLock()
		defer c.broken.whole.RUnlock()
	}
	do()
}

// breakOff ends the process, if the command may be broken off now, and else does nothing. Nothing of the answer is
// written yet, so that all there is to say is that it was interrupted.
func (c *Context) breakOff() {
	if !c.broken.may || !c.broken.whole.TryLock() {
		return
	}
	c.stderr.mu.Lock() // for good: a progress display draws no more
	text := errorLine(c.Command.Name, errInterrupted)
	if c.stderr.terminal {
		text = clearLine + text
	}
	// There is nowhere left to report an error of stderr.
	_, _ = io.WriteString(c.stderr.w, text)
	c.app.env.Leave(ExitCode(errInterrupted))
}

// mayBreak reports whether the command may be interrupted anywhere: it writes no file and triggers no
// download or cache, it is the only command, and it has no document to complete.
func (c *Context) mayBreak() {
	o := &c.Session.options
	alone := c.app.env.Leave != nil && !c.app.env.KeepOpen && !c.app.inSession && c.app.desk == nil
	c.broken.may = alone && c.Command.OnlyAsks && c.json == nil && o.GraphDir == "" && len(o.SymbolServers) == 0
	if c.broken.may {
		c.broken.whole.Lock()
	}
}
