package dac

import (
	"cmp"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A classToken is a class, as a type refers to it, and the token of the type.
type classToken struct {
	class target.Addr // the EEClass, or the canonical MethodTable that refers to it
	token metadata.Token
}

// membersDeny returns an error if the class of mt declares a field or a method of another type than the one with mt's token. The runtime shares
// the class between the instances of a generic type, which are in no map of the module. What can't be read denies nothing.
func (m *Module) membersDeny(mt *MethodTable) error {
	if m.editable() {
		return nil
	}
	k := classToken{cmp.Or(mt.EEClass, mt.Canonical), mt.Token}
	if _, ok := m.agreed.Load(k); ok {
		return nil
	}
	err := m.compareMembers(mt)
	if err == nil {
		m.agreed.Store(k, struct{}{})
	}
	return err
}

// compareMembers is membersDeny for the first type with a class and a token.
func (m *Module) compareMembers(mt *MethodTable) error {
	md, err := m.Metadata()
	if err != nil {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	class, err := m.r.EEClass(mt)
	if err != nil {
		return nil //nolint:nilerr // nor here
	}
	for _, first := range []struct {
		member metadata.Token
		owner  func(uint32) (uint32, error)
	}{{m.r.firstField(class), md.FieldOwner}, {m.r.firstMethod(class), md.MethodOwner}} {
		if first.member.Row() == 0 {
			continue
		}
		switch owner, err := first.owner(first.member.Row()); {
		case err != nil:
		case owner == mt.Token.Row():
			return nil // the first member that can be compared decides
		default:
			return target.Corruptf("MethodTable %016x has the token %08x, but its class declares %08x of the type %08x", uint64(mt.Addr), uint32(mt.Token),
				uint32(first.member), uint32(metadata.NewToken(metadata.TableTypeDef, owner)))
		}
	}
	return nil
}

// firstField returns the token of the first field that a class declares, or 0.
func (r *Runtime) firstField(class *EEClass) metadata.Token {
	if class.FieldDescList == 0 {
		return 0
	}
	b, err := target.Bytes(r.mem, class.FieldDescList, r.off.FieldDesc.Size)
	if err != nil {
		return 0
	}
	if f := r.decodeFieldDesc(class.FieldDescList, b); f.MethodTable == class.MethodTable {
		return f.Token
	}
	return 0
}

// firstMethod returns the token of the first method that a class declares, or 0.
func (r *Runtime) firstMethod(class *EEClass) metadata.Token {
	l, err := CodeOf(r).members()
	if err != nil || class.MethodDescChunk == 0 {
		return 0
	}
	head := layout.Reader{Mem: r.mem, Base: class.MethodDescChunk}
	c := chunk{layout: l, mt: head.Ptr(l.Chunk.MethodTable), tokenRange: head.U16(l.Chunk.TokenRange)}
	flags := head.U16(l.Chunk.HeaderSize + l.MethodDesc.Flags3)
	if head.Err != nil || c.mt != class.MethodTable {
		return 0
	}
	return c.token(flags)
}

// deniesArity returns an error if the definition of a generic type has another number of type parameters than mt has arguments.
func (r *Runtime) deniesArity(mt *MethodTable, arguments int) error {
	m, err := r.ModuleOf(mt)
	if err != nil || m.editable() {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	md, err := m.Metadata()
	if err != nil {
		return nil //nolint:nilerr // nor here
	}
	known, ok := m.arities.Load(mt.Token)
	if !ok {
		parameters, err := md.GenericParams(mt.Token)
		if err != nil {
			return nil //nolint:nilerr // nor here
		}
		known = parameters.Len()
		m.arities.Store(mt.Token, known)
	}
	if parameters := known.(int); parameters != arguments {
		return target.Corruptf("the generic type %016x has %d type arguments, and its definition %d parameters", uint64(mt.Addr), arguments, parameters)
	}
	return nil
}
