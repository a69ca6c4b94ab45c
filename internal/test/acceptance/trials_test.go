package acceptance_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// A trial is a program that is compiled and run for the tests, one situation at a time.
type trial struct {
	tools, dll string
}

// newTrial compiles a program of the trials, or one in testdata. It skips the test if the tools are
// not available next to the corpus.
func newTrial(t *testing.T, source string) trial {
	t.Helper()
	if os.Getenv("SOSGO_TRIALS") == "" {
		t.Skip("SOSGO_TRIALS is not set: it runs some two hundred and thirty programs and dumps them, in some fifteen minutes")
	}
	shared := testcase.Shared(t)
	tools := filepath.Join(shared, "tools")
	path := filepath.Join(shared, "debuggees", "trials", source)
	if _, err := os.Stat(filepath.Join("internal", "test", "acceptance", "testdata", source)); err == nil {
		path = filepath.Join("internal", "test", "acceptance", "testdata", source)
	}
	for _, file := range []string{filepath.Join(tools, "make-dump"), filepath.Join(tools, "compile-debuggee"), path} {
		if _, err := os.Stat(file); err != nil {
			t.Skipf("no %s beside the corpus", filepath.Base(file))
		}
	}
	if _, err := exec.LookPath("mcs"); err != nil {
		t.Skip("no C# compiler (mcs)")
	}
	dll := filepath.Join(t.TempDir(), strings.TrimSuffix(source, ".cs")+".dll")
	line := []string{filepath.Join(tools, "compile-debuggee"), "-o", dll, path}
	if text, err := os.ReadFile(path); err == nil && !strings.Contains(string(text), "class Anchor") { // it has types beside the core library
		verdicts := filepath.Join(shared, "debuggees", "verdicts")
		line = []string{"python3", filepath.Join(verdicts, "mkdll.py"), dll, path, filepath.Join(verdicts, "Ordinary.cs")}
	}
	out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return trial{tools, dll}
}

