package contexts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// loadContext is an AssemblyLoadContext, or an object of a derived class.
type loadContext struct {
	_           objects.Shape    `of:"System.Runtime.Loader.AssemblyLoadContext"`
	Name        objects.RefField `field:"_name"`
	ID          objects.IntField `field:"_id"`
	State       objects.IntField `field:"_state"`
	Collectible objects.IntField `field:"_isCollectible"`
}

// unloading is the value of AssemblyLoadContext.InternalState after Unload was called.
const unloading = 1

// defaultType is the class of the default context.
const defaultType = "System.Runtime.Loader.DefaultAssemblyLoadContext"

// list lists the contexts. It records what could not be read. The error is ctx's, or why there are no modules.
func list(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.LoadContexts, error) {
	l := &lister{Call: c, rt: rt, ctx: ctx, out: &answer.LoadContexts{Contexts: []answer.AssemblyContext{}}, at: map[target.Addr]int{}}
	modules, err := rt.KnownModules()
	if len(modules) == 0 {
		if err == nil {
			err = fmt.Errorf("assemblies: %w", target.ErrNotInDump)
		}
		return nil, err
	}
	if err := l.find(); err != nil {
		return nil, err
	}
	l.alone = len(l.out.Noted()) == 0 && !slices.ContainsFunc(l.out.Contexts, func(c answer.AssemblyContext) bool { return !c.Default })
	l.out.Note(err)
	l.assign(modules)
	if noted := l.out.Noted(); len(l.out.Contexts) == 0 && len(noted) > 0 {
		return nil, fmt.Errorf("no load context can be read: %w", noted[0])
	}
	l.out.Contexts = slices.DeleteFunc(l.out.Contexts, func(c answer.AssemblyContext) bool {
		return c.State.S == answer.ContextUnloading && len(c.Assemblies) == 0 && !l.unassigned // unloaded; its object is garbage
	})
	slices.SortStableFunc(l.out.Contexts, func(a, b answer.AssemblyContext) int {
		if a.Default != b.Default {
			return map[bool]int{true: -1, false: 1}[a.Default]
		}
		return cmp.Compare(a.ID.Value, b.ID.Value)
	})
	return l.out, l.blockers()
}

type lister struct {
	*process.Call
	rt  *dac.Runtime
	ctx context.Context
	out *answer.LoadContexts
	at  map[target.Addr]int // by the managed object; 0 for the default context
	// alone reports that the process has no context but the default one. Every other context has a managed object as long as assemblies are
	// loaded in it: the runtime keeps one with a handle, or resurrects it to unload it (AssemblyLoadContext.cs).
	alone bool
	// unassigned reports that the runtime's layout does not lead from assemblies to contexts.
	unassigned bool
}

// find lists the managed objects of contexts.
func (l *lister) find() error {
	b, err := l.Shapes()
	if err != nil {
		return err
	}
	h, err := l.ObjectHeap()
	if err != nil {
		l.Note(err)
		return nil
	}
	in := shapes.Reading{Gaps: &l.out.Gaps, Binder: b}
	for o, f := range shapes.ReadObjects[*loadContext](l.ctx, in, h, l.Scan("looking for load contexts", heap.ScanOptions{})) {
		s, x := f.Shape, f.At()
		c := answer.AssemblyContext{Address: o.Addr, Name: in.TextAt(&s.Name, x), Type: in.TypeText(o), ID: in.IntAt(&s.ID, x), Collectible: in.BoolAt(&s.Collectible, x),
			Assemblies: []answer.ContextAssembly{}}
		state := in.IntAt(&s.State, x)
		c.State.Err = state.Err()
		if c.State.S = answer.ContextAlive; state.Value == unloading {
			c.State.S = answer.ContextUnloading
		}
		l.at[o.Addr] = len(l.out.Contexts)
		if c.Type.S == defaultType {
			c.Default = true
			if _, ok := l.at[0]; !ok {
				l.at[0] = len(l.out.Contexts)
			}
		}
		l.out.Contexts = append(l.out.Contexts, c)
	}
	return l.ctx.Err()
}

