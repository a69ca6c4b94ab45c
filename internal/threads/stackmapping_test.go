package threads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/target"
)

// TestStackMapping checks that only the stack counts as one in a mapping which the kernel merged with its neighbours.
func TestStackMapping(t *testing.T) {
	const mib = 1 << 20
	at := func(from, to target.Addr) target.Range { return target.Range{Start: from * mib, End: to * mib} }
	for _, c := range []struct {
		what    string
		mapping target.Range
		sp      target.Addr
		bounds  target.Range
		largest uint64
		want    target.Range
	}{
		{"a managed thread's", at(100, 208), 207 * mib, at(200, 208), 8 * mib, at(200, 208)},
		{"between two neighbours", at(100, 300), 207 * mib, at(200, 208), 8 * mib, at(200, 208)},
		{"the first thread's, that grows", at(207, 208), 207 * mib, at(200, 208), 8 * mib, at(207, 208)},
		{"a stack for signals", at(300, 301), 300 * mib, at(200, 208), 8 * mib, at(300, 301)},
		{"a native thread's", at(100, 108), 107 * mib, target.Range{}, 8 * mib, at(100, 108)},
		{"a native thread's with a neighbour", at(100, 208), 107 * mib, target.Range{}, 8 * mib, at(100, 108)},
		{"a native thread's with an unknown beginning", at(100, 208), 200 * mib, target.Range{}, 8 * mib, at(200, 208)},
		{"without a managed thread", at(100, 208), 107 * mib, target.Range{}, 0, at(100, 208)},
	} {
		assert.Equal(t, c.want, threads.StackMapping(c.mapping, c.sp, c.bounds, c.largest), c.what)
	}
}
