package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/base/shownurl"
	"github.com/sosgo/sosgo/internal/front/report"
)

// The sizes of a command's output buffer in bytes. A desk collects its answers, most of them small, in memory.
const (
	outputBuffer = 64 << 10
	deskBuffer   = 4 << 10
)

// An Env is the environment that a process gives to Main besides arguments and streams. The zero value has only the
// built-in commands.
type Env struct {
	Commands []Command
	Open     Opener
	// Names returns the names of the runtime that the session looks at, for completion. The session caches them. If
	// nil, no names are completed.
	Names func(d Dump, runtime string) Names
	// Threads returns the OS ids of the threads in the order of their indices. It may be nil.
	Threads func(d Dump, runtime string) ([]uint32, error)
	// Greeting returns the lines that the prompt prints first for a dump and a runtime. It may be nil.
	Greeting func(d Dump, runtime string) []string
	// Stat describes the file that a plain argument may name. If nil, it is os.Stat.
	Stat func(name string) (fs.FileInfo, error)
	// LookupEnv is os.LookupEnv. If nil, no variables are set.
	LookupEnv func(string) (string, bool)
	// Dir is the folder to search for a dump. If empty, it is the current folder.
	Dir string
	// Interrupt receives the user's requests to stop the running command.
	Interrupt <-chan os.Signal
	// Leave ends the process at once with an exit code. It aborts commands that only ask when the user interrupts
	// them. If nil, they are canceled and awaited like other commands.
	Leave func(code int)
	// Mask returns what masks the secrets of a dump in texts, for a runtime. If nil, only known forms of
	// secrets are masked.
	Mask func(c *Context, d Dump, runtime string) (*secrets.Masker, error)
	// Sandbox gives up the rights of the process that an open dump does not need.
	Sandbox func(ctx context.Context, d Dump) error
	// Limits are the ceilings that --limit accepts.
	Limits []Limit
	// Recover turns a panic into an error of its command. Tests leave it off.
	Recover bool
	// KeepOpen leaves the dump open at the end, for further questions by its owner.
	KeepOpen bool
	// IsTerminal reports whether a stream is a terminal. If nil, the system is asked.
	IsTerminal func(stream any) bool
}

func (e *Env) lookupEnv(name string) (string, bool) {
	if e.LookupEnv == nil {
		return "", false
	}
	return e.LookupEnv(name)
}

