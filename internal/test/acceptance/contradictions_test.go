package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// statements are answers of several commands about one process. One that could not be read is nil.
type statements struct {
	triage     *answer.Triage
	crash      *answer.Crash
	waits      *answer.Waits
	locks      *answer.Locks
	pool       *answer.ThreadPool
	tasks      *answer.Tasks
	requests   *answer.Requests
	leaks      *answer.Leaks
	roots      map[target.Addr]*answer.RootPaths  // of the suspects of leaks
	owned      map[target.Addr]*answer.Dominators // the same
	soundness  *answer.Soundness
	hosts      *answer.Hosts
	inits      *answer.Initializers
	redis      *answer.Redis
	clients    *answer.HTTPClients
	pools      *answer.SQLPools
	oom        *answer.OutOfMemory
	queue      *answer.Finalizers
	timers     *answer.Timers
	blocks     map[target.Addr]answer.SyncBlock // that have an owner or waiters, by object
	collecting bool

	compared int
	found    []string
}

// read asks a process.
func (s *statements) read(t *testing.T, p *process.Process) {
	t.Helper()
	ctx := t.Context()
	s.triage = asked(triage.Triage(ctx, p, triage.Options{}))
	s.crash = asked(crash.Describe(ctx, p, crash.Options{}))
	s.waits = asked(locks.Waits(ctx, p, locks.Options{}))
	s.locks = asked(locks.Locks(ctx, p, locks.Options{All: true}))
	s.pool = asked(locks.ThreadPool(ctx, p, threadpool.Options{}))
	s.tasks = asked(async.Tasks(ctx, p, tasks.ListOptions{Faulted: true}))
	s.requests = asked(web.Requests(ctx, p, web.RequestOptions{}))
	s.leaks = asked(leaks.Leaks(ctx, p, leaks.Options{}))
	s.roots, s.owned = map[target.Addr]*answer.RootPaths{}, map[target.Addr]*answer.Dominators{}
	if s.leaks != nil {
		for i := range s.leaks.Suspects {
			if x := s.leaks.Suspects[i].Point; x != nil {
				s.roots[x.Address] = asked(memory.GCRoot(ctx, p, x.Address, graph.HoldOptions{All: true, Limit: 1 << 10}))
				s.owned[x.Address] = asked(memory.DominatorsOf(ctx, p, x.Address, 1))
			}
		}
	}
	s.soundness = asked(memory.Soundness(ctx, p))
	s.hosts = asked(hosting.Hosts(ctx, p))
	s.inits = asked(locks.Initializers(ctx, p))
	s.redis = asked(web.Redis(ctx, p))
	s.clients = asked(web.HTTPClients(ctx, p, web.ClientOptions{}))
	s.pools = asked(sqlpools.SQLPools(ctx, p, sqlpools.Options{}))
	s.oom = asked(memory.OutOfMemory(ctx, p))
	s.queue = asked(memory.Finalizers(ctx, p, heap.FinalizerOptions{}))
	s.timers = asked(threadpool.Timers(ctx, p))
	if list := asked(stacks.SyncBlocks(ctx, p, threads.SyncBlockOptions{})); list != nil {
		s.blocks = map[target.Addr]answer.SyncBlock{}
		for b, err := range list.Blocks {
			if err == nil && b.Object != 0 {
				s.blocks[b.Object] = b
			}
		}
	}
	if h, err := p.Heap(); err == nil {
		s.collecting = h.InGC()
	}
}

// asked returns an answer without an error, or nil.
func asked[T any](x *T, err error) *T {
	if err != nil {
		return nil
	}
	return x
}

// holds records a contradiction unless two statements about one subject can both be true.
func (s *statements) holds(can bool, format string, args ...any) {
	s.compared++
	if !can {
		s.found = append(s.found, fmt.Sprintf(format, args...))
	}
}

// compare compares what the answers say about each subject.
func (s *statements) compare() {
	if s.triage != nil {
		s.quiet()
		s.ranked()
		s.resources()
		s.crashes()
		s.holders()
	}
	if s.waits != nil {
		s.ofLocks()
		s.ofThreads()
		s.ofTasks()
	}
	s.counts()
	if s.locks != nil {
		s.monitors()
	}
	if s.collecting {
		s.collection()
	}
}

