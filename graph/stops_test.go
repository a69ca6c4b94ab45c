//go:build unix

package graph_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/waste"
	"github.com/sosgo/sosgo/internal/heapdiff"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// A phase is a step of the work on a heap that may take long, with one worker, over a graph that was just built.
type phase struct {
	name string
	run  func(ctx context.Context, g *graph.Graph) error
	// scans is set if the heap is scanned by workers that check a context of their own.
	scans bool
}

// A stopped is a heap on which phases are measured.
type stopped struct {
	view   *sosgo.View
	heap   *heap.Heap
	roots  *graph.Roots
	reader *objects.Reader
}

func newStopped(t testing.TB, d *sosgo.Dump) *stopped {
	v, err := d.View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	reader, err := v.RootReader()
	require.NoError(t, err)
	r, err := graph.RootsOf(t.Context(), h, reader)
	require.NoError(t, err)
	o, err := v.Objects()
	require.NoError(t, err)
	return &stopped{v, h, r, o}
}

func (s *stopped) build(ctx context.Context, o graph.Options) (*graph.Graph, error) {
	o.Jobs = 1
	return graph.Build(ctx, s.heap, s.roots, o)
}

// timed returns a phase that calls of with a graph.
func timed[T any](name string, of func(*graph.Graph, context.Context) (T, error)) phase {
	return phase{name: name, run: func(ctx context.Context, g *graph.Graph) error { _, err := of(g, ctx); return err }}
}

// dominated returns a phase that calls of with the dominators, which are computed outside of it.
func dominated(t testing.TB, name string, of func(context.Context, *graph.Dominators) error) phase {
	return phase{name: name, run: func(ctx context.Context, g *graph.Graph) error {
		d, err := g.Dominators(t.Context())
		require.NoError(t, err)
		ctx.(*watching).begin()
		return of(ctx, d)
	}}
}

func (s *stopped) phases(t testing.TB) []phase {
	there := t.TempDir()
	built := func(dir func() string) func(context.Context, *graph.Graph) error {
		return func(ctx context.Context, _ *graph.Graph) error {
			o := graph.Options{}
			if dir != nil {
				o.Keep = &graph.Keep{Dir: dir(), Name: "heap", Dump: []byte("it")}
			}
			g, err := s.build(ctx, o)
			if err == nil {
				g.Close()
			}
			return err
		}
	}
	scan := heap.ScanOptions{Jobs: 1}
	holders := func(g *graph.Graph) *graph.Holders {
		reader, err := s.view.RootReader()
		require.NoError(t, err)
		return graph.NewHolders(g, s.reader, reader)
	}
	summary := func(ctx context.Context, g *graph.Graph) error {
		_, err := heapdiff.SummarizeGraph(ctx, "it", g, g.Names(s.reader), heapdiff.GraphOptions{Jobs: 1})
		return err
	}
	return []phase{
		{"walk", func(ctx context.Context, _ *graph.Graph) error { _, err := s.heap.Stats(ctx, nil, scan); return err }, true},
		{"build", built(nil), true},
		{"keep", built(t.TempDir), true},
		{"keep there", built(func() string { return there }), true},
		{"kept", built(func() string { return there }), true},
		timed("referrers", (*graph.Graph).Referrers),
		timed("live", (*graph.Graph).Live),
		timed("reach", (*graph.Graph).Reach),
		timed("dominators", (*graph.Graph).Dominators),
		timed("live starts", (*graph.Graph).LiveStarts),
		timed("types", (*graph.Graph).CountTypes),
		dominated(t, "children", func(ctx context.Context, d *graph.Dominators) error { _, err := d.Children(ctx, 0); return err }),
		dominated(t, "by type", func(ctx context.Context, d *graph.Dominators) error {
			_, err := d.ByType(ctx, graph.PartLive)
			return err
		}),
		dominated(t, "by generation", func(ctx context.Context, d *graph.Dominators) error {
			_, err := d.ByGeneration(ctx, graph.PartLive)
			return err
		}),
		{"leaks", func(ctx context.Context, g *graph.Graph) error {
			_, err := leaks.Find(ctx, holders(g), s.reader, leaks.Options{Jobs: 1})
			return err
		}, true},
		{"waste", func(ctx context.Context, _ *graph.Graph) error {
			_, err := waste.Find(ctx, s.heap, s.reader, waste.Options{Scan: scan})
			return err
		}, true},
		{"diff", func(ctx context.Context, _ *graph.Graph) error {
			_, err := heapdiff.Summarize(ctx, "it", s.heap, scan)
			return err
		}, true},
		{"diff of paths", summary, false},
		{"same addresses", func(ctx context.Context, g *graph.Graph) error {
			_, err := heapdiff.CompareAddresses(ctx, g, g)
			return err
		}, false},
		{"query", func(ctx context.Context, _ *graph.Graph) error {
			p, err := query.NewEnv(s.view.Process)
			if err != nil {
				return err
			}
			p.Scan = scan
			a, err := query.Run(ctx, p, "from objects | group by type | select count(), sum(size) | order by 2", query.Options{})
			if err == nil {
				for _, err = range a.Rows {
					if err != nil {
						break
					}
				}
			}
			return err
		}, true},
	}
}

// A watching context records how much processor time the process uses between two checks of it.
type watching struct {
	context.Context
	mu    sync.Mutex
	start time.Duration
	last  time.Duration
	looks int
	gap   time.Duration // the longest
	to    []byte        // the stack at its end
}

func used() time.Duration {
	user, system := cpu()
	return user + system
}

func watch(ctx context.Context) *watching {
	w := &watching{Context: ctx}
	w.begin()
	return w
}

