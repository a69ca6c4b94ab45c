package dac

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestShortThreadList has lists in the middle of a removal, and lists that are cut.
func TestShortThreadList(t *testing.T) {
	running, dead := Thread{State: ThreadBackground}, Thread{State: ThreadDead}
	for name, c := range map[string]struct {
		list threadList
		cut  bool
	}{
		"whole":                 {list: threadList{[]Thread{running, dead}, ThreadCounts{Threads: 2, Dead: 1}}},
		"one more":              {list: threadList{[]Thread{running, running}, ThreadCounts{Threads: 1}}},
		"a dead one is removed": {list: threadList{[]Thread{running, dead}, ThreadCounts{Threads: 3, Dead: 2}}},
		"one did not start":     {list: threadList{[]Thread{running}, ThreadCounts{Threads: 2, Unstarted: 1}}},
		"a running one lacks":   {list: threadList{[]Thread{running, dead}, ThreadCounts{Threads: 3, Dead: 1}}, cut: true},
		"two lack":              {list: threadList{[]Thread{running}, ThreadCounts{Threads: 3, Dead: 2}}, cut: true},
		"empty":                 {list: threadList{nil, ThreadCounts{Threads: 2, Dead: 1}}, cut: true},
	} {
		err := c.list.short()
		if !c.cut {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}
