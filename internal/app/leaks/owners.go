package leaks

import (
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
)

// links are prefixes of the names of types that refer to objects without owning them: waiting code, registrations, and
// what flows with code. A path through them names no owner that could release the object.
var links = []string{
	"System.Threading.SemaphoreSlim+TaskNode",
	"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<",
	"System.Runtime.CompilerServices.AsyncTaskMethodBuilder+AsyncStateMachineBox",
	"System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder",
	"System.Runtime.CompilerServices.AsyncMethodBuilderCore+",
	"System.Runtime.CompilerServices.Continuation",
	"System.Threading.Tasks.AwaitTaskContinuation",
	"System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation",
	"System.Threading.Tasks.TaskSchedulerAwaitTaskContinuation",
	"System.Threading.Tasks.ContinueWithTaskContinuation",
	"System.Threading.Tasks.StandardTaskContinuation",
	"System.Threading.Tasks.Continuation",
	"System.Threading.CancellationTokenSource+CallbackNode",
	"System.Threading.ExecutionContext",
	"System.Threading.AsyncLocalValueMap",
	"System.Threading.ThreadPoolWorkQueue", // also what a worker has of it
	timerType,
}

// A slot of a ThreadLocal in a thread's table refers to a value that the ThreadLocal owns: it clears the slot when it is
// disposed or finalized.
const (
	slotsOf   = "System.Threading.ThreadLocal<"
	slotTable = "+LinkedSlotVolatile[]"
)

// Timers refer to the next and previous timer of a queue, so each of them leads to all.
const (
	timerType  = "System.Threading.TimerQueueTimer"
	timerQueue = "System.Threading.TimerQueue"
)

// services begins the names of the types with which a service provider keeps its services.
const services = "Microsoft.Extensions.DependencyInjection."

// The rank of a path is the number of its objects, and as many more as its root and each of its detours weigh: the
// nearest owner is the one to name. A root weighs more if less can be said about it.
const (
	ownStatic   = 0  // a static field of a class of the program
	ownLibrary  = 4  // another static field
	ownOther    = 4  // and as many for each kind that preferred lists before it
	ownService  = 2  // a service of a service provider, whatever leads to the provider
	ownDetour   = 12 // a delegate: it refers to objects of others
	ownNone     = 1 << 28
	ownUnproved = 1 << 29 // a word of a stack that only looks like a reference
)

// mostOwners bounds the paths compared for an object.
const mostOwners = 64

// path returns a shortest path to n from the best owner, or nil.
func (f *finder) path(ctx context.Context, n graph.Node) ([]graph.Node, error) {
	through := f.through
	if f.typeName(n) == timerType {
		through = func(r graph.Node) bool {
			return f.g.IsObject(r) && !strings.HasPrefix(f.typeName(r), timerQueue) // which timers begin with, too
		}
	}
	best, rank, err := f.bestPath(ctx, n, through)
	if err != nil || best != nil && rank < ownNone {
		return best, err
	}
	linked, other, err := f.bestPath(ctx, n, nil)
	if best == nil || other < rank {
		best = linked
	}
	return best, err
}

// through reports whether a path through n names no owner.
func (f *finder) through(n graph.Node) bool { return f.g.IsObject(n) && f.link(f.g.TypeIndex(n)) }

// slot reports whether n is a thread's table with slots of ThreadLocals.
func (f *finder) slot(n graph.Node) bool { return f.g.IsObject(n) && isSlotTable(f.typeName(n)) }

func isSlotTable(name string) bool {
	return strings.HasPrefix(name, slotsOf) && strings.HasSuffix(name, slotTable)
}

// bestPath returns the best path to n without the nodes that skip selects, and its rank.
func (f *finder) bestPath(ctx context.Context, n graph.Node, skip func(graph.Node) bool) ([]graph.Node, int, error) {
	var best []graph.Node
	rank, seen := 2*ownUnproved, 0
	for p, err := range f.g.Paths(ctx, n, graph.PathOptions{Each: graph.EachSource, Skip: skip}) {
		if err != nil {
			return nil, rank, err
		}
		if at := f.owner(p.Nodes); at < rank {
			best, rank = p.Nodes, at
		}
		if seen++; rank < len(p.Nodes)-slices.IndexFunc(p.Nodes, f.g.IsObject) || seen == mostOwners {
			break
		}
	}
	return best, rank, nil
}

// link reports whether a type is one of links.
func (f *finder) link(typ int) bool {
	if f.isLink == nil {
		f.isLink = make([]bool, len(f.names))
		for i, name := range f.names {
			f.isLink[i] = hasPrefix(name, links) || isSlotTable(name)
		}
	}
	return f.isLink[typ]
}

// owner returns the rank of a path.
func (f *finder) owner(nodes []graph.Node) int {
	first := slices.IndexFunc(nodes, f.g.IsObject)
	if first > 0 && f.unproved(nodes[first-1], nodes[first]) {
		return ownUnproved
	}
	root, length, service := ownNone, 0, f.serviceOn(nodes)
	for i, n := range nodes {
		if !f.g.IsObject(n) {
			root = min(root, f.rootRank(n))
			continue
		}
		if n == service {
			root, length = ownStatic, ownService
		}
		if i == len(nodes)-1 {
			continue // the object itself
		}
		length++
		if f.is(n, patternEvent) {
			length += ownDetour
		}
	}
	return root + length
}

// serviceOn returns the service on a path that leads through a service provider, the last one, or NoNode.
func (f *finder) serviceOn(nodes []graph.Node) graph.Node {
	service, within := graph.NoNode, false
	for _, n := range nodes {
		if !f.g.IsObject(n) {
			continue
		}
		name := f.typeName(n)
		switch {
		case strings.HasPrefix(name, services):
			within = true
		case within && name != "" && !strings.HasPrefix(name, "System."):
			service, within = n, false
		}
	}
	return service
}

// serviceAbove returns the service that alone keeps n alive, which only a service provider has, or NoNode.
func (f *finder) serviceAbove(n graph.Node) graph.Node {
	service := graph.NoNode
	for range maxKept {
		name := f.typeName(n)
		if strings.HasPrefix(name, services) {
			return service
		}
		if name == "" {
			return graph.NoNode
		}
		if !strings.HasPrefix(name, "System.") {
			service = n
		}
		up := f.doms.Idom(n)
		if up == n || !f.g.IsObject(up) {
			break
		}
		n = up
	}
	return graph.NoNode
}

// rootRank returns how much a root weighs.
func (f *finder) rootRank(n graph.Node) int {
	s, rank := f.g.Source(n), ownNone
	if i := slices.Index(preferred, s.Kind); i >= 0 {
		rank = ownOther * (i + 1)
	}
	if s.Kind != graph.SourceField || s.Static == nil || s.Thread != nil {
		return rank
	}
	if name, err := s.Static.Name(); err == nil && !answer.LibraryMethod(name) {
		return ownStatic
	}
	return ownLibrary
}

// unproved reports whether all references from a Source to an object are unverified.
func (f *finder) unproved(source, object graph.Node) bool {
	found := false
	for r := range f.g.RootRefs(source) {
		if r.Object != object {
			continue
		}
		root, ok := f.g.RootOf(source, r)
		if !ok || !root.Conservative {
			return false
		}
		found = true
	}
	return found
}

// preferred lists the kinds of roots for a path, the most informative first.
var preferred = []graph.SourceKind{graph.SourceStatics, graph.SourceThreadStatics, graph.SourceHandles, graph.SourceFinalizer, graph.SourceRuntime, graph.SourceStacks}
