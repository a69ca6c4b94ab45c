package objects

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// Hides reports whether mask changes the text of the array's elements: bytes as UTF-8, or numbers and characters of 16 bits as UTF-16. The
// elements of an array of structs, such as the entries of a dictionary, have a text for each such field. Arrays of others have none.
func (a *Array) Hides(mask func(string) string) (bool, error) {
	if mask == nil || a.Len == 0 {
		return false, nil
	}
	if s, err := a.At(0).Struct(); err == nil {
		leaves, err := s.leaves(nil, 0)
		if err != nil {
			return false, err
		}
		return a.hidesFields(s.Addr, leaves, mask)
	}
	if a.Type.MT.ContainsPointers() {
		return false, nil
	}
	return secrets.HidesElements(a.Type.r.mem, a.data, a.Len, int(a.Type.MT.ComponentSize), mask)
}

// leaves appends the fields of a struct and of the structs in it that may be a character or a byte of a text.
func (s Struct) leaves(list []Value, depth int) ([]Value, error) {
	if s.Type == nil || depth > inlineDepth {
		return list, nil // deeper values are not shown
	}
	fields, err := s.Type.allFields()
	if err != nil {
		return list, err
	}
	for _, f := range fields {
		if f.Static {
			continue
		}
		v := f.At(s.Addr)
		if part, err := v.Struct(); err == nil && f.ElementType == metadata.ElementValueType {
			if list, err = part.leaves(list, depth+1); err != nil {
				return list, err
			}
		} else if unitSize(v) > 0 {
			list = append(list, v)
		}
	}
	return list, nil
}

// mostStructs is the number of structs that are looked at. More are hidden.
const mostStructs = 1 << 22

// hidesFields reports whether mask changes the text of one of the fields of all structs of the array, given as those of the first
// struct, which is at first.
func (a *Array) hidesFields(first target.Addr, fields []Value, mask func(string) string) (bool, error) {
	if len(fields) > 0 && a.Len > mostStructs {
		return true, nil
	}
	for _, f := range fields {
		size := f.Size()
		b := make([]byte, 0, int(a.Len)*size)
		for i := range a.Len {
			unit, err := target.Bytes(a.Type.r.mem, a.addr(uint64(i))+f.Location()-first, size)
			if err != nil {
				return false, err
			}
			b = append(b, unit...)
		}
		text := string(b)
		if size > 1 {
			text = utf16text.String(b)
		}
		if mask(text) != text {
			return true, nil
		}
	}
	return false, nil
}

// Hides reports whether mask changes the text of the collection's elements, in their order or in the reverse order. Structs
// have a text for each field. Unreadable elements are left out.
func (c *Collection) Hides(mask func(string) string) bool {
	if mask == nil {
		return false
	}
	var texts []unitText
	total := 0
	for _, v := range c.Values() {
		parts := []Value{v}
		if s, err := v.Struct(); err == nil {
			if parts, err = s.leaves(nil, 0); err != nil {
				continue
			}
		} else if _, err := v.Bits(); err != nil {
			continue
		} else if unitSize(v) == 0 {
			return false
		}
		for i, part := range parts {
			bits, err := part.Bits()
			if err != nil {
				continue
			}
			if i == len(texts) {
				texts = append(texts, unitText{size: part.Size()})
			}
			if i > len(texts) || texts[i].size != part.Size() {
				return false // a mixture is no text
			}
			texts[i].units = append(texts[i].units, uint16(bits))
			if total++; total > secrets.MostElements {
				return true
			}
		}
	}
	return slices.ContainsFunc(texts, func(t unitText) bool { return t.hides(mask) })
}

// A unitText is a text of bytes or of units of UTF-16.
type unitText struct {
	size  int
	units []uint16
}

func (t unitText) String() string {
	if t.size != 1 {
		return utf16text.FromUnits(t.units)
	}
	b := make([]byte, len(t.units))
	for i, u := range t.units {
		b[i] = byte(u)
	}
	return string(b)
}

// hides reports whether mask changes the text, or the reversed text.
func (t unitText) hides(mask func(string) string) bool {
	changes := func(s string) bool { return mask(s) != s }
	if changes(t.String()) {
		return true
	}
	slices.Reverse(t.units)
	return changes(t.String())
}

// unitSize returns the size in bytes of a value that may be a character or a byte of a text, 0 of others.
func unitSize(v Value) int {
	switch v.Kind() {
	case KindChar, KindInt, KindUint:
		if n := v.Size(); n <= 2 {
			return n
		}
	}
	return 0
}

// Hides reports whether mask changes the text of the struct, such as a Guid's, or of an inline array or fixed-size buffer in it.
func (s Struct) Hides(mask func(string) string) (bool, error) {
	if mask == nil {
		return false, nil
	}
	return s.hides(mask, 0)
}

func (s Struct) hides(mask func(string) string, depth int) (bool, error) {
	if s.Type == nil || depth > inlineDepth {
		return false, nil // deeper values are not shown
	}
	form, err := s.Type.lineForm()
	if err != nil {
		return false, err
	}
	if form.text != nil {
		if text, ok := form.text(s); ok && mask(text) != text {
			return true, nil
		}
	}
	n, err := s.Type.elements()
	if err != nil {
		return false, err
	}
	if n > 0 {
		for _, v := range s.Elements() {
			if size := unitSize(v); size > 0 {
				return secrets.HidesElements(s.Type.r.mem, s.Addr, uint32(n), size, mask)
			}
			break
		}
	}
	fields, err := s.Type.allFields()
	if err != nil {
		return false, err
	}
	for _, f := range fields {
		if f.Static || f.ElementType != metadata.ElementValueType {
			continue
		}
		part, err := f.At(s.Addr).Struct()
		if err != nil {
			continue // its line shows the reason
		}
		if hidden, err := part.hides(mask, depth+1); hidden || err != nil {
			return hidden, err
		}
	}
	return false, nil
}

// Hidden returns answer.ErrHidden if mask hides a part of a struct, or of a boxed one: a part that is no text, so that nothing can be masked in
// its line.
func (v Value) Hidden(mask func(string) string) error {
	if mask == nil {
		return nil
	}
	if v.Kind() == KindReference && !v.IsNull() {
		if o, err := v.Object(); err == nil && o.IsBoxed() {
			v = o.Boxed()
		}
	}
	if v.Kind() != KindStruct {
		return nil
	}
	s, err := v.Struct()
	if err != nil {
		return nil // the value's line shows the reason
	}
	hidden, err := s.Hides(mask)
	if hidden {
		return answer.ErrHidden
	}
	return err
}