// concludes reports whether a list has a conclusion that a triage ranks.
func concludes(list []answer.Verdict) bool {
	return slices.ContainsFunc(list, func(v answer.Verdict) bool {
		return v.Kind != answer.NoFinding && v.Kind != answer.FindingEntryPoint && v.Kind != answer.FindingPoolKeepsUp
	})
}

// quiet compares the subjects in which a triage found nothing with what the commands of these subjects conclude.
func (s *statements) quiet() {
	finds := map[string]bool{"soundness of the heap": s.soundness != nil && s.soundness.Errors > 0, "failed tasks": s.tasks != nil && len(s.tasks.Faults) > 0}
	if s.waits != nil {
		finds["locks and blocked threads"] = concludes(s.waits.Verdicts)
	}
	if s.pool != nil {
		finds["thread pool"] = concludes(s.pool.Verdicts)
	}
	if s.crash != nil {
		finds["crash"] = slices.ContainsFunc(s.crash.Verdicts, func(v answer.Verdict) bool { return v.Kind == answer.FindingCrash })
	}
	for subject, found := range finds {
		s.holds(!found || !slices.Contains(s.triage.Quiet, subject), "triage found nothing in %s, the command did", subject)
	}
}

// concluded returns the conclusions of the commands, by subject of a triage.
func (s *statements) concluded() map[string][]answer.Verdict {
	out := map[string][]answer.Verdict{}
	if s.waits != nil {
		out["locks and blocked threads"] = s.waits.Verdicts
	}
	if s.pool != nil {
		out["thread pool"] = s.pool.Verdicts
	}
	if s.crash != nil {
		for i := range s.crash.Verdicts {
			switch v := s.crash.Verdicts[i]; v.Kind {
			case answer.FindingCrash, answer.FindingEnding:
				out["crash"] = append(out["crash"], v)
			case answer.FindingFinalizers:
				if s.crash.Alive { // in a crashed process all threads have stopped
					out["finalizer thread"] = append(out["finalizer thread"], v)
				}
			} // circles of monitors are compared with waits
		}
	}
	if s.hosts != nil {
		out["hosted services"] = s.hosts.Verdicts
	}
	if s.inits != nil {
		out["type initializers"] = s.inits.Verdicts
	}
	if s.redis != nil {
		out["Redis"] = s.redis.Verdicts
	}
	if s.clients != nil {
		out["HTTP clients"] = s.clients.Verdicts
	}
	return out
}

// moreAlike is what a finding says for others that differ in nothing but objects and threads.
var moreAlike = regexp.MustCompile(`; \d+ more (is|are) alike$`)

// withoutObjects returns a conclusion with marks in place of objects and threads.
func withoutObjects(text string) string {
	return regexp.MustCompile(`[0-9a-f]{16}|thread \d+( "[^"]*")?`).ReplaceAllString(text, "…")
}

// ranked compares what commands conclude with the findings of a triage: each has the conclusion, as strong as the command prints it, or says why it did
// not look.
func (s *statements) ranked() {
	of, alike := map[string]answer.Strength{}, map[string]answer.Strength{}
	for i := range s.triage.Findings {
		f := &s.triage.Findings[i]
		for k := range f.Clauses {
			of[f.Clauses[k].Text] = f.Clauses[k].Strength
			if moreAlike.MatchString(f.Text) {
				alike[withoutObjects(f.Clauses[k].Text)] = f.Clauses[k].Strength
			}
		}
	}
	for subject, list := range s.concluded() {
		if slices.ContainsFunc(s.triage.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == subject && !u.Partly }) {
			continue
		}
		for i := range list {
			v := &list[i]
			if !concludes(list[i : i+1]) {
				continue
			}
			strength, known := of[v.Text]
			if !known {
				strength, known = alike[withoutObjects(v.Text)]
			}
			s.holds(known, "%s: a command concludes %q, triage does not", subject, v.Text)
			s.holds(!known || strength == v.Strength, "%s: %q is %s, triage: %s", subject, v.Text, v.Strength, strength)
		}
	}
}

