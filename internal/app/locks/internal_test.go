package locks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestEndsByItself checks that a recorded time, a token and other tasks end a wait, and that an unrecorded time may.
func TestEndsByItself(t *testing.T) {
	const wait60, join = "System.Threading.Tasks.Task.Wait(Int32)", "System.Threading.Thread.Join(Int32)"
	for _, c := range []struct {
		w      wait
		called string
		want   string
	}{
		{wait{how: answer.HowRecorded, timeout: 60000}, wait60, "waits for at most 1 min"},
		{wait{how: answer.HowRecorded, timeout: -1}, wait60, ""},
		{wait{how: answer.HowRecorded, timeout: -1}, "System.Threading.Tasks.Task.Wait(System.Threading.CancellationToken)", "can be canceled if its token can"},
		{wait{how: answer.HowRecorded, timeout: -1}, "System.Threading.Tasks.Task.WaitAny(System.Threading.Tasks.Task[])", "waits for any of several"},
		{wait{how: answer.HowInferred, timeout: -1}, join, "may wait for a limited time, which is unknown"},
		{wait{how: answer.HowInferred, timeout: -1}, "System.Threading.Thread.Join()", ""},
		{wait{how: answer.HowInferred, timeout: -1, callback: callbackOfToken}, "System.Threading.CancellationTokenSource+Registrations.WaitForCallbackToComplete(Int64)", ""},
		{wait{how: answer.HowInferred, timeout: -1}, "System.Threading.ReaderWriterLockSlim.TryEnterWriteLockCore(TimeoutTracker)", "may wait for a limited time, which is unknown"},
	} {
		assert.Equal(t, c.want, endsByItself(&c.w, c.called).Text, c.called)
	}
}

// TestInlinedCall checks that a wait ends by what the program gives, and not by what an inlined method gives to the next.
func TestInlinedCall(t *testing.T) {
	const add = "System.Collections.Concurrent.BlockingCollection`1[[System.__Canon]].TryAddWithNoTimeValidation(System.__Canon, Int32, System.Threading.CancellationToken)"
	const token = "System.Threading.CancellationToken"
	for _, c := range []struct {
		called, method string
		parameters     []string
		want           string
	}{
		{add, "BlockingCollection.Add", []string{""}, ""},
		{add, "BlockingCollection.Add", []string{"", token}, "can be canceled if its token can"},
		{add, "BlockingCollection.TryAdd", []string{"", "Int32"}, "may wait for a limited time, which is unknown"},
		{add, "Step.Push", []string{""}, "can be canceled if its token can"}, // another method is inlined
		{"System.Threading.SemaphoreSlim.Wait(Int32, " + token + ")", "SemaphoreSlim.Wait", nil, ""},
	} {
		w := wait{how: answer.HowInferred, timeout: -1}
		assert.Equal(t, c.want, endsByItself(&w, calls(c.called, c.method, c.parameters)).Text, c.method)
	}
}

// TestShortMethod checks that type arguments are no part of a class's name.
func TestShortMethod(t *testing.T) {
	for name, want := range map[string]string{
		"Bank.Step<System.__Canon, System.Int32>.Push":                                      "Step.Push",
		"Bank.Step`2[[System.__Canon],[System.Int32]].Push":                                 "Step.Push",
		"Bank.Line+<Run>d__1<System.Int32>.MoveNext":                                        "<Run>d__1.MoveNext",
		"System.Collections.Concurrent.BlockingCollection`1[[System.__Canon]].TryAddWithNo": "BlockingCollection.TryAddWithNo",
		"Gate.Enter": "Gate.Enter",
		"Enter":      "Enter",
	} {
		assert.Equal(t, want, shortMethod(name), name)
	}
}