// open runs a situation, dumps the process and opens the dump.
func (p trial) open(t *testing.T, scenario string, args ...string) *sosgo.View {
	t.Helper()
	d, err := sosgo.Open(p.dump(t, scenario, args...), sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	return v
}

// dump runs a situation and returns the dump of the process.
func (p trial) dump(t *testing.T, scenario string, args ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "trial.dmp")
	line := []string{"--program", p.dll, "-o", path, "--env", "DOTNET_GCHeapHardLimit=0x20000000", scenario}
	out, err := exec.CommandContext(t.Context(), filepath.Join(p.tools, "make-dump"), append(line, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
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
	{"two", "Exception was not caught: ", answer.StrengthProved, "X.M.<Main>m__"},
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
	{"sigterm", "the process aborted itself (SIGABRT)", answer.StrengthRecorded, "X.M.Main("},
	{"exitcrash", "System.InvalidOperationException was not caught: in ProcessExit", answer.StrengthProved, "X.M.<Main>m__"},
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
			out, err := triage.Triage(t.Context(), v.Process, triage.Options{NoHeap: true})
			require.NoError(t, err)
			require.NotEmpty(t, out.Findings)
			f := out.Findings[0]
			assert.Equal(t, answer.FindingCrash, f.Kind)
			assert.Contains(t, f.Text, c.says)
			assert.Contains(t, f.Text, c.where)
			assert.Equal(t, c.strength, f.Strength)
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
			out, err := triage.Triage(t.Context(), p.open(t, "crash", c.kind).Process, triage.Options{NoHeap: true})
			require.NoError(t, err)
			require.NotEmpty(t, out.Findings)
			f := out.Findings[0]
			assert.Equal(t, answer.FindingCrash, f.Kind)
			assert.Contains(t, f.Text, c.says)
			assert.Equal(t, c.strength, f.Strength)
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
	{"ring", "System.NullReferenceException was not caught: Object reference not set to an instance of an object, in Debuggee.dll!Yard.Bell+<Ring>",
		answer.StrengthProved, "Yard.Bell.Ring is async void: none of its callers can catch what it throws", ""},
	{"forward", "in Debuggee.dll!Yard.Bell+<RingAsync>", answer.StrengthProved, "Yard.Bell.Forward is async void", "RingAsync is async void"},
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
			out, err := triage.Triage(t.Context(), p.open(t, "crash", c.kind).Process, triage.Options{NoHeap: true})
			require.NoError(t, err)
			require.NotEmpty(t, out.Findings)
			f := out.Findings[0]
			assert.Equal(t, answer.FindingCrash, f.Kind)
			assert.Contains(t, f.Text, c.says)
			assert.Equal(t, c.strength, f.Strength)
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

// situations are the kinds of Modes.cs: the first finding, and a part of its text. The idle one is
// healthy.
var situations = []struct {
	kind    string
	finding answer.FindingKind
	says    string
}{
	{"semdeadlock", answer.FindingDeadlock, "15 more wait for Shop.Accounts.A.gate"},
	{"semlost", answer.FindingPermits, "60 suspended operations wait for Shop.DbGate.Instance.gate (SemaphoreSlim), 0 of 10 may enter; nobody was found who can give a permit back"},
	{"full", answer.FindingPromises, "49 suspended operations wait for a promise in Shop.Orders.Queue.room"},
	{"flood", answer.FindingPile, "work piles up"},
	{"loh", answer.FindingFragmented, "of the large object heap"},
	{"fault", answer.FindingTasks, "Shop.M.Billing: System.InvalidOperationException: order 4711 has no price"},
	{"convoy", answer.FindingHeld, "(Shop.Ledger.sync), for which 12 threads wait"},
	{"events", answer.FindingHolder, "Shop.Publisher"},
	{"starved", answer.FindingStarved, "all 4 workers wait for something themselves"},
	{"idle", "", ""},
}

// TestSituations checks that a triage finds the cause first.
func TestSituations(t *testing.T) {
	p := newTrial(t, "Modes.cs")
	for _, c := range situations {
		t.Run(c.kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", c.kind).Process, triage.Options{})
			require.NoError(t, err)
			if c.kind != "flood" { // the length of its queue depends on the machine
				for i := range out.Unknown {
					assert.ErrorIs(t, out.Unknown[i].Err, target.ErrNotInDump, out.Unknown[i].Subject)
				}
			}
			if c.finding == "" {
				assert.Empty(t, out.Findings)
				return
			}
			require.NotEmpty(t, out.Findings)
			assert.Equal(t, c.finding, out.Findings[0].Kind)
			assert.Contains(t, out.Findings[0].Text, c.says)
		})
	}
}

// faults are the kinds of Faults.cs: the first finding, and a part of its text. Three are healthy:
// the runtime resolves a circle of static constructors, and consumers wait for work.
var faults = []struct {
	kind    string
	finding answer.FindingKind
	says    string
}{
	{"upgrade", answer.FindingDeadlock, "(Depot.Catalog.rw)"},
	{"storm", answer.FindingStarved, "items wait for a worker, and all 2 workers wait for something themselves"}, // a sleep in a lock, and its waiters
	{"producer", answer.FindingFull, "5 threads, the first 7 \"producer 0\", wait for room in BlockingCollection"},
	{"cctor", "", ""},
	{"cctorjoin", answer.FindingDeadlock, "runs the static constructor of Depot.Late and waits for the end of thread"},
	{"finlock", answer.FindingDeadlock, "holds System.Object"},
	{"finslow", answer.FindingFinalizers, "the finalizer thread sleeps in Depot.Slow.Finalize()"},
	{"events", answer.FindingHolder, "kept by static Depot.Publisher.Changed"},
	{"cache", answer.FindingHolder, "kept by static Depot.Cache.pages"},
	{"tcs", answer.FindingPromises, "25 suspended operations wait for one task, a promise in Depot.Reply.tcs"},
	{"lazy", answer.FindingDeadlock, "(Depot.Slots.first) and waits for"},
	{"reenter", answer.FindingDeadlock, "has likely entered Depot.M.once (SemaphoreSlim) and waits for it once more"},
	{"pulse", "", ""},
	{"ui", answer.FindingDeadlock, "whose SynchronizationContext is a Depot.Pump"},
	{"tokens", answer.FindingHolder, "kept in 2 ways: static Depot.Tokens.app, the stack of thread 0"}, // a temporary of Main, which has not returned
	{"unobserved", answer.FindingTasks, "60 tasks failed, and nobody has looked at their exceptions"},
	{"lockended", answer.FindingAbandoned, "has ended and still holds the monitor"},
	{"exitlock", answer.FindingDeadlock, "runs the handlers of ProcessExit and waits for the end of thread"},
	{"semsync", answer.FindingPermits, "wait for Depot.M.seats (SemaphoreSlim), 0 of 1 may enter"},
	{"semsignal", "", ""},
	{"asynclocaltimers", answer.FindingHolder, "40,000 timers that call Depot.M.Main.<lambda>(System.Object) hold 48.0 MB, 95.3% of what lives, 41.6 MB of it held by AsyncLocal Depot.Ambient.current in the execution contexts of 40,000 of them"},
	{"asynclocal", answer.FindingHolder, "held by AsyncLocal Depot.Ambient.current in the execution contexts of 60,000 of them"},
	{"selfjoin", answer.FindingDeadlock, "\"self joiner\" has not ended and waits for its own end"},
	{"spin", answer.FindingSpin, "spin in Depot.M.Spin until something else changes"},
	{"threads", answer.FindingThreads, "400 threads that began in Depot.M"},
	{"timers", answer.FindingHolder, "60,000 timers that call Depot.M"},
	{"handles", answer.FindingHandles, "60,000 Strong handles refer to objects of System.Byte[], and keep them alive"},
	{"countdown", "", ""},
}

// TestFaultCrashes checks the conclusion about two crashes with exceptions that were created and
// not thrown.
func TestFaultCrashes(t *testing.T) {
	p := newTrial(t, "Faults.cs")
	for kind, says := range map[string]string{
		"threadcrash": "System.FormatException was not caught: line 17: '12,x' is no number, in Debuggee.dll!Depot.M.<Main>m__F(); with an inner exception that has no stack trace: System.ArgumentException: x",
		"failfast":    "the program called Environment.FailFast: queue corrupted, in Depot.M.Main(System.String[]); its exception: System.InvalidOperationException: checksum",
	} {
		out, err := triage.Triage(t.Context(), p.open(t, "crash", kind).Process, triage.Options{NoHeap: true})
		require.NoError(t, err)
		require.NotEmpty(t, out.Findings)
		assert.Contains(t, out.Findings[0].Text, says)
	}
}

// TestFaultPrograms checks that a triage finds the cause of each fault first.
func TestFaultPrograms(t *testing.T) {
	p := newTrial(t, "Faults.cs")
	for _, c := range faults {
		t.Run(c.kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", c.kind).Process, triage.Options{})
			require.NoError(t, err)
			if c.finding == "" {
				assert.Empty(t, out.Findings)
				return
			}
			require.NotEmpty(t, out.Findings)
			assert.Equal(t, c.finding, out.Findings[0].Kind)
			assert.Contains(t, out.Findings[0].Text, c.says)
		})
	}
}

// troubles are the kinds of Troubles.cs that continue: the first finding, and a part of its text.
// The last ones are healthy, or the dump does not record the problem.
var troubles = []struct {
	kind    string
	finding answer.FindingKind
	says    string
}{
	{"rwtask", answer.FindingDeadlock, "\"reader\" holds System.Threading.ReaderWriterLockSlim"},
	{"channel", answer.FindingFull, "50 suspended operations wait for room in a channel"},
	{"waitall", answer.FindingStarved, "the pool is starved"},
	{"ctorresult", answer.FindingBlocked, "5 threads, the first 7 \"maker 0\", block in Mill.Service..ctor"},
	{"lazytask", answer.FindingDeadlock, "(Mill.Plan.value) and waits for task"},
	{"cctortask", answer.FindingDeadlock, "runs the static constructor of Mill.Rates and waits for task"},
	{"lostpermits", answer.FindingPermits, "nobody was found who can give a permit back"},
	{"lostsync", answer.FindingPermits, "nobody was found who can give a permit back"},
	{"circle", answer.FindingDeadlock, ", which awaits the first"},
	{"exitcctor", answer.FindingDeadlock, "runs the static constructor of Mill.Exits"},
	{"threadsdelay", answer.FindingThreads, "300 threads that began in Mill.M.Main.<lambda> wait at one place"},
	{"threadslock", answer.FindingHeld, "300 threads wait: 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 and 284 more"},
	{"poll", answer.FindingSpin, "3 threads, the first"},
	{"spinuntil", answer.FindingSpin, "spin in Mill.M.Until until something else changes"},
	{"spinonce", answer.FindingSpin, "spin in Mill.M.Once until something else changes"},
	{"interlocked", answer.FindingSpin, "spin in Mill.M.Take until something else changes"},
	{"threadstatic", answer.FindingHolder, "kept by thread static Mill.Store.own"},
	{"threadlocal", answer.FindingHolder, "4 System.Collections.Generic.List<Mill.Grain> hold "},
	{"queue", answer.FindingHolder, "kept by static Mill.Store.queue"},
	{"chain", answer.FindingHolder, "kept by static Mill.Store.chain"},
	{"bigarray", answer.FindingHolder, "kept by static Mill.Store.whole"},
	{"rented", answer.FindingHolder, "kept by static Mill.M.keep"},
	{"pinned", answer.FindingHandles, "20,000 Pinned handles refer to objects of System.Byte[], and pin them"},
	{"strong", answer.FindingHandles, "60,000 Strong handles refer to objects of Mill.Grain, and keep them alive"},
	{"weak", answer.FindingHandles, "60,000 WeakShort handles refer to objects of Mill.Grain; they keep nothing alive"},
	{"dependent", answer.FindingHandles, "60,000 Dependent handles refer to objects of Mill.Grain: each keeps another object alive"},
	{"weaktable", answer.FindingHandles, "40,000 Dependent handles refer to objects of System.Object"},
	{"timedsem", answer.FindingPermits, "4 threads, the first 7 \"poller 0\", wait for Mill.Gate.permits (SemaphoreSlim), for at most "},
	{"tryenter", answer.FindingHeld, "for which 4 threads wait: 8 \"trier 0\", 9 \"trier 1\", 10 \"trier 2\", 11 \"trier 3\", for at most 1 min; thread 7 \"holder\" sleeps"},
	{"rwended", answer.FindingAbandoned, "has ended and still holds a ReaderWriterLockSlim"},
	{"nestedmonitor", answer.FindingHeld, "thread 7 \"consumer\" itself waits for a pulse of System.Object"},
	{"timerdispose", answer.FindingDeadlock, " runs the callback of a Timer and waits for System.Object "},
	{"cancelcallback", answer.FindingDeadlock, "\"canceler\" has not ended and waits for System.Object"},
	{"locktask", answer.FindingDeadlock, "\"owner\" holds System.Object"},
	{"console", answer.FindingHeld, "waits for the console in Mill.M.Say(System.String)"},
	{"whenall", answer.FindingBlocked, "until a task completes: System.Threading.Tasks.Task+WhenAllPromise awaits Mill.M.Load awaits"},
	{"poolevent", answer.FindingStarved, "workers wait for something themselves"},
	{"poollock", answer.FindingHeld, "(Mill.Gate.left), for which "},
	{"mutexended", answer.FindingWait, "4 threads wait for the same System.Threading.Mutex"},
	{"shards", answer.FindingHolder, "8 System.Collections.Generic.Dictionary<System.Int32, System.Byte[]> hold "},
	{"readers", answer.FindingThreads, "150 threads that began in Mill.M"},
	{"barrier", "", ""},
	{"factory", "", ""},
	{"promise", "", ""},
	{"events", "", ""},
	{"consumers", "", ""},
	{"busy", "", ""},
	{"thrower", "", ""},
	{"delays", "", ""},
	{"worker", "", ""},
	{"sleeper", "", ""},
	{"deep", "", ""},
	{"fifo", "", ""},
	{"native", "", ""},
	{"ticker", "", ""},
}

// TestTroubles checks that a triage finds the cause of each trouble first, and nothing in a healthy
// process.
func TestTroubles(t *testing.T) {
	p := newTrial(t, "Troubles.cs")
	for _, c := range troubles {
		t.Run(c.kind, func(t *testing.T) {
			v := p.open(t, "trial", c.kind)
			out, err := triage.Triage(t.Context(), v.Process, triage.Options{})
			require.NoError(t, err)
			if c.finding == "" {
				assert.Empty(t, out.Findings)
			} else {
				require.NotEmpty(t, out.Findings)
				assert.Equal(t, c.finding, out.Findings[0].Kind)
				assert.Contains(t, out.Findings[0].Text, c.says)
			}
			if c.kind == "barrier" {
				waits, err := locks.Waits(t.Context(), v.Process, locks.Options{})
				require.NoError(t, err)
				require.Len(t, waits.Threads, 2)
				assert.Empty(t, waits.Threads[0].Ends, "a Barrier waits in steps of limited time, and without an end")
			}
		})
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
	{"failfastpool", "the program called Environment.FailFast: from the pool, in Mill.M.<Main>m__", answer.StrengthProved},
	{"failfastcctor", "the program called Environment.FailFast: no configuration, in Mill.FailsFast..cctor()", answer.StrengthProved},
	{"abortcctor", "native code aborted the process (abort, or an assertion), called as Mill.M.abort(), called from Mill.Aborts..cctor()", answer.StrengthLikely},
	{"asyncmain", "System.InvalidOperationException was not caught: in an async Main, in Debuggee.dll!Mill.M+<Fails>", answer.StrengthProved},
	{"pool", "System.InvalidOperationException was not caught: in the pool, in", answer.StrengthProved},
	{"mutual", "called itself through Mill.M.P", answer.StrengthProved},
	{"limit", "System.OutOfMemoryException was not caught (the garbage collector's last failed allocation is of 100056 bytes: no more memory could be committed)", answer.StrengthProved},
	{"strlenlow", "accessed 0x10, called as Mill.M.strlen(IntPtr), called from Mill.M.Main(", answer.StrengthLikely},
	{"waitallfails", "System.AggregateException was not caught; caused by System.FormatException: first, in", answer.StrengthProved},
	{"continued", "System.AggregateException was not caught; caused by System.FormatException: first, in", answer.StrengthProved},
	{"lazyfails", "System.FormatException was not caught: no plan, in Debuggee.dll!Mill.M.<Main>m__", answer.StrengthProved},
}

// TestEnds checks the first finding for processes that ended.
func TestEnds(t *testing.T) {
	p := newTrial(t, "Troubles.cs")
	for _, c := range ends {
		t.Run(c.kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "crash", c.kind).Process, triage.Options{NoHeap: true})
			require.NoError(t, err)
			require.NotEmpty(t, out.Findings)
			assert.Equal(t, answer.FindingCrash, out.Findings[0].Kind)
			assert.Contains(t, out.Findings[0].Text, c.says)
			assert.Equal(t, c.strength, out.Findings[0].Strength)
		})
	}
}

