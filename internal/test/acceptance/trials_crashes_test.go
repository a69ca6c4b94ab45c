package acceptance_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// crashed checks the first finding of a process that ended, and returns it.
func crashed(t *testing.T, v *sosgo.View, says string, strength answer.Strength) *answer.Finding {
	t.Helper()
	out, err := triage.Triage(t.Context(), v.Process, triage.Options{NoHeap: true})
	require.NoError(t, err)
	f := first(t, out, answer.FindingCrash, says)
	assert.Equal(t, strength, f.Strength)
	return f
}

// deaths are the kinds of Crashes.cs that end the process, with the first finding, its strength,
// and the method in which it happened.
var deaths = []struct {
	kind, says string
	strength   answer.Strength
	where      string
}{
	{"finalizer", "System.InvalidOperationException was not caught: from a finalizer", answer.StrengthProved, "X.Fin.Finalize()"},
	{"taskwait", "System.AggregateException was not caught; caused by System.ArgumentException: deep", answer.StrengthProved, "X.M.Inner()"},
	{"asyncvoid", "System.ArgumentException was not caught: deep", answer.StrengthProved, "X.M.Inner()"},
	{"typeinit", "System.TypeInitializationException was not caught; caused by System.FormatException: bad init", answer.StrengthProved, "X.Bad.Init()"},
	{"so", "the stack overflowed", answer.StrengthProved, "X.M."},
	{"oom", "System.OutOfMemoryException was not caught (the garbage collector's last failed allocation is of 1000", answer.StrengthProved, "X.M.Main("},
	{"failfastnull", "the program called Environment.FailFast; its message was not found", answer.StrengthProved, "X.M.Main("},
	{"failfastcatch", "the program called Environment.FailFast: giving up", answer.StrengthProved, "X.M.Main("},
	{"abort", "native code aborted the process", answer.StrengthLikely, "X.M.abort(), called from X.M.Main("},
	{"sigsegv", "the process sent itself SIGSEGV", answer.StrengthRecorded, "X.M.Main("},
	{"sigill", "the process sent itself SIGILL", answer.StrengthRecorded, "X.M.Main("},
	{"sigfpe", "the process sent itself SIGFPE", answer.StrengthRecorded, "X.M.Main("},
	{"strlen", "accessed 0x123456", answer.StrengthLikely, "X.M.strlen(IntPtr), called from X.M.Main("},
	{"strlennull", "accessed 0x0", answer.StrengthLikely, "X.M.strlen(IntPtr), called from X.M.Main("},
	{"free", "accessed 0x7fff12345", answer.StrengthLikely, "X.M.free(IntPtr), called from X.M.Main("},
	{"div", "System.DivideByZeroException was not caught", answer.StrengthProved, "X.M.Main("},
	{"corrupt", "accessed 0x41414141414141", answer.StrengthLikely, "called from System.GC.Collect(), the innermost method of the program on its stack: X.M.Corrupt()"},
	{"two", "Exception was not caught: ", answer.StrengthProved, "X.M.Main.<lambda>"},
	{"rethrow", "System.ArgumentException was not caught: deep", answer.StrengthProved, "X.M.Inner()"},
	{"edi", "System.ArgumentException was not caught: deep", answer.StrengthProved, "X.M.Inner()"},
	{"filter", "System.ArgumentException was not caught: deep", answer.StrengthProved, "X.M.Inner()"},
	{"dyn", "System.ArgumentException was not caught: deep", answer.StrengthProved, "X.M.Inner()"},
	{"av", "(a reference or pointer that is not a canonical address was used, which .NET also reports as a null reference)", answer.StrengthProved, "X.M.Main("},
	{"avmanaged", "System.AccessViolationException was not caught: Attempted to read or write protected memory", answer.StrengthLikely, "X.M.Main("},
	{"handnull", "System.NullReferenceException was not caught: thrown by hand, in", answer.StrengthProved, "X.M.Main("},
	{"handav", "System.AccessViolationException was not caught: thrown by hand, in", answer.StrengthProved, "X.M.Main("},
	{"handoom", "System.OutOfMemoryException was not caught: thrown by hand, in", answer.StrengthProved, "X.M.Main("},
	{"handso", "System.StackOverflowException was not caught: thrown by hand, in", answer.StrengthProved, "X.M.Main("},
	{"handagg", "; with an inner exception that has no stack trace: System.Exception: x", answer.StrengthProved, "X.M.Main("},
	{"nomsg", "System.Exception was not caught, in", answer.StrengthProved, "X.M.Main("},
	{"bigalloc", "System.OutOfMemoryException was not caught (the garbage collector's last failed allocation is of ", answer.StrengthProved, "X.M.Main("},
	{"lockstate", "System.Threading.SynchronizationLockException was not caught", answer.StrengthProved, "X.M.Main("},
	{"sigterm", "the process sent itself SIGABRT (kill)", answer.StrengthRecorded, "X.M.kill"},
	{"exitcrash", "System.InvalidOperationException was not caught: in ProcessExit", answer.StrengthProved, "X.M.Main.<lambda>"},
	{"uehandler", "System.ArgumentException was not caught: deep", answer.StrengthProved, "X.M.Inner()"},
	{"objnull", "(a null reference was used, or in unsafe code a pointer near 0)", answer.StrengthProved, "X.M.Main("},
	{"castfail", "(an object was cast to a type that it does not have)", answer.StrengthProved, "X.M.Main("},
	{"idx", "(an index was outside the bounds of an array, a span or a string)", answer.StrengthProved, "X.M.Main("},
	{"hand17", "System.IO.IOException was not caught: io by hand", answer.StrengthProved, "X.M.Main("},
}

