package cli

import (
	"context"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/front/report"
)

// A Desk answers command lines over the dump of an open session, for commands such as web that serve other users. It
// is read-only: its commands may not name or write files. It is safe for concurrent use.
type Desk struct {
	app *app
	// Files are the only files that its command lines may name.
	Files []string
	// Redact masks secrets in all answers, as --redact does, and rejects options that show secrets.
	Redact bool
}

// A Question is a command line for a Desk.
type Question struct {
	// Words are the command and its arguments, taken literally. If Words is empty, Line is parsed as at the prompt.
	Words []string
	Line  string
	JSON  bool           // answer with a JSON document instead of text
	Part  *report.Window // the part of lists to return in JSON; nil for all
	// Watch, if not nil, is called for each piece of work with a progress display.
	Watch func(work string, p *Progress)
}

// Desk returns a desk over the dump of c's session. The dump stays open while c's command runs.
func (c *Context) Desk(files ...string) (*Desk, error) {
	if c.app.desk != nil {
		return nil, c.Usagef("%s can't be run from here: it would ask itself", c.Command.Name)
	}
	if _, err := c.OpenDump(); err != nil {
		return nil, err
	}
	return &Desk{app: c.app, Files: files, Redact: c.redact}, nil
}

// Streams returns standard input and output unchanged, for commands that speak a protocol with another program. Such
// commands must write nothing else.
func (c *Context) Streams() (io.Reader, io.Writer) { return c.app.stdin, stream{c.app.screen} }

// A stream is an output. Its errors are WriteErrors.
type stream struct{ w io.Writer }

func (s stream) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil {
		err = &WriteError{err}
	}
	return n, err
}

// OpenDesk opens a dump with the session's options as modified by change, and returns a desk over it. Canceling ctx
// stops opening and, afterwards, downloads. The caller closes the dump. The error is an OpenError.
func (c *Context) OpenDesk(ctx context.Context, path string, change func(*OpenOptions)) (*Desk, Dump, error) {
	if err := c.Session.mayOpen(path); err != nil {
		return nil, nil, err
	}
	o := c.Session.options
	source := &lost{}
	o.Context, o.Failed = func() context.Context { return ctx }, source.set
	change(&o)
	d, err := c.Session.open(ctx, path, o)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	desk := NewDesk(*c.app.env, d, path, c.Session.runtime)
	desk.Redact = c.redact
	desk.app.session.options, desk.app.session.source = o, source
	return desk, d, nil
}

// Lost returns the error if the dump can no longer be read and must be reopened. Otherwise it returns nil.
func (d *Desk) Lost() error { return d.app.session.lost() }

// NewDesk returns a desk over the caller's open dump with the commands of env. path names the dump in answers.
// runtime selects a runtime; empty selects the first. The caller closes the dump.
func NewDesk(env Env, d Dump, path, runtime string) *Desk {
	env.Interrupt, env.IsTerminal = nil, func(any) bool { return false }
	a := newApp(strings.NewReader(""), io.Discard, io.Discard, &env)
	a.session.path, a.session.opened, a.session.dump, a.session.runtime, a.session.lent = path, true, d, runtime, true
	return &Desk{app: a}
}

// Answer runs a command line in a new session and returns its exit code. Canceling ctx stops the command.
func (d *Desk) Answer(ctx context.Context, q Question, stdout, stderr io.Writer) int {
	return d.Seat().Answer(ctx, q, stdout, stderr)
}

// A Seat is a session at a desk: it remembers the current thread and the last address. It answers one question at a
// time.
type Seat struct {
	desk    *Desk
	mu      sync.Mutex
	session *Session

	completing sync.Mutex
	completer  *app // for Complete; caches names
}

// Seat returns a new seat.
func (d *Desk) Seat() *Seat {
	from := d.app.session
	return &Seat{desk: d, session: &Session{open: from.open, choose: from.choose, sandbox: from.sandbox, options: from.options,
		path: from.path, opened: true, dump: from.dump, err: from.err, runtime: from.runtime, source: from.source, lent: true}}
}