// services are the kinds of Services.cs that continue: the first finding, a part of its text, and
// the kind of its consequence. The last ones are healthy.
var services = []struct {
	kind    string
	finding answer.FindingKind
	says    string
	follows answer.FindingKind
}{
	{"readerfault", answer.FindingFull, "wait for room in a channel", ""},
	{"scheduler", answer.FindingBlocked, "its turn in the task scheduler Ferry.Crew; 2 of these threads run a task of that scheduler meanwhile", ""},
	{"inline", answer.FindingDeadlock, "waits for the end of thread 7 \"clerk\"", ""},
	{"rwreader", answer.FindingHeld, "thread 7 \"report\" holds a ReaderWriterLockSlim", ""},
	{"rwlost", answer.FindingAbandoned, "held by a reader; no thread of the process has it among the locks that it reads", ""},
	{"lockleak", answer.FindingAbandoned, "waits for work of the thread pool: what took the lock has returned and still holds it", ""},
	{"locksem", answer.FindingDeadlock, "thread 8 \"second\", in ", ""},
	{"newlock", answer.FindingDeadlock, "System.Threading.Lock", ""},
	{"gatestarved", answer.FindingPermits, "wait for Ferry.Dock.seats (SemaphoreSlim), 0 of 1 may enter", answer.FindingStarved},
	{"poolmax", answer.FindingStarved, "all 4 workers wait for something themselves", ""},
	{"backoff", answer.FindingStarved, "workers wait for something themselves", ""},
	{"overlap", answer.FindingHeld, "(Ferry.Dock.gate), for which ", ""}, // whether a tick is queued varies
	{"filterhang", answer.FindingHeld, "(Ferry.Dock.gate), for which 3 threads wait", ""},
	{"ring", answer.FindingSpin, "in a loop of Ferry.M.Finds that stores nothing, and the 2 Ferry.Leg that it follows by next form a circle", ""},
	{"listener", answer.FindingPromises, "suspended operations wait for promises in Ferry.Radio.pending; a task of the same class has failed: Ferry.Radio.Listens: System.FormatException", ""},
	{"timeouts", answer.FindingTasks, "20 tasks failed", ""}, // one by one, and not the listener
	{"endless", answer.FindingSpin, "\"counter\" is in a loop of Ferry.M.Counts that ends only at null, and the 500 Ferry.Leg that it follows by next form a circle", ""},
	{"leadin", answer.FindingSpin, "\"walker\" is in a loop of Ferry.M.Walks that ends only at null, and the 7 Ferry.Leg that it follows by next form a circle", ""},
	{"onering", answer.FindingSpin, "thread 8 \"adder 1\" is in a loop of Ferry.M.Ids that ends only at null, and the 5 Ferry.Leg", ""}, // the others follow a list with an end
	{"linked", answer.FindingHolder, "60,000 System.Threading.CancellationTokenSource+Linked1CancellationTokenSource, kept by static Ferry.Dock.stopping", ""},
	{"intern", answer.FindingHolder, "strings that are interned (String.Intern) or literals hold ", ""},
	{"builder", answer.FindingHolder, "kept by static Ferry.Dock.log", ""},
	{"serial", answer.FindingHolder, "100,000 System.Threading.Tasks.ContinuationTaskFromTask hold ", ""},
	{"continuations", answer.FindingHolder, "60,000 System.Threading.Tasks.ContinueWithTaskContinuation, kept by static Ferry.Dock.stopped", ""},
	{"stackheld", answer.FindingHolder, "kept by the stack of thread 7 (0x", ""},
	{"iterators", "", "", ""},
	{"lohchurn", "", "", ""},
	{"periodic", "", "", ""},
	{"poll", "", "", ""},
	{"taken", "", "", ""},
	{"foreground", answer.FindingEnding, "Main has returned; foreground threads keep the process alive", ""}, // as a log writer does that nobody ends
	{"rounds", "", "", ""},
	{"laps", "", "", ""},
	{"passed", "", "", ""},
	{"seekers", "", "", ""},
}

