package dac

import (
	"errors"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/internal/image/nativecode"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A NativeMethod is a method of a NativeAOT program.
type NativeMethod struct {
	Name  string      // as in the program's stack traces: Ns.Type.Method(Int32, String); "" if unknown
	Start target.Addr // start of the method itself, even for an address in a funclet
}

// NativeAt returns the method of a NativeAOT program at an address. The unwind data locate the method's start;
// for a funclet, such as a catch block, the data after them do. It returns ErrNoCode for an address outside the
// program's code. Name is "" in a program compiled without method names.
func (r *CodeReader) NativeAt(ip target.Addr) (NativeMethod, error) {
	inst := r.Runtime().Instance()
	if r.Runtime().Check(FeatureMethods) == nil || !inst.Module.Contains(ip) {
		return NativeMethod{}, ErrNoCode
	}
	n, _ := r.native.Get(func() (*nativecode.Code, error) {
		n := nativecode.Open(r.mem, r.Runtime().Target().Platform().Arch, &inst.Module)
		return &n, nil
	})
	found, ok := n.Find(ip)
	if !ok || found.Range.Start == 0 {
		return NativeMethod{}, ErrNoCode
	}
	m := NativeMethod{Start: found.Range.Start}
	if data, ok := n.Data(ip); ok {
		if main, err := r.Runtime().methodOfFunclet(m.Start, data); err == nil {
			m.Start = main
		}
	} else if n.HasFunctionTable() {
		m.Start = r.beforeFunclets(n, found)
	}
	name, err := r.Runtime().codeName(m.Start)
	if err != nil && !errors.Is(err, target.ErrUnsupported) {
		return m, err
	}
	m.Name = name
	return m, nil
}

// beforeFunclets returns the method of a funclet in a PE image: the nearest code before it that is not a
// funclet. The kind of code is recorded after its unwind data (CoffNativeCodeManager.cpp). The compiler leaves
// no gap between a method and its funclets; code after a gap counts as a method.
func (r *CodeReader) beforeFunclets(n *nativecode.Code, c unwind.Code) target.Addr {
	const kindMask, handler, filter = 3, 1, 2
	at := c
	for range limits.Funclets {
		if at.Format != unwind.FormatWindows || at.Info == 0 {
			break
		}
		size, err := codeinfo.UnwindInfoEnd(r.mem, r.Runtime().Target().Platform().Arch, at.Info)
		if err != nil {
			break
		}
		flags, err := target.Uint8(r.mem, at.Info+target.Addr(size))
		if err != nil {
			break
		}
		switch flags & kindMask {
		case handler, filter:
			before, ok := n.Find(at.Range.Start - 1)
			if !ok || before.Range.End != at.Range.Start {
				return c.Range.Start
			}
			at = before
		case 0:
			return at.Range.Start
		default:
			return c.Range.Start
		}
	}
	return c.Range.Start
}
