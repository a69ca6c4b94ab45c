package leaks_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// find looks for leaks in a dump.
func find(t *testing.T, d *testdump.Dump, o leaks.Options) *answer.Leaks {
	t.Helper()
	return findIn(t, d.Dump, o)
}

func findIn(t *testing.T, d *sosgo.Dump, o leaks.Options) *answer.Leaks {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	x, err := v.Holders(t.Context(), graph.Options{})
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	a, err := leaks.Find(t.Context(), x, r, o)
	require.NoError(t, err)
	return a
}

// fact returns where the object of a fact of the manifest is.
func fact(t *testing.T, d *testdump.Dump, name string) target.Addr {
	t.Helper()
	text, ok := d.Manifest.Fact(name)
	require.True(t, ok, "%s is no fact", name)
	a, _, _ := strings.Cut(text, " ")
	return testdump.Address(a)
}

func of(t *testing.T, a *answer.Leaks, is func(*answer.Suspect) bool) *answer.Suspect {
	t.Helper()
	i := slices.IndexFunc(a.Suspects, func(s answer.Suspect) bool { return is(&s) })
	require.GreaterOrEqual(t, i, 0, "not among %d suspects", len(a.Suspects))
	return &a.Suspects[i]
}

// TestKnownLeaks finds the deliberate leaks of the debuggee first, with their fields and counts: an event with 500
// handlers, a static dictionary of 1,000 sessions, a list that is never emptied, and two finalizers that never return.
func TestKnownLeaks(t *testing.T) {
	for _, name := range []string{"net10-heap-withheap", "net8-heap-withheap", "net31-heap-withheap", "win-net6-heap-withheap"} {
		t.Run(name, func(t *testing.T) {
			d := testdump.OpenCase(t, name)
			a := find(t, d, leaks.Options{})
			assert.True(t, a.Small)
			assert.Zero(t, a.Nameless)
			event := of(t, a, func(s *answer.Suspect) bool { return s.Kind == answer.SuspectEvent })
			assert.Equal(t, uint64(500), event.Elements.Value)
			assert.Equal(t, "Changed", event.Name.S)
			assert.Equal(t, fact(t, d, "bus"), event.Owner.Address)
			assert.Contains(t, event.Path.Root.Name, "Debuggee.Heap.Scenario.Bus")
			require.Len(t, event.Targets, 1)
			assert.Equal(t, "Debuggee.Heap.Subscriber", event.Targets[0].Type.S)
			assert.Equal(t, uint64(500), event.Targets[0].Count)

			cache := of(t, a, func(s *answer.Suspect) bool { return s.Members != nil && s.Members.Type.S == "Debuggee.Heap.Session" })
			assert.Equal(t, answer.SuspectAccumulation, cache.Kind)
			assert.Equal(t, uint64(1000), cache.Elements.Value)
			assert.Contains(t, cache.Path.Root.Name, "Debuggee.Heap.Scenario.Cache")
			require.NotNil(t, cache.Owner)
			assert.Equal(t, fact(t, d, "cache"), cache.Owner.Address)

			kept := of(t, a, func(s *answer.Suspect) bool {
				return s.Path != nil && strings.Contains(s.Path.Root.Name, "Debuggee.Heap.Scenario.s_keep")
			})
			assert.Equal(t, &a.Suspects[0], kept)
			assert.LessOrEqual(t, len(a.Suspects), 4)

			assert.GreaterOrEqual(t, a.Finalizers.Ready, uint64(10))
			require.NotEmpty(t, a.Finalizers.Running)
			assert.Contains(t, a.Finalizers.Running[0].S, "Debuggee.Heap.Stuck.Finalize")
			for _, s := range a.Suspects {
				assert.Equal(t, answer.VerdictNotable, s.Verdict, "no alarm about 2 MB")
			}
		})
	}
}