// TestServices checks that a triage finds the cause of each trouble first, and its consequence
// second.
func TestServices(t *testing.T) {
	p := newTrial(t, "Services.cs")
	for _, c := range services {
		t.Run(c.kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", c.kind).Process, triage.Options{})
			require.NoError(t, err)
			if c.finding == "" {
				assert.Empty(t, out.Findings)
				assert.Empty(t, out.Unknown)
				return
			}
			require.NotEmpty(t, out.Findings)
			f := out.Findings[0]
			assert.Equal(t, c.finding, f.Kind)
			assert.Contains(t, f.Text, c.says)
			if c.finding == answer.FindingTasks {
				assert.Len(t, out.Findings, 1, "the calls that wait are no finding")
			}
			if c.kind == "stackheld" {
				assert.Regexp(t, `kept by the stack of thread 7 \(0x[0-9a-f]+, managed \d+\) "importer", in Ferry\.M\.Imports\(Int32\)$`, f.Text)
			}
			if c.follows != "" {
				require.Greater(t, len(out.Findings), 1)
				assert.Equal(t, c.follows, out.Findings[1].Kind)
				assert.Contains(t, fmt.Sprintf("%+v", out.Findings[1].Clauses), "it follows from the finding")
			}
		})
	}
}

// meetings are the kinds of Meetings.cs. In the first, no thread goes on; the others go on or may.
var meetings = []struct{ kind, says string }{
	{"siren", `Quarry\.Pit\.clear.*2 of 2 signals are missing\); all other threads in methods that signal it wait .*"miner 0" itself waits for a ManualResetEventSlim .*Quarry\.Pit\.siren`},
	{"lamp", `Quarry\.Pit\.clear.*2 of 2 signals are missing.*"miner 0" itself waits for a System\.Threading\.AutoResetEvent .*Quarry\.Pit\.lamp`},
	{"lost", `^3 threads, the first .*"crusher 0", wait for a pulse of .*Quarry\.Pit\.carts\) in Quarry\.M\.Crushes, where .*Queue.* has 40 items, and nobody holds`},
	{"lostif", `^3 threads, the first .*"crusher 0", wait for a pulse of .*Quarry\.Pit\.carts\) in Quarry\.M\.CrushesIf, where .*Queue.* has 40 items`},
	{"empty", ""},
	{"shift", ""},
	{"closes", ""},
	{"slow", ""},
	{"carries", ""},
	{"others", ""},
	{"sounds", ""},
	{"digs", ""},
	{"looks", ""},
	{"hauls", ""},
	{"timer", ""},
}

