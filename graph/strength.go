package graph

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph/internal/caches"
	"github.com/sosgo/sosgo/internal/base/enum"
)

// A Strength is the strength of a reference in reports about owners. All strengths keep the referent alive. Weak
// references are not edges.
type Strength uint8

// The strengths.
const (
	Strong Strength = iota // an ordinary reference
	// Cached is a reference from a cache, which may drop its entries, or with content that is unknown: entries of a
	// MemoryCache, buckets of an ArrayPool.
	Cached
	// Attached is a reference by a dependent handle, an entry of a ConditionalWeakTable. The referent does not
	// outlive the object that it is attached to.
	Attached
)

var strengthNames = [...]answer.LinkStrength{answer.LinkStrong, answer.LinkCached, answer.LinkAttached}

// String returns the strength in a word.
func (s Strength) String() string { return enum.Name(strengthNames[:], s, "Strength") }

// Strength returns the strength of the strongest reference of from to to.
func (x *Names) Strength(from, to Node) Strength {
	if !x.g.IsObject(from) {
		return Strong
	}
	if x.isCache(from) {
		return Cached
	}
	pairs := x.g.dependents(x.g.Address(from))
	if len(pairs) == 0 {
		return Strong
	}
	// The edges of dependent handles come after those in the object's memory.
	attached, at := 0, x.g.Address(to)
	for i := range pairs {
		if pairs[i].Secondary == at {
			attached++
		}
	}
	for _, n := range x.g.Referents(from) {
		if n == to {
			attached--
		}
	}
	if attached == 0 {
		return Attached
	}
	return Strong
}

// isCache reports whether n is a part of a cache. It reports false for a type without a readable name.
func (x *Names) isCache(n Node) bool {
	x.once.Do(func() {
		x.caches = make([]bool, len(x.g.types))
		for i, mt := range x.g.types {
			name, err := x.r.Runtime().TypeName(mt.Addr, dac.NameManaged)
			x.caches[i] = err == nil && caches.IsCache(name)
		}
	})
	return x.caches[x.g.TypeIndex(n)]
}
