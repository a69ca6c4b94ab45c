package objects

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
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
		if hidden, err := a.hidesFields(s.Addr, leaves, mask); hidden || err != nil || len(leaves) < 2 || a.Len > mostStructs {
			return hidden, err
		}
		return a.hidesUnits(mask), nil
	}
	if a.Type.MT.ContainsPointers() {
		return a.hidesUnits(mask), nil
	}
	return secrets.HidesElements(a.Type.r.mem, a.data, a.Len, int(a.Type.MT.ComponentSize), mask)
}

// Announces reports whether element i is an option of a command line, and v, the element behind it, the secret that it announces.
func (a *Array) Announces(i uint32, v Value) bool { return announces(a.At(i), v) }

// announces reports whether an element of a command line is an option that announces the element behind it, a secret.
func announces(option, v Value) bool {
	if option.secretName() == "" {
		return false
	}
	name, err := option.Text(limits.SecretNameChars)
	if err != nil {
		return false
	}
	text, err := v.Text(limits.SecretNameChars)
	if err != nil { // a number
		return v.mayBeSecret(0) && secrets.SecretFollows(name, "")
	}
	return text != "" && secrets.SecretFollows(name, text)
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

// hidesUnits reports whether mask changes the text of boxed elements, or of the fields of all structs in turn.
func (a *Array) hidesUnits(mask func(string) string) bool {
	var values unitTexts
	for _, v := range a.Values() {
		if v.Kind() == KindReference && v.IsNull() {
			continue // not used yet
		}
		if !values.add(v) {
			return false
		}
		if values.total > secrets.MostElements {
			return true
		}
	}
	return values.hides(mask)
}

// Hides reports whether mask changes the text of the collection's elements, in their order or in the reverse order. Boxed characters and bytes
// are as others. Structs have a text for each field, and one of all their fields in turn; dictionaries have texts of keys, too. Unreadable
// elements are left out.
func (c *Collection) Hides(mask func(string) string) bool {
	if mask == nil {
		return false
	}
	var values unitTexts
	var keys unitTexts
	for item, err := range c.Items() {
		if err != nil {
			continue
		}
		more := values.add(item.Value)
		if c.HasKeys {
			more = keys.add(item.Key) || more
		}
		if values.total+keys.total > secrets.MostElements {
			return true
		}
		if !more {
			return false
		}
	}
	return values.hides(mask) || keys.hides(mask)
}

// unitTexts are the texts of characters and bytes at the same places of several values.
type unitTexts struct {
	texts  []unitText
	turn   unitText // of all places in turn
	parts  int      // places of each value
	total  int
	failed bool // a mixture is no text
}

// add adds a value. It reports false if the values are no text.
func (t *unitTexts) add(v Value) bool {
	if t.failed {
		return false
	}
	if v.Kind() == KindReference && !v.IsNull() {
		if o, err := v.Object(); err == nil && o.IsBoxed() {
			v = o.Boxed()
		}
	}
	parts := []Value{v}
	if s, err := v.Struct(); err == nil {
		if parts, err = s.leaves(nil, 0); err != nil {
			return true
		}
	} else if _, err := v.Bits(); err != nil {
		return true
	} else if unitSize(v) == 0 {
		t.failed = true
		return false
	}
	for i, part := range parts {
		bits, err := part.Bits()
		if err != nil {
			continue
		}
		if i == len(t.texts) {
			t.texts = append(t.texts, unitText{size: part.Size()})
		}
		if i > len(t.texts) || t.texts[i].size != part.Size() {
			t.failed = true
			return false
		}
		t.texts[i].units = append(t.texts[i].units, uint16(bits))
		if t.turn.size == 0 {
			t.turn.size = part.Size()
		}
		if t.turn.size == part.Size() {
			t.turn.units = append(t.turn.units, uint16(bits))
		}
		t.total++
	}
	t.parts = max(t.parts, len(parts))
	return true
}

func (t *unitTexts) hides(mask func(string) string) bool {
	if t.failed {
		return false
	}
	return t.parts > 1 && t.turn.hides(mask) || slices.ContainsFunc(t.texts, func(t unitText) bool { return t.hides(mask) })
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

// Hides reports whether mask changes the text of the struct, such as a Guid's, or of an inline array or fixed-size buffer in it, or whether a value
// in it is a secret by the key beside it.
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
	if s.secretPair() != nil {
		return true, nil
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
	if hidden || s.HidesFields() {
		return answer.ErrHidden
	}
	return err
}

// IsSecret reports whether the value, of a field, a variable or a key with this name, is a secret by the name: a text, a number or what
// has one. References to other objects, Booleans, names of enums and what is null or zero are shown.
func (v Value) IsSecret(name string) bool { return secrets.Holds(name) && v.mayBeSecret(0) }

// IsSecretAt is IsSecret for a value in a dictionary.
func (v Value) IsSecretAt(key string) bool {
	if secrets.HoldsKey(key) {
		return v.mayBeSecret(0)
	}
	if !secrets.Named(key) || v.Kind() != KindReference || v.IsNull() {
		return false
	}
	text, err := v.Text(limits.SecretChars)
	return err == nil && secrets.IsSetting(key, text)
}

// mayBeSecret reports whether the value is a text, a number or what holds one.
func (v Value) mayBeSecret(depth int) bool {
	switch v.Kind() {
	case KindChar, KindFloat:
		return v.bits != 0
	case KindInt, KindUint:
		switch v.elem {
		case metadata.ElementI, metadata.ElementU, metadata.ElementPtr, metadata.ElementByRef, metadata.ElementFnPtr:
			return false // a handle, or an address
		}
		t, err := v.Type()
		return v.bits != 0 && (err != nil || t == nil || !t.IsEnum())
	case KindReference:
		if v.IsNull() || depth > inlineDepth {
			return false
		}
		o, err := v.Object()
		return err == nil && o.mayBeSecret(depth)
	case KindStruct:
		s, err := v.Struct()
		return err == nil && s.mayBeSecret(depth)
	}
	return false
}

// MayBeSecret reports whether the struct is or has a text or a number, but for zero, so that a name beside it can make it a secret.
func (s Struct) MayBeSecret() bool { return s.mayBeSecret(0) }

func (s Struct) mayBeSecret(depth int) bool {
	switch {
	case s.Type == nil:
		return false
	case depth > structDepth || s.Type.HoldsValues():
		return true
	}
	if n, err := s.Type.elements(); n > 0 && err == nil {
		for _, v := range s.Elements() {
			if v.mayBeSecret(depth + 1) {
				return true
			}
		}
		return false
	}
	fields, err := s.Type.allFields()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(fields, func(f *Field) bool { return !f.Static && f.At(s.Addr).mayBeSecret(depth+1) })
}

// structDepth bounds structs in structs: what is deeper is taken for a secret.
const structDepth = 8

// HidesFields reports whether a field of the struct, or of a struct in it, is a secret by its name: a struct or a boxed value. The names in its line
// do not show which part of the line it is, as the names of texts and numbers do.
func (s Struct) HidesFields() bool { return len(s.secretFields(0)) > 0 }

// secretFields returns the fields of the struct that are or have secrets by their names, or by the key beside them.
func (s Struct) secretFields(depth int) (list []*Field) {
	if s.Type == nil || depth > inlineDepth {
		return nil // deeper values are not shown
	}
	if f := s.secretPair(); f != nil {
		list = append(list, f)
	}
	for _, f := range s.Type.namedFields() {
		v := f.At(s.Addr)
		o, err := v.Object()
		switch part, lacks := v.Struct(); {
		case secrets.Holds(f.Name) && (lacks == nil || err == nil && o.IsBoxed()) && v.mayBeSecret(0), lacks == nil && len(part.secretFields(depth+1)) > 0:
			list = append(list, f)
		}
	}
	return list
}

// namedFields returns the fields of the type that may be or have secrets by their names, or by keys in them.
func (t *Type) namedFields() []*Field {
	list, _ := t.named.Get(func() ([]*Field, error) { return t.listNamed(0), nil })
	return list
}

func (t *Type) listNamed(depth int) (list []*Field) {
	if depth > inlineDepth {
		return nil
	}
	fields, _ := t.allFields()
	for _, f := range fields {
		inPlace := f.ElementType == metadata.ElementValueType
		if f.Static || !inPlace && (Value{elem: f.ElementType}).Kind() != KindReference {
			continue
		}
		if named := secrets.Holds(f.Name); !named && inPlace {
			inner, err := f.At(0).Type()
			if err != nil || inner == nil || len(inner.listNamed(depth+1)) == 0 && len(inner.Pairs()) == 0 {
				continue
			}
		} else if !named {
			continue
		}
		list = append(list, f)
	}
	return list
}

// MayBeSecret reports whether the object is a text or a number, or a collection or a wrapper of texts or numbers, so that a name beside it
// can make it a secret.
func (o Object) MayBeSecret() bool { return o.Type != nil && o.mayBeSecret(0) }

func (o Object) mayBeSecret(depth int) bool {
	switch {
	case o.IsString():
		n, err := o.Length()
		return err != nil || n > 0
	case o.IsBoxed():
		return o.Boxed().mayBeSecret(depth + 1)
	case o.Type.MT.IsArray():
		t, err := o.Type.Element()
		return err == nil && t != nil && (t.IsString() || !t.MT.ContainsPointers() && t.MT.IsValueType() && !t.IsEnum())
	}
	return o.Type.HoldsValues()
}

// hides reports whether the value of a field is a secret by the field's name, where secrets are masked.
func (d *describer) hides(v *Value) bool {
	return d.mask != nil && v.field != nil && v.IsSecret(v.field.Name)
}

// HiddenAs returns what an answer has instead of a variable's value that is a secret by its name, or with a part that mask hides (Hidden). ok is
// false for others, and without masking.
func (v Value) HiddenAs(name string, mask func(string) string) (instead answer.Stored, ok bool) {
	if mask == nil {
		return instead, false
	}
	if v.IsSecret(name) {
		return hidden(&v), true
	}
	if err := v.Hidden(mask); err != nil {
		return answer.Stored{Missing: answer.Reason{Err: err}}, true
	}
	return instead, false
}

// hidden returns what stands for a secret. Of a reference, its address is shown.
func hidden(v *Value) answer.Stored {
	if v.Kind() != KindReference {
		return answer.Stored{Missing: answer.Reason{Err: answer.ErrHidden}}
	}
	s := answer.Stored{Value: v.answer(), Text: answer.Line{{Text: secrets.Mask}}}
	if o, err := v.Object(); err == nil && o.IsString() {
		s.Text[0].Quoted, s.Text[0].Chars = true, uint32(len(secrets.Mask))
	}
	return s
}
