package threadtext

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

func known(a target.Addr) answer.Maybe[target.Addr] { return answer.Known(a) }

// TestAnalysis: SOS's form has the inner exception alone, in capitals, and moves what it takes for a fault; ours has
// all causes and places in the source. What can't be read is never "<none>".
func TestAnalysis(t *testing.T) {
	offset := uint64(0x1f)
	frames := func(yield func(*answer.Frame, error) bool) {
		_ = yield(&answer.Frame{SP: known(0xa0), IP: known(0xbc), Module: "a.dll", Method: answer.Text{S: "F(Int32)"}, Offset: &offset, File: "a.cs", Line: 3}, nil) &&
			yield(&answer.Frame{SP: known(0xb0), IP: known(0xcd), Method: answer.Text{S: "Emitted()"}}, nil)
	}
	tree := answer.ExceptionTree{Causes: [][]int{{1, 2}, nil, {0}}, Exceptions: []answer.Exception{
		{Address: 0xe1, Inner: 0xe2, Type: answer.Text{S: "Outer"}, HResult: 0x80131500, Fault: true,
			Frames: []answer.TraceFrame{{SP: 0xa0, IP: 0xbb, Function: answer.Text{S: "a.dll!F(Int32)"}, Offset: &offset}}},
		{Address: 0xe2, Type: answer.Text{S: "First"}, Message: &answer.Text{S: "no"}},
		{Address: 0xe3, Type: answer.Text{S: "Second"}, TraceError: target.ErrNotInDump},
	}, Omitted: []answer.OmittedCauses{{Exception: 1, Err: target.ErrCorrupt}}}
	write := func(sos bool, a answer.ThreadAnalysis) string {
		return page(sos, func(p *report.Page) { Analysis(p, &a) })
	}
	full := answer.ThreadAnalysis{OSID: 0x2cde, Frames: frames, Thrown: 0xe1, ExceptionTree: tree, Nested: []answer.NestedTree{{Address: 0xe4}}}
	assert.Equal(t, `Managed analysis provider: SOSCLRMA
OSThreadId: 2cde
Managed stack trace:
    00000000000000A0 00000000000000BC a.dll!F(Int32)+0x1f
    00000000000000B0 00000000000000CD UNKNOWN!Emitted()
Current exception:
    Exception object: 00000000000000E1
    Exception type:   Outer
    Message:          <none>
    HResult:          80131500
    StackTrace (generated):
    00000000000000A0 00000000000000BC a.dll!F+0x20
    InnerException:
        Exception object: 00000000000000E2
        Exception type:   First
        Message:          no
        HResult:          00000000
        StackTrace (generated):
Nested exception #0:
    Exception object: 00000000000000E4
`, write(true, full))
	assert.Equal(t, `OSThreadId: 2cde
Managed stack trace:
    00000000000000a0 00000000000000bc a.dll!F(Int32)+0x1f [a.cs @ 3]
    00000000000000b0 00000000000000cd Emitted()
Current exception:
    Exception object: 00000000000000e1
    Exception type:   Outer
    Message:          <none>
    HResult:          80131500
    StackTrace (generated):
    00000000000000a0 00000000000000bb a.dll!F+0x1f
    InnerException:
        Exception object: 00000000000000e2
        Exception type:   First
        Message:          no
        HResult:          00000000
        StackTrace (generated):
        <none>
        Other causes: <corrupt>
    InnerException:
        Exception object: 00000000000000e3
        Exception type:   Second
        Message:          <none>
        HResult:          00000000
        StackTrace (generated):
        <not in dump>
        InnerException:
            Exception object: 00000000000000e1
Nested exception #0:
    Exception object: 00000000000000e4
`, write(false, full))
	none := func(func(*answer.Frame, error) bool) {}
	const empty = "OSThreadId: 1\nManaged stack trace:\n    <no managed frames>\nCurrent exception:"
	assert.Equal(t, empty+" <none>\n", write(false, answer.ThreadAnalysis{OSID: 1, Frames: none}))
	assert.Equal(t, empty+" <not in dump>\n", write(false, answer.ThreadAnalysis{OSID: 1, Frames: none, Unread: target.ErrNotInDump}))
	assert.Equal(t, empty+"\n    Exception object: 00000000000000e1\n", write(false, answer.ThreadAnalysis{OSID: 1, Frames: none, Thrown: 0xe1}))
}
