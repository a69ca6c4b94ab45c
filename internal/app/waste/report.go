package waste

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/target"
)

// typeSums sums up the waste of one type's objects.
type typeSums struct {
	objects, wasted uint64
	most            uint64 // waste of the example
	at              target.Addr
}

func (s *typeSums) example(a target.Addr, wasted uint64) {
	if s.at == 0 || wasted > s.most || wasted == s.most && a < s.at {
		s.at, s.most = a, wasted
	}
}

func sumsOf(m map[uint32]*typeSums, id uint32) *typeSums {
	s := m[id]
	if s == nil {
		s = &typeSums{}
		m[id] = s
	}
	return s
}

func lacking(format string, args ...any) error { return fmt.Errorf(format, args...) }

// lookStep is the number of findings or strings between two checks of the context.
const lookStep = 1 << 14

// report builds the answer.
func (f *finder) report(ctx context.Context) error {
	a := f.a
	a.Objects, a.Size, a.Unread = f.counts.objects, f.counts.size, f.counts.unread
	if a.Unread > 0 {
		a.Note(lacking("%s could not be examined: %w", answer.Count(int(a.Unread), "object", "objects"), f.counts.firstUnread))
	}
	if f.beyond > 0 {
		a.Note(target.Unsupportedf("more than %d objects waste memory: %d are not counted", limits.WasteObjects, f.beyond))
	}
	if n := f.counts.unreadTypes; n > 0 {
		a.Note(target.Unsupportedf("more than %d types, or types of an unknown kind: %d objects were not examined", limits.WasteTypes, n))
	}
	var types [kinds]map[uint32]*typeSums
	for k := range types {
		types[k] = map[uint32]*typeSums{}
	}
	types[boxes] = f.boxTypes
	for i := range f.found {
		if i%lookStep == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e := &f.found[i]
		s := sumsOf(types[e.kind()], e.plan())
		s.objects++
		s.wasted += e.wasted()
		s.example(e.addr, e.wasted())
	}
	for k := range kinds {
		if f.want[k] {
			if err := f.reportKind(ctx, k, types[k]); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(a.Kinds, func(x, y answer.WasteKind) int { return cmp.Compare(y.Wasted, x.Wasted) })
	a.Share = share(a.Wasted, a.Size)
	if err := f.reportFree(ctx); err != nil {
		return err
	}
	f.reportUnknown()
	return nil
}

func share(part, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

func (f *finder) reportKind(ctx context.Context, k kind, types map[uint32]*typeSums) error {
	row := answer.WasteKind{Kind: kindNames[k]}
	switch k {
	case strings:
		row.Objects, row.Wasted = f.repeated[k].objects, f.repeated[k].wasted
		row.All, row.AllSize = f.counts.strings, f.counts.stringsSize
		var err error
		if row.Strings, err = f.repeatedStrings(ctx); err != nil {
			return err
		}
		row.MoreStrings = f.more
	case boxes:
		for id, p := range f.plans.list {
			if p.class == classBox && id < len(f.counts.tallies) && f.counts.tallies[id].objects > 0 {
				sumsOf(types, uint32(id)) // a type without repetitions is listed too
				row.All += f.counts.tallies[id].objects
				row.AllSize += f.counts.tallies[id].size
			}
		}
	case emptyArrays: // one of each type is needed
		for _, s := range types {
			s.wasted -= s.wasted / s.objects
			s.objects--
		}
		maps.DeleteFunc(types, func(_ uint32, s *typeSums) bool { return s.objects == 0 })
	}
	if k != strings {
		for _, s := range types {
			row.Objects += s.objects
			row.Wasted += s.wasted
		}
	}
	if row.Objects == 0 && (k == emptyCollections || k == underfilled) && f.unknownCollections() {
		return nil // unknown whether there are any
	}
	row.Share = share(row.Wasted, f.a.Size)
	f.a.Wasted += row.Wasted
	row.Types, row.MoreTypes = f.types(types)
	row.Holders, row.MoreHolders = f.holders(k, 0)
	f.a.Kinds = append(f.a.Kinds, row)
	return nil
}

// types lists types, the most wasteful first.
func (f *finder) types(types map[uint32]*typeSums) (list []answer.WasteType, more int) {
	for id, s := range types {
		p := f.plans.list[id]
		row := answer.WasteType{MethodTable: p.mt.Addr, Objects: s.objects, Wasted: s.wasted, Example: s.at}
		if int(id) < len(f.counts.tallies) {
			t := &f.counts.tallies[id]
			row.All, row.AllSize, row.Elements, row.Capacity = t.objects, t.size, t.elements, t.capacity
		}
		list = append(list, row)
	}
	slices.SortStableFunc(list, func(a, b answer.WasteType) int {
		return cmp.Or(cmp.Compare(b.Wasted, a.Wasted), cmp.Compare(b.AllSize, a.AllSize), cmp.Compare(a.MethodTable, b.MethodTable))
	})
	list, more = cut(list, f.o, func(r *answer.WasteType) uint64 { return r.Wasted })
	for i := range list {
		list[i].Type = f.h.Runtime().NamedType(&f.a.Gaps, list[i].MethodTable)
	}
	return list, more
}

// cut returns the rows that the options select, and the number of the others.
func cut[T any](list []T, o Options, wasted func(*T) uint64) ([]T, int) {
	all := len(list)
	n := all
	if o.Min > 0 {
		for n = 0; n < all && wasted(&list[n]) >= o.Min; n++ {
		}
	}
	if o.Top > 0 {
		n = min(n, o.Top)
	}
	return list[:n:n], all - n
}

// stringHolders is the number of listed holders of one string if lists are not limited.
const stringHolders = 3

func (f *finder) repeatedStrings(ctx context.Context) (list []answer.RepeatedString, err error) {
	for i := range f.contents {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := &f.contents[i]
		row := answer.RepeatedString{Count: s.Count, Wasted: s.Size * (s.Count - 1), Address: s.First}
		text, whole, err := f.h.StringText(s.First, heap.ComparedChars)
		row.Text = f.a.Text(secrets.Cut(ctx, text, whole), err)
		row.Holders, _ = f.holders(strings, uint32(i)+1)
		row.Holders = row.Holders[:min(len(row.Holders), stringHolders)]
		list = append(list, row)
	}
	return list, nil
}

// holders lists the places that refer to objects of a kind, or to a repeated string.
func (f *finder) holders(k kind, repeat uint32) ([]answer.WasteHolder, int) {
	type held struct {
		place
		holding
	}
	var list []held
	if f.byKind == nil {
		f.sortHolders()
	}
	for _, at := range f.byKind[holderKey{k, repeat}] {
		list = append(list, held{at, f.held[at]})
	}
	slices.SortStableFunc(list, func(a, b held) int {
		return cmp.Or(cmp.Compare(b.wasted, a.wasted), cmp.Compare(b.references, a.references),
			cmp.Compare(a.root, b.root), cmp.Compare(f.plans.list[a.plan].mt.Addr, f.plans.list[b.plan].mt.Addr), cmp.Compare(a.offset, b.offset))
	})
	list, more := cut(list, f.o, func(h *held) uint64 { return h.wasted })
	var rows []answer.WasteHolder
	for i := range list {
		rows = append(rows, answer.WasteHolder{Holder: f.holderName(&list[i].place), References: list[i].references, Wasted: list[i].wasted})
	}
	return rows, more
}

type holderKey struct {
	kind   kind
	repeat uint32
}

// sortHolders groups the places by the kind or string that they refer to.
func (f *finder) sortHolders() {
	f.byKind = map[holderKey][]place{}
	for at := range f.held {
		k := holderKey{at.kind, at.repeat}
		f.byKind[k] = append(f.byKind[k], at)
	}
}

// holderName returns Type.field, Type[] or Type[].field, a static field, or the name of a local.
func (f *finder) holderName(at *place) answer.Text {
	statics := uint32(len(f.o.Statics))
	if at.root > statics {
		return f.o.Locals[at.root-statics-1].Name()
	}
	if at.root > 0 {
		name := f.o.Statics[at.root-1].Name
		if name.Err == nil {
			name.S = "static " + name.S
		}
		return name
	}
	p := f.plans.list[at.plan]
	name, err := f.h.Runtime().TypeName(p.mt.Addr, dac.NameManaged)
	if err != nil {
		text := f.a.Text("", err)
		text.Instead = f.h.Runtime().NamelessType(p.mt.Addr)
		if p.class != classReferences {
			text.Instead = fmt.Sprintf("field +%#x of %s", at.offset, text.Instead)
		}
		return text
	}
	t, err := f.plans.r.TrustedType(p.mt.Addr)
	if err != nil {
		return f.a.Text("", err)
	}
	field := ""
	switch {
	case p.class == classReferences:
		return answer.Text{S: name}
	case p.data == 0:
		field, _ = t.FieldPath(uint64(at.offset) - 8)
	default:
		if element, err := t.Element(); err == nil {
			field, _ = element.FieldPath(uint64(at.offset))
		}
	}
	if field == "" {
		field = fmt.Sprintf("+%#x", at.offset)
	}
	return answer.Text{S: name + "." + field}
}

// unknownCollections reports whether the heap has objects that may be collections, with an unreadable type name or an
// unknown layout.
func (f *finder) unknownCollections() bool {
	for _, p := range f.plans.list {
		switch p.class {
		case classUnknown:
			return true
		case classPlain:
			if _, err := f.h.Runtime().TypeName(p.mt.Addr, dac.NameManaged); err != nil {
				return true
			}
		}
	}
	return false
}

func (f *finder) reportUnknown() {
	for id, p := range f.plans.list {
		if p.class == classUnknown && id < len(f.counts.tallies) && f.counts.tallies[id].objects > 0 {
			f.a.Unknown = append(f.a.Unknown, answer.UnknownCollection{Type: f.h.Runtime().NamedType(&f.a.Gaps, p.mt.Addr),
				Objects: f.counts.tallies[id].objects, Reason: p.err.Error()})
			f.a.Note(p.err)
		}
	}
	slices.SortStableFunc(f.a.Unknown, func(a, b answer.UnknownCollection) int {
		return cmp.Or(cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Type.S, b.Type.S))
	})
}
