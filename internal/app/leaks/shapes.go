package leaks

import (
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// The shapes of the patterns.
type (
	multicast struct {
		_     shapes.Type  `of:"System.MulticastDelegate"`
		Count shapes.Value `field:"_invocationCount|_extraData"`
	}
	delegate struct {
		_      shapes.Type `of:"System.Delegate"`
		Target shapes.Ref  `field:"_target"`
	}
	timer struct {
		_        shapes.Type `of:"System.Threading.TimerQueueTimer"`
		Callback shapes.Ref  `field:"_timerCallback"`
		State    shapes.Ref  `field:"_state"`
	}
	// callback is a registration with a CancellationTokenSource. Before .NET 6 it was in one of several lists.
	callback struct {
		_        shapes.Type `of:"System.Threading.CancellationTokenSource+CallbackNode"`
		Callback shapes.Ref  `field:"Callback"`
		State    shapes.Ref  `field:"CallbackState"`
		List     shapes.Ref  `field:"Registrations|Partition"`
	}
	callbacks struct {
		_      shapes.Type `of:"System.Threading.CancellationTokenSource+Registrations|System.Threading.CancellationTokenSource+CallbackPartition"`
		Source shapes.Ref  `field:"Source"`
	}
	// scope is a scope of a service provider. Since .NET 6 it records whether it is the root scope; before, the engine
	// does. In .NET 5 the disposables are in an object that scopes share, and a disposed scope no longer refers to it.
	scope struct {
		_           shapes.Type `of:"Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope"`
		IsRoot      shapes.Int  `field:"<IsRootScope>,optional"`
		Engine      shapes.Ref  `field:"<Engine>,optional"`
		Disposables shapes.Ref  `field:"_disposables,optional"`
		State       shapes.Ref  `field:"_state,optional"`
	}
	scopeState struct {
		_           shapes.Type `of:"Microsoft.Extensions.DependencyInjection.ServiceLookup.ScopePool+State|Microsoft.Extensions.DependencyInjection.ServiceLookup.ScopeState"`
		Disposables shapes.Ref  `field:"<Disposables>"`
	}
	scopeEngine struct {
		_    shapes.Type `of:"Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngine"`
		Root shapes.Ref  `field:"<Root>,optional"` // absent since .NET 6, where it is not needed
	}
	list struct {
		_     shapes.Type `of:"System.Collections.Generic.List<>"`
		Items shapes.Ref  `field:"_items"`
	}
)

var errScope = target.Unsupportedf("the service provider's scope has none of the known fields")

func bind[S any](f *finder, n graph.Node) (s S, x shapes.Instance, err error) {
	o, err := f.object(n)
	if err != nil {
		return s, 0, err
	}
	return shapes.BindObject[S](f.b, o)
}

// bindAt binds a shape to the object that a field refers to. It returns the zero values for null.
func bindAt[S any](f *finder, r *shapes.Ref, x shapes.Instance) (s S, at shapes.Instance, err error) {
	o, err := r.Object(x)
	if err != nil || o.Addr == 0 {
		return s, 0, err
	}
	return shapes.BindObject[S](f.b, o)
}

// nodeAt returns the object that a field refers to, or NoNode for null.
func (f *finder) nodeAt(r *shapes.Ref, x shapes.Instance) (graph.Node, error) {
	a, err := r.Addr(x)
	if err != nil {
		return graph.NoNode, err
	}
	if n, ok := f.g.Node(a); ok {
		return n, nil
	}
	return graph.NoNode, nil
}

// typesOf reports by type index which types have a shape, or nil for no type. It counts types without a readable name
// (answer.Leaks.Nameless).
func typesOf[S any](f *finder) []bool {
	var out []bool
	for i, mt := range f.g.Types() {
		t, err := f.r.TrustedType(mt.Addr)
		if err != nil {
			continue
		}
		if is, err := shapes.Is[S](f.b, t); err == nil && is {
			if out == nil {
				out = make([]bool, len(f.g.Types()))
			}
			out[i] = true
		}
	}
	return out
}

func (f *finder) isRoot(s *scope, x shapes.Instance) (bool, error) {
	switch {
	case s.IsRoot.Has():
		return s.IsRoot.Bool(x)
	case !s.Engine.Has():
		return false, errScope
	}
	engine, at, err := bindAt[*scopeEngine](f, &s.Engine, x)
	if err != nil || engine == nil {
		return false, err
	}
	if !engine.Root.Has() {
		return false, errScope
	}
	root, err := engine.Root.Addr(at)
	return root == x.Object(), err
}

// disposables returns the array of a scope's list, or NoNode.
func (f *finder) disposables(s *scope, x shapes.Instance) (graph.Node, error) {
	from := &s.Disposables
	switch {
	case from.Has():
	case s.State.Has():
		state, at, err := bindAt[*scopeState](f, &s.State, x)
		if err != nil || state == nil {
			return graph.NoNode, err
		}
		from, x = &state.Disposables, at
	default:
		return graph.NoNode, errScope
	}
	l, at, err := bindAt[*list](f, from, x)
	if err != nil || l == nil {
		return graph.NoNode, err
	}
	return f.nodeAt(&l.Items, at)
}
