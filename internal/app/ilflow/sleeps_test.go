package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/metadata"
)

// TestSleepAt: a frame is in a call of Thread.Sleep with a constant, though what the statement began with is on the evaluation stack.
func TestSleepAt(t *testing.T) {
	const sleep, other = 0x0a000001, 0x0a000002
	call := func(token byte) []byte { return []byte{0x28, token, 0, 0, 0x0a} }
	member := func(token metadata.Token) string {
		return map[metadata.Token]string{sleep: "Thread.Sleep", other: "Queue.Take"}[token]
	}
	il := func(parts ...[]byte) (out []byte) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return append(out, 0x2a)
	}
	for name, c := range map[string]struct {
		il   []byte
		ms   int64
		want bool
	}{
		"at once":              {il([]byte{0x1a}, call(1)), 4, true},
		"behind another call":  {il(call(2), []byte{0x1a}, call(1), call(2)), 4, true},
		"the longest of two":   {il(call(2), []byte{0x1a}, call(1), []byte{0x1d}, call(1), call(2)), 7, true},
		"for ever":             {il([]byte{0x15}, call(1)), -1, true},
		"a variable":           {il([]byte{0x06}, call(1)), 0, false},
		"a variable behind it": {il([]byte{0x1a}, call(1), []byte{0x06}, call(1)), 4, true},
		"behind a jump":        {il([]byte{0x2b, 0x00, 0x1a}, call(1)), 0, false},
		"no sleep":             {il(call(2)), 0, false},
	} {
		ms, ok := SleepAt(c.il, 0, member)
		assert.Equal(t, c.want, ok, name)
		assert.Equal(t, c.ms, ms, name)
	}
}