// TestEntryPoint checks that a Main that waits for something held is reported last and not as blocking, and that a
// Main that waits for the program's end is not reported.
func TestEntryPoint(t *testing.T) {
	of := func(id uint32, entry bool) *wait {
		return &wait{thread: &stackwalk.Thread{OS: &target.Thread{ID: id}}, how: answer.HowRecorded, tasks: []target.Addr{1}, entry: entry}
	}
	first, second, third := of(1, true), of(2, false), of(3, true)
	first.leaves = []leafOf{{1, tasks.CauseSemaphore, true}}
	third.leaves = []leafOf{{1, tasks.CauseForever, false}}
	g := &grapher{s: &survey{gaps: &answer.Gaps{}, blockedThreads: blockedThreads{waits: []*wait{first, second, third}}}, of: map[*stackwalk.Thread]*wait{}, circled: map[*wait]bool{},
		described: map[*wait]bool{}, rows: map[*stackwalk.Thread]*answer.ThreadWait{first.thread: {}, second.thread: {}, third.thread: {}}}
	list := g.chains()
	assert.Len(t, list, 2)
	assert.Contains(t, list[0].Text, "sync over async: thread 0 ")
	assert.Contains(t, list[1].Text, "the program's entry point")
	assert.NotContains(t, list[1].Text, "blocks")
}

// TestJoinedCounts: a thread that another one joins counts with those that wait for the same semaphore, and is not described twice if it waits alone.
func TestJoinedCounts(t *testing.T) {
	semaphore := func(a target.Addr) *lock {
		return &lock{Lock: answer.Lock{Kind: answer.LockSemaphore, Address: a}}
	}
	room, alone := semaphore(0x10), semaphore(0x20)
	of := func(l *lock) *wait { return &wait{thread: &stackwalk.Thread{}, lock: l, timeout: -1} }
	joined, second, third, other := of(room), of(room), of(room), of(alone)
	g := newGrapher(&survey{gaps: &answer.Gaps{}, blockedThreads: blockedThreads{waits: []*wait{joined, second, other, third}}})
	g.described[joined], g.described[other] = true, true
	order, at := g.atSemaphores()
	assert.Equal(t, []*lock{room}, order)
	assert.Equal(t, []*wait{joined, second, third}, at[room])
}

// TestGivesNext checks that code about to release a semaphore is known by the first release that it has not done.
func TestGivesNext(t *testing.T) {
	call := func(method string, on target.Addr) tasks.Call { return tasks.Call{Method: method, Object: on} }
	for _, c := range []struct {
		later []tasks.Call
		want  bool
	}{
		{[]tasks.Call{call("Store.get_Gate", 0), call("SemaphoreSlim.Release", 1), call("SemaphoreSlim.Release", 2)}, true},
		{[]tasks.Call{call("SemaphoreSlim.Release", 2), call("SemaphoreSlim.Release", 1)}, false},
		{[]tasks.Call{call("SemaphoreSlim.Release", 0)}, true}, // perhaps
		{[]tasks.Call{call("SemaphoreSlim.Wait", 1)}, false},
		{nil, false},
	} {
		assert.Equal(t, c.want, givesNext(&tasks.Around{Later: c.later}, 1), c.later)
	}
}

