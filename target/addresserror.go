package target

import "errors"

// An AddressError reports that an address from a caller is not the address of an object or a structure. It is
// ErrArgument and not ErrCorrupt: only the address is known to be wrong.
type AddressError struct {
	Err error // what contradicts the address
}

func (e *AddressError) Error() string {
	if e.Err == nil {
		return ErrArgument.Error()
	}
	return e.Err.Error()
}

// Is reports whether kind is ErrArgument.
func (e *AddressError) Is(kind error) bool { return kind == ErrArgument }

// As finds the types of Err and of the errors that it wraps.
func (e *AddressError) As(kind any) bool { return errors.As(e.Err, kind) }

// WrongAddress returns an ErrCorrupt that a caller's address led to as an *AddressError, and other errors as they are.
func WrongAddress(err error) error {
	if !errors.Is(err, ErrCorrupt) {
		return err
	}
	return &AddressError{err}
}

// CorruptAddress returns the ErrCorrupt of an *AddressError for an address that the process's own memory contains, and
// other errors as they are.
func CorruptAddress(err error) error {
	if wrong, ok := err.(*AddressError); ok {
		return wrong.Err
	}
	return err
}

// ReportedKind returns Kind(err), and ErrCorrupt for an *AddressError: outputs and exit codes do not distinguish a wrong
// address from a damaged structure.
func ReportedKind(err error) error {
	if errors.As(err, new(*AddressError)) {
		return ErrCorrupt
	}
	return Kind(err)
}