// TestDeaths runs every kind of death of the program Crashes and checks the first finding of a
// triage. Three kinds continue: a reference that the collector ignores, a breakpoint without a
// debugger, and a failed assertion in a release build.
func TestDeaths(t *testing.T) {
	p := newTrial(t, "Crashes.cs")
	for _, c := range deaths {
		t.Run(c.kind, func(t *testing.T) {
			v := p.open(t, "crash", c.kind)
			f := crashed(t, v, c.says, c.strength)
			assert.Contains(t, f.Text, c.where)
			assert.NotContains(t, f.Text, "usually: an")
			if c.kind == "so" { // the innermost frame has variables in memory that the process did not have
				for _, err := range v.Roots(t.Context()) {
					require.NoError(t, err)
				}
			}
			crash, err := crash.Describe(t.Context(), v.Process, crash.Options{})
			require.NoError(t, err)
			assert.False(t, crash.Alive)
			assert.Equal(t, c.kind == "corrupt" || strings.HasPrefix(c.kind, "strlen") || c.kind == "free" || strings.HasPrefix(c.kind, "av") || c.kind == "objnull", crash.Touched != nil, "the address of a fault")
		})
	}
}

// deathsMore are kinds of Deaths.cs: the first finding, its strength, and text further on.
var deathsMore = []struct {
	kind, says string
	strength   answer.Strength
	more       string
}{
	{"dllmissing", "System.DllNotFoundException was not caught: Unable to load shared library 'nosuchlib'", answer.StrengthProved, ""},
	{"entrymissing", "named 'no_such_entry' in shared library 'libc', in Debuggee.dll!Harbor.M.noentry()", answer.StrengthProved, ""},
	{"badimage", "System.BadImageFormatException was not caught: Bad IL format, in", answer.StrengthProved, ""},
	{"assemblymissing", "The system cannot find the file specified, in Debuggee.dll!Harbor.M.Main(", answer.StrengthProved, ""},
	{"timer", "System.InvalidOperationException was not caught: in a timer, in Debuggee.dll!Harbor.M.Throw(", answer.StrengthProved, ""},
	{"custom", "Harbor.Cargo was not caught: base text, in", answer.StrengthProved, "Harbor.Cargo composes the Message that logs show"},
	{"rude", "Harbor.Rude was not caught, in", answer.StrengthProved, "Harbor.Rude composes the Message"},
	{"generic", "Harbor.Generic<System.Collections.Generic.Dictionary<System.String, System.Int32[]>> was not caught: of a generic type, in", answer.StrengthProved, ""},
	{"nested", "System.InvalidOperationException was not caught: level 6; caused by System.FormatException: level 0, in", answer.StrengthProved, ""},
	{"catch", "System.ArgumentException was not caught: second, in the catch, in", answer.StrengthProved, ""},
	{"finally", "System.InvalidOperationException was not caught: first, in", answer.StrengthProved, "such as a finally block"},
	{"thrownull", "Object reference not set to an instance of an object, in", answer.StrengthProved, "throws it, or a null reference"},
	{"sosmall", "the stack overflowed: Harbor.M.Down(Int32) called itself", answer.StrengthProved, ""},
	{"sobig", "the stack overflowed, the innermost managed method on it: Harbor.M.Alloca(Int32)", answer.StrengthProved, ""},
	{"soasync", "the stack overflowed: Harbor.Jobs", answer.StrengthProved, ""},
	{"sofilter", "the stack overflowed: Harbor.M.Down(Int32) called itself", answer.StrengthProved, ""},
	{"sonative", "the stack overflowed in native code, called from Harbor.M.Raw(", answer.StrengthProved, ""},
	{"dyninvoke", "TargetInvocationException was not caught; caused by System.InvalidOperationException: by DynamicInvoke, in", answer.StrengthProved, ""},
	{"whenall", "System.InvalidOperationException was not caught: job 1, in", answer.StrengthProved, ""},
	{"cancelled", "System.Threading.Tasks.TaskCanceledException was not caught: A task was canceled, in", answer.StrengthProved, ""},
	{"calldead", "execution jumped to 0x123450, where there is no code", answer.StrengthLikely, ""},
	{"readonly", "System.AccessViolationException was not caught: Attempted to read or write protected memory", answer.StrengthLikely, "usually means"},
	{"doublefree", "native code aborted the process: free(): double free detected in tcache 2, called as Harbor.M.free(", answer.StrengthLikely, "sent the signal itself"},
	{"nassert", "port.c:42: dock: Assertion `berth < MAX' failed, called as Harbor.M.__assert_fail(", answer.StrengthLikely, ""},
	{"busmanaged", "System.AccessViolationException was not caught", answer.StrengthLikely, "the process's own mapping of /tmp/harbor-bus did not give the memory"},
	{"voidasync", "System.InvalidOperationException was not caught: in async void, in", answer.StrengthProved, "Harbor.Jobs.Void is async void"},
	{"ud2", "outside of all known modules, faulted, called from Harbor.M.Raw(", answer.StrengthLikely, "an illegal instruction"},
	{"hlt", "outside of all known modules, faulted, called from Harbor.M.Raw(", answer.StrengthLikely, "(hlt)"},
	{"callzero", "execution jumped to 0x0, where there is no code: a call through a bad function pointer, called from Harbor.M.Raw(", answer.StrengthLikely, ""},
	{"movaps", "outside of all known modules, faulted, called from Harbor.M.Raw(", answer.StrengthLikely, "(movaps"},
	{"bus", "called as Harbor.M.memset(", answer.StrengthLikely, "a mapped file that shrank or can't be read"},
	{"argnull", "Value cannot be null (parameter 'collection'), in", answer.StrengthProved, ""},
	{"ctor", "must be positive (parameter 'i'), in Debuggee.dll!Harbor.Property..ctor(Int32)", answer.StrengthProved, ""},
	{"disposed", "a disposed object (object name 'Microsoft.Win32.SafeHandles.SafeWaitHandle'), in", answer.StrengthProved, ""},
	{"longmsg", "mmm… (300000 characters), in", answer.StrengthProved, ""},
	{"failfasthandler", "the program called Environment.FailFast: in the handler, in", answer.StrengthProved, "System.InvalidOperationException: handled by FailFast"},
	{"oomarray", "System.OutOfMemoryException was not caught: Array dimensions exceeded supported range, in", answer.StrengthProved, "the GC records no failed allocation"},
	{"notexception", "(thrown: \"a thrown string\"), in", answer.StrengthProved, ""},
	{"badref", "System.AccessViolationException was not caught", answer.StrengthLikely, "which is the UTF-16 text \"efi\""},
	{"wrapped", "Harbor.Cargo2 was not caught: outer one; caused by System.InvalidOperationException: inner one, in", answer.StrengthProved, "Harbor.Cargo2 composes the Message"},
}