// TestMeetings checks that threads which wait for what only the others do are found, and that threads which others may end are not.
func TestMeetings(t *testing.T) {
	p := newTrial(t, "Meetings.cs")
	for _, c := range meetings {
		t.Run(c.kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", c.kind).Process, triage.Options{})
			require.NoError(t, err)
			if c.says == "" {
				assert.Empty(t, out.Findings)
				return
			}
			require.Len(t, out.Findings, 1)
			assert.Equal(t, answer.FindingWait, out.Findings[0].Kind)
			assert.Positive(t, answer.CompareStrength(out.Findings[0].Strength, answer.StrengthProved))
			assert.Regexp(t, c.says, out.Findings[0].Text)
		})
	}
	t.Run("locked", func(t *testing.T) { // the lock that the blaster holds is the finding
		out, err := triage.Triage(t.Context(), p.open(t, "trial", "locked").Process, triage.Options{})
		require.NoError(t, err)
		require.NotEmpty(t, out.Findings)
		assert.Contains(t, []answer.FindingKind{answer.FindingHeld, answer.FindingWait}, out.Findings[0].Kind)
		assert.Regexp(t, `drill|clear`, out.Findings[0].Text)
	})
}

// bells are the kinds of Bells.cs. In each, a sleeping thread, a timer, a callback of a token, suspended code or an item of the thread pool ends the waits.
var bells = []string{"batches", "bell", "flush", "pulseasync", "busy", "cts", "sirentimer", "sirenasync", "sirenasyncdeep", "horn", "pool", "barrier", "barrierlate", "barriertimer"}

