package threads_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A process has the parameters of the describing functions for one dump.
type process struct {
	*testdump.Dump
	rt     *dac.Runtime
	walker *stackwalk.Walker
	list   []stackwalk.Thread
}

func open(t *testing.T, d *testdump.Dump) *process {
	p := &process{Dump: d}
	var err error
	p.rt, err = d.Runtime()
	require.NoError(t, err)
	p.walker, err = d.Walker()
	require.NoError(t, err)
	p.list, err = d.Threads()
	require.NoError(t, err)
	return p
}

// eachScenario calls f for the dumps of a scenario with the heap.
func eachScenario(t *testing.T, scenario string, f func(t *testing.T, p *process)) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Manifest.Scenario != scenario || !d.HasHeap() {
			t.Skip("another scenario, or no heap")
		}
		f(t, open(t, d))
	})
}

// named returns the thread with a name.
func (p *process) named(t *testing.T, name string) *stackwalk.Thread {
	for i := range p.list {
		if got, _ := p.list[i].Name(); got == name {
			return &p.list[i]
		}
	}
	t.Fatal("there is no thread ", name)
	return nil
}

// fact returns the address of an object in the manifest.
func (p *process) fact(t *testing.T, name string) target.Addr {
	facts := p.Manifest.Objects()
	i := slices.IndexFunc(facts, func(o testcase.ObjectFact) bool { return o.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return facts[i].Addr
}

func (p *process) running(t *testing.T) []*stackwalk.Thread {
	list, err := stackwalk.RunningThreads(p.list, p.rt)
	require.NoError(t, err)
	return list
}

// rows returns the rows of a list without errors.
func rows[T any](t *testing.T, list func(func(T, error) bool)) (out []T) {
	for row, err := range list {
		require.NoError(t, err)
		out = append(out, row)
	}
	return out
}

// TestLookups finds every thread of a list by each of its numbers.
func TestLookups(t *testing.T) {
	eachScenario(t, "zoo", func(t *testing.T, p *process) {
		for i := range p.list {
			th := &p.list[i]
			if th.Index >= 0 {
				assert.Same(t, th, stackwalk.ThreadByIndex(p.list, th.Index))
				assert.Same(t, th, stackwalk.ThreadByID(p.list, th.ID()))
			}
			if th.Managed != nil {
				assert.Same(t, th, stackwalk.ThreadByManagedID(p.list, th.Managed.ManagedID))
			}
		}
		assert.Nil(t, stackwalk.ThreadByIndex(p.list, -1))
		assert.Nil(t, stackwalk.ThreadByIndex(p.list, len(p.list)))
		assert.Nil(t, stackwalk.ThreadByManagedID(p.list, 0))
		for _, th := range p.running(t) {
			assert.NotNil(t, th.OS)
			assert.NotNil(t, th.Managed)
		}
	})
}

// TestStacks: the worker of the scenario "zoo" waits in a method with the root of its objects as an argument, held by
// its frame.
func TestStacks(t *testing.T) {
	eachScenario(t, "zoo", func(t *testing.T, p *process) {
		root := p.fact(t, "root")
		o := threads.StackOptions{References: true, Arguments: true}
		worker := p.named(t, "zoo worker")
		s := threads.Stacks(context.Background(), p.walker, p.running(t), o)
		waits := 0
		var last target.Addr
		for st, err := range s.Threads {
			require.NoError(t, err)
			last = 0
			for _, f := range rows(t, st.Frames) {
				assert.Equal(t, st.OSID, f.OSID)
				assert.GreaterOrEqual(t, f.SP.Value, last&^0xff, "in the order of the stack")
				if !strings.HasPrefix(f.Method.String(), "Debuggee.Zoo.Scenario.Wait(") {
					continue
				}
				waits++
				assert.Equal(t, worker.ID(), st.OSID)
				require.Len(t, f.Arguments, 1)
				assert.Equal(t, answer.Hex(root), f.Arguments[0].Word)
				held := slices.ContainsFunc(f.References, func(r answer.Root) bool { return r.Object == root && r.Type.String() == "Debuggee.Zoo.Everything" })
				assert.True(t, held, "the frame holds its argument")
			}
		}
		assert.Equal(t, 1, waits)

		one := 1
		limited := threads.Stacks(context.Background(), p.walker, []*stackwalk.Thread{worker}, threads.StackOptions{Limit: &one, Debug: true})
		assert.Len(t, rows(t, limited.Frames), 1)
		assert.NotEmpty(t, rows(t, limited.Debug))

		native := &stackwalk.Thread{Index: 0, OS: worker.OS}
		none := threads.Stacks(context.Background(), p.walker, []*stackwalk.Thread{native}, threads.StackOptions{Debug: true})
		assert.Empty(t, rows(t, none.Frames), "the runtime does not know the thread")
		assert.Empty(t, rows(t, none.Debug))
	})
}

// TestMergedWalkOfStacks: a caller with its own walk gets the frames of that walk.
func TestMergedWalkOfStacks(t *testing.T) {
	p := open(t, testdump.Open(t, "sxs"))
	list := p.running(t)
	kinds := map[answer.FrameKind]int{}
	s := threads.Stacks(context.Background(), p.walker, list, threads.StackOptions{Native: true, Walk: p.MergedWalk})
	for f, err := range s.Frames {
		if err != nil {
			require.ErrorIs(t, err, target.ErrNotInDump, "a part of a stack that the dump was cut without")
			continue
		}
		kinds[f.Kind]++
	}
	assert.NotZero(t, kinds[answer.FrameManaged])
	assert.NotZero(t, kinds[answer.FrameNative])
}

// TestParallelStacks: each thread is in one call, and the stack of "deep" has one method 201 times.
func TestParallelStacks(t *testing.T) {
	for _, name := range []string{"net10-stacks", "win-net10-zoo"} {
		p := open(t, testdump.Open(t, name))
		s, err := threads.ParallelStacks(context.Background(), p.walker, p.running(t), threads.ParallelOptions{})
		require.NoError(t, err)
		stand := map[uint32]int{}
		deepest := 0
		for _, row := range rows(t, s.Stacks) {
			recursions := 0
			for _, m := range row.Methods {
				if strings.HasPrefix(m.String(), "Debuggee.Stacks.Scenario.Recurse(") {
					recursions++
				}
			}
			if recursions > 0 {
				assert.Equal(t, []uint32{p.named(t, "deep").ID()}, row.Threads)
			}
			deepest = max(deepest, recursions)
			for _, id := range row.Threads {
				stand[id]++
			}
		}
		assert.Len(t, stand, s.Threads)
		for id, n := range stand {
			assert.Equal(t, 1, n, "thread %x", id)
		}
		if p.Manifest.Scenario == "stacks" {
			assert.Equal(t, 201, deepest)
		}
		with, err := threads.ParallelStacks(context.Background(), p.walker, p.running(t), threads.ParallelOptions{Explicit: true})
		require.NoError(t, err)
		assert.GreaterOrEqual(t, with.Threads, s.Threads, "explicit frames are calls too")
	}
}

// TestStackObjects: the stack of the worker refers to the objects that it locked. The frames of the first thread hold
// the array that only the stack refers to.
func TestStackObjects(t *testing.T) {
	eachScenario(t, "zoo", func(t *testing.T, p *process) {
		scanner, err := p.Scanner()
		require.NoError(t, err)
		worker := p.named(t, "zoo worker")
		objects := map[target.Addr]string{}
		s, err := threads.StackObjects(context.Background(), scanner, worker, threads.ObjectOptions{Verify: true})
		require.NoError(t, err)
		for _, o := range rows(t, s.Objects) {
			assert.Equal(t, worker.ID(), o.OSID)
			assert.False(t, o.Unproven, "was verified")
			objects[o.Object] = o.Type.String()
		}
		assert.Equal(t, "Debuggee.Zoo.Everything", objects[p.fact(t, "root")])
		assert.Equal(t, "System.Object", objects[p.fact(t, "root.Locked")])
		assert.Equal(t, "System.Object", objects[p.fact(t, "root.LockedAndHashed")])

		alone := p.fact(t, "stack only")
		holders := map[string]bool{}
		precise := threads.AllStackObjects(context.Background(), scanner, p.list, threads.ObjectOptions{Precise: p.walker})
		for o, err := range precise.Objects {
			if err == nil && o.Object == alone {
				holders[o.Held.Holder.String()] = true
			}
		}
		assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(holders)), func(h string) bool {
			return strings.HasPrefix(h, "Debuggee.Zoo.Scenario.")
		}), "held by %v", holders)

		sp, _ := worker.OS.Registers.SP()
		one := threads.ObjectOptions{Range: &target.Range{Start: sp + 1, End: sp + 9}}
		s, err = threads.StackObjects(context.Background(), scanner, worker, one)
		require.NoError(t, err)
		for _, o := range rows(t, s.Objects) {
			if o.Register == "" {
				assert.True(t, o.Slot >= sp && o.Slot < sp+16, "the range is rounded to words")
			}
		}
		_, err = threads.StackObjects(context.Background(), scanner, &stackwalk.Thread{Index: -1, Managed: worker.Managed}, threads.ObjectOptions{})
		assert.ErrorIs(t, err, target.ErrNotInDump)
	})
}

