package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestEnteredIn checks that only a call which is done, and which no other has undone, proves that a lock was entered. A loop may have done so before.
func TestEnteredIn(t *testing.T) {
	const gate, other = 0x10, 0x20
	call := func(method string, on target.Addr, at int) tasks.Call {
		return tasks.Call{Method: method, Object: on, Offset: at}
	}
	enter, exit := call("Monitor.Enter", gate, 4), call("Monitor.Exit", gate, 24)
	unknown, scope := call("Monitor.TryEnter", 0, 4), call("Scope.Dispose", 0, 30)
	for _, c := range []struct {
		why    string
		around tasks.Around
		loops  ilflow.Loops
		refers bool
		want   possession
	}{
		{"it sleeps", tasks.Around{Before: []tasks.Call{call("Thread.Sleep", 0, 4)}}, nil, true, heldUnseen},
		{"past Enter", tasks.Around{Before: []tasks.Call{enter}, Later: []tasks.Call{exit}}, nil, false, heldEntered},
		{"past Exit, in this order of the code", tasks.Around{Before: []tasks.Call{enter, exit}}, nil, true, heldUnread},
		{"past Enter and Exit, and Enter", tasks.Around{Before: []tasks.Call{enter, exit, enter}, Later: []tasks.Call{exit}}, nil, false, heldEntered},
		{"past Exit of another", tasks.Around{Before: []tasks.Call{enter, call("Lock.EnterScope", other, 14), scope}, Later: []tasks.Call{exit}}, nil, false, heldEntered},
		{"past Enter of an unknown object", tasks.Around{Before: []tasks.Call{unknown}}, nil, false, heldUnread},
		{"past Enter of an unknown object, with a reference to the lock", tasks.Around{Before: []tasks.Call{unknown}}, nil, true, heldEntered},
		{"past Enter of another", tasks.Around{Before: []tasks.Call{call("Lock.EnterScope", other, 4)}}, nil, true, heldUnseen},
		{"about to enter", tasks.Around{Later: []tasks.Call{call("Monitor.Enter", gate, 14)}}, ilflow.Loops{0: 8}, true, heldUnseen},
		{"in a loop", tasks.Around{Later: []tasks.Call{call("ReaderWriterLockSlim.EnterWriteLock", gate, 14)}}, ilflow.Loops{0: 20}, true, heldUnread},
	} {
		assert.Equal(t, c.want, enteredIn(&c.around, c.loops, gate, func() bool { return c.refers }), c.why)
	}
}

// TestReceives checks that a reader of a full channel goes on if no channel has it among its waiters, and stands if it waits for something else.
func TestReceives(t *testing.T) {
	full, empty := &channelWait{}, &channelWait{}
	for _, c := range []struct {
		thing thing
		want  bool
	}{
		{thing{cause: tasks.CauseChannelRead}, true},
		{thing{cause: tasks.CauseChannelRead, channel: full}, true},
		{thing{cause: tasks.CauseChannelRead, channel: empty}, false},
		{thing{cause: tasks.CauseChannelWrite}, true},
		{thing{cause: tasks.CauseChannelWrite, channel: empty}, false},
		{thing{cause: tasks.CausePromise}, false},
	} {
		g := newGrapher(&survey{gaps: &answer.Gaps{}, suspension: suspension{standing: map[target.Addr]*operation{1: {thing: &c.thing}}, goesOn: map[target.Addr]bool{2: true}}})
		assert.Equal(t, c.want, g.receives(&holder{box: 1}, full), c.thing)
		assert.True(t, g.receives(&holder{box: 2}, full))
		assert.False(t, g.receives(&holder{box: 3}, full), "nothing is known")
	}
}

// TestTakesOn checks that a thread which takes from a collection goes on where the semaphore of its items has permits.
func TestTakesOn(t *testing.T) {
	thread := &stackwalk.Thread{OS: &target.Thread{ID: 7}}
	for _, count := range []int64{0, 1} {
		g := newGrapher(&survey{gaps: &answer.Gaps{}, blockedThreads: blockedThreads{waits: []*wait{
			{thread: thread, timeout: -1, lock: &lock{Lock: answer.Lock{Kind: answer.LockSemaphore}, count: count}}}}})
		g.nodes()
		assert.Equal(t, count > 0, g.takesOn(holder{thread: thread}))
	}
}

// TestCrowded checks that no holder is likely where more seem to have entered a semaphore than may.
func TestCrowded(t *testing.T) {
	for most, want := range map[int64]answer.Strength{1: answer.StrengthPossible, 2: answer.StrengthLikely} {
		l := &lock{most: most}
		u := &semaphoreUse{gives: true, holders: []holder{{box: 1, strength: answer.StrengthLikely}, {box: 2, strength: answer.StrengthLikely}}}
		g := newGrapher(&survey{gaps: &answer.Gaps{}, suspension: suspension{uses: map[*lock]*semaphoreUse{l: u}}})
		v := answer.Conclude(answer.FindingPermits, words.Text("1 waits"), "")
		assert.True(t, g.permits(&v, l))
		assert.Equal(t, want, v.Strength)
	}
}
