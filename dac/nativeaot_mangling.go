package dac

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// The symbols of a NativeAOT program are in its file, or in a split-off file beside it. They name types and
// methods as C++ could: every character other than letters and digits becomes an underscore (ILCompiler's
// NativeAotNameMangler, UnixNodeMangler). Names in the metadata resolve them.

// debugFiles is an optional part of ModuleFiles: files with symbols.
type debugFiles interface {
	DebugFile(m *target.Module) (*image.Image, error)
}

// nativeSymbols maps addresses to the symbols of a program. A nil one is empty.
type nativeSymbols struct {
	at    map[target.Addr]string
	names mangledNames
}

// readNativeSymbols reads the symbols of the program's file. It returns nil if the file has no symbols.
func (i *Instance) readNativeSymbols(n *nativeNames) *nativeSymbols {
	out := &nativeSymbols{at: map[target.Addr]string{}, names: mangle(n.types)}
	file, err := i.openFile()
	if err == nil && out.add(i, file) {
		return out
	}
	if files, ok := i.files.(debugFiles); ok {
		if file, err := files.DebugFile(&i.Module); err == nil && out.add(i, file) {
			return out
		}
	}
	return nil
}

// add records the symbols of a file and reports whether there are any. The first symbol at an address counts.
func (s *nativeSymbols) add(i *Instance, file *image.Image) bool {
	for e, err := range file.StaticSymbols() {
		if err != nil {
			return len(s.at) > 0
		}
		at := i.Module.Base + target.Addr(e.RVA)
		if _, twice := s.at[at]; !twice && i.Module.Contains(at) {
			s.at[at] = e.Name
		}
	}
	return len(s.at) > 0
}

// method returns the name of the code that starts at an address, or "".
func (s *nativeSymbols) method(at target.Addr) string {
	if s == nil || s.at[at] == "" {
		return ""
	}
	return s.names.method(s.at[at])
}

// typeAt returns the name of the type with its MethodTable at an address, or "".
func (s *nativeSymbols) typeAt(at target.Addr) string {
	if s == nil {
		return ""
	}
	mangled, ok := vtableType(s.at[at])
	if !ok {
		return ""
	}
	return s.names.typeName(mangled)
}

// vtableType returns the type in the C++ name of a virtual table: _ZTV, the length, and the type.
func vtableType(symbol string) (string, bool) {
	s, ok := strings.CutPrefix(symbol, "_ZTV")
	if !ok {
		return "", false
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n != len(s)-digits || n == 0 {
		return "", false
	}
	return strings.TrimPrefix(s[digits:], "Boxed_"), true
}

// mangledNames maps mangled names to the names in metadata.
type mangledNames struct {
	types map[string]string
	known map[string]string // mangled prefix of types (assembly, namespace) -> namespace with its full stop
}

// mangle mangles the names of types. It drops names that two types share.
func mangle(types map[target.Addr]nativeDefinition) mangledNames {
	m := mangledNames{types: map[string]string{}, known: map[string]string{}}
	for _, d := range types {
		if d.assembly == "" {
			continue
		}
		assembly := d.assembly
		if rest, ok := strings.CutPrefix(assembly, "System.Private."); ok {
			assembly = "S.P." + rest
		}
		prefix := sanitize(assembly) + "_"
		whole := prefix + sanitize(d.name)
		if other, ok := m.types[whole]; ok && other != d.name {
			m.types[whole] = ""
		} else {
			m.types[whole] = d.name
		}
		outer, _, _ := strings.Cut(d.name, "+")
		if dot := strings.LastIndexByte(outer, '.'); dot >= 0 {
			m.addNamespace(prefix, outer[:dot+1])
		}
		// Most types are in the namespace with the assembly's name.
		m.addNamespace(prefix, d.assembly+".")
	}
	return m
}

// addNamespace records a namespace. If two are mangled alike, it keeps the smaller one, so that the order of types
// does not matter.
func (m *mangledNames) addNamespace(prefix, namespace string) {
	mangled := prefix + sanitize(namespace)
	if other, ok := m.known[mangled]; !ok || namespace < other {
		m.known[mangled] = namespace
	}
}

// sanitize returns a name in the form used in symbols.
func sanitize(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			b[i] = '_'
		}
	}
	if len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		return "_" + string(b)
	}
	return string(b)
}

// typeName returns the type for a mangled name: metadata's name, the name with a known namespace, or the
// mangled name.
func (m *mangledNames) typeName(mangled string) string {
	if name, ok := m.types[mangled]; ok {
		return cmp.Or(name, mangled)
	}
	// Type<Argument,Argument>: each argument is a name like this one.
	if open := strings.IndexByte(mangled, '<'); open > 0 && strings.HasSuffix(mangled, ">") && !strings.HasPrefix(mangled, "_") {
		args := splitTop(mangled[open+1 : len(mangled)-1])
		for i := range args {
			args[i] = m.typeName(args[i])
		}
		name, _ := cutArity(m.typeName(mangled[:open]))
		return name + "<" + strings.Join(args, ", ") + ">"
	}
	best := ""
	for prefix := range m.known {
		if len(prefix) > len(best) && strings.HasPrefix(mangled, prefix) {
			best = prefix
		}
	}
	return m.known[best] + mangled[len(best):]
}

// splitTop splits at the commas outside of angle brackets.
func splitTop(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, s[from:i]), i+1
			}
		}
	}
	return append(out, s[from:])
}

// method returns Type.Method for a symbol if the type is known, otherwise the symbol. The method's name is the
// symbol's, except for constructors.
func (m *mangledNames) method(symbol string) string {
	for end := len(symbol) - 2; end > 0; end-- {
		name := m.types[symbol[:end]]
		if name == "" || symbol[end:end+2] != "__" {
			continue
		}
		method := symbol[end+2:]
		switch method {
		case "_ctor", "_cctor":
			method = "." + method[1:]
		}
		return name + "." + method
	}
	return symbol
}
