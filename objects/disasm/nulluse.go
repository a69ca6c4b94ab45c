package disasm

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// pointerSize is the size of the MethodTable pointer at the start of objects, in the processes that sosgo reads. The length of an array follows it.
const pointerSize = 8

// A NullUse is what a statement does with a reference, and what fails if that is null.
type NullUse struct {
	What  string // in words, if that is what failed: "the field Order.Customer of a null reference was used"
	At    int64  // distance of what it touches from the start of the object, -1 if that is not known
	Calls bool   // it calls a method: At is 0, unless the compiler put the method's code in place of the call
}

// NullUses returns what the statement whose code is at ip does with references, in the order of its IL instructions. The error is that of
// code.Reader.Statement, or why a name can't be read.
func (l *Lister) NullUses(ip target.Addr) ([]NullUse, error) {
	m, statement, err := l.reader().Statement(ip)
	if err != nil || len(statement) == 0 {
		return nil, err
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	var out []NullUse
	constrained := false
	for i := range statement {
		in := &statement[i]
		opcode := in.Opcode.String()
		switch {
		case i > 0 && !m.IsStatic() && statement[i-1].Opcode.String() == "ldarg.0" && in.Kind.IsToken():
			// A member of this: who called the method made sure that it is not null.
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
		constrained = false
	}
	return out, nil
}

// fieldAt returns the distance of a field from the start of its object, -1 if the runtime has not met the field or it can't be read.
func (l *Lister) fieldAt(m *code.MethodDesc, t metadata.Token) int64 {
	of := dac.MapFieldDef
	if t.Table() == metadata.TableMemberRef {
		of = dac.MapMemberRef
	}
	mod, err := m.Module()
	if err != nil {
		return -1
	}
	a, err := mod.Lookup(of, t.Row())
	if err != nil || a == 0 {
		return -1
	}
	f, err := l.rt.FieldDesc(a)
	if err != nil || f.Static {
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

// withoutScopes returns the name of a type in IL without the assemblies of its parts and the word before it.
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

// inValue reports whether a field of the module is one of a value type: no reference leads to it.
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
