package dac

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// An Exception is an object of System.Exception or a derived type. Its texts are addresses of strings, or 0;
// StringAt reads them.
type Exception struct {
	Addr             target.Addr
	Type             *MethodTable
	Message          target.Addr
	Inner            target.Addr // the exception that caused this one
	HResult          uint32
	XCode            uint32      // code of the hardware exception, or 0xe0434352
	StackTraceString target.Addr // made by managed code on demand: 0 for most exceptions
	RemoteStackTrace target.Addr // kept by ExceptionDispatchInfo
	stackTrace       target.Addr
	traceFrames      uint32 // NativeAOT: entries of stackTrace
}

// IsException reports whether mt is System.Exception or derived from it. It returns an error if a base class is
// not in the dump.
func (r *Runtime) IsException(mt *MethodTable) (bool, error) {
	if err := r.layout.Refused("Exception"); err != nil {
		return false, err
	}
	for range limits.ParentChain {
		if mt.Addr == r.known.Exception {
			return true, nil
		}
		if mt.Parent == 0 || mt.Parent == r.known.Object || mt.HasComponents() {
			return false, nil
		}
		var err error
		if mt, err = r.TrustedMethodTable(mt.Parent); err != nil {
			return false, err
		}
	}
	return false, target.CorruptHeapf("a chain of more than %d base classes", limits.ParentChain)
}

// isSystemException reports whether the type is System.Exception itself, by a global of the runtime and without
// metadata.
func (r *Runtime) isSystemException(mt target.Addr) bool { return mt == r.known.Exception && mt != 0 }

// ErrNotException is the error for an object that is not an exception. It wraps target.ErrCorrupt: the runtime
// refers to the object as an exception.
var ErrNotException = target.CorruptHeapf("an object of another type")

// Exception reads the exception object at a. It returns ErrNotException for an object of another type.
func (r *Runtime) Exception(a target.Addr) (Exception, error) {
	e, err := r.readException(a)
	if err != nil {
		err = fmt.Errorf("exception %016x: %w", uint64(a), err)
	}
	return e, err
}

func (r *Runtime) readException(a target.Addr) (Exception, error) {
	word, err := target.Uint64(r.mem, a)
	if err != nil {
		return Exception{}, err
	}
	mt, err := r.TrustedMethodTable(target.Addr(word &^ r.consts.objectMask))
	if err != nil {
		return Exception{}, target.InHeap(err)
	}
	ok, err := r.IsException(mt)
	if err == nil && !ok {
		return Exception{}, ErrNotException
	}
	if err != nil && !errors.Is(err, target.ErrNotInDump) {
		return Exception{}, err // missing memory does not disprove it
	}
	o := &r.off.Exception
	rd := layout.Reader{Mem: r.mem, Base: a}
	e := Exception{
		Addr:             a,
		Type:             mt,
		Message:          rd.Ptr(o.Message),
		Inner:            rd.Ptr(o.Inner),
		HResult:          rd.U32(o.HResult),
		StackTraceString: rd.Ptr(o.StackTraceText),
		RemoteStackTrace: rd.Ptr(o.RemoteTraceText),
	}
	if o.Addresses != layout.Absent {
		e.stackTrace, e.traceFrames = rd.Ptr(o.Addresses), rd.U32(o.NumAddresses)
	} else {
		e.stackTrace, e.XCode = rd.Ptr(o.StackTrace), rd.U32(o.XCode)
	}
	return e, rd.Err
}

// TraceOffset returns the offset in an exception of the reference to its stack trace, and false if the layout
// lacks it.
func (r *Runtime) TraceOffset() (int, bool) {
	off := r.off.Exception.StackTrace
	if r.off.Exception.Addresses != layout.Absent {
		off = r.off.Exception.Addresses
	}
	return off, off != layout.Absent
}