// TestExtendedStack: an extended stack has at least the objects of the stack.
func TestExtendedStack(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		p := open(t, testdump.Open(t, name))
		scanner, err := p.Scanner()
		require.NoError(t, err)
		count := func(o threads.ObjectOptions) int {
			n := 0
			for range threads.AllStackObjects(context.Background(), scanner, p.list, o).Objects {
				n++
			}
			return n
		}
		assert.GreaterOrEqual(t, count(threads.ObjectOptions{Extended: true}), count(threads.ObjectOptions{}))
	}
}

// TestReturns: the callers of the worker's wait are on its stack, by name.
func TestReturns(t *testing.T) {
	eachScenario(t, "zoo", func(t *testing.T, p *process) {
		worker := p.named(t, "zoo worker")
		managed := threads.Returns(context.Background(), p.walker, worker, threads.ReturnOptions{ManagedOnly: true})
		closures := 0
		for _, r := range rows(t, managed.Returns) {
			assert.True(t, strings.HasPrefix(r.Method, "(MethodDesc "), r.Method)
			assert.Empty(t, r.CalleeIn)
			if strings.Contains(r.Method, "<>c__DisplayClass1_0.<Run>b__1()") {
				closures++
			}
		}
		assert.NoError(t, managed.Failure())
		assert.NotZero(t, closures)

		all := threads.AllReturns(context.Background(), p.walker, p.running(t), threads.ReturnOptions{Symbols: p.Symbols()})
		for th, err := range all.Threads {
			require.NoError(t, err)
			assert.NotEmpty(t, th.Current, "the code that the thread runs")
			for r, err := range th.Returns {
				if err == nil {
					assert.Equal(t, th.OSID, r.OSID)
					assert.Equal(t, "scan", r.Trust)
				}
			}
		}

		busy := 0
		for th, err := range threads.AllReturns(context.Background(), p.walker, p.running(t), threads.ReturnOptions{BusyOnly: true}).Threads {
			require.NoError(t, err)
			if th.Returns != nil {
				busy++
			}
		}
		assert.Less(t, busy, len(p.running(t)), "most threads wait")

		gone := threads.Returns(context.Background(), p.walker, &stackwalk.Thread{Index: -1, Managed: worker.Managed}, threads.ReturnOptions{})
		for _, err := range gone.Returns {
			assert.ErrorIs(t, err, target.ErrNotInDump)
		}
		assert.ErrorIs(t, gone.Failure(), target.ErrNotInDump)
	})
}

