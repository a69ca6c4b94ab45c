package tasks_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/target"
)

// fsharp is a dump of an F# program, Orders.fs beside it.
const fsharp = "../../../testdata/dumps/fsharp/net31-fsharp/net31-fsharp.dmp.zst"

// openFSharp opens the dump with the program's module and its PDB.
func openFSharp(t *testing.T) *sosgo.Dump {
	t.Helper()
	if _, err := os.Stat(fsharp); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(fsharp, sosgo.Options{Offline: true, Modules: []string{filepath.Join(filepath.Dir(fsharp), "modules")}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestFSharp follows the asyncs of an F# program from what they wait for to their ends.
func TestFSharp(t *testing.T) {
	d := openFSharp(t)
	set := collect(t, d)
	var got, ids []string
	ends := map[string]int{}
	for _, s := range stacks(t, set, tasks.StackOptions{Variables: true}) {
		line := s.Reason.String() + ":"
		for i := range s.Frames {
			f := &s.Frames[i]
			if f.Kind != answer.AsyncComputation {
				continue
			}
			line += " " + f.Method.String()
			assert.NotZero(t, f.Line, f.Method)
			assert.True(t, strings.HasSuffix(f.File, "/Program.fs"), f.File)
			for _, v := range f.Variables {
				switch {
				case v.Name == "id":
					ids = append(ids, v.Value)
				case v.Name == "n":
					assert.Equal(t, "15", v.Value) // 1 to 5 were posted
				}
			}
		}
		switch last := s.Frames[len(s.Frames)-1]; last.Kind {
		case answer.AsyncTask:
			ends["task"]++
		case answer.AsyncOther:
			assert.Equal(t, "a thread blocked until then (Async.RunSynchronously)", last.Meaning)
			ends["thread"]++
		default:
			ends["nobody"]++
		}
		got = append(got, line)
	}
	slices.Sort(got)
	semaphore := "a SemaphoreSlim: Shop.Orders.loadOrder Shop.Orders.pipeline"
	assert.Equal(t, []string{
		"a SemaphoreSlim: Shop.Orders.loadOrder Shop.Orders.pipeline", semaphore, semaphore, semaphore, semaphore,
		"a message (MailboxProcessor): Shop.Orders.loop<Microsoft.FSharp.Core.Unit>",
		"a promise (TaskCompletionSource): Shop.Orders.waitsForTcs",
		"an Async.Sleep of 2 h 47 min: Shop.Orders.stuck",
		"its cancellation (infinite Task.Delay): Shop.Orders.loadOrder Shop.Orders.pipeline",
	}, got)
	slices.Sort(ids)
	assert.Equal(t, []string{"1", "2", "3", "4", "7", "99"}, ids, "one has entered the semaphore")
	assert.Equal(t, map[string]int{"task": 1, "thread": 1, "nobody": 7}, ends)

	counted, err := set.Count(tasks.StackOptions{})
	require.NoError(t, err)
	n := map[string]uint64{}
	for _, c := range counted.Types {
		n[c.Name.String()] = c.Count
	}
	assert.Equal(t, map[string]uint64{"Shop.Orders+pipeline@48-1": 6, "Shop.Orders+loadOrder@42-1": 5, "Shop.Orders+loadOrder@43-2": 1,
		"Shop.Orders+loop@23-2<Microsoft.FSharp.Core.Unit>": 1, "Shop.Orders+stuck@32-3": 1, "Shop.Orders+waitsForTcs@53-1": 1}, n)

	assert.Empty(t, stacks(t, set, tasks.StackOptions{Machines: true}), "stacks that SOS knows")
	list, err := set.List(t.Context(), tasks.ListOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 20, list.Count, "asyncs are no tasks")
}

// TestLocalsOfCalls checks that merged calls have the variables of their first call if requested, as in its stack.
func TestLocalsOfCalls(t *testing.T) {
	d := openFSharp(t)
	set := collect(t, d)
	want := map[target.Addr][]answer.AsyncVariable{}
	for _, s := range stacks(t, set, tasks.StackOptions{Variables: true}) {
		for i := range s.Frames {
			want[s.Frames[i].Object] = s.Frames[i].Variables
		}
	}
	for _, locals := range []bool{true, false} {
		calls, err := set.Calls(t.Context(), tasks.StackOptions{Variables: locals})
		require.NoError(t, err)
		var some []string
		for i := range calls.Calls {
			c := &calls.Calls[i]
			if locals {
				assert.Equal(t, want[c.Object], c.Variables, c.Name)
			}
			for _, v := range c.Variables {
				some = append(some, v.Name+" = "+v.Value)
			}
		}
		if locals {
			assert.Contains(t, some, "id = 1", "of the order that is loaded (Orders.fs)")
			continue
		}
		assert.Empty(t, some)
	}
}
