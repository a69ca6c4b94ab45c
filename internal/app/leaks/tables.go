package leaks

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
	"github.com/sosgo/sosgo/objects"
)

// weakTable is a ConditionalWeakTable. It refers to its keys and values by dependent handles alone.
type weakTable struct {
	_         objects.Shape    `of:"System.Runtime.CompilerServices.ConditionalWeakTable<,>"`
	Container objects.RefField `field:"_container"`
}

// A link is a reference of one object to another.
type link struct{ from, to graph.Node }

// weakLink returns the strength of the weakest reference that a suspect's size depends on, and an attached reference: on the path to the
// suspect, between it and a member, or below that member.
func (f *finder) weakLink(ctx context.Context, s *suspect, path []graph.Node) (weak answer.LinkStrength, at link, err error) {
	consider := func(from, to graph.Node) {
		if strength := f.x.Names().Strength(from, to); strength != graph.Strong {
			weak, at = answer.LinkStrength(strength.String()), link{from, to}
		}
	}
	for i := range path[1:] {
		consider(path[i], path[i+1])
	}
	if weak == "" && s.kind == answer.SuspectAccumulation {
		consider(s.point, s.member)
	}
	if weak != "" || s.kind != answer.SuspectAccumulation {
		return weak, at, nil
	}
	n := s.member
	for range entryDepth {
		top, _, _, err := f.doms.Largest(ctx, n, 1)
		if err != nil || len(top) == 0 {
			return "", at, err
		}
		switch strength := f.x.Names().Strength(n, top[0]); {
		case strength == graph.Cached, strength == graph.Attached && float64(f.doms.Retained(top[0])) >= minShare*float64(f.doms.Retained(s.member)):
			return answer.LinkStrength(strength.String()), link{n, top[0]}, nil
		}
		n = top[0]
	}
	return "", at, nil
}

// attachedBy names the ConditionalWeakTable that attaches one object to another: the field that refers to the table. It returns the zero
// Statement if the table is not found, or if the object itself leads to it.
func (f *finder) attachedBy(ctx context.Context, at link) (answer.Statement, error) {
	left := maxRead
	for n := range f.objects(patternTable) {
		o, err := f.object(n)
		if err != nil {
			f.missing(n, err)
			continue
		}
		c, err := f.collections.Of(o)
		if err != nil {
			f.missing(n, err)
			continue
		}
		for item, err := range c.Items() {
			if left--; left < 0 || ctx.Err() != nil {
				return answer.Statement{}, ctx.Err()
			}
			if err != nil {
				continue // an entry of other objects
			}
			if key, err := item.Key.Addr(); err != nil || key != f.g.Address(at.from) {
				continue
			}
			if value, err := item.Value.Addr(); err == nil && value == f.g.Address(at.to) {
				return f.tableName(ctx, n, at)
			}
		}
	}
	return answer.Statement{}, nil
}

// tableName names the field that refers to a table.
func (f *finder) tableName(ctx context.Context, n graph.Node, at link) (answer.Statement, error) {
	path, err := f.path(ctx, n)
	if err != nil || len(path) < 2 || slices.Contains(path, at.from) {
		return answer.Statement{}, err
	}
	before := path[len(path)-2]
	if !f.g.IsObject(before) {
		p := f.x.DescribePath(ctx, &f.a.Gaps, path)
		return says.Table(p.Root.Words()), nil
	}
	field, err := f.x.Names().Name(ctx, before, n)
	if name := f.typeName(before); err == nil && name != "" && field != "" {
		return says.Table(name + "." + field), nil
	}
	return answer.Statement{}, nil
}