// TestSignalsFromOutside checks that threads that other code wakes later are no finding, however it reaches the signal.
func TestSignalsFromOutside(t *testing.T) {
	p := newTrial(t, "Bells.cs")
	for _, kind := range bells {
		t.Run(kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", kind).Process, triage.Options{})
			require.NoError(t, err)
			for i := range out.Findings {
				assert.NotEqual(t, answer.FindingWait, out.Findings[i].Kind, out.Findings[i].Text)
			}
		})
	}
}

// unsignaled are the kinds of Signals.cs in which nobody can end the waits any more.
var unsignaled = []struct{ kind, says string }{
	{"countdown", `"waiter" waits for a CountdownEvent .*Tower\.M\.done.*1 of 3 signals are missing\); no thread, suspended method or delegate that can still run`},
	{"countdownthreads", `"waiter" waits for a CountdownEvent .*Tower\.M\.done.*1 of 3 signals are missing\); no thread`},
	{"countdowntasks", `"waiter" waits for a CountdownEvent .*Tower\.M\.done.*1 of 3 signals are missing\); no thread`},
	{"countdownlater", `"waiter" waits for a CountdownEvent .*Tower\.M\.done.*1 of 3 signals are missing\); no thread`},
	{"countdownshift", `"waiter" waits for a CountdownEvent .*Tower\.M\.done.*1 of 3 signals are missing\); no thread`},
	{"countdownmain", `waits for a CountdownEvent .*Tower\.M\.done.*1 of 3 signals are missing\); no thread`},
	{"barrierlost", `^2 threads.*Barrier.*Tower\.M\.gate.*2 of 3.*; no thread`},
	{"pulse", `^4 threads, the first .*"sorter 0", wait for a pulse of .*Tower\.M\.desk\) in Tower\.M\.Sorts, where .*Queue.* has 59 items, and nobody holds`},
	{"pulseoffice", `^4 threads, the first .*"sorter 0", wait for a pulse of .*Tower\.M\.desk\) in Tower\.M\.Sorts, where .*Queue.* has 59 items`},
}

