package testdump

import (
	"errors"

	"github.com/sosgo/sosgo/target"
)

// Typed reports whether an error is not in the dump, corrupt, or not supported. Every error of a
// reader is.
func Typed(err error) bool {
	return errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrUnsupported)
}
