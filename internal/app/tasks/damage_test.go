package tasks_test

import (
	"context"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Boxes and tasks of the canned async program.
const (
	gatedNode  = target.Addr(0x7fea858112b0)
	gatedBox   = target.Addr(0x7fea85811308)
	delay      = target.Addr(0x7fea85811388)
	delayedBox = target.Addr(0x7fea85811760)
	neverTask  = target.Addr(0x7fea85805bb8)
	innerBox   = target.Addr(0x7fea85806ca8)
	outerBox   = target.Addr(0x7fea85808250)
)

// continuationOf returns where a task keeps its continuation.
func continuationOf(t testing.TB, d *sosgo.Dump, task target.Addr) target.Addr {
	t.Helper()
	r, err := view(t, d).Objects()
	require.NoError(t, err)
	o, err := r.Object(task)
	require.NoError(t, err)
	return o.Field("m_continuationObject").Location()
}

// TestStartingBox: a box gets its state machine, where that is a class, just after it was made. In between, nothing is missing, and the method is about to run.
func TestStartingBox(t *testing.T) {
	d, memory := testdump.OverlaidFile(t, "../../../testdata/dumps/waits/net9-holders-moves/net9-holders-moves.dmp.zst", sosgo.Options{})
	r, err := view(t, d).Objects()
	require.NoError(t, err)
	seen := 0
	for _, s := range stacks(t, collect(t, d), tasks.StackOptions{}) {
		o, err := r.Object(s.Frames[0].Object)
		require.NoError(t, err)
		v := o.Field("StateMachine")
		if v.Err() != nil || v.Kind() != objects.KindReference || v.IsNull() {
			continue
		}
		seen++
		memory.Set(testdump.Words(v.Location(), 0))
		for _, other := range stacks(t, collect(t, d), tasks.StackOptions{}) {
			assert.Empty(t, other.Noted())
			if other.Frames[0].Object == o.Addr {
				assert.Contains(t, other.Why.Text, "it runs or is about to run")
			}
		}
		memory.Set()
	}
	require.Positive(t, seen)
}

// TestRings checks that the walk of tasks that continue each other in a ring ends and reports the ring.
func TestRings(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	at := func(task target.Addr) target.Addr { return continuationOf(t, d.Dump, task) }
	for name, damage := range map[string][]testdump.Damage{
		"itself":      {testdump.Words(at(gatedBox), uint64(gatedBox))},
		"two":         {testdump.Words(at(gatedNode), 0), testdump.Words(at(gatedBox), uint64(delayedBox)), testdump.Words(at(delay), 0), testdump.Words(at(delayedBox), uint64(gatedBox))},
		"from a tail": {testdump.Words(at(outerBox), uint64(innerBox))},
		"the first":   {testdump.Words(at(neverTask), uint64(innerBox)), testdump.Words(at(innerBox), uint64(neverTask))},
	} {
		t.Run(name, func(t *testing.T) {
			bad := d.Damaged(t, damage...)
			defer bad.Close()
			set := collect(t, bad)
			found := map[target.Addr]bool{}
			for _, s := range stacks(t, set, tasks.StackOptions{}) {
				assert.Less(t, len(s.Frames), 100)
				for i := range s.Frames {
					found[s.Frames[i].Object] = true
				}
			}
			assert.True(t, found[gatedBox] && found[delayedBox] && found[innerBox], "a method is lost")
			merged, err := set.Merged(context.Background(), tasks.StackOptions{})
			require.NoError(t, err)
			assert.Less(t, len(merged.Merged), 100)
			calls, err := set.Calls(context.Background(), tasks.StackOptions{})
			require.NoError(t, err)
			assert.Less(t, len(calls.Calls), 100)
			text := ""
			for i := range calls.Calls {
				text += calls.Calls[i].Name.S
			}
			assert.Contains(t, text, "<Gated>")
			assert.Contains(t, text, "<ValueTasks>")
			assert.Contains(t, text, "<Inner>")
		})
	}
}

// TestLyingList checks that a list of continuations with more elements than its array is reported as corrupt, with the
// existing elements.
func TestLyingList(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	r, err := view(t, d.Dump).Objects()
	require.NoError(t, err)
	task, err := r.Object(neverTask)
	require.NoError(t, err)
	list, err := task.Field("m_continuationObject").Object()
	require.NoError(t, err)
	size := testdump.Damage{At: list.Field("_size").Location(), Bytes: []byte{0xff, 0xff, 0xff, 0x7f}}
	items, err := list.Field("_items").Object()
	require.NoError(t, err)
	for name, damage := range map[string][]testdump.Damage{
		"list": {size}, "list and array": {size, {At: items.Addr + 8, Bytes: []byte{0xff, 0xff, 0xff, 0xff}}}, // reading each element would take minutes
	} {
		t.Run(name, func(t *testing.T) {
			bad := d.Damaged(t, damage...)
			defer bad.Close()
			set := collect(t, bad)
			out, err := set.Listed(context.Background(), tasks.StackOptions{})
			require.NoError(t, err)
			require.NotEmpty(t, out.Noted())
			require.ErrorIs(t, out.Noted()[0], target.ErrCorrupt)
			assert.Greater(t, len(stacks(t, set, tasks.StackOptions{})[0].Frames), 20)
		})
	}
}

// TestMissingStacks checks that tasks in an unreadable place of the heap are missing rows of a list of stacks.
func TestMissingStacks(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	bad := d.Damaged(t, testdump.Words(neverTask, 0x12345678))
	defer bad.Close()
	out, err := async.Stacks(t.Context(), view(t, bad).Process, async.StackOptions{})
	require.NoError(t, err)
	rows, missing := 0, 0
	for s, err := range out.Stacks {
		if err == nil {
			rows++
			continue
		}
		require.ErrorIs(t, err, target.ErrCorrupt)
		assert.Nil(t, s)
		missing++
	}
	assert.Positive(t, rows)
	assert.Equal(t, 1, missing)
	for _, err := range out.Noted() {
		assert.NotErrorIs(t, err, target.ErrCorrupt)
	}
}

// TestWithoutContinuation checks that missing memory is reported, not read as the end of a chain.
func TestWithoutContinuation(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	bad := d.Damaged(t, testdump.Words(continuationOf(t, d.Dump, gatedNode), 0x7fea00000008))
	defer bad.Close()
	out, err := collect(t, bad).Listed(context.Background(), tasks.StackOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, out.Noted())
	require.Error(t, out.Noted()[0])
	assert.True(t, testdump.Typed(out.Noted()[0]))
}

// FuzzStacks overwrites words of tasks, boxes and the objects that they refer to, and queries the stacks.
func FuzzStacks(f *testing.F) {
	from := testdump.Open(f, "net10-async")
	d, all := testdump.Thin(f, from.Path, from.Options(), testdump.FewOf(4, continues.MatchString))
	require.Greater(f, len(all), 60)
	v := view(f, d.Dump)
	r, err := tasks.Of(v.Process)
	require.NoError(f, err)
	h, err := v.Heap()
	require.NoError(f, err)
	for seed := range uint64(24) {
		f.Add(seed, uint8(20))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var damage []testdump.Damage
		for range n {
			o := all[rng.IntN(len(all))]
			word := uint64(all[rng.IntN(len(all))].Addr)
			if rng.IntN(4) == 0 {
				word = rng.Uint64() >> rng.IntN(64)
			}
			damage = append(damage, testdump.Words(o.Addr+8+target.Addr(rng.IntN(min(10, int(o.Size)/8-2))*8), word))
		}
		d.Set(damage...)
		ctx := context.Background()
		set, err := r.Collect(ctx, h, scan)
		require.NoError(t, err)
		o := tasks.StackOptions{Tasks: true, Completed: seed%2 == 0, Variables: true, Fields: seed%3 == 0}
		typed := func(noted []error) {
			for _, err := range noted {
				assert.True(t, testdump.Typed(err), "%v", err)
			}
		}
		switch seed / 6 % 4 {
		case 0:
			for s, err := range set.Stacks(ctx, o) {
				require.NoError(t, err)
				typed(s.Noted())
			}
		case 1:
			out, err := set.Merged(ctx, o)
			require.NoError(t, err)
			typed(out.Noted())
		case 2:
			_, err = set.Calls(ctx, o)
			require.NoError(t, err)
		default:
			_, err = set.List(ctx, tasks.ListOptions{Faulted: true})
			require.NoError(t, err)
		}
	})
}

