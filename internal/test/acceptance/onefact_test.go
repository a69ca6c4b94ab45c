package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// identity holds what identifies a thread in every answer.
type identity struct {
	index int
	name  string
}

// named records the identities of threads in answers.
type named map[uint32]identity

func (n named) check(t *testing.T, where string, list ...answer.Thread) {
	for _, x := range list {
		if x.OSID == 0 || x.Index == nil {
			continue
		}
		is := identity{*x.Index, x.Name}
		if was, ok := n[x.OSID]; ok {
			assert.Equal(t, was, is, "thread %#x in %s", x.OSID, where)
		}
		n[x.OSID] = is
	}
}

// TestOneFact checks that answers about threads agree about each fact: the identity of a thread,
// what it waits for, the owner, deadlocks, and the frames of a stack.
func TestOneFact(t *testing.T) {
	compared := 0
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		ctx := t.Context()
		seen := named{}
		managed, err := stacks.ManagedThreads(ctx, v.Process, stacks.ManagedOptions{})
		if err == nil {
			for i := range managed.Threads {
				if x := &managed.Threads[i]; x.OSID != 0 {
					seen.check(t, "clrthreads", x.Thread)
				}
			}
		}
		waits, werr := locks.Waits(ctx, v.Process, locks.Options{})
		held, lerr := locks.Locks(ctx, v.Process, locks.Options{All: true})
		if werr == nil && lerr == nil {
			compared += locksAgree(t, seen, waits, held)
		}
		crash, err := crash.Describe(ctx, v.Process, crash.Options{})
		if err == nil && crash.Waiting != nil && werr == nil {
			compared += crashAgrees(t, seen, crash, waits)
		}
		if pool, err := locks.ThreadPool(ctx, v.Process, threadpool.Options{}); err == nil {
			for i := range pool.Workers {
				seen.check(t, "threadpool", pool.Workers[i].Thread)
			}
		}
		compared += stacksAgree(t, v)
	})
	assert.Greater(t, compared, 100)
}

// locksAgree compares waits with locks.
func locksAgree(t *testing.T, seen named, waits *answer.Waits, locks *answer.Locks) (n int) {
	owners, waiters := map[target.Addr]*answer.Lock{}, map[target.Addr]map[uint32]bool{}
	for i := range locks.Locks {
		l := &locks.Locks[i]
		owners[l.Address], waiters[l.Address] = l, map[uint32]bool{}
		if l.Owner != nil {
			seen.check(t, "locks", *l.Owner)
		}
		for _, w := range l.Waiting {
			seen.check(t, "locks", w.Thread)
			waiters[l.Address][w.Thread.OSID] = true
		}
	}
	for i := range waits.Threads {
		w := &waits.Threads[i]
		seen.check(t, "waits", w.Thread)
		l := owners[w.Object]
		if l == nil || w.Kind != l.Kind {
			continue
		}
		n++
		assert.True(t, waiters[w.Object][w.Thread.OSID], "locks: %#x waits for %v, as waits has it", w.Thread.OSID, w.Object)
		if w.Owner != nil && l.Owner != nil {
			assert.Equal(t, l.Owner.OSID, w.Owner.OSID, "the owner of %v", w.Object)
		}
	}
	return n
}

// crashAgrees compares crashinfo with waits.
func crashAgrees(t *testing.T, seen named, crash *answer.Crash, waits *answer.Waits) (n int) {
	objects := map[uint32]target.Addr{}
	for i := range waits.Threads {
		objects[waits.Threads[i].Thread.OSID] = waits.Threads[i].Object
	}
	for i := range crash.Waiting.Threads {
		x := &crash.Waiting.Threads[i]
		seen.check(t, "crashinfo", x.Thread)
		if x.Monitor == 0 {
			continue
		}
		n++
		assert.Equal(t, objects[x.OSID], x.Monitor, "the monitor of %#x", x.OSID)
	}
	circles := 0
	for i := range waits.Verdicts {
		if k := waits.Verdicts[i].Kind; k == answer.FindingDeadlock || k == answer.FindingCircle {
			circles++
		}
	}
	assert.LessOrEqual(t, len(crash.Waiting.Deadlocks), circles, "circles of monitors")
	return n
}

// stacksAgree compares the stack of each thread with the one in the list of all stacks.
func stacksAgree(t *testing.T, v *sosgo.View) (n int) {
	frames := func(list *answer.Stacks) map[uint32][]target.Addr {
		out := map[uint32][]target.Addr{}
		for f, err := range list.Frames {
			if err == nil {
				out[f.OSID] = append(out[f.OSID], f.SP.Value, f.IP.Value)
			}
		}
		return out
	}
	together, err := stacks.Stacks(t.Context(), v.Process, stacks.Options{StackOptions: threads.StackOptions{Source: true}})
	if err != nil {
		return 0
	}
	all := frames(together)
	list, _ := v.Threads()
	for i := range list {
		id := list[i].ID()
		if len(all[id]) == 0 || len(all[id]) > 10_000 {
			continue
		}
		alone, err := stacks.Stacks(t.Context(), v.Process, stacks.Options{Threads: []*stackwalk.Thread{&list[i]}})
		require.NoError(t, err)
		assert.Equal(t, all[id], frames(alone)[id], "the stack of %#x", id)
		n++
	}
	return n
}
