package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// TestEndsByItself: a recorded time, a token and other tasks end a wait; a time that nothing records may.
func TestEndsByItself(t *testing.T) {
	const wait60, join = "System.Threading.Tasks.Task.Wait(Int32)", "System.Threading.Thread.Join(Int32)"
	for _, c := range []struct {
		w      wait
		called string
		want   string
	}{
		{wait{how: answer.HowRecorded, timeout: 60000}, wait60, "waits for at most 1m0s"},
		{wait{how: answer.HowRecorded, timeout: -1}, wait60, ""},
		{wait{how: answer.HowRecorded, timeout: -1}, "System.Threading.Tasks.Task.Wait(System.Threading.CancellationToken)", "can be canceled if its token can"},
		{wait{how: answer.HowRecorded, timeout: -1}, "System.Threading.Tasks.Task.WaitAny(System.Threading.Tasks.Task[])", "waits for any of several"},
		{wait{how: answer.HowInferred, timeout: -1}, join, "may wait for a limited time, which is unknown"},
		{wait{how: answer.HowInferred, timeout: -1}, "System.Threading.Thread.Join()", ""},
	} {
		assert.Equal(t, c.want, endsByItself(&c.w, c.called), c.called)
	}
}

// TestEntryPoint: a program whose Main waits for its end is described last, and not as blocking.
func TestEntryPoint(t *testing.T) {
	of := func(id uint32, entry bool) *wait {
		return &wait{thread: &threads.Thread{OS: &target.Thread{ID: id}}, how: answer.HowRecorded, tasks: []target.Addr{1}, entry: entry}
	}
	first, second := of(1, true), of(2, false)
	g := &grapher{s: &survey{gaps: &answer.Gaps{}, waits: []*wait{first, second}}, of: map[*threads.Thread]*wait{}, circled: map[*wait]bool{},
		described: map[*wait]bool{}, rows: map[*threads.Thread]*answer.ThreadWait{first.thread: {}, second.thread: {}}}
	list := g.chains()
	assert.Len(t, list, 2)
	assert.Contains(t, list[0].Text, "sync over async: thread 0 ")
	assert.Contains(t, list[1].Text, "the program's entry point")
	assert.NotContains(t, list[1].Text, "blocks")
}