// resources compares what lacks with the findings: failed allocations, and connections of databases.
func (s *statements) resources() {
	has := func(kind answer.FindingKind, object target.Addr) bool {
		return slices.ContainsFunc(s.triage.Findings, func(f answer.Finding) bool { return f.Kind == kind && (object == 0 || f.Object == object) })
	}
	if s.oom != nil {
		s.holds(has(answer.FindingMemory, 0) == (len(s.oom.Failures) > 0), "analyzeoom has %d failed allocations, triage: %v", len(s.oom.Failures), has(answer.FindingMemory, 0))
	}
	if s.pools != nil {
		for i := range s.pools.Pools {
			p := &s.pools.Pools[i]
			lacks := p.Waiting.Err() == nil && p.Waiting.Value > 0 && p.Idle.Err() == nil && p.Idle.Value == 0
			s.holds(!lacks || has(answer.FindingExhausted, p.Address), "sqlpools: %d wait for a connection of %v, triage does not say so", p.Waiting.Value, p.Address)
		}
	}
}

// counts compares the finalizer queue with leaks, and timers with the workers that run them.
func (s *statements) counts() {
	if s.queue != nil && s.leaks != nil && s.queue.Unread == 0 && !s.collecting {
		ready := uint64(0)
		for i := range s.queue.Queues {
			ready += s.queue.Queues[i].Ready.Count + s.queue.Queues[i].Critical.Count
		}
		s.holds(s.leaks.Finalizers.Ready <= ready, "leaks: %d objects await their finalizer, finalizequeue: %d", s.leaks.Finalizers.Ready, ready)
	}
	if s.timers != nil && s.pool != nil && s.pool.Total.Err() == nil {
		for i := range s.timers.Timers {
			t := &s.timers.Timers[i]
			s.holds(t.Running <= max(s.pool.Total.Value, int64(len(s.pool.Workers)))+1, "timerinfo: %d threads run the callback of %v, threadpool: %d workers", t.Running, t.Address, s.pool.Total.Value)
		}
	}
}

// monitors compares sync blocks with locks: a monitor has one owner.
func (s *statements) monitors() {
	for i := range s.locks.Locks {
		l := &s.locks.Locks[i]
		b, ok := s.blocks[l.Address]
		if !ok || l.Kind != answer.LockMonitor {
			continue
		}
		s.holds(b.Held == l.Held, "locks: %v is held: %v, syncblk: %v", l.Address, l.Held, b.Held)
		s.holds(l.Owner == nil || b.OSID == 0 || l.Owner.OSID == b.OSID, "locks: %v is held by another thread than syncblk has", l.Address)
	}
}

// crashes compares the crash of a triage with crashinfo.
func (s *statements) crashes() {
	has := func(kind answer.FindingKind) bool {
		return slices.ContainsFunc(s.triage.Findings, func(f answer.Finding) bool { return f.Kind == kind })
	}
	if s.crash != nil && !s.crash.Undecided {
		s.holds(!has(answer.FindingCrash) || !s.crash.Alive, "triage has a crash, crashinfo says that the process lives")
	}
	if s.soundness != nil {
		s.holds(!has(answer.FindingHeap) || s.soundness.Errors > 0, "triage has a damaged heap, verifyheap found no fault")
	}
}

