package threads

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestBetween: frames that no walk yields come after those of a handler with a stack of its own, wherever that lies.
func TestBetween(t *testing.T) {
	th := &dac.Thread{Stack: target.Range{Start: 0x10000, End: 0x20000}}
	frames := func(sps ...target.Addr) (out []stackwalk.Frame) {
		for _, sp := range sps {
			out = append(out, stackwalk.Frame{SP: sp})
		}
		return out
	}
	for _, signal := range []target.Addr{0x8000, 0x80000} {
		var got []target.Addr
		for f := range between(th, slices.Values(frames(signal, signal+0x100, 0x11000, 0x12000)), frames(0x10800, 0x11800, 0x13000)) {
			got = append(got, f.SP)
		}
		assert.Equal(t, []target.Addr{signal, signal + 0x100, 0x10800, 0x11000, 0x11800, 0x12000, 0x13000}, got)
	}
}