// TestNobody checks that a semaphore counts as unheld only if all possible holders were read.
func TestNobody(t *testing.T) {
	monitor := &lock{Lock: answer.Lock{Kind: answer.LockMonitor, Held: true}}
	stuck, brief := &stackwalk.Thread{OS: &target.Thread{ID: 7}}, &stackwalk.Thread{OS: &target.Thread{ID: 8}}
	inner, ended := &lock{Lock: answer.Lock{Kind: answer.LockMonitor, Address: 0x10}}, &stackwalk.Thread{}
	enters, left := &stackwalk.Thread{OS: &target.Thread{ID: 9}}, &stackwalk.Thread{OS: &target.Thread{ID: 10}}
	waits := []*wait{{thread: enters, lock: inner, timeout: -1}, {thread: left, lock: inner, timeout: -1, runners: []*stackwalk.Thread{ended}},
		{thread: stuck, lock: monitor, how: answer.HowRecorded, timeout: -1}, {thread: brief, lock: monitor, how: answer.HowRecorded, timeout: 20}}
	for _, c := range []struct {
		use  semaphoreUse
		lost bool
		want answer.Strength
		text string
	}{
		{semaphoreUse{gives: true}, false, answer.StrengthLikely, "nobody was found who can give a permit back"},
		{semaphoreUse{gives: true, unread: 2}, false, answer.StrengthUnknown, "not all could be read: 2 suspended methods"},
		{semaphoreUse{gives: true, blind: 1}, false, answer.StrengthUnknown, "methods of 1 threads"},
		{semaphoreUse{gives: true, partial: true}, false, answer.StrengthUnknown, "parts of the heap"},
		{semaphoreUse{blindWaiters: true}, false, answer.StrengthUnknown, "the code that waits"},
		{semaphoreUse{gives: true}, true, answer.StrengthUnknown, "parts of the heap or of the threads"},
		{semaphoreUse{gives: true, inside: []user{{thread: stuck, sure: true}}}, false, answer.StrengthPossible, "1 other thread is in a method that uses a semaphore"},
		{semaphoreUse{gives: true, inside: []user{{thread: stuck, sure: true}, {thread: brief}}}, false, answer.StrengthPossible, "2 other threads are in a method"},
		{semaphoreUse{gives: true, inside: []user{{thread: enters, sure: true}}}, false, "", ""},             // it gets the library's own lock soon
		{semaphoreUse{gives: true, inside: []user{{thread: ended, sure: true, gives: true}}}, false, "", ""}, // it is giving a permit back
		{semaphoreUse{gives: true, inside: []user{{thread: left, sure: true}}}, false, answer.StrengthPossible, "1 other thread is in a method"},
		{semaphoreUse{gives: true, inside: []user{{thread: stuck}, {thread: brief, sure: true}}}, false, "", ""}, // it has come past
		{semaphoreUse{gives: true, holders: []holder{{strength: answer.StrengthPossible}}}, false, answer.StrengthPossible, "may have entered it"},
		{semaphoreUse{gives: true, hiding: []hiding{{method: answer.Text{S: "Store.Save"}, call: "IGate.EnterAsync"}}}, false, answer.StrengthPossible,
			"1 method may have: Store.Save is past IGate.EnterAsync"},
		{semaphoreUse{hiding: []hiding{{method: answer.Text{S: "Store.Save"}, call: "Func.Invoke"}}}, false, "", ""}, // a signal
		{semaphoreUse{}, false, "", ""}, // a signal
	} {
		l := &lock{most: 1}
		g := newGrapher(&survey{gaps: &answer.Gaps{}, lost: c.lost, suspension: suspension{uses: map[*lock]*semaphoreUse{l: &c.use}}, blockedThreads: blockedThreads{waits: waits}, inventory: inventory{on: map[target.Addr]target.Addr{inner.Address: 0x20}}})
		g.nodes()
		v := answer.Conclude(answer.FindingPermits, words.Text("1 waits"), "")
		assert.Equal(t, c.want != "", g.permits(&v, l))
		assert.Equal(t, c.want, v.Strength)
		assert.Contains(t, v.Text, c.text)
		goesOn := c.want != "" && len(c.use.inside)+2*len(c.use.holders) == 2
		assert.Equal(t, goesOn || c.want == answer.StrengthUnknown, v.Severity == answer.SeverityWarning, "one goes on, or what may have entered could not be read")
	}
	l := &lock{count: 1, most: 1}
	g := newGrapher(&survey{gaps: &answer.Gaps{}, suspension: suspension{uses: map[*lock]*semaphoreUse{l: {gives: true}}}})
	assert.False(t, g.permits(&answer.Verdict{}, l), "a permit is free")
}

// TestQueuedHolders checks that a semaphore passes on if all that may have entered it wait for their turn in the thread pool, and no permit is lost.
func TestQueuedHolders(t *testing.T) {
	standing := map[target.Addr]*operation{1: {thing: &thing{cause: tasks.CausePool}}, 2: {thing: &thing{cause: tasks.CausePool}}, 3: {thing: &thing{cause: tasks.CausePromise}}}
	thread := &stackwalk.Thread{OS: &target.Thread{ID: 7}}
	for _, c := range []struct {
		most    int64
		holders []holder
		passes  bool
	}{
		{1, []holder{{box: 1, strength: answer.StrengthPossible}}, true},
		{math.MaxInt32, []holder{{box: 1, strength: answer.StrengthLikely}}, true},
		{2, []holder{{box: 1}, {box: 2}}, true},
		{2, []holder{{box: 1}}, false}, // who has the other permit is unknown
		{2, []holder{{box: 1}, {box: 3}}, false},
		{1, []holder{{box: 4}}, false},
		{1, []holder{{box: 5}}, true},                    // what it awaits has completed
		{1, []holder{{box: 1}, {thread: thread}}, false}, // it is not known to run
		{2, []holder{{box: 1}, {thread: thread}}, false},
		{math.MaxInt32, nil, false},
	} {
		l := &lock{most: c.most}
		g := newGrapher(&survey{gaps: &answer.Gaps{}, suspension: suspension{standing: standing, goesOn: map[target.Addr]bool{5: true}, uses: map[*lock]*semaphoreUse{l: {gives: true, holders: c.holders}}}})
		assert.Equal(t, c.passes, g.queued(l, g.s.uses[l]) && len(c.holders) > 0, c)
		if c.passes {
			assert.True(t, g.passes(&answer.Verdict{}, l, 12))
		}
	}
}