func (e *Env) stat(name string) (fs.FileInfo, error) {
	if e.Stat == nil {
		return os.Stat(name)
	}
	return e.Stat(name)
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

// globals are the options accepted before the command, and after it unless the command has an option of the same
// name.
type globals struct {
	Dump string `opt:"dump,d,z,core" kind:"file" help:"the dump: a file, - for standard input, or an address (https://…, s3://BUCKET/KEY); else SOSGO_DUMP, or the only dump in the current folder"`
	OpenOptions
	Limit   []string `opt:"limit" value:"NAME=SIZE" help:"raise or lower a ceiling; an unknown name lists them"`
	Runtime string   `opt:"runtime" value:"N|VERSION" help:"which runtime of the process to look at"`
	lineGlobals
	Color   string   `opt:"color" choices:"auto|always|never" default:"auto" help:"colors for severities and missing values: on a terminal without NO_COLOR, always or never"`
	NoPager bool     `opt:"no-pager" help:"print long output without a pager (also SOSGO_PAGER=; else that names one, or PAGER, or it is less)"`
	Version bool     `opt:"version" help:"print the version of sosgo"`
	Lines   []string `opt:"c,command" value:"COMMAND" help:"run this command line; may repeat, all share the session"`
}

// lineGlobals are the global options that a line of a session accepts.
type lineGlobals struct {
	SOS     bool `opt:"sos" help:"print exactly what SOS prints, nothing added (also SOSGO_SOS=1)"`
	JSON    bool `opt:"json" help:"print one JSON document a command"`
	Workers int  `opt:"jobs" range:"0:1024" help:"worker threads; default: one a processor"`
	Redact  bool `opt:"redact" help:"mask secrets in all answers, such as passwords, tokens and keys; dumps, packs and modules that are written keep theirs (docs/secrets.md)"`
}

// An app is the state of one process of sosgo.
type app struct {
	env      *Env
	table    *table
	builtins []Command
	session  *Session
	stdin    io.Reader
	stdout   io.Writer // with the terminal's control characters escaped
	screen   io.Writer // the unescaped output, for drawing the prompt
	pager    *pager    // wraps screen; nil if stdout is not a terminal
	stderr   *stderrWriter
	globals  globals
	line     *lineGlobals // of the running command
	global   *binding     // of globals

	desk *Desk          // the desk that runs the command; nil for the user's own commands
	part *report.Window // the part of lists to return; nil for all
	// watch, if not nil, is called with each progress display that starts.
	watch func(work string, p *Progress)

	inSession bool     // running lines of -c, of a script or of the prompt
	completed struct { // names cached for completion
		dump    Dump
		runtime string
		names   Names
	}
	printed tailBuffer // by lines of the session
	typed   []string   // at the prompt
	log     sessionLog
}

// Main runs sosgo with the arguments after the program's name and returns the exit code. It prints results to stdout
// and everything else to stderr.
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
		a.stdout = &terminalWriter{w: a.pager, color: a.colors}
	}
	a.stderr = &stderrWriter{w: stderr, terminal: env.isTerminal(stderr)}
	if a.stderr.terminal {
		a.stderr.columns = func() int {
			width, _ := a.screenSize()
			return width
		}
	}
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
	if a.globals.Color == "always" && a.pager == nil {
		a.stdout = &terminalWriter{w: a.screen, color: a.colors}
	}
	switch isFile, missing := a.isDumpFile(words); {
	case missing != nil:
		return a.fail("", missing)
	case isFile:
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

// isDumpFile reports whether the first word is a file, as in "sosgo core.1234". A command of that name takes
// precedence. The error is about a name that can only be a file's and that does not exist.
func (a *app) isDumpFile(words []word) (isFile bool, missing error) {
	if len(words) == 0 {
		return false, nil
	}
	name := words[0].text
	if _, err := a.table.find(a.table.fromDebugger(words[:1])[0].text); err == nil {
		return false, nil
	}
	st, err := a.env.stat(name)
	switch {
	case err == nil && !st.IsDir() || IsAddress(name):
		return true, nil
	case err != nil && a.globals.Dump == "" && isFileName(name) && isNotThere(strings.ToLower(strings.TrimPrefix(name, "!"))) == nil:
		return false, &OpenError{Path: name, Err: cause(err)}
	}
	return false, nil
}

// isFileName reports whether text must be the name of a file: it has a folder or an extension, and is no command of
// WinDbg, which begin with a full stop.
func isFileName(text string) bool {
	if strings.ContainsAny(text, " \t!~") {
		return false
	}
	return strings.ContainsAny(text, "/\\") || strings.LastIndexByte(text, '.') > 0
}

// isFile reports whether there is a file of a name.
func (a *app) isFile(name string) bool {
	_, err := a.env.stat(name)
	return err == nil
}

// isMissing reports whether text must be the name of a file that does not exist.
func (a *app) isMissing(text string) bool {
	if !isFileName(text) || IsAddress(text) {
		return false
	}
	_, err := a.env.stat(text)
	return errors.Is(err, fs.ErrNotExist)
}

// cause returns the reason of an error of the file system, without the file's name.
func cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// nameFile sets the dump to a file and parses the options after it.
func (a *app) nameFile(name string, rest []word, p *parser) ([]word, error) {
	if d := a.globals.Dump; d != "" && d != name {
		return nil, Usagef("two dumps are named: %s and %s", d, name)
	}
	a.globals.Dump = name
	return p.parse(rest, true)
}

// noCommand prints the overview. Unless it was requested, a missing command is a usage error.
func (a *app) noCommand(ctx context.Context, requested bool) int {
	if requested {
		return ExitCode(a.run(ctx, []word{{text: "help"}}, a.stdout))
	}
	a.stderr.print(a.overview())
	return ExitUsage
}

// start runs the command of the arguments, or the lines of -c.
func (a *app) start(ctx context.Context, words []word) int {
	if line, ok := a.asLine(words); ok {
		err, _ := a.runLines(ctx, []string{line})
		return ExitCode(err)
	}
	if len(words) > 0 {
		return ExitCode(a.run(ctx, words, a.stdout))
	}
	err, _ := a.runLines(ctx, a.globals.Lines)
	return ExitCode(err)
}

// runLines runs all lines, even after one fails, and returns the first error. It ends early at exit and on an
// interrupt.
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

// fail prints an error that occurred before a command could run.
func (a *app) fail(command string, err error) int {
	if a.globals.JSON {
		// An error of stdout cannot be reported here.
		_ = report.NewJSONEncoder(a.stdout, command).Close(nil, problem(err))
	}
	a.stderr.print(errorLine(command, err))
	return ExitCode(err)
}

// run runs one command with its output to w. It prints the error, so callers use the returned error only for the exit
// code.
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
	for _, w := range words {
		c.typed = append(c.typed, w.text)
	}
	defer a.watchInterrupt(func() {
		c.breakOff()
		cancel(errInterrupted)
	})()
	err = a.finish(c, out, a.protect(func() error { return a.execute(c) }))
	cancel(nil)
	return err
}

