package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/front/report"
)

const (
	// historyLines is the maximum number of lines in the history file.
	historyLines = 2000
	// scriptLine is the maximum length in bytes of a script line on stdin.
	scriptLine = 1 << 20
)

// promptName is the command that opens the prompt.
const promptName = "analyze"

// promptHelp explains the prompt's additions to the commands.
const promptHelp = `
The dump is opened once; then each line is a command, as after "sosgo".
Tab completes commands, options, types, their fields and methods, and
addresses that were printed; Ctrl-R searches the history. Ctrl-C stops
the command that runs, Ctrl-D or exit leaves; history and cls do what
they do in a shell.

  $_               the last address that a command was given, found, or
                   printed alone on its last line, as dumpheap -short does
  $thread          the OS id of the current thread (see setthread)
  'text' "text"    one word, taken as it stands
  CMD | grep TEXT  lines with TEXT, which may be a regular expression;
                   -i in any case, -v those without, -F not an expression
  CMD | head -n 5, tail -n 5, sort [-r] [-n] [-u], uniq, count (or wc -l)
  CMD | foreach CMD
                   a command for each word of an answer, as its last
                   argument or in place of {}: dumpheap -short | foreach do;
                   .foreach (o {CMD}) {CMD o; CMD ${o}} does it with names
  CMD | less       in pages; on a terminal long output is shown so anyway,
                   unless --no-pager or an empty SOSGO_PAGER says otherwise
  CMD > FILE       into a file; >> appends
  logopen FILE     all commands and answers into a file, until logclose

When standard input is not a terminal it is read as a script: no prompt is
printed, all lines are run, and the exit code is that of the first command
that failed. Lines that start with # are comments. -c lines run first.`

func (a *app) promptCommand() Command {
	return declares[DumpFile](Command{
		Name: promptName, Group: GroupShell, Summary: "open a dump at the interactive prompt", Help: promptHelp,
		DumpArg: true, session: a.runPrompt,
		Examples: []Example{
			{"analyze core.4711", "explore a core interactively"},
			{`analyze app.dmp -c "clrthreads" -c exit`, "run commands and leave, as with dotnet-dump"},
		},
	})
}

// runPrompt runs lines until the end of input. It prints errors as they occur. It returns the first error of -c lines
// and of scripts, for the exit code.
func (a *app) runPrompt(c *Context) error {
	if a.inSession {
		err := Usagef("this is the prompt; start another sosgo for another dump")
		a.fail(c.Command.Name, err)
		return err
	}
	if err := a.openForPrompt(c); err != nil {
		a.fail(c.Command.Name, err)
		return err
	}
	first, ended := a.runLines(c.ctx, a.globals.Lines)
	if ended {
		return first
	}
	if !a.env.isTerminal(a.stdin) {
		err := a.runScript(c.ctx)
		if first == nil {
			first = err
		}
		return first
	}
	if err := a.runInteractive(c.ctx); err != nil {
		a.stderr.print(errorLine(c.Command.Name, err))
		return err
	}
	return first
}

// greet prints the greeting for the dump on stderr, like all of the prompt's own text.
func (a *app) greet(ctx context.Context) {
	if a.env.Greeting == nil {
		return
	}
	d, err := a.session.Open(ctx, nil)
	if err != nil {
		return // already printed
	}
	err = a.protect(func() error {
		for _, line := range a.env.Greeting(d, a.session.Runtime()) {
			a.stderr.print(report.Escape(line) + "\n")
		}
		return nil
	})
	if err != nil {
		a.stderr.print(errorLine("", err))
	}
}

func (a *app) openForPrompt(c *Context) error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	defer a.watchInterrupt(func() { cancel(errInterrupted) })()
	a.session.run(ctx)
	p := c.Progress("opening")
	defer p.Done()
	err := a.protect(func() error {
		_, err := a.session.Open(ctx, p.Set)
		return err
	})
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return errInterrupted
	}
	return err
}

// runScript runs the lines of stdin.
func (a *app) runScript(ctx context.Context) error {
	a.inSession = true
	var first error
	scanner := bufio.NewScanner(a.stdin)
	scanner.Buffer(nil, scriptLine)
	for scanner.Scan() {
		err := a.runLine(ctx, scanner.Text())
		if err == errExit {
			return first
		}
		if first == nil {
			first = err
		}
		if errors.Is(err, errInterrupted) {
			return first
		}
	}
	if err := scanner.Err(); err != nil {
		err = fmt.Errorf("standard input: %w", err)
		a.fail("analyze", err)
		if first == nil {
			first = err
		}
	}
	return first
}

// A lineReader reads lines for the prompt.
type lineReader interface {
	Readline() (string, error)
	Close() error
}

func (a *app) runInteractive(ctx context.Context) error {
	rl := a.newReadline()
	a.stderr.print("sosgo: " + report.Escape(a.session.Path()) + `; "help" lists the commands, Ctrl-D leaves` + "\n")
	a.greet(ctx)
	a.interact(ctx, rl)
	return rl.Close()
}

