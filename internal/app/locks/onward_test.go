package locks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestCourse judges a semaphore with holders that wait for others: chains that end in what goes on, in what does not, and in themselves.
func TestCourse(t *testing.T) {
	const stuck, goesOn = target.Addr(0x100), target.Addr(0x200)
	semaphore := func(a target.Addr) *lock {
		return &lock{Lock: answer.Lock{Kind: answer.LockSemaphore, Address: a}, most: 2}
	}
	for _, c := range []struct {
		why   string
		chain [][]target.Addr // by semaphore: its two holders, each at another semaphore by its index, stuck or goesOn
		want  bool
	}{
		{"both go on", [][]target.Addr{{goesOn, goesOn}}, true},
		{"one waits for ever", [][]target.Addr{{goesOn, stuck}}, false},
		{"one waits for what passes on", [][]target.Addr{{goesOn, 1}, {goesOn, goesOn}}, true},
		{"both wait for what passes on", [][]target.Addr{{1, 1}, {goesOn, goesOn}}, true},
		{"two ways to what passes on", [][]target.Addr{{1, 2}, {goesOn, 3}, {3, goesOn}, {goesOn, goesOn}}, true},
		{"the chain ends at what waits for ever", [][]target.Addr{{goesOn, 1}, {goesOn, 2}, {goesOn, stuck}}, false},
		{"a circle", [][]target.Addr{{1, 1}, {0, 0}}, false},
		{"one of two ways leads back", [][]target.Addr{{1, goesOn}, {0, goesOn}}, false},
		{"a permit may be lost", [][]target.Addr{{goesOn, 1}, {goesOn}}, false},
	} {
		s := &survey{gaps: &answer.Gaps{}, suspension: suspension{uses: map[*lock]*semaphoreUse{}, standing: map[target.Addr]*operation{}}}
		var list []*lock
		for i := range c.chain {
			list = append(list, semaphore(target.Addr(0x10+i)))
		}
		for i, holders := range c.chain {
			u := &semaphoreUse{gives: true}
			s.uses[list[i]] = u
			for k, at := range holders {
				box := target.Addr(0x1000*(i+1) + k)
				u.holders = append(u.holders, holder{box: box, strength: answer.StrengthLikely})
				if at == goesOn {
					continue // it stands nowhere: what it awaits has completed
				}
				op := &operation{box: box, thing: &thing{cause: tasks.CausePromise}}
				if at != stuck {
					op.thing = &thing{cause: tasks.CauseSemaphore, lock: list[at]}
				}
				s.ops, s.standing[box] = append(s.ops, op), op
			}
		}
		g := newGrapher(s)
		g.nodes()
		way := g.course()
		way.polls = func([]holder) bool { return false } // these holders have no code
		assert.Equal(t, c.want, way.permit(&wait{lock: list[0]}).moves, c.why)
		way = g.course()
		way.polls = func(list []holder) bool { return len(list) > 0 }
		assert.False(t, way.permit(&wait{lock: list[0]}).moves, "its holders poll")
	}
}

// TestCourseOfSignals judges a semaphore that only others release, as a timer does, by whether they still can.
func TestCourseOfSignals(t *testing.T) {
	for _, c := range []struct {
		why            string
		use            semaphoreUse
		released, want bool
	}{
		{"a timer releases it", semaphoreUse{}, true, true},
		{"nobody does", semaphoreUse{}, false, false},
		{"those who wait release it: its permit is lost", semaphoreUse{gives: true}, true, false},
		{"they may release it", semaphoreUse{blindWaiters: true}, true, false},
		{"a thread may have entered it", semaphoreUse{inside: []user{{}}}, true, false},
	} {
		l := &lock{Lock: answer.Lock{Kind: answer.LockSemaphore, Address: 0x10}, most: math.MaxInt32}
		g := newGrapher(&survey{gaps: &answer.Gaps{}, suspension: suspension{uses: map[*lock]*semaphoreUse{l: &c.use}}})
		g.nodes()
		way := g.course()
		way.polls = func([]holder) bool { return false }
		way.enders = func(is signal) enderList { return enderList{called: c.released && is.kind == answer.LockSemaphore} }
		assert.Equal(t, c.want, way.permit(&wait{lock: l}).moves, c.why)
	}
}

