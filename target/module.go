package target

import (
	"sort"
	"strings"
)

// ModuleIndex returns the index of the module that holds a, or -1. modules are sorted by Base. If
// modules overlap, the one that begins last is used.
func ModuleIndex(modules []Module, a Addr) int {
	i := sort.Search(len(modules), func(i int) bool { return modules[i].Base > a }) - 1
	if i >= 0 && !modules[i].Contains(a) {
		return -1
	}
	return i
}

// ModuleAt returns the module that holds a, or nil; see ModuleIndex.
func ModuleAt(modules []Module, a Addr) *Module {
	if i := ModuleIndex(modules, a); i >= 0 {
		return &modules[i]
	}
	return nil
}

// NamedLibrary reports whether a path is named like a library of any system, and not like a
// program.
func NamedLibrary(path string) bool {
	name := strings.ToLower(BaseName(path))
	return strings.HasSuffix(name, ".dll") || strings.HasSuffix(name, ".dylib") || strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.")
}

// BaseName returns the last part of a path of the dumped process. Slashes and backslashes separate
// parts, on any host.
func BaseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
