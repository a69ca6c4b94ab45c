package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/front/report"
)

// outputBuffer is the size of a command's output buffer in bytes.
const outputBuffer = 64 << 10

// An Env is what a process gives to Main besides its arguments and streams. The zero value has only the built-in commands.
type Env struct {
	Commands []Command
	Open     Opener
	// Names returns the names of types and members of the runtime that the session looks at, which the session keeps. Nil has none.
	Names func(d Dump, runtime string) Names
	// Threads returns the OS ids of the threads, in the order of their indices; nil knows none.
	Threads func(d Dump, runtime string) ([]uint32, error)
	// Greeting returns the lines that the prompt begins with for a dump, whose runtime the session looks at; nil begins with none.
	Greeting func(d Dump, runtime string) []string
	// LookupEnv is os.LookupEnv; nil knows no variable.
	LookupEnv func(string) (string, bool)
	// Dir is the folder in which a dump is looked for; empty: the current one.
	Dir string
	// Interrupt delivers the user's requests to stop the running command.
	Interrupt <-chan os.Signal
	// Leave ends the process at once with an exit code. A command that only asks is broken off by it when the user
	// wants no more; with nil it is waited for, as others are.
	Leave func(code int)
	// Mask returns the function that replaces the secrets of a dump in texts, for the runtime that the session looks at. Nil knows their forms alone.
	Mask func(c *Context, d Dump, runtime string) (func(string) string, error)
	// Sandbox gives up, for the whole process, what an open dump does not need.
	Sandbox func(ctx context.Context, d Dump) error
	// Limits are the ceilings that --limit knows.
	Limits []Limit
	// Recover makes a panic the error of its command. Without it, as in tests, panics show.
	Recover bool
	// KeepOpen leaves the dump open at the end: whoever opened it has more questions.
	KeepOpen bool
	// IsTerminal reports whether a stream is a terminal; nil asks the system.
	IsTerminal func(stream any) bool
}

func (e *Env) lookupEnv(name string) (string, bool) {
	if e.LookupEnv == nil {
		return "", false
	}
	return e.LookupEnv(name)
}

func (e *Env) getenv(name string) string {
	text, _ := e.lookupEnv(name)
	return text
}

func (e *Env) dir() string {
	if e.Dir == "" {
		return "."
	}
	return e.Dir
}