// TestLocks: the worker of the scenario "zoo" holds the lock of the object that has a sync block for its hash. In the
// scenario "stacks", each of two threads holds the lock that the other waits for.
func TestLocks(t *testing.T) {
	eachScenario(t, "zoo", func(t *testing.T, p *process) {
		blocks := rows(t, threads.SyncBlocks(context.Background(), p.rt, p.list, threads.SyncBlockOptions{}).Blocks)
		i := slices.IndexFunc(blocks, func(b answer.SyncBlock) bool { return b.Object == p.fact(t, "root.LockedAndHashed") })
		require.GreaterOrEqual(t, i, 0)
		b := &blocks[i]
		assert.True(t, b.Held)
		assert.Equal(t, "System.Object", b.Type.String())
		assert.EqualValues(t, 1, b.Recursion)
		assert.EqualValues(t, 1, b.MonitorHeld)
		worker := p.named(t, "zoo worker")
		assert.Equal(t, worker.ID(), b.OSID)
		assert.Equal(t, worker.Managed.Addr, b.Thread)

		index := int64(b.Index)
		only := rows(t, threads.SyncBlocks(context.Background(), p.rt, p.list, threads.SyncBlockOptions{Index: &index}).Blocks)
		assert.Equal(t, []answer.SyncBlock{*b}, only)
	})
	p := open(t, testdump.Open(t, "net10-stacks"))
	owners := map[string]bool{}
	for _, b := range rows(t, threads.SyncBlocks(context.Background(), p.rt, p.list, threads.SyncBlockOptions{}).Blocks) {
		require.NotNil(t, b.OwnerIndex)
		name, err := stackwalk.ThreadByIndex(p.list, *b.OwnerIndex).Name()
		require.NoError(t, err)
		owners[name] = true
		assert.EqualValues(t, 1, b.Waiters)
		assert.EqualValues(t, 3, b.MonitorHeld)
	}
	assert.Equal(t, map[string]bool{"deadlock one": true, "deadlock two": true}, owners)
}

