package tasks

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Merged groups the selected stacks. A group holds frames with the same name at the same await that continue frames of
// one group. Groups are in depth-first order, the largest first. The error is ctx's, or the heap could not be read.
func (s *Set) Merged(ctx context.Context, o StackOptions) (*answer.Async, error) {
	out := &answer.Async{Merged: []answer.AsyncGroup{}, Never: s.never()}
	if err := s.Note(&out.Gaps); err != nil {
		return nil, err
	}
	m := &merger{builder: s.builder(ctx, o), ctx: ctx, out: out, path: map[target.Addr]int{}}
	var first []member
	m.starts(func(i int32, part bool) bool {
		first = append(first, member{edge{s.items[i].addr, i, false}, 1, part})
		return true
	})
	m.level(first, 0)
	return out, ctx.Err()
}

// A merger builds groups.
type merger struct {
	*builder
	ctx  context.Context
	out  *answer.Async
	path map[target.Addr]int // how many enclosing groups contain an object
}

// A member is a frame of a group and how often it occurs there.
type member struct {
	edge
	times uint64
	part  bool // belongs to a stack that is part of another stack
}

// A group holds frames with the same name.
type group struct {
	frame   answer.AsyncFrame // of the first member
	count   uint64
	members []member
	part    bool
	shown   []answer.AsyncMember // with variables
	left    int                  // members with variables beyond mostMembers
}

// mostMembers bounds the members of a group that are listed with their variables.
const mostMembers = 100

// level builds the groups of frames at a depth, and of what continues each group.
func (m *merger) level(frames []member, depth int) {
	for _, g := range m.grouped(frames) {
		if m.ctx.Err() != nil {
			return
		}
		if len(m.out.Merged) == limits.AsyncGroups || depth == maxMergedDepth {
			m.out.Note(target.Unsupportedf("more than %d groups, or nested deeper than %d", limits.AsyncGroups, maxMergedDepth))
			return
		}
		m.out.Merged = append(m.out.Merged, answer.AsyncGroup{Depth: depth, Count: g.count, Kind: g.frame.Kind, MethodTable: g.frame.MethodTable,
			Name: g.frame.AsyncName.Name, SOS: g.frame.AsyncName.SOS, State: g.frame.State, AsyncPlace: g.frame.AsyncPlace, Suspended: g.frame.Suspended, Object: g.frame.Object, Members: g.shown,
			MoreMembers: g.left, Value: g.frame.Value, Part: g.part})
		for _, x := range g.members {
			m.path[x.addr]++
		}
		m.level(m.continuations(g), depth+1)
		for _, x := range g.members {
			m.path[x.addr]--
		}
	}
}

// maxMergedDepth bounds the depth of groups. Each level is one level of recursion.
const maxMergedDepth = 10_000

// grouped groups frames by name, the largest group first. Groups of equal size keep the order of their first frames.
func (m *merger) grouped(frames []member) []*group {
	type key struct {
		name  string
		state int32
		part  bool
	}
	known := map[key]*group{}
	var out []*group
	for _, x := range frames {
		f := m.named(x.edge)
		k := key{f.AsyncName.SOS.String() + standing(f.Suspended), notSuspended, x.part}
		if f.State != nil {
			k.state = *f.State
			k.name = strconv.Itoa(int(k.state)) + " " + k.name
		}
		g := known[k]
		if g == nil {
			g = &group{frame: f, part: x.part}
			known[k] = g
			out = append(out, g)
		}
		g.members = append(g.members, x)
		g.count += x.times
		switch {
		case len(f.Variables)+len(f.Saved) == 0:
		case len(g.shown) < mostMembers:
			g.shown = append(g.shown, answer.AsyncMember{Object: f.Object, Variables: f.Variables, Saved: f.Saved})
		default:
			g.left++
		}
	}
	slices.SortStableFunc(out, func(a, b *group) int { return cmp.Compare(b.count, a.count) })
	return out
}

// named returns a frame with the fields that grouping compares.
func (m *merger) named(e edge) answer.AsyncFrame {
	f := answer.AsyncFrame{Object: e.addr, Value: e.value}
	switch {
	case e.to < 0:
		m.describeOther(&m.out.Gaps, &f)
	default:
		m.describe(&m.out.Gaps, &f, e.to)
		if !m.live[e.to] {
			f.State = nil // as SOS, which has no state here
		}
	}
	return f
}

// continuations returns what continues the members of a group. It leaves out objects of enclosing groups, which would
// recur forever.
func (m *merger) continuations(g *group) []member {
	var out []member
	at := map[target.Addr]int{}
	for _, x := range g.members {
		if x.to < 0 || !m.live[x.to] {
			continue
		}
		for _, e := range m.next(x.to) {
			if m.path[e.addr] > 0 {
				continue
			}
			if n, ok := at[e.addr]; ok {
				out[n].times += x.times
				continue
			}
			at[e.addr] = len(out)
			out = append(out, member{e, x.times, x.part})
		}
	}
	return out
}

// Count counts the selected items by name, the most frequent first.
func (s *Set) Count(o StackOptions) (*answer.Async, error) {
	out := &answer.Async{Types: []answer.AsyncCount{}, Never: s.never()}
	if err := s.Note(&out.Gaps); err != nil {
		return nil, err
	}
	known := map[*answer.AsyncName]int{}
	byText := map[string]int{}
	for i := range s.items {
		it := &s.items[i]
		if k := it.kind; k.fsharp() && (o.Machines || !k.computes()) {
			continue
		}
		if !o.matches(it) || !o.Tasks && !it.kind.async() || !o.Completed && it.completed() {
			continue
		}
		name := s.r.nameOf(&out.Gaps, it.kind, it.addr)
		n, ok := known[name]
		if !ok {
			if n, ok = byText[name.SOS.String()]; !ok {
				n = len(out.Types)
				byText[name.SOS.String()] = n
				out.Types = append(out.Types, answer.AsyncCount{MethodTable: it.kind.typ.MT.Addr, Name: name.Name, SOS: name.SOS})
			}
			known[name] = n
		}
		out.Types[n].Count++
	}
	slices.SortStableFunc(out.Types, func(a, b answer.AsyncCount) int { return cmp.Compare(b.Count, a.Count) })
	return out, nil
}