// signaledLater are the kinds of Signals.cs that code which no thread runs now goes on with later: all are healthy.
var signaledLater = []string{"queued", "queuedgroup", "timer", "async", "asyncdeep", "sleeper", "list", "librarymethod", "finalizer", "event", "unstarted", "starts", "iterator",
	"interface", "base", "dispose", "reflection", "continuation", "token", "lazy", "exit", "registered", "shift", "generic", "native", "barrierlate", "barriertask",
	"pulsetimer", "pulselist", "pulsedrain", "pulsejoins"}

// TestNobodySignals checks that waits which nobody can end are found, and that waits which code ends later are not, however it is kept until then.
func TestNobodySignals(t *testing.T) {
	p := newTrial(t, "Signals.cs")
	for _, c := range unsignaled {
		t.Run(c.kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", c.kind).Process, triage.Options{})
			require.NoError(t, err)
			require.Len(t, out.Findings, 1)
			assert.Equal(t, answer.FindingWait, out.Findings[0].Kind)
			assert.Positive(t, answer.CompareStrength(out.Findings[0].Strength, answer.StrengthProved))
			assert.Regexp(t, c.says, out.Findings[0].Text)
		})
	}
	for _, kind := range signaledLater {
		t.Run(kind, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), p.open(t, "trial", kind).Process, triage.Options{})
			require.NoError(t, err)
			for i := range out.Findings {
				assert.NotEqual(t, answer.FindingWait, out.Findings[i].Kind, out.Findings[i].Text)
			}
		})
	}
}

// shapesOfValues are expressions about Shapes.cs, with the values in its source.
var shapesOfValues = [][2]string{
	{"R.Small, R.Short, R.Wide, R.Huge, R.Boxed", "Neg, Last, Four, Eighteen, Eighteen"},
	{"R.Odd, (int)R.Small, R.Huge > R.Wide", "17999999999999999999, -1, true"},
	{"R.Some.Value.Name, R.Some.Name, R.Some.HasValue, R.Some.Value.Count + 1", `"crate", "crate", true, 10`},
	{"R.None, R.None.HasValue, R.None?.Value, R.When.Value == '2026-11-27 01:02:03'", "null, false, null, true"},
	{"R.Buffers.Numbers[0], R.Buffers.Numbers[4], R.Buffers.Numbers[5], R.Buffers.Numbers[-1]", "0, 40, <not supported>, <not supported>"},
	{"R.Buffers.Chars[1], R.Buffers.Reals[2], R.Buffers.Before, R.Buffers.After", "i, 2.5, -1, 255"},
	{"R.Union.F, R.Union.High, R.Union.O", `1, 63, "union"`},
	{"R.Corner[-3, 11], R.Corner[-3, 10], R.Based[-1], R.Based[2]", `"corner", null, 77, <not supported>`},
	{"R.Grid[1, 0].Name, R.Pointers[1], R.Inner.A, R.Inner.B, R.Most", `"grid", 0x99, "a", 5, -79228162514264337593543950335`},
	{"Harbor.Box<System.Int32>.S, Harbor.Box<Harbor.Cargo>.S.Count", "41, 43"},
	{`Harbor.Outer<System.String>.St, Harbor.Outer<System.String>.Inner<System.Int32>.Map["k"]`, `"st", 6`},
}