// TestManagedThreads compares with the manifest: the names, and the threads that have ended or not started.
func TestManagedThreads(t *testing.T) {
	eachScenario(t, "stacks", func(t *testing.T, p *process) {
		m, err := threads.DescribeManaged(context.Background(), p.Target(), p.rt, p.list, threads.ManagedOptions{Walker: p.walker})
		require.NoError(t, err)
		byName := map[string]*answer.ManagedThread{}
		for i := range m.Threads {
			byName[m.Threads[i].Name] = &m.Threads[i]
		}
		for _, name := range []string{"deep", "spinning", "dead", "unstarted", "nested throw"} {
			require.Contains(t, byName, name)
			fact, ok := p.Manifest.Fact("thread " + itoa(byName[name].ManagedID))
			require.True(t, ok, name)
			assert.True(t, strings.HasPrefix(fact, name+":"), fact)
			assert.Equal(t, strings.HasSuffix(fact, "Stopped") || strings.HasSuffix(fact, "Unstarted"), byName[name].Index == nil)
		}
		assert.Equal(t, "Cooperative", byName["spinning"].GCMode.S)
		assert.Equal(t, answer.ActivityRunning, byName["spinning"].Activity.Kind)
		assert.Equal(t, answer.ActivitySleep, byName["deep"].Activity.Kind)
		assert.Contains(t, byName["deep"].Activity.Caller.String(), "Debuggee.Stacks.Scenario.Park")
		thrown := byName["nested throw"].Exception
		require.NotNil(t, thrown)
		assert.Equal(t, "System.ApplicationException", thrown.Type.String())

		live, err := threads.DescribeManaged(context.Background(), p.Target(), p.rt, p.list, threads.ManagedOptions{Live: true})
		require.NoError(t, err)
		assert.Len(t, live.Threads, len(p.running(t)))
	})
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// TestThrownExceptions: the thread "nested throw" handles an exception that it threw while it handled another.
func TestThrownExceptions(t *testing.T) {
	eachScenario(t, "stacks", func(t *testing.T, p *process) {
		th := p.named(t, "nested throw")
		x, err := threads.DescribeException(th, p.rt, th.Managed.LastThrown, threads.ExceptionOptions{Nested: true})
		require.NoError(t, err)
		assert.Equal(t, "System.ApplicationException", x.Exception.Type.String())
		require.NotNil(t, x.Exception.Message)
		assert.Equal(t, "inner of nested", x.Exception.Message.String())
		assert.Equal(t, "System.InvalidOperationException", x.Exception.InnerType.String())
		if x.HasNested {
			nested := rows(t, x.Nested)
			require.NotEmpty(t, nested)
			assert.Equal(t, x.Exception.Inner, nested[0].Address)
		}
		brief, err := threads.DescribeException(th, p.rt, th.Managed.LastThrown, threads.ExceptionOptions{})
		require.NoError(t, err)
		assert.Nil(t, brief.Nested, "were not asked for")
		assert.Equal(t, x.HasNested, brief.HasNested)

		own, err := threads.DescribeException(th, p.rt, 0, threads.ExceptionOptions{Nested: true})
		require.NoError(t, err)
		assert.Equal(t, x.Exception, own.Exception, "of the thread")
		none, err := threads.DescribeException(&stackwalk.Thread{OS: th.OS}, p.rt, 0, threads.ExceptionOptions{Nested: true})
		require.NoError(t, err)
		assert.Nil(t, none.Exception, "an unmanaged thread")
		_, err = threads.DescribeException(th, p.rt, p.named(t, "deep").Managed.Addr, threads.ExceptionOptions{Nested: true})
		assert.Error(t, err, "a Thread is no exception")

		first, err := threads.FirstThrower(p.list, p.rt)
		require.NoError(t, err)
		require.NotNil(t, first)
		name, err := first.Name()
		require.NoError(t, err)
		assert.Equal(t, "catch", name)
	})
	p := open(t, testdump.Open(t, "win-net10-zoo"))
	first, err := threads.FirstThrower(p.list, p.rt)
	assert.NoError(t, err)
	assert.Nil(t, first, "no thread that runs threw one")
}

// TestAnswersEndWithTheContext: answers end at once, with the context's error.
func TestAnswersEndWithTheContext(t *testing.T) {
	for _, name := range []string{"net10-stacks", "win-net10-zoo"} {
		p := open(t, testdump.Open(t, name))
		scanner, err := p.Scanner()
		require.NoError(t, err)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		list := p.running(t)
		began := time.Now()
		_, err = threads.ParallelStacks(ended, p.walker, list, threads.ParallelOptions{Explicit: true})
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, lastError(threads.Stacks(ended, p.walker, list[:1], threads.StackOptions{References: true}).Frames), context.Canceled)
		assert.ErrorIs(t, lastError(threads.Stacks(ended, p.walker, list[:1], threads.StackOptions{}).Frames), context.Canceled)
		assert.ErrorIs(t, lastError(threads.AllStackObjects(ended, scanner, p.list[:1], threads.ObjectOptions{}).Objects), context.Canceled)
		assert.Less(t, time.Since(began), 5*time.Second)
	}
}

