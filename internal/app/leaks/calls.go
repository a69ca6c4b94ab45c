package leaks

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
)

// The names of the types of the objects that calls of async methods have on the heap: what is before and behind the state machine
// (AsyncTaskMethodBuilderT.cs, PoolingAsyncValueTaskMethodBuilderT.cs).
const (
	beforeState = "StateMachineBox<"
	behindState = ">"
)

// asyncMethod returns the async method with a call that a type of this name stands for, or "".
func asyncMethod(typeName string) string {
	_, state, found := strings.Cut(typeName, beforeState)
	if !found || !strings.HasSuffix(state, behindState) || !strings.HasPrefix(typeName, "System.Runtime.CompilerServices.") {
		return ""
	}
	return compilernames.Method(strings.TrimSuffix(state, behindState))
}

// callTypes selects the types of the objects of calls of async methods.
func (f *finder) callTypes() []bool {
	out := make([]bool, len(f.names))
	for i, name := range f.names {
		out[i] = asyncMethod(name) != ""
	}
	return out
}

// calls finds async methods with calls under way that retain much together. Each call counts without the calls that it retains: the object of a call
// refers to its caller's.
func (f *finder) calls(ctx context.Context) error {
	own, above := map[graph.Node]uint64{}, map[graph.Node]graph.Node{}
	seen, r := 0, tasks.New(f.b)
	f.underWay = f.g.NewSet()
	for n := range f.objects(patternCall) {
		if seen++; seen%lookStep == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if done, err := r.Completed(f.g.Address(n)); err == nil && !done { // the task of one that has ended keeps the result
			own[n] = f.doms.Retained(n)
			f.underWay.Add(n)
			f.anyCall = true
		}
	}
	for n := range f.underWay.All {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch up := f.callAbove(n, above); {
		case up == graph.NoNode:
		case f.part[up]: // a timer: what it retains is counted
			delete(own, n)
		default:
			own[up] -= min(own[up], f.doms.Retained(n))
		}
	}
	byType, order := map[int]*sum{}, []int(nil)
	for n := range f.underWay.All {
		size, ok := own[n]
		if !ok {
			continue
		}
		typ := f.g.TypeIndex(n)
		if byType[typ] == nil {
			byType[typ] = &sum{}
			order = append(order, typ)
		}
		byType[typ].add(n, size)
	}
	for _, typ := range order {
		if all := byType[typ]; all.listed(f) {
			f.found = append(f.found, suspect{kind: answer.SuspectCalls, point: graph.NoNode, owner: graph.NoNode, member: all.nodes[0], retained: all.retains, typ: typ,
				count: uint64(len(all.nodes)), size: all.retains, elements: answer.Known(uint64(len(all.nodes))), atLeast: seen > maxWeak, name: answer.Text{S: asyncMethod(f.names[typ])}})
			for _, n := range all.nodes {
				f.summed.Add(n)
				f.covered[f.top(n)] += own[n]
			}
		}
	}
	return ctx.Err()
}

// remembered is the distance between the nodes of a walk up that callAbove remembers. Lists, as of timers, may be long.
const remembered = 64

// callAbove returns the nearest object of a call, or timer that is counted, that dominates n, or NoNode. known, if not nil, has it of some of the nodes passed before.
func (f *finder) callAbove(n graph.Node, known map[graph.Node]graph.Node) graph.Node {
	var passed []graph.Node
	found, steps := graph.NoNode, 0
	for at := f.doms.Idom(n); f.g.IsObject(at); at = f.doms.Idom(at) {
		if f.underWay.Has(at) || f.part[at] && f.is(at, patternTimer) {
			found = at
			break
		}
		if before, ok := known[at]; ok {
			found = before
			break
		}
		if steps++; steps%remembered == 0 && known != nil {
			passed = append(passed, at)
		}
	}
	for _, p := range passed {
		known[p] = found
	}
	return found
}

// isCall reports whether n is the object of a call of an async method that is under way.
func (f *finder) isCall(n graph.Node) bool {
	return n != graph.NoNode && f.g.IsObject(n) && f.underWay.Has(n)
}

// callOn returns the call of an async method on a path that is nearest to its end, or NoNode. The end itself does not count.
func (f *finder) callOn(nodes []graph.Node) graph.Node {
	call := graph.NoNode
	for _, n := range nodes[:max(0, len(nodes)-1)] {
		if f.isCall(n) {
			call = n
		}
	}
	return call
}
