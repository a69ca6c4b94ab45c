package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// TestOutOfPreparation checks which stack traces show the preparation of a method for a native caller. The method is
// the only entry, has no instruction, is on the thread's stack, and comes from the same throw.
func TestOutOfPreparation(t *testing.T) {
	stack := target.Range{Start: 0x1000, End: 0x2000}
	frame := dac.TraceFrame{SP: 0x1800, Method: 0x5000}
	assert.True(t, outOfPreparation([]dac.TraceFrame{frame}, stack))
	for name, change := range map[string]func(f *dac.TraceFrame){
		"the method ran":             func(f *dac.TraceFrame) { f.IP = 0x7000 },
		"on another stack":           func(f *dac.TraceFrame) { f.SP = 0x2800 },
		"no method":                  func(f *dac.TraceFrame) { f.Method = 0 },
		"thrown once more elsewhere": func(f *dac.TraceFrame) { f.Foreign = true },
	} {
		f := frame
		change(&f)
		assert.False(t, outOfPreparation([]dac.TraceFrame{f}, stack), name)
	}
	caller := dac.TraceFrame{IP: 0x7000, SP: 0x1900, Method: 0x6000}
	assert.False(t, outOfPreparation([]dac.TraceFrame{frame, caller}, stack), "a managed caller could have caught it")
	assert.False(t, outOfPreparation(nil, stack), "never thrown")
	assert.False(t, outOfPreparation([]dac.TraceFrame{frame}, target.Range{}), "the thread's stack is unknown")
}
