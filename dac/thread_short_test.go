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
		"whole":                 {list: threadList{[]Thread{running, dead}, ThreadCounts{Threads: 2, Dead: 1}}},
		"one more":              {list: threadList{[]Thread{running, running}, ThreadCounts{Threads: 1}}},
		"a dead one is removed": {list: threadList{[]Thread{running, dead}, ThreadCounts{Threads: 3, Dead: 2}}},
		"one did not start":     {list: threadList{[]Thread{running}, ThreadCounts{Threads: 2, Unstarted: 1}}},
		"one starts, or is cut": {list: threadList{[]Thread{running, dead}, ThreadCounts{Threads: 3, Dead: 1}}, want: target.ErrNotInDump},
		"two are missing":       {list: threadList{[]Thread{running}, ThreadCounts{Threads: 3, Dead: 2}}, want: target.ErrCorrupt},
		"empty":                 {list: threadList{nil, ThreadCounts{Threads: 2, Dead: 1}}, want: target.ErrCorrupt},
	} {
		err := c.list.short()
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, c.want, target.Kind(err), name)
	}
}
