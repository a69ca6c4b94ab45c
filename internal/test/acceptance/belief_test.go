package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// TestBelief checks for every word of the stacks whether sosgo takes it for a structure of the
// runtime, and compares each positive answer with a list of these structures.
func TestBelief(t *testing.T) {
	testdump.KindsAndCorpus(t, func(t *testing.T, d *testdump.Dump) {
		asked := 0
		for _, inst := range d.Runtimes() {
			v, err := d.View(fmt.Sprint(inst.Index))
			require.NoError(t, err)
			rt, err := v.Runtime()
			if errors.Is(err, target.ErrUnsupported) {
				continue
			}
			require.NoError(t, err)
			asked++
			b := newBeliefs(t, v, rt)
			accepted := map[string]int{}
			for w := range stackWords(t, d, v) {
				for what, is := range b.acceptors {
					switch err := is(w); {
					case err == nil && !b.confirms(what, w):
						t.Errorf("runtime %d: %v is taken for a %s", inst.Index, w, what)
					case err == nil:
						accepted[what]++
					case !testdump.Typed(err):
						t.Errorf("runtime %d: %v as a %s: an error of no kind: %v", inst.Index, w, what, err)
					}
				}
			}
			t.Logf("runtime %d: %v", inst.Index, accepted)
		}
		if asked == 0 {
			t.Skip("no runtime that this reads")
		}
	})
}

// stackWords returns the distinct words of the threads' stacks.
func stackWords(t *testing.T, d *testdump.Dump, v *sosgo.View) map[target.Addr]bool {
	t.Helper()
	words := map[target.Addr]bool{}
	list, _ := v.Threads() // possibly incomplete
	for i := range list {
		used, err := list[i].Stack(d.Target())
		if err != nil {
			continue
		}
		for _, r := range used.Ranges {
			for a := r.Start; a+8 <= r.End; a += 8 {
				if w, err := target.Pointer(d.Memory(), a); err == nil {
					words[w] = true
				}
			}
		}
	}
	return words
}

// beliefs are functions that accept addresses of structures, and lists of these structures.
type beliefs struct {
	rt        *dac.Runtime
	acceptors map[string]func(target.Addr) error
	lists     map[string]map[target.Addr]bool
	holes     bool // the list of types is incomplete
}

func newBeliefs(t *testing.T, v *sosgo.View, rt *dac.Runtime) *beliefs {
	t.Helper()
	b := &beliefs{rt: rt, lists: map[string]map[target.Addr]bool{}}
	for _, what := range []string{"Module", "Assembly", "LoaderAllocator", "MethodTable", "EEClass", "MethodDesc", "FieldDesc"} {
		b.lists[what] = map[target.Addr]bool{}
	}
	b.list()
	if rt.Check(dac.FeatureTypeLists) != nil {
		h, err := v.Heap()
		require.NoError(t, err)
		for o := range h.Walk(context.Background(), nil) {
			b.lists["MethodTable"][o.Type.Addr] = true
		}
	}
	objects, err := v.Objects()
	require.NoError(t, err)
	b.acceptors = map[string]func(target.Addr) error{
		"Module":          func(a target.Addr) error { _, err := rt.Module(a); return err },
		"Assembly":        func(a target.Addr) error { _, err := rt.Assembly(a); return err },
		"LoaderAllocator": func(a target.Addr) error { _, err := rt.LoaderAllocator(a); return err },
		"MethodTable":     func(a target.Addr) error { _, _, err := rt.MethodTableAt(a); return err },
		"EEClass":         func(a target.Addr) error { _, err := rt.MethodTableOfClass(a); return err },
		"MethodDesc":      func(a target.Addr) error { _, err := dac.CodeOf(rt).MethodDesc(a); return err },
		"FieldDesc":       func(a target.Addr) error { _, err := rt.FieldDesc(a); return err },
	}
	if h, err := v.Heap(); err == nil && len(h.Segments()) > 0 {
		b.lists["object"] = nil // decided by a walk
		b.acceptors["object"] = func(a target.Addr) error {
			o, err := objects.Proven(a)
			if err != nil {
				return err
			}
			if at, err := h.ObjectContaining(o.Addr); err == nil && at.Addr != o.Addr {
				return fmt.Errorf("in the object at %v", at.Addr)
			}
			return nil
		}
	}
	return b
}

