package stackwalk

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A FrameKind says what a Frame of a walk is.
type FrameKind uint8

// The kinds.
const (
	FrameManaged  FrameKind = iota // an activation of a managed method
	FrameExplicit                  // a Frame structure of the runtime
	FrameNative                    // an activation of other code
	FrameOther                     // Count frames of another runtime (FoldOthers)
)

func (k FrameKind) String() string {
	switch k {
	case FrameManaged:
		return "managed"
	case FrameExplicit:
		return "explicit"
	case FrameNative:
		return "native"
	case FrameOther:
		return "other"
	}
	return fmt.Sprintf("FrameKind(%d)", uint8(k))
}

// A Frame is one entry of a stack walk.
type Frame struct {
	Kind FrameKind
	// IP and SP are those of the activation. Of an explicit frame SP is its
	// address, and IP that of the registers that were known when the walk came
	// to it.
	IP, SP target.Addr
	// Regs are the registers of the activation. Those that a callee was free
	// to destroy are not known, but in the leaf.
	Regs  target.Registers
	Trust unwind.Trust
	// CallerSP is the stack pointer of the caller, once a FrameManaged has returned. 0 where the caller is not known.
	CallerSP target.Addr
	// Exact says that IP is the instruction that runs next, or that faulted,
	// and not the one behind a call.
	Exact bool
	// AtException says that the walk began here, at the registers of the exception that
	// the dump was written for.
	AtException bool

	Runtime  *dac.Runtime  // whose frame it is; nil for FrameNative
	Code     code.Info     // FrameManaged
	Explicit dac.Frame     // FrameExplicit
	Module   target.Module // FrameNative: the module that IP is in, zero if none
	Count    int           // FrameOther: how many frames it stands for

	// Lost is set on a frame before which managed activations may be missing, and says why: the native code
	// that the thread runs in cooperative mode could not be unwound to what called it, or the explicit frame
	// before does not tell its caller.
	Lost error

	// Err is set on the last frame of a walk that did not reach the end of the
	// stack, and says why.
	Err error
}

// Method returns the method that the frame runs or stands for, nil where there
// is none.
func (f *Frame) Method() (*code.MethodDesc, error) {
	switch f.Kind {
	case FrameManaged:
		return f.Code.Method, nil
	case FrameExplicit:
		if f.Runtime == nil {
			return nil, nil
		}
		a, err := f.Runtime.FrameMethod(&f.Explicit)
		if err != nil || a == 0 {
			return nil, err
		}
		return code.Of(f.Runtime).TrustedMethodDesc(a)
	}
	return nil, nil
}
