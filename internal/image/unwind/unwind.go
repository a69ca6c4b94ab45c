// Package unwind finds the caller of a frame from its registers. It handles processors and unwind
// formats and knows nothing about the CLR: a CodeMap supplies the code at an address and its unwind
// data. Start reading at Unwinder and Cursor.Step.
//
// Formats: Windows unwind codes for x64 (learn.microsoft.com, "x64 exception handling"; versions 1
// and 2), which the CLR uses on every OS, with its extension SET_FPREG_LARGE, and for ARM64 ("ARM64
// exception handling"); DWARF call frame information (.eh_frame); compact unwind information of
// Mach-O.
//
// Without readable unwind data, the frame pointer and then a scan of the stack find a plausible
// caller; its Trust is lower.
package unwind

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A Trust describes how a frame was found, and so how reliable it is.
type Trust uint8

// The kinds of trust, lowest first.
const (
	TrustNone    Trust = iota
	TrustScan          // a word of the stack that looks like a return address
	TrustFP            // the chain of frame pointers
	TrustUnwind        // unwind data of the callee
	TrustContext       // registers that the dump or the runtime recorded
)

func (t Trust) String() string {
	switch t {
	case TrustNone:
		return "none"
	case TrustScan:
		return "scan"
	case TrustFP:
		return "frame pointer"
	case TrustUnwind:
		return "unwind"
	case TrustContext:
		return "context"
	}
	return fmt.Sprintf("Trust(%d)", uint8(t))
}

// A Format is a kind of unwind data.
type Format uint8

// The formats.
const (
	FormatNone    Format = iota // code without unwind data
	FormatWindows               // UNWIND_INFO of x64, .xdata or packed words of ARM64
	FormatDWARF                 // call frame information
	FormatCompact               // an encoding of Mach-O's compact unwind information
	FormatLeaf                  // a function that changes only the return address
	FormatEntry                 // the entry point of a program, which has no caller
)

// Code is a range of code with one set of unwind data: a function, or a fragment or funclet of one.
type Code struct {
	Range  target.Range
	Format Format
	Base   target.Addr // FormatWindows: the base of RVAs in the unwind data
	Info   target.Addr // FormatWindows: the unwind data
	Packed uint32      // FormatWindows on ARM64: the packed word if Info is 0; FormatCompact: the encoding
	// Managed reports that a compiler of .NET made the code: its unwind data list each register that the prologue pushes.
	Managed bool

	fde *fde // FormatDWARF
}

// A CodeMap finds the code at an instruction pointer and its unwind data. Implementations are safe
// for concurrent use.
type CodeMap interface {
	// FindCode returns the code at ip. It reports false if the code is unknown. If the map has a method
	// Lacks(target.Addr) error, that returns why.
	FindCode(ip target.Addr) (Code, bool)
	// InCode reports whether ip may be in code. The fallbacks accept no other addresses.
	InCode(ip target.Addr) bool
}

// A Frame is one activation.
type Frame struct {
	Regs  target.Registers
	Code  Code // the callee's code from which the frame was found; in Walk, the frame's own code; zero if unknown
	Trust Trust
	// Exact is set if the thread continues at the instruction pointer, and not after a call: in the
	// leaf, and in code that a signal or an exception interrupted.
	Exact bool
	Err   error // why the walk ended here, before the end of the stack
	Doubt error // damage of the callee's unwind data, if the frame was found without them
}

// Lookup returns the address to look up the code with: the instruction pointer, or the byte before
// a return address, because a call can be the last instruction of a function.
func (f *Frame) Lookup() target.Addr {
	ip, _ := f.Regs.IP()
	if !f.Exact && ip > 0 {
		ip--
	}
	return ip
}

// An Unwinder unwinds the stacks of one process. It caches decoded unwind data and is safe for
// concurrent use.
type Unwinder struct {
	mem   target.Memory
	codes CodeMap

	mu    sync.RWMutex
	infos map[infoKey]*windowsInfo
}

type infoKey struct {
	base, info target.Addr
	packed     uint32
}

// New returns an Unwinder over mem for the code that codes describes.
func New(mem target.Memory, codes CodeMap) *Unwinder {
	return &Unwinder{mem: mem, codes: codes, infos: map[infoKey]*windowsInfo{}}
}

// maxSwitches limits how often a walk may switch to another stack, as signal frames and machine
// frames do. Only such steps may go down.
const maxSwitches = 64

// A Cursor steps through one stack. It is for one goroutine.
type Cursor struct {
	u        *Unwinder
	win      *target.Window
	stack    target.Range
	switches int
	scanned  bool // a scan found a frame: later frames must return to the end of a call
}

// Cursor returns a Cursor for a stack. The fallbacks stay within the range; an empty range means
// that it is unknown.
func (u *Unwinder) Cursor(stack target.Range) *Cursor {
	return &Cursor{u: u, win: target.NewWindow(u.mem), stack: stack}
}

// errEnd ends a walk without an error: the frame has no caller.
var errEnd = errors.New("end of the stack")

// errNoStack is the error of a zero Cursor or a nil Frame.
var errNoStack = target.Unsupportedf("no stack")

// Step changes f to its caller, by unwind data or, if these fail, by a fallback with at least the
// given trust. It reports false at the end of the stack. If the caller can't be found, it returns
// an error and leaves f unchanged.
func (c *Cursor) Step(f *Frame, least Trust) (bool, error) {
	if c.u == nil || f == nil {
		return false, errNoStack
	}
	code, ok := c.u.codes.FindCode(f.Lookup())
	if !ok {
		code = Code{}
	}
	return c.StepIn(f, code, least)
}

