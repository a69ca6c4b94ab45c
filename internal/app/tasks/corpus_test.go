package tasks_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// scan is how the tests walk the heap.
var scan = heap.ScanOptions{}

func view(t testing.TB, d *sosgo.Dump) *sosgo.View {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	return v
}

func collect(t testing.TB, d *sosgo.Dump) *tasks.Set {
	t.Helper()
	v := view(t, d)
	r, err := tasks.Of(v.Process)
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	s, err := r.Collect(context.Background(), h, scan)
	require.NoError(t, err)
	return s
}

// stacks returns the selected stacks without those that are parts of others.
func stacks(t testing.TB, s *tasks.Set, o tasks.StackOptions) []*answer.AsyncStack {
	t.Helper()
	var out []*answer.AsyncStack
	for st, err := range s.Stacks(context.Background(), o) {
		require.NoError(t, err)
		if !st.Part {
			out = append(out, st)
		}
	}
	return out
}

// methods returns the frames of a stack, one line each: the method or type, and what it awaits.
func methods(s *answer.AsyncStack) []string {
	var out []string
	for i := range s.Frames {
		f := &s.Frames[i]
		line := strings.Repeat(" ", f.Depth) + f.AsyncName.Name.S
		if !f.Method.IsZero() {
			line = strings.Repeat(" ", f.Depth) + f.Method.S
			if f.Await.S != "" {
				line += " > " + f.Await.S
			}
		}
		out = append(out, line)
	}
	return out
}

// TestFactsOfTasks compares the states of tasks with the output of the program, on the canned and the whole dump.
func TestFactsOfTasks(t *testing.T) {
	testdump.Both(t, "net10-async", testcase.Named("*-async-*"), func(t *testing.T, d *testdump.Dump) int {
		r, err := tasks.Of(view(t, d.Dump).Process)
		require.NoError(t, err)
		n := 0
		for name, values := range d.Manifest.Facts {
			if !strings.HasPrefix(name, "task ") {
				continue
			}
			var list []string
			require.NoError(t, json.Unmarshal(values, &list), name)
			require.Len(t, list, 2, name)
			state, err := r.DescribeState(testdump.Address(strings.Fields(list[1])[0]))
			require.NoError(t, err, name)
			assert.Equal(t, answer.TaskStatus(list[0]), state.Status, name)
			n++
		}
		assert.Equal(t, 16, n)
		return n
	})
}

// TestNamesOfDelegates checks that a task's method has its C# name, and SOS's name beside it.
func TestNamesOfDelegates(t *testing.T) {
	const method = "System.Threading.Tasks.Task {Debuggee.AsyncWork.Scenario+<>c__DisplayClass6_0.<Run>b__1"
	found := 0
	for _, s := range stacks(t, collect(t, testdump.Open(t, "net10-async").Dump), tasks.StackOptions{Tasks: true}) {
		for i := range s.Frames {
			if n := s.Frames[i].AsyncName; strings.Contains(n.Name.S, "b__1}") {
				assert.Equal(t, method+"}", n.Name.S)
				assert.Equal(t, method+"()}", n.SOS.S)
				found++
			}
		}
	}
	assert.Equal(t, 5, found)
}

// TestAsyncStacks compares the stacks of the async program with its source.
func TestAsyncStacks(t *testing.T) {
	const scenario = "Debuggee.AsyncWork.Scenario"
	list := stacks(t, collect(t, testdump.Open(t, "net10-async").Dump), tasks.StackOptions{Variables: true})
	require.Len(t, list, 4)
	assert.Equal(t, "a promise (TaskCompletionSource)", list[0].Reason.String())
	assert.Equal(t, "a Task.Delay of 16 min 40 s", list[1].Reason.String())
	assert.Equal(t, "a SemaphoreSlim", list[2].Reason.String())
	assert.Equal(t, "a Task.Delay of 2 h 47 min", list[3].Reason.String())
	got := methods(list[0])
	require.Greater(t, len(got), 20)
	assert.Equal(t, []string{"System.Threading.Tasks.Task<System.String>", " " + scenario + ".Inner > TaskCompletionSource.Task",
		"  " + scenario + ".Middle > Scenario.Inner", "   " + scenario + ".Outer > Scenario.Middle"}, got[:4])
	assert.Contains(t, got, " "+scenario+".Numbers > TaskCompletionSource.Task")
	assert.Contains(t, got, "  "+scenario+".Stream > IAsyncEnumerator.MoveNextAsync", "who waits for an async iterator")
	assert.Contains(t, got, " "+scenario+"+<>c__DisplayClass20_0.<Lambda>b__0 > TaskCompletionSource.Task")
	assert.Contains(t, got, " "+scenario+".Generic<Debuggee.AsyncWork.Order> > TaskCompletionSource.Task")
	assert.Equal(t, []string{"System.Threading.Tasks.Task+DelayPromise", " " + scenario + ".Loop > Task.Delay"}, methods(list[1]))

	values := map[string]string{}
	for i := range list[0].Frames {
		f := &list[0].Frames[i]
		if f.Method.IsZero() {
			continue
		}
		for _, v := range f.Variables {
			values[strings.TrimPrefix(f.Method.S, scenario+".")+"."+v.Name] = string(v.Kind) + " " + v.Type.S + " " + v.Value
		}
	}
	assert.Equal(t, "local Debuggee.Zoo.Point {X=51, Y=52}", values["Locals.point"])
	assert.Equal(t, "local System.Decimal 9.5", values["Locals.price"])
	assert.Equal(t, `local System.String "outer 101"`, values["Outer.local"], "the last of seven")
	assert.Equal(t, "parameter System.Int32 101", values["Inner.id"])

	outer := testdump.Address("0x7fea85808428")
	chosen := stacks(t, collect(t, testdump.Open(t, "net10-async").Dump), tasks.StackOptions{Address: outer})
	require.Len(t, chosen, 1)
	assert.Empty(t, stacks(t, collect(t, testdump.Open(t, "net10-async").Dump), tasks.StackOptions{Address: 0x10}))
	assert.Len(t, stacks(t, collect(t, testdump.Open(t, "net10-async").Dump), tasks.StackOptions{Type: "Gated"}), 1)
}

