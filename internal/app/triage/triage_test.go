package triage

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// healthy returns the Answers of a process without findings.
func healthy() *Answers {
	return &Answers{
		Crash:       Got(&answer.Crash{Alive: true}, nil),
		Waits:       Got(&answer.Waits{}, nil),
		ThreadPool:  Got(&answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known[uint64](0)}, nil),
		SQLPools:    Got(&answer.SQLPools{}, nil),
		Redis:       Got(&answer.Redis{}, nil),
		Requests:    Got(&answer.Requests{Requests: []answer.Request{{Context: 0x10}}}, nil),
		HTTPClients: Got(&answer.HTTPClients{}, nil),
		Tasks:       Got(&answer.Tasks{}, nil),
		Hosts:       Got(&answer.Hosts{}, nil),
		TypeInits:   Got(&answer.Initializers{}, nil),
		OutOfMemory: Got(&answer.OutOfMemory{}, nil),
		Leaks:       Got(&answer.Leaks{}, nil),
		VerifyHeap:  Got(&answer.Soundness{}, nil),
		Contexts:    Got(&answer.LoadContexts{}, nil),
		FreeSpace:   Got(&answer.Fragmentation{}, nil),
		Handles:     Got(&answer.Handles{}, nil),
		Native:      Got(&memorymap.Native{Arenas: 5 << 20, Heap: 40 << 20}, nil),
	}
}

// TestReceivedSignal checks that the thread that a signal was given to, and its methods, are not named as if they were to blame for it, unless it raised it.
func TestReceivedSignal(t *testing.T) {
	sent := func(self bool, code int32) string {
		q := healthy()
		q.Crash = Got(&answer.Crash{Reason: "SIGABRT", Why: answer.Statement{Text: "it was sent"}, Thread: &answer.Thread{OSID: 7}, ThreadID: 7,
			Signal:   &answer.CrashSignal{Number: target.SIGABRT, Code: &code, Sender: &answer.SignalSender{PID: 3, Self: self}},
			Stack:    []answer.CrashFrame{{Method: answer.Text{S: "Shop.Host.Ready()"}}},
			Verdicts: []answer.Verdict{{Statement: answer.Statement{Text: "SIGABRT"}, Strength: answer.StrengthRecorded}}}, nil)
		out, err := Judge(t.Context(), q, Options{})
		require.NoError(t, err)
		return out.Findings[0].Text
	}
	assert.Equal(t, "it was sent", sent(true, target.SIUser))
	assert.Equal(t, "it was sent", sent(false, target.SIUser))
	assert.Equal(t, "it was sent", sent(false, target.SITkill))
	assert.Contains(t, sent(true, target.SITkill), "it was sent, the innermost method of the program on its stack: Shop.Host.Ready()")
}

// TestCausesFirst checks that the cause comes first where findings are one behind the other and is as severe, and that findings behind each other stay.
func TestCausesFirst(t *testing.T) {
	of := func(text string, kind answer.FindingKind, severity answer.Severity, waits, behind []uint32) answer.Finding {
		v := answer.Verdict{Kind: kind, Statement: answer.Statement{Text: text}, Strength: answer.StrengthLikely, Behind: behind, Thing: text}
		for _, id := range waits {
			v.Sites = append(v.Sites, answer.Site{Thread: id})
		}
		f := finding(kind, v)
		f.Severity = severity
		return f
	}
	list := []answer.Finding{
		of("deadlock", answer.FindingDeadlock, answer.SeverityFatal, []uint32{90, 91}, nil),
		of("raw", answer.FindingFull, answer.SeverityHigh, []uint32{1, 2}, []uint32{3, 4}),
		of("cut", answer.FindingFull, answer.SeverityHigh, []uint32{3, 4}, []uint32{5}),
		of("half", answer.FindingFull, answer.SeverityHigh, []uint32{7}, []uint32{5, 8}),
		of("label", answer.FindingHeld, answer.SeverityWarning, []uint32{5}, []uint32{6}),
		of("one", answer.FindingHeld, answer.SeverityWarning, []uint32{10}, []uint32{11}),
		of("two", answer.FindingHeld, answer.SeverityWarning, []uint32{11}, []uint32{10}),
	}
	chain := func(text string, kind answer.FindingKind, severity answer.Severity, waits, behind []target.Addr) answer.Finding {
		f := of(text, kind, severity, nil, nil)
		f.Clauses[0].Waiting, f.Clauses[0].BehindMethods = waits, behind
		return f
	}
	list = append(list,
		chain("first", answer.FindingFull, answer.SeverityHigh, []target.Addr{0x10, 0x18}, []target.Addr{0x20}),
		chain("second", answer.FindingFull, answer.SeverityHigh, []target.Addr{0x20}, []target.Addr{0x30}),
		chain("part", answer.FindingFull, answer.SeverityHigh, []target.Addr{0x48}, []target.Addr{0x30, 0x50}),
		chain("disk", answer.FindingPermits, answer.SeverityWarning, []target.Addr{0x28, 0x30}, nil),
		chain("store", answer.FindingFull, answer.SeverityHigh, []target.Addr{0x60}, []target.Addr{0x70}),
		chain("login", answer.FindingTasks, answer.SeverityHigh, []target.Addr{0x70}, nil),
		chain("limit", answer.FindingPermits, answer.SeverityHigh, []target.Addr{0x80}, []target.Addr{0x90, 0x98}),
		chain("server", answer.FindingDependency, answer.SeverityWarning, []target.Addr{0x90, 0x98}, nil))
	causesFirst(list)
	var got []string
	for _, f := range list {
		text := f.Text + " " + string(f.Severity)
		for _, c := range f.Clauses[1:] {
			text += ": " + c.Text
		}
		got = append(got, text)
	}
	assert.Equal(t, []string{"deadlock fatal", "label high", "cut high: it follows from the finding \"held lock\" about label", "raw high: it follows from the finding \"full queue\" about cut",
		"half high", "two warning", "one warning: it follows from the finding \"held lock\" about two"}, got[:7])
	assert.Equal(t, []string{"disk high", "second high: it follows from the finding \"no permits\" about disk", "first high: it follows from the finding \"full queue\" about second",
		"part high", "login high", "store high: it follows from the finding \"failed tasks\" about login", "server high", "limit high: it follows from the finding \"silent dependency\" about server"}, got[7:])
}

// TestNativeMemory checks that much native memory, compared with the GC heap, is a finding, and unknown memory is not.
func TestNativeMemory(t *testing.T) {
	for _, c := range []struct {
		n      memorymap.Native
		err    error
		found  string
		quiet  bool
		likely bool
	}{
		{n: memorymap.Native{Arenas: 5 << 20, Heap: 1 << 20}, quiet: true},
		{n: memorymap.Native{Arenas: 300 << 20, Heap: 200 << 20}, quiet: true},
		{n: memorymap.Native{Arenas: 300 << 20, Heap: 150 << 20}, found: "malloc has 300.0 MB, and the GC heap 150.0 MB: objects do not explain the memory of the process"},
		{n: memorymap.Native{Arenas: 10 << 20, Blocks: 400 << 20, Counted: true, Heap: 20 << 20}, found: "malloc has 410.0 MB, and the GC heap 20.0 MB: objects do not explain the memory of the process"},
		{n: memorymap.Native{Arenas: 5 << 20, Err: target.ErrNotInDump}},
		{n: memorymap.Native{Arenas: 10 << 20, Blocks: 400 << 20, Heap: 20 << 20, Err: target.ErrNotInDump}, likely: true,
			found: "malloc has 410.0 MB, and the GC heap 20.0 MB: objects do not explain the memory of the process"},
		{n: memorymap.Native{Arenas: 300 << 20, Err: target.ErrNotInDump}, found: "malloc has 300.0 MB, and the GC heap 0 B: objects do not explain the memory of the process"},
		{err: target.ErrUnsupported},
	} {
		q := healthy()
		q.Native = Got(&c.n, c.err)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		assert.Empty(t, out.Unknown)
		assert.Equal(t, c.quiet, slices.Contains(out.Quiet, "native memory"), c.n)
		if c.found == "" {
			assert.Empty(t, out.Findings, c.n)
			continue
		}
		if assert.Len(t, out.Findings, 1, c.n) {
			assert.Equal(t, c.found, out.Findings[0].Text)
			want := answer.StrengthRecorded
			if c.likely {
				want = answer.StrengthLikely
			}
			assert.Equal(t, want, out.Findings[0].Strength)
		}
	}
}

func TestNothingWrong(t *testing.T) {
	out, err := Judge(context.Background(), healthy(), Options{Jobs: 2})
	require.NoError(t, err)
	assert.Empty(t, out.Findings)
	assert.Empty(t, out.Unknown)
	assert.Len(t, out.Quiet, len(subjects))
}

