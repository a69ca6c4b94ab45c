package disasm

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// tokenNames names tokens in IL by a module's metadata.
type tokenNames struct{ md *metadata.Metadata }

func (n tokenNames) token(t metadata.Token) (answer.ILToken, error) {
	switch t.Table() {
	case metadata.TableTypeDef, metadata.TableTypeRef:
		typ, err := n.typeName(t)
		return answer.ILToken{Type: typ}, err
	case metadata.TableTypeSpec:
		spec, err := n.spec(t.Row())
		return answer.ILToken{Before: spec}, err
	case metadata.TableField:
		return n.field(t.Row())
	case metadata.TableMethodDef:
		return n.method(t.Row(), "")
	case metadata.TableMemberRef:
		return n.member(t.Row(), "")
	case metadata.TableMethodSpec:
		return n.instance(t.Row())
	case metadata.TableStandAloneSig:
		return n.callSite(t.Row())
	case metadata.UserStringHeap:
		s, err := n.md.UserString(t)
		return answer.ILToken{Literal: &s}, err
	}
	return answer.ILToken{}, target.Corruptf("token %v names no row", t)
}

// typeName returns the name of a TypeDef or TypeRef.
func (n tokenNames) typeName(t metadata.Token) (answer.ILType, error) {
	full, err := n.md.TypeFullName(t)
	if err != nil {
		return answer.ILType{}, err
	}
	out := answer.ILType{Kind: answer.ILTypeDef, Full: strings.ReplaceAll(full, "+", "/")}
	var ns, name string
	if t.Table() == metadata.TableTypeDef {
		ns, name, err = n.md.TypeDefName(t.Row())
	} else {
		out.Kind = answer.ILTypeRef
		ns, name, err = n.md.TypeRefName(t.Row())
	}
	if ns != "" {
		name = ns + "." + name
	}
	out.Own = name
	return out, err
}

func (n tokenNames) spec(rid uint32) (string, error) {
	sig, err := n.md.TypeSpecSig(rid)
	if err != nil {
		return "", err
	}
	return n.md.FormatTypeIL(&sig), nil
}

// owner returns the type before a member's name.
func (n tokenNames) owner(t metadata.Token) (answer.ILType, error) {
	switch t.Table() {
	case metadata.TableTypeSpec:
		s, err := n.spec(t.Row())
		return answer.ILType{Kind: answer.ILTypeSpec, Full: s, Own: s}, err
	case metadata.TableMethodDef:
		rid, err := n.md.MethodOwner(t.Row())
		if err != nil {
			return answer.ILType{}, err
		}
		return n.typeName(metadata.NewToken(metadata.TableTypeDef, rid))
	case metadata.TableModuleRef:
		row, err := n.md.ModuleRef(t.Row())
		if err != nil {
			return answer.ILType{}, err
		}
		s, err := n.md.String(row.Name)
		return answer.ILType{Kind: answer.ILModule, Full: s, Own: s}, err
	}
	return n.typeName(t)
}

func (n tokenNames) field(rid uint32) (answer.ILToken, error) {
	row, err := n.md.Field(rid)
	if err != nil {
		return answer.ILToken{}, err
	}
	owner, err := n.md.FieldOwner(rid)
	if err != nil {
		return answer.ILToken{}, err
	}
	return n.qualified(metadata.NewToken(metadata.TableTypeDef, owner), row.Name)
}

// qualified returns a member of a type.
func (n tokenNames) qualified(owner metadata.Token, name metadata.StringIndex) (answer.ILToken, error) {
	typ, err := n.owner(owner)
	if err != nil {
		return answer.ILToken{}, err
	}
	s, err := n.md.String(name)
	return answer.ILToken{Type: typ, Member: s}, err
}

// method returns "return Type::Name<arguments>(parameters)" for a MethodDef.
func (n tokenNames) method(rid uint32, args string) (answer.ILToken, error) {
	row, err := n.md.MethodDef(rid)
	if err != nil {
		return answer.ILToken{}, err
	}
	owner, err := n.md.MethodOwner(rid)
	if err != nil {
		return answer.ILToken{}, err
	}
	return n.signed(metadata.NewToken(metadata.TableTypeDef, owner), row.Name, row.Signature, args)
}

func (n tokenNames) member(rid uint32, args string) (answer.ILToken, error) {
	row, err := n.md.MemberRef(rid)
	if err != nil {
		return answer.ILToken{}, err
	}
	b, err := n.md.Blob(row.Signature)
	if err != nil {
		return answer.ILToken{}, err
	}
	if len(b) > 0 && metadata.CallConv(b[0]).Kind() == metadata.CallField {
		return n.qualified(row.Class, row.Name)
	}
	return n.signed(row.Class, row.Name, row.Signature, args)
}

func (n tokenNames) signed(owner metadata.Token, name metadata.StringIndex, blob metadata.BlobIndex, args string) (answer.ILToken, error) {
	sig, err := n.md.MethodSig(blob)
	if err != nil {
		return answer.ILToken{}, err
	}
	out, err := n.qualified(owner, name)
	out.Before, out.After = n.md.FormatTypeIL(&sig.Return)+" ", args+n.md.FormatParamsIL(&sig)
	return out, err
}

// instance returns a generic method with its arguments.
func (n tokenNames) instance(rid uint32) (answer.ILToken, error) {
	row, err := n.md.MethodSpec(rid)
	if err != nil {
		return answer.ILToken{}, err
	}
	b, err := n.md.Blob(row.Instantiation)
	if err != nil {
		return answer.ILToken{}, err
	}
	args, err := metadata.ParseMethodSpec(b)
	if err != nil {
		return answer.ILToken{}, err
	}
	text := n.md.FormatArgumentsIL(args)
	if row.Method.Table() == metadata.TableMemberRef {
		return n.member(row.Method.Row(), text)
	}
	return n.method(row.Method.Row(), text)
}

// callSite returns the signature of a calli.
func (n tokenNames) callSite(rid uint32) (answer.ILToken, error) {
	row, err := n.md.StandAloneSig(rid)
	if err != nil {
		return answer.ILToken{}, err
	}
	sig, err := n.md.MethodSig(row.Signature)
	if err != nil {
		return answer.ILToken{}, err
	}
	return answer.ILToken{Before: n.md.FormatTypeIL(&sig.Return) + n.md.FormatParamsIL(&sig)}, nil
}
