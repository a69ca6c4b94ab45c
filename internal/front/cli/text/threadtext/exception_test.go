package threadtext

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestTrace: SOS moves the addresses of what it takes for a fault, and has places
// in the source only where they are wanted.
func TestTrace(t *testing.T) {
	offset := uint64(0x1f)
	x := &answer.Exception{Fault: true, Frames: []answer.TraceFrame{{SP: 0x10, IP: 0xff, Function: answer.Text{S: "a.dll!F()"},
		Offset: &offset, File: "a.cs", Line: 3, Foreign: true}, {Function: answer.Text{Err: target.ErrNotInDump}}}}
	write := func(sos, lines bool) string { return page(sos, func(p *report.Page) { trace(p, x, lines) }) }
	head := "    SP               IP               Function\n"
	assert.Equal(t, head+"    0000000000000010 0000000000000100 a.dll!F()+0x20\n    0000000000000000 0000000000000001 <not in dump>\n\n", write(true, false))
	assert.Contains(t, write(true, true), "F()+0x20 [a.cs @ 3]\n")
	assert.Equal(t, head+"    0000000000000010 00000000000000ff a.dll!F()+0x1f [a.cs @ 3]\n    --- rethrown here ---\n"+
		"    0000000000000000 0000000000000000 <not in dump>\n\n", write(false, false))
	x.Frames = nil
	assert.Equal(t, "<none>\n", write(false, true))
	x.TraceError = target.ErrNotInDump
	assert.Equal(t, "<none>\n", write(true, true))
	assert.Equal(t, "<not in dump>\n", write(false, true))
}

func TestThrownException(t *testing.T) {
	write := func(sos bool, x *answer.ThrownException, nested bool) string {
		return page(sos, func(p *report.Page) { ThrownException(p, x, ExceptionOptions{Nested: nested}) })
	}
	assert.Equal(t, "There is no current managed exception on this thread\n", write(true, &answer.ThrownException{}, true))
	x := &answer.ThrownException{Exception: &answer.Exception{Address: 1, Inner: 2, InnerType: answer.Text{S: "I"}}, HasNested: true}
	assert.Contains(t, write(true, x, false), "InnerException:   I, Use printexception 0000000000000002 to see more.\n")
	assert.Contains(t, write(true, x, false), "There are nested exceptions on this thread.")
	x.Nested = func(yield func(*answer.Exception, error) bool) {
		yield(&answer.Exception{Address: 3}, target.ErrCorrupt)
	}
	assert.Contains(t, write(true, x, true), "\nNested exception ---")
	assert.Contains(t, write(true, x, true), "Invalid exception object: 0000000000000003\n")
	assert.NotContains(t, write(false, x, true), "Invalid")
}

func TestGreeting(t *testing.T) {
	assert.Empty(t, Greeting(nil))
	assert.Equal(t, []string{"crash: FailFast: m"}, Greeting(&answer.Crash{Record: &answer.CrashRecord{Reason: "FailFast", Message: "m"}}))
	x := &answer.Crash{Reason: "it aborted", Code: "SIGABRT"}
	assert.Equal(t, []string{"crash: it aborted"}, Greeting(x))
	x.Exceptions = []answer.Exception{{Type: answer.Text{S: "E"}, Message: &answer.Text{S: "why"}}}
	assert.Equal(t, []string{"crash: it aborted", "exception: E: why", "crashinfo shows more"}, Greeting(x))
	x.Verdicts = []answer.Verdict{{Strength: answer.StrengthRecorded}, {Strength: answer.StrengthLikely}}
	assert.Equal(t, []string{"crash: it aborted", "likely exception: E: why", "crashinfo shows more"}, Greeting(x))
}

// TestCrashRecord: SOS has the exception three times.
func TestCrashRecord(t *testing.T) {
	inner := answer.RecordedException{Exception: answer.Exception{Address: 2, Type: answer.Text{S: "I"}, Message: &answer.Text{S: "m"}}}
	x := &answer.Crash{Record: &answer.CrashRecord{Reason: "FailFast", Exception: &answer.RecordedException{
		Exception: answer.Exception{Address: 1, Type: answer.Text{S: "O"}}, Inners: []answer.RecordedException{inner}}}}
	ours := page(false, func(p *report.Page) { Crash(p, x, CrashOptions{}) })
	assert.Contains(t, ours, "InnerExceptions:\n    ---")
	assert.NotContains(t, ours, "** Nested Exceptions **")
	assert.Contains(t, page(true, func(p *report.Page) { Crash(p, x, CrashOptions{}) }), "** Nested Exceptions **")
	assert.Contains(t, page(true, func(p *report.Page) { Crash(p, &answer.Crash{Alive: true}, CrashOptions{}) }), "No crash info to display")
}