// TestHidden checks that a call which is done may have entered any semaphore if its receiver is unknown and the code may leave that semaphore later.
func TestHidden(t *testing.T) {
	enter, leave := tasks.Call{Method: "SemaphoreSlim.WaitAsync", Through: "IGate.EnterAsync"}, tasks.Call{Method: "SemaphoreSlim.Release"}
	known, invoke := tasks.Call{Method: "SemaphoreSlim.WaitAsync", Object: 1}, tasks.Call{Method: "Func.Invoke", Unknown: true}
	awaited, dispose := enter, tasks.Call{Method: "IDisposable.Dispose"}
	awaited.Awaits = true
	list := func(calls ...tasks.Call) []tasks.Call { return calls }
	for _, c := range []struct {
		why         string
		done, later []tasks.Call
		want        string
	}{
		{"past it", list(enter), list(leave), "IGate.EnterAsync"},
		{"in it", list(awaited), list(leave), ""},
		{"the semaphore is known", list(known), list(leave), ""},
		{"it has left", list(enter, leave), list(leave), ""},
		{"it never leaves", list(enter), nil, ""},
		{"it leaves another one", list(enter), list(dispose), ""},
		{"an unknown delegate", list(invoke), list(tasks.Call{Method: "Action.Invoke", Unknown: true}), "Func.Invoke"},
		{"an unknown delegate, and what it returned is disposed", list(invoke), list(dispose), "Func.Invoke"},
		{"an unknown delegate alone", list(invoke), nil, ""},
	} {
		assert.Equal(t, c.want, hidden(c.done, c.later), c.why)
	}
}

// TestSeveralHolders checks that a cycle through a semaphore needs all holders, and as many as there are permits.
func TestSeveralHolders(t *testing.T) {
	for _, c := range []struct {
		most    int64
		blocked int // of two holders, how many wait for the semaphore that the waiter holds
		want    int
	}{{2, 2, 1}, {2, 1, 0}, {3, 2, 0}, {1<<31 - 1, 2, 1}} {
		pool, mine := &lock{Lock: answer.Lock{Address: 1, Kind: answer.LockSemaphore}, most: c.most}, &lock{Lock: answer.Lock{Address: 2, Kind: answer.LockSemaphore}, most: 1}
		first := &operation{box: 10, thing: &thing{addr: 1, lock: pool}}
		ops := []*operation{first}
		use := &semaphoreUse{}
		for i := range 2 {
			op := &operation{box: target.Addr(20 + i), leaf: target.Addr(30 + i), thing: &thing{}}
			if i < c.blocked {
				op.thing = &thing{addr: 2, lock: mine}
			}
			ops = append(ops, op)
			use.holders = append(use.holders, holder{box: op.box, strength: answer.StrengthLikely})
		}
		s := &survey{gaps: &answer.Gaps{}, suspension: suspension{ops: ops, standing: map[target.Addr]*operation{}, uses: map[*lock]*semaphoreUse{
			pool: use, mine: {holders: []holder{{box: 10, strength: answer.StrengthLikely}}}}}}
		for _, op := range ops {
			s.standing[op.box] = op
		}
		g := newGrapher(s)
		g.nodes()
		found := g.circles()
		assert.Equal(t, c.want, min(len(found), 1), "%+v", c)
		for _, v := range found {
			assert.Equal(t, answer.StrengthLikely, v.Strength)
		}
	}
}

