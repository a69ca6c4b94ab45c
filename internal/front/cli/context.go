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

	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/base/shownurl"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// distinctWarnings is the maximum number of different warnings that one command keeps. It only counts the others.
const distinctWarnings = 100

// A Context is one run of a command: its options, output and session. Except for Progress it must be used by one
// goroutine.
type Context struct {
	Command *Command
	Session *Session
	// SOS selects the exact form of SOS, without sosgo's additions. The renderer applies it. A command reads it only
	// if SOS answers a different question.
	SOS bool
	// Jobs is the maximum number of workers for the command, at least 1.
	Jobs int

	app  *app
	ctx  context.Context
	own  *binding // the command's struct
	dump Dump
	buf  *bufio.Writer
	// out is buf; in JSON mode lines of text become items of the result "text". Its errors can be ignored, since a
	// command without a reader is canceled.
	out    io.Writer
	json   *report.JSONEncoder
	text   *jsonText
	stderr *stderrWriter

	terminal bool
	screen   report.Screen
	redact   bool
	masking  *secrets.Writer
	mask     func(string) string                   // nil until learnSecrets has read the secrets of the dump
	show     func(line string, cells []int) string // as mask, for the answer; see shown
	echo     func(string) string                   // as mask, for warnings and errors; see echoed
	typed    []string                              // the words of the command's line
	said     *secrets.Said                         // what Echo declares, and results of expressions

	broken   breakable
	progress []*Progress
	atEnd    []func()

	warnings []report.Problem
	warned   int
	moving   bool        // a collection in progress is among the warnings
	limit    error       // the first warning that is --max-memory's
	kinds    []kindCount // of all warnings, in order of first occurrence
}

// Context returns the command's context. It is canceled when the user stops the command or the output's reader is
// gone. Long loops must check it.
func (c *Context) Context() context.Context { return c.ctx }

// Dump returns the open dump. It is nil unless the command sets NeedsDump.
func (c *Context) Dump() Dump { return c.dump }

// OpenDump opens the dump for commands that need it only in some cases.
func (c *Context) OpenDump() (Dump, error) {
	if c.dump != nil {
		return c.dump, nil
	}
	p := c.Progress("opening")
	defer p.Done()
	d, err := c.Session.Open(c.ctx, p.Set)
	if err == nil {
		c.dump = d
		if m, ok := d.(interface {
			WithMaxMemory(context.Context) context.Context
		}); ok {
			c.ctx = m.WithMaxMemory(c.ctx)
		}
		if t, ok := d.(interface{ Truncated() error }); ok && t.Truncated() != nil {
			c.Warn(t.Truncated())
		}
		if limit := limitOf(d); limit != nil {
			c.Warn(limit)
		}
	}
	return c.dump, err
}

// OpenAnother opens another dump with the session's options. The dump is closed after the answer is written. Its module
// files are looked for in the folders, too.
func (c *Context) OpenAnother(path string, folders ...string) (Dump, error) {
	p := c.Progress("opening " + path)
	defer p.Done()
	var d Dump
	var err error
	c.wholly(func() { d, err = c.Session.OpenAnother(c.ctx, path, p.Set, folders...) }) // it may be unpacked to a file
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
	if limit := limitOf(d); limit != nil {
		c.Warn(fmt.Errorf("%s: %w", path, limit))
	}
	return d, nil
}

// Usagef returns a usage error of the command.
func (c *Context) Usagef(format string, args ...any) error {
	p := parser{command: c.Command}
	return p.usagef(format, args...)
}

// WantsJSON reports whether the result is written as JSON. It is only for commands with an option for a form of their
// own, which JSON excludes.
func (c *Context) WantsJSON() bool { return c.json != nil }

// Terminal reports whether the text goes to a terminal. Filters and files may not show anything but ASCII. Use it to
// choose a default form.
func (c *Context) Terminal() bool { return c.terminal }

// Commands returns the listed commands that a Desk can run, by name.
func (c *Context) Commands() []*Command {
	var out []*Command
	for _, cmd := range c.app.table.list() {
		if !cmd.Hidden && !cmd.Serves && !cmd.Live && cmd.session == nil && cmd.Group != GroupShell {
			out = append(out, cmd)
		}
	}
	return out
}

// Version returns the version of this program.
func (c *Context) Version() string { return version().Version }

// Page returns a page that writes text to w, such as a file, in the user's form.
func (c *Context) Page(w io.Writer) *report.Page { return report.NewPage(w, c.SOS, c.Warn) }

