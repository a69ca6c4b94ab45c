package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// A ThreadAnalysis says what a thread ran and what it threw last.
type ThreadAnalysis struct {
	Gaps
	OSID  uint32 `json:"osId" doc:"OS id of the thread"`
	Index *int   `json:"thread,omitempty" doc:"its number; absent if no thread of the operating system runs it"`
	// Frames are read while they are ranged over.
	Frames iter.Seq2[*Frame, error] `json:"frames" doc:"the managed frames, the innermost first"`
	Thrown target.Addr              `json:"exception,omitempty" doc:"the exception that it threw last; absent if it has none, or it can't be read, which a warning says then"`
	ExceptionTree
	Nested []NestedTree `json:"nested,omitempty" doc:"the exceptions that it was handling when it threw that one"`

	Unread error `json:"-"` // why Thrown is not known
}

// A NestedTree is an exception that a thread was handling when it threw another.
type NestedTree struct {
	Address target.Addr `json:"address" doc:"the exception object"`
	ExceptionTree
}
