package cli

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/front/report"
)

// A sessionLog keeps what a session is asked and answers in a file, as dotnet-dump's logopen does. Each line is added
// with its answer when it has ended.
type sessionLog struct {
	name  string        // empty if there is no log
	empty bool          // no line has been written to a file that logopen made
	file  *outfile.File // of the running line; nil outside of one
	err   error         // the first error of writing
}

type logOptions struct {
	Append bool   `opt:"append,t" help:"go on with the file, if it exists"`
	File   string `arg:"file,optional" kind:"file" help:"the file; without one, say which file is open"`
}

func (a *app) logCommands() []Command {
	return []Command{
		Print(Command{Name: "logopen", Group: GroupShell, Summary: "write all that follows, commands and answers, to a file, too",
			Examples: []Example{{"logopen incident.txt", "keep a log of this session"}}}, a.openLog),
		Print(Command{Name: "logclose", Group: GroupShell, Summary: "end the log that logopen began"}, func(_ *Context, _ *None, p *report.Page) {
			if a.log.name == "" {
				p.Fail(&UsageError{Command: "logclose", Text: "no log is open", Hint: "logopen FILE begins one"})
				return
			}
			p.Print("Log closed: " + report.Escape(a.log.name) + "\n")
			a.log.name = ""
		}),
	}
}

func (a *app) openLog(c *Context, o *logOptions, p *report.Page) {
	switch {
	case o.File == "" && a.log.name == "":
		p.Print("No log is open.\n")
		return
	case o.File == "":
		p.Print("Log: " + report.Escape(a.log.name) + "\n")
		return
	case a.desk != nil || !a.inSession:
		p.Fail(&UsageError{Command: "logopen", Text: "a log is for a session: the prompt, a script or lines of -c", Hint: "COMMAND > FILE writes an answer to a file"})
		return
	}
	if err := c.MayWrite(); err != nil {
		p.Fail(err)
		return
	}
	f, err := outfile.Create(o.File, outfile.Options{Append: o.Append, Guard: a.session.guard, Perm: a.session.perm})
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		p.Fail(asWriteError(err))
		return
	}
	a.log = sessionLog{name: o.File, empty: !o.Append}
	p.Print("Log opened: " + report.Escape(o.File) + "\n")
}

// beginLog adds a line to the log. end adds its answer, and reports and returns an error of the file.
func (a *app) beginLog(text string) (end func() error) {
	if a.log.name == "" || a.log.file != nil {
		return func() error { return nil }
	}
	f, err := outfile.Create(a.log.name, outfile.Options{Append: true, Guard: a.session.guard, Perm: a.session.perm})
	if err != nil {
		err = a.failLog(err)
		return func() error { return err }
	}
	a.log.file, a.stderr.log = f, &a.log
	a.log.write("> " + report.Escape(text) + "\n")
	return func() error {
		a.log.file, a.printed.log, a.stderr.log = nil, nil, nil
		if err := cmp.Or(a.log.err, f.Commit()); err != nil {
			return a.failLog(err)
		}
		a.log.empty = false
		return nil
	}
}

// failLog reports and returns an error of the log's file, and ends the log. A file without a line is removed.
func (a *app) failLog(err error) error {
	if info, stat := os.Lstat(a.log.name); a.log.empty && stat == nil && info.Mode().IsRegular() && info.Size() == 0 {
		err = errors.Join(err, os.Remove(a.log.name))
	}
	a.log = sessionLog{}
	err = asWriteError(err)
	a.stderr.print(errorLine("", err))
	return err
}

// write adds text to the log, without the colors of a terminal.
func (l *sessionLog) write(text string) {
	if l.file == nil || l.err != nil {
		return
	}
	_, l.err = l.file.Write([]byte(report.Plain(text)))
}

// writeLogged adds output to the log in the background of a writer; it fails for no error of the log.
func (l *sessionLog) writeLogged(b []byte) {
	if l != nil {
		l.write(strings.ToValidUTF8(string(b), "\ufffd"))
	}
}

// wholeText returns the length of b without the beginning of a character or of a color at its end.
func wholeText(b []byte) int {
	const longestColor = len("\x1b[1;31m")
	if i := bytes.LastIndexByte(b, '\x1b'); i >= 0 && len(b)-i < longestColor && !bytes.ContainsRune(b[i:], 'm') {
		return i
	}
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}
