package dac

import (
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// HasName reports whether name is a name of the type mt with its type arguments. These are names of a
// Dictionary<int, Zoo.Dog>:
//
//   - System.Collections.Generic.Dictionary<System.Int32, Zoo.Dog>, as TypeName writes it (NameManaged);
//   - System.Collections.Generic.Dictionary`2[[System.Int32, System.Private.CoreLib],[Zoo.Dog, Zoo]], as TypeName
//     (NameNative) and Type.FullName write it. Version, culture and key of the assembly are ignored;
//   - System.Collections.Generic.Dictionary`2[System.Int32,Zoo.Dog], as Type.ToString writes it;
//   - System.Collections.Generic.Dictionary<int, Zoo.Dog>, as in C#.
//
// Names of nested types follow a plus, a dot or a slash. int? is a name of Nullable<int>. Brackets of arrays are in
// the order of the runtime: int[,][] is an array of int[,]. The type arguments of a definition have the names that
// TypeName writes.
func (r *Runtime) HasName(mt *MethodTable, name string) (bool, error) {
	if mt.IsOpen() || r.Check(FeatureTypeLists) != nil {
		for _, style := range []NameStyle{NameManaged, NameNative} {
			if have, err := r.TypeName(mt.Addr, style); err != nil || have == name {
				return err == nil, err
			}
		}
		return false, nil
	}
	m := nameMatcher{r: r, s: name}
	ok, err := m.typeHandle(mt.Addr, 0)
	return ok && m.s == "", err
}

// A nameMatcher compares names of types with a text. It compares a type's parts with the text from the left, because
// a name of the compiler or of an obfuscator may contain any character.
type nameMatcher struct {
	r *Runtime
	s string // what is left of the text
}

// cut removes a prefix of the text, and reports whether the text had it.
func (m *nameMatcher) cut(prefix string) bool {
	rest, ok := strings.CutPrefix(m.s, prefix)
	m.s = rest
	return ok
}

// cutAny removes the first of the prefixes that the text has.
func (m *nameMatcher) cutAny(prefixes ...string) bool {
	for _, p := range prefixes {
		if m.cut(p) {
			return true
		}
	}
	return false
}

// typeHandle removes a name of the type th. After false, the rest of the text has no meaning.
func (m *nameMatcher) typeHandle(th target.Addr, depth int) (bool, error) {
	if depth > limits.TypeNameDepth {
		return false, target.Limitf("type %016x is nested deeper, or its name is longer, than sosgo reads", uint64(th))
	}
	if th&2 != 0 {
		return m.typeDesc(th)
	}
	mt, err := m.r.TrustedMethodTable(th)
	if err != nil {
		return false, err
	}
	if mt.IsArray() {
		return m.array(mt, depth)
	}
	name, err := m.r.impl.definitionName(mt)
	if err != nil {
		return false, err
	}
	args, err := m.r.TypeArguments(mt)
	if err != nil {
		return false, err
	}
	start := m.s
	if name == "System.Nullable`1" && len(args) == 1 {
		if ok, err := m.typeHandle(args[0], depth+1); ok && m.cut("?") || err != nil {
			return err == nil, err
		}
		m.s = start
	}
	if m.keyword(name) {
		return true, nil
	}
	return m.class(name, args, depth)
}

// typeDesc removes the name of a pointer or another type without a MethodTable, as TypeName writes it.
func (m *nameMatcher) typeDesc(th target.Addr) (bool, error) {
	name, err := m.r.TypeName(th, NameManaged)
	return err == nil && m.cut(name), err
}

func (m *nameMatcher) array(mt *MethodTable, depth int) (bool, error) {
	if ok, err := m.typeHandle(mt.PerInstInfo, depth+1); !ok || err != nil {
		return false, err
	}
	rank, err := m.r.ArrayRank(mt)
	switch {
	case err != nil:
		return false, err
	case rank == 1 && mt.Category() != CategorySZArray:
		return m.cutAny("[*]", "<*>"), nil
	}
	return m.cut("[" + strings.Repeat(",", rank-1) + "]"), nil
}

// class removes the name of a class or struct: its parts, each with its type arguments, or all arguments at the end.
func (m *nameMatcher) class(name string, args []target.Addr, depth int) (bool, error) {
	var late []target.Addr // arguments that follow the name
	parts := splitNested(name)
	for i, part := range parts {
		head, n := cutArity(part)
		if i > 0 && !m.cutAny("+", ".", "/") || !m.cut(head) {
			return false, nil
		}
		m.cut(part[len(head):]) // the arity may be left out
		if n = min(n, len(args)); i == len(parts)-1 {
			n = len(args) // as in managedInstance
		}
		if n > 0 && len(late) == 0 && m.cut("<") {
			if ok, err := m.list(args[:n], ">", depth); !ok || err != nil {
				return false, err
			}
		} else {
			late = append(late, args[:n]...)
		}
		args = args[n:]
	}
	switch {
	case len(late) == 0:
		return true, nil
	case strings.HasPrefix(m.s, "[["):
		return m.qualified(late, depth)
	}
	if !m.cut("[") {
		return false, nil
	}
	return m.list(late, "]", depth)
}

// list removes a list of types, and the bracket after it.
func (m *nameMatcher) list(args []target.Addr, end string, depth int) (bool, error) {
	for i, a := range args {
		if i > 0 && !m.cutAny(", ", ",") {
			return false, nil
		}
		if ok, err := m.typeHandle(a, depth+1); !ok || err != nil {
			return false, err
		}
	}
	return m.cut(end), nil
}

// qualified removes a list of types with their assemblies: [[System.Int32, System.Private.CoreLib],[Zoo.Dog, Zoo]].
func (m *nameMatcher) qualified(args []target.Addr, depth int) (bool, error) {
	m.cut("[")
	for i, a := range args {
		if i > 0 && !m.cutAny(", ", ",") || !m.cut("[") {
			return false, nil
		}
		if ok, err := m.typeHandle(a, depth+1); !ok || err != nil {
			return false, err
		}
		if m.cut(", ") {
			end := max(strings.IndexByte(m.s, ']'), 0)
			given, _, _ := strings.Cut(m.s[:end], ",")
			m.s = m.s[end:]
			if own, err := m.r.TypeAssembly(a); err != nil || !strings.EqualFold(own, given) {
				return false, err
			}
		}
		if !m.cut("]") {
			return false, nil
		}
	}
	return m.cut("]"), nil
}

// keyword removes the C# keyword for the type with that name of its definition.
func (m *nameMatcher) keyword(name string) bool {
	rest, system := strings.CutPrefix(name, "System.")
	if !system {
		return false
	}
	for word, full := range keywords {
		if full != rest {
			continue
		}
		after, ok := strings.CutPrefix(m.s, word)
		if ok && (after == "" || strings.IndexByte("[]<>,?*&", after[0]) >= 0) {
			m.s = after
			return true
		}
	}
	return false
}

// keywords maps keywords of C# to types in the namespace System.
var keywords = map[string]string{"bool": "Boolean", "byte": "Byte", "sbyte": "SByte", "char": "Char", "short": "Int16", "ushort": "UInt16",
	"int": "Int32", "uint": "UInt32", "long": "Int64", "ulong": "UInt64", "nint": "IntPtr", "nuint": "UIntPtr", "float": "Single",
	"double": "Double", "decimal": "Decimal", "string": "String", "object": "Object"}

// KeywordType returns the name of the type that a keyword of C# means, "System.Int32" for "int". It returns "" for
// other words.
func KeywordType(word string) string {
	if name := keywords[word]; name != "" {
		return "System." + name
	}
	return ""
}