// list follows the runtime's own lists, from the assemblies on.
func (b *beliefs) list() {
	modules, _ := b.rt.KnownModules()
	for _, m := range modules {
		b.lists["Module"][m.Addr], b.lists["Assembly"][m.Assembly] = true, true
		if a, err := m.LoaderAllocator(); err == nil {
			b.lists["LoaderAllocator"][a] = true
		}
		for e, err := range m.Entries(dac.MapMethodDef) {
			if err == nil {
				b.lists["MethodDesc"][e.Value] = true
			}
		}
		for e, err := range m.Entries(dac.MapFieldDef) {
			if err == nil {
				b.lists["FieldDesc"][e.Value] = true
			}
		}
	}
	if a, err := b.rt.GlobalLoaderAllocator(); err == nil {
		b.lists["LoaderAllocator"][a] = true
	}
	for mt, err := range b.rt.LoadedTypes() {
		if err == nil {
			b.addType(mt)
		}
		b.holes = b.holes || err != nil
	}
}

func (b *beliefs) addType(mt *dac.MethodTable) {
	if b.lists["MethodTable"][mt.Addr] {
		return
	}
	b.lists["MethodTable"][mt.Addr] = true
	if class, err := b.rt.EEClass(mt); err == nil {
		b.lists["EEClass"][class.Addr] = true
	}
	for m, err := range dac.CodeOf(b.rt).Methods(mt) {
		if err == nil {
			b.lists["MethodDesc"][m.Addr] = true
		}
	}
	fields, _ := b.rt.Fields(mt)
	for _, f := range fields {
		b.lists["FieldDesc"][f.Addr] = true
	}
	if canonical, err := b.rt.TrustedMethodTable(mt.Canonical); err == nil {
		b.addType(canonical)
	}
	if parent, err := b.rt.TrustedMethodTable(mt.Parent); err == nil {
		b.addType(parent)
	}
}

// confirms reports whether another list has the structure at a. Lists end at holes in the dump,
// while maps may still have single rows after them. Methods of generic instances, and methods
// without metadata, are only in the list of their types.
func (b *beliefs) confirms(what string, a target.Addr) bool {
	if list := b.lists[what]; list == nil || list[a] {
		return true
	}
	switch what {
	case "MethodTable":
		mt, _, err := b.rt.MethodTableAt(a)
		if err != nil || !b.lists["Module"][mt.Module] {
			return false
		}
		if mt.IsGeneric() || mt.IsArray() {
			return b.holes
		}
		return mt.Token.Row() == 0 && mt.Parent == 0 // the class of a module's dynamic methods has no metadata
	case "MethodDesc":
		m, err := dac.CodeOf(b.rt).MethodDesc(a)
		if err != nil {
			return false
		}
		if m.Kind == dac.MethodInstantiated || m.Kind == dac.MethodDynamic {
			return b.confirms("MethodTable", m.MethodTable)
		}
		return b.mapHas(dac.MapMethodDef, m.MethodTable, m.Token, a)
	case "FieldDesc":
		f, err := b.rt.FieldDesc(a)
		return err == nil && b.mapHas(dac.MapFieldDef, f.MethodTable, f.Token, a)
	}
	return false
}

// mapHas reports whether a map of the type's module maps the token to a. A row that is not in the
// dump does not contradict.
func (b *beliefs) mapHas(k dac.Map, typ target.Addr, t metadata.Token, a target.Addr) bool {
	mt, err := b.rt.TrustedMethodTable(typ)
	if err != nil || !b.lists["Module"][mt.Module] {
		return false
	}
	m, err := b.rt.Module(mt.Module)
	if err != nil {
		return false
	}
	at, err := m.Lookup(k, t.Row())
	return err == nil && at == a || errors.Is(err, target.ErrNotInDump)
}
