package target

import (
	"sort"
	"strings"
)

// ModuleIndex returns the index in modules, sorted by Base, of the one that holds a;
// -1 if there is none. If modules overlap, the one that begins last counts.
func ModuleIndex(modules []Module, a Addr) int {
	i := sort.Search(len(modules), func(i int) bool { return modules[i].Base > a }) - 1
	if i >= 0 && !modules[i].Contains(a) {
		return -1
	}
	return i
}

// ModuleAt returns the module that holds a, nil if there is none; see ModuleIndex.
func ModuleAt(modules []Module, a Addr) *Module {
	if i := ModuleIndex(modules, a); i >= 0 {
		return &modules[i]
	}
	return nil
}

// NamedLibrary reports whether a path has the name of a library of any system, not of a program.
func NamedLibrary(path string) bool {
	name := strings.ToLower(BaseName(path))
	return strings.HasSuffix(name, ".dll") || strings.HasSuffix(name, ".dylib") || strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.")
}

// BaseName returns the last part of a path as the dumped process wrote it: the parts
// are separated by slashes or backslashes, whatever system this is.
func BaseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
