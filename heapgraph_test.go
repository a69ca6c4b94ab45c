package sosgo_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/answers"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// TestHeapGraph checks that the graph has the objects of the manifest, and that edges and roots lead to its objects.
func TestHeapGraph(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	v, err := d.View("")
	require.NoError(t, err)
	g, err := memory.HeapGraph(t.Context(), v.Process, heap.ScanOptions{})
	require.NoError(t, err)
	nodes := map[target.Addr]string{}
	edges := map[target.Addr]bool{}
	for o, err := range g.Objects {
		require.NoError(t, err)
		nodes[o.Address] = g.Types[o.Type].String()
		for _, to := range o.References {
			edges[to] = true
		}
	}
	require.NoError(t, g.Failure())
	named := 0
	for _, fact := range d.Manifest.Objects() {
		if name, ok := nodes[fact.Addr]; ok {
			named++
			assert.Equal(t, testdump.ManagedName(fact.Type), name, fact.Name)
		}
	}
	assert.NotZero(t, named)
	for to := range edges {
		assert.Contains(t, nodes, to)
	}
	kinds := map[answer.RootKind]int{}
	for _, r := range g.Roots {
		kinds[r.Kind]++
		assert.Contains(t, nodes, r.Object)
	}
	assert.NotZero(t, kinds[answer.RootHandle])
	assert.NotZero(t, kinds[answer.RootStack])

	again, err := memory.HeapGraph(t.Context(), v.Process, heap.ScanOptions{})
	require.NoError(t, err)
	var first answer.GraphObject
	for o, err := range again.Objects {
		require.NoError(t, err)
		first = *o
		break // ends the walk and is no failure
	}
	assert.NotZero(t, first.Address)
	assert.NoError(t, again.Failure())
}

// TestHeapGraphMissing checks that an unreadable place of the heap is a missing row.
func TestHeapGraphMissing(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	v, err := d.Damaged(t, testdump.Words(d.Manifest.Objects()[0].Addr, 0x12345678)).View("")
	require.NoError(t, err)
	g, err := memory.HeapGraph(t.Context(), v.Process, heap.ScanOptions{})
	require.NoError(t, err)
	rows, missing := 0, 0
	for o, err := range g.Objects {
		if err == nil {
			rows++
			continue
		}
		require.ErrorIs(t, err, target.ErrCorrupt)
		assert.Nil(t, o)
		missing++
	}
	assert.Positive(t, rows)
	assert.Equal(t, 1, missing)
	assert.NoError(t, g.Failure())
	for _, err := range g.Noted() {
		assert.NotErrorIs(t, err, target.ErrCorrupt)
	}
}

// TestGraphOfAClosedDump checks that calls after Close return an answer or an error, and never read the graph's
// unmapped memory.
func TestGraphOfAClosedDump(t *testing.T) {
	raw, err := testdump.Open(t, "net10-zoo").Raw()
	require.NoError(t, err)
	d, err := sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), sosgo.Options{NoLocalFiles: true})
	require.NoError(t, err)
	v, err := d.View("")
	require.NoError(t, err)
	first, err := v.Graph(t.Context(), graph.Options{})
	require.NoError(t, err)
	require.NotZero(t, first.Objects())
	require.NoError(t, d.Close())
	_, err = v.Graph(t.Context(), graph.Options{})
	require.ErrorIs(t, err, target.ErrClosed)
	_, err = v.Holders(t.Context(), graph.Options{})
	require.ErrorIs(t, err, target.ErrClosed)
	assert.Zero(t, first.Objects())
	_, found := first.Node(1)
	assert.False(t, found)
}

