package threadpool_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// TestVerdict checks that a pool is starved only if work waits, no worker is free and the workers are blocked.
func TestVerdict(t *testing.T) {
	known := answer.Known[int64]
	pool := func(queued uint64, total, running int64, waiting ...bool) *answer.ThreadPool {
		p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known(queued), Total: known(total), Running: known(running),
			Max: known(100), Dequeued: known(5), Clock: known(1005)}
		for i, w := range waiting {
			p.Workers = append(p.Workers, answer.PoolWorker{Thread: answer.Thread{Index: &i}, Waits: w})
		}
		return p
	}
	of := func(goal int64, idle int, p *answer.ThreadPool) *answer.ThreadPool { // with a target and parked workers
		p.Goal = known(goal)
		for range idle {
			p.Workers = append(p.Workers, answer.PoolWorker{Idle: true})
		}
		return p
	}
	moving := pool(5000, 3, 2, false, false)
	moving.Dequeued = known(1000)
	resting := of(2, 2, pool(1, 2, 2)) // the counters say that both work, the stacks that both rest
	stuck := pool(1, 3, 3, true, true, false)
	stuck.Dequeued = known(stuck.Clock.Value - 60_000)
	unreadable := pool(0, 2, 2)
	unreadable.Queued = answer.Missing[uint64](target.ErrCorrupt)
	uncounted := pool(3, 2, 2)
	uncounted.Total = answer.Missing[int64](target.ErrNotInDump)
	for _, c := range []struct {
		p        *answer.ThreadPool
		text     string
		strength answer.Strength
	}{
		{pool(0, 2, 2, true, true), "no work waits for a worker", answer.StrengthProved},
		{pool(3, 3, 2, true, true, true), "the pool keeps up: 3 items wait, and 1 worker is free", answer.StrengthLikely},
		{pool(5, 3, 1, true, true, true), "the pool may keep up: 5 items wait, and 2 workers are free", answer.StrengthPossible},
		{pool(468898, 7, 0), "work piles up: 468898 items wait, though 7 workers are free", answer.StrengthLikely},
		{pool(5, 2, 2, true, true), "the pool is starved: 5 items wait for a worker, and all 2 workers wait for something themselves", answer.StrengthLikely},
		{pool(4, 3, 3, true, true, false), "the pool is nearly starved: 4 items wait for a worker, and 2 of 3 workers wait for something themselves", answer.StrengthLikely},
		{pool(1, 3, 3, true, true, false), "the pool is busy: 1 item waits for a worker, and 1 of 3 workers run", answer.StrengthLikely},
		{stuck, "the pool is nearly starved: 1 item waits for a worker, and 2 of 3 workers wait for something themselves", answer.StrengthLikely},
		{resting, "the pool may keep up: 1 item waits, and 2 workers are free", answer.StrengthPossible},
		{pool(1, 3, 3, false, true, false), "the pool is busy: 1 item waits for a worker, and 2 of 3 workers run", answer.StrengthLikely},
		{pool(1501, 3, 3, false, true, false), "work piles up: 1501 items wait for a worker, and 2 of 3 workers run", answer.StrengthLikely},
		{pool(1500, 3, 3, false, true, false), "the pool is busy: 1500 items wait for a worker, and 2 of 3 workers run", answer.StrengthLikely},
		{pool(4, 3, 3), "4 items wait and no worker is free; what the workers do is not known", answer.StrengthUnknown},
		{of(2, 1, pool(59, 3, 2, true, true)), "the pool is starved: 59 items wait for a worker, and all 2 workers wait for something themselves", answer.StrengthLikely},
		{of(2, 1, pool(867, 3, 2, false, false)), "the pool is busy: 867 items wait for a worker, and 2 of 2 workers run", answer.StrengthLikely},
		{of(4, 1, pool(2, 3, 2, false, false)), "the pool keeps up: 2 items wait, and 1 worker is free", answer.StrengthLikely},
		{moving, "the pool may keep up: 5000 items wait, and 1 worker is free", answer.StrengthPossible},
		{unreadable, "whether work waits for a worker is not known", answer.StrengthUnknown},
		{uncounted, "3 items wait for a worker; whether one is free is not known", answer.StrengthUnknown},
	} {
		v := threadpool.Judge(c.p, &answer.WorkQueues{}, nil, nil)
		assert.Equal(t, c.text, v.Text)
		assert.Equal(t, c.strength, v.Strength, c.text)
		assert.NotEmpty(t, v.Evidence)
	}
	assert.Contains(t, threadpool.Judge(pool(5, 2, 2, true, true), &answer.WorkQueues{}, nil, nil).Evidence, "a worker last took an item 1 s before the newest time that the process noted")
}