// parseCommand parses a command and its options. In a session, global options apply only to their line.
func (a *app) parseCommand(words []word) (*Command, *parser, error) {
	if err := expand(words, a.session); err != nil {
		return nil, nil, err
	}
	if a.inSession && len(words) > 1 && words[0].text == "sosgo" { // typed as in a shell
		words = words[1:]
	}
	typed := strings.TrimPrefix(a.table.ofExtension(words)[0].text, "!")
	words = a.table.fromDebugger(words)
	cmd, err := a.table.find(words[0].text)
	if err != nil {
		return nil, nil, asTyped(err, words[0].text, typed)
	}
	a.line = &a.globals.lineGlobals
	p := newParser(cmd, a.global)
	if a.desk == nil { // who asks at a desk must not learn which files are there
		p.isFile = a.isFile
	}
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
	if a.desk == nil {
		a.findFiles(cmd, p)
	}
	if err := p.bind(); err != nil {
		return cmd, p, err
	}
	if err := a.checkDesk(cmd, p.own); err != nil {
		return cmd, p, err
	}
	return cmd, p, a.configure(cmd, p)
}

// findFiles handles dumps and output files given as plain arguments. If the first or last argument is a dump, it
// becomes the session's dump: "sosgo crashinfo FILE", "sosgo dumpobj ADDRESS FILE". If the dump is known, the
// argument becomes the output file: "sosgo -d DUMP report FILE", "sosgo report DUMP FILE".
func (a *app) findFiles(cmd *Command, p *parser) {
	named := a.globals.Dump
	switch {
	case len(p.args) == 0:
	case named == "" && cmd.NeedsDump && !cmd.DumpArg && !a.inSession:
		_, args := cmd.Declares()
		tooMany := len(p.args) > len(args) && (len(args) == 0 || !args[len(args)-1].Many)
		for _, i := range [...]int{0, len(p.args) - 1} {
			if name := p.args[i].text; a.isDump(name) || tooMany && a.isMissing(name) {
				a.globals.Dump = name
				p.args = slices.Delete(slices.Clone(p.args), i, i+1)
				break
			}
		}
	case cmd.DumpArg:
		p.args = a.findOutput(p, named)
	}
}

