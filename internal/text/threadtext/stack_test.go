package threadtext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// TestMethodWithoutName: where the name lacks, the MethodDesc stands, to go on with;
// SOS's form stays.
func TestMethodWithoutName(t *testing.T) {
	write := func(sos bool, f *answer.Frame) string {
		return page(sos, func(p *report.Page) {
			w := frameWriter{p: p}
			var b strings.Builder
			w.method(&b, f)
			p.Print(b.String())
		})
	}
	f := &answer.Frame{Method: answer.Text{Err: target.ErrNotInDump}, MethodDesc: 0x7f0012345678}
	assert.Equal(t, "<not in dump> (MethodDesc 00007f0012345678)", write(false, f))
	assert.Equal(t, "<not in dump>", write(true, f))
	f.MethodDesc = 0
	assert.Equal(t, "<not in dump>", write(false, f))
	assert.Equal(t, "A.B()", write(false, &answer.Frame{Method: answer.Text{S: "A.B()"}, MethodDesc: 0x10}))
}

// TestNativeFrame: an offset of zero is one, and a frame that only says why there are
// no registers has none.
func TestNativeFrame(t *testing.T) {
	write := func(f *answer.Frame) string {
		return page(false, func(p *report.Page) { (&frameWriter{p: p}).frame(f) })
	}
	zero := uint64(0)
	f := &answer.Frame{Kind: answer.FrameNative, SP: known(0x10), IP: known(0x1000), Module: "libc.so.6", Offset: &zero}
	assert.Equal(t, "0000000000000010 0000000000001000 libc.so.6 + 0\n", write(f))
	f.AtException = true
	assert.Equal(t, "0000000000000010 0000000000001000 libc.so.6 + 0 (where the exception was raised)\n", write(f))
	b, err := json.Marshal(f)
	assert.NoError(t, err)
	assert.Contains(t, string(b), `"offset":0`)
	none := answer.Maybe[target.Addr]{Err: target.ErrNotInDump}
	lost := &answer.Frame{Kind: answer.FrameNative, SP: none, IP: none, Err: answer.Reason{Err: target.ErrNotInDump}}
	assert.Equal(t, "   <not in dump>    <not in dump> <unknown module>\n", write(lost))
	b, err = json.Marshal(lost)
	assert.NoError(t, err)
	for _, field := range []string{`"offset"`, `"sp"`, `"ip"`} {
		assert.NotContains(t, string(b), field)
	}
	// A call through a null pointer leads to 0.
	b, err = json.Marshal(&answer.Frame{Kind: answer.FrameNative, SP: known(0x10)})
	assert.NoError(t, err)
	assert.Contains(t, string(b), `"ip":"0x0"`)
}
