package hosting

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the objects of hosts. It is safe for concurrent use.
type Reader struct {
	b     *objects.Binder
	items *objects.Collections
}

// New returns a Reader that binds types with b.
func New(b *objects.Binder, c *objects.Collections) *Reader { return &Reader{b, c} }

// A serviceScope is a scope of dependency injection. Up to .NET 5 it refers to its engine instead of its provider.
type serviceScope struct {
	_           objects.Shape    `of:"Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope"`
	Disposed    objects.IntField `field:"_disposed"`
	Disposables objects.RefField `field:"_disposables"`
	Resolved    objects.RefField `field:"<ResolvedServices>"`
	Root        objects.IntField `field:"<IsRootScope>,optional"`
	Provider    objects.RefField `field:"<RootProvider>|<Engine>,optional"`
}

// A rooted is an object that refers to its root scope: a provider or its engine.
type rooted struct {
	Root objects.RefField `field:"<Root>"`
}

// Scopes lists the undisposed scopes of dependency injection, the most disposables first, and counts the others. It
// records what could not be read. The error is ctx's.
func (r *Reader) Scopes(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.ServiceScopes, error) {
	out := &answer.ServiceScopes{Scopes: []answer.ServiceScope{}}
	in := shapes.Reading{Gaps: &out.Gaps, Binder: r.b}
	for f, err := range objects.BoundObjects[*serviceScope](ctx, r.b, h, nil, o) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out.Note(err)
			continue
		}
		disposed := in.BoolAt(&f.Shape.Disposed, f.At())
		if disposed.Value {
			out.Disposed++
			continue
		}
		out.Scopes = append(out.Scopes, r.scope(in, f.Object.Addr, f.Shape, f.At()))
	}
	slices.SortStableFunc(out.Scopes, func(a, b answer.ServiceScope) int { return cmp.Compare(b.Disposables.Value, a.Disposables.Value) })
	return out, nil
}

// scope describes one scope.
func (r *Reader) scope(in shapes.Reading, a target.Addr, s *serviceScope, x objects.Instance) answer.ServiceScope {
	out := answer.ServiceScope{Address: a, Root: r.isRoot(in, a, s, x), Types: []answer.DisposableType{}}
	cached := map[target.Addr]bool{}
	var unread error
	for o, err := range r.items.Objects(&s.Resolved, x) {
		in.Note(err)
		unread = cmp.Or(unread, err)
		cached[o.Addr] = true
	}
	out.Services = answer.Of(int64(len(cached)), unread)
	counts := map[*objects.Type]*answer.DisposableType{}
	var order []*objects.Type
	seen := map[target.Addr]bool{} // a service registered under several names is listed several times
	var failed error
	for o, err := range r.items.Objects(&s.Disposables, x) {
		if err != nil {
			in.Note(err)
			failed = cmp.Or(failed, err)
			continue
		}
		if seen[o.Addr] {
			continue
		}
		seen[o.Addr] = true
		c := counts[o.Type]
		if c == nil {
			c = &answer.DisposableType{Type: in.TypeText(o), First: o.Addr}
			counts[o.Type] = c
			order = append(order, o.Type)
		}
		if c.Count++; !cached[o.Addr] {
			c.Uncached++
		}
	}
	out.Disposables = answer.Of(int64(len(seen)), failed)
	for _, t := range order {
		counts[t].Accumulates = Accumulates(out.Root, counts[t].Uncached)
		out.Types = append(out.Types, *counts[t])
	}
	slices.SortStableFunc(out.Types, func(a, b answer.DisposableType) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// Accumulates reports whether a scope collects unshared objects of a type. In a root scope one of them may be a
// singleton.
func Accumulates(root answer.Maybe[bool], uncached int64) bool {
	return answer.Is(root, true) && uncached > 1
}

// isRoot reports whether a scope is its provider's root scope, which lives as long as the provider.
func (r *Reader) isRoot(in shapes.Reading, a target.Addr, s *serviceScope, x objects.Instance) answer.Maybe[bool] {
	if s.Root.Has() {
		return in.BoolAt(&s.Root, x)
	}
	p, at := shapes.BindAt[*rooted](in, &s.Provider, x)
	if p == nil {
		return answer.Missing[bool](objects.ErrNoField)
	}
	root := in.PointerAt(&p.Root, at)
	return answer.Of(root.Value == a, root.Err())
}
