package testdump

import (
	"errors"

	"github.com/sosgo/sosgo/target"
)

// Typed reports whether an error is one of the errors of package target. Every error of a reader is.
func Typed(err error) bool {
	for _, kind := range []error{target.ErrNotInDump, target.ErrCorrupt, target.ErrUnsupported, target.ErrClosed, target.ErrLimit, target.ErrNoSuch,
		target.ErrNull, target.ErrArgument} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
