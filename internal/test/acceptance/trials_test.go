package acceptance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// A trial is a program that is compiled and run for the tests, one situation at a time.
type trial struct {
	tools, dll string
	files      bool // the files of the runtime on this machine are read, too
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
	return trial{tools: tools, dll: dll}
}

// open runs a situation, dumps the process and opens the dump.
func (p trial) open(t *testing.T, scenario string, args ...string) *sosgo.View {
	t.Helper()
	d, err := sosgo.Open(p.dump(t, scenario, args...), sosgo.Options{Offline: !p.files})
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

// triage runs a situation and judges the dump of the process.
func (p trial) triage(t *testing.T, args ...string) *answer.Triage {
	t.Helper()
	out, err := triage.Triage(t.Context(), p.open(t, "trial", args...).Process, triage.Options{})
	require.NoError(t, err)
	return out
}

// first checks the first finding and returns it. A healthy process has none.
func first(t *testing.T, out *answer.Triage, kind answer.FindingKind, says string) *answer.Finding {
	t.Helper()
	if kind == answer.NoFinding {
		assert.Empty(t, out.Findings)
		return nil
	}
	require.NotEmpty(t, out.Findings)
	f := &out.Findings[0]
	assert.Equal(t, kind, f.Kind)
	assert.Contains(t, f.Text, says)
	return f
}

// onlyWait checks that the one finding is a wait, which is not proved to be without an end.
func onlyWait(t *testing.T, out *answer.Triage, says string) {
	t.Helper()
	require.Len(t, out.Findings, 1)
	assert.Equal(t, answer.FindingWait, out.Findings[0].Kind)
	assert.Positive(t, answer.CompareStrength(out.Findings[0].Strength, answer.StrengthProved))
	assert.Regexp(t, says, out.Findings[0].Text)
}

// noWait checks that no finding is a wait.
func noWait(t *testing.T, out *answer.Triage) {
	t.Helper()
	for i := range out.Findings {
		assert.NotEqual(t, answer.FindingWait, out.Findings[i].Kind, out.Findings[i].Text)
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
			out := p.triage(t, c.kind)
			if c.kind != "flood" { // the length of its queue depends on the machine
				for i := range out.Unknown {
					assert.ErrorIs(t, out.Unknown[i].Err, target.ErrNotInDump, out.Unknown[i].Subject)
				}
			}
			first(t, out, c.finding, c.says)
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
	{"spin", answer.FindingSpin, "are in a loop of Depot.M.Spin that reads no memory and changes nothing: it never ends"},
	{"threads", answer.FindingThreads, "400 threads that began in Depot.M"},
	{"timers", answer.FindingHolder, "60,000 timers that call Depot.M"},
	{"handles", answer.FindingHandles, "60,000 Strong handles refer to objects of System.Byte[], and keep them alive"},
	{"countdown", "", ""},
}

// TestFaultPrograms checks that a triage finds the cause of each fault first.
func TestFaultPrograms(t *testing.T) {
	p := newTrial(t, "Faults.cs")
	for _, c := range faults {
		t.Run(c.kind, func(t *testing.T) {
			first(t, p.triage(t, c.kind), c.finding, c.says)
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
	{"weaktable", answer.FindingHolder, "kept by static Mill.Store.keys, attached by a ConditionalWeakTable (static Mill.Store.notes)"},
	{"timedsem", answer.FindingPermits, "4 threads, the first 7 \"poller 0\", wait for Mill.Gate.permits (SemaphoreSlim), for at most "},
	{"tryenter", answer.FindingHeld, "for which 4 threads wait: 8 \"trier 0\", 9 \"trier 1\", 10 \"trier 2\", 11 \"trier 3\", for at most 1 min; thread 7 \"holder\" sleeps"},
	{"rwended", answer.FindingAbandoned, "has ended and still holds a ReaderWriterLockSlim"},
	{"nestedmonitor", answer.FindingDeadlock, "thread 7 \"consumer\" holds System.Object"},
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
	{"events", answer.FindingDeadlock, "thread 7 \"one\" alone would set System.Threading.AutoResetEvent"},
	{"barrier", "", ""},
	{"factory", "", ""},
	{"promise", "", ""},
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
			first(t, out, c.finding, c.says)
			if c.kind == "barrier" {
				waits, err := locks.Waits(t.Context(), v.Process, locks.Options{})
				require.NoError(t, err)
				require.Len(t, waits.Threads, 2)
				assert.Empty(t, waits.Threads[0].Ends, "a Barrier waits in steps of limited time, and without an end")
			}
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
	{"scheduler", answer.FindingDeadlock, "its turn in the task scheduler Ferry.Crew; 2 of these threads run a task of that scheduler meanwhile", ""},
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
	{"ring", answer.FindingSpin, "in a loop of Ferry.M.Finds that ends only at null or at a key that it searches, and the 2 Ferry.Leg that it follows by next form a circle without that key", ""},
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
			out := p.triage(t, c.kind)
			f := first(t, out, c.finding, c.says)
			if f == nil {
				assert.Empty(t, out.Unknown)
				return
			}
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
	{"noshift", `^3 threads, the first .*"crusher 0", wait for a pulse of .*Quarry\.Pit\.carts\); no thread, suspended method or delegate that can still run leads to code that gives one`},
	{"neverempty", `"clerk" waits for a pulse of .*Quarry\.Pit\.carts\); no thread, suspended method or delegate that can still run leads to code that gives one`},
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
			out := p.triage(t, c.kind)
			if c.says == "" {
				assert.Empty(t, out.Findings)
				return
			}
			onlyWait(t, out, c.says)
		})
	}
	t.Run("locked", func(t *testing.T) { // the lock that the blaster holds is the finding
		out := p.triage(t, "locked")
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
			noWait(t, p.triage(t, kind))
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
	{"barrierlost", `^2 threads.*Barrier.*Tower\.M\.gate.*2 of 3.*; no other thread`},
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
			onlyWait(t, p.triage(t, c.kind), c.says)
		})
	}
	for _, kind := range signaledLater {
		t.Run(kind, func(t *testing.T) {
			noWait(t, p.triage(t, kind))
		})
	}
}

// TestProducers checks that waits which a failed task would have ended are one finding with its exception, and that other code which ends them later
// leaves the failure alone.
func TestProducers(t *testing.T) {
	p := newTrial(t, "Producers.cs")
	p.files = true // the dump lacks GC info of BlockingCollection's code: without it, a variable of a thread may be what ends the wait
	for kind, says := range map[string]string{
		"collection": `^4 threads, the first .*"waiter 0", wait for an item in [0-9a-f]+.*; what would end the wait has failed \(Harbor\.Ledger\..*Fill`,
		"promise":    `^6 suspended operations wait for a promise in Harbor\.Ledger\.Loaded; what would end the wait has failed \(Harbor\.Ledger\..*Load`,
		"semaphore":  `^6 suspended operations wait for Harbor\.Ledger\.Signal.*; what would end the wait has failed \(Harbor\.Ledger\..*Ring`,
		"event":      `^4 threads, the first .*"waiter 0", wait for .*ManualResetEventSlim .*; what would end the wait has failed \(Harbor\.Ledger\..*Finish`,
	} {
		t.Run(kind, func(t *testing.T) {
			out := p.triage(t, kind)
			require.Len(t, out.Findings, 1)
			assert.Equal(t, answer.FindingTasks, out.Findings[0].Kind)
			assert.Equal(t, answer.SeverityHigh, out.Findings[0].Severity)
			assert.Regexp(t, says, out.Findings[0].Text)
		})
		t.Run(kind+"late", func(t *testing.T) {
			out := p.triage(t, kind+"late")
			require.Len(t, out.Findings, 1)
			assert.Equal(t, answer.SeverityWarning, out.Findings[0].Severity)
			assert.Regexp(t, `^a task failed`, out.Findings[0].Text)
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