// Warn records that a part of the answer is missing or doubtful. The command continues. One line on stderr counts the
// warnings at the end, and JSON lists them.
//
// A collection in progress is one warning: it leaves traces all over the heap, and damage of the heap looks the same.
func (c *Context) Warn(err error) {
	moving := errors.Is(err, target.ErrInCollection)
	if c.moving && (moving || errors.As(err, new(*target.HeapError))) {
		return
	}
	if moving {
		c.moving, err = true, target.ErrInCollection
	}
	if c.limit == nil && errors.As(err, new(*offheap.LimitError)) {
		c.limit = err
	}
	text, kind, advice := shownurl.In(err.Error()), warningKind(err), ""
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

// blameHost makes all warnings faults of the host: the dump's file was lost while the command read it, and what is missing may be
// there.
func (c *Context) blameHost() {
	if c.warned == 0 {
		return
	}
	for i := range c.warnings {
		c.warnings[i].Kind, c.warnings[i].Advice = kindHost, ""
	}
	c.kinds = []kindCount{{kindHost, c.warned}}
}

// forgetWarnings drops all warnings. They are about an answer that is not shown.
func (c *Context) forgetWarnings() { c.warned, c.warnings, c.kinds = 0, nil, nil }

// count counts a warning of a kind.
func (c *Context) count(kind string) {
	c.warned++
	i := slices.IndexFunc(c.kinds, func(k kindCount) bool { return k.kind == kind })
	if i < 0 {
		i, c.kinds = len(c.kinds), append(c.kinds, kindCount{kind: kind})
	}
	c.kinds[i].n++
}

// A kindCount counts the warnings of a kind.
type kindCount struct {
	kind string
	n    int
}

// Note prints a line on stderr at once, for information that the user needs while the command runs.
func (c *Context) Note(line string) { c.stderr.print("sosgo: " + report.Escape(line) + "\n") }

// Warned returns the number of warnings so far.
func (c *Context) Warned() int { return c.warned }

// AtEnd registers f to be called after the answer is written. f may call Warn.
func (c *Context) AtEnd(f func()) { c.atEnd = append(c.atEnd, f) }

// warningLine returns a line that counts the warnings, with advice if requested. It is empty if there are no
// warnings. It leaves out failure, which is printed below it.
func (c *Context) warningLine(advice bool, failure error) string {
	said, saidKind := 0, ""
	for i := range c.warnings {
		if w := &c.warnings[i]; failure != nil && w.Text == shownurl.In(failure.Error()) {
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
		line := fmt.Sprintf("warning: other parts of the answer are missing, too (%s)", strings.Join(kinds, ", "))
		if slices.ContainsFunc(c.warnings, func(w report.Problem) bool { return w.Advice == moduleAdvice && w.Text != failure.Error() }) {
			line += "; --modules DIR adds those that are in module files"
		}
		return line
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

// Addresses returns the addresses given as arguments and options.
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

// ChangeAddresses replaces each address given as an argument or option with the result of to.
func (c *Context) ChangeAddresses(to func(target.Addr) target.Addr) {
	options, args := c.Command.Declares()
	for i := range args {
		c.own.change(&args[i].param, to)
	}
	for i := range options {
		c.own.change(&options[i].param, to)
	}
}

// FindObjects replaces each expression, register or name given for an address with the result of find.
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

// close writes an unterminated last line.
func (t *jsonText) close() error {
	if len(t.part) == 0 {
		return nil
	}
	return t.flush()
}

// errorLine formats err for stderr. It is empty if the answer already states err.
func errorLine(command string, err error) string {
	if errors.As(err, new(*statedError)) {
		return ""
	}
	var b strings.Builder
	b.WriteString("sosgo: ")
	if command != "" {
		b.WriteString(command + ": ")
	}
	b.WriteString(report.Escape(shownurl.In(err.Error())) + "\n")
	if a := Advice(err); a != "" && !errors.Is(err, errInterrupted) {
		b.WriteString("  " + report.Escape(a) + "\n")
	}
	return b.String()
}

// A canceled command may take seconds to stop and free gigabytes of memory, because each goroutine must check its
// context. If the process has no other work, ending the process is faster.

// A breakable guards the points at which a command may be aborted.
type breakable struct {
	// whole is locked by the command except while it asks. During that time wholly shares it, and breakOff locks it
	// for good.
	whole sync.RWMutex
	may   bool // the process has no other work
}

// asking lets the command be aborted until end is called. If the command was aborted, end does not return.
func (c *Context) asking() (end func()) {
	if !c.broken.may {
		return func() {}
	}
	c.broken.whole.Unlock()
	return c.broken.whole.Lock
}

// wholly calls do without the command being aborted meanwhile. It is for steps that a command must finish while it
// asks, in any goroutine.
func (c *Context) wholly(do func()) {
	if c.broken.may {
		c.broken.whole.RLock()
		defer c.broken.whole.RUnlock()
	}
	do()
}

// breakOff ends the process if the command may be aborted now; otherwise it does nothing. Nothing of the answer has
// been written, so breakOff only prints that the command was interrupted.
func (c *Context) breakOff() {
	if !c.broken.may || !c.broken.whole.TryLock() {
		return
	}
	c.stderr.mu.Lock() // never unlocked: progress displays stop drawing
	text := errorLine(c.Command.Name, errInterrupted)
	if c.stderr.terminal {
		text = clearLine + text
	}
	// An error of stderr cannot be reported.
	_, _ = io.WriteString(c.stderr.w, text)
	c.app.env.Leave(ExitCode(errInterrupted))
}

// mayBreak allows the command to be aborted if it is the only one, writes no file or JSON document, and triggers no
// download or cache.
func (c *Context) mayBreak() {
	o := &c.Session.options
	alone := c.app.env.Leave != nil && !c.app.env.KeepOpen && !c.app.inSession && c.app.desk == nil
	c.broken.may = alone && c.Command.OnlyAsks && c.json == nil && o.GraphDir == "" && len(o.SymbolServers) == 0
	if c.broken.may {
		c.broken.whole.Lock()
	}
}