// TestMoreDeaths runs kinds of death that are not in Crashes, and checks the first finding and its
// evidence.
func TestMoreDeaths(t *testing.T) {
	p := newTrial(t, "Deaths.cs")
	for _, c := range deathsMore {
		t.Run(c.kind, func(t *testing.T) {
			f := crashed(t, p.open(t, "crash", c.kind), c.says, c.strength)
			assert.NotContains(t, f.Text, "(usually")
			assert.Contains(t, fmt.Sprintf("%+v", f.Clauses), c.more)
		})
	}
}

// endings are the kinds of Endings.cs: the first finding, its strength, and what else it says. It must not say never.
var endings = []struct {
	kind, says  string
	strength    answer.Strength
	more, never string
}{
	{"caughtabort", "native code aborted the process (abort, or an assertion), called as Yard.M.abort(), called from Yard.M.Main(", answer.StrengthLikely, "", "TimeoutException"},
	{"caughttwice", "native code aborted the process: free(): double free detected in tcache 2, called as Yard.M.free(IntPtr), called from Yard.M.Twice()",
		answer.StrengthLikely, "glibc keeps what it writes", "TimeoutException"},
	{"smashed", "native code aborted the process: *** stack smashing detected ***: terminated, called as Yard.M.__stack_chk_fail()", answer.StrengthLikely, "", ""},
	{"painted", ": Yard.M.Track(Int32, Int64) returns to 0x4847464544434241, which is nobody's code", answer.StrengthLikely, "which is the ASCII text", "the program called Environment.FailFast"},
	{"erased", "a return led to 0x0, which is nobody's code", answer.StrengthLikely, "is the place of a return address", "null reference"},
	{"nativethread", "the process aborted itself (SIGABRT), died in libc.so.6+", answer.StrengthRecorded, "", "Yard"},
	{"undo", "NullReferenceException was not caught: Object reference not set to an instance of an object (a null reference was used, or in unsafe code a pointer near 0), in Debuggee.dll!Yard.M.Undo(",
		answer.StrengthProved, "such as its handler: System.TimeoutException: pump 2 did not answer, in Debuggee.dll!Yard.M.Check(Int32)", ""},
	{"thrown", "System.TimeoutException was not caught: pump 2 did not answer, in Debuggee.dll!Yard.M.Pass(Int32)", answer.StrengthProved,
		"it had been thrown in Yard.M.Check(Int32), caught, and thrown again", "such as its handler"},
	{"passed", "System.TimeoutException was not caught: pump 2 did not answer, in Debuggee.dll!Yard.M.Check(Int32)", answer.StrengthProved, "", "had been thrown"},
	{"drain", "System.TimeoutException was not caught: pump 2 did not answer, in Debuggee.dll!Yard.M.Check(Int32)", answer.StrengthProved, "such as a finally block", "had been thrown"},
	{"ring", "System.NullReferenceException was not caught: Object reference not set to an instance of an object, in Debuggee.dll!Yard.Bell.Ring,",
		answer.StrengthProved, "Yard.Bell.Ring is async void: none of its callers can catch what it throws", ""},
	{"forward", "in Debuggee.dll!Yard.Bell.RingAsync", answer.StrengthProved, "Yard.Bell.Forward is async void", "RingAsync is async void"},
	{"levels", "System.AccessViolationException was not caught", answer.StrengthLikely, "the process's own mapping of /tmp/yard-levels did not give the memory", "that is not its own"},
	{"levelsnative", "called as Yard.M.memchr(IntPtr, Int32, IntPtr), called from Yard.M.Main(", answer.StrengthLikely, "is in the process's own mapping of /tmp/yard-levels", ""},
	{"copy", "System.AccessViolationException was not caught: Attempted to read or write protected memory. This is often an indication that other memory is corrupt, in Yard.M.Copy(IntPtr)",
		answer.StrengthLikely, "the faulting address is 0x5000000000", "mapping"},
	{"name", "This is often an indication that other memory is corrupt, in Yard.M.Name(IntPtr)", answer.StrengthLikely, "the faulting address is 0x5000000000", ""},
	{"tank", "in Debuggee.dll!Yard.Tank.Finalize(), thread 5", answer.StrengthProved, "the length of a null array was used", ""},
	{"valve", "the program called Environment.FailFast: a valve was never closed, in Yard.Valve.Finalize(), thread 5", answer.StrengthProved, "", ""},
	{"give", "the program called Environment.FailFast: the yard gives up, in Yard.M.Give()", answer.StrengthProved,
		"led to the call or was being handled: System.TimeoutException: pump 2 did not answer, in Debuggee.dll!Yard.M.Check(Int32)", "was not caught"},
}

