package objects

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/metadata"
)

// Hides reports whether mask changes the text of the array's elements: bytes as UTF-8, or numbers and characters of 16 bits as UTF-16. Arrays of
// others have no such text.
func (a *Array) Hides(mask func(string) string) (bool, error) {
	if mask == nil || a.Len == 0 || a.Type.MT.ContainsPointers() {
		return false, nil
	}
	return secrets.HidesElements(a.Type.r.mem, a.data, a.Len, int(a.Type.MT.ComponentSize), mask)
}

// Hides reports whether mask changes the text of the collection's elements, in their order or in the reverse order.
// Unreadable elements are left out.
func (c *Collection) Hides(mask func(string) string) bool {
	if mask == nil {
		return false
	}
	var units []uint16
	size := 0
	for _, v := range c.Values() {
		bits, err := v.Bits()
		if err != nil {
			continue
		}
		if n := unitSize(v); n == 0 || size != 0 && n != size {
			return false
		}
		size = v.Size()
		if units = append(units, uint16(bits)); len(units) > secrets.MostElements {
			return true
		}
	}
	text := func() string {
		if size != 1 {
			return utf16text.FromUnits(units)
		}
		b := make([]byte, len(units))
		for i, u := range units {
			b[i] = byte(u)
		}
		return string(b)
	}
	hides := func(s string) bool { return mask(s) != s }
	if len(units) == 0 || hides(text()) {
		return len(units) > 0
	}
	slices.Reverse(units)
	return hides(text())
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
