package commands

import (
	"strings"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// tokenNames names the tokens in IL, in the style of SOS's dumpil.
type tokenNames struct {
	md  *metadata.Metadata
	cut bool // as short as SOS's buffers
}

// The lengths that SOS cuts names to: those of definitions, of references to
// other modules, and of types with a signature.
const (
	sosNameChars = 48
	sosRefChars  = 49
	sosSpecChars = 50
)

func (n tokenNames) shorten(s string, limit int) string {
	if n.cut && len(s) > limit {
		return s[:limit]
	}
	return s
}

// text names a token of any kind.
func (n tokenNames) text(t metadata.Token) (string, error) {
	switch t.Table() {
	case metadata.TableTypeDef, metadata.TableTypeRef:
		return n.typeName(t)
	case metadata.TableTypeSpec:
		return n.spec(t.Row())
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
		if n.cut {
			return `"` + s + `"`, err
		}
		return objects.Quote(s), err
	}
	return "", target.Corruptf("token %v names nothing", t)
}

// typeName is the name of a TypeDef or TypeRef; a nested type has its own name
// only in SOS's form.
func (n tokenNames) typeName(t metadata.Token) (string, error) {
	if !n.cut {
		full, err := n.md.TypeFullName(t)
		return strings.ReplaceAll(full, "+", "/"), err
	}
	var ns, name string
	var err error
	limit := sosNameChars
	if t.Table() == metadata.TableTypeDef {
		ns, name, err = n.md.TypeDefName(t.Row())
	} else {
		ns, name, err = n.md.TypeRefName(t.Row())
		limit = sosRefChars
	}
	if ns != "" {
		name = ns + "." + name
	}
	return n.shorten(name, limit), err
}

func (n tokenNames) specSig(rid uint32) (metadata.TypeSig, error) {
	row, err := n.md.TypeSpec(rid)
	if err != nil {
		return metadata.TypeSig{}, err
	}
	b, err := n.md.Blob(row.Signature)
	if err != nil {
		return metadata.TypeSig{}, err
	}
	return metadata.ParseTypeSpec(b)
}

func (n tokenNames) spec(rid uint32) (string, error) {
	sig, err := n.specSig(rid)
	if err != nil {
		return "", err
	}
	return n.md.FormatTypeIL(&sig), nil
}

// owner is the type in front of a member's name.
func (n tokenNames) owner(t metadata.Token) (string, error) {
	switch t.Table() {
	case metadata.TableTypeSpec:
		s, err := n.spec(t.Row())
		return n.shorten(s, sosSpecChars), err
	case metadata.TableMethodDef:
		rid, err := n.md.MethodOwner(t.Row())
		if err != nil {
			return "", err
		}
		return n.typeName(metadata.NewToken(metadata.TableTypeDef, rid))
	case metadata.TableModuleRef:
		row, err := n.md.ModuleRef(t.Row())
		if err != nil {
			return "", err
		}
		return n.md.String(row.Name)
	}
	return n.typeName(t)
}

func (n tokenNames) field(rid uint32) (string, error) {
	row, err := n.md.Field(rid)
	if err != nil {
		return "", err
	}
	owner, err := n.md.FieldOwner(rid)
	if err != nil {
		return "", err
	}
	return n.qualified(metadata.NewToken(metadata.TableTypeDef, owner), row.Name)
}

// qualified is "Type::Name".
func (n tokenNames) qualified(owner metadata.Token, name metadata.StringIndex) (string, error) {
	class, err := n.owner(owner)
	if err != nil {
		return "", err
	}
	s, err := n.md.String(name)
	return class + "::" + n.shorten(s, sosNameChars), err
}

// method is "return Type::Name<arguments>(parameters)" of a MethodDef.
func (n tokenNames) method(rid uint32, args string) (string, error) {
	row, err := n.md.MethodDef(rid)
	if err != nil {
		return "", err
	}
	owner, err := n.md.MethodOwner(rid)
	if err != nil {
		return "", err
	}
	return n.signed(metadata.NewToken(metadata.TableTypeDef, owner), row.Name, row.Signature, args)
}

func (n tokenNames) member(rid uint32, args string) (string, error) {
	row, err := n.md.MemberRef(rid)
	if err != nil {
		return "", err
	}
	b, err := n.md.Blob(row.Signature)
	if err != nil {
		return "", err
	}
	if len(b) > 0 && metadata.CallConv(b[0]).Kind() == metadata.CallField {
		return n.qualified(row.Class, row.Name)
	}
	return n.signed(row.Class, row.Name, row.Signature, args)
}

func (n tokenNames) signed(owner metadata.Token, name metadata.StringIndex, blob metadata.BlobIndex, args string) (string, error) {
	b, err := n.md.Blob(blob)
	if err != nil {
		return "", err
	}
	sig, err := metadata.ParseMethodSig(b)
	if err != nil {
		return "", err
	}
	q, err := n.qualified(owner, name)
	return n.md.FormatTypeIL(&sig.Return) + " " + q + args + n.md.FormatParamsIL(&sig), err
}

// instance is a generic method with its arguments.
func (n tokenNames) instance(rid uint32) (string, error) {
	row, err := n.md.MethodSpec(rid)
	if err != nil {
		return "", err
	}
	b, err := n.md.Blob(row.Instantiation)
	if err != nil {
		return "", err
	}
	args, err := metadata.ParseMethodSpec(b)
	if err != nil {
		return "", err
	}
	text := n.md.FormatArgumentsIL(args)
	if row.Method.Table() == metadata.TableMemberRef {
		return n.member(row.Method.Row(), text)
	}
	return n.method(row.Method.Row(), text)
}

// callSite is the signature of a calli.
func (n tokenNames) callSite(rid uint32) (string, error) {
	row, err := n.md.StandAloneSig(rid)
	if err != nil {
		return "", err
	}
	b, err := n.md.Blob(row.Signature)
	if err != nil {
		return "", err
	}
	sig, err := metadata.ParseMethodSig(b)
	if err != nil {
		return "", err
	}
	return n.md.FormatTypeIL(&sig.Return) + n.md.FormatParamsIL(&sig), nil
}