// TestJoinGoesOn follows threads that wait for each other's ends, to what does not go on.
func TestJoinGoesOn(t *testing.T) {
	list, threads := make([]stackwalk.Thread, 5), make([]*stackwalk.Thread, 4)
	for i := range threads {
		threads[i] = &list[i]
		threads[i].OS = &target.Thread{ID: uint32(i + 1)}
	}
	join := func(from, to int) *wait {
		return &wait{thread: threads[from], join: true, runners: []*stackwalk.Thread{threads[to]}, timeout: -1}
	}
	ended := &list[4]
	held := &lock{Lock: answer.Lock{Kind: answer.LockMonitor, Held: true}}
	free := &lock{Lock: answer.Lock{Kind: answer.LockMonitor}}
	lazy := &lock{Lock: answer.Lock{Kind: answer.LockLazy, Held: true, Address: 0x10}}
	barrier := &lock{Lock: answer.Lock{Kind: answer.LockBarrier, Address: 0x20}}
	needs := func(from, to int) *wait {
		return &wait{thread: threads[from], lock: lazy, runners: []*stackwalk.Thread{threads[to]}, timeout: -1}
	}
	for _, c := range []struct {
		why   string
		waits []*wait
		late  []*stackwalk.Thread // are to arrive at the barrier
		want  bool
	}{
		{"the last waits for a lock", []*wait{join(0, 1), join(1, 2), {thread: threads[2], lock: held}}, nil, false},
		{"a circle", []*wait{join(0, 1), join(1, 2), join(2, 1)}, nil, false},
		{"the last has ended", []*wait{{thread: threads[0], join: true, runners: []*stackwalk.Thread{ended}}}, nil, false},
		{"nobody is known", []*wait{{thread: threads[0], join: true}}, nil, false},
		{"no join", []*wait{{thread: threads[0], lock: held}}, nil, false},
		{"the value of a Lazy is being made", []*wait{join(0, 1), needs(1, 2), {thread: threads[2], lock: free}}, nil, true},
		{"the thread that makes it is stuck", []*wait{join(0, 1), needs(1, 2), {thread: threads[2], lock: held}}, nil, false},
		{"nobody arrives", []*wait{join(0, 1), {thread: threads[1], lock: barrier}}, nil, false},
		{"who is to arrive has ended", []*wait{join(0, 1), {thread: threads[1], lock: barrier}}, []*stackwalk.Thread{ended}, false},
		{"who is to arrive waits for a lock", []*wait{join(0, 1), {thread: threads[1], lock: barrier}, {thread: threads[2], lock: held}}, threads[2:3], false},
	} {
		r := &reach.Callers{Threads: map[*stackwalk.Thread]bool{}}
		for _, at := range c.late {
			r.Threads[at] = true
		}
		s := &survey{gaps: &answer.Gaps{}, blockedThreads: blockedThreads{waits: c.waits}, signaling: map[signal]*reach.Callers{{answer.LockBarrier, barrier.Address}: r}, r: &Reader{threads: list}}
		g := newGrapher(s)
		g.nodes()
		assert.Equal(t, c.want, g.joinGoesOn(c.waits[0]), c.why)
	}
}

// TestPastKernelWait lists calls before and after the place of a frame.
func TestPastKernelWait(t *testing.T) {
	const semaphore, other = target.Addr(0x10), target.Addr(0x20)
	wait := func(a target.Addr) tasks.Call { return tasks.Call{Method: "WaitHandle.WaitOne", Object: a, Offset: 5} }
	release := func(a target.Addr) tasks.Call { return tasks.Call{Method: "Semaphore.Release", Object: a} }
	for _, c := range []struct {
		why           string
		before, later []tasks.Call
		want          bool
	}{
		{"inside", []tasks.Call{wait(semaphore)}, []tasks.Call{release(semaphore)}, true},
		{"it has not entered", nil, []tasks.Call{wait(semaphore), release(semaphore)}, false},
		{"it has left", []tasks.Call{wait(semaphore), release(semaphore)}, []tasks.Call{release(semaphore)}, false},
		{"it never leaves", []tasks.Call{wait(semaphore)}, nil, false},
		{"another one", []tasks.Call{wait(other)}, []tasks.Call{release(other)}, false},
		{"it leaves another one", []tasks.Call{wait(semaphore)}, []tasks.Call{release(other)}, false},
		{"unknown", []tasks.Call{wait(0)}, []tasks.Call{release(0)}, false},
	} {
		got := pastKernelWait(&tasks.Around{Before: c.before, Later: c.later}, semaphore)
		assert.Equal(t, c.want, got != nil, c.why)
	}
}
