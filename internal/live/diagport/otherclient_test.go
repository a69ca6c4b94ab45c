package diagport

import (
	"bytes"
	"encoding/hex"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The messages of another client, github.com/pyroscope-io/dotnetdiag 1.2.1, to a process of .NET 10.0.14, and the
// answers of that process. The first begins a trace with one provider; the stream of the trace follows its answer.
const (
	collectTracing = "444f544e45545f4950435f5631007a00020200000a00000001000000010000000000000000f0000004000000" + sampleProfiler + "0000"
	sampleProfiler = "240000004d006900630072006f0073006f00660074002d0044006f0074004e004500540043006f00720065002d00" +
		"530061006d0070006c006500500072006f00660069006c006500720000" + "00"
	tracingBegun = "444f544e45545f4950435f5631001c00ff000000a01300680a7f0000" + "4e65747472616365"
	stopTracing  = "444f544e45545f4950435f5631001c0002010000a01300680a7f0000"
	tracingEnded = "444f544e45545f4950435f5631001c00ff000000a01300680a7f0000"
)

// TestOtherClient holds the messages of this package against those of another client, and reads what a real process
// answered to it.
func TestOtherClient(t *testing.T) {
	raw := func(text string) []byte {
		b, err := hex.DecodeString(text)
		require.NoError(t, err)
		return b
	}
	for _, sent := range []string{collectTracing, stopTracing} {
		want := raw(sent)
		c, payload, err := readMessage(bytes.NewReader(want))
		require.NoError(t, err)
		assert.Equal(t, uint8(2), c.set) // event pipe
		got, err := appendMessage(nil, c, payload)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	assert.Equal(t, raw(sampleProfiler), appendString(nil, "Microsoft-DotNETCore-SampleProfiler"))
	for answer, rest := range map[string]string{tracingBegun: "Nettrace", tracingEnded: ""} {
		r := bytes.NewReader(raw(answer))
		c, payload, err := readMessage(r)
		require.NoError(t, err)
		assert.Equal(t, answerOK, c)
		assert.Equal(t, raw("a01300680a7f0000"), payload) // the session
		after, _ := io.ReadAll(r)
		assert.Equal(t, rest, string(after), "what follows the answer is left to the caller")
	}
}
