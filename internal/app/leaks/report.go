package leaks

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/together"
	"github.com/sosgo/sosgo/target"
)

// report describes the suspects, the largest retained size first.
func (f *finder) report(ctx context.Context) error {
	slices.SortStableFunc(f.found, func(a, b suspect) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(a.point, b.point))
	})
	most := f.o.Top
	if f.a.Unproved = f.g.Unproved(); f.a.Unproved > 0 {
		most *= 4 // some of them go behind the others
	}
	for i := range f.found {
		s, err := f.describe(ctx, &f.found[i])
		if err != nil {
			return err
		}
		if s.Kind == answer.SuspectGroup && len(s.Holders) == 0 && s.Share < f.o.Share {
			continue // too small for a group without a holder
		}
		if most > 0 && len(f.a.Suspects) == most {
			f.a.More = len(f.found) - i
			break
		}
		s.Statement, s.Remedy = says.Title(s), says.Remedy(s)
		f.a.Suspects = append(f.a.Suspects, *s)
	}
	if f.a.Unproved > 0 {
		slices.SortStableFunc(f.a.Suspects, func(a, b answer.Suspect) int { return cmp.Compare(unprovedPath(&a), unprovedPath(&b)) })
	}
	if n := len(f.a.Suspects) - f.o.Top; f.o.Top > 0 && n > 0 {
		f.a.Suspects, f.a.More = f.a.Suspects[:f.o.Top], f.a.More+n
	}
	for _, name := range slices.Sorted(keys(f.unknown)) {
		f.a.Unknown = append(f.a.Unknown, *f.unknown[name])
	}
	f.a.Verdicts = says.Judge(f.a)
	return nil
}

// unprovedPath returns 1 if only an unverified root holds a suspect, else 0.
func unprovedPath(s *answer.Suspect) int {
	p := s.Path
	if p == nil && len(s.Holders) > 0 {
		p = s.Holders[0].Path
	}
	if p != nil && p.Root.Conservative {
		return 1
	}
	return 0
}

func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (f *finder) describe(ctx context.Context, s *suspect) (*answer.Suspect, error) {
	out := &answer.Suspect{Kind: s.kind, Retained: s.weight(), Elements: s.elements, AtLeast: s.atLeast, Dead: s.dead, Name: s.name, Delegate: s.delegate, Awaits: s.awaits, Locals: s.locals,
		Link: s.link, Roots: s.roots, Verdict: answer.VerdictNotable}
	if f.a.Live.Size > 0 {
		out.Share = 100 * float64(out.Retained) / float64(f.a.Live.Size)
	}
	if !f.a.Small && out.Share >= f.o.Share {
		out.Verdict = answer.VerdictSuspect
	}
	if s.typ >= 0 {
		mt := f.g.Types()[s.typ]
		out.Members = &answer.TypeCount{MethodTable: mt.Addr, Count: s.count, Size: s.size, Type: f.typeText(mt)}
	}
	err := f.chain(ctx, out, s)
	if err != nil {
		return nil, err
	}
	if s.owner != graph.NoNode {
		o := f.x.Describe(&f.a.Gaps, s.owner)
		out.Owner = &o
	}
	if s.targets != nil {
		out.Targets = s.targets.rows(f, topTypes)
	}
	at := s.member
	if s.point != graph.NoNode {
		o := f.x.Describe(&f.a.Gaps, s.point)
		out.Point, at = &o, s.point
		types, err := f.x.TypesBelow(ctx, &f.a.Gaps, s.point, topTypes)
		if err != nil {
			return nil, err
		}
		out.Types = types
	}
	if out.Turnover = f.turnover(ctx, s); out.Turnover.IsZero() {
		out.Turnover = f.setOnce(s, out.Types)
	}
	if out.Verdict == answer.VerdictSuspect && out.Turnover.IsZero() {
		if out.Ends, err = f.ends(ctx, s); err != nil {
			return nil, err
		}
	}
	if len(s.sample) > 0 {
		if err := f.holders(ctx, out, s); err != nil {
			return out, err
		}
		return out, f.kept(ctx, out, s)
	}
	if s.kind == answer.SuspectAccumulation && s.typ >= 0 {
		if out.Locals, err = f.localsBelow(ctx, s); err != nil {
			return out, err
		}
	}
	path, err := f.path(ctx, at)
	if err != nil || path == nil {
		return out, cmp.Or(err, f.kept(ctx, out, s))
	}
	p := f.x.DescribePath(ctx, &f.a.Gaps, path)
	out.Path = &p
	out.Literals = s.kind == answer.SuspectAccumulation && f.literals(s, &p.Root)
	weak, by, err := f.weakLink(ctx, s, path)
	if out.Weak = weak; err == nil && weak == answer.LinkAttached {
		s.table, err = f.attachedBy(ctx, by)
	}
	return out, cmp.Or(err, f.kept(ctx, out, s))
}