func lastError[T any](list func(func(T, error) bool)) (last error) {
	for _, last = range list {
	}
	return last
}

// TestRegistersThatAreMissing: a thread with registers that are not in the dump has no pointers, as opposed to 0.
func TestRegistersThatAreMissing(t *testing.T) {
	p := open(t, testdump.Open(t, "net10-zoo"))
	list := []stackwalk.Thread{{Index: 0, OS: &target.Thread{ID: 7}}}
	d := threads.DescribeOS(p.Target(), list, nil)
	require.Len(t, d.Threads, 1)
	assert.ErrorIs(t, d.Threads[0].IP.Err(), target.ErrNotInDump)
	assert.ErrorIs(t, d.Threads[0].SP.Err(), target.ErrNotInDump)
	assert.False(t, d.Threads[0].Current)
	_, err := list[0].Stack(p.Target())
	assert.ErrorIs(t, err, target.ErrNotInDump)

	scanner, err := p.Scanner()
	require.NoError(t, err)
	end := threads.ObjectOptions{Range: &target.Range{Start: ^target.Addr(0x20), End: ^target.Addr(0)}}
	s, err := threads.StackObjects(context.Background(), scanner, &list[0], end)
	require.NoError(t, err)
	assert.ErrorIs(t, lastError(s.Objects), target.ErrNotInDump, "the end of the address space does not wrap around")
}

// TestNativeFramesHaveTheirModules: a native frame has its module, and its place there.
func TestNativeFramesHaveTheirModules(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		p := open(t, testdump.Open(t, name))
		s := threads.Stacks(context.Background(), p.walker, p.running(t), threads.StackOptions{Native: true})
		for _, f := range rows(t, s.Frames) {
			if f.Kind == answer.FrameNative && f.Module != "" {
				m := target.ModuleAt(p.Target().Modules(), f.IP.Value)
				require.NotNil(t, m)
				assert.Equal(t, target.BaseName(m.Path), f.Module)
				assert.Equal(t, uint64(f.IP.Value-m.Base), *f.Offset)
			}
		}
	}
}
