package flows_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// reader returns a Reader of a dump and the answer that holds its gaps.
func reader(t testing.TB, d *sosgo.Dump) (*flows.Reader, *answer.Flows, *sosgo.View) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	items, err := v.Collections()
	require.NoError(t, err)
	out := &answer.Flows{Flows: []answer.Flow{}}
	return flows.New(shapes.Reading{Gaps: &out.Gaps, Binder: b}, items), out, v
}

// listed returns everything that flows in a process.
func listed(t testing.TB, d *sosgo.Dump) *answer.Flows {
	t.Helper()
	r, out, v := reader(t, d)
	list, err := v.Threads()
	require.NoError(t, err)
	reader, err := tasks.Of(v.Process)
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	set, err := reader.Collect(t.Context(), h, heap.ScanOptions{})
	require.NoError(t, err)
	require.NoError(t, r.List(t.Context(), v.Process, list, set, out))
	return out
}

// TestFlowsOfRequests checks each request that the program reports as unanswered. Its logging scopes and its activity
// must flow with a thread or an async method, and Requests must report the same.
func TestFlowsOfRequests(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		var pending []struct{ Path, Correlation string }
		require.NoError(t, json.Unmarshal(d.Manifest.Facts["pending"], &pending))
		out := listed(t, d.Dump)
		for _, err := range out.Noted() { // a slice does not have all names
			assert.ErrorIs(t, err, target.ErrNotInDump)
		}
		found := 0
		for _, p := range pending {
			if p.Correlation == "" {
				continue
			}
			for i := range out.Flows {
				f := &out.Flows[i]
				scopes := scopesOf(f)
				if !strings.Contains(scopes, "correlation="+p.Correlation) {
					continue
				}
				found++
				assert.Contains(t, scopes, "path="+p.Path, "of the hosting's scope, in which that of the program stands")
				assert.Less(t, strings.Index(scopes, "path="), strings.Index(scopes, "correlation="), "the outermost first")
				a := activities(f)
				require.NotEmpty(t, a, p.Path)
				assert.Equal(t, "Microsoft.AspNetCore.Hosting.HttpRequestIn", a[len(a)-1].Operation.S)
				assert.Len(t, a[0].Trace.S, 32)
				assert.NotNil(t, a[0].Started)
				assert.Empty(t, a[0].Took, "it goes on")
				assert.True(t, len(f.Threads) > 0 || f.Methods > 0 && f.First != nil)
				break
			}
		}
		assert.Positive(t, found)
		ambient := slices.ContainsFunc(out.Flows, func(f answer.Flow) bool {
			return len(f.Threads) > 0 && slices.ContainsFunc(f.Values, func(v answer.FlowValue) bool { return v.Text == `"ambient value"` })
		})
		assert.True(t, ambient, "the AsyncLocal of the program flows with its threads")
		return found
	})
}

func scopesOf(f *answer.Flow) string {
	var all []string
	for i := range f.Values {
		all = append(all, f.Values[i].Scopes...)
	}
	return strings.Join(all, "\n")
}

func activities(f *answer.Flow) []answer.Activity {
	for i := range f.Values {
		if len(f.Values[i].Activities) > 0 {
			return f.Values[i].Activities
		}
	}
	return nil
}

// TestFlowOfOne checks that an ExecutionContext, the Thread that runs with it and an async method that will resume with
// it give the same flow. Other objects are rejected.
func TestFlowOfOne(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		out := listed(t, d.Dump)
		r, _, v := reader(t, d.Dump)
		objects, err := v.Objects()
		require.NoError(t, err)
		list, err := v.Threads()
		require.NoError(t, err)
		b, err := v.Shapes()
		require.NoError(t, err)
		asked := 0
		same := func(a target.Addr, f *answer.Flow) {
			t.Helper()
			o, err := objects.Proven(a)
			require.NoError(t, err)
			got, err := r.Of(o)
			require.NoError(t, err)
			require.Len(t, got, 1)
			assert.Equal(t, f.Context, got[0].Context)
			assert.Equal(t, f.Values, got[0].Values)
			asked++
		}
		for i := range out.Flows {
			f := &out.Flows[i]
			same(f.Context, f)
			if f.First != nil {
				same(f.First.Object, f)
			}
			for _, w := range f.Threads {
				for k := range list {
					if list[k].ID() == w.OSID {
						o, err := b.Handle(list[k].Managed.ExposedHandle)
						require.NoError(t, err)
						same(o.Addr, f)
					}
				}
			}
			value, err := objects.Proven(f.Values[0].Address)
			require.NoError(t, err)
			_, err = r.Of(value)
			assert.ErrorIs(t, err, target.ErrUnsupported)
		}
		return asked
	})
}

