package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/target"
)

// maxProtected bounds the references of one GCFrame: the runtime's own code
// protects a few locals, or the arguments of a call.
const maxProtected = 1 << 16

// A Protected is an array of references that the runtime's native code has told
// the garbage collector of.
type Protected struct {
	At       target.Addr // of the first
	Count    uint32
	Interior bool // they may point into objects, or at none
}

// Protected returns the references that f keeps for native code. Only a
// GCFrame does, which is an explicit frame up to .NET Core 3.1; others have a
// Count of 0 (frames.h, GCFrame::GcScanRoots).
func (r *Runtime) Protected(f *Frame) (Protected, error) {
	l, err := r.frameLayout()
	if err != nil {
		return Protected{}, err
	}
	if f.Class != "GCFrame" || l.GC.References == layout.Absent {
		return Protected{}, nil
	}
	rd := reader{mem: r.mem, base: f.Addr}
	p := Protected{At: rd.ptr(l.GC.References), Count: rd.u32(l.GC.Count), Interior: rd.u32(l.GC.Interior) != 0}
	if rd.err != nil {
		return Protected{}, fmt.Errorf("GCFrame %016x: %w", uint64(f.Addr), rd.err)
	}
	if p.Count > maxProtected {
		return Protected{}, target.Corruptf("GCFrame %016x: %d references", uint64(f.Addr), p.Count)
	}
	return p, nil
}
