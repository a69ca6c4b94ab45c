package objects

import (
	"fmt"
	"strconv"
	"strings"
)

// SlotName returns the name of the place at an offset in bytes from the object's start. In an object it is the field,
// "_items", with dots through structs in place, "_entry._value". In an array it is the element, "[3]", "[1,2]" or
// "[5].value". Without a name it is the offset, "+0x18".
func (o Object) SlotName(offset uint64) string {
	name := ""
	switch {
	case o.Type == nil:
	case o.Type.MT.IsArray():
		name = o.elementName(offset)
	case offset >= 8:
		name, _ = o.Type.FieldPath(offset - 8)
	}
	if name == "" {
		return fmt.Sprintf("+%#x", offset)
	}
	return name
}

// elementName returns SlotName for an array. It is empty outside the elements.
func (o Object) elementName(offset uint64) string {
	a, err := o.Array()
	size := uint64(o.Type.MT.ComponentSize)
	data := uint64(a.data - o.Addr)
	if err != nil || size == 0 || offset < data {
		return ""
	}
	n := (offset - data) / size
	if n >= uint64(a.Len) {
		return ""
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, k := range a.Index(uint32(n), nil) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(k)))
	}
	b.WriteByte(']')
	if a.typ != nil && a.typ.MT.IsValueType() {
		if path, _ := a.typ.FieldPath(offset - data - n*size); path != "" {
			b.WriteByte('.')
			b.WriteString(path)
		}
	}
	return b.String()
}