// TestMomentsOfPools checks that a few items behind workers that use files for a moment are no finding, and that a pool that has not begun to grow is
// less surely starved.
func TestMomentsOfPools(t *testing.T) {
	file := answer.ThreadActivity{Kind: answer.ActivityFile, Text: "uses the file system"}
	console := answer.ThreadActivity{Kind: answer.ActivityConsole, Text: "waits for the console"}
	pipe := answer.ThreadActivity{Kind: answer.ActivityFile, Text: threads.WaitsForPipe}
	device := answer.ThreadActivity{Kind: answer.ActivityFile, Text: threads.UsesPipe + " (/run/scale)"}
	lock := answer.ThreadActivity{Kind: answer.ActivityLock, Text: "waits for a lock"}
	for _, c := range []struct {
		why       string
		queued    uint64
		goal, max int64
		since     int64 // a worker took an item, in ms
		does      []answer.ThreadActivity
		kind      answer.FindingKind
		strength  answer.Strength
		severity  answer.Severity
	}{
		{"files", 5, 2, 100, 0, []answer.ThreadActivity{file, file}, answer.NoFinding, answer.StrengthLikely, ""},
		{"a grown pool with files", 5, 3, 100, 0, []answer.ThreadActivity{file, file, file}, answer.NoFinding, answer.StrengthLikely, ""},
		{"the console", 5, 2, 100, 0, []answer.ThreadActivity{console, console}, answer.NoFinding, answer.StrengthLikely, ""},
		{"the console for long", 5, 2, 100, 1000, []answer.ThreadActivity{console, console}, answer.FindingStarved, answer.StrengthLikely, ""},
		{"files for long", 5, 2, 100, 1000, []answer.ThreadActivity{file, file}, answer.FindingStarved, answer.StrengthLikely, ""},
		{"files and many items", 201, 2, 100, 0, []answer.ThreadActivity{file, file}, answer.FindingStarved, answer.StrengthLikely, ""},
		{"pipes", 5, 3, 100, 0, []answer.ThreadActivity{pipe, pipe, pipe}, answer.FindingStarved, answer.StrengthLikely, ""},
		{"a device", 5, 3, 100, 0, []answer.ThreadActivity{device, device, file}, answer.FindingStarved, answer.StrengthLikely, ""},
		{"a lock", 5, 2, 100, 0, []answer.ThreadActivity{lock, lock}, answer.FindingStarved, answer.StrengthPossible, answer.SeverityWarning},
		{"half of them", 5, 2, 100, 0, []answer.ThreadActivity{lock, file}, answer.FindingStarved, answer.StrengthPossible, answer.SeverityWarning},
		{"many items", 21, 2, 100, 0, []answer.ThreadActivity{lock, lock}, answer.FindingStarved, answer.StrengthLikely, ""},
		{"the pool has grown", 5, 3, 100, 0, []answer.ThreadActivity{lock, lock, lock}, answer.FindingStarved, answer.StrengthLikely, ""},
		{"the pool can't grow", 5, 2, 2, 0, []answer.ThreadActivity{lock, lock}, answer.FindingStarved, answer.StrengthLikely, ""},
		{"no item taken for long", 5, 2, 100, 1000, []answer.ThreadActivity{lock, lock}, answer.FindingStarved, answer.StrengthLikely, ""},
	} {
		n := answer.Known(int64(len(c.does)))
		p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known(c.queued), Total: n, Running: n, Goal: answer.Known(c.goal), Min: answer.Known[int64](2),
			Max: answer.Known(c.max), Dequeued: answer.Known[int64](5), Clock: answer.Known(5 + c.since)}
		for i, a := range c.does {
			p.Workers = append(p.Workers, answer.PoolWorker{Thread: answer.Thread{Index: &i}, Activity: a, Waits: true})
		}
		v := threadpool.Judge(p, &answer.WorkQueues{}, nil, nil)
		assert.Equal(t, c.kind, v.Kind, c.why)
		assert.Equal(t, c.strength, v.Strength, c.why)
		assert.Equal(t, c.severity, v.Severity, c.why)
	}
}