// TestEndings runs ways to end that an exception which was caught, a handler or the C library could be blamed for, and checks the first
// finding: its cause, its evidence, and that it says nothing false.
func TestEndings(t *testing.T) {
	p := newTrial(t, "Endings.cs")
	for _, c := range endings {
		t.Run(c.kind, func(t *testing.T) {
			f := crashed(t, p.open(t, "crash", c.kind), c.says, c.strength)
			all := f.Text + fmt.Sprintf("%+v", f.Clauses)
			assert.Contains(t, all, c.more)
			if c.never != "" {
				assert.NotContains(t, all, c.never)
			}
		})
	}
}

// TestNulls checks that a null reference is named by the operation of the failed statement.
func TestNulls(t *testing.T) {
	p := newTrial(t, "Nulls.cs")
	for kind, says := range map[string]string{
		"field":    "the field Customer.Home of a null reference was used, or the field Address.Zip of a null reference was used",
		"call":     "Customer.GetName was called on a null reference",
		"virt":     "Order.get_Buyer was called on a null reference, or Customer.V was called on a null reference",
		"delegate": "System.Action.Invoke was called on a null reference",
		"elem":     "an element of a null array was used",
		"len":      "the length of a null array was used",
		"store":    "the field Order.Id of a null reference was used",
		"iface":    "System.Collections.Generic.ICollection`1<int32>.get_Count was called on a null reference",
		"throw":    "",
	} {
		t.Run(kind, func(t *testing.T) {
			out, err := crash.Describe(t.Context(), p.open(t, "crash", kind).Process, crash.Options{})
			require.NoError(t, err)
			var named []string
			for _, v := range out.Verdicts {
				if v.Strength == answer.StrengthLikely {
					named = append(named, v.Text)
				}
			}
			if says == "" {
				assert.Empty(t, named)
				return
			}
			assert.Equal(t, []string{says}, named)
		})
	}
}

