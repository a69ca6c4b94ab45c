package dac

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Match is a type of a module, or a member of a type, found by name.
type Match struct {
	Type   metadata.Token // TypeDef
	Member metadata.Token // MethodDef or Field, nil for the type itself
}

// FindName resolves a full name in the module's metadata, whether loaded or not: a type, "Ns.Outer+Inner`1", or
// all members of a type with the name, "Ns.Type.Member", "Ns.Type..ctor". A slash may replace the plus. A name with
// stars, each for any text, stands for all types and methods that it matches, without regard to case.
func (m *Module) FindName(name string) ([]Match, error) {
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	name = strings.ReplaceAll(name, "/", "+")
	if strings.Contains(name, "*") {
		return matching(md, name)
	}
	if t, ok := findType(md, name); ok {
		return []Match{{Type: t}}, nil
	}
	owner, member := splitMember(name)
	if owner == "" {
		return nil, nil
	}
	t, ok := findType(md, owner)
	if !ok {
		return nil, nil
	}
	return membersNamed(md, t, member)
}

// matching lists the types and methods that a pattern matches. Where it matches a type, it lists only
// the methods that it matches by their own names: with the type's name it matches all of them.
func matching(md *metadata.Metadata, pattern string) (out []Match, first error) {
	expr, err := regexp.Compile("(?i)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
	if err != nil {
		return nil, err
	}
	var b []byte
	for rid := uint32(1); rid <= md.RowCount(metadata.TableTypeDef); rid++ {
		if b, err = md.AppendTypeDefFullName(b[:0], rid); err != nil {
			first = cmp.Or(first, err)
			continue
		}
		t := metadata.NewToken(metadata.TableTypeDef, rid)
		whole := expr.Match(b)
		if whole {
			out = append(out, Match{Type: t})
		}
		methods, err := md.Methods(rid)
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		b = append(b, '.')
		owner := len(b)
		for m := range methods.All() {
			row, err := md.MethodDef(m)
			var name []byte
			if err == nil {
				name, err = md.StringBytes(row.Name)
			}
			if err != nil {
				first = cmp.Or(first, err)
				continue
			}
			b = append(b[:owner], name...)
			if expr.Match(name) || !whole && expr.Match(b) {
				out = append(out, Match{t, metadata.NewToken(metadata.TableMethodDef, m)})
			}
		}
	}
	return out, first
}

// findType finds a type by its exact name, else by its name without regard to case.
func findType(md *metadata.Metadata, name string) (metadata.Token, bool) {
	if t, ok := md.FindTypeDef(name); ok {
		return t, true
	}
	var b []byte
	for rid := uint32(1); rid <= md.RowCount(metadata.TableTypeDef); rid++ {
		var err error
		if b, err = md.AppendTypeDefFullName(b[:0], rid); err == nil && len(b) == len(name) && strings.EqualFold(string(b), name) {
			return metadata.NewToken(metadata.TableTypeDef, rid), true
		}
	}
	return 0, false
}

// splitMember splits a name at its last full stop. The full stop of .ctor and .cctor belongs to the member.
func splitMember(name string) (owner, member string) {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 {
		return "", ""
	}
	if name[i-1] == '.' {
		i--
	}
	return name[:i], name[i+1:]
}

// membersNamed lists the methods and fields of a type with the name.
func membersNamed(md *metadata.Metadata, t metadata.Token, name string) ([]Match, error) {
	methods, err := md.Methods(t.Row())
	if err != nil {
		return nil, err
	}
	fields, err := md.Fields(t.Row())
	if err != nil {
		return nil, err
	}
	var out []Match
	for rid := range methods.All() {
		row, err := md.MethodDef(rid)
		if err != nil {
			return out, err
		}
		if s, err := md.StringBytes(row.Name); err == nil && string(s) == name {
			out = append(out, Match{t, metadata.NewToken(metadata.TableMethodDef, rid)})
		}
	}
	for rid := range fields.All() {
		row, err := md.Field(rid)
		if err != nil {
			return out, err
		}
		if s, err := md.StringBytes(row.Name); err == nil && string(s) == name {
			out = append(out, Match{t, metadata.NewToken(metadata.TableField, rid)})
		}
	}
	return out, nil
}

// findLoaded returns the loaded types of the module with part in their names, without regard to case, in the
// order of their tokens. With an error it returns the types found before and after the unreadable part.
func (m *Module) findLoaded(part string) ([]Match, error) {
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	part = strings.ToLower(strings.ReplaceAll(part, "/", "+"))
	var out []Match
	var first error
	var b []byte
	for e, err := range m.Entries(MapTypeDef) {
		if err == nil {
			b, err = md.AppendTypeDefFullName(b[:0], e.Row)
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if strings.Contains(strings.ToLower(string(b)), part) {
			out = append(out, Match{Type: metadata.NewToken(metadata.TableTypeDef, e.Row)})
		}
	}
	return out, first
}

// LoadedType returns the MethodTable of a TypeDef or TypeRef of the module, or 0 if the type is not loaded.
func (m *Module) LoadedType(t metadata.Token) (target.Addr, error) {
	kind := MapTypeDef
	if t.Table() == metadata.TableTypeRef {
		kind = MapTypeRef
	}
	return m.Lookup(kind, t.Row())
}

// methodDefName returns the name of a method, with its type and parameters, from metadata alone.
func (m *Module) methodDefName(t metadata.Token) (string, error) {
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	return md.MethodDefName(t.Row())
}