// TestContention checks that workers which wait for a lock do not starve a pool while others take items. The same waits of a pool that takes no item do,
// and waits for other things.
func TestContention(t *testing.T) {
	verdict := func(does answer.ActivityKind, since int64) answer.Verdict {
		p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known(uint64(1704)), Total: answer.Known(int64(4)), Running: answer.Known(int64(4)),
			Goal: answer.Known[int64](4), Min: answer.Known[int64](2), Max: answer.Known[int64](100), Dequeued: answer.Known[int64](5), Clock: answer.Known(5 + since)}
		for i := range 4 {
			w := answer.PoolWorker{Thread: answer.Thread{Index: &i}, Waits: i < 2}
			if w.Waits {
				w.Activity.Kind = does
			}
			p.Workers = append(p.Workers, w)
		}
		return threadpool.Judge(p, &answer.WorkQueues{}, nil, nil)
	}
	v := verdict(answer.ActivityLock, 100)
	assert.Equal(t, answer.NoFinding, v.Kind, v.Text)
	assert.Equal(t, answer.FindingStarved, verdict(answer.ActivityLock, 1000).Kind)
	assert.Equal(t, answer.FindingStarved, verdict(answer.ActivityTask, 100).Kind)
}

// TestPauses checks that workers in short sleeps outside of loops do not starve a pool that takes items, if all items have their turn within a second. Long
// sleeps, sleeps of unknown length or in loops, many items, and a pool that takes no item are different.
func TestPauses(t *testing.T) {
	for _, c := range []struct {
		why    string
		length time.Duration
		known  bool
		queued uint64
		since  int64
		kind   answer.FindingKind
	}{
		{"short", 3 * time.Millisecond, true, 4, 5, answer.NoFinding},
		{"twenty turns", 50 * time.Millisecond, true, 80, 5, answer.NoFinding},
		{"too many turns", 50 * time.Millisecond, true, 84, 5, answer.FindingStarved},
		{"long", 60 * time.Second, true, 4, 5, answer.FindingStarved},
		{"unknown, or in a loop", 0, false, 4, 5, answer.FindingStarved},
		{"many items", time.Microsecond, true, 401, 5, answer.FindingStarved},
		{"no item taken", 3 * time.Millisecond, true, 4, 1000, answer.FindingStarved},
	} {
		p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known(c.queued), Total: answer.Known(int64(4)), Running: answer.Known(int64(4)),
			Goal: answer.Known[int64](4), Min: answer.Known[int64](2), Max: answer.Known[int64](100), Dequeued: answer.Known[int64](5), Clock: answer.Known(5 + c.since)}
		for i := range 4 {
			p.Workers = append(p.Workers, answer.PoolWorker{Thread: answer.Thread{Index: &i, OSID: uint32(i) + 7}, Waits: true, Activity: answer.ThreadActivity{Kind: answer.ActivitySleep}})
		}
		v := threadpool.Judge(p, &answer.WorkQueues{}, nil, func(thread uint32) (time.Duration, bool) {
			assert.GreaterOrEqual(t, thread, uint32(7))
			return c.length, c.known
		})
		assert.Equal(t, c.kind, v.Kind, c.why)
	}
}

