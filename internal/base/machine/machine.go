// Package machine separates the faults of this machine from what is wrong with a dump. What failed because of a disk, of rights or
// of time may succeed later; a fleet tries such dumps again.
package machine

import (
	"context"
	"errors"
	"syscall"
)

// An Error is a fault of this machine. It is made where the fault arises, unless an error of a system call says so already.
type Error struct {
	Err  error
	Next string // what the user can do; may be empty
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Advice returns what the user can do.
func (e *Error) Advice() string { return e.Next }

// Failed reports whether this machine caused err: it says so, a system call failed, as on a full disk, or time ran out.
func Failed(err error) bool {
	return errors.As(err, new(*Error)) || errors.As(err, new(syscall.Errno)) || errors.Is(err, context.DeadlineExceeded)
}

// Lost calls the method Lost of a source. It returns an error if the source can no longer be read as it was when it was
// opened, for example because its file became shorter: what was computed since then must not be kept. A source without such
// a method has nothing to lose.
func Lost(source any) error {
	if l, ok := source.(interface{ Lost() error }); ok {
		return l.Lost()
	}
	return nil
}