// Answer runs a command line, as Desk.Answer does.
func (s *Seat) Answer(ctx context.Context, q Question, stdout, stderr io.Writer) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	env := *s.desk.app.env
	env.Interrupt, env.IsTerminal = nil, func(any) bool { return false }
	a := newApp(strings.NewReader(""), stdout, stderr, &env)
	a.session, a.desk, a.inSession, a.part, a.watch = s.session, s.desk, true, q.Part, q.Watch
	a.globals.lineGlobals, a.globals.Sandbox = s.desk.app.globals.lineGlobals, s.desk.app.globals.Sandbox
	a.globals.JSON = q.JSON
	a.globals.Redact = a.globals.Redact || s.desk.Redact
	err := a.protect(func() error {
		if len(q.Words) > 0 {
			return a.run(ctx, literalWords(q.Words), a.stdout)
		}
		return a.runLine(ctx, q.Line)
	})
	return ExitCode(err)
}

// IsCommand reports whether a line begins with a command or another debugger's name for one. A name that an expression may
// begin with, too, is a command only if sosgo has it.
func (d *Desk) IsCommand(line string) bool {
	_, line = cutThread(strings.TrimSpace(line))
	if isBlock(line) {
		return true
	}
	words, err := lex(line)
	if err != nil || len(words) == 0 {
		return false
	}
	name := d.app.table.fromDebugger(words)[0].text
	if _, err = d.app.table.find(name); err == nil {
		return true
	}
	typed := words[0].text
	return len(typed) > 1 && (typed[0] == '!' || typed[0] == '.') && isNotThere(strings.ToLower(strings.TrimPrefix(name, "!"))) != nil
}

// Complete returns completions of the end of a line, and the number of characters that they replace. Where secrets are masked, names with
// secrets are left out.
func (s *Seat) Complete(before string) (found []string, length int) {
	s.completing.Lock()
	defer s.completing.Unlock()
	if s.completer == nil {
		env := *s.desk.app.env
		s.completer = newApp(strings.NewReader(""), io.Discard, io.Discard, &env)
		s.completer.session = s.desk.Seat().session // Answer may be using s.session
	}
	found, length = completer{a: s.completer}.Do(before)
	if !s.desk.Redact && !s.desk.app.globals.Redact {
		return found, length
	}
	c := s.completer.newContext(context.Background(), &Command{}, newParser(&Command{}, nil), &sink{w: io.Discard})
	c.redact = true
	if c.learnSecrets() != nil {
		return nil, length
	}
	return slices.DeleteFunc(found, func(text string) bool { return c.masked(text) != text }), length
}

// errReadOnly is the error of a desk's command that would write a file.
var errReadOnly = &UsageError{Text: "from here no file is written", Hint: "run the command in a shell"}

// checkDesk rejects commands that are not allowed at a desk: they name other files, ask other processes or are
// interactive. It rejects commands that ask processes in a sandbox, too.
func (a *app) checkDesk(cmd *Command, given *binding) error {
	if cmd.Live && a.globals.Sandbox {
		return &UsageError{Command: cmd.Name, Text: "with --sandbox no process can be asked"}
	}
	if a.desk == nil {
		return nil
	}
	if cmd.session != nil || cmd.Serves || cmd.Live {
		return &UsageError{Command: cmd.Name, Text: "this is for the command line"}
	}
	if a.desk.Redact && !a.line.Redact {
		return &UsageError{Command: cmd.Name, Text: "from here secrets are not shown: -redact=false", Hint: "run the command in a shell"}
	}
	var files []any
	named := func(p *param) {
		if p.Kind == File {
			files = append(files, given.values(p)...)
		}
	}
	for i := range given.options {
		named(&given.options[i].param)
	}
	for i := range given.args {
		named(&given.args[i].param)
	}
	for i := range given.options {
		if o := &given.options[i]; o.Reveals && a.desk.Redact && given.given[o.Name] {
			return &UsageError{Command: cmd.Name, Text: "from here secrets are not shown: -" + o.Name, Hint: "run the command in a shell"}
		}
	}
	for _, f := range files {
		// The options of a command may be of any type with strings. What is no string here is refused.
		if v := reflect.ValueOf(f); v.Kind() != reflect.String || v.Len() > 0 && !slices.Contains(a.desk.Files, v.String()) {
			return &UsageError{Command: cmd.Name, Text: "from here no file can be named", Hint: "run the command in a shell"}
		}
	}
	return nil
}