// TestWhereWorkersStand checks the order of the evidence. In a starved pool, what blocks most workers follows the
// worker count. In a busy pool, the workers' activities come last.
func TestWhereWorkersStand(t *testing.T) {
	for _, c := range []struct {
		waiting int
		at      func(evidence []string) string
	}{
		{4, func(e []string) string { return e[1] }},
		{1, func(e []string) string { return e[len(e)-2] }},
	} {
		p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known(uint64(9)), Total: answer.Known(int64(5)), Running: answer.Known(int64(5)), Max: answer.Known(int64(5))}
		for i := range 5 {
			w := answer.PoolWorker{Thread: answer.Thread{Index: &i}, Waits: i < c.waiting}
			w.Activity.Text = "waits for an event"
			if i == 4 {
				w.Activity.Text = "runs"
			}
			p.Workers = append(p.Workers, w)
		}
		v := threadpool.Judge(p, &answer.WorkQueues{Queues: []answer.WorkQueue{{Items: make([]answer.WorkItem, 9)}}}, nil, nil)
		assert.Contains(t, c.at(v.Evidence), "4 workers: each waits for an event (threads 0, 1, 2, 3)")
	}
}

// TestFills checks that the verdict names most queued items by method, or else by type.
func TestFills(t *testing.T) {
	q := &answer.WorkQueues{Queues: make([]answer.WorkQueue, 2)}
	add := func(queue, n int, item answer.WorkItem) {
		for range n {
			q.Queues[queue].Items = append(q.Queues[queue].Items, item)
		}
	}
	add(0, 1, answer.WorkItem{Kind: answer.ItemOther, Type: answer.Text{S: "Contoso.Item"}})
	add(0, 2, answer.WorkItem{Kind: answer.ItemCallback, Method: answer.Text{S: "Contoso.B()"}})
	add(1, 2, answer.WorkItem{Kind: answer.ItemTask, Method: answer.Text{S: "Contoso.A()"}})
	add(0, 3, answer.WorkItem{Kind: answer.ItemTimer, Method: answer.Text{S: "Contoso.Tick()"}})
	add(1, 4, answer.WorkItem{Kind: answer.ItemTimer, Method: answer.Text{S: "Contoso.Tick()"}})
	p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known[uint64](12), Total: answer.Known[int64](2), Running: answer.Known[int64](2), Max: answer.Known[int64](2)}
	v := threadpool.Judge(p, q, nil, nil)
	assert.Equal(t, []string{"2 of 2 workers are busy", "the pool may have 2 workers at most: it can't make another", "7 of 12 queued items: Contoso.Tick() (of timers)",
		"2 of 12 queued items: Contoso.A()", "2 of 12 queued items: Contoso.B()", "the other queued items are of 1 other methods or types"}, v.Evidence)
}

// TestContendedLock: workers behind a lock that a running thread holds starve a pool less surely, whether the lock is a finding or not.
func TestContendedLock(t *testing.T) {
	for _, c := range []struct {
		kind     answer.FindingKind
		severity answer.Severity
		held     int
		want     answer.Severity
		strength answer.Strength
	}{
		{answer.NoFinding, "", 3, answer.SeverityWarning, answer.StrengthPossible},
		{answer.FindingHeld, answer.SeverityWarning, 4, answer.SeverityWarning, answer.StrengthPossible},
		{answer.FindingHeld, "", 4, "", answer.StrengthLikely}, // its holder does not run
		{answer.NoFinding, "", 2, "", answer.StrengthLikely},   // others wait for something else
	} {
		says := words.HeldLock.Of(words.Text("thread 1 holds"), words.Text("the lock"), words.Text("3 threads wait"), answer.Statement{}, answer.Statement{})
		lock := answer.Conclude(c.kind, says, answer.StrengthProved)
		lock.Severity = c.severity
		w := &answer.Waits{}
		for i := range c.held {
			id := uint32(100 + i)
			lock.Sites = append(lock.Sites, answer.Site{Thread: id})
			w.Threads = append(w.Threads, answer.ThreadWait{Thread: answer.Thread{OSID: id}})
		}
		w.Verdicts = []answer.Verdict{lock}
		v := threadpool.Judge(starvedBy(c.held, 4-c.held), &answer.WorkQueues{}, func() (*answer.Waits, error) { return w, nil }, nil)
		assert.Equal(t, answer.FindingStarved, v.Kind)
		assert.Equal(t, c.want, v.Severity, c)
		assert.Equal(t, c.strength, v.Strength, c)
		assert.Equal(t, c.strength == answer.StrengthPossible, slices.ContainsFunc(v.Facts, func(f answer.Statement) bool { return f.Says == words.WorkersGoOn.Kind() }))
	}
}