// TestPastWait checks that a method has entered a semaphore if it is past its own wait and releases it later.
func TestPastWait(t *testing.T) {
	const gate, other = 0x10, 0x20
	wait, release := tasks.Call{Method: "SemaphoreSlim.Wait", Object: gate}, tasks.Call{Method: "SemaphoreSlim.Release", Object: gate}
	list := func(calls ...tasks.Call) []tasks.Call { return calls }
	for _, c := range []struct {
		why           string
		before, later []tasks.Call
		want          bool
	}{
		{"past it", list(wait), list(release), true},
		{"in it", nil, list(wait, release), false},
		{"released", list(wait, release), list(release), false},
		{"released, and entered again", list(wait, release, wait), list(release), true},
		{"a release of an unknown one lies between", list(wait, tasks.Call{Method: "SemaphoreSlim.Release"}), list(release), false},
		{"never releases it", list(wait), nil, false},
		{"releases another one", list(wait), list(tasks.Call{Method: "SemaphoreSlim.Release", Object: other}), false},
		{"releases an unknown one", list(wait), list(tasks.Call{Method: "SemaphoreSlim.Release"}), true},
		{"waited for another one", list(tasks.Call{Method: "SemaphoreSlim.Wait", Object: other}), list(release), false},
		{"waited for an unknown one", list(tasks.Call{Method: "SemaphoreSlim.Wait"}), list(release), false},
	} {
		assert.Equal(t, c.want, pastWait(&tasks.Around{Before: c.before, Later: c.later}, gate) != nil, c.why)
	}
}

// TestThreadHolder checks conclusions about a semaphore that a thread has entered: a thread that waits for it again is in a
// deadlock, unless its wait ends by itself, and a thread in a short timed wait goes on.
func TestThreadHolder(t *testing.T) {
	for _, c := range []struct {
		why      string
		again    bool
		timeout  int32
		ends     answer.Statement
		kind     answer.FindingKind
		severity answer.Severity
	}{
		{"waits again", true, -1, answer.Statement{}, answer.FindingDeadlock, ""},
		{"waits again for a minute", true, 60000, words.EndsCanceled.Of(), "", ""},
		{"waits for something else", false, -1, answer.Statement{}, "", ""},
		{"waits for something else for an instant", false, 100, answer.Statement{}, "", answer.SeverityWarning},
	} {
		l, other := &lock{Lock: answer.Lock{Kind: answer.LockSemaphore}, most: 1}, &lock{Lock: answer.Lock{Kind: answer.LockMonitor, Held: true}}
		thread := &stackwalk.Thread{OS: &target.Thread{ID: 7}}
		w := &wait{thread: thread, lock: other, how: answer.HowRecorded, timeout: c.timeout, ends: c.ends}
		if c.again {
			w.lock = l
		}
		h := holder{thread: thread, method: answer.Text{S: "Store.Save"}, strength: answer.StrengthLikely}
		g := newGrapher(&survey{gaps: &answer.Gaps{}, blockedThreads: blockedThreads{waits: []*wait{w}}, suspension: suspension{uses: map[*lock]*semaphoreUse{l: {gives: true, holders: []holder{h}}}}})
		g.nodes()
		g.rows[thread] = &answer.ThreadWait{Type: answer.Text{S: "System.Object"}, Object: 1}
		v := answer.Conclude(answer.NoFinding, words.Text("2 threads wait"), "")
		assert.True(t, g.permits(&v, l), c.why)
		assert.Equal(t, c.kind, v.Kind, c.why)
		assert.Equal(t, c.severity, v.Severity, c.why)
		assert.Equal(t, answer.StrengthLikely, v.Strength)
		assert.Contains(t, v.Text, "in Store.Save, ")
	}
}

// TestAlikeCircles checks that cycles through several tasks of one wait are one if the threads that run them wait for the
// same.
func TestAlikeCircles(t *testing.T) {
	l, other := &lock{}, &lock{}
	all := &wait{tasks: []target.Addr{1, 2, 3}}
	first, second, third := &wait{lock: l}, &wait{lock: l}, &wait{lock: other}
	one := &wait{tasks: []target.Addr{1}}
	got := alikeCircles([][]*wait{{first, all}, {all, second}, {all, third}, {one, first}, {one, second}})
	assert.Equal(t, [][][]*wait{{{all, first}, {all, second}}, {{all, third}}, {{one, first}}, {{one, second}}}, got)
}