// TestHealthy checks that a program without leaks has no suspects. Its one large array is listed.
func TestHealthy(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if _, ok := d.Manifest.Fact("root.Arrays.Large"); !ok {
			t.Skip("another debuggee")
		}
		v, err := d.View("")
		require.NoError(t, err)
		if h, err := v.Heap(); err != nil || len(h.Segments()) == 0 {
			t.Skip("no heap in the dump")
		}
		x, err := v.Holders(t.Context(), graph.Options{})
		require.NoError(t, err)
		if x.Graph().Objects() == 0 {
			r, err := v.Objects()
			require.NoError(t, err)
			_, err = leaks.Find(t.Context(), x, r, leaks.Options{})
			require.ErrorIs(t, err, target.ErrNotInDump, "nothing was looked at")
			return
		}
		a := find(t, d, leaks.Options{})
		assert.True(t, a.Small)
		for _, s := range a.Suspects {
			assert.Equal(t, answer.VerdictNotable, s.Verdict)
			assert.Equal(t, answer.SuspectObject, s.Kind)
			assert.Equal(t, fact(t, d, "root.Arrays.Large"), s.Point.Address)
		}
		assert.Len(t, a.Suspects, 1)
	})
}

// owners returns the graph of a dump, its live objects, and its dominators.
func owners(t *testing.T, d *testdump.Dump) (*graph.Graph, *graph.Liveness, *graph.Dominators) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	x, err := v.Holders(t.Context(), graph.Options{})
	require.NoError(t, err)
	g := x.Graph()
	live, err := g.Live(t.Context())
	require.NoError(t, err)
	doms, err := g.Dominators(t.Context())
	require.NoError(t, err)
	return g, live, doms
}

// TestGroupReferrers checks that objects that refer to the members of a group one by one are named beside the group's
// holders, if they are live and no part of a member. Each count is the number of edges.
func TestGroupReferrers(t *testing.T) {
	d := testdump.OpenCase(t, "web-net10-withheap")
	g, live, doms := owners(t, d)
	held, err := g.Referrers(t.Context())
	require.NoError(t, err)
	owns := func(n, r graph.Node) bool { // r would go with n
		for r != n && g.IsObject(r) && doms.Idom(r) != r {
			r = doms.Idom(r)
		}
		return r == n
	}
	rows := 0
	for _, s := range find(t, d, leaks.Options{Count: 10, Bytes: 1, Least: 0.0001, Share: 1, Top: 1000}).Suspects {
		if s.Kind != answer.SuspectGroup || s.Members.Count > 200 { // the referrers of larger groups are sampled
			continue
		}
		holders := map[target.Addr]bool{}
		for _, h := range s.Holders {
			if h.Object != nil {
				holders[h.Object.Address] = true
				assert.NotNil(t, h.Path, "garbage holds nothing")
			}
		}
		members, owned := map[target.Addr]map[graph.Node]bool{}, uint64(0)
		for n := range graph.Node(g.Objects()) {
			if g.Type(n).Addr != s.Members.MethodTable || !live.Live(n) || g.IsObject(doms.Idom(n)) {
				continue
			}
			owned++
			for _, r := range held.Of(n) {
				if g.IsObject(r) && live.Live(r) && !holders[g.Address(r)] && g.Type(r) != g.Type(n) && !owns(n, r) {
					mt := g.Type(r).Addr
					if members[mt] == nil {
						members[mt] = map[graph.Node]bool{}
					}
					members[mt][n] = true
				}
			}
		}
		if owned != s.Members.Count {
			continue // some belong to a pattern
		}
		for _, o := range s.Others {
			rows++
			require.NotNil(t, o.Path, "%s", o.Type)
			assert.GreaterOrEqual(t, o.Share, 10.0)
			assert.InDelta(t, 100*float64(len(members[o.MethodTable]))/float64(owned), o.Share, 1e-9, "%s refer to %s", o.Type, s.Members.Type)
		}
	}
	assert.Positive(t, rows)
}

// TestThresholds checks that options select the listed suspects.
func TestThresholds(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	few := find(t, d, leaks.Options{Bytes: 1 << 20})
	assert.Empty(t, few.Suspects)
	many := find(t, d, leaks.Options{Bytes: 1, Least: 0.01, Count: 2})
	assert.Greater(t, len(many.Suspects), 5)
	top := find(t, d, leaks.Options{Bytes: 1, Least: 0.01, Count: 2, Top: 3})
	assert.Equal(t, many.Suspects[:3], top.Suspects)
	assert.Positive(t, top.More)
	event := of(t, many, func(s *answer.Suspect) bool { return s.Kind == answer.SuspectEvent })
	assert.Equal(t, fact(t, d, "root.Delegates.Multicast"), event.Point.Address)
}