// holders compares the large holders of a triage with leaks, and these with gcroot and dominators.
func (s *statements) holders() {
	if s.leaks == nil {
		return
	}
	share := 0.0
	for i := range s.leaks.Suspects {
		x := &s.leaks.Suspects[i]
		s.holds(x.Retained <= s.leaks.Live.Size, "a suspect of leaks retains %d bytes of %d", x.Retained, s.leaks.Live.Size)
		if share += x.Share; x.Point == nil {
			continue
		}
		if roots := s.roots[x.Point.Address]; roots != nil && x.Path != nil && !roots.Limited {
			same := func(p answer.RootPath) bool {
				return p.Root.Kind == x.Path.Root.Kind && p.Root.Name == x.Path.Root.Name
			}
			s.holds(slices.ContainsFunc(roots.Paths, same), "leaks: %v is held by %s, gcroot: it is not", x.Point.Address, x.Path.Root.Name)
		}
		if d := s.owned[x.Point.Address]; d != nil && d.Object != nil {
			s.holds(d.Object.Retained <= x.Retained, "leaks: %v retains %d bytes, dominators: %d", x.Point.Address, x.Retained, d.Object.Retained)
		}
	}
	s.holds(share <= 100.05, "leaks: the suspects have %.1f%% together", share)
	for i := range s.triage.Findings {
		f := &s.triage.Findings[i]
		if f.Kind != answer.FindingHolder {
			continue
		}
		if f.Object == 0 { // a sum, such as the values of a ThreadLocal
			s.holds(slices.ContainsFunc(s.leaks.Suspects, func(x answer.Suspect) bool {
				return x.Point == nil && strings.Contains(f.Text, x.Kept.Text) && (x.Members == nil || strings.Contains(f.Text, x.Members.Type.S) || x.Kind == answer.SuspectInterned || x.Kind == answer.SuspectTimers)
			}), "triage: %s, leaks has no such sum", f.Text)
			continue
		}
		k := slices.IndexFunc(s.leaks.Suspects, func(x answer.Suspect) bool { return x.Point != nil && x.Point.Address == f.Object })
		s.holds(k >= 0, "triage: %s, leaks does not have it", f.Text)
		if k >= 0 {
			kept := s.leaks.Suspects[k].Kept.Text
			s.holds(strings.Contains(f.Text, kept), "triage: %s, leaks: %s", f.Text, kept)
		}
	}
	if s.leaks.Small {
		s.holds(!slices.ContainsFunc(s.triage.Findings, func(f answer.Finding) bool { return f.Kind == answer.FindingHolder }), "triage has a large holder, leaks says that the heap is small")
	}
}

// ofLocks compares waits with locks: owners, states, and locks that nobody holds.
func (s *statements) ofLocks() {
	if s.locks == nil {
		return
	}
	of := map[target.Addr]*answer.Lock{}
	for i := range s.locks.Locks {
		of[s.locks.Locks[i].Address] = &s.locks.Locks[i]
	}
	for i := range s.waits.Threads {
		w := &s.waits.Threads[i]
		l := of[w.Object]
		if l == nil || l.Kind != w.Kind {
			continue
		}
		s.holds(w.Owner == nil || l.Held, "waits: a thread holds lock %v, locks: it is free", w.Object)
		again := l.Kind == answer.LockReaderWriter // an upgradeable reader waits to write
		pulse := slices.ContainsFunc(l.Waiting, func(x answer.LockWaiter) bool { return x.Thread.OSID == w.Thread.OSID && x.Pulse })
		s.holds(again || pulse || l.Owner == nil || l.Owner.OSID != w.Thread.OSID || l.Owner.OSID == 0, "waits: thread %#x waits for lock %v, locks: it holds it", w.Thread.OSID, w.Object)
	}
	for i := range s.waits.Operations {
		if o := &s.waits.Operations[i]; of[o.Object] != nil {
			s.holds(o.State == of[o.Object].State, "waits: %s is %q, locks: %q", o.Name, o.State, of[o.Object].State)
		}
	}
	for i := range s.waits.Verdicts {
		v := &s.waits.Verdicts[i]
		if !claims(v, words.NobodyEntered.Kind()) && !claims(v, words.Unheld.Kind()) {
			continue
		}
		for _, line := range v.Show {
			a, ok := strings.CutPrefix(line, "dumpobj ")
			for address, l := range of {
				if ok && a == fmt.Sprintf("%016x", uint64(address)) {
					s.holds(l.Owner == nil && len(l.Readers) == 0, "waits: nobody holds lock %v, locks: a thread does", address)
				}
			}
			for k := range s.waits.Operations {
				o := &s.waits.Operations[k]
				s.holds(a != fmt.Sprintf("%016x", uint64(o.Object)) || len(o.Holders) == 0, "waits: nobody has entered %v, and a method has", o.Object)
			}
		}
	}
}

// claims reports whether a conclusion is, or has, a sentence of a kind.
func claims(v *answer.Verdict, kind string) bool {
	return v.Says == kind || slices.ContainsFunc(v.Args, func(a answer.Arg) bool { return a.Type == answer.ArgPhrase && a.Value == kind })
}