// TestFaultCrashes checks the conclusion about two crashes with exceptions that were created and
// not thrown.
func TestFaultCrashes(t *testing.T) {
	p := newTrial(t, "Faults.cs")
	for kind, says := range map[string]string{
		"threadcrash": "System.FormatException was not caught: line 17: '12,x' is no number, in Debuggee.dll!Depot.M.Main.<lambda>(); with an inner exception that has no stack trace: System.ArgumentException: x",
		"failfast":    "the program called Environment.FailFast: queue corrupted, in Depot.M.Main(System.String[]); its exception: System.InvalidOperationException: checksum",
	} {
		crashed(t, p.open(t, "crash", kind), says, answer.StrengthProved)
	}
}

// ends are the kinds of Troubles.cs that end the process, with the first finding.
var ends = []struct {
	kind, says string
	strength   answer.Strength
}{
	{"debugfail", "an assertion of the program failed (Debug.Assert or Debug.Fail): the mill has no water, in Mill.M.Main(", answer.StrengthProved},
	{"failfastempty", "the program called Environment.FailFast; its message is empty, in Mill.M.Main(", answer.StrengthProved},
	{"failfastonly", "the program called Environment.FailFast; its message was not found, in Mill.M.Main(System.String[]); its exception: System.InvalidOperationException: only an exception", answer.StrengthProved},
	{"failfastpool", "the program called Environment.FailFast: from the pool, in Mill.M.Main.<lambda>(", answer.StrengthProved},
	{"failfastcctor", "the program called Environment.FailFast: no configuration, in Mill.FailsFast..cctor()", answer.StrengthProved},
	{"abortcctor", "native code aborted the process (abort, or an assertion), called as Mill.M.abort(), called from Mill.Aborts..cctor()", answer.StrengthLikely},
	{"asyncmain", "System.InvalidOperationException was not caught: in an async Main, in Debuggee.dll!Mill.M.Fails,", answer.StrengthProved},
	{"pool", "System.InvalidOperationException was not caught: in the pool, in", answer.StrengthProved},
	{"mutual", "called itself through Mill.M.P", answer.StrengthProved},
	{"limit", "System.OutOfMemoryException was not caught (the garbage collector's last failed allocation is of 100056 bytes: no more memory could be committed)", answer.StrengthProved},
	{"strlenlow", "accessed 0x10, called as Mill.M.strlen(IntPtr), called from Mill.M.Main(", answer.StrengthLikely},
	{"waitallfails", "System.AggregateException was not caught; caused by System.FormatException: first, in", answer.StrengthProved},
	{"continued", "System.AggregateException was not caught; caused by System.FormatException: first, in", answer.StrengthProved},
	{"lazyfails", "System.FormatException was not caught: no plan, in Debuggee.dll!Mill.M.Main.<lambda>(", answer.StrengthProved},
}

