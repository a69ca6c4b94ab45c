package crash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/words"
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
		{signal(11, target.SIKernel, 0), "a fault for which the kernel reports no address: a non-canonical address, a privileged instruction, a misaligned operand, or no stack for a signal"},
		{signal(7, 1, 0), "access to memory with a wrong alignment"},
		{signal(7, 2, 0), "access to missing memory: a mapped file that shrank or can't be read"},
		{signal(7, 3, 0), "access to missing memory: a mapped file that shrank, or a wrong alignment"},
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
		assert.Equal(t, c.want, crash.Reason(c.x, self).Text)
	}
}

func TestLikelyCause(t *testing.T) {
	assert.Empty(t, crash.LikelyCause(nil))
	root := crash.Fault{Type: "System.NullReferenceException", Message: "Object reference not set", Trace: []crash.Place{
		{Function: "System.Private.CoreLib.dll!System.String.get_Length()"}, {Function: "app.dll!App.Run()", File: "run.cs", Line: 7}}}
	assert.Equal(t, "Outer was not caught; caused by System.NullReferenceException: Object reference not set "+
		"(usually: a null reference was used, or in unsafe code a pointer near 0), in app.dll!App.Run() [run.cs @ 7]",
		crash.LikelyCause([]crash.Fault{{Type: "Outer"}, root}).Text)
	assert.Equal(t, "Outer was not caught: order 7 failed; caused by Odd: bad line", crash.LikelyCause([]crash.Fault{{Type: "Outer", Message: "order 7 failed."},
		{Type: "Odd", Message: "bad line"}}).Text)
	assert.Equal(t, "System.AggregateException was not caught; caused by Odd: bad line", crash.LikelyCause([]crash.Fault{
		{Type: "System.AggregateException", Message: "One or more errors occurred."}, {Type: "Odd", Message: "bad line"}}).Text)
	assert.Equal(t, "System.AggregateException was not caught: no stop answered; caused by Odd: bad line", crash.LikelyCause([]crash.Fault{
		{Type: "System.AggregateException", Message: "no stop answered"}, {Type: "Odd", Message: "bad line"}}).Text, "the program's own message")
	thrown := crash.Fault{Type: "System.OutOfMemoryException", Message: "thrown by hand"}
	assert.Contains(t, crash.LikelyCause([]crash.Fault{thrown}).Text, "(usually: out of memory")
	assert.Equal(t, "System.OutOfMemoryException was not caught: thrown by hand", crash.ProvedCause([]crash.Fault{thrown}).Text, "a type proves no cause")
	thrown.Cause = words.Text("the limit of 64 MB")
	assert.Equal(t, "System.OutOfMemoryException was not caught: thrown by hand (the limit of 64 MB)", crash.ProvedCause([]crash.Fault{thrown}).Text)
	assert.Equal(t, "Odd was not caught", crash.LikelyCause([]crash.Fault{{Type: "Odd"}}).Text)
	for message, want := range map[string]string{"It failed.": "It failed", "It failed...": "It failed...", "It failed": "It failed", "It failed.\r\n": "It failed", "It failed.\n   at A.B()\n   at A.C()": "It failed",
		strings.Repeat("m", 3000): strings.Repeat("m", 500) + "… (3000 characters)"} {
		place := []crash.Place{{Function: "App.Run"}}
		assert.Equal(t, "Odd was not caught: "+want+", in App.Run", crash.LikelyCause([]crash.Fault{{Type: "Odd", Message: message, Trace: place}}).Text)
	}
}

func TestCulprit(t *testing.T) {
	assert.Nil(t, crash.Culprit(nil))
	framework := []crash.Place{{Function: "System.A.B()"}, {Function: "Microsoft.C.D()"}}
	assert.Same(t, &framework[0], crash.Culprit(framework))
}

func TestReadAsText(t *testing.T) {
	for a, want := range map[target.Addr]string{
		0x64006300620061:   `, which is the UTF-16 text "abcd"`,
		0x6900660065:       `, which is the UTF-16 text "efi"`,
		0x4141414141414140: `, which is the ASCII text "@AAAAAAA"`,
		0x667265707573:     `, which is the ASCII text "superf"`,
		0x7f546c6c6548:     "", // an address of a process
		0x620061:           "", // two characters may be chance
		0:                  "",
	} {
		assert.Equal(t, want, crash.ReadAsText(a), "%#x", uint64(a))
	}
}