// assign adds the modules to their contexts. A context without a managed object, or with one that is not in the dump,
// has a row without it.
func (l *lister) assign(modules []*dac.Module) {
	global, gerr := l.rt.GlobalLoaderAllocator()
	for _, m := range modules {
		object, err := m.LoadContext()
		if errors.Is(err, target.ErrUnsupported) { // before .NET 8
			if l.alone {
				object, err = 0, nil
			} else if l.unassigned {
				continue
			} else {
				l.unassigned, err = true, fmt.Errorf("which assemblies are in which context: %w", err)
			}
		}
		allocator, aerr := m.LoaderAllocator()
		collectible := answer.Of(aerr == nil && gerr == nil && allocator != global, cmp.Or(aerr, gerr))
		var keeper target.Addr
		if aerr == nil {
			keeper, aerr = m.LoaderAllocatorObject()
		}
		l.out.Note(err)
		if aerr != nil && !errors.Is(aerr, target.ErrUnsupported) {
			l.out.Note(fmt.Errorf("LoaderAllocator of module %016x: %w", uint64(m.Addr), aerr))
		}
		if err != nil {
			continue
		}
		i, ok := l.at[object]
		if !ok {
			c := answer.AssemblyContext{Address: object, Default: object == 0, Assemblies: []answer.ContextAssembly{},
				ID: answer.Missing[int64](errNoObject), Collectible: answer.Missing[bool](errNoObject)}
			if object == 0 {
				c.Name.S, c.State.S, c.Collectible = "Default", answer.ContextAlive, answer.Known(false)
			} else {
				c.Name.Err, c.Type.Err, c.State.Err = errNoObject, errNoObject, errNoObject
			}
			i = len(l.out.Contexts)
			l.at[object] = i
			l.out.Contexts = append(l.out.Contexts, c)
		}
		c := &l.out.Contexts[i]
		row := answer.ContextAssembly{Module: m.Addr, Name: l.out.Text(m.File()), Collectible: collectible}
		c.Assemblies = append(c.Assemblies, row)
		if keeper != 0 && !c.Default { // an emitted assembly may be collectible by itself
			c.Allocator, c.Keeper = allocator, keeper
		}
	}
}

var errNoObject = fmt.Errorf("the AssemblyLoadContext: %w", target.ErrNotInDump)

// blockers finds what keeps the unloading contexts alive.
func (l *lister) blockers() error {
	var holders *graph.Holders
	var running map[target.Addr][]answer.UnloadBlocker
	for i := range l.out.Contexts {
		c := &l.out.Contexts[i]
		if c.State.S != answer.ContextUnloading {
			continue
		}
		if running == nil {
			running = l.running()
			var err error
			holders, err = l.NotedHolders()
			l.out.Note(err)
		}
		c.Verdict = answer.NotKnown
		if err := l.paths(c, holders); err != nil {
			return err
		}
		for _, b := range running[c.Allocator] {
			c.Blockers, c.Verdict = append(c.Blockers, b), answer.Held
		}
		if len(c.Blockers) == 0 {
			c.Conclusion = l.unkept(c)
		}
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
	}
	return nil
}

// unkept concludes what it means that nothing was found to keep a context.
func (l *lister) unkept(c *answer.AssemblyContext) *answer.Verdict {
	v := answer.Conclude(answer.NoFinding, words.KeeperUnknown.Of(), answer.StrengthUnknown)
	if c.Verdict == answer.Garbage {
		v = answer.Conclude(answer.NoFinding, words.CanBeUnloaded.Of(), answer.StrengthProved)
	}
	v = words.LowerOne(v, l.State)
	return &v
}

// paths adds the paths from roots to the managed LoaderAllocator of a context.
func (l *lister) paths(c *answer.AssemblyContext, holders *graph.Holders) error {
	if holders == nil || c.Keeper == 0 {
		return nil
	}
	r, err := holders.RootPaths(l.ctx, c.Keeper, graph.HoldOptions{All: true, Limit: limits.UnloadPaths})
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if err != nil {
		l.out.Note(fmt.Errorf("what keeps LoaderAllocator %016x: %w", uint64(c.Keeper), err))
		return nil
	}
	l.out.NoteAll(r.Noted())
	c.Verdict, c.More = r.Verdict, r.Limited
	for i := range r.Paths {
		b := blocker(&r.Paths[i])
		if same := slices.IndexFunc(c.Blockers, func(a answer.UnloadBlocker) bool { return sameFrame(&a, &b) }); same >= 0 {
			c.Blockers[same].Times++
			continue
		}
		c.Blockers = append(c.Blockers, b)
	}
	return nil
}

