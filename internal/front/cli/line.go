package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/front/report"
)

// A line is a parsed line of a session: a command, its output filters and its output file.
type line struct {
	command []word
	filters [][]word
	file    string // empty: the session's output
	append  bool
	threads *threadChoice // nil for the current thread
	loop    *loop         // in place of the command; nil without one
}

// parseLine splits a line into words. Single and double quotes keep a word together and literal. A backslash is an
// ordinary character, since paths contain it. | ends a command anywhere; > and >> name a file only at the start of a
// word, since type names contain >.
func parseLine(text string) (line, error) {
	var l line
	words, err := lex(text)
	if err != nil {
		return l, err
	}
	if len(words) == 2 && strings.EqualFold(words[0].text, "help") && words[1].text == "|" {
		words[1].literal = true // a question about filters
	}
	cur, piped := []word(nil), false
	store := func() error {
		switch {
		case len(cur) == 0 && (piped || l.file != ""):
			return Usagef("a command or filter is missing in %q", text)
		case piped:
			l.filters = append(l.filters, cur)
		default:
			l.command = cur
		}
		cur = nil
		return nil
	}
	for i := 0; i < len(words); i++ {
		switch op := words[i]; {
		case op.literal || op.text != "|" && op.text != ">" && op.text != ">>":
			cur = append(cur, op)
		case op.text == "|":
			if len(cur) == 0 {
				return l, Usagef("a command is missing before | in %q", text)
			}
			if err := store(); err != nil {
				return l, err
			}
			piped = true
		case i != len(words)-2 || isOperator(words[i+1]):
			return l, Usagef("%s wants one file name, at the end of the line", op.text)
		default:
			l.file, l.append = words[i+1].text, op.text == ">>"
			i++
		}
	}
	return l, store()
}

func isOperator(w word) bool {
	return !w.literal && (w.text == "|" || w.text == ">" || w.text == ">>")
}

// lex splits text into words and operators.
func lex(text string) ([]word, error) {
	var words []word
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		switch {
		case text == "":
			return words, nil
		case strings.HasPrefix(text, ">>"):
			words, text = append(words, word{text: ">>"}), text[2:]
		case text[0] == '>' || text[0] == '|':
			words, text = append(words, word{text: text[:1]}), text[1:]
		default:
			w, n, err := lexWord(text)
			if err != nil {
				return nil, err
			}
			words, text = append(words, w), text[n:]
		}
	}
}

// lexWord reads the word at the start of text and returns its length in bytes. A word that begins with a quote is
// literal.
func lexWord(text string) (w word, n int, err error) {
	var b strings.Builder
	w.literal = text[0] == '"' || text[0] == '\''
	for n < len(text) {
		c := text[n]
		switch {
		case strings.IndexByte(" \t\r\n|", c) >= 0:
			w.text = b.String()
			return w, n, nil
		case c == '"' || c == '\'':
			end := strings.IndexByte(text[n+1:], c)
			if end < 0 {
				return w, n, Usagef("a %c is not closed", c)
			}
			b.WriteString(text[n+1 : n+1+end])
			n += end + 2
		default:
			b.WriteByte(c)
			n++
		}
	}
	w.text = b.String()
	return w, n, nil
}

// runLine runs all commands of a line in order, even after one fails. It returns the first error.
func (a *app) runLine(ctx context.Context, text string) (first error) {
	text = strings.TrimSpace(text)
	if isComment(text) {
		return nil
	}
	end := a.beginLog(text)
	defer func() {
		if err := end(); first == nil {
			first = err
		}
	}()
	for _, part := range splitCommands(text) {
		err := a.runPart(ctx, strings.TrimSpace(part))
		if first == nil || err == errExit {
			first = err
		}
		if err == errExit || errors.Is(err, errInterrupted) {
			return first
		}
	}
	return first
}

// runPart runs one command of a line.
func (a *app) runPart(ctx context.Context, text string) error {
	if isComment(text) {
		return nil
	}
	l, err := a.parsePart(text)
	if err != nil {
		a.fail("", err)
		return err
	}
	return a.runParsed(ctx, l)
}

// parsePart parses one command of a line, with its thread prefix and filters.
func (a *app) parsePart(text string) (line, error) {
	threads, text := cutThread(ofSystem(text))
	l, isLoop, err := a.loopLine(text)
	if !isLoop {
		var raw bool
		if l, raw, err = a.rawLine(text); !raw {
			l, err = parseLine(text)
			err = l.asShell(text, err, func(name string) bool { return a.table.named(strings.TrimPrefix(name, "!")) != nil })
		}
	}
	if err != nil {
		return l, err
	}
	l.threads = threads
	l.cutPrefixFilter()
	if err := l.filterLoop(); err != nil {
		return l, err
	}
	for _, f := range l.filters {
		if err := expand(f, a.session); err != nil {
			return l, err
		}
	}
	return l, nil
}

// runParsed runs l's command with its filters and output file. If the command fails, the file stays unchanged.
func (a *app) runParsed(ctx context.Context, l line) error {
	if l.file == "" {
		return a.runFiltered(ctx, l, a.stdout)
	}
	if a.desk != nil {
		a.fail("", errReadOnly)
		return errReadOnly
	}
	if a.globals.Sandbox {
		a.fail("", errSandboxed)
		return errSandboxed
	}
	f, err := outfile.Create(l.file, outfile.Options{Append: l.append, Guard: a.session.guard, Perm: a.session.perm})
	if err != nil {
		err = asWriteError(err)
		a.fail("", err)
		return err
	}
	if err := a.runFiltered(ctx, l, f); err != nil && err != errExit {
		a.stderr.print("sosgo: " + report.Escape(l.file) + " is not written, because the command failed\n")
		return errors.Join(err, f.Discard())
	}
	if err := f.Commit(); err != nil {
		err = asWriteError(err)
		a.stderr.print(errorLine("", err))
		return err
	}
	return nil
}

// runFiltered runs l's command and writes the filtered output to w.
func (a *app) runFiltered(ctx context.Context, l line, w io.Writer) error {
	if w == a.stdout {
		defer a.pager.begin(l.filters)()
	}
	a.printed.w, a.printed.line, a.printed.log = w, a.printed.line[:0], nil
	if w == a.stdout && a.log.file != nil {
		a.printed.log = &a.log
	}
	given := a.session.given
	w, flush, err := newPipeline(l.filters, &a.printed)
	if err != nil {
		a.fail("", err)
		return err
	}
	err = a.runCommand(ctx, l, w)
	if e := flush(); e != nil && err == nil {
		a.stderr.print(errorLine("", e))
		err = e
	}
	a.printed.flushLog()
	if last, alone := a.printed.address(); alone && a.session.given == given {
		a.session.SetLast(last)
	}
	return err
}

// runCommand runs l's command, without its filters, with its output to w.
func (a *app) runCommand(ctx context.Context, l line, w io.Writer) error {
	run := func() error {
		if l.loop != nil {
			return a.runLoop(ctx, l.loop, w)
		}
		return a.run(ctx, slices.Clone(l.command), w)
	}
	if l.threads == nil {
		return run()
	}
	return a.runForThreads(ctx, l.threads, run)
}

// runInto runs a command of a loop with its filters and writes the output to w.
func (a *app) runInto(ctx context.Context, l line, w io.Writer) error {
	out, flush, err := newPipeline(l.filters, w)
	if err != nil {
		a.fail("", err)
		return err
	}
	err = a.runCommand(ctx, l, out)
	if e := flush(); e != nil && err == nil {
		a.stderr.print(errorLine("", e))
		err = e
	}
	return err
}