// TestEnds checks the first finding for processes that ended.
func TestEnds(t *testing.T) {
	p := newTrial(t, "Troubles.cs")
	for _, c := range ends {
		t.Run(c.kind, func(t *testing.T) {
			crashed(t, p.open(t, "crash", c.kind), c.says, c.strength)
		})
	}
}

// sunk are the kinds of Services.cs that end the process, with the first finding.
var sunk = []struct {
	kind, says string
	strength   answer.Strength
}{
	{"abandoned", "System.Threading.AbandonedMutexException was not caught: The wait completed due to an abandoned mutex, in Debuggee.dll!Ferry.M.Main(", answer.StrengthProved},
	{"fifty", "System.AggregateException was not caught: no stop answered; caused by System.TimeoutException: stop 0, in", answer.StrengthProved},
	{"settwice", "System.InvalidOperationException was not caught: An attempt was made to transition a task to a final state when it had already completed, in", answer.StrengthProved},
	{"deepdata", "the stack overflowed: Ferry.M.Depth(Ferry.Leg) called itself", answer.StrengthProved},
	{"overreleased", "System.Threading.SemaphoreFullException was not caught: ", answer.StrengthProved},
}

// TestSunk checks the first finding for services that ended.
func TestSunk(t *testing.T) {
	p := newTrial(t, "Services.cs")
	for _, c := range sunk {
		t.Run(c.kind, func(t *testing.T) {
			crashed(t, p.open(t, "crash", c.kind), c.says, c.strength)
		})
	}
}

