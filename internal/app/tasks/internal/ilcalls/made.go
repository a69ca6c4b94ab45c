package ilcalls

import "github.com/sosgo/sosgo/metadata"

// An Owned is an instruction that names a method or stores in a field, with the object that it is called on or stores.
type Owned struct {
	New  bool // the method has made the object itself
	This bool // it is the object that the method is called on
}

// Receivers returns the objects on which IL calls a method, or for which it makes delegates of it.
func Receivers(md *metadata.Metadata, il []byte, method string) ([]Owned, error) {
	return made(md, il, func(e *evaluator, in *metadata.Instruction) (*Path, bool) {
		switch in.Opcode.String() {
		case "call", "callvirt", "jmp":
			if MemberName(md, in.Token()) != method {
				return nil, false
			}
			sig, err := md.MethodSigOf(in.Token())
			if err != nil || !sig.Conv.HasThis() {
				return nil, true
			}
			return e.below(len(sig.Params)), true
		case "ldftn", "ldvirtftn":
			return e.below(0), MemberName(md, in.Token()) == method
		case "ldtoken", "newobj":
			return nil, MemberName(md, in.Token()) == method
		}
		return nil, false
	})
}

// Stored returns the objects that IL stores in a field. One that it takes the address of is unknown.
func Stored(md *metadata.Metadata, il []byte, field string) ([]Owned, error) {
	return made(md, il, func(e *evaluator, in *metadata.Instruction) (*Path, bool) {
		switch in.Opcode.String() {
		case "stfld":
			return e.below(0), FieldName(md, in.Token()) == field
		case "ldflda":
			return nil, FieldName(md, in.Token()) == field
		}
		return nil, false
	})
}

// made returns the objects of the instructions that find selects.
func made(md *metadata.Metadata, il []byte, find func(*evaluator, *metadata.Instruction) (*Path, bool)) (out []Owned, err error) {
	stores, several := map[int64]bool{}, map[int64]bool{}
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return nil, err
		}
		if n, store, ok := LocalAccess(&in); ok {
			address := in.Opcode == 0x12 || in.Opcode == 0xfe0d
			several[n] = several[n] || address || store && stores[n]
			stores[n] = stores[n] || store
		}
	}
	e, object := newEvaluator(md), &Path{}
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return nil, err
		}
		if p, ok := find(e, &in); ok {
			out = append(out, Owned{New: p == object, This: p != nil && p != object && p.Class == "" && p.Arg == 0 && len(p.Fields) == 0})
		}
		e.step(&in)
		n, store, ok := LocalAccess(&in)
		switch {
		case in.Opcode.String() == "newobj" && len(e.stack) > 0:
			e.pop()
			e.push(object)
		case ok && !store && several[n]:
			e.pop()
			e.push(nil)
		}
	}
	return out, nil
}

// below returns the value under n others on the stack.
func (e *evaluator) below(n int) *Path {
	if n >= len(e.stack) {
		return nil
	}
	return e.stack[len(e.stack)-1-n]
}
