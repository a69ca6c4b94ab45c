package objects

import (
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// inlineArrayAttribute makes a struct with one field an array of such fields (.NET 8).
const inlineArrayAttribute = "System.Runtime.CompilerServices.InlineArrayAttribute"

// InlineLength returns the number of elements of a struct with InlineArrayAttribute, 0 for other types. It reads
// metadata, because the runtime does not store the number.
func (t *Type) InlineLength() (int, error) {
	if t == nil {
		return 0, errNoObject
	}
	return t.row.Get(t.readInlineLength)
}

func (t *Type) readInlineLength() (int, error) {
	if !t.MT.IsValueType() {
		return 0, nil
	}
	md, err := t.metadata()
	if err != nil {
		return 0, err
	}
	row, err := findAttribute(md, t.MT.Token, inlineArrayAttribute)
	if err != nil && t.fillsBox() {
		return 0, nil
	}
	if err != nil || row == nil {
		return 0, err
	}
	v, err := md.AttributeValue(*row, nil)
	if err != nil {
		return 0, err
	}
	if len(v.Fixed) != 1 {
		return 0, target.Corruptf("type %016x: the attribute of an inline array has %d arguments", uint64(t.MT.Addr), len(v.Fixed))
	}
	n, ok := v.Fixed[0].(int32)
	if !ok || n <= 0 || n > limits.InlineArray {
		return 0, target.Corruptf("type %016x: an inline array of %v elements", uint64(t.MT.Addr), v.Fixed[0])
	}
	return int(n), nil
}

// fixedField is the only field of the struct that the C# compiler generates for a fixed-size buffer (fixed int
// Buffer[4]). The field is the first element.
const fixedField = "FixedElementField"

// elements returns the number of elements of an inline array or a C# fixed-size buffer, 0 for other structs.
func (t *Type) elements() (int, error) {
	if t == nil {
		return 0, errNoObject
	}
	return t.parts.Get(t.countElements)
}

func (t *Type) countElements() (int, error) {
	if n, err := t.InlineLength(); n > 0 || err != nil {
		return n, err
	}
	fields, err := t.ownFields()
	if err != nil || len(fields) != 1 || fields[0].Static || fields[0].Offset != 0 || fields[0].Name != fixedField {
		return 0, err
	}
	size := Value{elem: fields[0].ElementType}.Size() // elements of a buffer are numbers
	if size <= 0 {
		return 0, nil
	}
	row, err := t.layout()
	if err != nil || row.ClassSize == 0 {
		return 0, err
	}
	if n := int(row.ClassSize) / size; n <= limits.InlineArray {
		return n, nil
	}
	return 0, target.Corruptf("type %016x: a buffer of %d bytes", uint64(t.MT.Addr), row.ClassSize)
}

// layout returns the size and packing of the type's StructLayout attribute, or zeros.
func (t *Type) layout() (metadata.ClassLayoutRow, error) {
	md, err := t.metadata()
	if err != nil {
		return metadata.ClassLayoutRow{}, err
	}
	row, _, err := md.LayoutOf(t.MT.Token.Row())
	return row, err
}

// fillsBox reports whether the type's fields leave no room for further elements, so that it can't be an inline array.
// An inline array has one field and room for several.
func (t *Type) fillsBox() bool {
	fields, err := t.allFields()
	if err != nil {
		return false
	}
	var last *Field
	n := 0
	for _, f := range fields {
		if !f.Static {
			last = f
			n++
		}
	}
	if n != 1 {
		return true
	}
	size, _, err := last.extent(0)
	return err == nil && size > 0 && t.roomFor(size) == 1
}

// roomFor returns how many elements of size bytes fit in a box of the type.
func (t *Type) roomFor(size uint64) uint64 {
	return (uint64(t.MT.BaseSize) - min(uint64(t.MT.BaseSize), boxBytes)) / size
}

// elementSize returns the size in bytes of an element of an inline array with n elements. The elements must fill the
// type, apart from padding to a pointer's size.
func (t *Type) elementSize(f *Field, n int) (uint64, error) {
	size, _, err := f.extent(0)
	if err != nil {
		return 0, err
	}
	if size == 0 || !t.fits(size*uint64(n)) {
		return 0, target.Unsupportedf("type %016x: %d elements of %d bytes in a box of %d", uint64(t.MT.Addr), n, size, t.MT.BaseSize)
	}
	return size, nil
}

// fits reports whether values of the type may have size bytes. A box has their size, rounded up to a pointer's size.
func (t *Type) fits(size uint64) bool {
	whole := uint64(t.MT.BaseSize) - min(uint64(t.MT.BaseSize), boxBytes)
	return size <= whole && whole-size < 8
}

// boxBytes is the number of bytes in a box besides its value: object header and MethodTable.
const boxBytes = 16

// extent returns the size and alignment of the field's value in place.
func (f *Field) extent(depth int) (size, align uint64, err error) {
	if n := uint64(Value{elem: f.ElementType}.Size()); n > 0 {
		return n, n, nil
	}
	if depth > limits.SignatureDepth {
		return 0, 0, target.Limitf("type %016x is nested deeper than sosgo reads", uint64(f.Declaring.MT.Addr))
	}
	t, err := Value{r: f.Declaring.r, elem: f.ElementType, field: f}.Type()
	if err != nil {
		return 0, 0, err
	}
	return t.extent(depth)
}

// extent returns the size and alignment of a value of the type in place.
func (t *Type) extent(depth int) (size, align uint64, err error) {
	fields, err := t.allFields()
	align = 1
	for _, part := range fields {
		if part.Static {
			continue
		}
		n, a, err := part.extent(depth + 1)
		if err != nil {
			return 0, 0, err
		}
		size, align = max(size, uint64(part.Offset)+n), max(align, a)
	}
	if err != nil {
		return 0, 0, err
	}
	row, err := t.layout()
	if pack := uint64(row.PackingSize); pack > 0 {
		align = min(align, pack)
	}
	return max((size+align-1)/align*align, uint64(row.ClassSize)), align, err
}

// Elements iterates over the elements of an inline array or a fixed-size buffer. It yields nothing for other structs.
func (s Struct) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		n, err := s.Type.elements()
		if n == 0 || err != nil {
			return
		}
		for f, first := range s.Fields() {
			size, err := s.Type.elementSize(f, n)
			for i := range n {
				v := first
				if i > 0 {
					v = Value{r: s.Type.r, elem: f.ElementType, field: f, err: err}
				}
				if i > 0 && err == nil {
					v = f.At(s.Addr + target.Addr(uint64(i)*size))
				}
				if !yield(i, v) {
					return
				}
			}
			return
		}
	}
}