// TestPatterns finds a web server's timers, registrations and disposables by type and field names, with a low
// threshold.
func TestPatterns(t *testing.T) {
	d := testdump.OpenCase(t, "web-net10-withheap")
	a := find(t, d, leaks.Options{Count: 2, Bytes: 1, Least: 0.0001})
	assert.Empty(t, a.Unknown)
	timers := of(t, a, func(s *answer.Suspect) bool {
		return s.Kind == answer.SuspectTimers && strings.Contains(s.Name.S, "CancellationTokenSource.TimerCallback")
	})
	assert.Equal(t, timers.Elements.Value, timers.Members.Count)
	assert.Equal(t, "System.Threading.TimerQueueTimer", timers.Members.Type.S)
	for _, target := range timers.Targets {
		assert.Contains(t, target.Type.S, "CancellationTokenSource", "the state of such a timer")
	}
	scope := of(t, a, func(s *answer.Suspect) bool { return s.Kind == answer.SuspectRootScope })
	var disposables uint64
	for _, target := range scope.Targets {
		disposables += target.Count
	}
	assert.GreaterOrEqual(t, scope.Elements.Value, disposables)
	assert.Contains(t, scope.Point.Type.S, "ServiceProviderEngineScope")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v, err := d.View("")
	require.NoError(t, err)
	x, err := v.Holders(t.Context(), graph.Options{})
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	_, err = leaks.Find(ctx, x, r, leaks.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestWeakReferences finds collections of dead weak references. The counts must match the handles, first for all weak
// references and then for every second one, by owner.
func TestWeakReferences(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	g, live, doms := owners(t, d)
	handles := map[graph.Node]target.Addr{}
	var weak []graph.Node
	for n := range graph.Node(g.Objects()) {
		name, err := g.Heap().Runtime().TypeName(g.Type(n).Addr, dac.NameManaged)
		if err != nil || !strings.HasPrefix(name, "System.WeakReference") || !live.Live(n) {
			continue
		}
		h, err := target.Pointer(d.Target(), g.Address(n)+8) // its only field
		require.NoError(t, err)
		handles[n] = h &^ 7
		weak = append(weak, n)
	}
	require.NotEmpty(t, weak)
	for _, step := range []int{1, 2} {
		var gone []testdump.Damage
		dead := map[graph.Node]bool{}
		for i, n := range weak {
			switch {
			case handles[n] == 0:
			case i%step == 0:
				gone = append(gone, testdump.Words(handles[n], 0))
			default:
				continue
			}
			dead[n] = true
		}
		changed := d.Damaged(t, gone...)
		t.Cleanup(func() { assert.NoError(t, changed.Close()) })
		a := findIn(t, changed, leaks.Options{Count: 1, Bytes: 1, Least: 0.0001})
		found := 0
		for i := range a.Suspects {
			s := &a.Suspects[i]
			if s.Kind != answer.SuspectWeak {
				continue
			}
			found++
			point, ok := g.Node(s.Point.Address)
			require.True(t, ok)
			var all, lost uint64
			for _, n := range weak {
				owner := doms.Idom(n) // an array that it is in, or an element of one
				if up := doms.Idom(owner); g.IsObject(owner) && !g.Type(owner).IsArray() && g.IsObject(up) {
					owner = up
				}
				if owner == point {
					all++
					if dead[n] {
						lost++
					}
				}
			}
			assert.Equal(t, all, s.Elements.Value, "%x", uint64(s.Point.Address))
			assert.Equal(t, lost, s.Dead, "%x", uint64(s.Point.Address))
			assert.Equal(t, all, s.Members.Count)
		}
		assert.Positive(t, found)
	}
}

// TestOwners checks the owners in dumps of web servers: containers, services and static fields of the program, never
// waiting code.
func TestOwners(t *testing.T) {
	testdump.Corpus(t, testcase.Named("web-*"), func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		l, err := leaks.Leaks(t.Context(), v.Process, leaks.Options{Bytes: 16 << 10, Least: 0.1})
		require.NoError(t, err)
		owned := 0
		for i := range l.Suspects {
			p := l.Suspects[i].Path
			if p == nil || p.Root.Kind != answer.RootStatic {
				continue
			}
			owned++
			for _, step := range p.Objects[:len(p.Objects)-1] {
				assert.NotContains(t, step.Type.S, "AsyncStateMachineBox", p.Root.Name)
				assert.NotContains(t, step.Type.S, "SemaphoreSlim+TaskNode", p.Root.Name)
				assert.NotContains(t, step.Type.S, "System.Threading.TimerQueueTimer", p.Root.Name)
			}
		}
		return owned
	})
}

// TestUnprovedRoots checks that the answer counts unverified roots, and lists suspects with only such roots last.
func TestUnprovedRoots(t *testing.T) {
	assert.Zero(t, find(t, testdump.Open(t, "net10-zoo"), leaks.Options{}).Unproved)
	d := testdump.Open(t, "win-net10-zoo")
	v, err := d.View("")
	require.NoError(t, err)
	want := 0
	for root, err := range v.Roots(t.Context()) {
		if err == nil && root.Conservative {
			want++
		}
	}
	require.NotZero(t, want)
	a := find(t, d, leaks.Options{Share: 0.01, Least: 0.01, Bytes: 24})
	assert.Equal(t, want, a.Unproved)
	ranks := []bool{}
	for i := range a.Suspects {
		s := &a.Suspects[i]
		p := s.Path
		if p == nil && len(s.Holders) > 0 {
			p = s.Holders[0].Path
		}
		ranks = append(ranks, p != nil && p.Root.Conservative)
	}
	require.Contains(t, ranks, true)
	require.Contains(t, ranks, false)
	assert.False(t, slices.Contains(ranks[slices.Index(ranks, true):], false), "%v", ranks)
}

// TestBesides checks that a suspect is kept also by slots of ThreadLocals, or by operations that wait, only if a path leads through one. Frames of
// one thread, and unverified words of stacks, are no such path.
func TestBesides(t *testing.T) {
	wait := []string{"Continuation", "AsyncStateMachineBox", "AsyncMethodBuilder", "CallbackNode", "TimerQueueTimer", "ExecutionContext", "AsyncLocalValueMap",
		"ThreadPoolWorkQueue", "SemaphoreSlim+TaskNode"}
	parts := map[string][]string{"kept by a root and by slots": {"+LinkedSlotVolatile[]"}, "kept by a root and by waits": wait}
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		x, err := v.Holders(t.Context(), graph.Options{})
		if err != nil || x.Graph().Objects() == 0 {
			t.Skip("no heap in the dump")
		}
		g := x.Graph()
		for _, s := range find(t, d, leaks.Options{}).Suspects {
			if s.Point == nil {
				continue
			}
			testcase.Compared(t, 1)
			through := parts[string(s.Kept.Says)]
			n, ok := g.Node(s.Point.Address)
			require.True(t, ok)
			found := len(through) == 0
			for p, err := range g.Paths(t.Context(), n, graph.PathOptions{Each: graph.EachRoot}) {
				require.NoError(t, err)
				found = found || slices.ContainsFunc(p.Nodes, func(n graph.Node) bool {
					return g.IsObject(n) && slices.ContainsFunc(through, func(part string) bool { return strings.Contains(x.Describe(new(answer.Gaps), n).Type.S, part) })
				})
			}
			assert.True(t, found, s.Kept.Text)
		}
	})
}

