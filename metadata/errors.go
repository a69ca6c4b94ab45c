package metadata

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// A FormatError reports metadata that breaks the format. It is target.ErrCorrupt, unless Err is target.ErrUnsupported.
type FormatError struct {
	Off int64  // bytes from the start of what was parsed: the metadata root, a blob, a method body
	Msg string // what is wrong
	Err error  // cause, or nil
}

func (e *FormatError) Error() string {
	if e.Err == nil || e.Err == target.ErrUnsupported {
		return fmt.Sprintf("metadata at offset %#x: %s", e.Off, e.Msg)
	}
	return fmt.Sprintf("metadata at offset %#x: %s: %v", e.Off, e.Msg, e.Err)
}

// Unwrap returns the cause and the sentinel that classifies the error.
func (e *FormatError) Unwrap() []error {
	switch e.Err {
	case nil:
		return []error{target.ErrCorrupt}
	case target.ErrUnsupported:
		return []error{target.ErrUnsupported}
	}
	return []error{e.Err, target.ErrCorrupt}
}

// A MissingError reports metadata that the dump does not hold. It is target.ErrNotInDump.
type MissingError struct {
	Off  int64 // bytes from the metadata root
	Size int   // bytes wanted at Off
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%d bytes of metadata at offset %#x are not in the dump", e.Size, e.Off)
}

// Unwrap returns target.ErrNotInDump.
func (e *MissingError) Unwrap() error { return target.ErrNotInDump }

func corruptf(off int, format string, args ...any) error {
	return &FormatError{Off: int64(off), Msg: fmt.Sprintf(format, args...)}
}
