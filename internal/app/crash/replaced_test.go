package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestReplaced checks that the outermost unhandled exception of a thread is blamed, as the runtime reports it. A
// handled exception and another thread's exception are not blamed.
func TestReplaced(t *testing.T) {
	died, other := &stackwalk.Thread{Managed: &dac.Thread{ManagedID: 1}}, &stackwalk.Thread{Managed: &dac.Thread{ManagedID: 2}}
	const handling, unhandled = answer.CarriedHandling, answer.CarriedUnhandled
	list := func(states ...answer.CarriedState) (out []carried) {
		out = append(out, carried{thread: other, thrown: 0x900, state: handling})
		for i, s := range states {
			out = append(out, carried{thread: died, thrown: target.Addr(0x10 * (i + 1)), state: s})
		}
		return append(out, carried{thread: other, thrown: 0x910, state: unhandled})
	}
	for _, c := range []struct {
		states    []answer.CarriedState
		thrown    target.Addr
		unhandled bool
		later     int
	}{
		{[]answer.CarriedState{unhandled}, 0x10, true, 0},
		{[]answer.CarriedState{unhandled, unhandled}, 0x20, true, 1},
		{[]answer.CarriedState{unhandled, handling}, 0x10, true, 0},
		{[]answer.CarriedState{handling, unhandled}, 0x20, true, 0},
		{[]answer.CarriedState{unhandled, handling, unhandled}, 0x30, true, 1},
		{[]answer.CarriedState{handling, handling}, 0x10, false, 0},
	} {
		x := &Crash{Thread: died, carried: list(c.states...)}
		x.choose()
		assert.Equal(t, c.thrown, x.Thrown, c.states)
		assert.Equal(t, c.unhandled, x.Unhandled, c.states)
		assert.Equal(t, c.later, x.later(), c.states)
	}
	x := &Crash{carried: list(handling, unhandled)}
	x.choose()
	assert.Equal(t, target.Addr(0x20), x.Thrown, "the first thread that has one")
	assert.Same(t, died, x.Thread)
	none := &Crash{}
	none.choose()
	assert.Zero(t, none.Thrown)
}