// interact runs the user's lines. Commands print their own errors.
func (a *app) interact(ctx context.Context, rl lineReader) {
	a.inSession = true
	for {
		text, err := rl.Readline()
		if errors.Is(err, errPromptInterrupted) {
			continue
		}
		if err != nil {
			return
		}
		select { // an earlier interrupt does not apply to this command
		case <-a.env.Interrupt:
		default:
		}
		if strings.TrimSpace(text) != "" {
			a.typed = append(a.typed, text)
		}
		if a.runLine(ctx, text) == errExit {
			return
		}
	}
}

func (a *app) newReadline() lineReader {
	fd := -1
	if f, ok := a.stdin.(*os.File); ok {
		fd = int(f.Fd())
	}
	e := newLineEditor(a.stdin, a.screen, fd, readHistory(a.historyFile()))
	e.complete = completer{a: a, files: !a.session.options.Sandbox}.Do
	return e
}

// historyFile returns the path of the prompt's history: the XDG state folder, or LOCALAPPDATA on Windows. It returns
// "" if history is off.
func (a *app) historyFile() string {
	if a.session.options.Sandbox {
		return ""
	}
	dir := a.env.getenv("XDG_STATE_HOME")
	switch home := a.env.getenv("HOME"); {
	case dir != "":
	case runtime.GOOS == "windows":
		dir = a.env.getenv("LOCALAPPDATA")
	case home != "":
		dir = filepath.Join(home, ".local", "state")
	}
	if dir == "" {
		return ""
	}
	dir = filepath.Join(dir, "sosgo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ""
	}
	return filepath.Join(dir, "history")
}

// A completer completes words for the line editor.
type completer struct {
	a     *app
	files bool // also the names of files of this machine
}

// Do returns completions of the characters before the cursor, and the number of characters that they replace.
func (c completer) Do(before string) (found []string, length int) {
	// A failed completion gives no candidates; commands report the problem.
	_ = c.a.protect(func() error {
		found, length = c.do(before)
		return nil
	})
	return found, length
}

func (c completer) do(before string) (found []string, length int) {
	candidates, current := c.candidates(before)
	for _, f := range candidates {
		if report.Escape(f.text) == f.text {
			if !f.open {
				f.text += " "
			}
			found = append(found, f.text)
		}
	}
	return found, utf8.RuneCountInString(current)
}

// candidates returns completions of the incomplete word at the end of a line, and that word.
func (c completer) candidates(before string) (found []candidate, current string) {
	parts := splitCommands(before)
	last := strings.TrimLeft(parts[len(parts)-1], " \t")
	if strings.HasPrefix(last, "~") {
		if !strings.ContainsAny(last, " !") {
			return nil, last
		}
		_, last = cutThread(last)
	}
	words, current := completionWords(last)
	if isOperator(word{text: current}) { // nothing stands behind it yet
		words, current = append(words, word{text: current}), ""
	}
	if i := lastOperator(words); i >= 0 && !c.isRaw(words[0].text) {
		filter := words[i].text == "|"
		words = words[i+1:]
		switch {
		case !filter && c.files && len(words) == 0:
			return matchFiles(current), current
		case filter && len(words) == 0 && !strings.HasPrefix(current, "!"):
			return matchFilters(current), current
		case filter && len(words) > 0 && slices.Contains(loops, words[0].text):
			words = words[1:] // a command follows
		case filter && len(words) == 0 || len(words) > 0 && strings.HasPrefix(words[0].text, "!"):
		default:
			return nil, current
		}
	}
	bang := ""
	if len(words) == 0 && strings.HasPrefix(current, "!") {
		bang = "!"
	}
	if len(words) == 0 {
		found = c.a.matchCommands(strings.TrimPrefix(current, bang))
	} else {
		var files bool
		if found, files = c.a.complete(words, current, bindTo(new(lineGlobals))); files && c.files {
			found = matchFiles(current)
		}
	}
	for i := range found {
		found[i].text = bang + found[i].text
	}
	return found, current
}

// isRaw reports whether a command takes the rest of its line as it stands, and so | as a step of a query.
func (c completer) isRaw(command string) bool {
	cmd := c.a.table.named(strings.TrimPrefix(command, "!"))
	return cmd != nil && cmd.Raw
}

// lastOperator returns the index of the last operator in words, or -1.
func lastOperator(words []word) int {
	for i, w := range slices.Backward(words) {
		if isOperator(w) {
			return i
		}
	}
	return -1
}

// completionWords splits the line before the cursor into the words of the command at the cursor and the incomplete
// word.
func completionWords(text string) (words []word, current string) {
	words, err := lex(text)
	if err != nil { // inside quotes
		i := strings.LastIndexAny(text, `'"`)
		words, _ = lex(text[:i])
		current = text[i+1:]
	} else if n := len(words); n > 0 && !strings.HasSuffix(text, " ") {
		words, current = words[:n-1], words[n-1].text
	}
	if len(words) == 0 {
		return nil, current
	}
	return words, current
}