// TestCloseWhileTheGraphIsUsed closes a dump while goroutines build and use its graph. Close waits for them. Each
// returns an answer or ErrClosed. A fault in unmapped memory would crash the test; -race finds reads of it.
func TestCloseWhileTheGraphIsUsed(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	for round := range 6 {
		d, err := sosgo.Open(c.Plain(), c.Options())
		require.NoError(t, err)
		v, err := d.View("")
		require.NoError(t, err)
		h, err := v.Heap()
		require.NoError(t, err)
		var some target.Addr
		for o, err := range h.Objects() {
			if err == nil && !o.Free {
				some = o.Addr
				break
			}
		}
		if round%2 == 0 {
			_, err = v.Holders(t.Context(), graph.Options{})
			require.NoError(t, err)
		}
		asks := []func(*graph.Holders) error{
			func(x *graph.Holders) error { _, err := x.Retained(t.Context(), graph.RetainedOptions{}); return err },
			func(x *graph.Holders) error {
				_, err := x.RootPaths(t.Context(), some, graph.HoldOptions{})
				return err
			},
			func(x *graph.Holders) error {
				_, err := x.KeptBy(t.Context(), some, graph.KeepOptions{OnlyStatistics: true})
				return err
			},
			func(x *graph.Holders) error {
				ctx, done, err := x.Graph().Use(t.Context())
				if err != nil {
					return err
				}
				defer done()
				live, err := x.Graph().Live(ctx)
				if err != nil {
					return err
				}
				sum := uint64(0)
				for n := range graph.Node(x.Graph().Objects()) {
					if live.Live(n) {
						sum += x.Graph().Size(n)
					}
				}
				if _, want := live.Count(); sum != want {
					return fmt.Errorf("%d bytes of %d", sum, want)
				}
				return nil
			},
		}
		var wg sync.WaitGroup
		started := make(chan struct{}, len(asks))
		for _, ask := range asks {
			wg.Go(func() {
				started <- struct{}{}
				for {
					x, err := v.Holders(t.Context(), graph.Options{})
					if err == nil {
						err = ask(x)
					}
					if err != nil {
						assert.ErrorContains(t, err, "is closed")
						return
					}
				}
			})
		}
		for range asks {
			<-started
		}
		require.NoError(t, d.Close())
		wg.Wait()
	}
}

// TestGraphDir checks that a dump's graph is kept only in GraphDir, and not used for a dump that was overwritten.
func TestGraphDir(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	content, err := os.ReadFile(c.Case.Path)
	require.NoError(t, err)
	dir, folder := t.TempDir(), t.TempDir()
	path := filepath.Join(folder, "app.dmp")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	ask := func(o sosgo.Options) (retained uint64, notes []error, walked bool) {
		d, err := sosgo.Open(path, o)
		require.NoError(t, err)
		defer func() { require.NoError(t, d.Close()) }()
		v, err := d.View("")
		require.NoError(t, err)
		g, err := v.Graph(t.Context(), graph.Options{Progress: func(p graph.Progress) { walked = walked || p.Phase == "objects" }})
		require.NoError(t, err)
		doms, err := g.Dominators(t.Context())
		require.NoError(t, err)
		return doms.Retained(g.Root()), g.Notes(), walked
	}
	options := c.Options()
	want, _, walked := ask(options)
	require.True(t, walked)
	options.GraphDir = dir
	for i, mmap := range []bool{true, true, false} {
		options.NoMmap = !mmap
		got, notes, walked := ask(options)
		require.Equal(t, want, got)
		require.Empty(t, notes)
		require.Equal(t, i == 0, walked)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 3, "rows, what lives, dominators")
	for _, f := range files {
		require.Regexp(t, `^app\.dmp-[0-9a-f]{16}\.[a-z]+\.sosgo$`, f.Name())
	}
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(path, later, later))
	got, notes, walked := ask(options)
	require.Equal(t, want, got)
	require.NotEmpty(t, notes)
	require.True(t, walked)
	beside, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, beside, 1, "nothing is written that nobody asked for")
}

