package disasm

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Lister lists the code of methods, in IL and as the machine runs it, with
// names. It is safe for concurrent use.
type Lister struct {
	rt      *dac.Runtime
	code    *code.Reader
	objects *objects.Reader
	names   *Names
}

// NewLister returns the lister of a runtime's methods.
func NewLister(rt *dac.Runtime, r *objects.Reader) *Lister {
	return &Lister{rt: rt, code: code.Of(rt), objects: r, names: NewNames(rt, r)}
}

// arch is the processor that the machine code is for.
func (l *Lister) arch() target.Arch { return l.rt.Target().Platform().Arch }

// A NoMethodError says why there is no method at an address. Its text and kind
// are those of the reason.
type NoMethodError struct{ Reason error }

func (e *NoMethodError) Error() string { return e.Reason.Error() }
func (e *NoMethodError) Unwrap() error { return e.Reason }
