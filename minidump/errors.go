package minidump

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// A FormatError reports an impossible part of a minidump. It wraps target.ErrCorrupt and Err.
type FormatError struct {
	Stream string // name of the stream, "header" or "directory"
	Off    int64  // file offset of the fault in bytes
	Msg    string // what is wrong
	Err    error  // the cause, or nil
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("minidump %s at file offset %#x: %s", e.Stream, e.Off, e.Msg)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns target.ErrCorrupt, and Err if it is set.
func (e *FormatError) Unwrap() []error {
	if e.Err == nil {
		return []error{target.ErrCorrupt}
	}
	return []error{target.ErrCorrupt, e.Err}
}

// maxNotes limits the warnings of one part of the dump, so that a million broken threads yield a
// few lines.
const maxNotes = 16

// notes collects the warnings of one part of the dump.
type notes struct {
	list    []error
	dropped int
}

func (n *notes) add(err error) {
	if len(n.list) == maxNotes {
		n.dropped++
		return
	}
	n.list = append(n.list, err)
}

// appendTo appends the warnings to all, and a line that counts the dropped ones.
func (n *notes) appendTo(all []error, part string) []error {
	all = append(all, n.list...)
	if n.dropped > 0 {
		all = append(all, target.Corruptf("minidump %s: %d more warnings of this kind", part, n.dropped))
	}
	return all
}