// TestFields checks the addresses of fields of state machines and tasks, including structs, and the lengths of arrays.
// SOS prints the address of a struct 8 bytes too high.
func TestFields(t *testing.T) {
	const scenario = "Debuggee.AsyncWork.Scenario"
	d := testdump.Open(t, "net10-async")
	points, arrays := 0, 0
	for _, s := range stacks(t, collect(t, d.Dump), tasks.StackOptions{Fields: true}) {
		for i := range s.Frames {
			f := &s.Frames[i]
			for _, x := range f.Fields {
				switch {
				case !f.Method.IsZero() && f.Method.S == scenario+".Locals" && x.Name.S == "<point>5__2":
					word, err := target.Uint64(d.Memory(), x.Address)
					require.NoError(t, err)
					assert.Equal(t, uint64(52<<32|51), word, "X and Y of the point")
					points++
				case x.Name.S == "m_tasks" && f.Method.IsZero():
					require.NotNil(t, x.Array, "a WhenAll's tasks")
					assert.Equal(t, answer.AsyncArray{Element: answer.Text{S: "System.Threading.Tasks.Task<System.Int32>"}, Length: 2}, *x.Array)
					arrays++
				}
			}
		}
	}
	assert.Equal(t, 1, points)
	assert.NotZero(t, arrays)
}

// TestStackScenario finds an async method that blocks its thread and a thread that blocks on its task, in all versions
// and on both systems.
func TestStackScenario(t *testing.T) {
	versions := map[string]bool{}
	testdump.Both(t, "net10-stacks", testcase.Named("*-stacks-withheap"), func(t *testing.T, d *testdump.Dump) int {
		list := stacks(t, collect(t, d.Dump), tasks.StackOptions{Variables: true})
		require.Len(t, list, 1)
		s := list[0]
		assert.Equal(t, "nothing: it runs or is about to run", s.Reason.String())
		require.Len(t, s.Frames, 2)
		assert.Equal(t, "Debuggee.Stacks.Scenario.AsyncMethod", s.Frames[0].Method.S)
		assert.Equal(t, []answer.AsyncVariable{{Name: "text", Kind: answer.AsyncParameter, Type: answer.Text{S: "System.String"}, Value: `"argument"`}}, s.Frames[0].Variables)
		assert.Contains(t, s.Frames[1].Meaning, "a thread blocked")
		versions[strings.Split(d.Manifest.Runtime, ".")[0]+d.Manifest.OS] = true
		return 1
	})
	if len(versions) > 1 {
		assert.GreaterOrEqual(t, len(versions), 7, "%v", versions)
	}
}

