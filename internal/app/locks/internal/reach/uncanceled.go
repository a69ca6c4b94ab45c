package reach

import (
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A token's source, its registrations and a callback that is registered (CancellationTokenSource.cs, .NET 6 and later).
type (
	tokenSource struct {
		_     objects.Shape    `of:"System.Threading.CancellationTokenSource"`
		Timer objects.RefField `field:"_timer"`
	}
	sourceCallbacks struct {
		_      objects.Shape    `of:"System.Threading.CancellationTokenSource+Registrations"`
		Source objects.RefField `field:"Source"`
	}
	callbackNode struct {
		_             objects.Shape    `of:"System.Threading.CancellationTokenSource+CallbackNode"`
		Registrations objects.RefField `field:"Registrations,optional"`
	}
)

// cancels are the methods by which code cancels the source of a token, now or later.
var cancels = []string{"CancellationTokenSource.Cancel", "CancellationTokenSource.CancelAsync", "CancellationTokenSource.CancelAfter"}

// uncanceled returns a function that reports whether a node is a callback of a token that nothing cancels: the program nowhere does, no library but the runtime's
// own is loaded, and the source has no timer and is not linked to others. It returns nil if there is no such callback.
func (c *Code) uncanceled(g *graph.Graph) func(graph.Node) bool {
	if some, err := c.Tasks.Names(cancels...); some || err != nil || c.Tasks.Foreign() {
		return nil
	}
	index := slices.IndexFunc(g.Types(), func(mt *dac.MethodTable) bool {
		name, err := c.rt.TypeName(mt.Addr, dac.NameNative)
		return err == nil && name == "System.Threading.CancellationTokenSource+CallbackNode"
	})
	if index < 0 {
		return nil
	}
	return func(n graph.Node) bool {
		return g.IsObject(n) && g.TypeIndex(n) == index && c.neverCanceled(g.Address(n))
	}
}

// neverCanceled reports whether the callback at a is registered with a source of the class CancellationTokenSource itself that has no timer.
func (c *Code) neverCanceled(a target.Addr) bool {
	o, err := c.Binder.Objects().TrustedObject(a)
	if err != nil {
		return false
	}
	k, x, is, err := shapes.TryBind[*callbackNode](c.Binder, o)
	if !is || err != nil || !k.Registrations.Has() {
		return false
	}
	list, err := k.Registrations.Object(x)
	if err != nil {
		return false
	}
	r, x, is, err := shapes.TryBind[*sourceCallbacks](c.Binder, list)
	if !is || err != nil {
		return false
	}
	source, err := r.Source.Object(x)
	if err != nil {
		return false
	}
	if name, err := c.Binder.Definition(source.Type); err != nil || name != "System.Threading.CancellationTokenSource" {
		return false
	}
	t, x, is, err := shapes.TryBind[*tokenSource](c.Binder, source)
	if !is || err != nil {
		return false
	}
	timer, err := t.Timer.Addr(x)
	return err == nil && timer == 0
}
