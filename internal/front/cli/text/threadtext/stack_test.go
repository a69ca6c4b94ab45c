package threadtext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestMethodWithoutName checks that a MethodDesc replaces a missing name, except in SOS's form.
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

// TestNativeFrame checks that a zero offset is shown, and that a frame with only an error has no offset.
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
	none := answer.Missing[target.Addr](target.ErrNotInDump)
	lost := &answer.Frame{Kind: answer.FrameNative, SP: none, IP: none, Err: answer.Reason{Err: target.ErrNotInDump}}
	assert.Equal(t, "   <not in dump>    <not in dump> <unknown module>\n", write(lost))
	b, err = json.Marshal(lost)
	assert.NoError(t, err)
	for _, field := range []string{`"offset"`, `"sp"`, `"ip"`} {
		assert.NotContains(t, string(b), field)
	}
	// A call through a null pointer gives the instruction pointer 0.
	b, err = json.Marshal(&answer.Frame{Kind: answer.FrameNative, SP: known(0x10), IP: known(0)})
	assert.NoError(t, err)
	assert.Contains(t, string(b), `"ip":"0x0"`)
}

// TestDebugStackOrder checks the order of frames. SOS looks for the runtime's own frames only at managed frames, so
// frames above the outermost managed code are missing, and others follow native code.
func TestDebugStackOrder(t *testing.T) {
	list := []answer.DebugFrame{{SP: 0x10, IP: 1, Native: true}, {SP: 0x20, Label: "Internal call"}, {SP: 0x30, IP: 1, Method: answer.Text{S: "A.B()"}, Module: answer.Text{S: "a.dll"}},
		{SP: 0x38, Label: "Managed to Unmanaged transition"}, {SP: 0x40, IP: 1, Native: true}}
	write := func(sos bool, list ...answer.DebugFrame) (sps string) {
		text := page(sos, func(p *report.Page) {
			debugStack(p, &answer.Stacks{Debug: func(yield func(answer.DebugFrame, error) bool) {
				for _, f := range list {
					if !yield(f, nil) {
						return
					}
				}
			}})
		})
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "00000000000000") {
				sps += line[14:16] + " "
			}
		}
		return sps
	}
	assert.Equal(t, "10 20 30 38 40 ", write(false, list...))
	assert.Equal(t, "10 20 30 40 ", write(true, list...))
	list = append(list, list[2])
	list[5].SP = 0x50
	assert.Equal(t, "10 20 30 38 40 50 ", write(false, list...))
	assert.Equal(t, "10 20 30 40 38 50 ", write(true, list...))
}
