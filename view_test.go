package sosgo_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/modules"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/test/answers"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// TestProcessIsOne checks that all callers that select a runtime, in any way and concurrently, get the same view.
func TestProcessIsOne(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	inst := d.Runtimes()[0]
	var wg sync.WaitGroup
	views := make([]*sosgo.View, 12)
	for i := range views {
		wg.Go(func() {
			v, err := d.View([]string{"", "0", "#0", inst.Version()}[i%4])
			assert.NoError(t, err)
			_, err = v.Heap()
			assert.NoError(t, err)
			views[i] = v
		})
	}
	wg.Wait()
	for _, v := range views {
		assert.Same(t, views[0].Process, v.Process)
	}
	got, err := views[0].Instance()
	require.NoError(t, err)
	assert.Same(t, inst, got)
	a, err := d.Heap()
	require.NoError(t, err)
	b, err := views[0].Heap()
	require.NoError(t, err)
	assert.Same(t, a, b)
}

// TestViewOfNothing checks that a missing runtime is an error, except for the operating system's threads.
func TestViewOfNothing(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	v, err := d.View("99")
	require.ErrorIs(t, err, target.ErrNoSuch)
	_, ierr := v.Instance()
	_, rerr := v.Runtime()
	_, herr := v.Heap()
	_, oerr := v.Objects()
	_, serr := v.Scanner()
	_, werr := v.Walker()
	for _, e := range []error{ierr, rerr, herr, oerr, serr, werr} {
		assert.Equal(t, err, e)
	}
	threads, terr := v.Threads()
	assert.Equal(t, err, terr)
	require.NotEmpty(t, threads)
	assert.NotNil(t, threads[0].OS)
	assert.Nil(t, threads[0].Managed)
}

// TestRuntimeByVersion checks that a runtime is selected by its number and by the start of both forms of its version.
// The error for a missing runtime lists the existing ones.
func TestRuntimeByVersion(t *testing.T) {
	d := testdump.Open(t, "sxs")
	all := d.Runtimes()
	require.Len(t, all, 2)
	for _, inst := range all {
		for _, want := range []string{strconv.Itoa(inst.Index), inst.Version(), inst.Release(), strings.Split(inst.Release(), ".")[0]} {
			v, err := d.View(want)
			require.NoError(t, err, want)
			got, err := v.Instance()
			require.NoError(t, err)
			assert.Same(t, inst, got, want)
		}
	}
	_, err := d.View("7.0.1")
	require.ErrorIs(t, err, target.ErrNoSuch)
	for _, inst := range all {
		assert.ErrorContains(t, err, inst.Title())
	}
}

// TestNoRuntime checks that the process without the named runtime answers with an answer or an error to everything.
func TestNoRuntime(t *testing.T) {
	v, err := testdump.Open(t, "net10-zoo").View("no such runtime")
	require.ErrorIs(t, err, sosgo.ErrNoSuch)
	for name := range answers.All {
		out, err := answers.Call(t.Context(), name, v.Process)
		assert.True(t, err != nil || out.IsValid(), name)
	}
}

// TestNotesOfFailedAnswers checks that the notes of an answer that fails go to the function of WithNotes.
func TestNotesOfFailedAnswers(t *testing.T) {
	v, err := testdump.Open(t, "net10-crash-null-triage").View("")
	require.NoError(t, err)
	var notes []error
	ctx := sosgo.WithNotes(sosgo.WithJobs(t.Context(), 1), func(err error) { notes = append(notes, err) })
	_, err = async.Tasks(ctx, v.Process, tasks.ListOptions{})
	require.ErrorIs(t, err, sosgo.ErrNotInDump)
	require.NotEmpty(t, notes)
	for _, note := range notes {
		require.ErrorIs(t, note, sosgo.ErrNotInDump)
	}
	notes = nil
	out, err := modules.EEVersion(ctx, v.Process)
	require.NoError(t, err)
	assert.Empty(t, notes, "the answer has them itself")
	assert.NotEmpty(t, out.Noted())
}

// TestSummaryThreads checks that a summary counts the OS threads, without ended and unstarted threads.
func TestSummaryThreads(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	v, err := d.View("")
	require.NoError(t, err)
	list, err := v.Threads()
	require.NoError(t, err)
	require.Greater(t, len(list), len(d.Target().Threads()), "some have ended")
	s, err := summary.Summary(t.Context(), v.Process, summary.Options{NoHeap: true})
	require.NoError(t, err)
	require.NotNil(t, s.Threads)
	assert.Equal(t, len(d.Target().Threads()), *s.Threads)
}

