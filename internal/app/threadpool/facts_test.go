package threadpool_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

func reader(t testing.TB, d interface {
	View(string) (*sosgo.View, error)
}) *threadpool.Reader {
	v, err := d.View("")
	require.NoError(t, err)
	r, err := threadpool.Of(v.Process)
	require.NoError(t, err)
	return r
}

// poolFacts is what the program "web" printed about its pool.
type poolFacts struct {
	Workers, MinThreads, MaxThreads          int64
	BlockedInRequests, BlockedInPoolWorkWork int
	Global                                   []string
	Local                                    [][]string
	PendingWorkItemCount                     uint64
}

// TestWebPool compares a web server's starved pool with what the program printed: counters, the items of each queue
// with their arguments, and the owners of local queues.
func TestWebPool(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		var want poolFacts
		require.NoError(t, json.Unmarshal(d.Case.Manifest.Facts["threadpool"], &want))
		r := reader(t, d)
		p, err := r.Describe(context.Background(), threadpool.Options{Items: true, Log: true})
		require.NoError(t, err)
		assert.Empty(t, p.Noted())
		assert.Equal(t, answer.PoolPortable, p.Kind)
		assert.Equal(t, want.Workers, p.Total.Value)
		assert.Equal(t, want.MinThreads, p.Min.Value)
		assert.Equal(t, want.MaxThreads, p.Max.Value)
		assert.Equal(t, want.Workers, int64(len(p.Workers)), "threads")
		assert.GreaterOrEqual(t, p.Queued.Value, want.PendingWorkItemCount)
		blocked := 0
		for _, w := range p.Workers {
			if w.Waits && strings.Contains(w.Activity.Caller.S, "PoolWork.Worker") {
				blocked++
			}
		}
		assert.Equal(t, int(want.Workers)-want.BlockedInRequests, blocked)
		require.Len(t, p.Verdicts, 1)
		assert.Contains(t, p.Verdicts[0].Text, "starved")
		assert.Equal(t, answer.StrengthLikely, p.Verdicts[0].Strength)
		assert.NotEmpty(t, p.HillClimbing)
		return webQueues(t, &want, p.Queues)
	})
}

// webQueues compares the items with those that the program queued.
func webQueues(t *testing.T, want *poolFacts, q *answer.WorkQueues) int {
	compared := 0
	var local [][]string
	for _, queue := range q.Queues {
		var got []string
		for i := range queue.Items {
			got = append(got, describe(&queue.Items[i]))
		}
		switch {
		case queue.Kind == answer.QueueGlobal:
			for _, item := range want.Global {
				assert.Contains(t, got, item)
				compared++
			}
		case queue.Kind == answer.QueueLocal && queue.Count > 0:
			assert.NotNil(t, queue.Owner, "whose queue it is")
			local = append(local, got)
		}
	}
	assert.ElementsMatch(t, want.Local, local)
	return compared + len(local)
}

// describe formats an item as the manifest does.
func describe(i *answer.WorkItem) string {
	method := strings.TrimPrefix(i.Method.S, "WebDebuggee.")
	var state []string
	for _, p := range i.State {
		if p.Quoted {
			state = append(state, p.Text)
		}
	}
	text := strings.TrimSpace(method + " " + strings.Join(state, " "))
	switch {
	case i.Kind == answer.ItemOther:
		return strings.TrimPrefix(i.Type.S, "WebDebuggee.") + " " + strings.NewReplacer("Picture = ", "", ", Width =", "", `"`, "").Replace(i.State.String())
	case i.Type.S == "System.Threading.Tasks.Task<System.Int32>" && !i.Continuation.IsZero():
		return "Task<int> " + text + " (PoolWork.Index, continuation " + strings.TrimPrefix(i.Continuation.S, "WebDebuggee.") + ")"
	case i.Type.S == "System.Threading.Tasks.Task<System.Int32>":
		return "Task<int> " + text
	case i.Kind == answer.ItemTask:
		return "Task " + text
	}
	return text
}

// timerFact is a timer that the program "web" printed.
type timerFact struct {
	Field, Kind, Callback, State string
	DueMs, PeriodMs              int64
}

// TestWebTimers finds each printed timer with its times, callback and argument, and no stopped timer.
func TestWebTimers(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		var want []timerFact
		require.NoError(t, json.Unmarshal(d.Case.Manifest.Facts["timers"], &want))
		got, err := reader(t, d).Timers(context.Background())
		require.NoError(t, err)
		assert.Empty(t, got.Noted())
		for _, w := range want {
			found := 0
			for i := range got.Timers {
				if isTimer(&got.Timers[i], &w) {
					found++
				}
			}
			if w.DueMs < 0 {
				assert.Zero(t, found, "%+v was stopped", w)
			} else {
				assert.Equal(t, 1, found, "%+v", w)
			}
		}
		return len(want)
	})
}

