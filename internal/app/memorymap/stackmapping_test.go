package memorymap

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestStackMapping checks that only the stack counts as one in a mapping which the kernel merged with its neighbours.
func TestStackMapping(t *testing.T) {
	const mib = 1 << 20
	at := func(from, to target.Addr) target.Range { return target.Range{Start: from * mib, End: to * mib} }
	managed := func(stack target.Range) *stackwalk.Thread {
		return &stackwalk.Thread{Managed: &dac.Thread{Stack: stack}}
	}
	native := &stackwalk.Thread{}
	for _, c := range []struct {
		what    string
		mapping target.Range
		sp      target.Addr
		thread  *stackwalk.Thread
		largest uint64
		want    target.Range
	}{
		{"a managed thread's", at(100, 208), 207 * mib, managed(at(200, 208)), 8 * mib, at(200, 208)},
		{"between two neighbours", at(100, 300), 207 * mib, managed(at(200, 208)), 8 * mib, at(200, 208)},
		{"the first thread's, that grows", at(207, 208), 207 * mib, managed(at(200, 208)), 8 * mib, at(207, 208)},
		{"a stack for signals", at(300, 301), 300 * mib, managed(at(200, 208)), 8 * mib, at(300, 301)},
		{"a native thread's", at(100, 108), 107 * mib, native, 8 * mib, at(100, 108)},
		{"a native thread's with a neighbour", at(100, 208), 107 * mib, native, 8 * mib, at(100, 108)},
		{"a native thread's with an unknown beginning", at(100, 208), 200 * mib, native, 8 * mib, at(200, 208)},
		{"without a managed thread", at(100, 208), 107 * mib, native, 0, at(100, 208)},
	} {
		assert.Equal(t, c.want, stackMapping(c.mapping, c.sp, c.thread, c.largest), c.what)
	}
}