// TestIsNode checks that a part of a collection is no collection.
func TestIsNode(t *testing.T) {
	const pending = "System.Collections.Concurrent.ConcurrentDictionary<System.Int32, System.Threading.Tasks.TaskCompletionSource<Clinic.Result>>"
	for class, want := range map[string]bool{pending: false, pending + "+Node": true, pending + "+Node[]": false,
		"Clinic.Gateway<System.Threading.Tasks.TaskCompletionSource>+Queue": false} {
		assert.Equal(t, want, isNode(class), class)
	}
}

// TestSoonFree checks that a semaphore is soon free if all holders go on soon, and few wait by that measure.
func TestSoonFree(t *testing.T) {
	const goesOn = -2
	for _, c := range []struct {
		why      string
		most     int64
		timeouts []int32 // of what the holders wait for, in milliseconds
		inside   int
		strength answer.Strength
		waiting  int
		want     bool
	}{
		{"short pauses", 2, []int32{2, 2}, 0, answer.StrengthLikely, 20, true},
		{"the last one waits for a second", 2, []int32{100, 50}, 0, answer.StrengthLikely, 20, true},
		{"too many wait", 2, []int32{100, 50}, 0, answer.StrengthLikely, 21, false},
		{"one holder waits for ever", 2, []int32{2, -1}, 0, answer.StrengthLikely, 20, false},
		{"one holder waits for long", 2, []int32{2, 5000}, 0, answer.StrengthLikely, 1, false},
		{"a permit may be lost", 3, []int32{2, 2}, 0, answer.StrengthLikely, 20, false},
		{"another thread may have that permit", 3, []int32{2, 2}, 1, answer.StrengthLikely, 20, true},
		{"how many there are is not known", math.MaxInt32, []int32{2, 2}, 0, answer.StrengthLikely, 20, true},
		{"they may have left", 2, []int32{2, 2}, 0, answer.StrengthPossible, 20, false},
		{"nobody is known to have entered it", math.MaxInt32, nil, 2, answer.StrengthLikely, 1, false},
		{"it goes on", 1, []int32{goesOn}, 0, answer.StrengthLikely, 29, true},
		{"a crowd waits for one that goes on", 1, []int32{goesOn}, 0, answer.StrengthLikely, 30, false},
		{"one goes on, the other waits for ever", 2, []int32{goesOn, -1}, 0, answer.StrengthLikely, 20, false},
	} {
		l, other := &lock{Lock: answer.Lock{Kind: answer.LockSemaphore}, most: c.most}, &lock{Lock: answer.Lock{Kind: answer.LockMonitor, Held: true}}
		u := &semaphoreUse{gives: true, inside: make([]user, c.inside)}
		s := &survey{gaps: &answer.Gaps{}, suspension: suspension{uses: map[*lock]*semaphoreUse{l: u}}}
		for _, timeout := range c.timeouts {
			if timeout == goesOn {
				u.holders = append(u.holders, holder{box: 0x30, strength: c.strength}) // it stands nowhere: what it awaits has completed
				continue
			}
			thread := &stackwalk.Thread{OS: &target.Thread{ID: 7}}
			s.waits = append(s.waits, &wait{thread: thread, lock: other, how: answer.HowRecorded, timeout: timeout})
			u.holders = append(u.holders, holder{thread: thread, strength: c.strength})
		}
		g := newGrapher(s)
		g.nodes()
		assert.Equal(t, c.want, !g.starves(l, u) && g.course().turns(l, u, c.waiting, 30).moves, c.why)
	}
}

