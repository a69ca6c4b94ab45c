package codeinfo

import (
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A Suspension is a point at which the runtime can suspend a method (runtime async, .NET 11).
type Suspension struct {
	Native uint32 // offset in the code of the point's instruction
	Saved  []SavedVariable
}

// A SavedVariable is an argument, a local or a hidden argument that a suspended method stores in
// its continuation.
type SavedVariable struct {
	Number int32  // as in a Variable
	Offset uint32 // in the continuation, from its MethodTable
}

// Suspensions returns the points at which the runtime can suspend the method, in the order of their
// states. It is empty for other code, and before .NET 11 (docs/design/datacontracts/DebugInfo.md;
// jit/async.cpp adds the offset of the data).
func (d DebugInfo) Suspensions() ([]Suspension, error) {
	if !d.Chunks {
		return nil, nil
	}
	p, err := d.parts()
	b, err := d.read(p.suspensions, err)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return suspensions(b)
}

func suspensions(b []byte) ([]Suspension, error) {
	r := nibbleReader{b: b}
	n, total := r.uint(), r.uint()
	const fewest = 2 // minimum number of nibbles of a point or a variable
	if r.err == nil && (uint64(n)+uint64(total) > uint64(r.left()/fewest) || max(n, total) > limits.NativeVars) {
		r.err = target.Corruptf("%d suspension points with %d variables in %d bytes of debug information", n, total, len(b))
	}
	if r.err != nil {
		return nil, r.err
	}
	out := make([]Suspension, n)
	saved := make([]SavedVariable, total)
	native, sum := uint32(0), uint64(0)
	for i := range out {
		native += uint32(r.int())
		count := uint64(r.uint())
		if sum += count; sum > uint64(total) {
			return nil, target.Corruptf("%d suspension points with more than %d variables", n, total)
		}
		out[i] = Suspension{Native: native, Saved: saved[sum-count : sum : sum]}
	}
	for i := range saved[:sum] {
		saved[i] = SavedVariable{Number: int32(r.uint()) + minVarNumber11, Offset: r.uint()}
	}
	return out, r.err
}