// continues matches the types of objects that async code waits for, and of objects that lead to them.
var continues = regexp.MustCompile(`Task|AsyncStateMachine|Continuation|Source|Scenario\+|^System\.Action|List<System\.Object>|Timer|Semaphore|Registrations|CallbackNode|QueueUserWorkItem`)

// TestSameForAnyWorkers checks that the answer and its gaps do not depend on the number of workers.
func TestSameForAnyWorkers(t *testing.T) {
	for _, name := range []string{"net10-async", "net31-zoo", "win-net8-zoo"} {
		d := testdump.Open(t, name)
		said := func(jobs int) (out []string) {
			v := view(t, d.Dump)
			h, err := v.Heap()
			require.NoError(t, err)
			b, err := v.Shapes()
			require.NoError(t, err)
			set, err := tasks.New(b).Collect(context.Background(), h, heap.ScanOptions{Jobs: jobs})
			require.NoError(t, err)
			list, err := set.Listed(context.Background(), tasks.StackOptions{Tasks: true, Completed: true})
			require.NoError(t, err)
			for _, err := range list.Noted() {
				out = append(out, err.Error())
			}
			for s, err := range list.Stacks {
				require.NoError(t, err)
				out = append(out, methods(s)...)
			}
			return out
		}
		one := said(1)
		for range 3 {
			assert.Equal(t, one, said(4), name)
		}
	}
}

