package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/base/shownurl"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Exit codes.
const (
	ExitOK          = 0
	ExitUsage       = 1   // the command line is wrong, or names an existing file for a new one
	ExitOpen        = 2   // the dump, or another file, can't be opened, read or written
	ExitNotInDump   = 3   // the answer needs memory that the dump does not have
	ExitCorrupt     = 4   // the data is present but impossible
	ExitUnsupported = 5   // sosgo cannot interpret the data, or the question cannot be answered
	ExitBug         = 6   // sosgo panicked
	ExitGate        = 7   // the answer exceeds a limit given on the command line
	ExitWrite       = 8   // the answer, or a file, can't be written
	ExitInterrupted = 130 // interrupted by Ctrl-C; the code that shells use
)

// A UsageError reports an invalid command line.
type UsageError struct {
	Command string // empty if the error is not about one command
	Text    string
	Hint    string // what to type instead; may be empty
}

func (e *UsageError) Error() string { return e.Text }

// A GateError reports an answer that exceeds a limit given on the command line. Builds check its exit code.
type GateError struct{ Text string }

func (e *GateError) Error() string { return e.Text }

// Stated marks err as already stated by the answer returned with it. err may be nil. The command writes the answer
// and exits with the exit code of err, without printing err.
func Stated(err error) error {
	if err == nil {
		return nil
	}
	return WithAnswer(&statedError{err})
}

// A statedError is an error that the answer already states.
type statedError struct{ err error }

func (e *statedError) Error() string { return e.err.Error() }

func (e *statedError) Unwrap() error { return e.err }

// A WriteError reports that an answer or a file cannot be written.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return "the output can't be written: " + e.Err.Error() }

func (e *WriteError) Unwrap() error { return e.Err }

// An AddressError reports an address of the wrong kind for the command.
type AddressError struct{ Err error }

func (e *AddressError) Error() string { return e.Err.Error() }

func (e *AddressError) Unwrap() error { return e.Err }

// Settled returns err without advice: nothing about the dump or its files changes what it says.
func Settled(err error) error { return settledError{err} }

type settledError struct{ error }

func (e settledError) Unwrap() error { return e.error }

// Advice returns no advice.
func (settledError) Advice() string { return "" }

// Usagef returns a UsageError; Context.Usagef adds the command.
func Usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// An OpenError reports that the dump cannot be opened.
type OpenError struct {
	Path string // empty if no dump was named
	Err  error
}

func (e *OpenError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", shownurl.Path(e.Path), e.Err)
}

func (e *OpenError) Unwrap() error { return e.Err }

var (
	errInterrupted = errors.New("stopped")
	// errOutputClosed is the cause of a cancellation because the output's reader is gone: a closed pipe, or a filter
	// that needs no more lines.
	errOutputClosed = errors.New("output closed")
	// errExit ends a session.
	errExit = errors.New("exit")
)

// ExitCode returns the exit code for err. Any failure to open the dump, and any error of the host, is ExitOpen.
func ExitCode(err error) int {
	var usage *UsageError
	var open *OpenError
	switch {
	case err == nil || err == errExit:
		return ExitOK
	case errors.As(err, new(*BugError)):
		return ExitBug
	case errors.As(err, new(*GateError)):
		return ExitGate
	case errors.As(err, &usage), errors.As(err, new(*AddressError)):
		return ExitUsage
	case errors.As(err, new(*WriteError)), errors.As(err, new(*outfile.Error)):
		return ExitWrite
	case errors.As(err, &open):
		return ExitOpen
	case errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled):
		return ExitInterrupted
	}
	switch kind := target.ReportedKind(err); {
	case errors.As(err, new(*limitedError)):
		return ExitUnsupported
	case kind == nil:
		return ExitOpen
	case kind == target.ErrNotInDump:
		return ExitNotInDump
	case kind == target.ErrCorrupt:
		return ExitCorrupt
	}
	return ExitUnsupported
}

// kindWord returns the kind of err for the JSON envelope and warnings.
func kindWord(err error) string {
	switch code := ExitCode(err); {
	case code == ExitUsage:
		return "usage"
	case code == ExitInterrupted:
		return "canceled"
	case code == ExitNotInDump:
		return "not in dump"
	case code == ExitCorrupt:
		return "corrupt"
	case code == ExitUnsupported:
		return "unsupported"
	case code == ExitBug:
		return "bug"
	case code == ExitGate:
		return "gate"
	case code == ExitWrite:
		return "write"
	case errors.As(err, new(*OpenError)):
		return "open"
	}
	return "other"
}

// kindHost is the kind of a warning about a fault of this machine or of a server.
const kindHost = "host"

// warningKind returns the kind of a warning. A fault of this machine or of a server, and a limit of the command, say nothing
// about the dump.
func warningKind(err error) string {
	switch {
	case hostFailed(err):
		return kindHost
	case errors.Is(err, target.ErrLimit):
		return "limit"
	}
	return kindWord(err)
}

