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
	for counts, sound := range map[ThreadCounts]bool{
		{Threads: 4, Dead: 1, Unstarted: 1, Background: 1}: true,
		{Threads: 4, Dead: 1, Unstarted: 1, Background: 2}: true,
		{Threads: 4, Dead: 0, Unstarted: 1, Background: 1}: false,
		{Threads: 4, Dead: 1, Unstarted: 2, Background: 1}: false,
		{Threads: 4, Dead: 1, Unstarted: 1, Background: 0}: false,
		{Threads: 4, Dead: 1, Unstarted: 1, Background: 3}: false,
		{Threads: 5, Dead: 2, Unstarted: 1, Background: 1}: true, // a thread is being removed
	} {
		l := threadList{threads: list, counts: counts}
		if sound {
			require.NoError(t, l.miscounted(), counts)
		} else {
			require.ErrorIs(t, l.miscounted(), target.ErrCorrupt, counts)
		}
	}
}

// TestImplausibleThread has threads with members that contradict each other.
func TestImplausibleThread(t *testing.T) {
	sound := Thread{OSID: 7, allocAt: 0x4000, ExposedHandle: 0x2000, AllocContext: AllocContext{Pointer: 0x3000, Limit: 0x3100}}
	require.NoError(t, sound.implausible())
	for name, change := range map[string]func(*Thread){
		"no limit":   func(t *Thread) { t.AllocContext.Limit = 0 },
		"no pointer": func(t *Thread) { t.AllocContext.Pointer = 0 },
		"no locals":  func(t *Thread) { t.allocAt = 0 },
		"no handle":  func(t *Thread) { t.ExposedHandle = 0 },
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