func isTimer(g *answer.Timer, w *timerFact) bool {
	period := int64(-1)
	if g.Period != nil {
		period = int64(*g.Period)
	}
	if w.DueMs >= 0 && (int64(g.Due) != w.DueMs || period != w.PeriodMs) || !strings.HasSuffix(w.Kind, string(g.Kind)) {
		return false
	}
	method := strings.TrimPrefix(g.Method.S, "WebDebuggee.")
	awaits, awaited := strings.CutPrefix(w.Callback, "awaited by ")
	switch {
	case g.Kind == answer.TimerCancellation:
		for _, c := range g.Cancels.Callbacks {
			if strings.HasSuffix(c.Method.S, w.Callback) && len(c.Text) == 1 && c.Text[0].Text == strings.Trim(w.State, `"`) {
				return true
			}
		}
		return false
	case awaited:
		return strings.HasSuffix(g.Awaits.S, "."+awaits)
	case g.Kind == answer.TimerComponent:
		return true
	}
	return method == w.Callback && len(g.StateLine) == 1 && g.StateLine[0].Text == w.State
}

// TestAsyncPool finds the items that the program "async" queued behind its two workers, and its timers.
func TestAsyncPool(t *testing.T) {
	testdump.Both(t, "net10-async", testcase.Named("net10-async-*"), func(t *testing.T, d *testdump.Dump) int {
		r := reader(t, d)
		p, err := r.Describe(context.Background(), threadpool.Options{Items: true})
		require.NoError(t, err)
		assert.EqualValues(t, 2, p.Max.Value)
		require.NotEmpty(t, p.Queues.Queues)
		counts := map[string]int{}
		for _, q := range p.Queues.Queues {
			for _, i := range q.Items {
				counts[string(i.Kind)+" "+i.Method.S]++
			}
		}
		assert.Equal(t, map[string]int{"callback Debuggee.AsyncWork.Scenario.Queued": 18,
			"task Debuggee.AsyncWork.Scenario+<>c__DisplayClass6_0.<Run>b__1": 5}, counts)
		timers, err := r.Timers(context.Background())
		require.NoError(t, err)
		return len(counts) + len(timers.Timers)
	})
}

// TestZooTimer finds the timer of the program "zoo" on all runtimes and systems, without a corpus.
func TestZooTimer(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo", "net9-zoo", "net10-zoo", "net10-zoo-servergc", "win-net6-zoo", "win-net8-zoo", "win-net10-zoo"} {
		t.Run(name, func(t *testing.T) {
			got, err := reader(t, testdump.Open(t, name)).Timers(context.Background())
			require.NoError(t, err)
			require.Len(t, got.Timers, 1)
			timer := got.Timers[0]
			assert.Equal(t, answer.TimerPlain, timer.Kind)
			assert.EqualValues(t, 100000, timer.Due)
			require.NotNil(t, timer.Period)
			assert.EqualValues(t, 100000, *timer.Period)
			assert.Equal(t, "Debuggee.Zoo.Scenario+<>c.<Run>b__1_0", timer.Method.S)
			assert.Equal(t, `"timer state"`, timer.StateLine.String())
			assert.LessOrEqual(t, timer.DueIn.Value, int64(100000))
		})
	}
}

// TestStacksPool checks the counters of a pool on all runtimes and systems: the program parks one worker, one waits for
// an item.
func TestStacksPool(t *testing.T) {
	testdump.Both(t, "net10-stacks", testcase.Named("*-stacks-withheap", "*-stacks-full"), func(t *testing.T, d *testdump.Dump) int {
		p, err := reader(t, d).Describe(context.Background(), threadpool.Options{})
		require.NoError(t, err)
		assert.EqualValues(t, 3, p.Total.Value)
		assert.EqualValues(t, 2, p.Running.Value)
		assert.EqualValues(t, 2, p.Min.Value)
		assert.EqualValues(t, 32767, p.Max.Value)
		require.Len(t, p.Verdicts, 1)
		assert.Equal(t, "no work waits for a worker", p.Verdicts[0].Text)
		return 1
	})
}

// TestPartialPool checks that missing parts are never reported as empty.
func TestPartialPool(t *testing.T) {
	r := reader(t, testdump.Open(t, "net10-crash-null-triage"))
	p, err := r.Describe(context.Background(), threadpool.Options{})
	require.NoError(t, err)
	assert.ErrorIs(t, p.Total.Err(), target.ErrNotInDump)
	assert.ErrorIs(t, p.Queued.Err(), target.ErrNotInDump)
	require.Len(t, p.Verdicts, 1)
	assert.Equal(t, answer.StrengthUnknown, p.Verdicts[0].Strength)
	timers, err := r.Timers(context.Background())
	require.NoError(t, err)
	assert.ErrorIs(t, timers.Lost, target.ErrNotInDump)
	queues, err := r.Queues(context.Background())
	require.NoError(t, err)
	assert.ErrorIs(t, queues.Lost, target.ErrNotInDump)
	p, err = reader(t, testdump.Open(t, "win-net6-zoo")).Describe(context.Background(), threadpool.Options{})
	require.NoError(t, err)
	assert.Equal(t, answer.PoolUnknown, p.Kind, "neither the pool of the library nor the variables of the runtime's are there")
}

// TestPoolOfMiniDump checks that a runtime before .NET 6 has a native pool even if the dump has no type names of the
// class library.
func TestPoolOfMiniDump(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.WriteFile(file, testcase.Foreign(t, "clrmd__arrays_wks_mini.coredump"), 0o600))
	d, err := sosgo.Open(file, sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	p, err := reader(t, d).Describe(context.Background(), threadpool.Options{})
	require.NoError(t, err)
	assert.Equal(t, answer.PoolNative, p.Kind)
	assert.NoError(t, p.Total.Err())
	assert.ErrorIs(t, p.Queued.Err(), target.ErrNotInDump)
}