// Advice returns what the user can do about err, or "".
func Advice(err error) string {
	var usage *UsageError
	var open *OpenError
	var own interface{ Advice() string }
	var left *leftOutError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &own):
		return own.Advice()
	case errors.As(err, new(*BugError)):
		return bugAdvice
	case errors.As(err, &usage):
		return usage.Hint
	case errors.As(err, new(*WriteError)), errors.As(err, new(*outfile.Error)), errors.As(err, new(*AddressError)): // the error states the cause
		return ""
	case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, target.ErrNotInDump):
		return "check the file name; --dump FILE, SOSGO_DUMP or the only dump in the current folder name the dump"
	case errors.Is(err, fs.ErrPermission):
		return "you may not read this file: copy it, or ask its owner; dumps are often written with mode 600"
	case errors.As(err, &open):
		return openAdvice(err)
	case errors.As(err, new(*cutError)):
		return "the dump's file is cut off, and this may be in what is gone: " + copyAgain
	case inModuleFile(err), errors.Is(err, target.ErrInModuleFile):
		return moduleAdvice
	case errors.Is(err, target.ErrLeftOut):
		return `"sosgo shrink" left it out of this dump; the dump that was shrunk has it`
	case errors.As(err, &left):
		return left.next()
	case errors.Is(err, target.ErrNotInDump):
		return `the writer of the dump left this memory out; "sosgo doctor" shows the kind of dump, ` +
			"a dump of kind heap or full has it; --modules DIR adds module files from disk"
	case target.ReportedKind(err) == target.ErrCorrupt:
		return CheckAddress + "the process overwrote this memory or the dump is damaged: compare the file with the original; verifyheap lists the faults of the heap"
	case target.Kind(err) != nil && !errors.Is(err, target.ErrArgument): // another argument is all that helps
		return `"sosgo doctor" describes the dump and how its runtimes are read`
	}
	return ""
}

// CheckAddress is the start of advice about damage that a wrong address on the command line may explain.
const CheckAddress = "check the address; if it is right, "

// inModuleFile reports whether err is about memory that only a missing module file contains.
func inModuleFile(err error) bool {
	return errors.Is(err, target.ErrNotInDump) && errors.Is(err, fs.ErrNotExist)
}

const moduleAdvice = `it is in a module file: --modules DIR or --symbol-server URL adds the files that "sosgo doctor" lists`

const copyAgain = "compare its size with the original, copy it again"

// A cutError reports memory that is missing from a truncated dump file.
type cutError struct{ err error }

func (e *cutError) Error() string { return e.err.Error() }

func (e *cutError) Unwrap() error { return e.err }

// A limitedError reports what may be missing, or look damaged, because a limit of the command left out a part of the dump's lists.
type limitedError struct{ err, limit error }

func (e *limitedError) Error() string { return e.err.Error() }

func (e *limitedError) Unwrap() []error { return []error{e.err, e.limit} }

// Advice names the limit.
func (e *limitedError) Advice() string {
	return "a --limit of the command left out a part of the dump, and this may be in it: repeat the command with a higher limit, or without (" + e.limit.Error() + ")"
}

// A strayError reports memory that is missing from a dump that has all memory that the process could write.
type strayError struct {
	err     error
	reason  error // why the process had no memory there, or target.ErrNotInDump
	keptOut bool  // the process may have kept it out of cores
}

func (e *strayError) Error() string { return e.err.Error() }

func (e *strayError) Unwrap() error { return e.err }

// Advice returns what the user can do about the address.
func (e *strayError) Advice() string {
	if e.reason != target.ErrNotInDump {
		return "check the address: " + e.reason.Error()
	}
	if e.keptOut {
		return "gdb leaves out memory that the process keeps out of cores, such as pages that the collector once freed, and where nothing was: a dump that the runtime writes has it"
	}
	return "nothing in the dump shows that the process had memory there: what led there may be wrong; a dump of kind full has all that the process could read"
}

// asTaken returns err as a UsageError if a new file or folder exists already: the command line must name another one.
func (c *Context) asTaken(err error) error {
	var path *fs.PathError
	if !errors.As(err, &path) || !errors.Is(path.Err, fs.ErrExist) {
		return err
	}
	return &UsageError{Command: c.Command.Name, Text: path.Path + " already exists", Hint: "name another file or folder"}
}

// ofDump marks err by what d shows: as a limitedError if a limit of the command left out a part of the dump; if memory is missing, as a cutError if its file is truncated and may have contained
// the memory, or as a strayError if a dump of another kind would hardly have it.
func ofDump(d Dump, err error) error {
	if limit := limitOf(d); limit != nil && target.Kind(err) != nil && !errors.Is(err, target.ErrLimit) && !errors.Is(err, target.ErrArgument) {
		return &limitedError{err, limit}
	}
	if ExitCode(err) != ExitNotInDump {
		return err
	}
	if t, ok := d.(interface{ Truncated() error }); ok && t.Truncated() != nil {
		return &cutError{err}
	}
	of, ok := d.(interface{ Target() target.Target })
	if !ok {
		return err
	}
	if f, ok := d.(interface{ Forked() bool }); ok && f.Forked() {
		return &childError{err}
	}
	t := of.Target()
	var missing *target.MemoryError
	if !errors.As(err, &missing) || missing.Err != target.ErrNotInDump {
		return &leftOutError{err: err, writable: target.StoresWritable(t), unplaced: true}
	}
	c := target.ClaimsOf(t)
	if _, hole := c.Hole(target.RangeAt(missing.Addr, 1)); hole {
		return &strayError{err, c.Missing(missing.Addr), c.KeepsOut()}
	}
	return &leftOutError{err: err, writable: target.StoresWritable(t), module: slices.ContainsFunc(t.Modules(), func(m target.Module) bool {
		return target.RangeAt(m.Base, m.Size).Contains(missing.Addr)
	})}
}

