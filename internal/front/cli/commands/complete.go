package commands

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/process"
)

// Names returns the names that the modules of a runtime define, for completion. Modules are read when a name is wanted.
func Names(d cli.Dump, runtime string) cli.Names {
	opened, ok := d.(*process.Dump)
	if !ok {
		return nil
	}
	v, _ := opened.Process(runtime) // it keeps the error
	rt, err := v.Runtime()
	if err != nil {
		return nil
	}
	modules, _ := rt.KnownModules() // the modules that could be listed
	return &names{unread: modules}
}

// names are the types of the modules that are read, ordered by name in any case.
type names struct {
	unread []*dac.Module
	types  []definition
}

// A definition is a type that a module defines. Its name has no number of generic parameters at the end.
type definition struct {
	name string
	md   *metadata.Metadata
	rid  uint32
}

// read reads modules until ctx ends. Modules that can't be read complete nothing.
func (n *names) read(ctx context.Context) {
	if len(n.unread) == 0 {
		return
	}
	for len(n.unread) > 0 && ctx.Err() == nil {
		m := n.unread[0]
		n.unread = n.unread[1:]
		md, err := m.Metadata()
		if err != nil {
			continue
		}
		name := []byte(nil)
		for rid := uint32(1); rid <= md.RowCount(metadata.TableTypeDef); rid++ {
			if name, err = md.AppendTypeDefFullName(name[:0], rid); err == nil {
				n.types = append(n.types, definition{withoutArity(string(name)), md, rid})
			}
		}
	}
	slices.SortStableFunc(n.types, func(a, b definition) int { return cmp.Or(compareFold(a.name, b.name), strings.Compare(a.name, b.name)) })
}

// withoutArity returns a type's name without the number of its generic parameters: List`1 is List.
func withoutArity(name string) string {
	at := strings.LastIndexByte(name, '`')
	if at < 0 || strings.Trim(name[at+1:], "0123456789") != "" {
		return name
	}
	return name[:at]
}

// from returns the types from the first on that is not less than name in any case.
func (n *names) from(name string) []definition {
	i, _ := slices.BinarySearchFunc(n.types, name, func(d definition, name string) int { return compareFold(d.name, name) })
	return n.types[i:]
}