// TestStaticsNameTheirThreads checks that values of a thread static belong to the threads that set them. All other
// answers give these threads the same number and name.
func TestStaticsNameTheirThreads(t *testing.T) {
	for _, name := range []string{"net8-zoo", "net10-zoo"} {
		v, err := testdump.Open(t, name).View("")
		require.NoError(t, err)
		threads, err := v.Threads()
		require.NoError(t, err)
		fields, err := values.Statics(t.Context(), v.Process, objects.StaticsOptions{Type: "Debuggee.Zoo.Statics"})
		require.NoError(t, err)
		names := map[string]string{}
		for f, err := range fields {
			require.NoError(t, err)
			if f.Name.String() != "PerThreadString" {
				assert.Equal(t, f.Kind == answer.FieldThreadStatic, f.Thread != nil, f.Name)
				continue
			}
			require.NotNil(t, f.Thread.Index)
			assert.Equal(t, threads[*f.Thread.Index].ID(), f.Thread.OSID)
			names[f.Text.String()] = f.Thread.Name
		}
		assert.Equal(t, map[string]string{`"main thread"`: "", `"worker thread"`: "zoo worker"}, names)

		const field = "Debuggee.Zoo.Statics.PerThreadString"
		_, err = rows.Evaluate(t.Context(), v.Process, field, rows.EvaluateOptions{})
		assert.ErrorIs(t, err, query.ErrNoThread)
		values := map[string]bool{}
		for i := range threads {
			got, err := rows.Evaluate(t.Context(), v.Process, field, rows.EvaluateOptions{Thread: &threads[i]})
			assert.NotErrorIs(t, err, query.ErrNoThread)
			if threads[i].Managed == nil {
				assert.ErrorIs(t, err, target.ErrArgument)
			}
			if err == nil {
				values[got.Values[0].Value.Plain()] = true
			}
		}
		assert.True(t, values[`"main thread"`] && values[`"worker thread"`], "%v", values)
	}
}

// TestNamesOfGenericMethods checks that answers without a form of SOS name methods of generic types as C# does.
func TestNamesOfGenericMethods(t *testing.T) {
	d, err := sosgo.Open("testdata/dumps/web/web-net10/web-net10.dmp.zst", sosgo.Options{})
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	waits, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	text, err := json.Marshal(waits)
	require.NoError(t, err)
	assert.NotContains(t, string(text), ", System.Private.CoreLib]]")
}

// TestItemsInPlace checks that a value type in a field can be a collection
// (testdata/dumps/values/net10-texts/Texts.cs).
func TestItemsInPlace(t *testing.T) {
	d, err := sosgo.Open("testdata/dumps/values/net10-texts/net10-texts.dmp.zst", sosgo.Options{Offline: true})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	found, err := rows.Evaluate(t.Context(), v.Process, "obj(0x7f4ed5803ab8).Segment", rows.EvaluateOptions{})
	require.NoError(t, err)
	segment := found.Values[0]
	list, err := values.Items(t.Context(), v.Process, segment.Address, objects.CollectionOptions{MethodTable: segment.MethodTable})
	require.NoError(t, err)
	var got []string
	for item, err := range list.Items.All() {
		require.NoError(t, err)
		got = append(got, item.Item.Plain())
	}
	assert.Equal(t, []string{"2", "3", "4"}, got)
	_, err = values.Items(t.Context(), v.Process, segment.Address, objects.CollectionOptions{})
	assert.ErrorIs(t, err, target.ErrArgument, "it is no object")
}

// TestCrashedThread: it is the thread that Crash names, and nil where nothing crashed.
func TestCrashedThread(t *testing.T) {
	for _, name := range []string{"net10-crash-nested", "net10-crash-null-triage", "nativeaot-crash"} {
		v, err := testdump.Open(t, name).View("")
		require.NoError(t, err, name)
		crashed, err := v.CrashedThread()
		require.NoError(t, err, name)
		c, err := v.Crash(t.Context(), sosgo.CrashOptions{})
		require.NoError(t, err, name)
		require.NotNil(t, crashed, name)
		assert.Equal(t, c.ThreadID, crashed.ID(), name)
	}
	v, err := testdump.Open(t, "net10-zoo").View("")
	require.NoError(t, err)
	crashed, err := v.CrashedThread()
	assert.NoError(t, err)
	assert.Nil(t, crashed)
}

// TestSourceErr: with Source, a managed frame has a file or the reason why not.
func TestSourceErr(t *testing.T) {
	v, err := testdump.Open(t, "net10-stacks").View("")
	require.NoError(t, err)
	for _, source := range []bool{true, false} {
		with, without := 0, 0
		o := sosgo.StackOptions{}
		o.Source = source
		s, err := v.Stacks(t.Context(), o)
		require.NoError(t, err)
		for thread, err := range s.Threads {
			require.NoError(t, err)
			for f, err := range thread.Frames {
				if err != nil || f.Kind != answer.FrameManaged || f.Method.Err != nil {
					continue
				}
				if f.File != "" {
					with++
					assert.NoError(t, f.SourceErr)
				} else if f.SourceErr != nil {
					without++
				} else {
					assert.False(t, source, "%s has neither", f.Name())
				}
			}
		}
		if source {
			assert.Positive(t, without)
		} else {
			assert.Zero(t, with+without)
		}
	}
}

// TestVersionWithoutHeap: whether a collection was in progress is unknown where the heap can't be read.
func TestVersionWithoutHeap(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	version := heap.Version(d.Runtimes()[0], nil, sosgo.ErrNotInDump)
	assert.ErrorIs(t, version.InGC.Err(), sosgo.ErrNotInDump)
	v, err := d.View("")
	require.NoError(t, err)
	version, err = v.EEVersion(t.Context())
	require.NoError(t, err)
	assert.Equal(t, answer.Known(false), version.InGC)
}