// limitOf returns why a limit of the command left out a part of the dump's lists, or nil.
func limitOf(d Dump) error {
	if l, ok := d.(interface{ Limited() error }); ok {
		return l.Limited()
	}
	return nil
}

// A childError reports memory that is missing from the dump of a child process that fork made.
type childError struct{ error }

func (e *childError) Unwrap() error { return e.error }

// Advice names the process that has the memory.
func (*childError) Advice() string {
	return "the process looks like a child that fork made: it has no other thread of its parent, and not all of its memory; a dump of the parent has both"
}

// A leftOutError reports memory that the dump's writer left out.
type leftOutError struct {
	err      error
	writable bool // the dump has all memory that the process could write: one of kind heap has no more
	module   bool // the memory is a module's
	unplaced bool // the error has no address
}

func (e *leftOutError) Error() string { return e.err.Error() }

func (e *leftOutError) Unwrap() error { return e.err }

// next returns what has the memory.
func (e *leftOutError) next() string {
	out := `the writer of the dump left this memory out; "sosgo doctor" shows the kind of dump, a dump of kind heap or full has it`
	switch {
	case e.writable && e.unplaced: // it may be what no dump has
		return `"sosgo doctor" shows what the dump holds, and which files would help`
	case e.writable:
		out = "the writer of the dump left this memory out; a dump of kind full has it"
	}
	if e.module || e.unplaced {
		out += "; --modules DIR adds module files from disk"
	}
	return out
}

// Advice returns what the user can do about err, which is about the dump of the session, or "".
func (c *Context) Advice(err error) string { return Advice(ofDump(c.dump, err)) }

func openAdvice(err error) string {
	switch {
	case errors.Is(err, target.ErrCorrupt):
		return "the file is cut off or damaged: " + copyAgain
	case errors.Is(err, target.ErrUnsupported):
		return "sosgo reads ELF cores, Mach-O cores and Windows minidumps, also as .gz or .zst"
	}
	return ""
}

// problem converts err for the JSON envelope.
func problem(err error) *report.Problem {
	return &report.Problem{Text: shownurl.In(err.Error()), Kind: kindWord(err), Advice: Advice(err), Exit: ExitCode(err), Host: hostFailed(err), Limit: errors.Is(err, target.ErrLimit)}
}

// hostFailed reports whether this machine caused err. The same command may succeed later. A module file that does not exist is
// a gap of the dump.
func hostFailed(err error) bool { return machine.Failed(err) && !inModuleFile(err) }

// A BugError reports a panic, which is always a bug of sosgo.
type BugError struct {
	Panic *workers.Panic
}

// Error returns the panic's value and place. Panic holds the whole stack.
func (e *BugError) Error() string {
	return fmt.Sprintf("this is a bug of sosgo %s: %v%s", version().Version, e.Panic.Value, e.place())
}

func (e *BugError) Unwrap() error { return e.Panic }

// bugAdvice asks the user to report the bug.
const bugAdvice = "please report this line at https://github.com/sosgo/sosgo/issues, with the command and what the dump is of; " +
	"other commands can still be asked. SOSGO_PANIC=1 shows where it happened"

var ownLine = lazyRegexp(`(?m)^github\.com/sosgo/sosgo[^\n]*\n\t(?:\S*/)?([^/\s]+/[^/\s]+\.go:\d+)`)

// place returns the innermost line of sosgo on the panic's stack.
func (e *BugError) place() string {
	_, below, found := strings.Cut(string(e.Panic.Stack), "\npanic(")
	if !found {
		return ""
	}
	if m := ownLine().FindStringSubmatch(below); m != nil {
		return " (" + m[1] + ")"
	}
	return ""
}

// errShrunk explains a fault on a page of a mapped file.
var errShrunk = errors.New("a file became shorter, or its disk failed, while sosgo read it; --no-mmap reads such files without mapping them")

// protect runs f and returns its panic as an error, unless Env.Recover is false. After a panic the session reopens
// the dump, because the panic may have left its caches inconsistent.
func (a *app) protect(f func() error) (err error) {
	if !a.env.Recover {
		return f()
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		p := workers.Caught(v)
		why := a.session.lost()
		a.session.forget()
		if _, fault := p.Value.(interface{ Addr() uintptr }); fault {
			err = &OpenError{a.session.path, &machine.Error{Err: errShrunk}}
			if why != nil {
				err = &OpenError{Err: why}
			}
			return
		}
		err = &BugError{p}
	}()
	return f()
}