// TestNext checks that who waits for a lock that is free, or has a holder that is not recorded yet, gets it next: no other kind of lock records its holders so.
func TestNext(t *testing.T) {
	thread, other := &stackwalk.Thread{OS: &target.Thread{ID: 7}}, &stackwalk.Thread{OS: &target.Thread{ID: 8}}
	of := func(kind answer.WaitKind, held, entered bool) *lock {
		return &lock{Lock: answer.Lock{Kind: kind, Held: held}, entered: entered}
	}
	for _, c := range []struct {
		why  string
		w    wait
		want bool
	}{
		{"a free monitor", wait{lock: of(answer.LockMonitor, false, false)}, true},
		{"a free Lock", wait{lock: of(answer.LockLock, false, false)}, true},
		{"just entered", wait{lock: of(answer.LockMonitor, true, true)}, true},
		{"its owner is of no thread", wait{lock: of(answer.LockMonitor, true, false)}, false},
		{"its owner is known", wait{lock: of(answer.LockMonitor, true, false), runners: []*stackwalk.Thread{other}}, false},
		{"a pulse", wait{lock: of(answer.LockMonitor, false, false), pulse: true}, false},
		{"a semaphore", wait{lock: of(answer.LockSemaphore, false, false)}, false},
		{"readers are not recorded", wait{lock: of(answer.LockReaderWriter, false, false)}, false},
		{"no lock", wait{}, false},
	} {
		c.w.thread = thread
		assert.Equal(t, c.want, c.w.isNext(), c.why)
		g := newGrapher(&survey{gaps: &answer.Gaps{}, blockedThreads: blockedThreads{waits: []*wait{&c.w}}})
		g.nodes()
		assert.Equal(t, c.want, g.threadMoves(thread), c.why)
		if c.want {
			assert.Equal(t, isMoment, g.course().releases(thread, 20, 0), "a holder that gets its next lock")
		}
	}
}

// TestHolderThatWaits checks that a thread which waits for a lock itself releases its own when that one is released, and that a chain of such is bounded.
func TestHolderThatWaits(t *testing.T) {
	free, held := &lock{Lock: answer.Lock{Kind: answer.LockMonitor}}, &lock{Lock: answer.Lock{Kind: answer.LockMonitor, Held: true}}
	chain := func(n int, last *lock) (first *stackwalk.Thread, g *grapher) {
		s := &survey{gaps: &answer.Gaps{}}
		for i := range n {
			w := &wait{thread: &stackwalk.Thread{OS: &target.Thread{ID: uint32(i)}}, lock: last}
			if i > 0 {
				w.lock, w.runners = &lock{Lock: answer.Lock{Kind: answer.LockMonitor, Held: true}}, []*stackwalk.Thread{first}
			}
			first, s.waits = w.thread, append(s.waits, w)
		}
		g = newGrapher(s)
		g.nodes()
		return first, g
	}
	first, g := chain(deepHolders, free)
	assert.Equal(t, isMoment, g.course().releases(first, 20, 0), "the last of them is the next")
	kind, _, _ := g.heldBy(nil, []*stackwalk.Thread{first}, 20)
	assert.Equal(t, answer.NoFinding, kind)
	first, g = chain(deepHolders, held)
	assert.Equal(t, isStuck, g.course().releases(first, 1, 0), "nobody is known to hold what the last one waits for")
	kind, severity, _ := g.heldBy(nil, []*stackwalk.Thread{first}, 1)
	assert.Equal(t, answer.FindingHeld, kind)
	assert.Empty(t, severity)
	first, g = chain(deepHolders+2, free)
	assert.Equal(t, isStuck, g.course().releases(first, 1, 0), "so long a chain is not followed")
}

// TestSleeps names the methods of the class library in which a thread sleeps: the compiler may inline the first.
func TestSleeps(t *testing.T) {
	for method, want := range map[string]bool{"System.Threading.Thread.Sleep": true, "System.Threading.Thread.SleepInternal": true, "System.Threading.Thread.SpinWait": false,
		"System.Threading.Thread.Join": false, "": false} {
		assert.Equal(t, want, sleeps(method), method)
	}
}

