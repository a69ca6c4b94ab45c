package leaks

import (
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
	"github.com/sosgo/sosgo/objects"
)

// The collections that count their changes: additions, and in some versions removals.
type (
	changingSet struct {
		_       objects.Shape    `of:"System.Collections.Generic.Dictionary<,>|System.Collections.Generic.HashSet<>"`
		Changes objects.IntField `field:"_version"`
	}
	changingList struct {
		_       objects.Shape    `of:"System.Collections.Generic.List<>|System.Collections.Generic.Queue<>|System.Collections.Generic.LinkedList<>"`
		Changes objects.IntField `field:"_version|version"`
	}
)

// A ConcurrentQueue has its elements in segments. The last one is a ring, and stays while its elements come and go (ConcurrentQueueSegment.cs).
type (
	concurrentQueue struct {
		_    objects.Shape    `of:"System.Collections.Concurrent.ConcurrentQueue<>"`
		Head objects.RefField `field:"_head"`
	}
	concurrentSegment struct {
		_       objects.Shape    `of:"System.Collections.Concurrent.ConcurrentQueueSegment<>"`
		Removed objects.IntField `field:"_headAndTail.Head"`
		Added   objects.IntField `field:"_headAndTail.Tail"`
		Next    objects.RefField `field:"_nextSegment"`
	}
)

// A MemoryCache with a limit drops entries to stay below it (MemoryCache.cs of Microsoft.Extensions.Caching.Memory). No limit is a negative number.
type (
	limitedCache struct {
		_       objects.Shape    `of:"Microsoft.Extensions.Caching.Memory.MemoryCache"`
		Options objects.RefField `field:"_options"`
		State   objects.RefField `field:"_coherentState,optional"`
		Size    objects.IntField `field:"_cacheSize,optional"`
	}
	limitedState struct {
		_    objects.Shape    `of:"Microsoft.Extensions.Caching.Memory.MemoryCache+CoherentState"`
		Size objects.IntField `field:"_cacheSize"`
	}
	limitedOptions struct {
		_     objects.Shape    `of:"Microsoft.Extensions.Caching.Memory.MemoryCacheOptions"`
		Limit objects.IntField `field:"_sizeLimit"`
	}
)

// The evidence that elements are replaced: a collection that only grows has one change for each element, and no element
// younger than the node that was made for it, or than an element behind it.
const (
	manyChanges  = 10 // for each element
	manyReplaced = 10 // elements in places that are older
	moreReplaced = 2  // in percent of all elements
)

// arrayPools begins the names of the classes of ArrayPool<T>.Shared. Each thread keeps one array of each size to be rented again, and a callback after
// collections of generation 2 drops those that were not rented for a while (SharedArrayPool.cs, TlsOverPerCoreLockedStacksArrayPool.cs).
var arrayPools = []string{"System.Buffers.SharedArrayPool<", "System.Buffers.TlsOverPerCoreLockedStacksArrayPool<"}

// turnover returns the evidence that the elements of a suspect's collection are replaced again and again, or that it has a limit.
func (f *finder) turnover(ctx context.Context, s *suspect) answer.Statement {
	switch {
	case s.kind == answer.SuspectThreadStatic && hasPrefix(s.name.S, arrayPools):
		return says.Pooled()
	case s.kind == answer.SuspectCalls && s.count >= manyReplaced:
		return says.InFlight(s.count)
	}
	n := s.owner
	if n == graph.NoNode {
		n = s.point
	}
	if n == graph.NoNode {
		return answer.Statement{}
	}
	if s.elements.Err() == nil && s.elements.Value > 0 {
		if changes, _ := f.changes(n); changes/manyChanges >= s.elements.Value {
			return says.Changed(changes, s.elements.Value)
		}
	}
	if says := f.cacheLimit(f.cacheOf(ctx, n)); !says.IsZero() {
		return says
	}
	if says := f.limited(ctx, n); !says.IsZero() {
		return says
	}
	if s.younger >= manyReplaced && 100*s.younger >= moreReplaced*s.count {
		return says.Younger(s.younger, s.count)
	}
	return answer.Statement{}
}

// turnoverOfAll returns the evidence that the collection to which most of a sample of objects belong does not grow. A method that looks through them all
// refers to each, too, so that the collection does not own them alone.
func (f *finder) turnoverOfAll(ctx context.Context, sample []graph.Node) (answer.Statement, error) {
	held, err := f.g.Referrers(ctx)
	if err != nil {
		return answer.Statement{}, err
	}
	all, others, asked := graph.NoNode, 0, min(len(sample), followed)
	for i := range asked {
		of := graph.NoNode
		list := held.Of(sample[i*len(sample)/asked])
		for _, r := range list[:min(len(list), lookStep)] {
			if !f.inner(r) || !f.live.Live(r) {
				continue
			}
			if of, err = f.partOfCollection(ctx, r); err != nil {
				return answer.Statement{}, err
			}
			if of != graph.NoNode {
				break
			}
		}
		if of == graph.NoNode { // it is removed at this moment
			if others++; 100*float64(others) > (100-majority)*float64(asked) {
				return answer.Statement{}, nil
			}
			continue
		}
		if all != graph.NoNode && all != of {
			return answer.Statement{}, nil
		}
		all = of
	}
	if all == graph.NoNode {
		return answer.Statement{}, nil
	}
	return f.turnover(ctx, &suspect{kind: answer.SuspectObject, point: all, owner: graph.NoNode, elements: f.elements(graph.NoNode, all), typ: -1}), nil
}

