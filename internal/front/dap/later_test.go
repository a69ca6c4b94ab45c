package dap_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	adapter "github.com/sosgo/sosgo/internal/front/dap"
)

// TestAsyncCallers compares the waiters below the stacks of pool threads with the program's source. The methods are
// optimized. The sliced dump omits the variable locations of framework code, so the waiters of a task with a delegate
// are unknown.
func TestAsyncCallers(t *testing.T) {
	const folder = "../../../testdata/dumps/resumed/net10-resumed/"
	if _, err := os.Stat(folder); err != nil {
		t.Skip(err)
	}
	want := map[string][]string{ // by the blocking method: the async frames of its thread
		"Load":      {"[goes on when Shop.Store.Load completes]", "[async] Shop.Web.Service awaits Store.Load", "[async] Shop.Web.Request awaits Web.Service"},
		"Save":      {"[goes on when Shop.Store.Save completes]", "[async] Shop.Web.Book awaits Store.Save", "[async] Shop.Web.Checkout awaits Web.Book"},
		"Count":     {"[goes on when Shop.Store.Count completes]", "[async] Shop.Web.Stock awaits Store.Count"},
		"Late":      {"[goes on when Shop.Web.Late completes]", "[async] Shop.Web.Report awaits Web.Late"},
		"Sum":       {"[the async callers can't be read: <not in dump>: "},
		"Forgotten": nil,
	}
	facts, err := os.ReadFile(folder + "facts.txt")
	require.NoError(t, err)
	c, _ := open(t, folder+"net10-resumed.dmp.zst", nil)
	threads := c.threads()
	seen := 0
	for line := range strings.Lines(string(facts)) {
		words := strings.Fields(line)
		if words[0] != "FACT" {
			continue
		}
		method, found := words[1], ""
		for _, th := range threads {
			stack := c.stack(th.Id, 0, 200)
			var names, behind []string
			for _, f := range stack {
				names = append(names, f.Name)
				if f.InstructionPointerReference == "" && f.PresentationHint == "label" || strings.HasPrefix(f.Name, "[async] ") {
					behind = append(behind, f.Name)
				}
			}
			if slices.ContainsFunc(names, func(n string) bool {
				return strings.Contains(n, "<"+method+">") && strings.Contains(n, ".MoveNext(") || strings.HasPrefix(n, "Shop.Web."+method+"(")
			}) {
				found = th.Name
				require.Len(t, behind, len(want[method]), "%s: %v", method, behind)
				for i, w := range want[method] {
					assert.True(t, behind[i] == w || method == "Sum" && strings.HasPrefix(behind[i], w), "%s: %s", method, behind[i])
				}
			}
		}
		assert.NotEmpty(t, found, method)
		seen++
	}
	assert.Len(t, want, seen)
}

// TestSuspendedCallers checks that each method suspended by the runtime is a frame, innermost first. The program
// builds the continuations itself.
func TestSuspendedCallers(t *testing.T) {
	const file = "../../../testdata/dumps/suspended/net10-suspended/net10-suspended.dmp.zst"
	if _, err := os.Stat(file); err != nil {
		t.Skip(err)
	}
	d, err := sosgo.Open(file, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	list, err := async.Stacks(t.Context(), v.Process, async.StackOptions{})
	require.NoError(t, err)
	var got [][]string
	for s, err := range list.Stacks {
		require.NoError(t, err)
		st, err := async.State(t.Context(), v.Process, s.Frames[0].Object)
		require.NoError(t, err)
		got = append(got, adapter.NamesOf(answer.TaskLink{Object: s.Frames[0].Object, Name: answer.Text{S: "a task"}}, st, v.Process))
	}
	assert.Equal(t, [][]string{{"[async] Suspended.Inner", "[async] Suspended.Middle", "[async] Suspended.Outer"}, {"[async] Suspended.Inner", "[async] Suspended.Outer"}, {"[async] a task"}}, got)
	assert.Equal(t, []string{"[async] a task (unread)"}, adapter.NamesOf(answer.TaskLink{Name: answer.Text{S: "a task"}, Meaning: "unread"}, nil, v.Process))
}

// TestWhatRuns checks runs with names from stacks of .NET 3.1 to 10 and from the source of .NET 11.
func TestWhatRuns(t *testing.T) {
	for method, want := range map[string]int{
		"Shop.Store+<Save>d__1.MoveNext()": adapter.RunsMachine,
		"System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[[System.Int32, System.Private.CoreLib],[A+<B>d__0, A]].MoveNext(System.Threading.Thread)": adapter.RunsBox,
		"System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder`1+StateMachineBox`1[[System.Int32, System.Private.CoreLib],[A+<B>d__0, A]].MoveNext()":                 adapter.RunsBox,
		"System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[[System.__Canon, A],[B, A]].ExecutionContextCallback(System.Object)":                      adapter.RunsNothing,
		"System.Threading.Tasks.Task.ExecuteWithThreadLocal(System.Threading.Tasks.Task ByRef, System.Threading.Thread)":                                                           adapter.RunsTask,
		"System.Runtime.CompilerServices.AsyncHelpers+RuntimeAsyncTask`1[[System.Int32, System.Private.CoreLib]].DispatchContinuations()":                                          adapter.RunsRuntime,
		"Shop.Program.Main(System.String[])": adapter.RunsNothing,
	} {
		assert.Equal(t, want, adapter.Runs(method), method)
	}
}
