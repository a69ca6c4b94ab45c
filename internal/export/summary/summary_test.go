package summary_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/target"
)

func crash(exception string, methods ...string) *answer.Crash {
	c := &answer.Crash{Reason: "unhandled exception", Code: "0xe0434352"}
	e := answer.Exception{Type: answer.Text{S: exception}, Message: &answer.Text{S: "no"}}
	for _, m := range methods {
		e.Frames = append(e.Frames, answer.TraceFrame{Function: answer.Text{S: m}})
	}
	c.Exceptions = []answer.Exception{e}
	return c
}

func summed(c *answer.Crash) *answer.Summary {
	s := &answer.Summary{}
	summary.AddCrash(s, c)
	return s
}

// TestCrashSignature checks that the exception and the methods identify a crash, and not offsets or outer
// frames.
func TestCrashSignature(t *testing.T) {
	one := summed(crash("Contoso.Oops", "a.dll!System.X.Throw()+0x10", "b.dll!Contoso.A.Run()+0x2f"))
	assert.Equal(t, "Contoso.A.Run()", one.Top)
	assert.Equal(t, "Contoso.Oops", one.Exception)
	assert.Len(t, one.Signature, 16)
	assert.Equal(t, one.Signature, summed(crash("Contoso.Oops", "a.dll!System.X.Throw()+0x99", "b.dll!Contoso.A.Run()+0x1")).Signature)
	assert.NotEqual(t, one.Signature, summed(crash("Contoso.Ouch", "a.dll!System.X.Throw()+0x10", "b.dll!Contoso.A.Run()+0x2f")).Signature)
	assert.Equal(t, one.Signature, summed(crash("Contoso.Oops", "b.dll!Contoso.A.Run()+0x2f")).Signature, "the class library's own methods change with its versions")
	assert.Equal(t, answer.SignatureStrong, one.SignatureStrength)

	native := &answer.Crash{Reason: "SIGSEGV", Code: "11", Where: "libc.so.6+0x1234"}
	assert.Equal(t, summed(native).Signature, summed(&answer.Crash{Code: "11", Where: "libc.so.6+0x99"}).Signature)
	at := func(build string, offset answer.Hex) *answer.Crash {
		return &answer.Crash{Code: "11", StacksOnly: true, Stack: []answer.CrashFrame{{Method: answer.Text{S: "libcoreclr.so+0x10"}}},
			Contexts: []answer.CrashContext{{Where: "libcoreclr.so+0x10", Place: &answer.CodePlace{Module: "libcoreclr.so", Build: build, Offset: offset}}}}
	}
	assert.Equal(t, "libcoreclr.so+0x10", summed(at("build id 01", 16)).Top)
	assert.Equal(t, summed(at("build id 01", 16)).Signature, summed(at("build id 01", 16)).Signature)
	assert.NotEqual(t, summed(at("build id 01", 16)).Signature, summed(at("build id 01", 32)).Signature)
	assert.NotEqual(t, summed(at("build id 01", 16)).Signature, summed(at("build id 02", 16)).Signature)
	assert.Equal(t, summed(at("", 16)).Signature, summed(at("", 32)).Signature, "an offset in an unknown build is no place")
	alive := summed(&answer.Crash{Alive: true, Reason: "nothing"})
	assert.False(t, alive.Crashed)
	assert.Equal(t, "nothing", alive.Reason, "it says why it tells of no crash")
	text, err := json.Marshal(alive)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "crashed", "that a process had not crashed is never said: no dump proves it")
	assert.Empty(t, alive.Signature)
	missing := crash("", "x")
	missing.Exceptions[0].Type = answer.Text{Err: target.ErrNotInDump}
	assert.Empty(t, summed(missing).Exception, "what is not known is not told")
}

// TestSuspects checks that its type and what keeps it alive identify a suspect.
func TestSuspects(t *testing.T) {
	l := &answer.Leaks{Live: answer.HeapPart{Objects: 5, Size: 100}}
	step := answer.PathStep{PathObject: answer.PathObject{Address: 16, Type: answer.Text{S: "List<T>"}},
		Edge: &answer.PathEdge{Kind: "static field", Name: answer.Text{S: "Contoso.Cache.s_all"}}}
	x := answer.Suspect{Kind: answer.SuspectAccumulation, Verdict: "suspect", Retained: 90, Point: &step.PathObject, Path: &answer.RootPath{Objects: []answer.PathStep{step}}}
	l.Suspects = []answer.Suspect{x}
	s := &answer.Summary{}
	summary.AddLeaks(s, l)
	assert.EqualValues(t, 100, *s.Size)
	assert.Equal(t, "static Contoso.Cache.s_all", s.Suspects[0].Root)
	again := &answer.Summary{}
	x.Point = &answer.PathObject{Address: 999, Type: answer.Text{S: "List<T>"}}
	l.Suspects[0].Retained = 5
	summary.AddLeaks(again, l)
	assert.Equal(t, s.Suspects[0].Signature, again.Suspects[0].Signature)
}

func ExampleAddCrash() {
	s := &answer.Summary{}
	summary.AddCrash(s, &answer.Crash{Reason: "the process aborted itself", Code: "SIGABRT", Stack: []answer.CrashFrame{{Method: answer.Text{S: "Contoso.Orders.Load()"}}}})
	fmt.Println(s.Crashed, s.Top)
	// Output: true Contoso.Orders.Load()
}

// TestTriage checks that a summary has only the first findings, and notes what was not checked.
func TestTriage(t *testing.T) {
	s := &answer.Summary{}
	tr := &answer.Triage{Unknown: []answer.TriageAbsent{{Subject: "a", Err: target.ErrNotInDump}, {Subject: "b", Reason: "not asked for"}}}
	for _, kind := range append([]answer.FindingKind{answer.FindingCrash, answer.FindingDeadlock}, slices.Repeat([]answer.FindingKind{answer.FindingHeld}, 10)...) {
		tr.Findings = append(tr.Findings, answer.Finding{Kind: kind, Severity: answer.SeverityHigh, Statement: answer.Statement{Text: string(kind) + "!"}, Strength: answer.StrengthProved})
	}
	summary.AddTriage(s, tr)
	require.Len(t, s.Findings, 10)
	assert.Equal(t, answer.FindingSummary{Kind: "deadlock", Severity: "high", Text: "deadlock!", Strength: "proved"}, s.Findings[1])
	assert.Equal(t, []error{target.ErrNotInDump}, s.Noted())
	same := &answer.Summary{}
	same.Note(target.ErrNotInDump)
	summary.AddTriage(same, tr)
	assert.Equal(t, []error{target.ErrNotInDump}, same.Noted(), "the crash has noted it already")
	summary.AddTriage(nil, tr)
	summary.AddTriage(s, nil)
}
