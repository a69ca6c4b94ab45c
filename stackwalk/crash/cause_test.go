package crash_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/stackwalk/crash"
	"github.com/sosgo/sosgo/target"
)

func TestReason(t *testing.T) {
	const self = 42
	signal := func(n, code int32, sender uint32) *target.Exception {
		s := &target.Signal{Number: n, Known: true, Code: code, PID: sender, UID: 7}
		return &target.Exception{Code: uint32(n), Words: s.String(), Signal: s}
	}
	number := func(n int32) *target.Exception { return &target.Exception{Signal: &target.Signal{Number: n}} }
	code := func(c uint32) *target.Exception { return &target.Exception{Code: c, Words: fmt.Sprintf("0x%08x", c)} }
	for _, c := range []struct {
		x    *target.Exception
		want string
	}{
		{signal(11, 1, 0), "access to memory that is not accessible to the process"},
		{signal(11, target.SIKernel, 0), "access to memory that is not accessible to the process, at an address that is not reported (not canonical)"},
		{signal(11, target.SIUser, 99), "SIGSEGV was sent by process 99 (user 7)"},
		{signal(6, target.SIUser, 99), "SIGABRT was sent by process 99 (user 7)"},
		{signal(11, target.SITkill, self), "the process sent itself SIGSEGV (raise or kill)"},
		{signal(11, target.SIQueue, 0), "SIGSEGV was sent by the kernel or by a process of another pid namespace (user 7)"},
		{signal(6, target.SITkill, self), "the process aborted itself (SIGABRT)"},
		{number(6), "the process aborted itself (SIGABRT)"},
		{number(11), "signal SIGSEGV: access to memory that is not accessible to the process, or a process sent it (unknown)"},
		{number(3), "a dump was requested (SIGQUIT)"},
		{number(37), "signal SIGRTMIN+3"},
		{code(0xc00000fd), "the stack overflowed"},
		{code(0xc000000d), "a function was called with an invalid parameter"},
		{code(0xc0000008), "exception 0xc0000008 (STATUS_INVALID_HANDLE)"},
		{code(0x12345678), "exception 0x12345678"},
		{&target.Exception{Requested: true}, "taken on demand; no crash recorded"},
	} {
		assert.Equal(t, c.want, crash.Reason(c.x, self))
	}
}

func TestLikelyCause(t *testing.T) {
	assert.Empty(t, crash.LikelyCause(nil))
	root := crash.Fault{Type: "System.NullReferenceException", Message: "Object reference not set", Trace: []crash.Place{
		{Function: "System.Private.CoreLib.dll!System.String.get_Length()"}, {Function: "app.dll!App.Run()", File: "run.cs", Line: 7}}}
	assert.Equal(t, "Outer was not caught; caused by System.NullReferenceException: Object reference not set "+
		"(usually: a null reference was used, or in unsafe code a pointer near 0), in app.dll!App.Run() [run.cs @ 7]",
		crash.LikelyCause([]crash.Fault{{Type: "Outer"}, root}))
	thrown := crash.Fault{Type: "System.OutOfMemoryException", Message: "thrown by hand"}
	assert.Contains(t, crash.LikelyCause([]crash.Fault{thrown}), "(usually: out of memory")
	assert.Equal(t, "System.OutOfMemoryException was not caught: thrown by hand", crash.ProvedCause([]crash.Fault{thrown}), "a type proves no cause")
	thrown.Cause = "the limit of 64 MB"
	assert.Equal(t, "System.OutOfMemoryException was not caught: thrown by hand (the limit of 64 MB)", crash.ProvedCause([]crash.Fault{thrown}))
	assert.Equal(t, "Odd was not caught", crash.LikelyCause([]crash.Fault{{Type: "Odd"}}))
	for message, want := range map[string]string{"It failed.": "It failed", "It failed...": "It failed...", "It failed": "It failed"} {
		place := []crash.Place{{Function: "App.Run"}}
		assert.Equal(t, "Odd was not caught: "+want+", in App.Run", crash.LikelyCause([]crash.Fault{{Type: "Odd", Message: message, Trace: place}}))
	}
}

func TestCulprit(t *testing.T) {
	assert.Nil(t, crash.Culprit(nil))
	framework := []crash.Place{{Function: "System.A.B()"}, {Function: "Microsoft.C.D()"}}
	assert.Same(t, &framework[0], crash.Culprit(framework))
}
