package tasks

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Calls merges the selected stacks, beginning with their outermost calls: async methods and tasks that nothing awaits.
// Below each call come the calls that it awaits. Calls with the same name at the same await are merged. The error is
// ctx's, or the heap could not be read.
func (s *Set) Calls(ctx context.Context, o StackOptions) (*answer.AsyncCalls, error) {
	out := &answer.AsyncCalls{Calls: []answer.AsyncCall{}}
	if err := s.Note(&out.Gaps); err != nil {
		return nil, err
	}
	locals := o.Variables
	o.Variables = false // not read for every call
	c := &caller{builder: s.builder(ctx, o), locals: locals, ctx: ctx, out: out, path: make([]int32, len(s.items)), at: make([]int32, len(s.items)), ends: map[int32]answer.AsyncEnd{}}
	first := c.outermost()
	out.Stacks = uint64(len(first))
	c.level(first, 0)
	return out, ctx.Err()
}

// outermost returns the selected items that nothing awaits. A ring of items that only await each other contributes its
// first item.
func (c *caller) outermost() (first []call) {
	wanted := c.reached(func(i int32) bool { return c.o.matches(&c.items[i]) })
	if !c.o.Tasks {
		for i, is := range c.reached(func(i int32) bool { return c.items[i].kind.async() }) {
			wanted[i] = wanted[i] && is
		}
	}
	met := make([]bool, len(c.items))
	for _, rings := range []bool{false, true} {
		for i := range c.items {
			if !c.live[i] || met[i] || !rings && c.goesOn(int32(i)) {
				continue
			}
			if wanted[i] {
				first = append(first, call{int32(i), 1})
			}
			c.spread(met, int32(i), c.backwards())
		}
	}
	return first
}

// A caller merges calls.
type caller struct {
	*builder
	ctx    context.Context
	locals bool // with the variables of the first of equal calls
	out    *answer.AsyncCalls
	path   []int32                   // by item: how many enclosing calls contain it
	at     []int32                   // by item in awaited: its place in the list plus one, 0 if it is not listed
	ends   map[int32]answer.AsyncEnd // by item without awaited items: what it waits for
}

// A call is an item and how often it is awaited.
type call struct {
	item  int32
	times uint64
}

// goesOn reports whether another live item awaits item i.
func (c *caller) goesOn(i int32) bool {
	for _, e := range c.next(i) {
		if e.to >= 0 && e.to != i && c.live[e.to] {
			return true
		}
	}
	return false
}

// level merges the calls at one depth and, recursively, what they await.
func (c *caller) level(list []call, depth int) {
	for _, g := range c.merge(list) {
		if c.ctx.Err() != nil || c.out.More {
			return
		}
		if len(c.out.Calls) == limits.AsyncGroups || depth == maxMergedDepth {
			c.out.More = true
			c.out.Note(target.Unsupportedf("more than %d merged calls, or nested deeper than %d", limits.AsyncGroups, maxMergedDepth))
			return
		}
		at := len(c.out.Calls)
		c.out.Calls = append(c.out.Calls, answer.AsyncCall{Depth: depth, Count: g.count, Kind: g.frame.Kind, Name: g.frame.AsyncName.Name, State: g.frame.State,
			Object: g.frame.Object, AsyncPlace: g.frame.AsyncPlace, Suspended: g.frame.Suspended, Blocked: c.blocked(g), Variables: g.frame.Variables, Saved: g.frame.Saved})
		for _, x := range g.calls {
			c.path[x.item]++
		}
		awaited, ends := c.awaited(g)
		c.out.Calls[at].Ends = ends
		c.level(awaited, depth+1)
		for _, x := range g.calls {
			c.path[x.item]--
		}
	}
}

// A mergedCall is a group of calls with the same name.
type mergedCall struct {
	frame answer.AsyncFrame // of the first call
	count uint64
	calls []call
}

// merge groups calls by name, the largest group first. Groups of equal size keep the order of their first objects.
func (c *caller) merge(list []call) []*mergedCall {
	type key struct {
		name  string
		state int32
	}
	known := map[key]*mergedCall{}
	var out []*mergedCall
	for _, x := range list {
		f := answer.AsyncFrame{Object: c.items[x.item].addr}
		c.describe(&c.out.Gaps, &f, x.item)
		k := key{f.AsyncName.Name.String() + standing(f.Suspended), notSuspended - 1}
		if f.State != nil {
			k.state = *f.State
		}
		g := known[k]
		if g == nil {
			if c.locals {
				c.o.Variables = true
				f = answer.AsyncFrame{Object: f.Object}
				c.describe(&c.out.Gaps, &f, x.item)
				c.o.Variables = false
			}
			g = &mergedCall{frame: f}
			known[k] = g
			out = append(out, g)
		}
		g.calls = append(g.calls, x)
		g.count += x.times
	}
	slices.SortStableFunc(out, func(a, b *mergedCall) int { return cmp.Compare(b.count, a.count) })
	return out
}

// blocked counts the calls of g that block a thread.
func (c *caller) blocked(g *mergedCall) (n uint64) {
	for _, x := range g.calls {
		for _, e := range c.next(x.item) {
			if e.to >= 0 {
				continue
			}
			if k, err := c.r.kindOf(e.addr); err == nil {
				if name, err := c.r.b.Definition(k.typ); err == nil && meanings[name] != "" {
					n++
				}
			}
		}
	}
	return n
}

// awaited returns the calls that g awaits. For calls that await nothing, ends describes what they wait for.
func (c *caller) awaited(g *mergedCall) (list []call, ends []answer.AsyncEnd) {
	reasons := map[string]int{}
	for _, x := range g.calls {
		some := false
		for _, p := range c.backwards().of(x.item) {
			if c.path[p] > 0 {
				continue // a ring
			}
			some = true
			if n := c.at[p]; n > 0 {
				list[n-1].times += x.times
				continue
			}
			list = append(list, call{p, x.times})
			c.at[p] = int32(len(list))
		}
		if some {
			continue
		}
		end := c.end(x.item)
		n, ok := reasons[end.Reason]
		if !ok {
			n = len(ends)
			reasons[end.Reason] = n
			ends = append(ends, end)
		}
		ends[n].Count += x.times
	}
	for _, x := range list {
		c.at[x.item] = 0
	}
	slices.SortStableFunc(ends, func(a, b answer.AsyncEnd) int { return cmp.Compare(b.Count, a.Count) })
	return list, ends
}

// end describes what an item without awaited items waits for.
func (c *caller) end(i int32) answer.AsyncEnd {
	end, ok := c.ends[i]
	if !ok {
		s := c.stack(i, false) // with its frames, which show what a client library waits for
		c.out.NoteAll(s.Noted())
		end = answer.AsyncEnd{Reason: s.Reason.String(), Why: s.Why}
		c.ends[i] = end
	}
	return end
}
