package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// frameTop ends the chain of explicit frames (frames.h, FRAME_TOP).
const frameTop = ^target.Addr(0)

// FrameChain returns the addresses of a thread's explicit frames (frames.h,
// Frame), the innermost first. It returns what it found with the first error.
func (r *Runtime) FrameChain(t *Thread) ([]target.Addr, error) {
	next, err := r.layout.Offset("Frame", "Next")
	if err != nil {
		return nil, err
	}
	var out []target.Addr
	for at := t.Frame; at != 0 && at != frameTop; {
		// Callers' frames lie above: a chain that does not grow is a cycle.
		if n := len(out); n >= limits.FrameChain || n > 0 && at <= out[n-1] {
			return out, target.Corruptf("chain of explicit frames of thread %d at %#x", t.ManagedID, uint64(at))
		}
		out = append(out, at)
		if at, err = target.Pointer(r.mem, at+target.Addr(next)); err != nil {
			return out, fmt.Errorf("explicit frames of thread %d: %w", t.ManagedID, err)
		}
	}
	return out, nil
}