// TestChainOfTypes: where objects of several types take turns in a chain, each with most of what the one before it retains, the chain counts at its first
// object. Its last has next to nothing, and would hide it.
func TestChainOfTypes(t *testing.T) {
	d, err := sosgo.Open("../../../testdata/dumps/waits/net9-feed/net9-feed.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	s := of(t, findIn(t, d, leaks.Options{}), func(s *answer.Suspect) bool { return s.Point != nil && s.Point.Type.S == "Clerk.Key" })
	assert.Greater(t, s.Retained, uint64(400*2048))
	require.NotNil(t, s.Path)
	assert.Contains(t, s.Path.Root.Name, "Clerk.Feed.head")
	assert.Len(t, s.Path.Objects, 1, "the first key")
}

// TestFullCaches checks that a cache of the program with as many entries as its capacity says, after 1,481 additions, and a MemoryCache with a SizeLimit
// of 245,000 have evidence that their elements come and go.
func TestFullCaches(t *testing.T) {
	d, err := sosgo.Open("../../../testdata/dumps/values/net9-caches/net9-caches.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	a := findIn(t, d, leaks.Options{})
	says := map[string]string{}
	for i := range a.Suspects {
		s := &a.Suspects[i]
		if s.Owner != nil {
			says[s.Owner.Type.S] = s.Turnover.Text
		} else if s.Point != nil {
			says[s.Point.Type.S] = s.Turnover.Text
		}
	}
	assert.Equal(t, "it is full, as a cache with a limit is: its 500 elements are as many as the read-only field capacity says, after 1481 changes", says["Mart.Lru"])
	assert.Equal(t, "it is a cache with a limit: its entries have a size of 232400 of at most 245000 (SizeLimit)", says["Microsoft.Extensions.Caching.Memory.MemoryCache"])
}

// TestFarm checks that a cache without a count of its changes is known by the queue of its keys, and one with a constant limit by its code, but not one
// that only grows beside such a queue and below such a constant. A chain counts its objects, and the values of a ThreadLocal are one holder.
func TestFarm(t *testing.T) {
	d, err := sosgo.Open("../../../testdata/dumps/values/net10-owners/net10-owners.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	a := findIn(t, d, leaks.Options{})
	var titles []string
	turnover := map[uint64]string{}
	for i := range a.Suspects {
		s := &a.Suspects[i]
		titles = append(titles, s.Text)
		if s.Members != nil {
			turnover[s.Members.Count] = s.Turnover.Text
		}
	}
	assert.Equal(t, []string{
		"ThreadLocal Farm.Locals.scratch with values of 6 threads (3 of them have ended)",
		"300 Farm.Doc in a chain (each refers to the next by Next)",
		"500 elements in one System.Collections.Concurrent.ConcurrentDictionary<System.Int32, System.Byte[]>",
		"480 elements in one System.Collections.Concurrent.ConcurrentDictionary<System.Int32, System.Byte[]>",
		"450 System.Collections.Generic.LinkedListNode<System.Byte[]> owned by one Farm.Constant",
	}, titles)
	assert.Equal(t, "its elements come and go, as in a cache with a limit: System.Collections.Concurrent.ConcurrentQueue<System.Int32> beside it was changed 38540 times for 500 elements",
		turnover[500])
	assert.Equal(t, "it is full, as a cache with a limit is: its 450 elements are as many as a number in Farm.Constant.Put, which removes some", turnover[450])
	assert.Empty(t, turnover[480], "it only grows")
	local := of(t, a, func(s *answer.Suspect) bool { return s.Kind == answer.SuspectThreadLocal })
	assert.Equal(t, "kept by ThreadLocal Farm.Locals.scratch, of 6 threads (3 of them have ended)", local.Kept.Text)
}

// TestSharedTurnover checks that elements which two collections share come and go if both of them show it, and not where both only grow.
func TestSharedTurnover(t *testing.T) {
	d, err := sosgo.Open("../../../testdata/dumps/values/net10-shared/net10-shared.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	a := findIn(t, d, leaks.Options{})
	says := map[string]string{}
	for i := range a.Suspects {
		if s := &a.Suspects[i]; s.Kind == answer.SuspectGroup {
			assert.Len(t, s.Holders, 2, s.Text)
			says[s.Members.Type.S] = s.Turnover.Text
		}
	}
	assert.Equal(t, map[string]string{"Attic.Box": "its elements come and go, as in a cache with a limit: 12000 changes of 600 elements", "Attic.Crate": ""}, says)
}

// TestMemoryInUse checks that memory which calls, a table and a cache with a limit have does not grow, or ends with the calls, and names what has it, also
// while a thread sorts the cache's entries.
func TestMemoryInUse(t *testing.T) {
	a := findIn(t, openMemory(t, "calm"), leaks.Options{})
	got := map[string]string{}
	for i := range a.Suspects {
		if s := &a.Suspects[i]; s.Verdict == answer.VerdictSuspect {
			name := s.Text
			if s.Kind != answer.SuspectGroup && !s.Kept.IsZero() {
				name += " " + s.Kept.Text
			}
			got[name] = s.Turnover.Text + s.Ends.Text
		}
	}
	ends := func(method string) string {
		return "only calls under way have it, such as " + method + ", and none of these is in a loop that may go on for ever: it lives until they end"
	}
	assert.Equal(t, map[string]string{
		"10,000 Microsoft.Extensions.Caching.Memory.CacheEntry without a single owner":                                  "it is a cache with a limit: its entries have a size of 20000000 of at most 20000000 (SizeLimit)",
		"1,000 System.Int32[] in one System.Lazy<System.Int32[][]>":                                                     "an array of 1,000 elements that nothing replaces (System.Lazy<System.Int32[][]>): it doesn't grow",
		"40 calls of Depot.Uploads.Store":                                                                               "40 calls have it, each until it ends",
		"5,000 elements in one System.Collections.Generic.List<System.Double[]>":                                        ends("Depot.Report.Make"),
		"5,000 elements in one System.Collections.Generic.List<System.Double[]> kept by a call of Depot.Settlement.Run": ends("Depot.Settlement.Run"),
	}, got)
}

// TestGroupEndsWithCall: objects that several variables of calls have, and none alone, end with these calls, unless one of them is in a loop that may go on for ever.
func TestGroupEndsWithCall(t *testing.T) {
	for name, want := range map[string]string{
		"once":    "only calls under way have it, such as Depot.Import.Work, and none of these is in a loop that may go on for ever: it lives until they end",
		"forever": "",
	} {
		d, err := sosgo.Open("../../../testdata/dumps/memory/net9-import-"+name+"/net9-import-"+name+".dmp.zst", sosgo.Options{Offline: true})
		require.NoError(t, err)
		a := findIn(t, d, leaks.Options{})
		require.NotEmpty(t, a.Suspects)
		assert.Equal(t, answer.SuspectGroup, a.Suspects[0].Kind)
		assert.Equal(t, "5,000 Depot.Row without a single owner", a.Suspects[0].Text)
		assert.Equal(t, want, a.Suspects[0].Ends.Text, name)
		require.NoError(t, d.Close())
	}
}

// TestMemoryKept checks who keeps memory that grows: a call, not the timer that wakes it up, and a call that goes on for ever; and that no part is larger
// than its whole.
func TestMemoryKept(t *testing.T) {
	a := findIn(t, openMemory(t, "full"), leaks.Options{})
	got := map[string]*answer.Suspect{}
	for i := range a.Suspects {
		s := &a.Suspects[i]
		assert.Empty(t, s.Turnover.Text+s.Ends.Text, s.Text)
		if s.Verdict == answer.VerdictSuspect {
			name := string(s.Kind)
			if s.Owner != nil {
				name = s.Owner.Type.S
			}
			got[name] = s
		}
	}
	require.Len(t, got, 5)
	assert.Equal(t, "kept by a call of Depot.Orders.Read", got["System.Threading.Tasks.Dataflow.ActionBlock<Depot.Order>"].Kept.Text)
	assert.Contains(t, got, "Depot.PartList")
	assert.Contains(t, got["System.Collections.Generic.List<System.Double[]>"].Path.Root.Name, "Depot.Journal.Write()")
	assert.Equal(t, "kept by ThreadLocal Depot.Threads.buffer, of 403 threads (400 of them have ended)", got["thread local"].Kept.Text)
	timers := got["timers"]
	assert.Equal(t, uint64(9000), timers.Elements.Value)
	require.NotEmpty(t, timers.Locals)
	assert.Less(t, timers.Locals[0].Retained, timers.Retained)
}

// openMemory opens a dump of Memory.cs.
func openMemory(t *testing.T, name string) *sosgo.Dump {
	t.Helper()
	d, err := sosgo.Open("../../../testdata/dumps/memory/net9-memory-"+name+"/net9-memory-"+name+".dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}