func (e *Env) isTerminal(stream any) bool {
	if e.IsTerminal != nil {
		return e.IsTerminal(stream)
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// globals are the options that are accepted before the command, and after it where the command has no option of the same name.
type globals struct {
	Dump string `opt:"dump,d" kind:"file" help:"the dump: a file, - for standard input, or an address (https://…, s3://BUCKET/KEY); else SOSGO_DUMP, or the only dump in the current folder"`
	OpenOptions
	Limit   []string `opt:"limit" value:"NAME=SIZE" help:"raise or lower a ceiling; an unknown name lists them"`
	Runtime string   `opt:"runtime" value:"N|VERSION" help:"which runtime of the process to look at"`
	lineGlobals
	NoPager bool     `opt:"no-pager" help:"print long output without a pager (also SOSGO_PAGER=; else that names one, or PAGER, or it is less)"`
	Version bool     `opt:"version" help:"print the version of sosgo"`
	Lines   []string `opt:"c" value:"COMMAND" help:"run this command line; may repeat, all share the session"`
}

// lineGlobals are the global options that a line of a session may have, too.
type lineGlobals struct {
	SOS     bool `opt:"sos" help:"print exactly what SOS prints, nothing added (also SOSGO_SOS=1)"`
	JSON    bool `opt:"json" help:"print one JSON document a command"`
	Workers int  `opt:"jobs" range:"0:1024" help:"worker threads; default: one a processor"`
	Redact  bool `opt:"redact" help:"mask secrets in all that is printed and written: passwords, tokens, keys (docs/secrets.md)"`
}

// An app is one process of sosgo.
type app struct {
	env      *Env
	table    *table
	builtins []Command
	session  *Session
	stdin    io.Reader
	stdout   io.Writer // safe: what a terminal would act on is escaped
	screen   io.Writer // stdout as it is, for the prompt's own drawing
	pager    *pager    // below stdout; nil if that is no terminal
	stderr   *stderrWriter
	globals  globals
	line     *lineGlobals // of the command that runs
	global   *binding     // of globals

	desk *Desk          // whose question is answered; nil for the user's own
	part *report.Window // of lists that the question wants; nil for all
	// watch is called with each progress display that begins; nil if nobody watches.
	watch func(work string, p *Progress)

	inSession bool     // lines of -c, of a script or of the prompt are running
	completed struct { // names that were read for completion
		dump    Dump
		runtime string
		names   Names
	}
	printed tailBuffer // by lines of the session
	typed   []string   // at the prompt
}

// Main runs sosgo with the arguments that follow the program's name and
// returns the exit code. It prints results to stdout and all else to stderr.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env Env) int {
	a := newApp(stdin, stdout, stderr, &env)
	code := a.main(ctx, args)
	if env.KeepOpen {
		return code
	}
	if err := a.session.Close(); err != nil && code == ExitOK {
		a.stderr.print(errorLine("", err))
		code = ExitOpen
	}
	return code
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, env *Env) *app {
	a := &app{env: env, stdin: stdin, stdout: stdout, screen: stdout}
	a.global, a.line = bindTo(&a.globals), &a.globals.lineGlobals
	if env.isTerminal(stdout) {
		a.pager = &pager{app: a}
		a.stdout = &terminalWriter{w: a.pager}
	}
	a.stderr = &stderrWriter{w: stderr, terminal: env.isTerminal(stderr)}
	a.session = &Session{open: env.Open, choose: a.chooseDump}
	if a.session.open == nil {
		a.session.open = func(context.Context, string, OpenOptions) (Dump, error) {
			return nil, errors.New("this program can't open dumps")
		}
	}
	a.session.sandbox = func(ctx context.Context, d Dump) error {
		if env.Sandbox == nil {
			return errors.New("this program has no sandbox")
		}
		return env.Sandbox(ctx, d)
	}
	a.builtins = a.builtinCommands()
	a.table = newTable(a.builtins, env.Commands)
	return a
}

func (a *app) main(ctx context.Context, args []string) int {
	if len(args) > 0 && isCobra(args[0]) {
		return a.answerShell(args)
	}
	p := &parser{global: a.global}
	words, err := p.parse(literalWords(args), true)
	if err != nil {
		return a.fail("", err)
	}
	if a.isDumpFile(words) {
		if words, err = a.nameFile(words[0].text, words[1:], p); err != nil {
			return a.fail("", err)
		}
	}
	switch {
	case a.globals.Version && !p.help:
		words = literalWords([]string{"version"})
	case len(words) > 0 || len(a.globals.Lines) > 0:
	case !p.help && a.globals.Dump != "":
		words = literalWords([]string{"analyze"}) // the prompt, or a script on stdin
	default:
		return a.noCommand(ctx, p.help)
	}
	if p.help {
		words = append([]word{{text: "help"}}, words...)
	}
	return a.start(ctx, words)
}

// isDumpFile reports whether the first word is a file, as in "sosgo core.1234". A command of that name goes before.
func (a *app) isDumpFile(words []word) bool {
	if len(words) == 0 {
		return false
	}
	if _, err := a.table.find(a.table.fromDebugger(words[:1])[0].text); err == nil {
		return false
	}
	st, err := os.Stat(words[0].text)
	return err == nil && !st.IsDir() || IsAddress(words[0].text)
}

// nameFile makes a file the dump, and reads the options after it.
func (a *app) nameFile(name string, rest []word, p *parser) ([]word, error) {
	if d := a.globals.Dump; d != "" && d != name {
		return nil, Usagef("two dumps are named: %s and %s", d, name)
	}
	a.globals.Dump = name
	return p.parse(rest, true)
}

// noCommand prints the overview. It is an answer on request only, and a usage error otherwise.
func (a *app) noCommand(ctx context.Context, requested bool) int {
	if requested {
		return ExitCode(a.run(ctx, []word{{text: "help"}}, a.stdout))
	}
	a.stderr.print(a.overview())
	return ExitUsage
}

// start runs the command of the arguments, or else those of -c.
func (a *app) start(ctx context.Context, words []word) int {
	if a.isLine(words) {
		err, _ := a.runLines(ctx, []string{words[0].text})
		return ExitCode(err)
	}
	if len(words) > 0 {
		return ExitCode(a.run(ctx, words, a.stdout))
	}
	err, _ := a.runLines(ctx, a.globals.Lines)
	return ExitCode(err)
}

// runLines runs all lines, also after one has failed, and returns the error
// of the first that did. It ends early at exit and at an interrupt.
func (a *app) runLines(ctx context.Context, lines []string) (first error, ended bool) {
	a.inSession = true
	defer func() { a.inSession = false }()
	for _, line := range lines {
		err := a.runLine(ctx, line)
		if err == errExit {
			return first, true
		}
		if first == nil {
			first = err
		}
		if errors.Is(err, errInterrupted) {
			return first, true
		}
	}
	return first, false
}

// fail prints an error that came before any command could run.
func (a *app) fail(command string, err error) int {
	if a.globals.JSON {
		// An error of stdout here has nowhere to go.
		_ = report.NewJSONEncoder(a.stdout, command).Close(nil, problem(err))
	}
	a.stderr.print(errorLine(command, err))
	return ExitCode(err)
}

// run runs one command with its output to w. It prints the error; callers only want its exit code.
func (a *app) run(ctx context.Context, words []word, w io.Writer) error {
	cmd, p, err := a.parseCommand(words)
	if err != nil {
		name := ""
		if cmd != nil {
			name = cmd.Name
		}
		a.fail(name, err)
		return err
	}
	if p.help {
		name := cmd.Name
		cmd = a.table.named("help")
		p = newParser(cmd, p.global)
		p.args = []word{{text: name}}
		if err := p.bind(); err != nil {
			return err
		}
	}
	if cmd.session != nil {
		return cmd.session(&Context{Command: cmd, Session: a.session, ctx: ctx, own: p.own, stderr: a.stderr})
	}
	if w == a.stdout {
		defer a.pager.begin(nil)()
	}
	if cmd.Serves {
		_ = a.pager.through() // nothing is held yet
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.session.run(ctx)
	out := &sink{w: w, cancel: cancel}
	c := a.newContext(ctx, cmd, p, out)
	defer a.watchInterrupt(func() {
		c.breakOff()
		cancel(errInterrupted)
	})()
	err = a.finish(c, out, a.protect(func() error { return a.execute(c) }))
	cancel(nil)
	return err
}

// parseCommand reads a command and its options. Global options of a line of a session hold for that line only.
func (a *app) parseCommand(words []word) (*Command, *parser, error) {
	if err := expand(words, a.session); err != nil {
		return nil, nil, err
	}
	words = a.table.fromDebugger(words)
	cmd, err := a.table.find(words[0].text)
	if err != nil {
		return nil, nil, err
	}
	a.line = &a.globals.lineGlobals
	p := newParser(cmd, a.global)
	if a.inSession {
		line := a.globals.lineGlobals
		a.line, p.global = &line, bindTo(&line)
	}
	if _, err := p.parse(words[1:], false); err != nil {
		return cmd, p, err
	}
	if !a.inSession && cmd.session == nil && len(a.globals.Lines) > 0 {
		return cmd, p, p.usagef("both -c and a command are given; use one of them")
	}
	if p.help {
		return cmd, p, nil
	}
	a.findFiles(cmd, p)
	if err := p.bind(); err != nil {
		return cmd, p, err
	}
	if err := a.checkDesk(cmd, p.own); err != nil {
		return cmd, p, err
	}
	return cmd, p, a.configure(cmd, p)
}

// findFiles makes the first or last argument, if it is a dump, the dump to look at, as in "sosgo crashinfo FILE" and "sosgo dumpobj
// ADDRESS FILE", and the argument of a command that has a dump already the file to write, as in "sosgo -d DUMP report FILE" or "sosgo report DUMP FILE".
func (a *app) findFiles(cmd *Command, p *parser) {
	named := a.globals.Dump
	switch {
	case len(p.args) == 0:
	case named == "" && cmd.NeedsDump && !cmd.DumpArg && !a.inSession:
		for _, i := range [...]int{0, len(p.args) - 1} {
			if name := p.args[i].text; isDump(name) {
				a.globals.Dump = name
				p.args = slices.Delete(slices.Clone(p.args), i, i+1)
				break
			}
		}
	case cmd.DumpArg:
		p.args = a.findOutput(p, named)
	}
}

// findOutput makes the argument that is no dump the file to write, where the command has such an option and knows its dump
// otherwise. It returns the other arguments.
func (a *app) findOutput(p *parser, named string) []word {
	out := p.own.named("o")
	if out == nil || p.own.given["o"] {
		return p.args
	}
	switch known := named != "" || a.inSession; {
	case known && len(p.args) == 1 && p.args[0].text != named && !isDump(p.args[0].text):
		if p.own.set(&out.param, p.args[0].text) == nil {
			return nil
		}
	case len(p.args) == 2:
		for i, dump := range p.args {
			file := p.args[1-i]
			if (isDump(dump.text) || known && dump.text == named) && !isDump(file.text) && p.own.set(&out.param, file.text) == nil {
				return p.args[i : i+1]
			}
		}
	}
	return p.args
}

// isDump reports whether an argument can be nothing but a dump.
func isDump(name string) bool {
	found, err := sniffFile(name)
	return err == nil && found || IsAddress(name)
}

// isLine reports whether the only argument is a whole command line in quotes.
func (a *app) isLine(words []word) bool {
	if len(words) != 1 {
		return false
	}
	fields := strings.Fields(words[0].text)
	if len(fields) < 2 || a.table.named(words[0].text) != nil {
		return false
	}
	_, err := a.table.find(a.table.fromDebugger(literalWords(fields))[0].text)
	return err == nil
}

// configure hands the global options to the session before the dump is open.
func (a *app) configure(cmd *Command, p *parser) error {
	if err := a.nameDump(cmd, p); err != nil || a.session.opened || a.session.changed {
		return err
	}
	a.session.runtime = a.globals.Runtime
	var err error
	a.session.options, err = a.openOptions()
	return err
}

// nameDump takes the dump's file name from --dump or from the argument of a command that has one.
func (a *app) nameDump(cmd *Command, p *parser) error {
	named := a.globals.Dump
	if cmd.DumpArg {
		for _, file := range p.own.values(&p.own.args[0].param) {
			if named != "" && file != named {
				return p.usagef("two dumps are named: %s and %s", named, file)
			}
			named = file.(string)
		}
	}
	switch {
	case named == "":
		return nil
	case a.session.path != "" && a.session.path != named:
		return p.usagef("this session looks at %s; start another sosgo for %s", a.session.path, named)
	}
	a.session.path = named
	return nil
}

func (a *app) newContext(ctx context.Context, cmd *Command, p *parser, out *sink) *Context {
	c := &Context{Command: cmd, Session: a.session, app: a, ctx: ctx, own: p.own, stderr: a.stderr}
	var w io.Writer = out
	if c.redact = a.line.Redact || cmd.Sends && !p.own.given["full"]; c.redact {
		c.masking = secrets.NewWriter(c.masked, out)
		w = c.masking
	}
	c.buf = bufio.NewWriterSize(w, outputBuffer)
	c.terminal = a.env.isTerminal(a.screen) && (out.w == a.stdout || out.w == any(&a.printed) && a.printed.w == a.stdout)
	c.out = c.buf
	c.SOS = a.line.SOS || isTrue(a.env.getenv("SOSGO_SOS"))
	c.Jobs = cmp.Or(a.line.Workers, runtime.GOMAXPROCS(0))
	if a.line.JSON {
		c.json = report.NewJSONEncoder(c.buf, cmd.Name)
		if a.part != nil {
			c.json.SetWindow(*a.part)
		}
		c.text = &jsonText{enc: c.json}
		c.out = c.text
	}
	c.mayBreak()
	return c
}

func isTrue(s string) bool { return s != "" && s != "0" && !strings.EqualFold(s, "false") }

// execute opens the dump, if the command needs it, and runs the command.
func (a *app) execute(c *Context) error {
	for i := range c.own.args {
		for _, addr := range addresses(c.own.values(&c.own.args[i].param)) {
			c.Session.SetLast(addr)
		}
	}
	if c.Command.NeedsDump {
		if _, err := c.OpenDump(); err != nil {
			return err
		}
	}
	if err := c.learnSecrets(); err != nil {
		return err
	}
	return c.answer()
}

// answer asks the command and writes what it answers.
func (c *Context) answer() error {
	defer c.endProgress()
	a, err := c.ask()
	written := c.write(&a, err != nil)
	return cmp.Or(err, written)
}

// ask asks the command, which may be broken off meanwhile.
func (c *Context) ask() (report.Answer, error) {
	defer c.asking()()
	if c.Command.around == nil {
		return c.Command.Ask(c)
	}
	return c.Command.around(c, func() (report.Answer, error) { return c.Command.Ask(c) })
}

// write writes an answer in the form that the user wants, and passes on what it lacks. Beside a failure, JSON has no text.
func (c *Context) write(a *report.Answer, failed bool) error {
	var err error
	switch {
	case c.json != nil && a.Value != nil:
		if err = report.CheckResult(a.Value, c.Command.Result); err != nil {
			return fmt.Errorf("command %s: %w", c.Command.Name, err)
		}
		err = c.json.Answer(a.Value, c.Warn)
	case a.Text != nil && (c.json == nil || !failed):
		page := report.NewPage(c.out, c.SOS, c.Warn)
		a.Text(page)
		err = page.Err()
	}
	return cmp.Or(err, report.Lacking(a.Value, c.Warn))
}

// finish ends the output of a command and prints its warnings and its error.
func (a *app) finish(c *Context, out *sink, err error) error {
	switch cause := context.Cause(c.ctx); {
	case errors.Is(cause, errOutputClosed):
		err = nil
	case errors.Is(cause, errInterrupted):
		err = errInterrupted
		if len(a.session.options.SymbolServers) > 0 {
			a.session.forget() // a download that was stopped is no file that is missing
		}
	}
	for _, f := range c.atEnd {
		f()
	}
	c.fileProblems()
	if why := a.session.source.why(); why != nil && !errors.Is(why, context.Canceled) {
		err = &OpenError{Err: why} // whatever the command made of it
		a.session.forget()
	}
	err = ofCutDump(c.dump, err)
	if endErr := c.end(err); err == nil && out.err == nil {
		err = endErr
	}
	if e := out.outputError(); e != nil && err == nil {
		err = e
	}
	if line := c.warningLine(err == nil, err); line != "" {
		a.stderr.print(c.masked("sosgo: " + c.Command.Name + ": " + line + "\n"))
	}
	if err != nil && err != errExit {
		a.stderr.print(c.masked(errorLine(c.Command.Name, err)))
	}
	return err
}

// end completes the JSON document and flushes the output.
func (c *Context) end(err error) error {
	var jsonErr error
	if c.json != nil {
		var failure *report.Problem
		if err != nil && err != errExit {
			failure = problem(err)
		}
		jsonErr = errors.Join(c.text.close(), c.json.Close(c.warnings, failure))
	}
	err = errors.Join(jsonErr, c.buf.Flush())
	if c.masking != nil {
		err = errors.Join(err, c.masking.Close())
	}
	return err
}

// watchInterrupt calls end when the user wants no more of what runs, also if the request came before. The function that it returns ends the
// watch, and returns when nobody watches any more: a request that comes then is for what runs next.
func (a *app) watchInterrupt(end func()) (stop func()) {
	if a.env.Interrupt == nil {
		return func() {}
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-a.env.Interrupt:
			end()
		case <-ended:
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}
