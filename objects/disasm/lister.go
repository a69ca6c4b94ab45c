package disasm

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Lister disassembles methods, in IL and machine code, with names. It is safe for concurrent use.
type Lister struct {
	rt      *dac.Runtime
	code    *code.Reader
	objects *objects.Reader
	names   *Names
}

// NewLister returns a lister for a runtime's methods.
func NewLister(rt *dac.Runtime, r *objects.Reader) *Lister {
	rt = dac.OrNone(rt)
	return &Lister{rt: rt, code: code.Of(rt), objects: r, names: NewNames(rt, r)}
}

// reader returns what reads methods.
func (l *Lister) reader() *code.Reader {
	if l.code == nil {
		return code.Of(nil)
	}
	return l.code
}

// arch returns the processor of the machine code.
func (l *Lister) arch() target.Arch { return dac.OrNone(l.rt).Target().Platform().Arch }

// A NoMethodError reports why there is no method at an address. Its text and kind are those of the reason.
type NoMethodError struct{ Reason error }

func (e *NoMethodError) Error() string {
	if e.Reason == nil {
		return "no method"
	}
	return e.Reason.Error()
}
func (e *NoMethodError) Unwrap() error { return e.Reason }