// sameFrame reports whether two paths begin in the same frame and keep the same object. Code often has copies of a
// reference.
func sameFrame(a, b *answer.UnloadBlocker) bool {
	if a.Kind != answer.BlockedByStack || b.Kind != answer.BlockedByStack || a.Path == nil || a.Path.Root.Frame == nil || b.Path.Root.Frame == nil {
		return false
	}
	last := func(b *answer.UnloadBlocker) target.Addr {
		return b.Path.Objects[max(0, len(b.Path.Objects)-2)].Address
	}
	return a.Path.Root.Frame.SP == b.Path.Root.Frame.SP && last(a) == last(b) && a.Strength == b.Strength
}

// blocker describes how a path keeps a context alive.
func blocker(p *answer.RootPath) answer.UnloadBlocker {
	b := answer.UnloadBlocker{Kind: answer.BlockedByOther, Strength: answer.StrengthProved, Path: p, Times: 1}
	from := words.Text(p.Root.Name)
	switch p.Root.Kind {
	case answer.RootHandle:
		b.Kind = answer.BlockedByHandle
		from = words.RootAt.Of(from, words.ShortAddress(p.Root.Address))
	case answer.RootStack:
		b.Kind = answer.BlockedByStack
	case answer.RootStatic, answer.RootThreadStatic, answer.RootThreadStatics:
		b.Kind = answer.BlockedByStatic
	}
	for _, s := range p.Objects {
		if s.Edge != nil && s.Edge.Kind == answer.EdgeStatic {
			b.Kind, from = answer.BlockedByStatic, words.StaticNamed.Of(words.Field(s.Edge.Name.String()))
		}
	}
	if p.Root.Conservative {
		b.Strength = answer.StrengthPossible
	}
	n := len(p.Objects)
	if n < 2 {
		b.Statement = words.RefersToAllocator.Of(from)
		return b
	}
	says := words.KeepsReferrer
	if e := p.Objects[n-1].Edge; e != nil && e.Kind == answer.EdgeAllocator {
		says = words.KeepsInstance
	}
	b.Statement = says.Of(from, words.Type(p.Objects[n-2].Type.String()), words.ShortObject(p.Objects[n-2].Address))
	return b
}

// running lists the threads with methods of collectible contexts on their stacks, by the LoaderAllocator of the
// method's module.
func (l *lister) running() map[target.Addr][]answer.UnloadBlocker {
	out := map[target.Addr][]answer.UnloadBlocker{}
	wanted := map[target.Addr]bool{}
	for i := range l.out.Contexts {
		if c := &l.out.Contexts[i]; c.Allocator != 0 {
			wanted[c.Allocator] = true
		}
	}
	list, err := l.Threads()
	l.Note(err)
	for i := range list {
		t := &list[i]
		if t.Managed == nil || l.ctx.Err() != nil {
			continue
		}
		seen := map[target.Addr]bool{}
		for f := range l.Walk(l.ctx, t, stackwalk.WalkOptions{}) {
			l.out.Note(f.Missing())
			if f.Kind != stackwalk.FrameManaged || f.Code.Method == nil {
				continue
			}
			m, err := f.Code.Method.Module()
			var allocator target.Addr
			if err == nil {
				allocator, err = m.LoaderAllocator()
			}
			if err != nil || !wanted[allocator] || seen[allocator] {
				continue
			}
			seen[allocator] = true
			who := t.Describe(&l.out.Gaps)
			b := answer.UnloadBlocker{Kind: answer.BlockedByCode, Strength: answer.StrengthProved, Times: 1, Thread: &who,
				Frame: l.out.Text(dac.CodeOf(f.Runtime).MethodName(f.Code.Method, dac.MethodQualified))}
			b.Statement = words.ThreadRuns.Of(words.ThreadAndID(who), words.Method(b.Frame.String()))
			out[allocator] = append(out[allocator], b)
		}
	}
	return out
}
