package contracts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/stresslog"
	"github.com/sosgo/sosgo/target"
)

// letters names every method M and all code K.
type letters struct{}

func (letters) Method(target.Addr) (string, error) { return "M", nil }
func (letters) Code(target.Addr) (string, error)   { return "K", nil }

// stressMessages returns the messages of a stress log as text, and the first error.
func stressMessages(rt *dac.Runtime) (string, error) {
	l, err := stresslog.Open(rt, letters{})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	a := l.Describe(context.Background(), 0)
	for m, err := range a.Messages {
		if err != nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "%x %.3f %s %s; ", m.OSID, m.Seconds, strings.Join(m.Facilities, " "), m.Text.String())
	}
	for _, err := range a.Noted() {
		return b.String(), err
	}
	return b.String(), nil
}

func logOf(t *testing.T, p *tiny) (string, error) {
	rt, _, err := p.open(t)
	require.NoError(t, err)
	return stressMessages(rt)
}

// TestStressLogRing refills the older chunk: the newest message is at its end, and one of its old
// messages is still complete.
func TestStressLogRing(t *testing.T) {
	p := newTiny(false)
	p.Main.Globals["StressLogMaxMessageSize"] = 40
	write := func(at, seconds uint64) { p.message(at, 1, stressStart+1000*seconds, p.counted, p.word, seconds, 0) }
	p.Write(p.buffer(0), make([]byte, stressChunk))
	p.Write(p.buffer(1), make([]byte, stressChunk))
	write(p.buffer(0)+88, 9)
	p.Words(p.buffer(0)+56, 0xbad, 0xbad, 0xbad, 0xbad) // the rest of a message
	write(p.buffer(0)+16, 1)
	for i := range uint64(3) {
		write(p.buffer(1)+8+40*i, 8-i)
	}
	p.Set(p.threadLog, "ThreadStressLog", members{"WriteHasWrapped": 1, "CurrentWriteChunk": p.chunks[0], "CurrentPtr": p.buffer(0) + 88, "ChunkListTail": p.chunks[1]})
	got, err := logOf(t, p)
	require.NoError(t, err)
	assert.Equal(t, "2a 9.000 GC word 9   |0000 %I64u%; 2a 8.000 GC word 8   |0000 %I64u%; 2a 7.000 GC word 7   |0000 %I64u%; 2a 6.000 GC word 6   |0000 %I64u%; 2a 1.000 GC word 1   |0000 %I64u%; ", got)
}

// TestStressLogDamage damages a log. Complete messages are read, and the rest is reported.
func TestStressLogDamage(t *testing.T) {
	newest := "2a 1.500 GC LOADER method {0method} (M) of type {0marked} (System.String); "
	for name, c := range map[string]struct {
		harm        func(p *tiny)
		want, words string
	}{
		"no signature":            {func(p *tiny) { p.Set(p.chunks[0], "StressLogChunk", members{"Sig2": 1}) }, newest, "there is no chunk at"},
		"newest elsewhere":        {func(p *tiny) { p.Set(p.threadLog, "ThreadStressLog", members{"CurrentPtr": 0x10}) }, "", "is not in the chunk"},
		"a list without end":      {func(p *tiny) { p.Set(p.threadLog, "ThreadStressLog", members{"Next": p.threadLog}) }, "", "does not end"},
		"chunk nowhere":           {func(p *tiny) { p.Set(p.chunks[1], "StressLogChunk", members{"Next": 0x70}) }, newest, "chunk at 0000000000000070"},
		"message over the end":    {func(p *tiny) { p.Words(p.buffer(0)+80, 1|63<<32) }, newest, "63 arguments is cut off"},
		"chunks of 1 GB":          {func(p *tiny) { p.Main.Globals["StressLogChunkSize"] = 1 << 30 }, "", "a chunk of 1073741824 bytes"},
		"messages without a head": {func(p *tiny) { p.Main.Types["StressMsgHeader"]["!"] = 8 }, "", "the head of a message has 8 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTiny(false)
			c.harm(p)
			got, err := logOf(t, p)
			require.ErrorIs(t, err, target.ErrCorrupt)
			require.ErrorContains(t, err, c.words)
			assert.True(t, strings.HasPrefix(got, p.symbols(c.want)), got)
		})
	}
}

// TestStressLogOff covers a process without a started log.
func TestStressLogOff(t *testing.T) {
	p := newTiny(false)
	p.Pointer(p.Main, "StressLog", 0)
	rt, _, err := p.open(t)
	require.NoError(t, err)
	l, err := stresslog.Open(rt, letters{})
	require.NoError(t, err)
	a := l.Describe(t.Context(), 0)
	assert.False(t, a.Enabled)
	assert.Empty(t, a.Noted())
}
