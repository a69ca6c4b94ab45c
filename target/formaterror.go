package target

import (
	"fmt"
)

// A FormatError reports why a file is unusable as a core file. It wraps ErrCorrupt.
type FormatError struct {
	Format string // "ELF core" or "Mach-O core"
	Off    int64  // offset in the file, in bytes
	Msg    string // what is wrong
	Err    error  // the cause, or nil
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("%s: %s (at offset %#x)", e.Format, e.Msg, e.Off)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns ErrCorrupt and the cause.
func (e *FormatError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrCorrupt}
	}
	return []error{ErrCorrupt, e.Err}
}
