package graph

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
)

// A Strength says whether a reference makes its object an owner, where a report speaks of owners. All of them
// keep what they refer to alive; weak references, which don't, are no edges.
type Strength uint8

// The strengths.
const (
	// Strong: an ordinary reference.
	Strong Strength = iota
	// Cached: from a cache, which would let go of its entries or of which nobody knows what it has:
	// entries of a MemoryCache, buckets of an ArrayPool.
	Cached
	// Attached: by a dependent handle, an entry of a ConditionalWeakTable: it lives no longer than
	// the object that it was attached to.
	Attached
)

var strengthNames = [...]string{"strong", "cached", "attached"}

// String is the strength in a word.
func (s Strength) String() string {
	if int(s) < len(strengthNames) {
		return strengthNames[s]
	}
	return fmt.Sprintf("Strength(%d)", uint8(s))
}

// caches are the types whose references are Cached: of generic ones the name before its arguments, and of all
// the end stands for nested types. The names are the same in all versions that have them:
// System.Runtime.Caching.MemoryCacheEntry (.NET Framework's API), Microsoft.Extensions.Caching.Memory.CacheEntry,
// ArrayPool.Shared until .NET 7 (TlsOverPerCoreLockedStacksArrayPool) and since (SharedArrayPool), and ArrayPool.Create.
var caches = []string{
	"Microsoft.Extensions.Caching.Memory.CacheEntry",
	"System.Runtime.Caching.MemoryCacheEntry",
	"System.Buffers.TlsOverPerCoreLockedStacksArrayPool",
	"System.Buffers.SharedArrayPool",
	"System.Buffers.SharedArrayPoolPartitions",
	"System.Buffers.SharedArrayPoolThreadLocalArray",
	"System.Buffers.ConfigurableArrayPool",
}

// isCache reports whether the references of objects of a type are Cached. Those of an array of a cache's parts
// are.
func isCache(name string) bool {
	for _, c := range caches {
		if rest, ok := strings.CutPrefix(name, c); ok && (rest == "" || strings.ContainsRune("<`+[", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// Strength is how strong the strongest reference of from to to is.
func (x *Names) Strength(from, to Node) Strength {
	if !x.g.IsObject(from) {
		return Strong
	}
	if x.cache(from) {
		return Cached
	}
	pairs := x.g.dependents(x.g.Address(from))
	if len(pairs) == 0 {
		return Strong
	}
	// The edges of dependent handles are behind those in the object's memory.
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

// cache reports whether n is a part of a cache. A type without a name is none.
func (x *Names) cache(n Node) bool {
	x.once.Do(func() {
		x.caches = make([]bool, len(x.g.types))
		for i, mt := range x.g.types {
			name, err := x.r.Runtime().TypeName(mt.Addr, dac.NameManaged)
			x.caches[i] = err == nil && isCache(name)
		}
	})
	return x.caches[x.g.TypeIndex(n)]
}