// TestStacksOfRequests finds a request parked in async code by its flow and by the HttpContext in variables of methods.
// The stack reaches from the awaited end to a method of the server or application.
func TestStacksOfRequests(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		r, out, v := reader(t, d.Dump)
		h, err := v.Heap()
		require.NoError(t, err)
		reader, err := tasks.Of(v.Process)
		require.NoError(t, err)
		set, err := reader.Collect(t.Context(), h, heap.ScanOptions{})
		require.NoError(t, err)
		b, err := v.Shapes()
		require.NoError(t, err)
		const byScope, byVariable = 0, 1
		stacks, err := r.Stacks(t.Context(), set, 2, func(box objects.Object) (have, awaited []int) {
			for _, value := range r.Describe(r.OfMethod(box)) {
				if strings.Contains(strings.Join(value.Scopes, " "), "path=/reports/monthly") {
					have = append(have, byScope)
				}
			}
			for a := range r.Variables(box) {
				o, err := b.Objects().Object(a)
				require.NoError(t, err)
				if name, err := b.Definition(o.Type); err == nil && name == "Microsoft.AspNetCore.Http.DefaultHttpContext" {
					return append(have, byVariable), nil
				}
			}
			return have, nil
		})
		require.NoError(t, err)
		for _, err := range out.Noted() {
			assert.ErrorIs(t, err, target.ErrNotInDump)
		}
		require.NotNil(t, stacks[byScope])
		assert.Contains(t, stacks[byScope].Reason.String(), "TaskCompletionSource")
		names := ""
		for _, f := range stacks[byScope].Frames {
			if !f.Name.IsZero() {
				names += f.Name.String() + "\n"
			}
		}
		assert.Contains(t, names, "FetchPageAsync")
		require.NotNil(t, stacks[byVariable])
		return 2
	})
}

// TestMissingParts repeats the query, each time without one of the pieces of memory that the answer was read from.
func TestMissingParts(t *testing.T) {
	ask := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(flows.Flows(t.Context(), v.Process, flows.Options{}))
	}
	testdump.OpenWeb(t, "web-net10").Sweep(t, 200, false, ask)
}

// TestCanceled checks that a canceled context ends each query with its error.
func TestCanceled(t *testing.T) {
	v, err := testdump.OpenWeb(t, "web-net10").View("")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func() error{
		"flows": func() error { _, err := flows.Flows(ctx, v.Process, flows.Options{}); return err },
	} {
		assert.ErrorIs(t, ask(), context.Canceled, name)
	}
}

// TestOtherObjects checks that other kinds of objects, and null, have no flow and no gap.
func TestOtherObjects(t *testing.T) {
	d := testdump.OpenWeb(t, "web-net10")
	out := listed(t, d.Dump)
	r, gaps, v := reader(t, d.Dump)
	b, err := v.Shapes()
	require.NoError(t, err)
	contexts, texts := 0, 0
	for i := range out.Flows {
		f := &out.Flows[i]
		o, err := b.Objects().Object(f.Context)
		require.NoError(t, err)
		assert.Zero(t, r.OfMethod(o).Addr, "a context is no method")
		assert.Empty(t, slices.Collect(r.Variables(o)))
		assert.Nil(t, r.Activity(o))
		assert.Empty(t, r.Scopes(o))
		for value := range r.Values(o) { // a caller may stop at the first
			assert.Equal(t, f.Values[0].Address, value.Addr)
			assert.Empty(t, slices.Collect(r.Values(value)), "a value is no context")
			if value.IsString() {
				texts++
			}
			break
		}
		contexts++
	}
	assert.Positive(t, contexts)
	assert.Positive(t, texts, "the program's AsyncLocal")

	assert.Zero(t, r.OfThread(nil).Addr)
	assert.Zero(t, r.OfThread(&stackwalk.Thread{}).Addr, "a thread without a managed one")
	list, err := v.Threads()
	require.NoError(t, err)
	named := 0
	for _, thread := range list {
		w := r.Worker(t.Context(), v.Process, &thread)
		assert.Equal(t, thread.Describe(nil), w.Thread)
		named++
	}
	assert.Positive(t, named)
	_, err = r.Stacks(t.Context(), nil, 1, nil)
	assert.ErrorIs(t, err, target.ErrUnsupported, "no tasks are collected")
	for _, err := range gaps.Noted() {
		assert.ErrorIs(t, err, target.ErrNotInDump)
	}
}