// TestShapesOfValues evaluates expressions over values of many shapes. A struct's computed property
// named Value is not mistaken for Nullable's.
func TestShapesOfValues(t *testing.T) {
	v := newTrial(t, "Shapes.cs").open(t, "trial")
	for _, c := range shapesOfValues {
		got, err := rows.Evaluate(t.Context(), v.Process, strings.ReplaceAll(c[0], "R.", "Harbor.M.Root."), rows.EvaluateOptions{})
		require.NoError(t, err, c[0])
		var cells []string
		for i := range got.Values {
			cells = append(cells, got.Values[i].Value.Plain())
		}
		assert.Equal(t, c[1], strings.Join(cells, ", "), c[0])
	}
	for text, number := range map[string]string{"Huge": "18000000000000000000", "Small": "-1", "Wide": "4000000000"} {
		got, err := rows.Evaluate(t.Context(), v.Process, "Harbor.M.Root."+text, rows.EvaluateOptions{})
		require.NoError(t, err)
		assert.Equal(t, number, got.Values[0].Value.Number())
	}
	for _, text := range []string{"Harbor.M.Root.Valued.Value", "Harbor.M.Root.Maybe.Value.Value"} {
		_, err := rows.Evaluate(t.Context(), v.Process, text, rows.EvaluateOptions{})
		assert.ErrorContains(t, err, "there is no Value in Harbor.Valued")
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
			out, err := triage.Triage(t.Context(), p.open(t, "crash", c.kind).Process, triage.Options{NoHeap: true})
			require.NoError(t, err)
			require.NotEmpty(t, out.Findings)
			assert.Equal(t, answer.FindingCrash, out.Findings[0].Kind)
			assert.Contains(t, out.Findings[0].Text, c.says)
			assert.Equal(t, c.strength, out.Findings[0].Strength)
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

// TestHandmade: answers about handwritten state machines are complete. They have no state, and
// their awaits are found without one.
func TestHandmade(t *testing.T) {
	path := newTrial(t, "Handmade.cs").dump(t, "wait")
	d := testdump.OpenDraft(t, path, sosgo.Options{Offline: true})
	v, err := d.Dump.View("")
	require.NoError(t, err)
	list, err := async.Tasks(t.Context(), v.Process, tasks.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, list.Noted())
	waits, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	assert.Empty(t, waits.Noted())
	out, err := triage.Triage(t.Context(), v.Process, triage.Options{})
	require.NoError(t, err)
	assert.Empty(t, out.Unknown)

	listed, err := async.Stacks(t.Context(), v.Process, async.StackOptions{})
	require.NoError(t, err)
	waiting := map[string]string{}
	var deaf, named target.Addr
	for s, err := range listed.Stacks {
		require.NoError(t, err)
		var names []string
		for i := range s.Frames {
			f := &s.Frames[i]
			if f.Kind != answer.AsyncMethod {
				continue
			}
			name := f.AsyncPlace.Method.S
			names = append(names, name)
			assert.Equal(t, name == "Loom.M.Compiled", f.State != nil, name)
			switch name {
			case "Loom.Deaf":
				deaf = f.Object
			case "Loom.Named":
				named = f.Object
			}
		}
		waiting[strings.Join(names, " ")] = s.Reason.S
	}
	assert.Empty(t, listed.Noted())
	assert.Equal(t, map[string]string{
		"Loom.Stateless Loom.Named Loom.M.Compiled": "a promise (TaskCompletionSource)",
		"Loom.Deaf Loom.M.Compiled":                 "something unknown: its state machine was written by hand",
	}, waiting)

	one, err := async.State(t.Context(), v.Process, named)
	require.NoError(t, err)
	assert.Empty(t, one.Noted())
	require.NotNil(t, one.WaitsOn)
	assert.Equal(t, "Loom.Stateless", one.WaitsOn.Name.S)
	assert.Nil(t, one.At)
	awaited := one.WaitsOn.Object
	one, err = async.State(t.Context(), v.Process, deaf)
	require.NoError(t, err)
	assert.Empty(t, one.Noted())
	assert.Nil(t, one.WaitsOn)
	assert.Equal(t, "something unknown: its state machine was written by hand", one.WaitsFor.S)

	d = testdump.OpenDraft(t, path, sosgo.Options{Offline: true})
	d.Set(testdump.Words(awaited, 8)) // no MethodTable
	v, err = d.Dump.View("")
	require.NoError(t, err)
	one, err = async.State(t.Context(), v.Process, named)
	require.NoError(t, err)
	assert.NotEmpty(t, one.Noted(), "the task that it awaits can't be read")
	assert.Nil(t, one.WaitsOn)
}
