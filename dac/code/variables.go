package code

import (
	"fmt"

	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// Variables returns where the arguments and locals of the code that info
// describes are stored, in the compiler's order. Code without debug
// information is target.ErrUnsupported (see NoDebugInfo).
func (r *Reader) Variables(info Info) ([]codeinfo.Variable, error) {
	// The compilers that pack bounds are those that know APX.
	blob, packed, err := r.debugInfo(info)
	if err != nil {
		return nil, err
	}
	b, err := blob.variables()
	if err != nil {
		return nil, err
	}
	vars, err := codeinfo.Variables(b, packed)
	if err != nil {
		return nil, fmt.Errorf("variables of the code at %016x: %w", uint64(info.Start), err)
	}
	return vars, nil
}

// variables returns the bytes with the variables: they follow the bounds.
func (b *debugBlob) variables() ([]byte, error) {
	n := nibbleReader{next: func(i int) (byte, error) { return target.Uint8(b.mem, b.at+target.Addr(i)) }}
	skip := uint64(n.uint())
	if skip == fatBounds {
		skip = uint64(n.uint()) + uint64(n.uint())
	}
	size := n.uint()
	if n.err != nil {
		return nil, n.err
	}
	if skip > 2*limits.DebugInfoBytes || size > limits.DebugInfoBytes {
		return nil, target.Corruptf("debug information at %016x of %d and %d bytes", uint64(b.at), skip, size)
	}
	return target.Bytes(b.mem, b.at+target.Addr(n.bytes())+target.Addr(skip), int(size))
}
