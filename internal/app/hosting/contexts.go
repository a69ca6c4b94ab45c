package hosting

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Objects of Entity Framework Core, versions 3.1 to 10.
type (
	// A contextPart is a context or the object with the state of its entities.
	contextPart struct {
		_ objects.Shape `of:"Microsoft.EntityFrameworkCore.DbContext|Microsoft.EntityFrameworkCore.ChangeTracking.Internal.StateManager"`
	}
	dbContext struct {
		_        objects.Shape    `of:"Microsoft.EntityFrameworkCore.DbContext"`
		Disposed objects.IntField `field:"_disposed"`
	}
	stateManager struct {
		_       objects.Shape    `of:"Microsoft.EntityFrameworkCore.ChangeTracking.Internal.StateManager"`
		Context objects.RefField `field:"<Context>"`
		Changed objects.IntField `field:"<ChangedCount>,optional"`
		Map     objects.RefField `field:"_entityReferenceMap"`
	}
	entityMap struct {
		_         objects.Shape    `of:"Microsoft.EntityFrameworkCore.ChangeTracking.Internal.EntityReferenceMap"`
		Unchanged objects.RefField `field:"_unchangedReferenceMap"`
		Added     objects.RefField `field:"_addedReferenceMap"`
		Modified  objects.RefField `field:"_modifiedReferenceMap"`
		Deleted   objects.RefField `field:"_deletedReferenceMap"`
		Shared    objects.RefField `field:"_sharedTypeReferenceMap|_dependentTypeReferenceMap,optional"`
	}
)

// DbContexts lists the contexts of Entity Framework Core with their tracked entities, the most entities first. It
// records what could not be read. The error is ctx's.
func (r *Reader) DbContexts(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.DbContexts, error) {
	out := &answer.DbContexts{Contexts: []answer.DbContext{}}
	in := shapes.Reading{Gaps: &out.Gaps, Binder: r.b}
	at := map[target.Addr]int{}
	var managers []objects.Object
	for part := range shapes.ReadObjects[*contextPart](ctx, in, h, o) {
		if s, x := shapes.BindAs[*dbContext](in, part); s != nil {
			at[part.Addr] = len(out.Contexts)
			out.Contexts = append(out.Contexts, answer.DbContext{Address: part.Addr, Type: in.TypeText(part), Disposed: in.BoolAt(&s.Disposed, x), Entities: []answer.TrackedEntities{}})
		} else {
			managers = append(managers, part)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var lost error // a manager that can't be read may be of any context
	for _, o := range managers {
		s, x := shapes.BindAs[*stateManager](in, o)
		if s == nil {
			lost = answer.ErrUnknown // in has noted why
			continue
		}
		owner := in.PointerAt(&s.Context, x)
		lost = cmp.Or(lost, owner.Err())
		n, ok := at[owner.Value]
		if !ok { // the context is gone or could not be read
			continue
		}
		r.tracked(in, &out.Contexts[n], s, x)
	}
	for i := range out.Contexts {
		if c := &out.Contexts[i]; !c.Used {
			c.Tracked, c.Changed = answer.Of[int64](0, lost), answer.Of[int64](0, lost)
		}
	}
	slices.SortStableFunc(out.Contexts, func(a, b answer.DbContext) int { return cmp.Compare(b.Tracked.Value, a.Tracked.Value) })
	return out, nil
}

// tracked describes the entities that a context tracks.
func (r *Reader) tracked(in shapes.Reading, out *answer.DbContext, s *stateManager, x objects.Instance) {
	out.Used, out.Changed = true, in.IntAt(&s.Changed, x)
	m, mx, err := shapes.BindAtOr[*entityMap](in, &s.Map, x, objects.ErrNoField)
	if err != nil {
		out.Tracked = answer.Missing[int64](err)
		return
	}
	t := &tally{in: in, out: out, rows: map[tallyKey]int{}}
	err = r.count(t, m, mx, true)
	out.Tracked = answer.Of(t.tracked, err)
	slices.SortStableFunc(out.Entities, func(a, b answer.TrackedEntities) int { return cmp.Compare(b.Count, a.Count) })
}

// A tally counts the entities of a context by type and state.
type tally struct {
	in   shapes.Reading
	out  *answer.DbContext
	rows map[tallyKey]int // index of each row in out.Entities

	tracked int64
}

type tallyKey struct {
	typ   *objects.Type
	state string
}

// count counts the entities of a map. If shared is set it includes nested maps: owned types and types that share a
// table each have a map. It records what could not be read and returns the first error.
func (r *Reader) count(t *tally, m *entityMap, mx objects.Instance, shared bool) error {
	var bad error
	fail := func(err error) {
		t.in.Note(err)
		bad = cmp.Or(bad, err)
	}
	for _, part := range []struct {
		state string
		field *objects.RefField
	}{{"Unchanged", &m.Unchanged}, {"Added", &m.Added}, {"Modified", &m.Modified}, {"Deleted", &m.Deleted}} {
		for o, err := range r.keys(part.field, mx) {
			if err != nil {
				fail(err)
				continue
			}
			t.tracked++
			k := tallyKey{o.Type, part.state}
			n, ok := t.rows[k]
			if !ok {
				n = len(t.out.Entities)
				t.rows[k] = n
				t.out.Entities = append(t.out.Entities, answer.TrackedEntities{Type: t.in.TypeText(o), State: part.state, First: o.Addr})
			}
			t.out.Entities[n].Count++
		}
	}
	if !shared || !m.Shared.Has() {
		return bad
	}
	for i, err := range r.items.ItemsAt(&m.Shared, mx) {
		var inner objects.Object
		if err == nil {
			inner, err = i.Value.Object()
		}
		var s *entityMap
		var at objects.Instance
		if err == nil {
			s, at, err = objects.BindObject[*entityMap](r.b, inner)
		}
		if err != nil {
			fail(err)
			continue
		}
		bad = cmp.Or(bad, r.count(t, s, at, false))
	}
	return bad
}

// keys iterates over the keys of the dictionary that a field refers to. The keys are objects. A null field has no keys.
func (r *Reader) keys(f *objects.RefField, x objects.Instance) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		for i, err := range r.items.ItemsAt(f, x) {
			var key objects.Object
			if err == nil {
				key, err = i.Key.Object()
			}
			if !yield(key, err) {
				return
			}
		}
	}
}