// findOutput sets the command's option -o to the argument that is not a dump, if the dump is known otherwise. It
// returns the other arguments.
func (a *app) findOutput(p *parser, named string) []word {
	out := p.own.named("o")
	if out == nil || p.own.given["o"] {
		return p.args
	}
	switch known := named != "" || a.inSession; {
	case known && len(p.args) == 1 && p.args[0].text != named && !a.isDump(p.args[0].text):
		if p.own.set(&out.param, p.args[0].text) == nil {
			return nil
		}
	case len(p.args) == 2:
		for i, dump := range p.args {
			file := p.args[1-i]
			if (a.isDump(dump.text) || known && dump.text == named) && !a.isDump(file.text) && p.own.set(&out.param, file.text) == nil {
				return p.args[i : i+1]
			}
		}
		if a.isMissing(p.args[0].text) && p.own.set(&out.param, p.args[1].text) == nil {
			return p.args[:1] // which can't be opened
		}
	}
	return p.args
}

// isDump reports whether an argument must be a dump.
func (a *app) isDump(name string) bool {
	found, err := a.env.sniffFile(name)
	return err == nil && found || IsAddress(name)
}

// asLine returns the arguments as a line of a session, if they are one: a quoted command line, or a command with a
// prefix of WinDbg's.
func (a *app) asLine(words []word) (text string, ok bool) {
	if len(words) == 0 {
		return "", false
	}
	filtered := line{command: words}
	filtered.cutPrefixFilter()
	first := words[0].text
	if len(filtered.filters) > 0 || strings.HasPrefix(first, "~") || ofSystem(first) != first || isBlock(first) {
		var parts []string
		for _, w := range words {
			if len(words) > 1 && !isBlock(first) && strings.ContainsAny(w.text, " \t;|>") {
				w.text = quoted(w.text)
			}
			parts = append(parts, w.text)
		}
		return strings.Join(parts, " "), true
	}
	fields := strings.Fields(first)
	if len(words) != 1 || len(fields) < 2 || a.table.named(first) != nil {
		return "", false
	}
	_, err := a.table.find(a.table.fromDebugger(literalWords(fields))[0].text)
	return first, err == nil
}

// quoted returns text in quotes.
func quoted(text string) string {
	if strings.Contains(text, "'") {
		return `"` + text + `"`
	}
	return "'" + text + "'"
}

// configure passes the global options to the session before the dump is open.
func (a *app) configure(cmd *Command, p *parser) error {
	if err := a.nameDump(cmd, p); err != nil || a.session.opened || a.session.changed {
		return err
	}
	a.session.runtime = a.globals.Runtime
	var err error
	a.session.options, err = a.openOptions()
	return err
}

