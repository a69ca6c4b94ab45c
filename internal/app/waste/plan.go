package waste

import (
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/waste/internal/stores"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A class is a way to examine objects of a type.
type class uint8

const (
	classPlain class = iota
	classString
	classReferences // an array of references
	classValues     // an array of anything else
	classBox
	classCollection
	classUnknown // a collection with unknown fields
	classBeyond  // the type is beyond limits.WasteTypes
)

// A plan has the facts about a type for examining its objects.
type plan struct {
	id    uint32
	mt    *dac.MethodTable
	class class
	data  target.Addr // for arrays: the start of the elements, from the object's start
	size  uint64      // of an element in bytes
	refs  bool        // objects hold references
	coll  *stores.Collection
	err   error // why it is unknown

	fields struct {
		once sync.Once
		any  bool
	}
}

// plans holds the plans of all types found so far. Plan numbers depend on the order of discovery and are never shown.
// plans is safe for concurrent use.
type plans struct {
	r           *objects.Reader
	collections *objects.Collections
	string      target.Addr

	mu     sync.RWMutex
	byType map[*dac.MethodTable]*plan
	list   []*plan
}

func newPlans(r *objects.Reader) *plans {
	return &plans{r: r, collections: objects.NewCollections(objects.NewBinder(r, nil)), string: r.Runtime().WellKnown().String, byType: map[*dac.MethodTable]*plan{}}
}

func (p *plans) of(mt *dac.MethodTable) *plan {
	p.mu.RLock()
	e := p.byType[mt]
	p.mu.RUnlock()
	if e != nil {
		return e
	}
	e = p.make(mt)
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.byType[mt]; old != nil {
		return old
	}
	e.id = uint32(len(p.list))
	if e.id >= limits.WasteTypes {
		return &plan{mt: mt, class: classBeyond}
	}
	p.byType[mt], p.list = e, append(p.list, e)
	return e
}

func (p *plans) make(mt *dac.MethodTable) *plan {
	e := &plan{mt: mt, refs: mt.ContainsPointers(), size: uint64(mt.ComponentSize)}
	switch {
	case mt.Addr == p.string:
		e.class = classString
	case mt.IsArray():
		// The base size includes the header before the object and ends at the start of the elements.
		e.class, e.data = classValues, target.Addr(mt.BaseSize)-8
		if e.refs && e.size == 8 && p.ofReferences(mt) {
			e.class = classReferences
		}
	case mt.HasComponents():
		e.class = classBeyond // unknown
	case mt.IsValueType():
		e.class = classBox
	default:
		p.plain(e)
	}
	return e
}

// ofReferences reports whether an array type's eight-byte elements are references, not structs with one reference.
func (p *plans) ofReferences(mt *dac.MethodTable) bool {
	t, err := p.r.TrustedType(mt.Addr)
	if err != nil {
		return true
	}
	element, err := t.Element()
	return err != nil || !element.MT.IsValueType()
}

// plain checks whether a type without components is a collection.
func (p *plans) plain(e *plan) {
	t, err := p.r.TrustedType(e.mt.Addr)
	if err != nil {
		return
	}
	if e.coll, e.err = stores.Of(p.collections, t); e.err != nil {
		e.class = classUnknown
	} else if e.coll != nil {
		e.class = classCollection
	}
}

// hasFields reports whether objects of the type have known fields.
func (p *plans) hasFields(e *plan) bool {
	e.fields.once.Do(func() {
		t, err := p.r.TrustedType(e.mt.Addr)
		if err != nil {
			return
		}
		list, _ := t.Fields() // one known field is enough
		for _, f := range list {
			e.fields.any = e.fields.any || !f.Static
		}
	})
	return e.fields.any
}

type planner struct {
	plans *plans
	cache [1024]struct {
		mt *dac.MethodTable
		p  *plan
	}
}

func (p *planner) of(o *heap.Object) *plan {
	// MethodTables are close together. The multiplication spreads them.
	e := &p.cache[uint64(o.Type.Addr>>3)*0x9e3779b97f4a7c15>>(64-10)]
	if e.mt != o.Type {
		e.mt, e.p = o.Type, p.plans.of(o.Type)
	}
	return e.p
}