// TestUnprepared checks that the exception that prevented Main from being prepared is named. A
// handler of unhandled exceptions may have caught others since, so that no record of the thread
// refers to it.
func TestUnprepared(t *testing.T) {
	p := newTrial(t, "Unprepared.cs")
	for name, c := range map[string]struct {
		args     []string
		evidence string
		last     bool // the thread refers to the exception
	}{
		"no handler": {nil, "the thread that died threw it last", true},
		"a handler":  {[]string{"--env", "DOTNET_STARTUP_HOOKS=" + p.dll}, "it is the only exception that the runtime threw on thread 0 (", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := p.open(t, "crash", append([]string{"unprepared"}, c.args...)...)
			died, err := crash.Describe(t.Context(), v.Process, crash.Options{})
			require.NoError(t, err)
			assert.Equal(t, c.last, len(died.Carried) > 0)
			assert.Empty(t, died.Stack, "no managed method runs")
			require.NotEmpty(t, died.Verdicts)
			says := died.Verdicts[len(died.Verdicts)-1]
			assert.True(t, strings.HasPrefix(says.Text, "System.MissingMethodException was not caught: Method not found: "), says.Text)
			assert.True(t, strings.HasSuffix(says.Text, ", in Debuggee.dll!Kiln.M.Main(System.String[])"), says.Text)
			assert.Equal(t, answer.StrengthLikely, says.Strength)
			require.NotEmpty(t, says.Evidence)
			assert.Contains(t, says.Evidence[0], c.evidence)
			out, err := triage.Triage(t.Context(), v.Process, triage.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, out.Findings)
			assert.Contains(t, out.Findings[0].Text, says.Text)

			record, err := crash.Read(v.Process, crash.Options{})
			require.NoError(t, err)
			assert.Equal(t, died.Exceptions[0].Address, record.Thrown)
			assert.Equal(t, c.last, record.Deduced.IsZero())
			brief := crash.DescribeBriefly(v.Process, crash.Options{})
			require.Len(t, brief.Exceptions, 1)
			assert.Equal(t, record.Thrown, brief.Exceptions[0].Address)
			last := brief.Verdicts[len(brief.Verdicts)-1]
			assert.Equal(t, says.Strength, last.Strength)
			assert.Equal(t, says.Evidence, last.Evidence)
			assert.True(t, strings.HasPrefix(says.Text, last.Text), last.Text)
			sum, err := summary.Summary(t.Context(), v.Process, summary.Options{NoHeap: true})
			require.NoError(t, err)
			assert.Equal(t, c.last, sum.Exception == "System.MissingMethodException")
		})
	}
}

// notAsked is the note of an answer with options that exclude the heap.
const notAsked = "an exception thrown before Main ran was not looked for: the heap was left out, as asked"