// entryDepth is the maximum depth of a cache entry in an element of a collection. A MemoryCache's entry is the value of
// a ConcurrentDictionary's node.
const entryDepth = 3

func (f *finder) typeText(mt *dac.MethodTable) answer.Text {
	return f.r.Runtime().NamedType(&f.a.Gaps, mt.Addr)
}

// holders finds the objects that refer to most members of a group. Garbage does not count.
func (f *finder) holders(ctx context.Context, out *answer.Suspect, s *suspect) error {
	held, err := f.g.Referrers(ctx)
	if err != nil {
		return err
	}
	times := map[graph.Node]int{}
	for _, n := range s.sample {
		last := graph.NoNode
		for i, r := range held.Of(n) {
			if i%lookStep == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if r != last && f.live.Live(r) {
				times[r]++
			}
			last = r
		}
	}
	var most []graph.Node
	for n, k := range times {
		if 100*float64(k) >= majority*float64(len(s.sample)) {
			most = append(most, n)
		}
	}
	slices.SortFunc(most, func(a, b graph.Node) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	if out.Turnover.IsZero() {
		out.Turnover = f.sharedTurnover(most)
	}
	if out.Turnover.IsZero() {
		if out.Turnover, err = f.turnoverOfAll(ctx, s.sample); err != nil {
			return err
		}
	}
	for _, n := range most[:min(len(most), maxFirst)] {
		h := answer.GroupHolder{Share: 100 * float64(times[n]) / float64(len(s.sample)), Sampled: len(s.sample)}
		if err := f.holder(ctx, &h, n); err != nil {
			return err
		}
		out.Holders = append(out.Holders, h)
	}
	if err := f.others(ctx, out, s, held, most); err != nil || len(most) > 0 {
		return err
	}
	path, err := f.path(ctx, s.member)
	if err == nil && path != nil {
		p := f.x.DescribePath(ctx, &f.a.Gaps, path)
		out.Path = &p
	}
	return err
}

// referring counts the objects of a type that refer to members of a group.
type referring struct {
	members   int        // members that they refer to
	last      graph.Node // the member that was counted last
	referrers uint64
	first     graph.Node
}

// others finds the types of objects that together refer to many members, each to few. It skips the holders already
// found, members, and parts of a member's retained size, such as back references.
func (f *finder) others(ctx context.Context, out *answer.Suspect, s *suspect, held *graph.Referrers, found []graph.Node) error {
	most := max(1, maxReferrers/len(s.sample))
	types, seen := map[int]*referring{}, map[graph.Node]bool{}
	for _, n := range s.sample {
		if err := ctx.Err(); err != nil {
			return err
		}
		list := held.Of(n)
		for _, r := range list[:min(len(list), most)] {
			if !f.g.IsObject(r) || f.g.TypeIndex(r) == s.typ || slices.Contains(found, r) || !f.live.Live(r) || f.partOf(r, n) {
				continue
			}
			t := types[f.g.TypeIndex(r)]
			if t == nil {
				t = &referring{last: graph.NoNode, first: r}
				types[f.g.TypeIndex(r)] = t
			}
			if t.last != n {
				t.last = n
				t.members++
			}
			if !seen[r] {
				seen[r] = true
				t.referrers++
			}
		}
	}
	for typ := range f.names {
		if t := types[typ]; t != nil && 100*float64(t.members) >= minReferring*float64(len(s.sample)) {
			row := answer.GroupReferrers{MethodTable: f.g.Types()[typ].Addr, Type: f.typeText(f.g.Types()[typ]), Count: t.referrers, Share: 100 * float64(t.members) / float64(len(s.sample))}
			path, err := f.path(ctx, t.first)
			if err != nil {
				return err
			}
			if path != nil {
				p := f.x.DescribePath(ctx, &f.a.Gaps, path)
				row.Path = &p
			}
			out.Others = append(out.Others, row)
		}
	}
	slices.SortStableFunc(out.Others, func(a, b answer.GroupReferrers) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type.S, b.Type.S))
	})
	out.Others = out.Others[:min(len(out.Others), maxFirst)]
	return nil
}

