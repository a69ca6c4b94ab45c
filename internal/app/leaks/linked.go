package leaks

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
)

// linked counts the objects of a chain that begins at a suspect's point: each owns the next, which is of the same type and has most of what it retains.
// The members of a suspect that has some already stay.
func (f *finder) linked(ctx context.Context, s *suspect) error {
	if s.owner != graph.NoNode || s.typ >= 0 || s.point == graph.NoNode || f.inner(s.point) {
		return nil
	}
	n, count, own := s.point, uint64(1), uint64(0)
	second := graph.NoNode
	for i := range maxKept {
		if i%lookStep == lookStep-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		top, _, _, err := f.doms.Largest(ctx, n, 1)
		if err != nil {
			return err
		}
		if len(top) == 0 || !f.g.IsObject(top[0]) || f.g.TypeIndex(top[0]) != f.g.TypeIndex(n) {
			break
		}
		if second == graph.NoNode {
			second = top[0]
		}
		own += f.doms.Retained(n) - f.doms.Retained(top[0])
		n = top[0]
		count++
	}
	if count < uint64(f.o.Count) || float64(own) < minShare*float64(s.retained) {
		return nil
	}
	name, err := f.x.Names().Name(ctx, s.point, second)
	if err != nil || name == "" {
		return nil // the suspect stays what it was
	}
	s.link, s.typ, s.count, s.size, s.member = answer.Text{S: name}, f.g.TypeIndex(s.point), count, s.retained, s.point
	return nil
}
