package objects

import (
	"sort"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// An Enum describes an enum type.
type Enum struct {
	Underlying metadata.ElementType
	Flags      bool // the type has the FlagsAttribute
	Members    []EnumMember
}

// An EnumMember is a named value of an enum. Value has as many bits as the underlying type and is not sign-extended.
type EnumMember struct {
	Name  string
	Value uint64
}

// IsEnum reports whether the type is an enum. The base class of an enum is System.Enum.
func (t *Type) IsEnum() bool {
	if t == nil || t.MT.Category() != dac.CategoryPrimitive || t.MT.Parent == 0 {
		return false
	}
	name, err := t.r.Runtime().TypeName(t.MT.Parent, dac.NameNative)
	return err == nil && name == "System.Enum"
}

// Enum returns the members of an enum type. All callers share them, and must not change them. The error is
// target.ErrArgument for other types.
func (t *Type) Enum() (*Enum, error) {
	if t == nil {
		return nil, errNoObject
	}
	return t.enum.Get(t.readEnum)
}

// fieldLiteral is the attribute of a constant (ECMA-335 II.23.1.5).
const fieldLiteral = 0x0040

func (t *Type) readEnum() (*Enum, error) {
	if !t.IsEnum() {
		return nil, target.Argumentf("type %016x is not an enum", uint64(t.MT.Addr))
	}
	md, err := t.metadata()
	if err != nil {
		return nil, err
	}
	e := &Enum{}
	if e.Underlying, err = md.EnumType(t.MT.Token.Row()); err != nil {
		return nil, err
	}
	if e.Flags, err = hasAttribute(md, t.MT.Token, "System.FlagsAttribute"); err != nil {
		return nil, err
	}
	fields, err := md.Fields(t.MT.Token.Row())
	if err != nil {
		return nil, err
	}
	for rid, err := range fields.All() {
		if err != nil {
			return nil, err
		}
		row, err := md.Field(rid)
		if err != nil {
			return nil, err
		}
		if row.Flags&fieldLiteral == 0 {
			continue
		}
		name, err := md.String(row.Name)
		if err != nil {
			return nil, err
		}
		c, ok, err := md.ConstantOf(metadata.NewToken(metadata.TableField, rid))
		if err != nil {
			return nil, err
		}
		if bits, isInt := metadata.IntegerBits(c); ok && isInt {
			e.Members = append(e.Members, EnumMember{Name: name, Value: bits})
		}
	}
	return e, nil
}

func hasAttribute(md *metadata.Metadata, parent metadata.Token, name string) (bool, error) {
	row, err := findAttribute(md, parent, name)
	return row != nil, err
}

// findAttribute returns the first custom attribute of parent with that class name, or nil.
func findAttribute(md *metadata.Metadata, parent metadata.Token, name string) (*metadata.CustomAttributeRow, error) {
	attributes, err := md.CustomAttributes(parent)
	if err != nil {
		return nil, err
	}
	for rid, err := range attributes.All() {
		if err != nil {
			return nil, err
		}
		row, err := md.CustomAttribute(rid)
		if err != nil {
			return nil, err
		}
		class, err := md.AttributeType(row)
		if err != nil {
			return nil, err
		}
		if full, err := md.TypeFullName(class); err == nil && full == name {
			return &row, nil
		}
	}
	return nil, nil
}

// Format returns the text that Enum.ToString returns for a value: a name, names of flags, or the number.
func (e *Enum) Format(bits uint64) string {
	for i := range e.Members {
		if e.Members[i].Value == bits {
			return e.Members[i].Name
		}
	}
	if e.Flags && bits != 0 {
		if s := e.flags(bits); s != "" {
			return s
		}
	}
	if k := int(e.Underlying); k < len(kinds) && kinds[k].kind == KindInt {
		shift := 64 - 8*int(kinds[k].size)
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	}
	return strconv.FormatUint(bits, 10)
}

// flags joins the names of the flags that make up bits. It selects the largest first and prints it last. The text is
// empty if some bits have no name.
func (e *Enum) flags(bits uint64) string {
	order := make([]*EnumMember, 0, len(e.Members))
	for i := range e.Members {
		if e.Members[i].Value != 0 {
			order = append(order, &e.Members[i])
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].Value > order[j].Value })
	var names []string
	for _, m := range order {
		if bits&m.Value == m.Value {
			bits &^= m.Value
			names = append(names, m.Name)
		}
	}
	if bits != 0 {
		return ""
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, ", ")
}