// TestUnpreparedUnread: no exception is called the only one if one can't be read, or if the heap is
// excluded, and the answers note it.
func TestUnpreparedUnread(t *testing.T) {
	p := newTrial(t, "Unprepared.cs")
	path := p.dump(t, "crash", "unprepared", "--env", "DOTNET_STARTUP_HOOKS="+p.dll)
	view := func(d *sosgo.Dump) *sosgo.View {
		v, err := d.View("")
		require.NoError(t, err)
		return v
	}
	damaged := func(at target.Addr, word uint64) *sosgo.View {
		d := testdump.OpenDraft(t, path, sosgo.Options{Offline: true})
		d.Set(testdump.Words(at, word))
		return view(d.Dump)
	}
	without := func(at target.Addr) *sosgo.View {
		return view(testdump.FileWithout(t, path, sosgo.Options{Offline: true}, target.Range{Start: at, End: at + 8}))
	}
	sound := view(testdump.FileWithout(t, path, sosgo.Options{Offline: true}, target.Range{}))
	x, err := crash.Describe(t.Context(), sound.Process, crash.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, x.Exceptions, "the sound dump names it")
	require.Empty(t, x.Noted())
	rt, err := sound.Runtime()
	require.NoError(t, err)
	h, err := sound.Heap()
	require.NoError(t, err)
	found := x.Exceptions[0].Address
	var beside, first target.Addr // another exception, and the first object of its segment
	for o, err := range h.Objects() {
		require.NoError(t, err)
		if is, err := rt.IsException(o.Type); err == nil && is && o.Addr != found && beside == 0 {
			beside = o.Addr
		}
		if first == 0 && h.Segment(o.Addr) == h.Segment(found) {
			first = o.Addr
		}
	}
	require.NotZero(t, beside)
	require.NotZero(t, first)
	r, err := sound.Objects()
	require.NoError(t, err)
	trace := func(a target.Addr) target.Addr {
		o, err := r.Object(a)
		require.NoError(t, err)
		return o.Field("_stackTrace").Location()
	}
	for name, c := range map[string]struct {
		open func() *sosgo.View
		kind error
	}{
		"its stack trace is not in the dump":     {func() *sosgo.View { return without(trace(found)) }, target.ErrNotInDump},
		"its stack trace is elsewhere":           {func() *sosgo.View { return damaged(trace(found), 1<<50) }, target.ErrCorrupt},
		"that of another one is not in the dump": {func() *sosgo.View { return without(trace(beside)) }, target.ErrNotInDump},
		"that of another one is elsewhere":       {func() *sosgo.View { return damaged(trace(beside), 1<<50) }, target.ErrCorrupt},
		"an object before it has no type":        {func() *sosgo.View { return damaged(first, 0x1235) }, target.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			v := c.open()
			x, err := crash.Describe(t.Context(), v.Process, crash.Options{})
			require.NoError(t, err)
			assert.Empty(t, x.Exceptions)
			assert.Empty(t, x.Likely)
			noted := errors.Join(x.Noted()...)
			assert.ErrorIs(t, noted, c.kind)
			assert.ErrorContains(t, noted, "an exception thrown before Main ran: ")
			record, err := crash.Read(v.Process, crash.Options{})
			assert.ErrorIs(t, err, c.kind)
			require.NotNil(t, record)
			assert.Zero(t, record.Thrown)
			assert.Empty(t, record.Deduced.Text)
			assert.Empty(t, crash.DescribeBriefly(v.Process, crash.Options{}).Exceptions)
			out, err := triage.Triage(t.Context(), v.Process, triage.Options{})
			require.NoError(t, err)
			i := slices.IndexFunc(out.Unknown, func(u answer.TriageAbsent) bool {
				return u.Partly && errors.Is(u.Err, c.kind) && strings.Contains(u.Reason, "before Main ran")
			})
			assert.NotEqual(t, -1, i, "%+v", out.Unknown)
		})
	}
	t.Run("not asked for", func(t *testing.T) {
		leave := crash.Options{NoHeap: true}
		x, err := crash.Describe(t.Context(), sound.Process, leave)
		require.NoError(t, err)
		assert.Empty(t, x.Exceptions)
		assert.EqualError(t, errors.Join(x.Noted()...), notAsked)
		record, err := crash.Read(sound.Process, leave)
		assert.EqualError(t, err, notAsked)
		assert.Zero(t, record.Thrown)
		assert.EqualError(t, errors.Join(crash.DescribeBriefly(sound.Process, leave).Noted()...), notAsked)
		out, err := triage.Triage(t.Context(), sound.Process, triage.Options{NoHeap: true})
		require.NoError(t, err)
		assert.True(t, slices.ContainsFunc(out.Unknown, func(u answer.TriageAbsent) bool { return u.Partly && u.Reason == notAsked }), "%+v", out.Unknown)
		sum, err := summary.Summary(t.Context(), sound.Process, summary.Options{NoHeap: true})
		require.NoError(t, err)
		assert.Empty(t, sum.Exception)
		assert.Contains(t, fmt.Sprint(sum.Noted()), notAsked)
	})
	t.Run("commands", func(t *testing.T) {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		const none, died = "There is no current managed exception on this thread\n", "The process died of an exception of thread 0 0x"
		for line, want := range map[string]string{"pe": none + died, "pe -all": "No thread has a managed exception\n" + died, "pe -json": `"result":{"ended":{"thread":{"index":0,`} {
			out := runLines(t.Context(), raw, 1, line)
			assert.Empty(t, out.stderr, line)
			assert.Contains(t, out.stdout, want, line)
			assert.Regexp(t, `\[likely\]|"strength":"likely"`, out.stdout, line)
			assert.Contains(t, out.stdout, "System.MissingMethodException", line)
		}
		out := runLines(t.Context(), raw, 1, "pe -sos")
		assert.Equal(t, none, out.stdout, "in SOS's form there is none")
	})
}
