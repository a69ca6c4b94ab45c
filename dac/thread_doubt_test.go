package dac

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestShortThreadList has lists to which a thread is being added or from which one is being removed, and lists that are cut.
func TestShortThreadList(t *testing.T) {
	running, dead := Thread{State: ThreadBackground}, Thread{State: ThreadDead}
	for name, c := range map[string]struct {
		list threadList
		want error
	}{
		"whole":                 {list: threadList{threads: []Thread{running, dead}, counts: ThreadCounts{Threads: 2, Dead: 1}}},
		"one more":              {list: threadList{threads: []Thread{running, running}, counts: ThreadCounts{Threads: 1}}},
		"a dead one is removed": {list: threadList{threads: []Thread{running, dead}, counts: ThreadCounts{Threads: 3, Dead: 2}}},
		"one did not start":     {list: threadList{threads: []Thread{running}, counts: ThreadCounts{Threads: 2, Unstarted: 1}}},
		"one starts, or is cut": {list: threadList{threads: []Thread{running, dead}, counts: ThreadCounts{Threads: 3, Dead: 1}}, want: target.ErrNotInDump},
		"two are missing":       {list: threadList{threads: []Thread{running}, counts: ThreadCounts{Threads: 3, Dead: 2}}, want: target.ErrCorrupt},
		"empty":                 {list: threadList{threads: nil, counts: ThreadCounts{Threads: 2, Dead: 1}}, want: target.ErrCorrupt},
	} {
		err := c.list.short()
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, c.want, target.Kind(err), name)
	}
}

// TestMiscountedThreads compares states with the counters of the store.
func TestMiscountedThreads(t *testing.T) {
	list := []Thread{{State: ThreadBackground}, {State: ThreadBackground | ThreadDead}, {State: ThreadUnstarted}, {}}
	for counts, want := range map[ThreadCounts]error{
		{Threads: 4, Dead: 1, Unstarted: 1, Background: 1}: nil,
		{Threads: 4, Dead: 1, Unstarted: 1, Background: 2}: nil,
		{Threads: 4, Dead: 0, Unstarted: 1, Background: 1}: target.ErrNotInDump, // the runtime changes a state and a counter one after the other
		{Threads: 4, Dead: 1, Unstarted: 2, Background: 1}: target.ErrNotInDump,
		{Threads: 4, Dead: 1, Unstarted: 0, Background: 3}: target.ErrNotInDump, // a background thread starts
		{Threads: 4, Dead: 3, Unstarted: 1, Background: 1}: target.ErrCorrupt,
		{Threads: 4, Dead: 0, Unstarted: 3, Background: 1}: target.ErrCorrupt,
		{Threads: 4, Dead: 1, Unstarted: 1, Background: 4}: target.ErrCorrupt,
		{Threads: 5, Dead: 2, Unstarted: 1, Background: 1}: nil, // a thread is being removed
	} {
		l := threadList{threads: list, counts: counts}
		require.Equal(t, want, target.Kind(l.miscounted()), counts)
	}
}

// TestImplausibleThread has threads with members that contradict each other.
func TestImplausibleThread(t *testing.T) {
	sound := Thread{OSID: 7, ManagedID: 3, Frame: ^target.Addr(0), allocAt: 0x4000, ExposedHandle: 0x2000, AllocContext: AllocContext{Pointer: 0x73000, Limit: 0x73100}}
	require.NoError(t, sound.implausible())
	for _, c := range []AllocContext{{Limit: 0x73100}, {Pointer: 0x93000, Limit: 0x73100}} { // between two stores of the collector
		changing := sound
		changing.AllocContext = c
		require.Equal(t, target.ErrNotInDump, target.Kind(changing.implausible()), c)
	}
	detached := sound // a thread whose destructors have run, as the first one in exit
	detached.allocAt, detached.AllocContext, detached.State = 0, AllocContext{}, ThreadDetached|ThreadBackground
	require.NoError(t, detached.implausible())
	for name, change := range map[string]func(*Thread){
		"no limit":    func(t *Thread) { t.AllocContext.Limit = 0 },
		"odd pointer": func(t *Thread) { t.AllocContext.Pointer = 0x93001 },
		"no id":       func(t *Thread) { t.ManagedID = 0 },
		"no locals":   func(t *Thread) { t.allocAt = 0 },
		"no handle":   func(t *Thread) { t.ExposedHandle = 0 },
		"no frames":   func(t *Thread) { t.Frame = 0 },
	} {
		damaged := sound
		change(&damaged)
		require.ErrorIs(t, damaged.implausible(), target.ErrCorrupt, name)
	}
	native := Thread{Unknown: target.ErrUnsupported}
	require.NoError(t, native.implausible())
}

// TestStrangerOnStack has a thread on its own stack, on a signal handler's, and with another thread's id.
func TestStrangerOnStack(t *testing.T) {
	dumped := []stackPointer{{0x1800, 7}, {0x2800, 8}, {0x9000, 9}}
	at := func(id uint32, start target.Addr) *Thread {
		return &Thread{OSID: id, Stack: target.Range{Start: start, End: start + 0x1000}}
	}
	require.Zero(t, at(7, 0x1000).strangerOn(dumped))
	require.Zero(t, at(9, 0x3000).strangerOn(dumped))
	require.Equal(t, uint32(8), at(4, 0x2000).strangerOn(dumped))
	ended := at(0, 0x2000)
	require.Zero(t, ended.strangerOn(dumped))
}
