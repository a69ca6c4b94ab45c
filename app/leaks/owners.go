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
	timerType,
}

// Timers refer to the next and previous timer of a queue, so each of them leads to all.
const (
	timerType  = "System.Threading.TimerQueueTimer"
	timerQueue = "System.Threading.TimerQueue"
)

// services is the namespace in which a service provider keeps its services.
const services = "Microsoft.Extensions.DependencyInjection.ServiceLookup."

// Owners, the most useful in a report first.
const (
	ownStatic   = iota // a static field of a class of the program
	ownService         // a service provider
	ownTimers          // the timer queue
	ownLibrary         // another static field
	ownOther           // what preferred lists after static fields, in that order
	ownNone     = ownOther + 10
	ownUnproved = ownNone + 1 // a word of a stack that only looks like a reference
)

// mostOwners bounds the paths compared for an object.
const mostOwners = 64

// path returns a shortest path to n from the best owner, or nil.
func (f *finder) path(ctx context.Context, n graph.Node) ([]graph.Node, error) {
	through := func(r graph.Node) bool { return f.g.IsObject(r) && f.link(f.g.TypeIndex(r)) }
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

// bestPath returns the best path to n without the nodes that skip selects, and its rank.
func (f *finder) bestPath(ctx context.Context, n graph.Node, skip func(graph.Node) bool) ([]graph.Node, int, error) {
	var best []graph.Node
	rank, seen := ownUnproved+1, 0
	for p, err := range f.g.Paths(ctx, n, graph.PathOptions{Each: graph.EachSource, Skip: skip}) {
		if err != nil {
			return nil, rank, err
		}
		if at := f.owner(p.Nodes); at < rank {
			best, rank = p.Nodes, at
		}
		if seen++; rank == 0 || seen == mostOwners {
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
			f.isLink[i] = slices.ContainsFunc(links, func(l string) bool { return strings.HasPrefix(name, l) })
		}
	}
	return f.isLink[typ]
}

// owner returns the rank of the owner at the start of a path.
func (f *finder) owner(nodes []graph.Node) int {
	first := slices.IndexFunc(nodes, f.g.IsObject)
	if first > 0 && f.unproved(nodes[first-1], nodes[first]) {
		return ownUnproved
	}
	rank := ownNone
	for _, n := range nodes {
		if f.g.IsObject(n) {
			if strings.HasPrefix(f.typeName(n), services) {
				rank = min(rank, ownService)
			}
			continue
		}
		s := f.g.Source(n)
		if i := slices.Index(preferred, s.Kind); i >= 0 {
			rank = min(rank, ownOther+i)
		}
		if s.Kind == graph.SourceField && s.Static != nil && s.Thread == nil {
			rank = min(rank, ownLibrary)
			switch name, err := s.Static.Name(); {
			case err != nil:
			case strings.HasPrefix(name, timerQueue+"."):
				rank = min(rank, ownTimers)
			case !answer.LibraryMethod(name):
				rank = min(rank, ownStatic)
			}
		}
	}
	return rank
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