// EachOf returns the objects of one of the program's classes that have the members of a group, about one each: 200 dictionaries of 200
// sessions. It returns nil if the members are of a class of the program themselves, or have no such owners.
func EachOf(s *answer.Suspect) *answer.GroupReferrers {
	if s.Kind != answer.SuspectGroup || s.Members == nil || s.Members.Count > sampled || !answer.LibraryMethod(s.Members.Type.S) {
		return nil
	}
	for i := range s.Others {
		o := &s.Others[i]
		if o.Type.Err == nil && !answer.LibraryMethod(o.Type.S) && o.Share >= majority && 100*float64(o.Count) >= majority*float64(s.Members.Count) {
			return o
		}
	}
	return nil
}

// literals reports whether s is strings in an array for literals and interned strings: an array of objects to which a
// strong handle leads directly (appdomain.hpp, PinnedHeapHandleTable).
func (f *finder) literals(s *suspect, root *answer.GCRoot) bool {
	if s.point == graph.NoNode || s.typ < 0 || root.Handle != heap.HandleStrong.String() || root.Object != f.g.Address(s.point) {
		return false
	}
	known, array := f.r.Runtime().WellKnown(), f.g.Type(s.point)
	return known.String != 0 && f.g.Types()[s.typ].Addr == known.String && array.IsArray() && array.PerInstInfo == known.Object
}

// partOf reports whether r would be freed with n. Objects deeper than maxPart in n's retained part count as parts.
func (f *finder) partOf(r, n graph.Node) bool {
	for range maxPart {
		if r == n {
			return true
		}
		up := f.doms.Idom(r)
		if up == r || !f.g.IsObject(up) || up == graph.NoNode {
			return false
		}
		r = up
	}
	return true
}

// holder describes an object that refers to members of a group.
func (f *finder) holder(ctx context.Context, h *answer.GroupHolder, n graph.Node) error {
	if !f.g.IsObject(n) {
		h.Root = f.x.Names().Text(&f.a.Gaps, n)
		s := f.g.Source(n)
		h.Kind = s.Kind.String()
		if s.Kind == graph.SourceHandles {
			h.Handle = s.Handle.String()
		}
		h.Remedy = says.EachRemedy(h)
		return nil
	}
	o := f.x.Describe(&f.a.Gaps, n)
	h.Object = &o
	path, err := f.path(ctx, n)
	if err == nil && path != nil {
		p := f.x.DescribePath(ctx, &f.a.Gaps, path)
		h.Path = &p
	}
	return err
}

type counts struct{ by map[target.Addr][]graph.Node }

func newCounts() *counts { return &counts{map[target.Addr][]graph.Node{}} }

func (c *counts) add(mt target.Addr, n graph.Node) { c.by[mt] = append(c.by[mt], n) }

func (c *counts) rows(f *finder, top int) []answer.TypeCount {
	var out []answer.TypeCount
	for mt, nodes := range c.by {
		out = append(out, answer.TypeCount{MethodTable: mt, Count: uint64(len(nodes))})
	}
	slices.SortStableFunc(out, func(a, b answer.TypeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.MethodTable, b.MethodTable))
	})
	out = out[:min(len(out), top)]
	for i := range out {
		out[i].Size = together.Retained(f.g, f.doms, c.by[out[i].MethodTable])
		out[i].Type = f.r.Runtime().NamedType(&f.a.Gaps, out[i].MethodTable)
	}
	return out
}
