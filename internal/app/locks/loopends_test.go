package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
)

// TestLocksIn checks that a loop takes turns if it enters a lock and leaves it in each turn, whatever smaller loops in it do.
func TestLocksIn(t *testing.T) {
	enter, exit := tasks.Call{Method: "ReaderWriterLockSlim.EnterReadLock", Offset: 4}, tasks.Call{Method: "ReaderWriterLockSlim.ExitReadLock", Offset: 24}
	work := tasks.Call{Method: "Work.Hash", Offset: 14}
	for _, c := range []struct {
		why   string
		calls []tasks.Call
		loops ilflow.Loops
		want  bool
	}{
		{"readers of a cache", []tasks.Call{enter, work, exit}, ilflow.Loops{0: 30}, true},
		{"with a loop under the lock", []tasks.Call{enter, work, exit}, ilflow.Loops{0: 30, 10: 20}, true},
		{"a lock around the loop", []tasks.Call{enter, work, exit}, ilflow.Loops{10: 20}, false},
		{"a loop behind the one with the lock", []tasks.Call{enter, work, exit}, ilflow.Loops{0: 30, 40: 50}, false},
		{"a lock that is never left", []tasks.Call{enter, work}, ilflow.Loops{0: 30}, false},
		{"no lock", []tasks.Call{work}, ilflow.Loops{0: 30}, false},
		{"no loop", []tasks.Call{enter, work, exit}, nil, false},
	} {
		assert.Equal(t, c.want, locksIn(c.calls, c.loops), c.why)
	}
}
