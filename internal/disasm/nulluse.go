package disasm

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// pointerSize is the size of the MethodTable pointer at the start of an object. The length of an array follows it.
const pointerSize = 8

// A NullUse describes how a statement uses a reference, for the case that the reference is null.
type NullUse struct {
	What  string // what failed, as a sentence: "the field Order.Customer of a null reference was used"
	At    int64  // offset of the accessed memory from the start of the object, -1 if unknown
	Calls bool   // a method call: At is 0, unless the compiler inlined the method
	// From are the fields that the reference was read from: a static one, and one of each object from there on. It is empty for other references.
	From []*dac.FieldDesc
}

// NullUses returns how the statement with the code at ip uses references, in the order of its IL instructions. It fails
// as dac.CodeReader.Statement does, and if a name is unreadable.
func (l *Lister) NullUses(ip target.Addr) ([]NullUse, error) {
	m, statement, err := l.code.Statement(ip)
	if err != nil || len(statement) == 0 {
		return nil, err
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	var out []NullUse
	constrained := false
	values := &origins{l: l, m: m, md: md}
	for i := range statement {
		in := &statement[i]
		opcode := in.Opcode.String()
		from, known := values.receiver(in), len(out)
		if opcode != "constrained." {
			values.step(in)
		}
		switch {
		case i > 0 && !m.IsStatic() && statement[i-1].Opcode.String() == "ldarg.0" && in.Kind.IsToken():
			// A member of this: the caller has checked that it is not null.
		case opcode == "constrained.":
			constrained = true
			continue
		case opcode == "ldfld" || opcode == "ldflda" || opcode == "stfld":
			if inValue(md, in.Token()) {
				break
			}
			name, err := memberName(md, in.Token())
			if err != nil {
				return nil, err
			}
			out = append(out, NullUse{What: "the field " + name + " of a null reference was used", At: l.fieldAt(m, in.Token())})
		case opcode == "callvirt" && !constrained || opcode == "ldvirtftn":
			name, err := memberName(md, in.Token())
			if err != nil {
				return nil, err
			}
			out = append(out, NullUse{What: name + " was called on a null reference", Calls: true})
		case opcode == "ldlen":
			out = append(out, NullUse{What: "the length of a null array was used", At: pointerSize})
		case strings.HasPrefix(opcode, "ldelem") || strings.HasPrefix(opcode, "stelem"):
			out = append(out, NullUse{What: "an element of a null array was used", At: pointerSize})
		case opcode == "unbox" || opcode == "unbox.any":
			out = append(out, NullUse{What: "a null reference was unboxed"})
		}
		if len(out) > known {
			out[known].From = from
		}
		constrained = false
	}
	return out, nil
}

// fieldAt returns the offset of a field from the start of its object, or -1 if it is unreadable or not resolved yet.
func (l *Lister) fieldAt(m *dac.MethodDesc, t metadata.Token) int64 {
	f := l.field(m, t)
	if f == nil || f.Static {
		return -1
	}
	return pointerSize + int64(f.Offset)
}

// memberName returns a field or method with its type: "Shop.Order.Customer".
func memberName(md *metadata.Metadata, t metadata.Token) (string, error) {
	name, err := tokenNames{md}.token(t)
	if err != nil || name.Type.Full == "" {
		return name.Member, err
	}
	return withoutScopes(name.Type.Full) + "." + name.Member, nil
}

// withoutScopes returns the IL name of a type without assemblies and the leading "class" or "valuetype".
func withoutScopes(name string) string {
	for _, word := range []string{"class ", "valuetype "} {
		name = strings.TrimPrefix(name, word)
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(name, "[")
		b.WriteString(before)
		scope, after, closed := strings.Cut(rest, "]")
		if !found || !closed {
			break
		}
		if strings.Trim(scope, ",.0123456789") == "" { // an array
			b.WriteString("[" + scope + "]")
		}
		name = after
	}
	return strings.ReplaceAll(b.String(), "/", "+")
}

// inValue reports whether a field belongs to a value type, which is accessed without a reference.
func inValue(md *metadata.Metadata, t metadata.Token) bool {
	if t.Table() != metadata.TableField {
		return false
	}
	owner, err := md.FieldOwner(t.Row())
	if err != nil {
		return false
	}
	row, err := md.TypeDef(owner)
	if err != nil {
		return false
	}
	base, err := md.TypeFullName(row.Extends)
	return err == nil && base == "System.ValueType"
}
