package locks

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/target"
)

// TestCallsOfServers: a semaphore passes on while the server of all that have entered it answers. An age is a least one, so a timer that has not fired must limit what the time
// of the dump may be: without that nothing is known.
func TestCallsOfServers(t *testing.T) {
	ask := func(waiting int, due []int64, starved bool, ages ...int64) pace {
		pool, u := answer.HTTPPool{}, &semaphoreUse{gives: true}
		s := &survey{gaps: &answer.Gaps{}, suspension: suspension{standing: map[target.Addr]*operation{}}}
		for i, age := range ages {
			a := target.Addr(i + 1)
			w := answer.HTTPWait{Age: answer.Known(age), Stack: &answer.AsyncWork{Frames: []answer.AsyncFrame{{Object: a + 100}, {Object: a}}}}
			if age < 0 {
				w.Age = answer.Of[int64](0, target.ErrNotInDump)
			}
			pool.Running = append(pool.Running, w)
			u.holders = append(u.holders, holder{box: a, strength: answer.StrengthLikely})
			s.standing[a] = &operation{box: a, thing: &thing{cause: tasks.CauseStream}}
		}
		timers := &answer.Timers{}
		for _, ms := range due {
			timers.Timers = append(timers.Timers, answer.Timer{DueIn: answer.Known(ms)})
		}
		s.readCalls = func() map[target.Addr]time.Duration {
			return callAges(&answer.HTTPClients{Pools: []answer.HTTPPool{pool}})
		}
		s.pool = &answer.ThreadPool{}
		if starved {
			s.pool.Verdicts = []answer.Verdict{{Kind: answer.FindingStarved}}
		}
		s.taken = momentOf(timers, s.pool)
		g := newGrapher(s)
		g.nodes()
		return g.course().turns(&lock{most: math.MaxInt32}, u, waiting, crowdAsync)
	}
	second := time.Second.Milliseconds()
	soon := []int64{60 * second, second}
	const moves, asks, neither = "moves", "asks", ""
	for name, c := range map[string]struct {
		p    pace
		want string
	}{
		"short calls":               {ask(17, soon, false, 20, 0, 24), moves},
		"a timer is somewhat late":  {ask(17, []int64{-3}, false, 20), moves},
		"an age is not known":       {ask(17, soon, false, 20, -1), asks},
		"no timer limits the time":  {ask(17, nil, false, 20), asks},
		"the pool fires no timers":  {ask(17, soon, true, 20), asks},
		"a call is old":             {ask(17, soon, false, 20, 8*second), neither},
		"a call is old in any case": {ask(17, nil, true, 8*second), neither},
		"it may be old":             {ask(17, []int64{13 * second}, false, 20), asks},
		"many wait for long calls":  {ask(17, soon, false, 2*second), neither},
		"too many wait for few":     {ask(600, soon, false, 20), neither},
	} {
		assert.Equal(t, c.want == moves, c.p.moves, name)
		assert.Equal(t, c.want == asks, c.p.asks, name)
	}
}

// TestLockAge: an age is a least one where no timer limits the time of the dump, and a Lock, which keeps 16 bits of the time, has none then. A collection explains each.
func TestLockAge(t *testing.T) {
	at := func(bits int, since uint32, known, same, paused bool) lockAge {
		s := &survey{}
		s.taken = &moment{now: ticks.Moment{Ticks: answer.Known[int64](100_000), Same: same}, late: 200 * time.Millisecond, known: known}
		s.paused = paused
		l := &lock{since: dac.TickStamp{Low: since, Bits: bits}}
		l.Waiters = answer.Known[int64](3)
		return s.waited(l)
	}
	const second = time.Second
	assert.Equal(t, lockAge{7 * second, 7*second + 200*time.Millisecond, true}, at(32, 93_000, true, true, false))
	assert.Equal(t, lockAge{7 * second, 0, true}, at(32, 93_000, false, true, false))
	assert.Equal(t, lockAge{7 * second, 0, true}, at(32, 93_000, true, false, false))
	assert.Equal(t, lockAge{7 * second, 7*second + 200*time.Millisecond, true}, at(16, 93_000%65_536, true, true, false))
	assert.Equal(t, lockAge{0, 200 * time.Millisecond, true}, at(32, 100_100, true, true, false))
	assert.Zero(t, at(16, 93_000%65_536, false, true, false))
	assert.Zero(t, at(16, 93_000%65_536, true, false, false))
	assert.Zero(t, at(32, 93_000, true, true, true))
	assert.Zero(t, at(32, 0, true, true, false))
}
