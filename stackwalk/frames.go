package stackwalk

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A FrameKind is the kind of a Frame.
type FrameKind uint8

// The kinds.
const (
	FrameManaged  FrameKind = iota // an activation of a managed method
	FrameExplicit                  // a Frame structure of the runtime
	FrameNative                    // an activation of other code
	FrameOther                     // Count frames of another runtime (FoldOthers)
)

var frameNames = [...]answer.FrameKind{answer.FrameManaged, answer.FrameExplicit, answer.FrameNative, answer.FrameOther}

func (k FrameKind) String() string { return enum.Name(frameNames[:], k, "FrameKind") }

// A Frame is one entry of a stack walk.
type Frame struct {
	Kind FrameKind
	// IP and SP are the registers of the activation. For an explicit frame, SP is its address, and IP is the
	// register when the walk reached it. For an interpreted method, IP is in its byte code, and SP is the address
	// of its explicit frame.
	IP, SP target.Addr
	// Regs are the registers of the activation. Except in the leaf, registers that a callee may destroy are
	// unknown.
	Regs  target.Registers
	Trust Trust
	// CallerSP is the stack pointer of the caller after a FrameManaged has returned, 0 if the caller is unknown.
	CallerSP target.Addr
	// Exact is set if IP is the instruction that runs next or that faulted, and not the one after a call.
	Exact bool
	// AtException is set if the walk started here, at the registers of the exception that the dump was written for.
	AtException bool

	Runtime  *dac.Runtime  // owner of the frame; nil for FrameNative
	Code     dac.CodeInfo  // for FrameManaged
	Explicit dac.Frame     // for FrameExplicit
	Module   target.Module // for FrameNative: the module of IP; zero outside of modules
	// Generated is set on a FrameNative in unreadable code that a runtime generated: a compiled method, or a stub.
	// Module is zero.
	Generated bool
	Count     int // for FrameOther: the number of frames

	// Lost is set if managed activations may be missing before the frame. Either the native code of a thread in
	// cooperative mode could not be unwound to its caller, or the previous explicit frame has no readable caller.
	Lost error

	Unplaced error // why the place of an interpreted method is unknown

	// Err is set on the last frame of a walk that did not reach the end of the stack. It is the reason.
	Err error
}

// Missing returns why frames are missing before f, or after it because the walk ended early. It is nil if the walk is
// complete there.
func (f *Frame) Missing() error {
	switch {
	case f.Err != nil:
		return fmt.Errorf("the stack ends at %#x: %w", uint64(f.SP), f.Err)
	case f.Lost != nil:
		return fmt.Errorf("frames before %#x may be missing: %w", uint64(f.SP), f.Lost)
	}
	return nil
}

// Method returns the frame's method, or nil.
func (f *Frame) Method() (*dac.MethodDesc, error) {
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
		return dac.CodeOf(f.Runtime).TrustedMethodDesc(a)
	}
	return nil, nil
}

// A Trust says how a frame was found, from a guess to a record: by a word of the stack that looks like a return address
// (TrustScan), by the chain of frame pointers (TrustFP), by unwind data (TrustUnwind), by recorded registers
// (TrustContext).
type Trust = unwind.Trust

// The kinds of Trust.
const (
	TrustNone    = unwind.TrustNone
	TrustScan    = unwind.TrustScan
	TrustFP      = unwind.TrustFP
	TrustUnwind  = unwind.TrustUnwind
	TrustContext = unwind.TrustContext
)