// begin discards earlier records.
func (w *watching) begin() {
	w.start = used()
	w.last, w.looks, w.gap = w.start, 0, 0
}

func (w *watching) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := used()
	w.looks++
	if d := now - w.last; d > w.gap {
		w.gap, w.to = d, debug.Stack()
		now = used()
	}
	w.last = now
	return w.Context.Err()
}

// look runs a phase and checks the context once more at the end.
func (s *stopped) look(t testing.TB, p phase) (w *watching, all time.Duration) {
	g, err := s.build(t.Context(), graph.Options{})
	require.NoError(t, err)
	defer g.Close()
	w = watch(t.Context())
	require.NoError(t, p.run(w, g))
	_ = w.Err()
	return w, w.last - w.start
}

// TestBigGaps logs how long the phases on the dump that SOSGO_BENCH_DUMP names work without checking their context.
func TestBigGaps(t *testing.T) {
	name := os.Getenv("SOSGO_BENCH_DUMP")
	if name == "" {
		t.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	d, err := sosgo.Open(name, sosgo.Options{})
	require.NoError(t, err)
	defer d.Close()
	s := newStopped(t, d)
	for _, p := range s.phases(t) {
		w, all := s.look(t, p)
		fmt.Printf("%-15s %8.1f ms in all %8d looks %6.1f ms the longest without one\n", p.name, all.Seconds()*1e3, w.looks, w.gap.Seconds()*1e3)
		if w.gap > 10*time.Millisecond {
			fmt.Println(string(w.to))
		}
	}
}

// madeHeap returns the heap of a canned dump with a segment of n more objects: a live tree of arrays with a string
// each, and as many dead arrays and arrays of bytes.
func madeHeap(t testing.TB, n int) *stopped {
	d := testdump.Open(t, "net10-zoo")
	l := newLargeHeap(t, d)
	arrays, bytes, _ := l.types(t)
	text := l.heap.Runtime().WellKnown().String
	const unit = 48
	image := make([]byte, n*unit)
	at := func(i int) uint64 { return uint64(largeStart) + uint64(i*unit) }
	le := binary.LittleEndian
	for i := range n {
		o := image[i*unit:]
		switch {
		case i%4 == 2:
			le.PutUint64(o, uint64(text))
			le.PutUint32(o[8:], 13)
			copy(o[12:], fmt.Sprintf("%026d", i%1000))
		case i%4 == 3:
			le.PutUint64(o, uint64(bytes))
			le.PutUint32(o[8:], 24)
		default:
			le.PutUint64(o, uint64(arrays))
			le.PutUint32(o[8:], 3)
			for k, to := range [...]int{i + 2, 2*i + 4, 2*i + 8} { // those at multiples of 4 are a tree with strings
				if to < n {
					le.PutUint64(o[16+8*k:], at(to))
				}
			}
		}
	}
	l.at = target.Addr(at(n))
	l.objects = []testdump.Damage{{At: largeStart, Bytes: image}}
	l.point(t, d.Options())
	s := newStopped(t, l.open(t, d.Options(), target.Range{Start: largeStart, End: l.at}))
	require.Empty(t, s.heap.Warnings())
	stats, err := s.heap.Stats(t.Context(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	require.Empty(t, stats.Corruptions)
	require.Greater(t, stats.Count, uint64(n))
	k := s.roots.Add(graph.Source{Kind: graph.SourceRuntime, Parent: graph.UnderRoot})
	s.roots.Edges = append(s.roots.Edges, graph.RootEdge{Source: k, Object: largeStart})
	return s
}

// TestPhasesLook: a cancelled call does not take longer on a larger heap. Each phase checks its context all the time:
// it never works without a check for longer than three times what 50 ms of 18 million objects would be, or, if it scans
// the heap, it does not continue for a third of its time after it was stopped. (An idle machine needs a third of that;
// TestBigGaps logs the times of large dumps.) These are processor times, because the clock means nothing on a busy
// machine. The best of five tries is used, because Go's collector and the system need time too.
func TestPhasesLook(t *testing.T) {
	if testing.Short() {
		t.Skip("a million objects are walked dozens of times")
	}
	const n = 1 << 20
	most := 150 * time.Millisecond * time.Duration(n) / 18e6
	s := madeHeap(t, n)
	for _, p := range testcase.Sample(t, s.phases(t), 6) {
		t.Run(strings.ReplaceAll(p.name, " ", "_"), func(t *testing.T) {
			best, bound := time.Hour, most
			for try := 0; try < 5 && best >= bound; try++ { // usually once
				w, all := s.look(t, p)
				gap := w.gap
				if p.scans {
					gap, bound = s.stop(t, p, all), all/3 // including the time that a step takes to end
				}
				best = min(best, gap)
				t.Logf("%v of %v in all, %d looks\n%s", gap, all, w.looks, w.to)
			}
			require.Less(t, best, bound)
		})
	}
}

// stop stops a phase of that much processor time at several moments. It returns the longest time that the phase
// continued.
func (s *stopped) stop(t testing.TB, p phase, all time.Duration) (longest time.Duration) {
	const moments = 5
	for i := range time.Duration(moments) {
		g, err := s.build(t.Context(), graph.Options{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		start := used()
		var at time.Duration
		var timer sync.WaitGroup
		timer.Go(func() {
			for now := start; ; now = used() {
				if now-start >= all*(i+1)/(moments+1) || ctx.Err() != nil {
					at = now
					cancel()
					return
				}
				time.Sleep(all / 200)
			}
		})
		err = p.run(ctx, g)
		end := used()
		cancel()
		g.Close()
		timer.Wait()
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			longest = max(longest, end-at)
		}
	}
	return longest
}