// nameDump takes the dump's file name from --dump or from the command's argument.
func (a *app) nameDump(cmd *Command, p *parser) error {
	named := a.globals.Dump
	if cmd.DumpArg {
		for _, file := range p.own.values(&p.own.args[0].param) {
			if text := file.(string); named != "" && text != named && !strings.ContainsAny(text, "./:") && !a.isFile(text) {
				return p.usagef("there is no file %s, and %s is named", text, shownurl.Path(named))
			}
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
		return p.usagef("this session looks at %s; start another sosgo for %s", shownurl.Path(a.session.path), shownurl.Path(named))
	}
	a.session.path = named
	return nil
}

func (a *app) newContext(ctx context.Context, cmd *Command, p *parser, out *sink) *Context {
	c := &Context{Command: cmd, Session: a.session, app: a, ctx: ctx, own: p.own, stderr: a.stderr}
	c.redact = a.line.Redact || cmd.Sends && !p.own.given["full"]
	size := outputBuffer
	if a.desk != nil {
		size = deskBuffer
	}
	c.buf = bufio.NewWriterSize(out, size)
	direct := out.w == a.stdout || out.w == any(&a.printed) && a.printed.w == a.stdout
	c.terminal = direct && a.env.isTerminal(a.screen)
	c.screen.Color = direct && a.colors()
	if c.terminal && !a.line.JSON {
		c.screen.Columns, _ = a.screenSize()
	}
	c.out = c.buf
	if c.redact {
		c.masking = secrets.NewCellWriter(c.shown, c.buf)
		c.out = c.masking
	}
	c.SOS = a.line.SOS || isTrue(a.env.getenv("SOSGO_SOS"))
	c.Jobs = cmp.Or(a.line.Workers, runtime.GOMAXPROCS(0))
	if a.line.JSON {
		c.json = report.NewJSONEncoder(c.out, cmd.Name)
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

// answer runs the command's question and writes the answer, unless the dump was lost meanwhile: what could not be read would look as if it were not
// in the dump, and an answer can be false without it.
func (c *Context) answer() error {
	defer c.endProgress()
	a, err := c.ask()
	if why := c.Session.lost(); why != nil {
		c.forgetWarnings()
		return why
	}
	written := c.write(&a, err != nil)
	return cmp.Or(err, written)
}

// ask runs the command's question. The command may be aborted meanwhile.
func (c *Context) ask() (report.Answer, error) {
	defer c.asking()()
	if c.Command.around == nil {
		return c.Command.Ask(c)
	}
	return c.Command.around(c, func() (report.Answer, error) { return c.Command.Ask(c) })
}

// write writes an answer in the user's form and passes its warnings on. After a failure, JSON output contains no
// text.
func (c *Context) write(a *report.Answer, failed bool) error {
	var err error
	switch {
	case c.json != nil && a.Value != nil:
		if err = report.CheckResult(a.Value, c.Command.Result); err != nil {
			return fmt.Errorf("command %s: %w", c.Command.Name, err)
		}
		err = c.json.Answer(a.Value, c.Warn)
	case a.Text != nil && (c.json == nil || !failed):
		page := report.NewPage(c.out, c.SOS, c.Warn).On(c.screen).Masking(c.shownCell())
		a.Text(page)
		err = page.Err()
	}
	return cmp.Or(err, report.Lacking(a.Value, c.Warn))
}

// finish ends the output of a command and prints its warnings and error.
func (a *app) finish(c *Context, out *sink, err error) error {
	switch cause := context.Cause(c.ctx); {
	case errors.Is(cause, errOutputClosed):
		err = nil
	case errors.Is(cause, errInterrupted):
		err = errInterrupted
		if len(a.session.options.SymbolServers) > 0 {
			a.session.forget() // an interrupted download does not mean that the file is missing
		}
	}
	for _, f := range c.atEnd {
		f()
	}
	c.fileProblems()
	if why := a.session.lost(); why != nil {
		err = &OpenError{Err: why} // takes precedence over the command's own error
		a.session.forget()
		c.blameHost()
	}
	a.session.also = nil
	if err == nil && a.session.options.MaxMemory != 0 {
		err = c.limit // a command that needs more fails, also if its answer is shown
	}
	err = asWriteError(c.asTaken(ofDump(c.dump, err)))
	if endErr := c.end(err); err == nil && out.err == nil {
		err = endErr
	}
	if e := out.outputError(); e != nil && err == nil {
		err = e
	}
	if line := c.warningLine(err == nil, err); line != "" {
		a.stderr.print(c.echoed("sosgo: " + c.Command.Name + ": " + line + "\n"))
	}
	if err != nil && err != errExit {
		a.stderr.print(c.echoed(errorLine(c.Command.Name, err)))
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
		jsonErr = c.text.close()
		if c.masking != nil { // warnings and the error follow
			jsonErr = errors.Join(jsonErr, c.json.Flush(), c.masking.Mask(c.echoed))
		}
		jsonErr = errors.Join(jsonErr, c.json.Close(c.warnings, failure))
	}
	var maskErr error
	if c.masking != nil {
		maskErr = c.masking.Close()
	}
	return errors.Join(jsonErr, maskErr, c.buf.Flush())
}

// watchInterrupt calls end when the user interrupts the command, even if the interrupt came earlier. stop ends the
// watch and waits for its goroutine, so that a later interrupt goes to the next command.
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
