package acceptance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/triage"
)

const inStock = ", most of it by 7,500 Shed.Item, kept by static Shed.Stock.kept"

// stores are the kinds of Stores.cs: parts of the finding, which names no part of a store.
var stores = []struct {
	kind string
	says []string
}{
	{"list", []string{"System.Collections.Generic.List<Shed.Item>", inStock}},
	{"dictionary", []string{"System.Collections.Generic.Dictionary<System.Int32, Shed.Item>", inStock}},
	{"queue", []string{"System.Collections.Generic.Queue<Shed.Item>", inStock}},
	{"stack", []string{"System.Collections.Generic.Stack<Shed.Item>", inStock}},
	{"hashset", []string{"System.Collections.Generic.HashSet<Shed.Item>", inStock}},
	{"linkedlist", []string{"System.Collections.Generic.LinkedList<Shed.Item>", inStock}},
	{"capped", []string{"Shed.Capped", inStock}},
	{"sortedset", []string{"System.Collections.Generic.SortedSet<Shed.Item>", inStock}},
	{"sorteddictionary", []string{"System.Collections.Generic.SortedDictionary<System.Int32, Shed.Item>", inStock}},
	{"sortedlist", []string{"System.Collections.Generic.SortedList<System.Int32, Shed.Item>", inStock}},
	{"priorityqueue", []string{"System.Collections.Generic.PriorityQueue<Shed.Item, System.Int32>", inStock}},
	{"arraylist", []string{"System.Collections.ArrayList", inStock}},
	{"hashtable", []string{"System.Collections.Hashtable", inStock}},
	{"observable", []string{"System.Collections.ObjectModel.ObservableCollection<Shed.Item>", inStock}},
	{"concurrentdictionary", []string{"System.Collections.Concurrent.ConcurrentDictionary<System.Int32, Shed.Item>", inStock}},
	{"concurrentqueue", []string{"System.Collections.Concurrent.ConcurrentQueue<Shed.Item>", inStock}},
	{"concurrentstack", []string{"System.Collections.Concurrent.ConcurrentStack<Shed.Item>", inStock}},
	{"concurrentbag", []string{"System.Collections.Concurrent.ConcurrentBag<Shed.Item>", inStock + ", and by slots of a ThreadLocal"}},
	{"blocking", []string{"System.Collections.Concurrent.BlockingCollection<Shed.Item>", inStock}},
	{"immutablelist", []string{"System.Collections.Immutable.ImmutableList<Shed.Item>", inStock}},
	{"immutabledictionary", []string{"System.Collections.Immutable.ImmutableDictionary<System.Int32, Shed.Item>", inStock}},
	{"immutablehashset", []string{"System.Collections.Immutable.ImmutableHashSet<Shed.Item>", inStock}},
	{"immutablesorted", []string{"System.Collections.Immutable.ImmutableSortedDictionary<System.Int32, Shed.Item>", inStock}},
	{"immutablequeue", []string{"System.Collections.Immutable.ImmutableQueue<Shed.Item>", inStock}},
	{"immutablestack", []string{"System.Collections.Immutable.ImmutableStack<Shed.Item>", inStock}},
	{"channel", []string{"System.Threading.Channels.UnboundedChannel<Shed.Item>", inStock}},
	{"lists", []string{"Dictionary<System.Int32, System.Collections.Generic.List<Shed.Item>>", "most of it by 100 System.Collections.Generic.List<Shed.Item>, kept by static Shed.Stock.kept"}},
	{"weaktable", []string{"System.Collections.Generic.List<System.Object>", "most of it by 7,500 System.Object, kept by static Shed.Stock.keys"}},
	{"weaktables", []string{"System.Object", "kept by static Shed.Stock.first, attached by a ConditionalWeakTable"}},
	{"twice", []string{"7,500 Shed.Item hold", "kept in 2 ways: static Shed.Stock.kept, static Shed.Stock.other"}},
	{"twofields", []string{"List<Shed.Item>", "kept in 2 ways: static Shed.Stock.kept, static Shed.Stock.other"}},
	{"handlers", []string{"7,500 handlers of the event Opened of Shed.Hall", "with 7,500 Shed.Guest, kept by static Shed.Stock.hall"}},
	{"calls", []string{"7,500 handlers of the delegate Calls of Shed.Hall", "with 7,500 Shed.Guest, kept by static Shed.Stock.hall"}},
	{"registrations", []string{"System.Threading.CancellationTokenSource", "most of it by 7,500 Shed.Item, kept by static Shed.Stock.closing"}},
	{"threads", []string{"20 System.Collections.Generic.Dictionary<System.Int32, Shed.Item> hold", "kept by thread static Shed.Stock.mine in 20 threads"}},
	{"locals", []string{"20 System.Collections.Generic.List<Shed.Item> hold", "kept by ThreadLocal Shed.Stock.each, of 20 threads"}},
	{"sessions", []string{"187 System.Collections.Generic.Dictionary<System.Int32, Shed.Item> of 187 Shed.Session hold", "each of 8 that were followed kept by the stack of a thread, in Shed.Session.Lives()"}},
	{"served", []string{"187 delays (Task.Delay) that Shed.M.Serves awaits hold ", "kept by the timer queue"}},
}

// TestStores checks that a triage names the store that keeps memory and all that keeps the store, once, and that leaks agrees. Two twins of
// each store are healthy: one has few items, and in the other they come and go.
func TestStores(t *testing.T) {
	p := newTrial(t, "Stores.cs")
	for _, c := range stores {
		t.Run(c.kind, func(t *testing.T) {
			v := p.open(t, "trial", c.kind)
			out, err := triage.Triage(t.Context(), v.Process, triage.Options{})
			require.NoError(t, err)
			var found []string
			for i := range out.Findings {
				if out.Findings[i].Kind == answer.FindingHolder {
					found = append(found, out.Findings[i].Text)
				}
			}
			require.Len(t, found, 1, "one holder is one finding")
			for _, says := range c.says {
				assert.Contains(t, found[0], says)
			}
			for _, part := range []string{"+", "LinkedListNode", "Segment", "TreeSet", "SortedInt32KeyNode"} {
				assert.NotContains(t, strings.Split(found[0], " hold")[0], part)
			}
			x, err := v.Holders(t.Context(), graph.Options{})
			require.NoError(t, err)
			r, err := v.Objects()
			require.NoError(t, err)
			l, err := leaks.Find(t.Context(), x, r, leaks.Options{})
			require.NoError(t, err)
			share := 0.0
			for i := range l.Suspects {
				share += l.Suspects[i].Share
			}
			assert.LessOrEqual(t, share, 100.0)
			require.NotEmpty(t, l.Suspects)
			if kept := l.Suspects[0].Kept; !kept.IsZero() {
				assert.Contains(t, found[0], kept.Text)
			}
			assert.True(t, l.Suspects[0].Turnover.IsZero(), l.Suspects[0].Turnover.Text)
		})
	}
	for _, kind := range []string{"list", "hashset", "concurrentdictionary", "channel", "immutablelist", "twice", "handlers", "registrations", "threads"} {
		t.Run(kind+" few", func(t *testing.T) {
			assert.Empty(t, p.triage(t, kind, "few").Findings)
		})
	}
	for _, kind := range []string{"concurrentdictionary", "dictionary", "fifo", "queue", "list", "linkedlist", "capped"} {
		t.Run(kind+" turns", func(t *testing.T) {
			assert.Empty(t, p.triage(t, kind, "turns").Findings)
		})
	}
}