// TestNotLookedAt checks that a subject without an answer is never quiet.
func TestNotLookedAt(t *testing.T) {
	q := healthy()
	q.Waits = Got[*answer.Waits](nil, target.ErrNotInDump)
	q.Leaks = Got(&answer.Leaks{Incomplete: true}, nil)
	q.ThreadPool = Got(&answer.ThreadPool{Kind: answer.PoolUnknown}, nil)
	q.Crash = Got(&answer.Crash{Alive: true, Undecided: true}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	names := map[string]bool{}
	for _, u := range out.Unknown {
		names[u.Subject] = u.Partly
		require.Error(t, u.Err)
		assert.NotContains(t, out.Quiet, u.Subject)
	}
	assert.Equal(t, map[string]bool{"crash": false, "finalizer thread": false, "locks and blocked threads": false, "thread pool": false, "holders of memory": true}, names)

	// The stacks of some threads were read without a wait. The unread part is named, and the subject isn't quiet.
	q.Waits = Got(&answer.Waits{Looked: 3}, target.ErrNotInDump)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	for _, u := range out.Unknown {
		if u.Subject == "locks and blocked threads" {
			assert.True(t, u.Partly)
			names = nil
		}
	}
	assert.Nil(t, names)
	assert.NotContains(t, out.Quiet, "locks and blocked threads")

	out, err = Judge(context.Background(), healthy(), Options{NoHeap: true})
	require.NoError(t, err)
	assert.Len(t, out.Unknown, 3)
}

// TestNothingAtAll checks that a triage without any readable subject is an error, not a clean result.
func TestNothingAtAll(t *testing.T) {
	q := &Answers{
		Crash: Got[*answer.Crash](nil, target.ErrUnsupported), Waits: Got[*answer.Waits](nil, target.ErrNotInDump),
		ThreadPool: Got[*answer.ThreadPool](nil, target.ErrNotInDump), SQLPools: Got[*answer.SQLPools](nil, target.ErrNotInDump),
		Tasks: Got[*answer.Tasks](nil, target.ErrNotInDump), OutOfMemory: Got[*answer.OutOfMemory](nil, target.ErrNotInDump),
		Leaks: Got[*answer.Leaks](nil, target.ErrNotInDump), VerifyHeap: Got[*answer.Soundness](nil, target.ErrNotInDump),
		Contexts: Got[*answer.LoadContexts](nil, target.ErrNotInDump), FreeSpace: Got[*answer.Fragmentation](nil, target.ErrNotInDump),
		Handles: Got[*answer.Handles](nil, target.ErrNotInDump),
	}
	out, err := Judge(context.Background(), q, Options{Jobs: 1})
	require.ErrorIs(t, err, target.ErrUnsupported)
	assert.Empty(t, out.Quiet)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Judge(ctx, healthy(), Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestOrder checks that findings are ordered by severity, kind, strength and number.
func TestOrder(t *testing.T) {
	q := healthy()
	q.Waits = Got(&answer.Waits{Verdicts: []answer.Verdict{
		{Kind: answer.FindingEntryPoint, Statement: answer.Statement{Text: "usual"}, Strength: answer.StrengthProved},
		{Kind: answer.FindingBlocked, Statement: answer.Statement{Text: "blocked"}, Strength: answer.StrengthLikely},
		{Kind: answer.FindingHeld, Statement: answer.Statement{Text: "two wait"}, Strength: answer.StrengthProved, Count: 2},
		{Kind: answer.FindingHeld, Statement: answer.Statement{Text: "five wait"}, Strength: answer.StrengthLikely, Count: 5},
		{Kind: answer.FindingHeld, Statement: answer.Statement{Text: "nine wait"}, Strength: answer.StrengthLikely, Count: 9},
		{Kind: answer.FindingHeld, Statement: answer.Statement{Text: "four wait"}, Strength: answer.StrengthProved, Count: 4},
		{Kind: answer.FindingDeadlock, Statement: answer.Statement{Text: "deadlock: a waits for b"}, Strength: answer.StrengthProved},
		{Statement: answer.Statement{Text: "no finding"}, Strength: answer.StrengthProved},
	}}, nil)
	q.Crash = Got(&answer.Crash{Reason: "SIGSEGV", ThreadID: 7, Likely: "a null reference", Blames: 2, Verdicts: []answer.Verdict{
		{Statement: answer.Statement{Text: "SIGSEGV"}, Strength: answer.StrengthRecorded}, {Statement: answer.Statement{Text: "a null reference"}, Strength: answer.StrengthLikely}}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	var texts []string
	for _, f := range out.Findings {
		texts = append(texts, f.Text)
	}
	assert.Equal(t, []string{"a null reference, thread 0x7", "a waits for b", "four wait", "nine wait", "five wait", "two wait", "blocked"}, texts)
	assert.Equal(t, answer.StrengthLikely, out.Findings[0].Strength, "the cause is likely, though the signal is recorded")
	assert.Equal(t, answer.SeverityWarning, out.Findings[5].Severity, "few waiters are usual")
}

// TestFailedCommand checks that a crash by a database driver's exception names the failed command, as far as it is
// known.
func TestFailedCommand(t *testing.T) {
	q := healthy()
	q.Crash = Got(&answer.Crash{Reason: "SIGABRT", Verdicts: []answer.Verdict{{Statement: answer.Statement{Text: "SIGABRT"}, Strength: answer.StrengthRecorded}},
		ExceptionTree: answer.ExceptionTree{Exceptions: []answer.Exception{{Address: 8, Type: answer.Text{S: "Shop.StoreException"}}, {Address: 16, Type: answer.Text{S: "Microsoft.Data.SqlClient.SqlException"}}}}}, nil)
	failure := answer.SQLFailure{Object: 16, Type: answer.Text{S: "Microsoft.Data.SqlClient.SqlException"}, Strength: answer.StrengthLikely,
		Command: &answer.SQLCommand{Text: answer.Text{S: "UPDATE dbo.Stock"}}}
	clauses := func() []answer.Verdict {
		q.SQLPools = Got(&answer.SQLPools{Failures: []answer.SQLFailure{failure}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, 1)
		assert.Equal(t, answer.StrengthRecorded, out.Findings[0].Strength, "a guess at the command does not weaken what is recorded of the crash")
		return out.Findings[0].Clauses[1:]
	}
	got := clauses()
	require.Len(t, got, 1)
	assert.Equal(t, "the command that failed: UPDATE dbo.Stock", got[0].Text)
	assert.Equal(t, answer.StrengthLikely, got[0].Strength)
	failure.Object = 24
	assert.Empty(t, clauses(), "that of another exception")
	failure.Object, failure.Command = 16, nil
	assert.Empty(t, clauses())
}

// TestWhatIsNotKnown checks that a subject is not quiet if a verdict has unknown strength or a stack has gaps.
func TestWhatIsNotKnown(t *testing.T) {
	q := healthy()
	q.ThreadPool = Got(&answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known[uint64](0), Verdicts: []answer.Verdict{{Statement: answer.Statement{Text: "whether it keeps up is not known"}, Strength: answer.StrengthUnknown}}}, nil)
	w := &answer.Waits{}
	w.Note(target.ErrCorrupt)
	q.Waits = Got(w, nil)
	q.Crash = Got(&answer.Crash{Reason: "SIGSEGV", Likely: "a guess", Verdicts: []answer.Verdict{{Statement: answer.Statement{Text: "SIGSEGV"}, Strength: answer.StrengthRecorded}}}, nil)
	q.SQLPools = Got(&answer.SQLPools{Pools: []answer.SQLPool{{Waiting: answer.Known[int64](2), Idle: answer.Missing[int64](target.ErrNotInDump)}}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	for _, name := range []string{"thread pool", "locks and blocked threads", "finalizer thread", "crash"} {
		assert.NotContains(t, out.Quiet, name)
	}
	require.Len(t, out.Unknown, 2, "where the finalizer thread of a dead process stood means nothing")
	assert.ErrorIs(t, out.Unknown[0].Err, target.ErrCorrupt)
	require.Len(t, out.Findings, 2)
	assert.Equal(t, answer.StrengthLikely, out.Findings[0].Strength, "no clause concludes the cause")
	assert.Equal(t, answer.StrengthLikely, out.Findings[1].Strength, "whether a connection is idle was not read")
}

func TestPools(t *testing.T) {
	full := answer.SQLPool{Address: 0x10, Connection: answer.Text{S: "Host=db"}, Max: answer.Known[int64](4), Busy: answer.Known[int64](4), Idle: answer.Known[int64](0), Waiting: answer.Known[int64](3)}
	full.Connections = []answer.SQLConnection{{Threads: []answer.Worker{{Method: answer.Text{S: "Shop.Load"}}}}, {Threads: []answer.Worker{{Method: answer.Text{S: "Shop.Load"}}}}, {}}
	full.Opening = []answer.SQLOpening{{Threads: []answer.Worker{{Method: answer.Text{S: "Shop.Save"}}}}, {}}
	idle := full
	idle.Idle = answer.Known[int64](1)
	unknown := full
	unknown.Waiting = answer.Missing[int64](target.ErrNotInDump)
	q := healthy()
	q.SQLPools = Got(&answer.SQLPools{Pools: []answer.SQLPool{idle, full, unknown}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	f := out.Findings[0]
	assert.Equal(t, "3 calls wait for a connection of the pool Host=db, 4 of at most 4 are in use", f.Text)
	require.Len(t, f.Clauses, 3)
	assert.Equal(t, 2, f.Clauses[1].Count)
	assert.Equal(t, answer.StrengthLikely, f.Clauses[1].Strength)
	assert.Equal(t, "1 call waits in Shop.Save", f.Clauses[2].Text)
	assert.Equal(t, "2 of the connections are in the hands of Shop.Load", f.Clauses[1].Text)
	full.Connections = full.Connections[1:]
	q.SQLPools = Got(&answer.SQLPools{Pools: []answer.SQLPool{full}}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	assert.Equal(t, "1 of the connections is in the hands of Shop.Load", out.Findings[0].Clauses[1].Text)
}

func TestHTTPClients(t *testing.T) {
	full := answer.HTTPPool{Host: answer.Text{S: "api"}, Port: answer.Known[int64](80), Max: answer.Known[int64](2), Count: answer.Known[int64](2), Idle: answer.Known[int64](0),
		Waiting: make([]answer.HTTPWait, 3)}
	opening, unread := full, full
	opening.Count = answer.Known[int64](1)
	unread.Idle = answer.Missing[int64](target.ErrNotInDump)
	q := healthy()
	q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{opening, full, unread},
		Verdicts: []answer.Verdict{{Kind: answer.FindingClients, Statement: answer.Statement{Text: "many"}, Strength: answer.StrengthLikely}}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 2)
	assert.Equal(t, "3 requests wait for a connection to api:80, 2 of at most 2 are in use", out.Findings[0].Text)
	assert.Equal(t, []string{"httpclients"}, out.Findings[0].Next)
	assert.Equal(t, answer.FindingClients, out.Findings[1].Kind)

	full.Port = answer.Missing[int64](target.ErrNotInDump)
	q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{full}}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	assert.Equal(t, "3 requests wait for a connection to api, 2 of at most 2 are in use", out.Findings[0].Text)
}

// TestMadeAssemblies counts assemblies without a file in contexts that stay.
func TestMadeAssemblies(t *testing.T) {
	made := func(n int, collectible answer.Maybe[bool]) []answer.ContextAssembly {
		return append(slices.Repeat([]answer.ContextAssembly{{Collectible: collectible}}, n), answer.ContextAssembly{Name: answer.Text{S: "/app/app.dll"}}, answer.ContextAssembly{Name: answer.Text{Err: target.ErrNotInDump}})
	}
	q := healthy()
	q.Contexts = Got(&answer.LoadContexts{Contexts: []answer.AssemblyContext{
		{Default: true, Assemblies: made(300, answer.Known(false))}, {Name: answer.Text{S: "few"}, Assemblies: made(299, answer.Known(false))},
		{Name: answer.Text{S: "goes"}, Assemblies: made(1000, answer.Known(true))},
		{Name: answer.Text{S: "may go"}, Assemblies: made(1000, answer.Missing[bool](target.ErrNotInDump))},
	}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Equal(t, "300 assemblies were made at run time (Reflection.Emit) and stay loaded until the process ends", out.Findings[0].Text)
	assert.Equal(t, []string{"of 302 assemblies of the default load context"}, out.Findings[0].Clauses[0].Evidence)
	assert.Equal(t, answer.SeverityWarning, out.Findings[0].Severity)
	q.Native = Got(&memorymap.Native{Arenas: 5 << 20, Blocks: 1 << 20, Heap: 40 << 20, Loader: 30 << 20}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	assert.Contains(t, out.Findings[0].Clauses[0].Evidence, "the runtime's heaps for types and code have 30.0 MB, malloc 6.0 MB, and the GC heap 40.0 MB")
}

// TestItemsThatSignal checks that a starved pool names the queued items that its workers wait for, and that a pool that keeps up does not.
func TestItemsThatSignal(t *testing.T) {
	queued := answer.Conclude(answer.NoFinding, words.ItemsSignal.Of(words.N(6), words.N(24), words.Method("Shop.Report.Part")), answer.StrengthLikely)
	for kind, want := range map[answer.FindingKind]int{answer.FindingStarved: 1, answer.FindingPoolKeepsUp: 0} {
		q := healthy()
		q.ThreadPool = Got(&answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known[uint64](0), Verdicts: []answer.Verdict{answer.Conclude(kind, words.Text("pool"), answer.StrengthLikely)}}, nil)
		q.Waits = Got(&answer.Waits{Looked: 1, Verdicts: []answer.Verdict{queued}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, want)
		if want > 0 {
			clauses := out.Findings[0].Clauses
			assert.Equal(t, "6 threads wait for the arguments of 24 queued items: Shop.Report.Part", clauses[len(clauses)-1].Text)
		}
	}
}

// TestSilentServers checks that many old requests to one server are a finding, unlike young ones, a few, and long polls.
func TestSilentServers(t *testing.T) {
	requests := func(n int, age answer.Maybe[int64], remote answer.WaitKind) (out []answer.HTTPWait) {
		for range n {
			out = append(out, answer.HTTPWait{Age: age, Stack: &answer.AsyncWork{Remote: remote}})
		}
		return out
	}
	served := func(list []answer.HTTPWait) []answer.HTTPWait {
		for i := range list {
			list[i].Stack.Frames = []answer.AsyncFrame{{AsyncPlace: answer.AsyncPlace{Method: answer.Text{S: "Shop.Prices.GetAsync"}}}}
		}
		return list
	}
	old, young := answer.Known[int64](12_000), answer.Known[int64](300)
	unread := answer.Missing[int64](target.ErrNotInDump)
	for name, c := range map[string]struct {
		waiting, running []answer.HTTPWait
		says             string
		severity         answer.Severity
	}{
		"connections": {requests(5, old, answer.WaitConnection), nil, "5 of 5 requests to api:80 wait for a connection (4 are being opened), the oldest for at least 12 s", answer.SeverityHigh},
		"answers":     {requests(1, young, answer.WaitConnection), requests(20, old, answer.WaitServer), "20 of 21 requests to api:80 wait for its answer, the oldest for at least 12 s", answer.SeverityHigh},
		"fewer":       {nil, served(requests(6, old, answer.WaitServer)), "6 of 6 requests to api:80 wait for its answer, the oldest for at least 12 s", answer.SeverityWarning},
		"long polls":  {nil, requests(19, old, answer.WaitServer), "", ""},
		"both":        {requests(3, old, answer.WaitConnection), requests(3, old, answer.WaitServer), "6 of 6 requests to api:80 wait for its answer or, 3 of them, for a connection (4 are being opened), the oldest for at least 12 s", answer.SeverityHigh},
		"few connect": {served(requests(1, old, answer.WaitConnection)), requests(6, old, answer.WaitServer), "7 of 7 requests to api:80 wait for its answer or, 1 of them, for a connection (4 are being opened), the oldest for at least 12 s", answer.SeverityWarning},
		"few":         {nil, requests(4, old, answer.WaitServer), "", ""},
		"young":       {nil, requests(50, young, answer.WaitServer), "", ""},
		"unknown":     {requests(50, unread, answer.WaitConnection), nil, "", ""},
		"most answer": {nil, append(requests(6, old, answer.WaitServer), requests(20, young, answer.WaitServer)...), "", ""},
		"feeds":       {nil, requests(50, old, ""), "", ""}, // the answer has begun
		"not awaited": {nil, []answer.HTTPWait{{Age: old}, {Age: old}, {Age: old}, {Age: old}, {Age: old}}, "", ""},
	} {
		q := healthy()
		q.Waits = Got(&answer.Waits{Operations: []answer.OperationWait{{Method: answer.Text{S: "Shop.Prices.GetAsync"}, Kind: answer.WaitServer, Request: "GET /prices"}}}, nil)
		q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{{Host: answer.Text{S: "api"}, Port: answer.Known[int64](80), Max: unread, Opening: answer.Known[int64](4),
			Waiting: c.waiting, Running: c.running}}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		if c.says == "" {
			assert.Empty(t, out.Findings, name)
			continue
		}
		require.Len(t, out.Findings, 1, name)
		assert.Equal(t, answer.FindingDependency, out.Findings[0].Kind, name)
		assert.Equal(t, c.says, out.Findings[0].Text, name)
		assert.Equal(t, c.severity, out.Findings[0].Severity, name)
		assert.Equal(t, []string{"httpclients"}, out.Findings[0].Next, "the process serves no requests")
	}
}

// TestConnectionsOpenedLater: requests that wait for a connection which a starved pool has not begun to open say nothing about the server.
func TestConnectionsOpenedLater(t *testing.T) {
	old := answer.Known[int64](12_000)
	request := answer.HTTPWait{Age: old, Stack: &answer.AsyncWork{Remote: answer.WaitConnection}}
	for name, c := range map[string]struct {
		method  string
		kind    answer.FindingKind
		opening answer.Maybe[int64]
		lost    error
		silent  bool
	}{
		"opened later":  {"System.Net.Http.HttpConnectionPool.InjectNewHttp11ConnectionAsync", answer.FindingStarved, answer.Known[int64](6), nil, true},
		"not known":     {"System.Net.Http.HttpConnectionPool.InjectNewHttp11ConnectionAsync", answer.FindingStarved, answer.Missing[int64](target.ErrUnsupported), nil, true},
		"other server":  {"System.Net.Http.HttpConnectionPool.InjectNewHttp11ConnectionAsync", answer.FindingStarved, answer.Known[int64](0), nil, false},
		"other items":   {"Shop.Prices.Read", answer.FindingStarved, answer.Known[int64](6), nil, false},
		"missing items": {"Shop.Prices.Read", answer.FindingStarved, answer.Known[int64](6), target.ErrUnsupported, true},
		"in time":       {"System.Net.Http.HttpConnectionPool.InjectNewHttp11ConnectionAsync", answer.FindingPoolKeepsUp, answer.Known[int64](6), nil, false},
	} {
		q := healthy()
		queues := &answer.WorkQueues{Queues: []answer.WorkQueue{{Items: []answer.WorkItem{{Method: answer.Text{S: c.method}}}}}}
		queues.Lose(c.lost)
		q.ThreadPool = Got(&answer.ThreadPool{Queued: answer.Known[uint64](1), Verdicts: []answer.Verdict{{Kind: c.kind, Strength: answer.StrengthLikely}}, Queues: queues}, nil)
		pool := answer.HTTPPool{Max: answer.Known[int64](100), Opening: c.opening, Waiting: slices.Repeat([]answer.HTTPWait{request}, 6)}
		q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{pool}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		silent := !slices.ContainsFunc(out.Findings, func(f answer.Finding) bool { return f.Kind == answer.FindingDependency })
		assert.Equal(t, c.silent, silent, name)
	}
}

// TestSilentDatabases checks that many commands beyond half of their timeout are a finding, unlike young ones, a few, and reports.
func TestSilentDatabases(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 30, 0, time.UTC)
	commands := func(n int, age, timeout time.Duration) (out []answer.SQLConnection) {
		for range n {
			since := now.Add(-age)
			out = append(out, answer.SQLConnection{Command: answer.Known(&answer.SQLCommand{Running: true, Since: answer.Known(since), Deadline: answer.Known(since.Add(timeout))})})
		}
		return out
	}
	timers := func(n int, age time.Duration) (out []answer.SQLConnection) {
		for range n {
			c := &answer.SQLCommand{Running: true, Age: answer.Known(age.Milliseconds()), Limit: answer.Known((30 * time.Second).Milliseconds())}
			out = append(out, answer.SQLConnection{Command: answer.Known(c)})
		}
		return out
	}
	idle := answer.SQLConnection{Command: answer.Known[*answer.SQLCommand](nil)}
	unknown := answer.SQLConnection{Command: answer.Known(&answer.SQLCommand{Running: true, Since: answer.Missing[time.Time](target.ErrUnsupported)})}
	for name, c := range map[string]struct {
		list  []answer.SQLConnection
		taken time.Time
		says  string
	}{
		"silent":  {append(commands(6, 20*time.Second, 30*time.Second), commands(2, time.Second, 30*time.Second)...), now, "6 of 8 commands of the pool Data Source=db have waited for the server for half of their timeout and longer, the oldest for at least 20 s"},
		"young":   {commands(6, 10*time.Second, 30*time.Second), now, ""},
		"reports": {commands(6, 60*time.Second, 300*time.Second), now, ""},
		"few":     {commands(4, 20*time.Second, 30*time.Second), now, ""},
		"most":    {append(commands(6, 20*time.Second, 30*time.Second), commands(7, time.Second, 30*time.Second)...), now, ""},
		"timers":  {timers(6, 20*time.Second), time.Time{}, "6 of 6 commands of the pool Data Source=db have waited for the server for half of their timeout and longer, the oldest for at least 20 s"},
		"brief":   {timers(6, 10*time.Second), time.Time{}, ""},
		"npgsql":  {[]answer.SQLConnection{unknown, unknown, unknown, unknown, unknown, unknown, idle}, now, ""},
		"no time": {commands(6, 20*time.Second, 30*time.Second), time.Time{}, ""},
	} {
		q := healthy()
		q.Taken, q.SQLPools = c.taken, Got(&answer.SQLPools{Pools: []answer.SQLPool{{Connection: answer.Text{S: "Data Source=db"}, Connections: c.list}}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		if c.says == "" {
			assert.Empty(t, out.Findings, name)
			continue
		}
		require.Len(t, out.Findings, 1, name)
		assert.Equal(t, answer.FindingDependency, out.Findings[0].Kind)
		assert.Equal(t, c.says, out.Findings[0].Text)
	}
}

// TestUnopenedDatabases checks that connections which a server accepted and does not open are a finding, unlike young ones, a few, and some without an age.
func TestUnopenedDatabases(t *testing.T) {
	openings := func(n int, age answer.Maybe[int64]) []answer.SQLOpening {
		return slices.Repeat([]answer.SQLOpening{{Owner: 1, Age: age, Stack: &answer.AsyncWork{}}}, n)
	}
	for name, c := range map[string]struct {
		list []answer.SQLOpening
		says string
	}{
		"silent":  {append(openings(6, answer.Known[int64](9000)), openings(2, answer.Known[int64](10))...), "6 of 8 connections of the pool Host=db that are being opened have waited for the server, which has accepted them, the oldest for at least 9 s"},
		"young":   {openings(8, answer.Known[int64](4000)), ""},
		"few":     {openings(4, answer.Known[int64](9000)), ""},
		"most":    {append(openings(6, answer.Known[int64](9000)), openings(7, answer.Known[int64](10))...), ""},
		"unknown": {openings(8, answer.Missing[int64](target.ErrUnsupported)), ""},
	} {
		q := healthy()
		q.SQLPools = Got(&answer.SQLPools{Pools: []answer.SQLPool{{Connection: answer.Text{S: "Host=db"}, Opening: c.list}}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		if c.says == "" {
			assert.Empty(t, out.Findings, name)
			continue
		}
		require.Len(t, out.Findings, 1, name)
		assert.Equal(t, answer.FindingDependency, out.Findings[0].Kind)
		assert.Equal(t, c.says, out.Findings[0].Text)
	}
}

func TestMemory(t *testing.T) {
	q := healthy()
	s := answer.Suspect{Kind: answer.SuspectAccumulation, Verdict: answer.VerdictSuspect, Retained: 3 << 30, Share: 61.5,
		Point:   &answer.PathObject{Address: 0x20, Type: answer.Text{S: "Order[]"}},
		Members: &answer.TypeCount{Count: 5, Size: 2 << 30, Type: answer.Text{S: "Order"}},
		Path:    &answer.RootPath{Root: answer.GCRoot{Kind: "stack", Conservative: true}}}
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{s, {Verdict: answer.VerdictNotable}}}, nil)
	q.OutOfMemory = Got(&answer.OutOfMemory{Failures: []answer.FailedAllocation{{Reason: answer.OOMBudget, AllocationSize: 100}}}, nil)
	q.VerifyHeap = Got(&answer.Soundness{Errors: 1, Objects: 10, Faults: []answer.Fault{{Object: 0x30, Reason: "object 30 has no type"}}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 3)
	assert.Equal(t, answer.FindingHeap, out.Findings[0].Kind)
	assert.Contains(t, out.Findings[0].Clauses[0].Show, "listnearobj 30")
	assert.Equal(t, "the garbage collector could not allocate: the heap's budget was used up", out.Findings[1].Text, "half of a budget is no size of an object")
	assert.Contains(t, out.Findings[2].Text, "Order[] 20 holds 3.0 GB, 61.5% of what lives, most of it by 5 Order")
	q.Leaks.value.Suspects[0].Members.Size = 1 << 30
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	assert.Contains(t, out.Findings[2].Text, "Order[] 20 holds 3.0 GB, 61.5% of what lives, among it 5 Order", "a third of it")
	assert.Equal(t, answer.StrengthPossible, out.Findings[2].Strength, "a word that only looks like a reference proves nothing")
	q.OutOfMemory.value.Failures[0].Reason = answer.OOMCantCommit
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	assert.Equal(t, "the garbage collector could not allocate 100 B: no more memory could be committed", out.Findings[1].Text)
}

// TestAlikeHolders checks that holders of one signature are one finding, unless one retains another.
func TestAlikeHolders(t *testing.T) {
	q := healthy()
	part := func(at, through target.Addr, share float64) answer.Suspect {
		return answer.Suspect{Kind: answer.SuspectAccumulation, Verdict: answer.VerdictSuspect, Retained: uint64(share) << 20, Share: share,
			Point: &answer.PathObject{Address: at, Type: answer.Text{S: "Shop.Entry[]"}}, Members: &answer.TypeCount{Count: 100, Size: uint64(share) << 19, Type: answer.Text{S: "Shop.Page"}},
			Path: &answer.RootPath{Root: answer.GCRoot{Kind: "handle"}, Objects: []answer.PathStep{{PathObject: answer.PathObject{Address: through}}, {PathObject: answer.PathObject{Address: at}}}}}
	}
	texts := func(list ...answer.Suspect) (out []string) {
		q.Leaks = Got(&answer.Leaks{Suspects: list}, nil)
		found, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		for i := range found.Findings {
			out = append(out, found.Findings[i].Text)
		}
		return out
	}
	got := texts(part(0x10, 1, 30), part(0x20, 1, 20), part(0x30, 1, 20), part(0x40, 1, 10))
	require.Len(t, got, 1)
	assert.Contains(t, got[0], "4 Shop.Entry[] hold 80.0 MB, 80.0% of what lives, most of it by 400 Shop.Page")
	assert.Len(t, texts(part(0x10, 1, 60), part(0x20, 0x10, 30)), 2, "one is a part of the other")
	assert.Len(t, texts(part(0x10, 1, 60), part(0x20, 1, 50)), 2, "parts are not more than all")
	other := part(0x20, 1, 20)
	other.Members.Type.S = "Shop.Cart"
	assert.Len(t, texts(part(0x10, 1, 60), other), 2)
}

// TestSums checks that what roots hold together is a finding with the roots, and that objects with a handle each are reported
// with the handles.
func TestSums(t *testing.T) {
	q := healthy()
	field := answer.Suspect{Kind: answer.SuspectThreadStatic, Verdict: answer.VerdictSuspect, Retained: 240 << 20, Share: 60, Roots: 60, Name: answer.Text{S: "Shop.Cart.t_items"},
		Members: &answer.TypeCount{Count: 60, Type: answer.Text{S: "System.Byte[]"}}, Kept: words.KeptInThreads.Of(words.Field("Shop.Cart.t_items"), words.N(60)),
		Path: &answer.RootPath{Root: answer.GCRoot{Kind: "thread static"}}}
	strings := answer.Suspect{Kind: answer.SuspectInterned, Verdict: answer.VerdictSuspect, Retained: 80 << 20, Share: 20, Roots: 31,
		Members: &answer.TypeCount{Count: 400, Type: answer.Text{S: "System.String"}}}
	pinned := answer.Suspect{Kind: answer.SuspectGroup, Verdict: answer.VerdictSuspect, Retained: 80 << 20, Share: 20,
		Members: &answer.TypeCount{MethodTable: 8, Count: 3 * muchHandles, Type: answer.Text{S: "System.Char[]"}},
		Holders: []answer.GroupHolder{{Handle: "Pinned", Kind: "handles", Share: 100, Sampled: muchHandles}}, Kept: words.KeptByHandles.Of(words.Text("Pinned"))}
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{field, strings, pinned}}, nil)
	q.Handles = Got(&answer.Handles{Handles: func(yield func(answer.Handle, error) bool) {
		for range muchHandles {
			yield(answer.Handle{Type: "Pinned", MethodTable: 8, ObjectType: answer.Text{S: "System.Char[]"}, Size: 100}, nil)
		}
	}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 3)
	handles := &out.Findings[0]
	assert.Equal(t, answer.FindingHandles, handles.Kind)
	require.Len(t, handles.Clauses, 2)
	assert.Equal(t, "objects of System.Char[] hold 80.0 MB, 20.0% of what lives, each kept by a handle of its own (Pinned)", handles.Clauses[1].Text)
	texts := out.Findings[1].Text + "\n" + out.Findings[2].Text
	assert.Contains(t, texts, "60 System.Byte[] hold 240.0 MB, 60.0% of what lives, kept by thread static Shop.Cart.t_items in 60 threads")
	assert.Contains(t, texts, "400 strings that are interned (String.Intern) or literals hold 80.0 MB")
	assert.NotContains(t, out.Quiet, "holders of memory")

	q.Handles = Got(&answer.Handles{}, nil)
	pinned.Holders[0].Sampled = muchHandles - 1
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{pinned}}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Equal(t, answer.FindingHolder, out.Findings[0].Kind, "so few handles are no finding")
}

// TestCopies checks that a holder of many strings leads to their copies.
func TestCopies(t *testing.T) {
	q := healthy()
	s := answer.Suspect{Kind: answer.SuspectObject, Verdict: answer.VerdictSuspect, Retained: 100 << 20, Share: 50, Point: &answer.PathObject{Address: 0x20},
		Types: []answer.TypeCount{{Type: answer.Text{S: "System.String"}, Size: 51}}}
	for size, next := range map[uint64]bool{51 << 20: true, 50 << 20: false} {
		s.Types[0].Size = size
		q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{s}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		assert.Equal(t, next, slices.Contains(out.Findings[0].Next, "waste"))
	}
}

// TestSmallHolders: a holder that is a large share of little is a finding only where memory ran out.
func TestSmallHolders(t *testing.T) {
	for name, c := range map[string]struct {
		size     uint64
		share    float64
		ranOut   bool
		turns    bool   // its elements come and go
		limit    string // of the heap
		findings int
	}{
		"a cache with a limit in a small process":     {size: 11 << 20, share: 58},
		"the same, and an allocation failed":          {size: 11 << 20, share: 58, ranOut: true, findings: 2},
		"large":                                       {size: 16 << 20, share: 20, findings: 1},
		"large, of a larger heap":                     {size: 64 << 20, share: 19},
		"elements come and go":                        {size: 63 << 20, share: 90, turns: true},
		"elements come and go, much":                  {size: 64 << 20, share: 90, turns: true, findings: 1},
		"elements come and go, and allocation failed": {size: 63 << 20, share: 90, turns: true, ranOut: true, findings: 2},
		"elements come and go, much of the limit":     {size: 33 << 20, share: 90, turns: true, limit: "a000000", findings: 1},
		"elements come and go, little of the limit":   {size: 33 << 20, share: 90, turns: true, limit: "20000000"},
	} {
		q := healthy()
		s := answer.Suspect{Kind: answer.SuspectObject, Verdict: answer.VerdictSuspect, Retained: c.size, Share: c.share, Point: &answer.PathObject{Address: 0x20}}
		if c.turns {
			s.Turnover = words.OftenChanged.Of(words.N(9000), words.N(400))
		}
		if c.limit != "" {
			q.GCSettings = Got([]answer.GCSetting{{Name: "HeapHardLimit", Value: c.limit, Source: answer.GCSettingEnvironment}}, nil)
		}
		q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{s}}, nil)
		if c.ranOut {
			q.OutOfMemory = Got(&answer.OutOfMemory{Failures: []answer.FailedAllocation{{Reason: answer.OOMBudget, AllocationSize: 100}}}, nil)
		}
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		assert.Len(t, out.Findings, c.findings, name)
	}
}

// TestPooledArrays: what ArrayPool.Shared keeps for threads is one finding for all types of elements, and none where it is what a busy process has.
func TestPooledArrays(t *testing.T) {
	pool := func(of string, size uint64) answer.Suspect {
		return answer.Suspect{Kind: answer.SuspectThreadStatic, Verdict: answer.VerdictSuspect, Retained: size, Share: 40, Roots: 12, Turnover: words.PooledArrays.Of(),
			Name:    answer.Text{S: "System.Buffers.SharedArrayPool<System." + of + ">.t_tlsBuckets"},
			Members: &answer.TypeCount{Count: 12, Type: answer.Text{S: "System.Buffers.SharedArrayPoolThreadLocalArray[]"}}}
	}
	q := healthy()
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{pool("Char", 127<<20), pool("Byte", 128<<20)}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	assert.Empty(t, out.Findings)
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{pool("Char", 128<<20), pool("Byte", 128<<20)}}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Contains(t, out.Findings[0].Text, "24 System.Buffers.SharedArrayPoolThreadLocalArray[] hold 256.0 MB, 80.0% of what lives")
}

// TestTimers checks that timers have the timer queue as their owner, and a method name as in the source.
func TestTimers(t *testing.T) {
	q := healthy()
	path := &answer.RootPath{Root: answer.GCRoot{Kind: "static field"}, Objects: []answer.PathStep{{PathObject: answer.PathObject{Type: answer.Text{S: "System.Threading.TimerQueue[]"}},
		Edge: &answer.PathEdge{Kind: "static field", Name: answer.Text{S: "static System.Threading.TimerQueue.<Instances>k__BackingField"}}}}}
	s := answer.Suspect{Kind: answer.SuspectTimers, Verdict: answer.VerdictSuspect, Retained: 3 << 30, Share: 61.5, Name: answer.Text{S: "Shop.Cart+<>c.<Pay>b__2(System.Object)"},
		Elements: answer.Known[uint64](40000), Members: &answer.TypeCount{Count: 3, Type: answer.Text{S: "System.Threading.TimerQueueTimer"}},
		Holders: []answer.GroupHolder{{Path: path}}}
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{s}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	const words = "40,000 timers that call Shop.Cart.Pay.<lambda>(System.Object) hold 3.0 GB, 61.5% of what lives, kept by the timer queue (System.Threading.TimerQueue)"
	assert.Equal(t, words, out.Findings[0].Text)
	s.AtLeast = true
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{s}}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	assert.Equal(t, "at least "+words, out.Findings[0].Text)
}

// TestFragmentation checks that much free space is a finding, which names the objects that can't move.
func TestFragmentation(t *testing.T) {
	q := healthy()
	pins := []answer.FreePin{{Handle: "Pinned", Type: answer.Text{S: "System.Byte[]"}, Handles: 301, Objects: 300, Example: 0x50}}
	q.FreeSpace = Got(&answer.Fragmentation{Generations: []answer.FreeSpace{
		{Generation: "0", Objects: 1, Free: 1 << 30, Share: 99, Blocks: 9},
		{Generation: "2", Objects: 1, Free: 1 << 20, Share: 99, Blocks: 9},
		{Generation: "pinned", Objects: 1 << 30, Free: 64 << 20, Share: 6, Blocks: 9},
		{Generation: "large", Objects: 60 << 20, Free: 225 << 20, Share: 79, Blocks: 300, Largest: 800 << 10, Pins: pins},
	}}, nil)
	out, err := Judge(context.Background(), q, Options{NoHeap: true})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	f := out.Findings[0]
	assert.Equal(t, "225.0 MB of the large object heap, 79.0%, is free space between its objects, in 300 blocks of at most 800.0 KB", f.Text)
	require.Len(t, f.Clauses, 2)
	assert.Equal(t, "300 System.Byte[] with free space behind them can't be moved: handles pin them", f.Clauses[1].Text)
	assert.Equal(t, answer.StrengthProved, f.Clauses[1].Strength)
}

// TestDeadReferences checks that many weak references that lead to nothing are a finding, though a list of handles lacks theirs, and one alone if they
// are a large holder, too.
func TestDeadReferences(t *testing.T) {
	q := healthy()
	bus := answer.Suspect{Kind: answer.SuspectWeak, Verdict: answer.VerdictNotable, Retained: 7 << 20, Share: 99, Dead: muchHandles, Elements: answer.Known[uint64](12_000),
		Point: &answer.PathObject{Address: 32, Type: answer.Text{S: "W[]"}}, Owner: &answer.PathObject{Address: 16, Type: answer.Text{S: "List<W>"}},
		Path: &answer.RootPath{Root: answer.GCRoot{Kind: "static field", Name: "static Shop.Bus.listeners"}}}
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{bus}, Small: true}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	f := &out.Findings[0]
	assert.Equal(t, answer.FindingHandles, f.Kind)
	assert.Regexp(t, `^10,000 weak references are dead, and each keeps a GC handle: List<W> 10 has them, kept by static Shop.Bus.listeners$`, f.Text)
	assert.Equal(t, []string{"leaks", "gcroot 10"}, f.Next)

	bus.Verdict, bus.Retained = answer.VerdictSuspect, 70<<20
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{bus}}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	require.Len(t, out.Findings[0].Clauses, 2)
	assert.Contains(t, out.Findings[0].Clauses[1].Text, "List<W> 10 holds 70.0 MB")

	bus.Dead--
	q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{bus}}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Equal(t, answer.FindingHolder, out.Findings[0].Kind)
	assert.Contains(t, out.Findings[0].Text, "List<W> 10 holds")
	assert.Contains(t, out.Findings[0].Next, "gcroot 10", "of the object that it names")
}

// TestWeakCache checks that weak references to objects of their own are what weak caches have, but not weak handles that no WeakReference frees, nor many
// references to few objects.
func TestWeakCache(t *testing.T) {
	for _, c := range []struct {
		why     string
		handle  string
		objects int
		field   string
		cache   bool
	}{
		{"a cache", "WeakShort", muchHandles, "System.WeakReference<Shop.Image>._taggedHandle", true},
		{"an older class", "WeakLong", muchHandles, "System.WeakReference._taggedHandle", true},
		{"two for each", "WeakShort", muchHandles / 2, "System.WeakReference._taggedHandle", true},
		{"many to one", "WeakShort", 1, "System.WeakReference._taggedHandle", false},
		{"handles of the program", "WeakShort", muchHandles, "Shop.Image.handle", false},
		{"strong ones", "Strong", muchHandles, "System.WeakReference._taggedHandle", false},
	} {
		q := healthy()
		q.Handles = Got(&answer.Handles{Handles: func(yield func(answer.Handle, error) bool) {
			for i := range muchHandles {
				if !yield(answer.Handle{Type: c.handle, Object: target.Addr(8 * (1 + i%c.objects)), MethodTable: 8}, nil) {
					return
				}
			}
		}}, nil)
		q.fieldsTo = func(context.Context, []target.Range) ([]memorymap.PointerField, error) {
			return []memorymap.PointerField{{Name: c.field, Count: muchHandles}}, nil
		}
		out, err := Judge(context.Background(), q, Options{NoHeap: true})
		require.NoError(t, err)
		assert.Equal(t, c.cache, len(out.Findings) == 0, c.why)
	}
}

// TestHandles checks that many GC handles of one type to objects of one type are a finding.
func TestHandles(t *testing.T) {
	q := healthy()
	damaged := false
	q.Handles = Got(&answer.Handles{Handles: func(yield func(answer.Handle, error) bool) {
		for i := range 3 * muchHandles {
			h := answer.Handle{Type: "Pinned", MethodTable: 8, ObjectType: answer.Text{S: "System.Byte[]"}, Size: 100}
			switch {
			case i%3 == 1:
				h.Type = "Strong"
			case i%3 == 2 && i > 3:
				h.MethodTable = 16 // one fewer than a finding
			case i%3 == 2:
				h.MethodTable = 24
			}
			if !yield(h, nil) {
				return
			}
		}
		if damaged {
			yield(answer.Handle{}, target.ErrCorrupt)
		}
	}}, nil)
	unreadable := &answer.Handles{Handles: func(yield func(answer.Handle, error) bool) {
		for range muchHandles {
			yield(answer.Handle{Type: "Strong"}, nil)
		}
	}}
	for _, damaged = range []bool{false, true} {
		out, err := Judge(context.Background(), q, Options{NoHeap: true})
		require.NoError(t, err)
		require.Len(t, out.Findings, 2)
		f := out.Findings[0]
		assert.Equal(t, "10,000 Pinned handles refer to objects of System.Byte[], and pin them until GCHandle.Free is called", f.Text)
		assert.Equal(t, answer.FindingHandles, f.Kind)
		assert.Equal(t, answer.SeverityWarning, f.Severity)
		assert.Equal(t, "gchandles -type Pinned", f.Next[0])
		assert.Contains(t, f.Clauses[0].Evidence[0], "976.6 KB")
		assert.Contains(t, out.Findings[1].Text, "10,000 Strong handles")
		partly := slices.ContainsFunc(out.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == "GC handles" && u.Partly })
		assert.Equal(t, damaged, partly, "handles that can't be read may be more")
	}
	q.Handles = Got(unreadable, nil)
	out, err := Judge(context.Background(), q, Options{NoHeap: true})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Contains(t, out.Findings[0].Text, "10,000 Strong handles refer to objects whose types can't be read")
}

// TestLimits checks that a failed allocation comes with the limits of the heap.
func TestLimits(t *testing.T) {
	q := healthy()
	q.OutOfMemory = Got(&answer.OutOfMemory{Failures: []answer.FailedAllocation{{Reason: answer.OOMCantCommit, AllocationSize: 100}}}, nil)
	q.GCSettings = Got([]answer.GCSetting{
		{Name: "HeapHardLimit", Value: "0xC800000", Source: answer.GCSettingEnvironment, Key: "DOTNET_GCHeapHardLimit"},
		{Name: "HeapHardLimit", Value: "100", Source: answer.GCSettingRuntimeConfig, Unused: true},
		{Name: "HeapHardLimitSOH", Value: "1048576", Source: answer.GCSettingRuntimeConfig, Key: "System.GC.HeapHardLimitSOH"},
		{Name: "HeapHardLimitPercent", Value: "1E", Source: answer.GCSettingEnvironment, Key: "DOTNET_GCHeapHardLimitPercent"},
		{Name: "Server", Value: "1", Source: answer.GCSettingEnvironment},
	}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	var texts []string
	for _, c := range out.Findings[0].Clauses {
		texts = append(texts, c.Text)
	}
	assert.Equal(t, []string{"the garbage collector could not allocate 100 B: no more memory could be committed", "the heap has a limit: HeapHardLimit is 200.0 MB",
		"the heap has a limit: HeapHardLimitSOH is 1.0 MB", "the heap has a limit: HeapHardLimitPercent is 1E"}, texts)

	q.GCSettings = Got[[]answer.GCSetting](nil, target.ErrNotInDump)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Unknown, 1, "limits may be missing")
}

func TestFailedTasks(t *testing.T) {
	lost := errors.Join(target.ErrNotInDump)
	list := &answer.Tasks{More: 4, Faults: []answer.FaultedTask{
		{Name: answer.Text{S: "Shop.Bill"}, Exceptions: []answer.TaskException{{Type: answer.Text{S: "E"}, Message: answer.Text{S: "no price"}}}}}}
	list.Note(lost)
	q := healthy()
	q.Tasks = Got(list, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Equal(t, "5 tasks failed, and nobody has looked at their exceptions, among them Shop.Bill: E: no price", out.Findings[0].Text)
	require.Len(t, out.Unknown, 1)
	assert.True(t, out.Unknown[0].Partly)

	q.Tasks = Got(&answer.Tasks{Faults: []answer.FaultedTask{{Name: answer.Text{S: "Shop.Bill"}, Awaited: true}}}, nil)
	out, err = Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	assert.Empty(t, out.Findings, "what waits for it has not gone on yet")
}

// TestTasksAlike checks that failures that differ in their messages alone are one, and what is said of the most frequent one.
func TestTasksAlike(t *testing.T) {
	failed := func(method, message string) answer.FaultedTask {
		return answer.FaultedTask{Name: answer.Text{S: method}, Exceptions: []answer.TaskException{{Type: answer.Text{S: "E"}, Message: answer.Text{S: message}}}}
	}
	text := func(more uint64, list ...answer.FaultedTask) (string, int) {
		q := healthy()
		q.Tasks = Got(&answer.Tasks{Faults: list, More: more}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, 1)
		return out.Findings[0].Text, len(out.Findings[0].Clauses)
	}
	a, b, c := failed("Shop.Bill", "order 1"), failed("Shop.Bill", "order 2"), failed("Shop.Mail", "order 1")
	for _, x := range []struct {
		more  uint64
		list  []answer.FaultedTask
		kinds int
		says  string
	}{
		{0, []answer.FaultedTask{a, a}, 1, "2 tasks failed, and nobody has looked at their exceptions: Shop.Bill: E: order 1"},
		{0, []answer.FaultedTask{a, b, a}, 1, "3 tasks failed, and nobody has looked at their exceptions: Shop.Bill: E: order 1; the messages differ"},
		{0, []answer.FaultedTask{a, b, c}, 2, "3 tasks failed, and nobody has looked at their exceptions: most often Shop.Bill: E: order 1; the messages differ"},
		{1, []answer.FaultedTask{a, b, c}, 2, "4 tasks failed, and nobody has looked at their exceptions, among them Shop.Bill: E: order 1; the messages differ"},
		{0, []answer.FaultedTask{a, c}, 2, "2 tasks failed, and nobody has looked at their exceptions, among them Shop.Bill: E: order 1"},
	} {
		says, kinds := text(x.more, x.list...)
		assert.Equal(t, x.says, says)
		assert.Equal(t, x.kinds, kinds)
	}
}

// TestHosts checks that each conclusion about a host is a finding.
func TestHosts(t *testing.T) {
	q := healthy()
	q.Hosts = Got(&answer.Hosts{Verdicts: []answer.Verdict{
		{Kind: answer.FindingStopping, Statement: answer.Statement{Text: "the host is stopping"}, Strength: answer.StrengthRecorded},
		{Kind: answer.FindingService, Statement: answer.Statement{Text: "the hosted service Importer failed"}, Strength: answer.StrengthRecorded}}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 2)
	assert.Equal(t, "the hosted service Importer failed", out.Findings[0].Text, "why it stops comes first")
	assert.Equal(t, []string{"host"}, out.Findings[1].Next)
	assert.NotContains(t, out.Quiet, "hosted services")
}

// TestUnanswered joins promises in a dictionary with the failed task of the class, which may or may not have been to complete them.
func TestUnanswered(t *testing.T) {
	wait := func(typ, class string) answer.OperationWait {
		return answer.OperationWait{Count: 3, Kind: answer.WaitPromise, Object: 0x10, Type: answer.Text{S: typ}, Name: class + ".pending", Class: class, Method: answer.Text{S: class + ".Call"},
			Statement: answer.Statement{Text: "waits for a promise"}}
	}
	const dictionary = "System.Collections.Generic.Dictionary<int, System.Threading.Tasks.TaskCompletionSource<int>>"
	for name, c := range map[string]struct {
		wait   answer.OperationWait
		failed []string
		want   bool
	}{
		"a failed listener":       {wait(dictionary, "Shop.Radio"), []string{"Shop.Radio.Listens"}, true},
		"failures not listed":     {wait(dictionary, "Shop.Radio"), []string{"Shop.Radio.Listens"}, false},
		"a failure elsewhere":     {wait(dictionary, "Shop.Radio"), []string{"Shop.Bill.Pays"}, false},
		"calls that failed":       {wait(dictionary, "Shop.Radio"), []string{"Shop.Radio.Send", "Shop.Radio.Send"}, false},
		"a call like those":       {wait(dictionary, "Shop.Radio"), []string{"Shop.Radio.Call"}, false},
		"a list of promises":      {wait("System.Collections.Generic.List<int>", "Shop.Radio"), []string{"Shop.Radio.Listens"}, false},
		"a class of the library":  {wait(dictionary, "System.Net.Radio"), []string{"System.Net.Radio.Listens"}, false},
		"a class of the class":    {wait(dictionary, "Shop"), []string{"Shop.Radio.Listens"}, false},
		"nothing failed, as ever": {wait(dictionary, "Shop.Radio"), nil, false},
	} {
		q := healthy()
		q.Waits = Got(&answer.Waits{Operations: []answer.OperationWait{c.wait}}, nil)
		list := &answer.Tasks{}
		if name == "failures not listed" {
			list.More = 1
		}
		for _, method := range c.failed {
			list.Faults = append(list.Faults, answer.FaultedTask{Name: answer.Text{S: method}})
		}
		q.Tasks = Got(list, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err, name)
		at := slices.IndexFunc(out.Findings, func(f answer.Finding) bool { return f.Kind == answer.FindingPromises })
		require.Equal(t, c.want, at >= 0, name)
		if c.want {
			f := &out.Findings[at]
			assert.Contains(t, f.Text, "3 suspended operations wait for promises in Shop.Radio.pending; a task of the same class has failed: Shop.Radio.Listens", name)
			assert.Equal(t, answer.SeverityWarning, f.Severity, name)
			assert.Equal(t, answer.StrengthPossible, f.Clauses[0].Strength, name)
		}
	}
}

// TestInitializers checks that failed initializers are one finding.
func TestInitializers(t *testing.T) {
	q := healthy()
	q.TypeInits = Got(&answer.Initializers{Verdicts: []answer.Verdict{
		{Kind: answer.FindingInitializer, Statement: answer.Statement{Text: "the initializer of A failed"}, Strength: answer.StrengthRecorded},
		{Kind: answer.FindingInitializer, Statement: answer.Statement{Text: "the initializer of B failed"}, Strength: answer.StrengthRecorded}}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Equal(t, "the initializer of A failed; 1 other initializer failed", out.Findings[0].Text)
	assert.Len(t, out.Findings[0].Clauses, 2)
}

func TestLoadContexts(t *testing.T) {
	unloading := answer.AssemblyContext{Address: 0x40, Name: answer.Text{S: "plugin"}, State: answer.Text{S: answer.ContextUnloading}, Verdict: answer.Held,
		Assemblies: make([]answer.ContextAssembly, 2), Blockers: []answer.UnloadBlocker{{Statement: words.Text("a word of a stack"), Strength: answer.StrengthPossible}}}
	garbage := unloading
	garbage.Verdict = answer.Garbage
	alive := unloading
	alive.State.S = answer.ContextAlive
	q := healthy()
	q.Contexts = Got(&answer.LoadContexts{Contexts: []answer.AssemblyContext{garbage, alive, unloading}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Equal(t, "the load context plugin was asked to unload and stays, with 2 assemblies", out.Findings[0].Text)
	require.Len(t, out.Findings[0].Clauses, 2)
	assert.Equal(t, answer.StrengthPossible, out.Findings[0].Clauses[1].Strength)
}

// TestRanksAreDocumented compares docs/triage.md with the table of ranks.
func TestRanksAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/triage.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| ([a-z ]+) \| (fatal|high|warning) \| .+ \| .+ \|$`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, len(ranks))
	for i, r := range ranks {
		assert.Equal(t, []string{string(r.kind), string(r.severity)}, rows[i][1:])
		assert.NotEmpty(t, r.next)
	}
}

// TestKindsAreRanked checks that each kind of conclusion is ranked or listed as normal.
func TestKindsAreRanked(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../../answer/finding.go", nil, 0)
	require.NoError(t, err)
	kinds := 0
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := c.Type.(*ast.Ident); !ok || of.Name != "FindingKind" {
			return true
		}
		kinds++
		name, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		kind := answer.FindingKind(name)
		ranked := slices.ContainsFunc(ranks, func(r ranked) bool { return r.kind == kind })
		assert.NotEqual(t, ranked, slices.Contains(normal, kind), "%s is a finding, or is listed as normal", c.Names[0])
		return true
	})
	assert.Len(t, ranks, kinds-len(normal))
}

// TestUsualMeaning checks that the usual meaning of an exception is a separate clause of at most likely strength.
func TestUsualMeaning(t *testing.T) {
	q := healthy()
	q.Crash = Got(&answer.Crash{Reason: "SIGABRT", Likely: "Odd was not caught (usually: it failed)", Blames: 2, Usual: words.Text("it failed"), Verdicts: []answer.Verdict{
		{Statement: answer.Statement{Text: "SIGABRT"}, Strength: answer.StrengthRecorded}, {Statement: answer.Statement{Text: "Odd was not caught"}, Strength: answer.StrengthProved}}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.NotEmpty(t, out.Findings)
	f := out.Findings[0]
	assert.Equal(t, "Odd was not caught", f.Text)
	assert.Equal(t, answer.StrengthProved, f.Strength)
	require.Len(t, f.Clauses, 3)
	assert.Equal(t, "such an exception usually means: it failed", f.Clauses[2].Text)
	assert.Equal(t, answer.StrengthLikely, f.Clauses[2].Strength)
}

// TestEnding checks that a process that is ending, as crashinfo concludes, is a finding.
func TestEnding(t *testing.T) {
	q := healthy()
	q.Crash = Got(&answer.Crash{Alive: true, Verdicts: []answer.Verdict{
		answer.Conclude(answer.NoFinding, words.NoCrash.Of(), answer.StrengthLikely),
		answer.Conclude(answer.FindingEnding, words.MainReturned.Of(), answer.StrengthLikely)}}, nil)
	out, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, out.Findings, 1)
	assert.Equal(t, answer.FindingEnding, out.Findings[0].Kind)
	assert.Equal(t, answer.StrengthLikely, out.Findings[0].Strength)
	assert.Contains(t, out.Findings[0].Next, "crashinfo")
}

// TestCauseOfStarvation checks that what blocks most workers of a starved pool precedes the starvation, which refers to
// it. With half of the workers or fewer the starvation stays first.
func TestCauseOfStarvation(t *testing.T) {
	for _, c := range []struct {
		kind          answer.FindingKind
		held, workers int
		first         answer.FindingKind
		says          string
	}{
		{answer.FindingHeld, 3, 4, answer.FindingHeld, "starved, 3 of them for the lock"},
		{answer.FindingHeld, 2, 3, answer.FindingHeld, "starved, 2 of them for the lock"},
		{answer.FindingPermits, 4, 4, answer.FindingPermits, "starved, 4 of them for the lock"},
		{answer.FindingDeadlock, 3, 4, answer.FindingDeadlock, "starved, 3 of them for the lock"},
		{answer.FindingHeld, 2, 4, answer.FindingStarved, "starved"},
		{answer.FindingHeld, 0, 4, answer.FindingStarved, "starved"},
		{answer.FindingBlocked, 4, 4, answer.FindingStarved, "starved"},
	} {
		q := healthy()
		lock := answer.Verdict{Kind: c.kind, Statement: answer.Statement{Text: "lock"}, Strength: answer.StrengthProved, Count: c.held, Thing: "the lock", Sites: []answer.Site{{Thread: 999}, {}}}
		pool := answer.Verdict{Kind: answer.FindingStarved, Statement: answer.Statement{Text: "starved"}, Strength: answer.StrengthLikely}
		p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known[uint64](0)}
		for i := range c.workers {
			id := uint32(100 + i)
			p.Workers = append(p.Workers, answer.PoolWorker{Waits: true})
			pool.Sites = append(pool.Sites, answer.Site{Thread: id})
			if i < c.held {
				lock.Sites = append(lock.Sites, answer.Site{Thread: id})
			}
		}
		p.Verdicts = []answer.Verdict{pool}
		q.ThreadPool = Got(p, nil)
		q.Waits = Got(&answer.Waits{Verdicts: []answer.Verdict{lock}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, 2)
		assert.Equal(t, c.first, out.Findings[0].Kind, c)
		at := slices.IndexFunc(out.Findings, func(f answer.Finding) bool { return f.Kind == answer.FindingStarved })
		starved := out.Findings[at]
		assert.Equal(t, c.says, starved.Text, c)
		if at == 0 {
			assert.Len(t, starved.Clauses, 1)
			continue
		}
		require.Len(t, starved.Clauses, 2)
		assert.Equal(t, answer.StrengthLikely, starved.Clauses[1].Strength, "that of the weaker of both")
		assert.Contains(t, starved.Clauses[1].Text, c.kind)
		if c.kind != answer.FindingDeadlock {
			assert.Equal(t, answer.SeverityHigh, out.Findings[0].Severity, "also with fewer waiters than make a held lock severe")
		}
	}
}

// TestTimersThatOverlap: a starved pool names the timers with several callbacks at once.
func TestTimersThatOverlap(t *testing.T) {
	period := uint32(50)
	timers := []answer.Timer{{Running: 1, Method: answer.Text{S: "Shop.Once"}}, {Running: 2, Method: answer.Text{S: "Shop.Again"}}, {Running: 6, Period: &period, Method: answer.Text{S: "Shop.Poll"}}}
	for kind, want := range map[answer.FindingKind][]string{
		answer.FindingStarved: {"starved", "6 threads run Shop.Poll at once, the callback of one timer that is due every 50 ms", "2 threads run Shop.Again at once, the callback of one timer"},
		answer.FindingPile:    {"starved"},
	} {
		q := healthy()
		q.timers = func(context.Context) (*answer.Timers, error) { return &answer.Timers{Timers: timers}, nil }
		q.ThreadPool = Got(&answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known[uint64](9),
			Verdicts: []answer.Verdict{answer.Conclude(kind, words.Text("starved"), answer.StrengthLikely)}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, 1)
		var got []string
		for _, c := range out.Findings[0].Clauses {
			got = append(got, c.Text)
		}
		assert.Equal(t, want, got)
	}
}

// TestSoundSoFar: a heap is not sound because what could be read of it during a collection is. After a crash no later dump can be taken.
func TestSoundSoFar(t *testing.T) {
	q := healthy()
	q.VerifyHeap = Got(&answer.Soundness{Objects: 68, Moving: true}, nil)
	judged := func() *answer.TriageAbsent {
		a, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		assert.NotContains(t, a.Quiet, "soundness of the heap")
		i := slices.IndexFunc(a.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == "soundness of the heap" })
		require.GreaterOrEqual(t, i, 0)
		return &a.Unknown[i]
	}
	u := judged()
	assert.True(t, u.Moving)
	assert.Equal(t, "another dump, taken a moment later", u.Settles)

	q.Crash = Got(&answer.Crash{Why: answer.Statement{Text: "it died"}}, nil)
	u = judged()
	assert.True(t, u.Moving)
	assert.Empty(t, u.Settles)
}

// TestNextOnce: a command that shows two parts of a finding is advised once.
func TestNextOnce(t *testing.T) {
	q := healthy()
	x := answer.Conclude(answer.FindingFull, answer.Statement{Text: "it is full"}, answer.StrengthLikely)
	x.Show = []string{"dumpobj 1", "dumpasync -address 2", "dumpasync -address 2"}
	q.Waits = Got(&answer.Waits{Verdicts: []answer.Verdict{x}}, nil)
	a, err := Judge(context.Background(), q, Options{})
	require.NoError(t, err)
	require.Len(t, a.Findings, 1)
	assert.Equal(t, []string{"dumpobj 1", "dumpasync -address 2", "waits"}, a.Findings[0].Next)
}

// TestPremises: what a collection in progress makes of the heap is no damage, and a subject that lost its premise is not quiet.
func TestPremises(t *testing.T) {
	q := healthy()
	q.VerifyHeap = Got(&answer.Soundness{Errors: 3, Objects: 10}, nil)
	kinds := func() (out []answer.FindingKind, a *answer.Triage) {
		a, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		for _, f := range a.Findings {
			out = append(out, f.Kind)
		}
		return out, a
	}
	found, _ := kinds()
	assert.Equal(t, []answer.FindingKind{answer.FindingHeap}, found)

	q.Premises = answer.Premises{answer.HeapAtRest: answer.PremiseBroken, answer.NoCollection: answer.PremiseDoubtful}
	found, a := kinds()
	assert.Empty(t, found)
	assert.NotContains(t, a.Quiet, "soundness of the heap")
	i := slices.IndexFunc(a.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == "soundness of the heap" })
	require.GreaterOrEqual(t, i, 0)
	assert.Contains(t, a.Unknown[i].Reason, "during a garbage collection")
	assert.True(t, a.Unknown[i].Moving)

	// What the collector was moving is one reason for all subjects. Other reasons come first.
	q.Waits = Got(&answer.Waits{Lost: fmt.Errorf("a place: %w", target.ErrInCollection)}, nil)
	q.ThreadPool.value.Queued = answer.Missing[uint64](target.ErrNotInDump)
	q.ThreadPool.value.Note(target.ErrInCollection)
	_, a = kinds()
	require.Len(t, a.Unknown, 3)
	assert.Equal(t, []string{"locks and blocked threads", "thread pool", "soundness of the heap"}, []string{a.Unknown[0].Subject, a.Unknown[1].Subject, a.Unknown[2].Subject})
	assert.True(t, a.Unknown[0].Moving)
	assert.Equal(t, a.Unknown[2].Reason, a.Unknown[0].Reason)
	assert.False(t, a.Unknown[1].Moving)
	require.ErrorIs(t, a.Unknown[1].Err, target.ErrNotInDump)

	q.VerifyHeap = Got(&answer.Soundness{}, nil)
	q.FreeSpace = Got(&answer.Fragmentation{Generations: []answer.FreeSpace{
		{Generation: "2", Objects: 1 << 30, Free: 3 << 30, Share: 75, Blocks: 1000, Largest: 1 << 20}}}, nil)
	found, a = kinds()
	assert.Equal(t, []answer.FindingKind{answer.FindingFragmented}, found)
	assert.Equal(t, answer.StrengthLikely, a.Findings[0].Strength, "a collector is moving objects")
	assert.Equal(t, answer.StrengthLikely, a.Findings[0].Clauses[0].Strength)
}

// TestHandlesOfATable checks that the handles of a ConditionalWeakTable are a clause of the holder of its keys if that is a finding, and a finding of their
// own otherwise.
func TestHandlesOfATable(t *testing.T) {
	q := healthy()
	q.Handles = Got(&answer.Handles{Handles: func(yield func(answer.Handle, error) bool) {
		for range muchHandles {
			if !yield(answer.Handle{Type: "Dependent", MethodTable: 8, ObjectType: answer.Text{S: "Shop.Node"}, Size: 24}, nil) {
				return
			}
		}
	}}, nil)
	s := answer.Suspect{Kind: answer.SuspectAccumulation, Verdict: answer.VerdictSuspect, Retained: 40 << 20, Share: 90, Weak: answer.LinkAttached,
		Point: &answer.PathObject{Address: 0x20, Type: answer.Text{S: "Shop.Node[]"}}, Members: &answer.TypeCount{Count: muchHandles, Size: 40 << 20, MethodTable: 8, Type: answer.Text{S: "Shop.Node"}},
		Path: &answer.RootPath{Root: answer.GCRoot{Kind: answer.RootStatic, Name: "static Shop.Nodes.all"}}}
	for _, weak := range []answer.LinkStrength{answer.LinkAttached, ""} {
		s.Weak = weak
		q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{s}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		if weak == "" {
			require.Len(t, out.Findings, 2)
			assert.Equal(t, answer.FindingHandles, out.Findings[0].Kind)
			continue
		}
		require.Len(t, out.Findings, 1)
		f := &out.Findings[0]
		assert.Equal(t, answer.FindingHolder, f.Kind)
		require.Len(t, f.Clauses, 2)
		assert.Contains(t, f.Clauses[1].Text, "10,000 Dependent handles refer to objects of Shop.Node")
		assert.Contains(t, f.Next, "gchandles -type Dependent")
	}
}

// TestRoomyCollections checks that waste is a next step for many collections with an array each that have most of the memory, and not for arrays alone.
func TestRoomyCollections(t *testing.T) {
	arrays, lists := answer.TypeCount{Count: 400, Size: 60 << 20, Type: answer.Text{S: "System.Int64[]"}}, answer.TypeCount{Count: 400, Size: 12 << 10, Type: answer.Text{S: "System.Collections.Generic.List<System.Int64>"}}
	for want, types := range map[bool][]answer.TypeCount{true: {arrays, lists}, false: {arrays}} {
		q := healthy()
		s := answer.Suspect{Kind: answer.SuspectAccumulation, Verdict: answer.VerdictSuspect, Retained: 61 << 20, Share: 90, Types: types, Point: &answer.PathObject{Address: 0x20, Type: answer.Text{S: "X"}},
			Members: &answer.TypeCount{Count: 400, Size: 60 << 20, Type: answer.Text{S: "Y"}}, Path: &answer.RootPath{Root: answer.GCRoot{Kind: answer.RootStatic, Name: "static A.b"}}}
		q.Leaks = Got(&answer.Leaks{Suspects: []answer.Suspect{s}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, 1)
		assert.Equal(t, want, slices.Contains(out.Findings[0].Next, "waste"))
	}
}

// TestSerialized checks that items that wait for a worker are said to stand behind a lock if most workers wait for it, and not if they are few or others work.
func TestSerialized(t *testing.T) {
	for name, c := range map[string]struct {
		waiting int
		queued  uint64
		want    int
	}{"most": {3, 40, 2}, "few items": {3, 39, 1}, "half": {2, 40, 1}} {
		q := healthy()
		lock := answer.Verdict{Kind: answer.FindingHeld, Statement: answer.Statement{Text: "lock"}, Strength: answer.StrengthProved, Count: c.waiting}
		p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known(c.queued)}
		for i := range 4 {
			id := uint32(100 + i)
			p.Workers = append(p.Workers, answer.PoolWorker{Thread: answer.Thread{OSID: id}})
			if i < c.waiting {
				lock.Sites = append(lock.Sites, answer.Site{Thread: id})
			}
		}
		q.ThreadPool, q.Waits = Got(p, nil), Got(&answer.Waits{Verdicts: []answer.Verdict{lock}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		require.Len(t, out.Findings, 1)
		f := &out.Findings[0]
		require.Len(t, f.Clauses, c.want, name)
		if c.want == 2 {
			assert.Equal(t, "40 items wait for a worker behind it: 3 of 4 workers wait for this lock or hold it", f.Clauses[1].Text)
			assert.Contains(t, f.Next, "threadpool -wi")
		}
	}
}

// TestUseful checks that the command requests is no next step if the process is known to serve none.
func TestUseful(t *testing.T) {
	both := []string{"httpclients", "requests"}
	for name, c := range map[string]struct {
		requests Part[*answer.Requests]
		want     []string
	}{
		"none":   {Got(&answer.Requests{}, nil), both[:1]},
		"one":    {Got(&answer.Requests{Requests: []answer.Request{{}}}, nil), both},
		"unread": {Got[*answer.Requests](nil, target.ErrNotInDump), both},
	} {
		q := healthy()
		q.Requests = c.requests
		assert.Equal(t, c.want, q.useful(slices.Clone(both)), name)
	}
}

// TestReusableSpace checks that space which dead large objects left for the next ones is no finding.
func TestReusableSpace(t *testing.T) {
	pins := []answer.FreePin{{Handle: "Pinned", Objects: 300}}
	for name, c := range map[string]struct {
		space answer.FreeSpace
		want  bool
	}{
		"blocks for others": {answer.FreeSpace{Generation: "large", Objects: 34 << 20, Free: 51 << 20, Share: 60, Blocks: 78, Largest: 7 << 20}, true},
		"small blocks":      {answer.FreeSpace{Generation: "large", Objects: 34 << 20, Free: 51 << 20, Share: 60, Blocks: 400, Largest: 7 << 20}, false},
		"pinned":            {answer.FreeSpace{Generation: "large", Objects: 34 << 20, Free: 51 << 20, Share: 60, Blocks: 78, Pins: pins}, false},
		"small objects":     {answer.FreeSpace{Generation: "2", Objects: 34 << 20, Free: 51 << 20, Share: 60, Blocks: 78}, false},
		"pinned heap":       {answer.FreeSpace{Generation: "pinned", Objects: 34 << 20, Free: 51 << 20, Share: 60, Blocks: 78}, false},
	} {
		assert.Equal(t, c.want, reusable(&c.space), name)
	}
}

// TestMemoryFirst checks that memory which was used up comes before an abort in the middle of an exception, and behind a crash by one.
func TestMemoryFirst(t *testing.T) {
	crash := func(says answer.Statement) []answer.Finding {
		return []answer.Finding{
			finding(answer.FindingCrash, answer.Conclude(answer.FindingCrash, says, answer.StrengthLikely)),
			finding(answer.FindingMemory, answer.Conclude(answer.FindingMemory, words.BudgetUsedUp.Of(words.Text("the heap's budget was used up")), answer.StrengthRecorded)),
		}
	}
	list := crash(words.AbortedHandling.Of(words.Text("X"), words.Text("M")))
	memoryFirst(list)
	assert.Equal(t, answer.FindingMemory, list[0].Kind)
	assert.Equal(t, answer.SeverityFatal, list[0].Severity)
	assert.Equal(t, "it follows from the finding \"out of memory\"", list[1].Clauses[1].Text)

	list = crash(words.ReasonAborted.Of())
	list[0].Clauses = append(list[0].Clauses, answer.Conclude(answer.FindingCrash, words.AbortedHandling.Of(words.Text("X"), words.Text("M")), answer.StrengthLikely))
	memoryFirst(list)
	assert.Equal(t, answer.FindingMemory, list[0].Kind, "a core of the kernel records the signal first")

	list = crash(words.NotCaught.Of(words.Type("X"), answer.Statement{}, answer.Statement{}, answer.Statement{}))
	memoryFirst(list)
	assert.Equal(t, answer.FindingCrash, list[0].Kind)
	assert.Len(t, list[0].Clauses, 1)
}

// TestCauseOfFailure: a failed task names the innermost cause of its exception. Tasks that failed alike, for another cause, say so.
func TestCauseOfFailure(t *testing.T) {
	x := answer.TaskException{Type: answer.Text{S: "System.IO.IOException"}, Message: answer.Text{S: "Failed to send"}, Cause: answer.Text{S: "System.IO.IOException: No space left on device"}}
	one := answer.FaultedTask{Name: answer.Text{S: "App.Send"}, Exceptions: []answer.TaskException{x}}
	x.Cause = answer.Text{S: "System.IO.IOException: Broken pipe"}
	other := answer.FaultedTask{Name: one.Name, Exceptions: []answer.TaskException{x}}
	failed, alike := failedTask(&one)
	assert.Equal(t, "App.Send: System.IO.IOException: Failed to send; caused by System.IO.IOException: No space left on device", failed.Text)
	_, also := failedTask(&other)
	assert.Equal(t, alike, also)
	assert.NotEqual(t, firstMessage(&one), firstMessage(&other))
}
