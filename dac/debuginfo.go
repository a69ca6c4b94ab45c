package dac

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

// ILMap returns the map from the code described by info to the method's IL, in the order of native offsets. It
// returns target.ErrUnsupported for code without a map, such as a stub. The map belongs to this body of the
// method.
func (r *CodeReader) ILMap(info CodeInfo) ([]ILMapping, error) {
	d, err := r.debugInfo(info)
	if err != nil {
		return nil, err
	}
	list, err := d.ILMap()
	if err != nil && !errors.Is(err, target.ErrNotInDump) {
		err = fmt.Errorf("IL map of the code at %016x: %w", uint64(info.Start), err)
	}
	return list, err
}

// ILOffset returns the IL offset of the instruction for the code at info.Offset. It returns false if the map has no
// such entry.
func (r *CodeReader) ILOffset(info CodeInfo) (int, bool, error) {
	list, err := r.ILMap(info)
	if err != nil {
		return 0, false, err
	}
	il, ok := codeinfo.ILOffset(list, info.Offset)
	return il, ok, nil
}

// Variables returns the locations of the arguments and locals of the code described by info, in the compiler's
// order. It returns target.ErrUnsupported for code without debug information (see NoDebugInfo).
func (r *CodeReader) Variables(info CodeInfo) ([]VariableRange, error) {
	d, err := r.debugInfo(info)
	if err != nil {
		return nil, err
	}
	vars, err := d.Variables(r.Runtime().Target().Platform().Arch)
	if err != nil && !errors.Is(err, target.ErrNotInDump) {
		err = fmt.Errorf("variables of the code at %016x: %w", uint64(info.Start), err)
	}
	return vars, err
}

// Suspensions returns the points at which the runtime can suspend the code described by info, in the order of
// their states. It returns target.ErrUnsupported for code without debug information.
func (r *CodeReader) Suspensions(info CodeInfo) ([]Suspension, error) {
	d, err := r.debugInfo(info)
	if err != nil {
		return nil, err
	}
	list, err := d.Suspensions()
	if err != nil && !errors.Is(err, target.ErrNotInDump) {
		err = fmt.Errorf("suspension points of the code at %016x: %w", uint64(info.Start), err)
	}
	return list, err
}

// errNoDebugInfo is the error for code without a map to IL.
var errNoDebugInfo = target.Unsupportedf("the code has no map to IL")

// NoDebugInfo reports whether err means that the compiler recorded no map of the code.
func NoDebugInfo(err error) bool { return errors.Is(err, errNoDebugInfo) }

// debugInfo finds the compiler's debug information of a body.
func (r *CodeReader) debugInfo(info CodeInfo) (codeinfo.DebugInfo, error) {
	var none codeinfo.DebugInfo
	c, err := r.members()
	if err != nil {
		return none, err
	}
	f := &c.debugInfo
	if c.debugInfoErr != nil {
		return none, c.debugInfoErr
	}
	switch info.Kind {
	case CodeJIT, CodeInterpreted:
		offset, name := c.CodeHeader.DebugInfo, "RealCodeHeader.DebugInfo"
		if info.Kind == CodeInterpreted {
			offset, name = c.codeOffsets.Interpreted.DebugInfo, "InterpreterRealCodeHeader.DebugInfo"
		}
		at, err := r.ptr(info.Header, offset, name)
		if err == nil && at == 0 {
			err = errNoDebugInfo
		}
		if err != nil {
			return none, err
		}
		h := codeinfo.DebugInfoHeader{Flags: f.FlagByte != 0, PatchpointSize: f.PatchpointSize, PatchpointNumLocal: f.PatchpointNumLocal, Chunks: f.Chunks != 0, Packed: f.BoundsPacked != 0}
		return h.Open(r.mem, at)
	case CodeReadyToRun:
		return r.imageDebugInfo(c, info)
	}
	return none, errNoDebugInfo
}
