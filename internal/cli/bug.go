package cli

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/sosgo/sosgo/internal/workers"
)

// A BugError is a panic: sosgo is wrong, whatever the dump is.
type BugError struct {
	Panic *workers.Panic
}

// Error returns what happened and where; all of the stack is in Panic.
func (e *BugError) Error() string {
	return fmt.Sprintf("this is a bug of sosgo %s: %v%s", version().Version, e.Panic.Value, e.place())
}

func (e *BugError) Unwrap() error { return e.Panic }

// bugAdvice says where bugs are reported.
const bugAdvice = "please report this line at https://github.com/sosgo/sosgo/issues, with the command and what the dump is of; " +
	"other commands can still be asked. SOSGO_PANIC=1 shows where it happened"

var ownLine = regexp.MustCompile(`(?m)^github\.com/sosgo/sosgo[^\n]*\n\t(?:\S*/)?([^/\s]+/[^/\s]+\.go:\d+)`)

// place returns the innermost line of sosgo that the panic came out of.
func (e *BugError) place() string {
	_, below, found := strings.Cut(string(e.Panic.Stack), "\npanic(")
	if !found {
		return ""
	}
	if m := ownLine.FindStringSubmatch(below); m != nil {
		return " (" + m[1] + ")"
	}
	return ""
}

// errShrunk is why a page of a mapped file could not be read.
const errShrunk = "a file became shorter, or its disk failed, while sosgo read it; --no-mmap reads such files without mapping them"

// protect runs f and returns its panic as an error, unless the environment wants to
// see panics. After one the session opens the dump anew: what the panic left half
// done is nobody's answer.
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
		a.session.forget()
		if _, fault := p.Value.(interface{ Addr() uintptr }); fault {
			err = &OpenError{a.session.path, fmt.Errorf("%s", errShrunk)}
			return
		}
		err = &BugError{p}
	}()
	return f()
}
