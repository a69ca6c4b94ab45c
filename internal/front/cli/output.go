package cli

import (
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
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/front/report"
)

// A sink is the end of a command's output. It keeps its first error and cancels the command on it.
type sink struct {
	w      io.Writer
	cancel context.CancelCauseFunc
	err    error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	if err != nil {
		s.err = err
		s.cancel(errOutputClosed)
	}
	return n, err
}

// outputError returns s's error, or nil if the reader just went away.
func (s *sink) outputError() error {
	if s.err == nil || errors.Is(s.err, errOutputClosed) || isBrokenPipe(s.err) {
		return nil
	}
	return &WriteError{s.err}
}

// isBrokenPipe reports whether err means that the reader of a pipe is gone.
func isBrokenPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const errorBrokenPipe, errorNoData = syscall.Errno(109), syscall.Errno(232)
	return runtime.GOOS == "windows" && (errors.Is(err, errorBrokenPipe) || errors.Is(err, errorNoData))
}

// A terminalWriter escapes control characters that would move the cursor or change the terminal's state. Commands
// escape their own output; this writer catches what they missed.
type terminalWriter struct {
	w     io.Writer
	color func() bool // whether colors of pages pass; nil if they don't
	part  []byte      // the start of an incomplete character
}

func (t *terminalWriter) Write(p []byte) (int, error) {
	b := append(t.part, p...)
	n := len(b)
	for i := max(0, n-utf8.UTFMax+1); i < n; i++ {
		if utf8.RuneStart(b[i]) && !utf8.FullRune(b[i:]) {
			n = i
		}
	}
	_, err := io.WriteString(t.w, report.EscapeScreen(string(b[:n]), t.color != nil && t.color()))
	t.part = append(t.part[:0], b[n:]...)
	return len(p), err
}

// A stderrWriter shares stderr between messages and progress displays, which draw from their own goroutines.
type stderrWriter struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	holding  bool // a pager uses the screen
	held     []byte
	log      *sessionLog // nil without one
	columns  func() int  // of the terminal; nil without one
}

// Write draws a progress display. While a pager uses the screen, it discards p.
func (s *stderrWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holding {
		return len(p), nil
	}
	return s.w.Write(p)
}

// hold holds messages back until release.
func (s *stderrWriter) hold() {
	s.mu.Lock()
	s.holding = true
	s.mu.Unlock()
}

// release prints the held messages.
func (s *stderrWriter) release() {
	s.mu.Lock()
	s.holding = false
	text := string(s.held)
	s.held = nil
	s.mu.Unlock()
	s.print(text)
}

// print prints a message, or holds it back.
func (s *stderrWriter) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holding {
		s.held = append(s.held, text...)
		return
	}
	s.log.writeLogged([]byte(text))
	if s.columns != nil {
		text = wrapLines(text, 2, s.columns())
	}
	// An error of stderr cannot be reported.
	_, _ = io.WriteString(s.w, text)
}

// wrapLines wraps each line of text.
func wrapLines(text string, hang, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.CutSuffix(line, "\n")
		b.WriteString(report.Wrap(line, hang, columns))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// colors reports whether the output of the running command has colors. JSON output never does.
func (a *app) colors() bool {
	switch {
	case a.line.JSON || a.globals.Color == "never":
		return false
	case a.globals.Color == "always":
		return true
	}
	return a.env.isTerminal(a.screen) && a.env.getenv("NO_COLOR") == "" && a.env.getenv("TERM") != "dumb"
}

// A WriteMode selects what WriteFile does with an existing file.
type WriteMode uint8

// Modes of WriteFile.
const (
	Replace WriteMode = iota
	New               // keep it, and fail with fs.ErrExist
	Private           // like New, and only the user may read the new file
)

// WriteFile writes a file named by the user. The file appears only when it is complete, and the dumps could be read to the end. It never replaces a file that
// the session reads.
func (c *Context) WriteFile(name string, mode WriteMode, write func(io.Writer) error) error {
	if err := c.MayWrite(); err != nil {
		return err
	}
	c.Echo(name)
	perm := c.Session.perm
	if mode == Private {
		perm = outfile.Private
	}
	return outfile.Write(name, outfile.Options{New: mode != Replace, Guard: c.Session.guard, Perm: perm}, func(w io.Writer) error {
		return cmp.Or(write(w), c.Session.lost())
	})
}

// WriteText is WriteFile for text, in which secrets are masked as they are in the command's output.
func (c *Context) WriteText(name string, mode WriteMode, write func(io.Writer) error) error {
	return c.WriteFile(name, mode, func(w io.Writer) error {
		mask := c.Mask()
		if mask == nil {
			return write(w)
		}
		masking := secrets.NewWriter(mask, w)
		return cmp.Or(write(masking), masking.Close())
	})
}

// asWriteError returns err as a WriteError if a file can't be written. What the content's writer failed with stays as it is.
func asWriteError(err error) error {
	if errors.As(err, new(*outfile.Error)) && !errors.As(err, new(*WriteError)) {
		return &WriteError{err}
	}
	return err
}

// MayWrite returns an error if the command may not write files.
func (c *Context) MayWrite() error {
	if c.Session.options.Sandbox {
		return errSandboxed
	}
	if c.app != nil && c.app.desk != nil {
		return errReadOnly
	}
	return nil
}

// WriteDir writes a folder named by the user. The folder must be missing or empty. It appears only when all files are
// complete. stage, if not empty, is the folder in which it is made.
func (c *Context) WriteDir(name, stage string, write func(dir string) error) error {
	if err := c.MayWrite(); err != nil {
		return err
	}
	c.Echo(name)
	return outfile.WriteDir(name, outfile.DirOptions{Perm: c.Session.perm, Stage: stage}, func(dir string) error { return cmp.Or(write(dir), c.Session.lost()) })
}

// perm returns the permissions for files made from the session's dumps: at most the permissions common to all dumps.
func (s *Session) perm() fs.FileMode {
	files := s.others
	if s.path != "" {
		files = append(slices.Clone(files), s.path)
	}
	return outfile.PermOf(files...)
}

// errSandboxed is the error for writing a file with --sandbox. It applies even before the dump is open, so that the
// result does not depend on the order of commands.
var errSandboxed = &UsageError{Text: "with --sandbox no file is written", Hint: "redirect the output of sosgo itself, in the shell"}

// guard prevents overwriting the session's dump, under any name, and any file that is a dump, a program, a library or
// a PDB.
func (s *Session) guard(path string, existing fs.FileInfo) error {
	if st, err := os.Stat(s.path); err == nil && s.path != "" && os.SameFile(st, existing) {
		return &UsageError{Text: path + " is the dump that is open: sosgo does not write over it", Hint: "name another file"}
	}
	if kind := evidence(path, existing); kind != "" {
		return &UsageError{Text: fmt.Sprintf("%s is %s: sosgo does not write over it", path, kind), Hint: "name another file, or remove this one first"}
	}
	return nil
}

// Kinds of module files.
const (
	kindProgram = "a program or library"
	kindPDB     = "a PDB"
)

// evidence returns the kind of a file that may help to explain a crash. It returns "" for other files and for
// devices.
func evidence(path string, existing fs.FileInfo) string {
	if !existing.Mode().IsRegular() {
		return ""
	}
	f, err := mmapfile.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.ReadAt(magic[:], 0)
	head := string(magic[:n])
	switch {
	case LooksLikeDump(f):
		return "a dump"
	case strings.HasPrefix(head, "MZ"), head == "\x7fELF":
		return kindProgram
	case head == "BSJB":
		return kindPDB
	}
	return ""
}
