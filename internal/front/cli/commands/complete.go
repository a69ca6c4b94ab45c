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

// Names returns the names that a runtime's modules define, for completion. Modules are read on demand.
func Names(d cli.Dump, runtime string) cli.Names {
	opened, ok := d.(*process.Dump)
	if !ok {
		return nil
	}
	v, _ := opened.Process(runtime) // the process keeps the error
	rt, err := v.Runtime()
	if err != nil {
		return nil
	}
	modules, _ := rt.KnownModules() // an error leaves a partial list
	return &names{unread: modules}
}

// names are the types of the modules read so far, sorted by name in any case.
type names struct {
	unread []*dac.Module
	types  []definition
}

// A definition is a type defined by a module. Its name has no generic arity.
type definition struct {
	name string
	md   *metadata.Metadata
	rid  uint32
}

// read reads modules until ctx ends. It skips modules that cannot be read.
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

// withoutArity removes the generic arity from a type's name: List`1 becomes List.
func withoutArity(name string) string {
	at := strings.LastIndexByte(name, '`')
	if at < 0 || strings.Trim(name[at+1:], "0123456789") != "" {
		return name
	}
	return name[:at]
}

// from returns the types from the first one on that does not sort before name, in any case.
func (n *names) from(name string) []definition {
	i, _ := slices.BinarySearchFunc(n.types, name, func(d definition, name string) int { return compareFold(d.name, name) })
	return n.types[i:]
}

// Types returns the types that start with prefix in any case. For the types of a namespace it returns the namespace
// with a trailing point. Compiler-generated names are left out, unless prefix contains their brackets.
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

// Members returns completions of path: a type and the start of a static field's or method's name, or a static field
// and the start of an instance field's name.
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

// Fields returns completions of path, a dotted path of instance fields.
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

// find returns the type with a name. An exact match takes precedence over a match in another case.
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

// fields returns completions of path among the fields of t, prefixed with before.
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

// members returns the names that start with prefix in any case, prefixed with before.
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

// each calls yield with the static fields of t, or with the instance fields of t and its base types. For a property's
// backing field it yields the name of the property.
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

// ofSignature returns the class or structure in a signature.
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

// compareFold compares names, ignoring the case of ASCII letters.
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