// starvedBy returns a pool with workers that wait for locks and for events, and many items.
func starvedBy(locks, events int) *answer.ThreadPool {
	n := answer.Known(int64(locks + events))
	p := &answer.ThreadPool{Kind: answer.PoolPortable, Queued: answer.Known[uint64](900), Total: n, Running: n, Max: answer.Known[int64](100)}
	for i := range locks + events {
		w := answer.PoolWorker{Thread: answer.Thread{Index: &i, OSID: uint32(100 + i)}, Waits: true, Activity: answer.ThreadActivity{Kind: answer.ActivityLock, Text: "waits for a lock"}}
		if i >= locks {
			w.Activity = answer.ThreadActivity{Kind: answer.ActivityEvent, Text: "waits for an event"}
		}
		p.Workers = append(p.Workers, w)
	}
	return p
}

// TestWorkersThatEnter: workers that are about to enter a lock do not wait. Those that a list of waits has do, and where a wait may be missing it is not
// known.
func TestWorkersThatEnter(t *testing.T) {
	unread := &answer.Waits{}
	unread.Note(target.ErrNotInDump)
	for why, c := range map[string]struct {
		enter, wait int // of four workers in methods that enter a lock: the ones in no list, and those in one
		events      int // workers that wait for an event
		soon        bool
		waits       *answer.Waits
		err         error
		kind        answer.FindingKind
		severity    answer.Severity
	}{
		"all enter":                   {4, 0, 0, false, &answer.Waits{}, nil, answer.NoFinding, ""},
		"one waits for an event":      {3, 0, 1, false, &answer.Waits{}, nil, answer.NoFinding, ""},
		"half wait for an event":      {2, 0, 2, false, &answer.Waits{}, nil, answer.FindingStarved, ""},
		"all wait":                    {0, 4, 0, false, &answer.Waits{}, nil, answer.FindingStarved, ""},
		"all are the next":            {0, 4, 0, true, &answer.Waits{}, nil, answer.FindingStarved, answer.SeverityWarning},
		"one enters, two are next":    {1, 2, 1, true, &answer.Waits{}, nil, answer.FindingStarved, answer.SeverityWarning},
		"not all waits could be read": {4, 0, 0, false, unread, nil, answer.FindingStarved, ""},
		"the waits could not be read": {4, 0, 0, false, nil, target.ErrNotInDump, answer.FindingStarved, ""},
	} {
		w := c.waits
		for i := c.enter; i < c.enter+c.wait; i++ {
			w.Threads = append(w.Threads, answer.ThreadWait{Thread: answer.Thread{OSID: uint32(100 + i)}, Kind: answer.LockMonitor, Soon: c.soon})
		}
		v := threadpool.Judge(starvedBy(c.enter+c.wait, c.events), &answer.WorkQueues{}, func() (*answer.Waits, error) { return w, c.err }, nil)
		assert.Equal(t, c.kind, v.Kind, why)
		assert.Equal(t, c.severity, v.Severity, why)
	}
}

// TestWaitsAreReadIfNeeded: the waits take long, and only a pool that looks starved is judged by them.
func TestWaitsAreReadIfNeeded(t *testing.T) {
	read := 0
	waits := func() (*answer.Waits, error) { read++; return &answer.Waits{}, nil }
	p := starvedBy(2, 2)
	threadpool.Judge(p, &answer.WorkQueues{}, waits, nil)
	assert.Equal(t, 1, read)
	p.Queued = answer.Known[uint64](0)
	threadpool.Judge(p, &answer.WorkQueues{}, waits, nil)
	assert.Equal(t, 1, read)
}
