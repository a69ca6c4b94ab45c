package locks

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestAtEntry: a service waits in Main for its end, which may never come. That is no fault unless something else waits for the same.
func TestAtEntry(t *testing.T) {
	main, other := &stackwalk.Thread{}, &stackwalk.Thread{}
	ofMain := func(t *stackwalk.Thread) bool { return t == main }
	event := &lock{Lock: answer.Lock{Kind: answer.LockEvent}}
	for _, c := range []struct {
		why string
		d   dependent
		is  bool
	}{
		{"Main alone", dependent{waits: []*wait{{thread: main}}}, true},
		{"another thread", dependent{waits: []*wait{{thread: other}}}, false},
		{"Main and another thread", dependent{waits: []*wait{{thread: main}, {thread: other}}}, false},
		{"Main and suspended code", dependent{waits: []*wait{{thread: main}}, ops: []*operation{{}}}, false},
		{"suspended code", dependent{ops: []*operation{{}}}, false},
	} {
		c.d.lock = event
		assert.Equal(t, c.is, c.d.atEntry(ofMain), c.why)
	}
}

// TestSignalAndWait: WaitHandle.SignalAndWait sets its first argument, so that it ends the waits for that event.
func TestSignalAndWait(t *testing.T) {
	w := &wait{object: objects.Object{Addr: target.Addr(0x10)}}
	is, ok := w.signaled()
	assert.True(t, ok)
	assert.True(t, slices.Contains(signals[is.kind], "WaitHandle.SignalAndWait"))
	is, ok = (&wait{lock: &lock{Lock: answer.Lock{Kind: answer.LockEvent, Address: 0x10}}}).signaled()
	assert.True(t, ok)
	assert.False(t, slices.Contains(signals[is.kind], "WaitHandle.SignalAndWait"), "a ManualResetEventSlim is no WaitHandle")
}