// A TraceFrame is a frame of the stack trace that an exception collects while it is passed on (clrex.h,
// StackTraceElement).
type TraceFrame struct {
	// IP is inside the call, one less than the return address, or the address of the faulting instruction. In a
	// NativeAOT program it is the return address, as in its own stack traces.
	IP     target.Addr
	SP     target.Addr // 0 in a NativeAOT program
	Method target.Addr // MethodDesc; 0 in a NativeAOT program
	// Foreign marks the last frame of a trace copied from another throw of the exception.
	Foreign bool
}

// The flags of a StackTraceElement (clrex.h, StackTraceElementFlags).
const traceForeign = 1

// StackTrace reads the frames of e, the innermost first. It returns none for an exception that was not thrown.
func (r *Runtime) StackTrace(e *Exception) ([]TraceFrame, error) {
	if e == nil || e.stackTrace == 0 {
		return nil, nil
	}
	frames, err := r.impl.readTrace(e)
	if err != nil {
		err = fmt.Errorf("stack trace of exception %016x: %w", uint64(e.Addr), err)
	}
	return frames, err
}

func (r clr) readTrace(e *Exception) ([]TraceFrame, error) {
	array := e.stackTrace
	data, length, size, err := r.arrayData(array)
	if err != nil {
		return nil, err
	}
	if size == 8 && length > 0 {
		// Since 9 the first element of an array is the trace. The others keep the methods of collectible code
		// alive.
		if array, err = target.Pointer(r.mem, data); err != nil {
			return nil, err
		}
		if data, length, size, err = r.arrayData(array); err != nil {
			return nil, err
		}
	}
	if size != 1 {
		return nil, target.CorruptHeapf("an array of elements of %d bytes", size)
	}
	h, o := &r.off.TraceArray, &r.off.TraceElement
	if uint64(length) < uint64(h.Elements) {
		return nil, nil // the trace is empty so far
	}
	count, err := target.Uint32(r.mem, data+target.Addr(h.Count)) // before 9 the upper half is zero
	if err != nil {
		return nil, err
	}
	if room := (uint64(length) - uint64(h.Elements)) / uint64(o.Size); uint64(count) > room {
		return nil, target.CorruptHeapf("%d frames in an array with room for %d", count, room)
	}
	frames := make([]TraceFrame, 0, min(count, traceAtOnce))
	for i := range count {
		rd := layout.Reader{Mem: r.mem, Base: data + target.Addr(h.Elements) + target.Addr(i)*target.Addr(o.Size)}
		f := TraceFrame{
			IP:      rd.Ptr(o.IP),
			SP:      rd.Ptr(o.SP),
			Method:  rd.Ptr(o.Method),
			Foreign: rd.U32(o.Flags)&traceForeign != 0,
		}
		if rd.Err == nil && f.Method != 0 && !canonical(f.Method) {
			rd.Err = target.CorruptHeapf("frame %d is of the method %016x, where none can be", i, uint64(f.Method))
		}
		if rd.Err == nil && f.SP == 0 { // IP can be 0
			rd.Err = target.CorruptHeapf("frame %d has no stack pointer", i)
		}
		if rd.Err != nil {
			return frames, rd.Err
		}
		frames = append(frames, f)
	}
	return frames, nil
}

// traceAtOnce bounds the allocation before frames are read: the length comes from the dump.
const traceAtOnce = 1024

// arrayData returns the address of the elements of a one-dimensional array, their number, and the size of one
// in bytes.
func (r *Runtime) arrayData(a target.Addr) (data target.Addr, length uint32, size uint16, err error) {
	word, err := target.Uint64(r.mem, a)
	if err != nil {
		return 0, 0, 0, err
	}
	mt, err := r.TrustedMethodTable(target.Addr(word &^ r.consts.objectMask))
	if err != nil {
		return 0, 0, 0, target.InHeap(err)
	}
	if !mt.IsArray() {
		return 0, 0, 0, target.CorruptHeapf("%016x is not an array", uint64(a))
	}
	length, err = target.Uint32(r.mem, a+target.Addr(r.off.Array.NumComponents))
	return a + target.Addr(r.off.Array.Size), length, mt.ComponentSize, err
}