// TestWebStacks compares the waits of the web program with its facts, including pooled methods of Npgsql and Kestrel.
func TestWebStacks(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		list := stacks(t, collect(t, d.Dump), tasks.StackOptions{})
		r, err := tasks.Of(view(t, d.Dump).Process)
		require.NoError(t, err)
		reasons := map[string]string{}
		var blocked []string
		pooled, followed := 0, 0
		for _, s := range list {
			for i := range s.Frames {
				f := &s.Frames[i]
				if f.Kind == answer.AsyncPooled {
					pooled++
					state, err := r.DescribeState(f.Object)
					require.NoError(t, err)
					assert.Equal(t, answer.StatusPooled, state.Status)
					require.NotNil(t, state.At, "%v", state.Name)
					assert.Equal(t, f.Method.S, state.At.Method.S)
					if i+1 < len(s.Frames) && s.Frames[i+1].Depth == f.Depth+1 {
						assert.True(t, slices.ContainsFunc(state.Then, func(l answer.TaskLink) bool { return l.Object == s.Frames[i+1].Object }), "%v", f.Object)
						followed++
					}
				}
				if !f.Method.IsZero() {
					reasons[f.Method.S] = s.Reason.String()
				}
				if strings.Contains(f.Meaning, "blocked") {
					blocked = methods(s)
				}
			}
		}
		for method, want := range map[string]string{
			"WebDebuggee.PoolWork.EnterLock": "a SemaphoreSlim", "WebDebuggee.PoolWork.SleepThreeHours": "a Task.Delay of 3 h",
			"WebDebuggee.PoolWork.Beat": "the next tick of a PeriodicTimer", "WebDebuggee.PoolWork.WriteFourth": "room in a channel",
			"WebDebuggee.PoolWork.ReadEmpty": "an item in a channel", "WebDebuggee.NpgsqlPool.Read": "the server's answer from 127.0.0.1:5433 (NpgsqlCommand.ExecuteReaderAsync)",
			"WebDebuggee.SqlPools.Query": "the server's answer (SqlCommand.ExecuteReaderAsync)", "WebDebuggee.SqlPools.OpenLater": "a connection (DbConnection.OpenAsync)",
			"WebDebuggee.Client.Chat":     "data from 127.0.0.1:5080",
			"WebDebuggee.Handlers.Upload": "data in a pipe",
		} {
			assert.Equal(t, want, reasons[method], method)
		}
		assert.Equal(t, 30*time.Minute, tickOf(t, d, r))
		assert.GreaterOrEqual(t, pooled, 14)
		assert.GreaterOrEqual(t, followed, 7)
		require.Len(t, blocked, 5)
		assert.Equal(t, []string{" WebDebuggee.PoolWork.Inner > TaskCompletionSource.Task", "  WebDebuggee.PoolWork.Middle > PoolWork.Inner",
			"   WebDebuggee.PoolWork.Outer > PoolWork.Middle"}, blocked[1:4])
		return len(list)
	})
}

// tickOf returns the time between the ticks of the only PeriodicTimer that code waits for.
func tickOf(t *testing.T, d *testdump.Dump, r *tasks.Reader) (every time.Duration) {
	h, err := d.Heap()
	require.NoError(t, err)
	isState := h.TypeContains("System.Threading.PeriodicTimer+State")
	for o, err := range h.Objects() {
		require.NoError(t, err)
		if o.Free || !isState(o.Type) {
			continue
		}
		if e, err := r.TickOf(o.Addr); err == nil {
			assert.Zero(t, every)
			every = e
		}
	}
	return every
}

// TestLines compares the source line of an await with the source.
func TestLines(t *testing.T) {
	testdump.Corpus(t, testcase.Named("*-async-*"), func(t *testing.T, d *testdump.Dump) int {
		lines := map[string]int{}
		for _, s := range stacks(t, collect(t, d.Dump), tasks.StackOptions{}) {
			for i := range s.Frames {
				if f := &s.Frames[i]; !f.Method.IsZero() {
					assert.NoError(t, f.AsyncPlace.Missing.Err)
					assert.True(t, strings.HasSuffix(f.File, "AsyncWork.cs"), f.File)
					lines[f.Method.S[strings.LastIndex(f.Method.S, ".")+1:]] = f.Line
				}
			}
		}
		assert.Equal(t, 51, lines["Inner"])
		assert.Equal(t, 49, lines["Outer"])
		assert.Equal(t, 57, lines["Stream"])
		assert.Equal(t, 60, lines["<Lambda>b__0"])
		return len(lines)
	})
}

// TestNotTask checks objects that are not tasks.
func TestNotTask(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := tasks.Of(view(t, d.Dump).Process)
	require.NoError(t, err)
	dog, _ := d.Manifest.Fact("root.Dog")
	_, err = r.DescribeState(testdump.Address(strings.Fields(dog)[0]))
	var not *tasks.NotTaskError
	require.ErrorAs(t, err, &not)
	require.ErrorIs(t, err, target.ErrUnsupported)
	assert.Equal(t, "Debuggee.Zoo.Dog", not.Type.S)
	_, err = r.DescribeState(0x10)
	require.ErrorIs(t, err, target.ErrArgument)
}