// StepIn is Step for a caller that has looked up the code of f.
func (c *Cursor) StepIn(f *Frame, code Code, least Trust) (bool, error) {
	if c.u == nil || f == nil {
		return false, errNoStack
	}
	next := *f
	next.Code = code
	next.Regs.PassVectors()
	err := c.unwind(&next)
	if err == nil {
		err = c.check(f, &next)
	}
	if ip, _ := next.Regs.IP(); err == nil && c.scanned && !next.Exact && !(c.u.codes.InCode(ip-1) && c.afterCall(f.Regs.Arch, ip)) {
		err = target.Corruptf("the frame that a scan led to at %#x returns to %#x, where no call ends", uint64(f.Lookup()), uint64(ip))
	}
	switch {
	case err == errEnd:
		return false, nil
	case err == nil:
		next.Trust, next.Err, next.Doubt = TrustUnwind, nil, nil
		*f = next
		return true, nil
	}
	if next = *f; c.signal(&next) && c.check(f, &next) == nil {
		next.Code = code
		*f = next
		return true, nil
	}
	if least <= TrustFP && c.isOutermost(f) {
		return false, nil
	}
	if least <= TrustFP && (c.link(f) || c.framePointer(f)) || least <= TrustScan && c.scan(f) {
		if f.Doubt = nil; errors.Is(err, target.ErrCorrupt) {
			f.Doubt = err
		}
		return true, nil
	}
	if least <= TrustScan && code.Format == FormatNone && (f.Trust == TrustScan || f.Trust == TrustFP) {
		return false, nil // a guess led here, and there is nothing more to try
	}
	return false, err
}

// Framed reports whether f, which is in code, has its complete stack frame. A thread stopped in a
// prologue or an epilogue has set it up or released it only partly. The compiler's records about
// places in the frame do not apply then, and the frame pointer may be the caller's. Framed is true
// if unwind data don't show it, and for frames that made a call.
func (c *Cursor) Framed(f *Frame, code Code) bool {
	ip, ok := f.Regs.IP()
	if !f.Exact || !ok || code.Format != FormatWindows || ip < code.Range.Start {
		return true
	}
	in := *f
	in.Code = code
	switch f.Regs.Arch {
	case target.ArchAMD64:
		return c.framedAMD64(&in, ip)
	case target.ArchARM64:
		return c.framedARM64(&in, ip)
	}
	return true
}

func (c *Cursor) unwind(f *Frame) error {
	exact := f.Exact
	f.Exact = false
	windows := f.Code.Format == FormatWindows
	switch {
	case f.Code.Format == FormatDWARF:
		return c.stepDWARF(f, exact)
	case windows && f.Regs.Arch == target.ArchAMD64:
		return c.stepAMD64(f, exact)
	case windows && f.Regs.Arch == target.ArchARM64:
		return c.stepARM64(f, exact)
	case f.Code.Format == FormatCompact:
		return c.stepCompact(f, exact)
	case f.Code.Format == FormatLeaf:
		return c.stepLeaf(f)
	case f.Code.Format == FormatEntry:
		return errEnd
	}
	return c.u.noData(f.Lookup())
}

// noData returns the error for code without unwind data, with the reason why the code map has none.
func (u *Unwinder) noData(ip target.Addr) error {
	if m, ok := u.codes.(interface{ Lacks(target.Addr) error }); ok {
		if err := m.Lacks(ip); err != nil {
			return fmt.Errorf("no unwind data for the code at %#x: %w", uint64(ip), err)
		}
	}
	return noDataError(ip)
}

// A noDataError is the address of code for which no compiler wrote unwind data.
type noDataError target.Addr

func (e noDataError) Error() string {
	return fmt.Sprintf("no unwind data for the code at %#x", uint64(e))
}

func (noDataError) Unwrap() error { return target.ErrUnsupported }

// Advice returns no advice: nothing has the data.
func (noDataError) Advice() string { return "" }

// check rejects a step without progress, and detects the end of the stack.
func (c *Cursor) check(from, to *Frame) error {
	ip, _ := to.Regs.IP()
	if ip == 0 && !to.Exact { // a signal may have interrupted a call through a null pointer
		return errEnd
	}
	old, _ := from.Regs.SP()
	sp, _ := to.Regs.SP()
	if sp%8 != 0 {
		return target.Corruptf("the caller of %#x has its stack pointer at %#x, which is not aligned", uint64(from.Lookup()), uint64(sp))
	}
	was, _ := from.Regs.IP()
	// An ARM64 leaf function does not change the stack pointer.
	if sp > old || sp == old && ip != was && from.Exact && from.Regs.Arch == target.ArchARM64 {
		return nil
	}
	if c.switches++; to.Exact && sp != old && c.switches <= maxSwitches {
		return nil
	}
	return target.Corruptf("the stack pointer goes from %#x to %#x", uint64(old), uint64(sp))
}

// Walk iterates over the frames of a stack, starting at regs. If the walk does not reach the end of
// the stack, the last frame has Err set.
func (u *Unwinder) Walk(regs target.Registers, stack target.Range) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		if u.codes == nil {
			return
		}
		c := u.Cursor(stack)
		f := Frame{Regs: regs, Trust: TrustContext, Exact: true}
		for range limits.StackFrames {
			next := f
			f.Code, _ = u.codes.FindCode(f.Lookup())
			more, err := c.StepIn(&next, f.Code, TrustScan)
			f.Err = err
			if !yield(f) || !more {
				return
			}
			f = next
		}
	}
}
