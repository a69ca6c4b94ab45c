package leaks

import (
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// The shapes of the patterns.
type (
	multicast struct {
		_     objects.Shape      `of:"System.MulticastDelegate"`
		Count objects.ValueField `field:"_invocationCount|_extraData"`
	}
	delegate struct {
		_      objects.Shape    `of:"System.Delegate"`
		Target objects.RefField `field:"_target"`
	}
	timer struct {
		_        objects.Shape    `of:"System.Threading.TimerQueueTimer"`
		Callback objects.RefField `field:"_timerCallback"`
		State    objects.RefField `field:"_state"`
	}
	// callback is a registration with a CancellationTokenSource. Before .NET 6 it was in one of several lists.
	callback struct {
		_        objects.Shape    `of:"System.Threading.CancellationTokenSource+CallbackNode"`
		Callback objects.RefField `field:"Callback"`
		State    objects.RefField `field:"CallbackState"`
		List     objects.RefField `field:"Registrations|Partition"`
	}
	callbacks struct {
		_      objects.Shape    `of:"System.Threading.CancellationTokenSource+Registrations|System.Threading.CancellationTokenSource+CallbackPartition"`
		Source objects.RefField `field:"Source"`
	}
	// scope is a scope of a service provider. Since .NET 6 it records whether it is the root scope; before, the engine
	// does. In .NET 5 the disposables are in an object that scopes share, and a disposed scope no longer refers to it.
	scope struct {
		_           objects.Shape    `of:"Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope"`
		IsRoot      objects.IntField `field:"<IsRootScope>,optional"`
		Engine      objects.RefField `field:"<Engine>,optional"`
		Disposables objects.RefField `field:"_disposables,optional"`
		State       objects.RefField `field:"_state,optional"`
	}
	scopeState struct {
		_           objects.Shape    `of:"Microsoft.Extensions.DependencyInjection.ServiceLookup.ScopePool+State|Microsoft.Extensions.DependencyInjection.ServiceLookup.ScopeState"`
		Disposables objects.RefField `field:"<Disposables>"`
	}
	scopeEngine struct {
		_    objects.Shape    `of:"Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngine"`
		Root objects.RefField `field:"<Root>,optional"` // absent since .NET 6, where it is not needed
	}
	list struct {
		_     objects.Shape    `of:"System.Collections.Generic.List<>"`
		Items objects.RefField `field:"_items"`
	}
)

var errScope = target.Unsupportedf("the service provider's scope has none of the known fields")

func bind[S any](f *finder, n graph.Node) (s S, x objects.Instance, err error) {
	o, err := f.object(n)
	if err != nil {
		return s, 0, err
	}
	return objects.BindObject[S](f.b, o)
}

// bindAt binds a shape to the object that a field refers to. It returns the zero values for null.
func bindAt[S any](f *finder, r *objects.RefField, x objects.Instance) (s S, at objects.Instance, err error) {
	o, err := r.Object(x)
	if err != nil || o.Addr == 0 {
		return s, 0, err
	}
	return objects.BindObject[S](f.b, o)
}

// nodeAt returns the object that a field refers to, or NoNode for null.
func (f *finder) nodeAt(r *objects.RefField, x objects.Instance) (graph.Node, error) {
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
		if is, err := objects.IsShape[S](f.b, t); err == nil && is {
			if out == nil {
				out = make([]bool, len(f.g.Types()))
			}
			out[i] = true
		}
	}
	return out
}

func (f *finder) isRoot(s *scope, x objects.Instance) (bool, error) {
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
func (f *finder) disposables(s *scope, x objects.Instance) (graph.Node, error) {
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
