package threads_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A timed process has a system and recorded times.
type timed struct {
	target.Target
	os    target.OS
	times *target.Times
}

func (p timed) Platform() target.Platform { return target.Platform{OS: p.os} }
func (p timed) Process() target.Process   { return target.Process{ID: 1, Times: p.times} }

// TestTimesOf checks that times that a dump does not record are missing, not zero.
func TestTimesOf(t *testing.T) {
	first, busy, idle := target.Thread{ID: 1}, target.Thread{ID: 2, User: 3 * time.Second, Kernel: time.Second}, target.Thread{ID: 3}
	all := []stackwalk.Thread{{OS: &first}, {OS: &busy}, {OS: &idle}}
	none := []stackwalk.Thread{{OS: &first}, {OS: &idle}}
	sum := &target.Times{User: 4 * time.Second}
	for _, c := range []struct {
		name    string
		process timed
		list    []stackwalk.Thread
		at      int
		user    float64
		unknown bool
	}{
		{"a thread of a kernel's core", timed{os: target.OSLinux, times: sum}, all, 1, 3, false},
		{"an idle thread of it", timed{os: target.OSLinux, times: sum}, all, 2, 0, false},
		{"the first thread of it", timed{os: target.OSLinux, times: sum}, all, 0, 0, true},
		{"the first thread of a minidump", timed{os: target.OSWindows, times: sum}, all, 0, 0, false},
		{"createdump", timed{os: target.OSLinux}, none, 1, 0, true},
	} {
		user, kernel := threads.TimesOf(c.process, c.list)(&c.list[c.at])
		assert.Equal(t, c.unknown, user.Err != nil, c.name)
		assert.Equal(t, user.Err, kernel.Err, c.name)
		assert.InDelta(t, c.user, float64(user.Value), 0, c.name)
	}
	dead, _ := threads.TimesOf(timed{os: target.OSLinux}, all)(&stackwalk.Thread{})
	assert.ErrorIs(t, dead.Err, target.ErrNotInDump)
}
