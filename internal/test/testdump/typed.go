package testdump

import (
	"errors"

	"github.com/sosgo/sosgo/target"
)

// Typed reports whether an error says what kind of absence it is: not in the
// dump, corrupt, or not supported. Each error of a reader does.
func Typed(err error) bool {
	return errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrUnsupported)
}
