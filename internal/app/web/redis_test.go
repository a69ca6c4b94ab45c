package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestSilent checks that many old commands without an answer are a finding, unlike young ones, a few, and commands of a lost connection.
func TestSilent(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 30, 0, time.UTC)
	sent := func(n int64, ago time.Duration) *answer.RedisConnection {
		since := now.Add(-ago)
		return &answer.RedisConnection{Name: answer.Text{S: "cache:6379/Interactive"}, State: answer.Text{S: "ConnectedEstablished"},
			Sent: answer.RedisQueue{Count: answer.Known(n), Command: answer.Text{S: "GET"}, Since: &since}}
	}
	v := silent(sent(40, 12*time.Second), now)
	require.NotNil(t, v)
	assert.Equal(t, "40 commands that cache:6379/Interactive was sent wait for its answer, the first (GET) for 12 s", v.Text)
	assert.Equal(t, answer.FindingDependency, v.Kind)
	part := sent(40, 12*time.Second)
	part.Sent.Count = answer.Of[int64](40, target.ErrNotInDump)
	v = silent(part, now)
	require.NotNil(t, v)
	assert.Contains(t, v.Text, "at least 40 commands")
	lost, unknown := sent(40, 12*time.Second), sent(40, 12*time.Second)
	lost.State.S, unknown.Sent.Since = "Disconnected", nil
	for name, c := range map[string]*answer.RedisConnection{"young": sent(40, time.Second), "few": sent(4, time.Minute), "lost": lost, "unknown": unknown} {
		assert.Nil(t, silent(c, now), name)
	}
	assert.Nil(t, silent(sent(40, 12*time.Second), time.Time{}), "the time of the dump is unknown")
}
