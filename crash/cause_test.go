package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/crash"
	"github.com/sosgo/sosgo/target"
)

func TestReason(t *testing.T) {
	for words, want := range map[string]string{
		"SIGQUIT":            "somebody asked for the dump (SIGQUIT)",
		"SIGSEGV/MAPERR":     "memory was touched that the process may not touch",
		"0xC00000FD":         "the stack overflowed",
		"0x12345678":         "exception or signal 0x12345678",
		"SIGRTMIN+3/SI_USER": "exception or signal SIGRTMIN+3/SI_USER",
	} {
		assert.Equal(t, want, crash.Reason(&target.Exception{Words: words}))
	}
}

func TestLikelyCause(t *testing.T) {
	assert.Empty(t, crash.LikelyCause(nil))
	root := crash.Fault{Type: "System.NullReferenceException", Message: "Object reference not set", Trace: []crash.Place{
		{Function: "System.Private.CoreLib.dll!System.String.get_Length()"}, {Function: "app.dll!App.Run()", File: "run.cs", Line: 7}}}
	assert.Equal(t, "Outer was not caught; it goes back to System.NullReferenceException: Object reference not set "+
		"(a member was used of a reference that was null), in app.dll!App.Run() [run.cs @ 7]",
		crash.LikelyCause([]crash.Fault{{Type: "Outer"}, root}))
	assert.Equal(t, "Odd was not caught", crash.LikelyCause([]crash.Fault{{Type: "Odd"}}))
}

func TestCulprit(t *testing.T) {
	assert.Nil(t, crash.Culprit(nil))
	framework := []crash.Place{{Function: "System.A.B()"}, {Function: "Microsoft.C.D()"}}
	assert.Same(t, &framework[0], crash.Culprit(framework))
}