// TestCalls checks the stacks of the async program merged from their outermost calls.
func TestCalls(t *testing.T) {
	out, err := collect(t, testdump.Open(t, "net10-async").Dump).Calls(context.Background(), tasks.StackOptions{})
	require.NoError(t, err)
	assert.Equal(t, uint64(13), out.Stacks)
	var first []string
	for i := range out.Calls[:4] {
		c := &out.Calls[i]
		assert.Equal(t, i, c.Depth)
		assert.Equal(t, uint64(5), c.Count)
		name := c.Name.S
		if !c.Method.IsZero() {
			name = c.Method.S
		}
		first = append(first, name)
	}
	assert.Equal(t, []string{"Debuggee.AsyncWork.Scenario.Outer", "Debuggee.AsyncWork.Scenario.Middle", "Debuggee.AsyncWork.Scenario.Inner",
		"System.Threading.Tasks.Task<System.String>"}, first)
	assert.Equal(t, []answer.AsyncEnd{{Count: 5, Reason: "a promise (TaskCompletionSource)", Why: words.APromise.Of()}}, out.Calls[3].Ends)
}

// TestFaulted finds the failed task with its exception.
func TestFaulted(t *testing.T) {
	s := collect(t, testdump.Open(t, "net10-async").Dump)
	out, err := s.List(context.Background(), tasks.ListOptions{Faulted: true})
	require.NoError(t, err)
	require.Len(t, out.Faults, 1)
	f := &out.Faults[0]
	assert.Equal(t, "Debuggee.AsyncWork.Scenario.Faulted", f.Name.S)
	require.Len(t, f.Exceptions, 1)
	assert.Equal(t, "System.InvalidOperationException", f.Exceptions[0].Type.S)
	assert.Equal(t, "faulted task", f.Exceptions[0].Message.S)
	assert.Zero(t, out.Seen)

	out, err = s.List(context.Background(), tasks.ListOptions{Status: answer.StatusCanceled})
	require.NoError(t, err)
	assert.Equal(t, uint64(1), out.Count)
	out, err = s.List(context.Background(), tasks.ListOptions{Type: "DelayPromise"})
	require.NoError(t, err)
	assert.Equal(t, uint64(5), out.Count)
	assert.Len(t, out.Counts, 2)
}

// TestNeverUsed checks that Never is set only if the runtime has not loaded the class of tasks.
func TestNeverUsed(t *testing.T) {
	for name, want := range map[string]bool{"sxs-full": true, "net10-zoo-withheap": false, "win-net6-zoo-withheap": false} {
		s := collect(t, testdump.OpenCase(t, name).Dump)
		for _, ask := range []func() (*answer.Async, error){
			func() (*answer.Async, error) { return s.Listed(t.Context(), tasks.StackOptions{}) },
			func() (*answer.Async, error) { return s.Merged(t.Context(), tasks.StackOptions{}) },
			func() (*answer.Async, error) { return s.Count(tasks.StackOptions{}) },
		} {
			a, err := ask()
			require.NoError(t, err)
			assert.Equal(t, want, a.Never, name)
		}
	}
}

// TestWordsOfWaits reads waits for a rate limiter's permit and for channel items of .NET 9 and earlier, in which the
// type alone does not distinguish reads from writes.
func TestWordsOfWaits(t *testing.T) {
	d, _ := testdump.Libraries(t)
	reasons := map[string]string{}
	for _, s := range stacks(t, collect(t, d), tasks.StackOptions{}) {
		for i := range s.Frames {
			if f := &s.Frames[i]; !f.Method.IsZero() && strings.HasPrefix(f.Method.S, "Fakes.") {
				reasons[f.Method.S] = s.Reason.String()
			}
		}
	}
	assert.Equal(t, map[string]string{"Fakes.Program.Limited": "a permit of a rate limiter", "Fakes.Program.ReadItem": "an item in a channel",
		"Fakes.Program.MayGoOn": "an item, or room, in a channel"}, reasons)
}

// TestIdlePooledBox checks that an unused pooled box for a state machine class is neither listed nor counted as
// missing.
func TestIdlePooledBox(t *testing.T) {
	d, _ := testdump.Libraries(t)
	v := view(t, d)
	found, err := rows.Evaluate(t.Context(), v.Process, "Fakes.Holder.Pooled", rows.EvaluateOptions{})
	require.NoError(t, err)
	box := found.Values[0].Address
	r, err := v.Objects()
	require.NoError(t, err)
	o, err := r.Object(box)
	require.NoError(t, err)
	require.True(t, o.Field("StateMachine").IsNull())
	var gaps answer.Gaps
	set := collect(t, d)
	require.NoError(t, set.Note(&gaps))
	assert.Empty(t, gaps.Noted())
	for _, s := range stacks(t, set, tasks.StackOptions{Tasks: true, Completed: true}) {
		for i := range s.Frames {
			assert.NotEqual(t, box, s.Frames[i].Object)
		}
	}
}