// TestMaxMemory checks that no answer exceeds Options.MaxMemory: those that need a graph fail with ErrLimit, and the
// others are as without a limit.
func TestMaxMemory(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	o := c.Options()
	o.MaxMemory = -1
	_, err := sosgo.Open(c.Plain(), o)
	require.ErrorIs(t, err, sosgo.ErrArgument)
	o.MaxMemory = 1
	d, err := sosgo.Open(c.Plain(), o)
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	free, err := c.View("")
	require.NoError(t, err)
	limited := 0
	for name := range answers.All {
		_, err := answers.Call(t.Context(), name, v.Process)
		_, unlimited := answers.Call(t.Context(), name, free.Process)
		if errors.Is(err, sosgo.ErrLimit) {
			limited++
			assert.NotErrorIs(t, unlimited, sosgo.ErrLimit, name)
		} else {
			assert.Equal(t, unlimited == nil, err == nil, "%s: %v", name, err)
		}
	}
	assert.Greater(t, limited, 10)
	_, err = v.Graph(t.Context(), graph.Options{})
	assert.ErrorIs(t, err, sosgo.ErrLimit)
}

// TestMaxMemoryOfTables checks that the tables that answers make of what a heap has in masses count against
// Options.MaxMemory, and are given back.
func TestMaxMemoryOfTables(t *testing.T) {
	c := testdump.Open(t, "net10-async")
	o := c.Options()
	o.MaxMemory = 2 << 10
	d, err := sosgo.Open(c.Plain(), o)
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	for range 2 {
		for name, what := range map[string]string{
			"app/async.Tasks": "all tasks", "app/async.Stacks": "all tasks", "app/threadpool.Timers": "all timers", "app/memory.OldReferences": "young objects",
		} {
			_, err := answers.Call(t.Context(), name, v.Process)
			assert.ErrorIs(t, err, sosgo.ErrLimit, name)
			assert.ErrorContains(t, err, what, name)
			assert.NotContains(t, err.Error(), "beside", name)
		}
	}
	waits, err := v.Waits(t.Context(), sosgo.WaitOptions{})
	require.NoError(t, err)
	assert.ErrorIs(t, errors.Join(waits.Noted()...), sosgo.ErrLimit)
}

// TestMaxMemoryOfRequests checks that requests count against Options.MaxMemory: there are never fewer, but an error.
func TestMaxMemoryOfRequests(t *testing.T) {
	c := testdump.OpenWeb(t, "web-net10")
	free, err := c.View("")
	require.NoError(t, err)
	whole, err := web.Requests(t.Context(), free.Process, web.RequestOptions{Brief: true})
	require.NoError(t, err)
	require.NotEmpty(t, whole.Requests)
	failed := 0
	for limit := int64(64); limit <= 64<<10; limit *= 2 {
		o := c.Options()
		o.MaxMemory = limit
		d, err := sosgo.Open(c.Plain(), o)
		require.NoError(t, err)
		v, err := d.View("")
		require.NoError(t, err)
		if list, err := web.Requests(t.Context(), v.Process, web.RequestOptions{Brief: true}); err == nil {
			assert.Len(t, list.Requests, len(whole.Requests), "%d", limit)
		} else {
			failed++
			assert.ErrorIs(t, err, sosgo.ErrLimit, "%d", limit)
		}
		require.NoError(t, d.Close())
	}
	assert.Greater(t, failed, 3)
}

// TestMaxMemoryOfQueries checks that what a query keeps counts against Options.MaxMemory, and is given back.
func TestMaxMemoryOfQueries(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	o := c.Options()
	o.MaxMemory = 32 << 10
	d, err := sosgo.Open(c.Plain(), o)
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	run := func(text string) (rows int, err error) {
		q, err := v.Query(t.Context(), text, query.Options{})
		require.NoError(t, err, text)
		for _, err := range q.Rows {
			if err != nil {
				return rows, err
			}
			rows++
		}
		return rows, nil
	}
	for range 3 {
		for _, text := range []string{
			"from objects | order by address desc",
			"from objects | group by address | select address",
			"from objects | select count(distinct address)",
			"from objects | group by gen | select gen, count(distinct address)",
			"select distinct address from objects",
		} {
			_, err := run(text)
			assert.ErrorIs(t, err, sosgo.ErrLimit, text)
			assert.ErrorContains(t, err, "of memory would be needed for the query", text)
		}
		n, err := run("select distinct gen from objects")
		assert.NoError(t, err)
		assert.Positive(t, n)
	}
}
