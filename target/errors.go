package target

import (
	"errors"
	"fmt"
)

// What is missing from a dump is one of these errors.
var (
	// ErrNotInDump means that the writer of the dump left the data out.
	ErrNotInDump = errors.New("not in the dump")
	// ErrCorrupt means that the data is in the dump and impossible.
	ErrCorrupt = errors.New("corrupt data")
	// ErrUnsupported means that the data is in the dump and sosgo can't interpret it.
	ErrUnsupported = errors.New("not supported")
	// ErrLeftOut is the ErrNotInDump of memory that sosgo shrink left out; the original dump has
	// it.
	ErrLeftOut error = &wrapped{errors.New("left out when the dump was shrunk"), ErrNotInDump}
	// ErrInModuleFile is the ErrNotInDump of memory that sosgo shrink left out because the file of
	// the module that is loaded there has it.
	ErrInModuleFile error = &wrapped{errors.New("in the module's file, and therefore left out when the dump was shrunk"), ErrNotInDump}
	// ErrInCollection is the ErrUnsupported of a dump that was taken during a garbage collection: what
	// the collector was moving can't be read, and nothing is damaged.
	ErrInCollection error = &wrapped{errors.New("the dump was taken during a garbage collection: what it was moving can't be read"), ErrUnsupported}
)

// What is wrong with a question, and not with the dump, is one of these errors.
var (
	// ErrClosed means that the dump, or the part of it that was asked, has been closed.
	ErrClosed = errors.New("closed")
	// ErrLimit means that the answer needs more memory or steps than its limit allows.
	ErrLimit = errors.New("a limit is reached")
	// ErrNoSuch means that no type, field, thread, module or runtime has the name or number that
	// was given.
	ErrNoSuch = errors.New("there is no such thing")
	// ErrNull means that a reference is null where an object is needed.
	ErrNull = errors.New("null")
	// ErrArgument means that an argument can't be right: an address that is no object, a value of
	// another kind, a field of another type.
	ErrArgument = errors.New("wrong argument")
)

// A MemoryError reports a target address that could not be read.
type MemoryError struct {
	Addr Addr  // first byte that could not be read
	Size int   // bytes still wanted at Addr
	Err  error // ErrNotInDump, or the I/O error
}

func (e *MemoryError) Error() string {
	if e.Err == ErrNotInDump {
		return fmt.Sprintf("%d bytes at %#x are not in the dump", e.Size, uint64(e.Addr))
	}
	return fmt.Sprintf("read %d bytes at %#x: %v", e.Size, uint64(e.Addr), e.Err)
}

func (e *MemoryError) Unwrap() error { return e.Err }

// Corruptf returns an error that wraps ErrCorrupt. The message states what is impossible.
func Corruptf(format string, args ...any) error {
	return &wrapped{fmt.Errorf(format, args...), ErrCorrupt}
}

// A HeapError is the ErrCorrupt of an object, of a reference to one, or of a list of segments. The work of a
// collection in progress looks the same. Threads, modules, types and code do not move: their errors are others.
type HeapError struct{ Err error }

func (e *HeapError) Error() string {
	if e.Err == nil {
		return ErrCorrupt.Error()
	}
	return e.Err.Error()
}

func (e *HeapError) Unwrap() error { return e.Err }

// CorruptHeapf is Corruptf for the heap. The error is a *HeapError.
func CorruptHeapf(format string, args ...any) error {
	return &HeapError{Corruptf(format, args...)}
}

// InHeap returns an ErrCorrupt to which a word of an object has led as a *HeapError, and other errors as they are.
func InHeap(err error) error {
	if ReportedKind(err) != ErrCorrupt {
		return err
	}
	return &HeapError{err}
}

// Unsupportedf returns an error that wraps ErrUnsupported. The message states what can't be
// interpreted.
func Unsupportedf(format string, args ...any) error {
	return &wrapped{fmt.Errorf(format, args...), ErrUnsupported}
}

// NoSuchf returns an error that wraps ErrNoSuch. The message states what was sought.
func NoSuchf(format string, args ...any) error {
	return &wrapped{fmt.Errorf(format, args...), ErrNoSuch}
}

// Argumentf returns an error that wraps ErrArgument. The message states what is wrong.
func Argumentf(format string, args ...any) error {
	return &wrapped{fmt.Errorf(format, args...), ErrArgument}
}

// Closedf returns an error that wraps ErrClosed. The message states what was closed.
func Closedf(format string, args ...any) error {
	return &wrapped{fmt.Errorf(format, args...), ErrClosed}
}

// Limitf returns an error that wraps ErrLimit. The message states the limit.
func Limitf(format string, args ...any) error {
	return &wrapped{fmt.Errorf(format, args...), ErrLimit}
}

// kinds are the errors that Kind returns.
var kinds = [...]error{ErrNotInDump, ErrCorrupt, ErrUnsupported, ErrClosed, ErrLimit, ErrNoSuch, ErrNull, ErrArgument}

// Kind returns the first of ErrNotInDump, ErrCorrupt, ErrUnsupported, ErrClosed, ErrLimit, ErrNoSuch, ErrNull and
// ErrArgument that err wraps, or nil.
func Kind(err error) error {
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return nil
}

// wrapped joins a message to a sentinel error without repeating the sentinel's text.
type wrapped struct{ msg, kind error }

func (e *wrapped) Error() string   { return e.msg.Error() }
func (e *wrapped) Unwrap() []error { return []error{e.msg, e.kind} }