// sharedTurnover returns the evidence that the members of a group are replaced again and again, where the objects that refer to most of them are parts of
// collections, as of the dictionary and the list of a cache. All of these that count their changes must show it, and one that does not change with each use.
func (f *finder) sharedTurnover(holders []graph.Node) (out answer.Statement) {
	for _, n := range holders {
		if !f.g.IsObject(n) {
			continue
		}
		c := f.ownerAbove(n)
		if c == graph.NoNode || !f.isCollection(c) {
			continue
		}
		changes, counts := f.changes(c)
		elements := f.elements(graph.NoNode, c)
		switch {
		case !counts:
			continue
		case elements.Err() != nil || elements.Value == 0 || changes/manyChanges < elements.Value:
			return answer.Statement{}
		case out.IsZero() && !strings.HasPrefix(f.typeName(c), "System.Collections.Generic.LinkedList<"):
			out = says.Changed(changes, elements.Value)
		}
	}
	return out
}

// cacheOf returns the MemoryCache that n is, or that n has the entries of. While a method looks through these, the cache does not own them alone.
func (f *finder) cacheOf(ctx context.Context, n graph.Node) graph.Node {
	held, err := f.g.Referrers(ctx)
	for range 3 { // a collection, the state of a cache, and the cache
		if strings.HasPrefix(f.typeName(n), memoryCache) && !f.inner(n) || err != nil {
			return n
		}
		list := held.Of(n)
		i := slices.IndexFunc(list[:min(len(list), lookStep)], func(r graph.Node) bool {
			return f.g.IsObject(r) && strings.HasPrefix(f.typeName(r), memoryCache) && f.live.Live(r)
		})
		if i < 0 {
			break
		}
		n = list[i]
	}
	return n
}

// memoryCache begins the names of a MemoryCache's type and of its parts.
const memoryCache = "Microsoft.Extensions.Caching.Memory.MemoryCache"

// cacheLimit returns the evidence that a MemoryCache has a limit, and keeps it.
func (f *finder) cacheLimit(n graph.Node) answer.Statement {
	c, x, err := bind[*limitedCache](f, n)
	if err != nil {
		return answer.Statement{}
	}
	o, at, err := bindAt[*limitedOptions](f, &c.Options, x)
	if err != nil || o == nil {
		return answer.Statement{}
	}
	limit, err := o.Limit.Int(at)
	if err != nil || limit <= 0 {
		return answer.Statement{}
	}
	size, sizeAt := &c.Size, x
	if c.State.Has() {
		s, at, err := bindAt[*limitedState](f, &c.State, x)
		if err != nil || s == nil {
			return answer.Statement{}
		}
		size, sizeAt = &s.Size, at
	}
	sum, err := size.Int(sizeAt)
	if err != nil || sum < 0 || sum > limit {
		return answer.Statement{}
	}
	return says.Limited(uint64(sum), uint64(limit))
}

// changes returns how often a collection was changed. counts is false if it does not count that.
func (f *finder) changes(n graph.Node) (changes uint64, counts bool) {
	var field *objects.IntField
	set, x, err := bind[*changingSet](f, n)
	if err == nil {
		field = &set.Changes
	} else if list, at, other := bind[*changingList](f, n); other == nil {
		field, x = &list.Changes, at
	} else {
		return 0, false
	}
	v, err := field.Int(x)
	if err != nil || v < 0 {
		return 0, true
	}
	return uint64(v), true
}

// queueChanges returns the number of elements of a queue, and how often some were added and removed. ok is false unless the queue has one segment, which
// counts both: others have taken their counts with them.
func (f *finder) queueChanges(n graph.Node) (elements, changes uint64, ok bool) {
	queue, x, err := bind[*concurrentQueue](f, n)
	if err != nil {
		return 0, 0, false
	}
	s, at, err := bindAt[*concurrentSegment](f, &queue.Head, x)
	if err != nil || s == nil {
		return 0, 0, false
	}
	next, err := s.Next.Addr(at)
	removed, noHead := s.Removed.Int(at)
	added, noTail := s.Added.Int(at)
	if err != nil || noHead != nil || noTail != nil || next != 0 || removed < 0 || added < removed {
		return 0, 0, false
	}
	return uint64(added - removed), uint64(added + removed), true
}

// isYounger reports whether an element is younger than the node that has it.
func (f *finder) isYounger(element, node graph.Node) bool {
	of := f.g.Generation(node)
	return of <= heap.Generation2 && f.g.Generation(element) < of
}

// inOrder reports whether n is an array in which a collection that only grows has its elements in the order in which they
// were added.
func (f *finder) inOrder(n graph.Node) bool {
	name := f.typeName(n)
	return strings.HasSuffix(name, "+Entry[]") && (strings.HasPrefix(name, "System.Collections.Generic.Dictionary<") || strings.HasPrefix(name, "System.Collections.Generic.HashSet<"))
}

// olderBehind counts the objects that an array owns and that are younger than another one behind them.
func (f *finder) olderBehind(n graph.Node) (younger uint64) {
	oldest := heap.Generation0
	for _, c := range slices.Backward(f.g.Referents(n)) {
		if !f.g.IsObject(c) || f.doms.Idom(c) != n {
			continue
		}
		switch of := f.g.Generation(c); {
		case of > heap.Generation2: // large objects are old from the start
		case of < oldest:
			younger++
		default:
			oldest = of
		}
	}
	return younger
}
