package cli

import (
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

	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/front/report"
)

// A sink is the end of a command's output. Its first error stays, and cancels the command: walking a heap for nobody is waste.
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

// outputError returns what the user must know of s's error: nothing when the reader just went away.
func (s *sink) outputError() error {
	if s.err == nil || errors.Is(s.err, errOutputClosed) || isBrokenPipe(s.err) {
		return nil
	}
	return &WriteError{s.err}
}

// isBrokenPipe reports whether err says that the reader of a pipe is gone.
func isBrokenPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const errorBrokenPipe, errorNoData = syscall.Errno(109), syscall.Errno(232)
	return runtime.GOOS == "windows" && (errors.Is(err, errorBrokenPipe) || errors.Is(err, errorNoData))
}

// A terminalWriter is the last guard between a dump and a terminal: it escapes whatever moves the cursor or changes the terminal's state.
// Commands escape what they print themselves, in place; this is for what slipped through.
type terminalWriter struct {
	w    io.Writer
	part []byte // the start of a character whose rest is still to come
}

func (t *terminalWriter) Write(p []byte) (int, error) {
	b := append(t.part, p...)
	n := len(b)
	for i := max(0, n-utf8.UTFMax+1); i < n; i++ {
		if utf8.RuneStart(b[i]) && !utf8.FullRune(b[i:]) {
			n = i
		}
	}
	_, err := io.WriteString(t.w, report.EscapeText(string(b[:n])))
	t.part = append(t.part[:0], b[n:]...)
	return len(p), err
}

// A stderrWriter lets progress bars, which draw from their own goroutine, and messages share stderr.
type stderrWriter struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	holding  bool // a pager has the screen
	held     []byte
}

// Write draws, or does nothing while a pager has the screen.
func (s *stderrWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holding {
		return len(p), nil
	}
	return s.w.Write(p)
}

// hold keeps messages back until release.
func (s *stderrWriter) hold() {
	s.mu.Lock()
	s.holding = true
	s.mu.Unlock()
}

// release prints the messages that were held back.
func (s *stderrWriter) release() {
	s.mu.Lock()
	s.holding = false
	text := string(s.held)
	s.held = nil
	s.mu.Unlock()
	s.print(text)
}

// print prints a message.
func (s *stderrWriter) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holding {
		s.held = append(s.held, text...)
		return
	}
	// There is nowhere left to report an error of stderr.
	_, _ = io.WriteString(s.w, text)
}

// A WriteMode says what becomes of a file that is there already.
type WriteMode uint8

// What WriteFile does with a file that is there already.
const (
	Replace WriteMode = iota
	New               // it stays, and WriteFile fails with fs.ErrExist
	Private           // so it does, and the new file is the user's alone
)

// WriteFile writes a file that the user named. It is there when it is whole, and not
// at all otherwise, and never takes the place of what the session reads.
func (c *Context) WriteFile(name string, mode WriteMode, write func(io.Writer) error) error {
	if err := c.MayWrite(); err != nil {
		return err
	}
	var made error // by write: of the answer, not of the file
	perm := c.Session.perm
	if mode == Private {
		perm = outfile.Private
	}
	err := outfile.Write(name, outfile.Options{New: mode != Replace, Guard: c.Session.guard, Perm: perm}, func(w io.Writer) error {
		made = write(w)
		return made
	})
	return asWriteError(err, made)
}

// asWriteError marks an error of a file that is written; made is the error of what was to be written.
func asWriteError(err, made error) error {
	if err == nil || made != nil && errors.Is(err, made) && !errors.As(made, new(*fs.PathError)) || errors.As(err, new(*UsageError)) || errors.Is(err, fs.ErrExist) {
		return err
	}
	return &WriteError{err}
}

// MayWrite returns why the command may write no files.
func (c *Context) MayWrite() error {
	if c.Session.options.Sandbox {
		return errSandboxed
	}
	if c.app != nil && c.app.desk != nil {
		return errReadOnly
	}
	return nil
}

// WriteDir writes a folder that the user named, which must not exist or be empty: it is there when all files are, and not at all otherwise.
func (c *Context) WriteDir(name string, write func(dir string) error) error {
	if c.Session.options.Sandbox {
		return errSandboxed
	}
	return outfile.WriteDir(name, c.Session.perm, write)
}

// perm returns the permissions that files made of the session's dumps may have: no more than all of the dumps have.
func (s *Session) perm() fs.FileMode {
	files := s.others
	if s.path != "" {
		files = append(slices.Clone(files), s.path)
	}
	return outfile.PermOf(files...)
}

// errSandboxed is why no file is written with --sandbox, also before the dump is open:
// what works must not depend on the order of commands.
var errSandboxed = &UsageError{Text: "with --sandbox no file is written", Hint: "redirect the output of sosgo itself, in the shell"}

// guard keeps what a dump was made of from being written over: the session's dump,
// under whatever name, and any file that is a dump, a program, a library or a PDB.
func (s *Session) guard(path string, existing fs.FileInfo) error {
	if st, err := os.Stat(s.path); err == nil && s.path != "" && os.SameFile(st, existing) {
		return &UsageError{Text: path + " is the dump that is open: sosgo does not write over it", Hint: "name another file"}
	}
	if kind := evidence(path, existing); kind != "" {
		return &UsageError{Text: fmt.Sprintf("%s is %s: sosgo does not write over it", path, kind), Hint: "name another file, or remove this one first"}
	}
	return nil
}

// The kinds of files that modules are made of.
const (
	kindProgram = "a program or library"
	kindPDB     = "a PDB"
)

// evidence names the kind of a file that takes part in finding out why a process died; it is empty for others, and for devices.
func evidence(path string, existing fs.FileInfo) string {
	if !existing.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
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