// Types returns the types that start with prefix in any case, and namespaces with the point at their end instead of the
// types in them. Names that compilers make are left out, unless prefix has their brackets.
func (n *names) Types(ctx context.Context, prefix string, limit int) []string {
	n.read(ctx)
	var out []string
	for _, d := range n.from(prefix) {
		if len(out) == limit || !hasPrefixFold(d.name, prefix) {
			break
		}
		name := d.name
		if strings.Contains(name, "<") && !strings.Contains(prefix, "<") {
			continue
		}
		if i := strings.IndexByte(name[len(prefix):], '.'); i >= 0 {
			name = name[:len(prefix)+i+1]
		}
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// Members returns paths that start with path: a type, a point, and the start of the name of a static field or of a method;
// or, behind static fields, of an instance's field.
func (n *names) Members(ctx context.Context, path string, kind cli.Members, limit int) []string {
	n.read(ctx)
	for at := len(path); ; {
		if at = strings.LastIndexByte(path[:at], '.'); at < 0 {
			return nil
		}
		t, found := n.find(path[:at])
		switch {
		case !found:
		case kind == cli.Methods:
			return t.members(path[:at+1], path[at+1:], limit, t.methods)
		default:
			return n.fields(t, path[:at+1], path[at+1:], true, limit)
		}
	}
}

// Fields returns paths that start with path: fields of an instance of the type, joined by points.
func (n *names) Fields(ctx context.Context, typeName, path string, limit int) []string {
	n.read(ctx)
	t, found := n.find(typeName)
	if !found {
		i := slices.IndexFunc(n.types, func(d definition) bool { // without a namespace
			return len(d.name) > len(typeName) && d.name[len(d.name)-len(typeName)-1] == '.' && strings.HasSuffix(d.name, typeName)
		})
		if i < 0 {
			return nil
		}
		t = n.types[i]
	}
	return n.fields(t, "", path, false, limit)
}

// find returns the type with a name, in any case if there is none in this one.
func (n *names) find(name string) (definition, bool) {
	found, ok := definition{}, false
	for _, d := range n.from(name) {
		if d.name == name {
			return d, true
		}
		if compareFold(d.name, name) != 0 {
			break
		}
		if !ok {
			found, ok = d, true
		}
	}
	return found, ok
}

// fields returns the fields of t that path names the start of, behind before.
func (n *names) fields(t definition, before, path string, static bool, limit int) []string {
	first, rest, more := strings.Cut(path, ".")
	if more {
		next, found := n.typeOf(t, first, static)
		if !found {
			return nil
		}
		return n.fields(next, before+first+".", rest, false, limit)
	}
	return t.members(before, path, limit, func(yield func(string)) {
		n.each(t, static, func(_ definition, name string, _ metadata.FieldRow) { yield(name) })
	})
}

// members returns the names that start with prefix in any case, behind before.
func (definition) members(before, prefix string, limit int, each func(yield func(string))) []string {
	var out []string
	each(func(name string) {
		if full := before + name; len(out) < limit && hasPrefixFold(name, prefix) && !slices.Contains(out, full) {
			out = append(out, full)
		}
	})
	slices.Sort(out)
	return out
}

// methods calls yield with the names of the type's methods.
func (d definition) methods(yield func(string)) {
	rows, _ := d.md.Methods(d.rid)
	for rid, err := range rows.All() {
		row, rowErr := d.md.MethodDef(rid)
		if name, nameErr := d.md.String(row.Name); cmp.Or(err, rowErr, nameErr) == nil {
			yield(name)
		}
	}
}

// Field attributes, ECMA-335 II.23.1.5.
const (
	fieldStatic  = 0x10
	fieldLiteral = 0x40
)

// each calls yield with the static fields of t, or with the instance fields of t and of its bases. A property stands for the field that the
// compiler makes for it.
func (n *names) each(t definition, static bool, yield func(in definition, name string, row metadata.FieldRow)) {
	for range limits.ParentChain {
		rows, _ := t.md.Fields(t.rid)
		for rid, err := range rows.All() {
			row, rowErr := t.md.Field(rid)
			name, nameErr := t.md.String(row.Name)
			if cmp.Or(err, rowErr, nameErr) != nil || row.Flags&fieldLiteral != 0 || (row.Flags&fieldStatic != 0) != static {
				continue
			}
			if property, isProperty := strings.CutSuffix(name, ">k__BackingField"); isProperty {
				name = strings.TrimPrefix(property, "<")
			}
			if !strings.ContainsAny(name, "<>") {
				yield(t, name, row)
			}
		}
		row, err := t.md.TypeDef(t.rid)
		if static || err != nil {
			return
		}
		base, found := n.resolve(t.md, row.Extends)
		if !found {
			return
		}
		t = base
	}
}

// typeOf returns the type of a field.
func (n *names) typeOf(t definition, field string, static bool) (of definition, found bool) {
	n.each(t, static, func(in definition, name string, row metadata.FieldRow) {
		if found || name != field {
			return
		}
		if blob, err := in.md.Blob(row.Signature); err == nil {
			if sig, err := metadata.ParseFieldSig(blob); err == nil {
				of, found = n.ofSignature(in.md, &sig)
			}
		}
	})
	return of, found
}

// ofSignature returns the class or structure that a signature names.
func (n *names) ofSignature(md *metadata.Metadata, sig *metadata.TypeSig) (definition, bool) {
	switch sig = sig.Unmodified(); sig.Kind {
	case metadata.ElementString:
		return n.find("System.String")
	case metadata.ElementGenericInst:
		return n.ofSignature(md, sig.Elem)
	case metadata.ElementClass, metadata.ElementValueType:
		return n.resolve(md, sig.Token)
	}
	return definition{}, false
}

// resolve returns the type of a token.
func (n *names) resolve(md *metadata.Metadata, t metadata.Token) (definition, bool) {
	if t.Table() == metadata.TableTypeSpec {
		sig, err := md.TypeSpecSig(t.Row())
		if err != nil || sig.Kind != metadata.ElementGenericInst {
			return definition{}, false
		}
		return n.ofSignature(md, &sig)
	}
	name, err := md.TypeFullName(t)
	if err != nil {
		return definition{}, false
	}
	return n.find(withoutArity(name))
}

// compareFold compares names without regard to the case of ASCII letters.
func compareFold(a, b string) int {
	for i := range min(len(a), len(b)) {
		if d := cmp.Compare(lower(a[i]), lower(b[i])); d != 0 {
			return d
		}
	}
	return cmp.Compare(len(a), len(b))
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func hasPrefixFold(name, prefix string) bool {
	return len(name) >= len(prefix) && compareFold(name[:len(prefix)], prefix) == 0
}
