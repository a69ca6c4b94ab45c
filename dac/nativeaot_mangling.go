package dac

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// The symbols of a NativeAOT program are in its file, or in a file beside it if they were split off. They name types
// and methods as C++ could: every character that is not a letter or digit becomes an underscore (ILCompiler's
// NativeAotNameMangler, UnixNodeMangler). Only the names in the metadata resolve such a name.

// debugFiles is an optional part of ModuleFiles: files of symbols.
type debugFiles interface {
	DebugFile(m *target.Module) (*image.Image, error)
}

// nativeSymbols holds the symbols of a program, by address. A nil one is empty.
type nativeSymbols struct {
	at    map[target.Addr]string
	names mangledNames
}

// readNativeSymbols reads the symbols of the program's file. It returns nil if there are none.
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

// add records the symbols of a file and reports whether it has any. Of those at one address the first counts.
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

// method returns the name of the code that begins at an address, or "".
func (s *nativeSymbols) method(at target.Addr) string {
	if s == nil || s.at[at] == "" {
		return ""
	}
	return s.names.method(s.at[at])
}

// typeAt returns the name of the type whose MethodTable is at an address, or "".
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

// vtableType returns the type in the name of a virtual table as C++ has it: _ZTV, its length, and the type.
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

// mangledNames maps mangled names to the names of metadata.
type mangledNames struct {
	types map[string]string
	known map[string]string // assemblies with namespaces, as a type of them begins: assembly, namespace with its full stop
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
			m.begins(prefix, outer[:dot+1])
		}
		// The namespace of an assembly's types is most often its name.
		m.begins(prefix, d.assembly+".")
	}
	return m
}

// begins records a namespace. Of two that come out alike it is the same one each time, whatever the order of types.
func (m *mangledNames) begins(prefix, namespace string) {
	mangled := prefix + sanitize(namespace)
	if other, ok := m.known[mangled]; !ok || namespace < other {
		m.known[mangled] = namespace
	}
}

// sanitize returns a name in the form of symbols.
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

// typeName returns the type for a mangled name: metadata's name, or the name with a known namespace, or the mangled name itself.
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

// splitTop splits at the commas that are in no angle brackets.
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

// method returns the method for a symbol: Type.Method if the type is known, otherwise the symbol. Constructors aside,
// the method's name is the symbol's.
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