// ofThreads compares what threads do, by waits, crashinfo, the thread pool and conclusions about threads that run.
func (s *statements) ofThreads() {
	waiting := map[uint32]*answer.ThreadWait{}
	for i := range s.waits.Threads {
		waiting[s.waits.Threads[i].Thread.OSID] = &s.waits.Threads[i]
	}
	if s.crash != nil && s.crash.Waiting != nil {
		for i := range s.crash.Waiting.Threads {
			x := &s.crash.Waiting.Threads[i]
			if w := waiting[x.OSID]; w != nil && w.How == answer.HowRecorded {
				s.holds(x.Kind != answer.ActivityRunning && x.Kind != answer.ActivityIdle, "waits: thread %#x %s, crashinfo: it %s", x.OSID, w.Text, x.ThreadActivity.Text)
			}
		}
		s.holds(len(s.crash.Waiting.Deadlocks) == 0 || slices.ContainsFunc(s.waits.Verdicts, func(v answer.Verdict) bool {
			return v.Kind == answer.FindingDeadlock || v.Kind == answer.FindingCircle
		}), "crashinfo has a deadlock, waits has none")
	}
	if s.pool != nil {
		for i := range s.pool.Workers {
			x := &s.pool.Workers[i]
			if w := waiting[x.Thread.OSID]; w != nil {
				s.holds(!x.Idle, "waits: thread %#x %s, threadpool: it is idle", x.Thread.OSID, w.Text)
			}
		}
	}
	for i := range s.waits.Verdicts {
		v := &s.waits.Verdicts[i]
		if v.Kind != answer.FindingSpin {
			continue
		}
		for _, a := range v.Args {
			if w := waiting[a.OSID]; a.Type == answer.ArgThread && w != nil {
				s.holds(w.How != answer.HowRecorded, "waits: thread %#x runs without an end, and %s", a.OSID, w.Text)
			}
		}
	}
}

// ofTasks compares suspended operations with failed tasks and with the requests that the process serves.
func (s *statements) ofTasks() {
	failed := map[target.Addr]bool{}
	if s.tasks != nil {
		for i := range s.tasks.Faults {
			failed[s.tasks.Faults[i].Task] = true
		}
	}
	for i := range s.waits.Operations {
		o := &s.waits.Operations[i]
		for _, a := range o.First {
			s.holds(!failed[a], "waits: task %v waits, tasks: it has failed", a)
		}
		if o.Request != "" && s.requests != nil {
			s.holds(len(s.requests.Requests) > 0, "waits: code serves %s, requests: there is no request", o.Request)
		}
	}
	for i := range s.waits.Threads {
		s.holds(!failed[s.waits.Threads[i].Object], "waits: a thread waits for task %v, tasks: it has failed", s.waits.Threads[i].Object)
	}
}

// collection checks what is said of a heap that a collection was changing: no damage, and nothing that only a heap at rest proves.
func (s *statements) collection() {
	if s.triage != nil {
		for i := range s.triage.Findings {
			f := &s.triage.Findings[i]
			s.holds(f.Kind != answer.FindingHeap, "gc: a collection was changing the heap, triage: %s", f.Text)
			for k := range f.Clauses {
				c := &f.Clauses[k]
				s.holds(!slices.Contains(c.Rests, answer.NoCollection) || answer.CompareStrength(c.Strength, answer.StrengthLikely) >= 0, "gc: a collection was changing the heap, triage: %s [%s]", c.Text, c.Strength)
			}
		}
	}
}

// TestContradictions checks that no two answers about one process exclude each other.
func TestContradictions(t *testing.T) {
	looked, compared := 0, 0
	look := func(t *testing.T, v *sosgo.View) {
		t.Helper()
		s := statements{}
		s.read(t, v.Process)
		s.compare()
		assert.Empty(t, s.found)
		looked, compared = looked+1, compared+s.compared
	}
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		look(t, v)
	})
	if _, err := os.Stat("testdata/dumps"); err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	planted, err := filepath.Glob("testdata/dumps/*/*/*.dmp.zst")
	require.NoError(t, err)
	require.NotEmpty(t, planted)
	for _, path := range planted {
		t.Run(filepath.Base(path), func(t *testing.T) {
			d, err := sosgo.Open(path, sosgo.Options{Offline: true})
			require.NoError(t, err)
			defer d.Close()
			v, err := d.View("")
			if err != nil {
				t.Skip("without a runtime of its own there is nothing to join: ", err)
			}
			look(t, v)
		})
	}
	t.Logf("%d comparisons in %d processes", compared, looked)
	assert.Greater(t, compared, 10*looked)
}

