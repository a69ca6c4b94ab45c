package threads_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestTimes checks that times that a dump does not record are missing, not zero.
func TestTimes(t *testing.T) {
	busy := target.Thread{ID: 2, User: 3 * time.Second, Kernel: time.Second, Timed: true}
	for _, c := range []struct {
		name    string
		thread  stackwalk.Thread
		user    float64
		unknown bool
	}{
		{"a thread with times", stackwalk.Thread{OS: &busy}, 3, false},
		{"an idle thread", stackwalk.Thread{OS: &target.Thread{ID: 3, Timed: true}}, 0, false},
		{"a thread without times", stackwalk.Thread{OS: &target.Thread{ID: 1}}, 0, true},
		{"a thread that no OS thread runs", stackwalk.Thread{}, 0, true},
	} {
		user, kernel := threads.Times(made{process: target.Process{ID: 1}}, &c.thread)
		assert.Equal(t, c.unknown, user.Err() != nil, c.name)
		assert.Equal(t, user.Err(), kernel.Err(), c.name)
		assert.InDelta(t, c.user, float64(user.Value), 0, c.name)
	}
}

// TestTimesOfFirstThread checks that a thread with the times of the whole process in its place says so.
func TestTimesOfFirstThread(t *testing.T) {
	p := made{process: target.Process{ID: 1, Times: &target.Times{User: time.Second}}}
	for id, summed := range map[uint32]bool{1: true, 2: false} {
		user, kernel := threads.Times(p, &stackwalk.Thread{OS: &target.Thread{ID: id}})
		require.ErrorIs(t, user.Err(), target.ErrNotInDump)
		assert.Equal(t, user.Err(), kernel.Err())
		assert.Equal(t, summed, strings.Contains(user.Err().Error(), "of the whole process"), "thread %d", id)
	}
	list := []stackwalk.Thread{{OS: &target.Thread{ID: 1}}, {OS: &target.Thread{ID: 2, Timed: true, User: time.Second}}}
	first := threads.DescribeOS(p, list, nil).Threads
	text, err := json.Marshal(first)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"noTimes":"a core of the kernel has the times of the whole process`)
	assert.Equal(t, 1, strings.Count(string(text), "noTimes"))
}

// made is a process that is only asked for its description.
type made struct {
	target.Target
	process target.Process
}

func (m made) Process() target.Process { return m.process }

func (made) Exception() (target.Exception, bool) { return target.Exception{}, false }