// TestMissingParts repeats each query, each time without one of the pieces of memory that the answer was read from.
func TestMissingParts(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	counted := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(async.Tasks(t.Context(), v.Process, tasks.ListOptions{}))
	}
	faulted := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(async.Tasks(t.Context(), v.Process, tasks.ListOptions{Faulted: true}))
	}
	stacks := func(v *sosgo.View) (any, []error, error) {
		a, err := async.Stacks(t.Context(), v.Process, async.StackOptions{})
		if err != nil {
			return nil, nil, err
		}
		noted := a.Noted()
		for s, err := range a.Stacks { // each stack notes its own missing parts
			if err != nil {
				noted = append(noted, err)
				continue
			}
			noted = append(noted, s.Noted()...)
		}
		return a, noted, nil
	}
	merged := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(async.Stacks(t.Context(), v.Process, async.StackOptions{Form: async.Merged}))
	}
	calls := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(async.Calls(t.Context(), v.Process, tasks.StackOptions{}))
	}
	t.Run("tasks", func(t *testing.T) { d.Sweep(t, 600, false, counted) })
	t.Run("faulted", func(t *testing.T) { d.Sweep(t, 150, false, faulted) })
	t.Run("stacks", func(t *testing.T) { d.Sweep(t, 600, false, stacks) })
	t.Run("merged", func(t *testing.T) { d.Sweep(t, 400, false, merged) })
	t.Run("calls", func(t *testing.T) { d.Sweep(t, 400, false, calls) })
}

// TestNoFailedTask checks that no task has failed in a program without a record of its fields: nothing keeps an exception. In a heap with such an object, a type of
// tasks that can't be read leaves that open.
func TestNoFailedTask(t *testing.T) {
	d := testdump.Open(t, "nativeaot-crash")
	v := view(t, d.Dump)
	list, err := async.Tasks(t.Context(), v.Process, tasks.ListOptions{Faulted: true})
	require.NoError(t, err)
	assert.Empty(t, list.Faults)
	assert.Empty(t, list.Noted())
	_, err = async.Tasks(t.Context(), v.Process, tasks.ListOptions{})
	require.ErrorIs(t, err, target.ErrUnsupported)

	d = testdump.Open(t, "net10-async")
	task, err := view(t, d.Dump).Objects()
	require.NoError(t, err)
	o, err := task.Object(neverTask)
	require.NoError(t, err)
	fields, err := task.Runtime().Layout().Offset("EEClass", "FieldDescList")
	require.NoError(t, err)
	base, err := task.Runtime().TrustedMethodTable(o.Type.MT.Parent)
	require.NoError(t, err)
	bad := d.Damaged(t, testdump.Words(o.Type.MT.EEClass+target.Addr(fields), 0), testdump.Words(base.EEClass+target.Addr(fields), 0))
	defer bad.Close()
	list, err = async.Tasks(t.Context(), view(t, bad).Process, tasks.ListOptions{Faulted: true})
	require.True(t, err != nil || len(list.Noted()) > 0, "a type of tasks is unreadable")
}

// TestFailedByFlagsAlone checks that no task is listed as failed if what should keep its exceptions is null, another object or no object: a
// collection leaves such tasks behind when it moves objects. If the dump lacks the object, the flags count.
func TestFailedByFlagsAlone(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	v := view(t, d.Dump)
	list, err := async.Tasks(t.Context(), v.Process, tasks.ListOptions{Faulted: true})
	require.NoError(t, err)
	require.Len(t, list.Faults, 1)
	r, err := v.Objects()
	require.NoError(t, err)
	task, err := r.Object(list.Faults[0].Task)
	require.NoError(t, err)
	properties := task.Field("m_contingentProperties")
	contingent, err := properties.Object()
	require.NoError(t, err)
	holder := contingent.Field("m_exceptionsHolder")
	for name, patch := range map[string]testdump.Damage{
		"null":           testdump.Words(properties.Location(), 0),
		"another object": testdump.Words(properties.Location(), uint64(task.Addr)),
		"no object":      testdump.Words(properties.Location(), uint64(task.Addr)+8),
		"null holder":    testdump.Words(holder.Location(), 0),
		"another holder": testdump.Words(holder.Location(), uint64(contingent.Addr)),
	} {
		t.Run(name, func(t *testing.T) {
			bad := d.Damaged(t, patch)
			defer bad.Close()
			list, err := async.Tasks(t.Context(), view(t, bad).Process, tasks.ListOptions{Faulted: true})
			require.NoError(t, err)
			assert.Empty(t, list.Faults)
			require.NotEmpty(t, list.Noted())
			assert.ErrorIs(t, list.Noted()[0], target.ErrCorrupt)
		})
	}
}
