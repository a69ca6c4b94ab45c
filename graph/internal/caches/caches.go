// Package caches names the types of class libraries that drop their entries on their own. Start at [IsCache].
package caches

import "strings"

// types are the types of caches and their parts: the name before type arguments, or before + for nested types. The
// names are stable: System.Runtime.Caching.MemoryCacheEntry (.NET Framework's API),
// Microsoft.Extensions.Caching.Memory.CacheEntry, ArrayPool.Shared until .NET 7 (TlsOverPerCoreLockedStacksArrayPool)
// and since (SharedArrayPool), and ArrayPool.Create.
var types = []string{
	"Microsoft.Extensions.Caching.Memory.CacheEntry",
	"System.Runtime.Caching.MemoryCacheEntry",
	"System.Buffers.TlsOverPerCoreLockedStacksArrayPool",
	"System.Buffers.SharedArrayPool",
	"System.Buffers.SharedArrayPoolPartitions",
	"System.Buffers.SharedArrayPoolThreadLocalArray",
	"System.Buffers.ConfigurableArrayPool",
}

// IsCache reports whether a type is a cache, a part of one, or an array of parts.
func IsCache(name string) bool {
	for _, c := range types {
		if rest, ok := strings.CutPrefix(name, c); ok && (rest == "" || strings.ContainsRune("<`+[", rune(rest[0]))) {
			return true
		}
	}
	return false
}