// TestPasses checks that one or two operations that wait for a semaphore are no finding while what entered it runs on a thread.
func TestPasses(t *testing.T) {
	const box, task = 0x10, 0x20
	thread := &stackwalk.Thread{OS: &target.Thread{ID: 7}}
	for _, c := range []struct {
		why     string
		cause   tasks.Cause
		holder  holder
		runs    bool
		waits   bool
		waiting int
		passes  bool
	}{
		{"it writes", tasks.CauseRunning, holder{box: box}, true, false, 2, true},
		{"many wait", tasks.CauseRunning, holder{box: box}, true, false, 3, false},
		{"the thread waits", tasks.CauseRunning, holder{box: box}, true, true, 2, false},
		{"no thread runs it", tasks.CauseRunning, holder{box: box}, false, false, 2, false},
		{"it waits for a socket", tasks.CauseStream, holder{box: box}, true, false, 2, false},
		{"a thread holds it", tasks.CauseRunning, holder{box: box, thread: thread}, true, false, 2, false},
	} {
		l := &lock{Lock: answer.Lock{Kind: answer.LockSemaphore}, most: 1}
		s := &survey{gaps: &answer.Gaps{}, suspension: suspension{uses: map[*lock]*semaphoreUse{l: {gives: true, holders: []holder{c.holder}}},
			standing: map[target.Addr]*operation{box: {box: box, leaf: task, thing: &thing{cause: c.cause}}}}, blockedThreads: blockedThreads{running: &running{tasks: map[target.Addr]*stackwalk.Thread{}}}}
		if c.runs {
			s.running.tasks[task] = thread
		}
		if c.waits {
			s.waits = []*wait{{thread: thread, lock: &lock{Lock: answer.Lock{Kind: answer.LockMonitor}}}}
		}
		g := newGrapher(s)
		g.nodes()
		assert.Equal(t, c.passes, g.passes(&answer.Verdict{}, l, c.waiting), c.why)
	}
	assert.False(t, newGrapher(&survey{gaps: &answer.Gaps{}}).passes(&answer.Verdict{}, &lock{}, 1), "nobody is known to have entered it")
}

// TestWokenNext: a thread that waits for a task which has completed is woken next. Without a task, and with one that has not completed, it is not said.
func TestWokenNext(t *testing.T) {
	for _, c := range []struct {
		w    wait
		want *words.Sentence
	}{
		{wait{completed: true}, words.TaskWakes},
		{wait{}, words.TaskNotFound},
		{wait{tasks: []target.Addr{1}}, words.TaskToComplete},
		{wait{completed: true, tasks: []target.Addr{1, 2}}, words.TasksToComplete}, // one of several has
		{wait{completed: true, async: true}, words.AsyncToComplete},
	} {
		c.w.thread = &stackwalk.Thread{}
		g := &grapher{s: &survey{gaps: &answer.Gaps{}}, rows: map[*stackwalk.Thread]*answer.ThreadWait{c.w.thread: {Type: answer.Text{S: "A.Task"}}}}
		assert.Equal(t, c.want.Kind(), g.awaited(&c.w, false).Says)
	}
}

// TestAsksServer checks that a thread of its own that waits for a server is no finding, and that a worker of the pool is one, as is a thread that waits for other
// things or for code that needs the pool.
func TestAsksServer(t *testing.T) {
	thread := &stackwalk.Thread{OS: &target.Thread{ID: 7}}
	pool := func(workers ...uint32) *answer.ThreadPool {
		p := &answer.ThreadPool{Total: answer.Known(int64(len(workers)))}
		for _, id := range workers {
			p.Workers = append(p.Workers, answer.PoolWorker{Thread: answer.Thread{OSID: id}})
		}
		return p
	}
	starved := pool(8)
	starved.Verdicts = []answer.Verdict{{Kind: answer.FindingStarved}}
	connection := words.Connection.Of(answer.Statement{}, answer.Statement{})
	for name, c := range map[string]struct {
		until answer.Statement
		pool  *answer.ThreadPool
		tasks int
		want  bool
	}{
		"connection":      {connection, pool(8), 1, true},
		"answer":          {words.ServersAnswer.Of(answer.Statement{}, answer.Statement{}), pool(), 1, true},
		"socket":          {words.DataFrom.Of(words.Text("10.0.0.7:80")), pool(8), 1, true},
		"worker":          {connection, pool(7, 8), 1, false},
		"unknown pool":    {connection, nil, 1, false},
		"unknown workers": {connection, &answer.ThreadPool{Total: answer.Missing[int64](target.ErrNotInDump)}, 1, false},
		"several tasks":   {connection, pool(8), 2, false},
		"promise":         {words.APromise.Of(), pool(8), 1, false},
		"turn in a pool":  {words.PoolWorker.Of(), pool(8), 1, true},
		"turn of worker":  {words.PoolWorker.Of(), pool(7), 1, false},
		"starved pool":    {words.PoolWorker.Of(), starved, 1, false},
	} {
		g := &grapher{s: &survey{blockedThreads: blockedThreads{pool: c.pool}}}
		assert.Equal(t, c.want, g.asksServer(&wait{thread: thread, tasks: make([]target.Addr, c.tasks), until: c.until}), name)
	}
}
