package disasm

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
)

// origins follows the references that a statement reads from static fields, and from fields of the objects there, on the evaluation stack. An empty list
// of fields is any other value.
type origins struct {
	l     *Lister
	m     *dac.MethodDesc
	md    *metadata.Metadata
	stack [][]*dac.FieldDesc
}

// at returns the n-th value from the top of the stack, from 0, or nil if it is unknown.
func (o *origins) at(n int) []*dac.FieldDesc {
	if n >= len(o.stack) {
		return nil
	}
	return o.stack[len(o.stack)-1-n]
}

func (o *origins) pop(n int) {
	o.stack = o.stack[:max(0, len(o.stack)-n)]
}

func (o *origins) push(v []*dac.FieldDesc) { o.stack = append(o.stack, v) }

// then returns the origin of a field's value, given the origin of the object with the field.
func (o *origins) then(v []*dac.FieldDesc, t metadata.Token) []*dac.FieldDesc {
	f := o.l.field(o.m, t)
	if f == nil || f.Static != (len(v) == 0) {
		return nil
	}
	return append(slices.Clip(v), f)
}

// receiver returns the origin of the reference that an instruction uses, before it runs.
func (o *origins) receiver(in *metadata.Instruction) []*dac.FieldDesc {
	switch name := in.Opcode.String(); {
	case name == "callvirt":
		if sig, err := o.md.MethodSigOf(in.Token()); err == nil {
			return o.at(len(sig.Params))
		}
	case name == "ldfld" || name == "ldflda" || name == "ldlen":
		return o.at(0)
	case name == "stfld" || strings.HasPrefix(name, "ldelem"):
		return o.at(1)
	case strings.HasPrefix(name, "stelem"):
		return o.at(2)
	}
	return nil
}

// step follows one instruction. After one that it does not know, nothing on the stack is known.
func (o *origins) step(in *metadata.Instruction) {
	switch name := in.Opcode.String(); {
	case name == "ldsfld":
		o.push(o.then(nil, in.Token()))
	case name == "ldfld":
		v := o.at(0)
		o.pop(1)
		if len(v) == 0 {
			o.push(nil)
			return
		}
		o.push(o.then(v, in.Token()))
	case name == "dup":
		o.push(o.at(0))
	case strings.HasPrefix(name, "ldarg"), strings.HasPrefix(name, "ldloc"), strings.HasPrefix(name, "ldc."), name == "ldstr", name == "ldnull", name == "ldsflda":
		o.push(nil)
	case strings.HasPrefix(name, "conv."), name == "box", name == "ldlen", name == "castclass", name == "isinst":
		o.pop(1)
		o.push(nil)
	case name == "call", name == "callvirt", name == "newobj":
		sig, err := o.md.MethodSigOf(in.Token())
		if err != nil {
			o.stack = nil
			return
		}
		if o.pop(len(sig.Params)); sig.Conv.HasThis() && name != "newobj" {
			o.pop(1)
		}
		if name == "newobj" || sig.Return.Kind != metadata.ElementVoid {
			o.push(nil)
		}
	default:
		o.stack = nil
	}
}

// field returns the field that a token names, or nil if it is unreadable or not resolved yet.
func (l *Lister) field(m *dac.MethodDesc, t metadata.Token) *dac.FieldDesc {
	of := dac.MapFieldDef
	if t.Table() == metadata.TableMemberRef {
		of = dac.MapMemberRef
	}
	mod, err := m.Module()
	if err != nil {
		return nil
	}
	a, err := mod.Lookup(of, t.Row())
	if err != nil || a == 0 {
		return nil
	}
	f, err := l.rt.FieldDesc(a)
	if err != nil {
		return nil
	}
	return f
}
