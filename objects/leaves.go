package objects

import (
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Leaf is an indivisible part of a struct: a number, a pointer or a reference.
type Leaf struct {
	Offset uint64 // within the struct
	Type   metadata.ElementType
	Field  *Field // the innermost field
}

// Size returns the number of bytes of the leaf.
func (l Leaf) Size() uint64 { return uint64(Value{elem: l.Type}.Size()) }

// IsReference reports whether the leaf refers to an object.
func (l Leaf) IsReference() bool { return Value{elem: l.Type}.Kind() == KindReference }

// Leaves returns the leaves of a struct, including the leaves of nested structs and of all elements of inline arrays.
// They come in the order in which the runtime lists fields, usually memory order. The error is target.ErrUnsupported if
// there are more than limits.StructLeaves.
func (t *Type) Leaves() ([]Leaf, error) { return t.leaves(nil, 0, 0) }

func (t *Type) leaves(out []Leaf, offset uint64, depth int) ([]Leaf, error) {
	if depth > limits.SignatureDepth {
		return out, target.Limitf("type %016x is nested deeper than sosgo reads", uint64(t.MT.Addr))
	}
	fields, err := t.allFields()
	if err != nil {
		return out, err
	}
	n, err := t.InlineLength()
	if err != nil {
		return out, err
	}
	for _, f := range fields {
		if f.Static {
			continue
		}
		step := uint64(0)
		if n > 1 {
			if step, err = t.elementSize(f, n); err != nil {
				return out, err
			}
		}
		for i := range max(n, 1) {
			if out, err = f.leaves(out, offset+uint64(f.Offset)+uint64(i)*step, depth); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func (f *Field) leaves(out []Leaf, offset uint64, depth int) ([]Leaf, error) {
	if len(out) >= limits.StructLeaves {
		return out, target.Unsupportedf("type %016x has more than %d parts", uint64(f.Declaring.MT.Addr), limits.StructLeaves)
	}
	if leaf := (Leaf{Offset: offset, Type: f.ElementType, Field: f}); leaf.Size() > 0 {
		return append(out, leaf), nil
	}
	s, err := Value{r: f.Declaring.r, elem: f.ElementType, field: f}.Struct() // fails if the type is not loaded
	if err != nil {
		return out, err
	}
	return s.Type.leaves(out, offset, depth+1)
}