// TestContradictionsAreFound checks that each comparison finds a contradiction, and none in what agrees.
func TestContradictionsAreFound(t *testing.T) {
	thread := answer.Thread{OSID: 7}
	starved := answer.Conclude(answer.FindingStarved, words.Text("starved"), answer.StrengthLikely)
	weaker := starved
	weaker.Strength = answer.StrengthPossible
	finalizes := answer.Conclude(answer.FindingFinalizers, words.Text("the finalizer thread waits"), answer.StrengthRecorded)
	nobody := answer.Conclude(answer.FindingPermits, words.OperationsWait.Of(words.N(1), words.Text("x"), answer.Statement{}).Plus(words.NobodyEntered.Of()), answer.StrengthLikely)
	nobody.Says, nobody.Show = words.NobodyEntered.Kind(), []string{"dumpobj 0000000000000010"}
	dead := answer.Conclude(answer.FindingDeadlock, words.Text("deadlock"), answer.StrengthProved)
	spin := answer.Conclude(answer.FindingSpin, words.AThread.Of(words.Thread(thread)), answer.StrengthLikely)
	waits := func(x answer.ThreadWait) *answer.Waits { return &answer.Waits{Threads: []answer.ThreadWait{x}} }
	held := func(owner *answer.Thread) *answer.Locks {
		return &answer.Locks{Locks: []answer.Lock{{Address: 0x10, Kind: answer.LockMonitor, Held: owner != nil, Owner: owner, State: "0 may enter"}}}
	}
	recorded := answer.ThreadWait{Thread: thread, Kind: answer.LockMonitor, Object: 0x10, How: answer.HowRecorded}
	owned := recorded
	owned.Owner = &answer.Thread{OSID: 8}
	running := answer.WaitingThread{Thread: thread, ThreadActivity: answer.ThreadActivity{Kind: answer.ActivityRunning}}
	rests := dead
	rests.Rests = []answer.Premise{answer.NoCollection}
	held50 := &answer.Leaks{Live: answer.HeapPart{Size: 10}, Suspects: []answer.Suspect{{Point: &answer.PathObject{Address: 0x50}, Retained: 5, Kept: words.Text("kept by static A.b"),
		Path: &answer.RootPath{Root: answer.GCRoot{Kind: answer.RootStatic, Name: "static A.b"}}}}}
	for name, s := range map[string]statements{
		"quiet":           {triage: &answer.Triage{Quiet: []string{"failed tasks"}}, tasks: &answer.Tasks{Faults: []answer.FaultedTask{{Task: 0x20}}}},
		"dropped":         {triage: &answer.Triage{}, pool: &answer.ThreadPool{Verdicts: []answer.Verdict{starved}}},
		"weakened":        {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingStarved, Clauses: []answer.Verdict{weaker}}}}, pool: &answer.ThreadPool{Verdicts: []answer.Verdict{starved}}},
		"no finalizer":    {triage: &answer.Triage{}, crash: &answer.Crash{Alive: true, Verdicts: []answer.Verdict{finalizes}}},
		"no host":         {triage: &answer.Triage{}, hosts: &answer.Hosts{Verdicts: []answer.Verdict{dead}}},
		"no initializer":  {triage: &answer.Triage{}, inits: &answer.Initializers{Verdicts: []answer.Verdict{dead}}},
		"no Redis":        {triage: &answer.Triage{}, redis: &answer.Redis{Verdicts: []answer.Verdict{dead}}},
		"no clients":      {triage: &answer.Triage{}, clients: &answer.HTTPClients{Verdicts: []answer.Verdict{dead}}},
		"no memory":       {triage: &answer.Triage{}, oom: &answer.OutOfMemory{Failures: []answer.FailedAllocation{{}}}},
		"no failure":      {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingMemory}}}, oom: &answer.OutOfMemory{}},
		"no connection":   {triage: &answer.Triage{}, pools: &answer.SQLPools{Pools: []answer.SQLPool{{Address: 0x30, Waiting: answer.Known[int64](2), Idle: answer.Known[int64](0)}}}},
		"finalizers":      {queue: &answer.Finalizers{}, leaks: &answer.Leaks{Finalizers: answer.Finalization{Ready: 1}}},
		"timers":          {timers: &answer.Timers{Timers: []answer.Timer{{Running: 7}}}, pool: &answer.ThreadPool{Total: answer.Known[int64](2)}},
		"block is free":   {blocks: map[target.Addr]answer.SyncBlock{0x10: {Object: 0x10}}, locks: held(&thread)},
		"other owner":     {blocks: map[target.Addr]answer.SyncBlock{0x10: {Object: 0x10, Held: true, OSID: 9}}, locks: held(&thread)},
		"crash":           {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingCrash}}}, crash: &answer.Crash{Alive: true}},
		"heap":            {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingHeap}}}, soundness: &answer.Soundness{}},
		"share":           {triage: &answer.Triage{}, leaks: &answer.Leaks{Suspects: []answer.Suspect{{Share: 120}}}},
		"shares":          {triage: &answer.Triage{}, leaks: &answer.Leaks{Suspects: []answer.Suspect{{Share: 60}, {Share: 50}}}},
		"root":            {triage: &answer.Triage{}, leaks: held50, roots: map[target.Addr]*answer.RootPaths{0x50: {}}},
		"retained":        {triage: &answer.Triage{}, leaks: held50, owned: map[target.Addr]*answer.Dominators{0x50: {Object: &answer.Owned{Retained: 6}}}},
		"unlisted":        {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingHolder, Object: 0x60}}}, leaks: held50},
		"no sum":          {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingHolder}}}, leaks: held50},
		"kept otherwise":  {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingHolder, Object: 0x50}}}, leaks: held50},
		"small heap":      {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingHolder}}}, leaks: &answer.Leaks{Small: true, Suspects: []answer.Suspect{{}}}},
		"free":            {waits: waits(owned), locks: held(nil)},
		"own lock":        {waits: waits(recorded), locks: held(&thread)},
		"state":           {waits: &answer.Waits{Operations: []answer.OperationWait{{Object: 0x10, State: "1 may enter"}}}, locks: held(nil)},
		"nobody":          {waits: &answer.Waits{Verdicts: []answer.Verdict{nobody}}, locks: held(&thread)},
		"nobody entered":  {waits: &answer.Waits{Verdicts: []answer.Verdict{nobody}, Operations: []answer.OperationWait{{Object: 0x10, State: "0 may enter", Holders: []answer.OperationHolder{{}}}}}, locks: held(nil)},
		"running":         {waits: waits(recorded), crash: &answer.Crash{Waiting: &answer.Waiting{Threads: []answer.WaitingThread{running}}}},
		"deadlock":        {waits: &answer.Waits{}, crash: &answer.Crash{Waiting: &answer.Waiting{Deadlocks: [][]answer.Thread{{thread}}}}},
		"idle worker":     {waits: waits(recorded), pool: &answer.ThreadPool{Workers: []answer.PoolWorker{{Thread: thread, Idle: true}}}},
		"runs and waits":  {waits: &answer.Waits{Threads: []answer.ThreadWait{recorded}, Verdicts: []answer.Verdict{spin}}},
		"failed":          {waits: &answer.Waits{Operations: []answer.OperationWait{{First: []target.Addr{0x20}}}}, tasks: &answer.Tasks{Faults: []answer.FaultedTask{{Task: 0x20}}}},
		"waits for it":    {waits: waits(answer.ThreadWait{Object: 0x20}), tasks: &answer.Tasks{Faults: []answer.FaultedTask{{Task: 0x20}}}},
		"no request":      {waits: &answer.Waits{Operations: []answer.OperationWait{{Request: "GET /"}}}, requests: &answer.Requests{}},
		"damage":          {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingHeap}}}, collecting: true},
		"proved, and not": {triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingDeadlock, Clauses: []answer.Verdict{rests}}}}, collecting: true},
	} {
		s.compare()
		assert.Len(t, s.found, 1, name)
	}
	agree := statements{triage: &answer.Triage{Findings: []answer.Finding{{Kind: answer.FindingDeadlock, Clauses: []answer.Verdict{dead}}}}, waits: &answer.Waits{Threads: []answer.ThreadWait{owned}, Verdicts: []answer.Verdict{dead}}, locks: held(owned.Owner), crash: &answer.Crash{Alive: true}, leaks: &answer.Leaks{Live: answer.HeapPart{Size: 10}}}
	agree.compare()
	assert.Empty(t, agree.found)
	assert.Positive(t, agree.compared)
}
