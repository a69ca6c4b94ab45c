package sensitive

import (
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Bounds for the fields of a type.
const (
	leafDepth  = 5  // structs in structs
	mostLeaves = 64 // fields that are looked at
)

// A leaf is a field of a type, or of a struct in it, that may hold a secret.
type leaf struct {
	off   target.Addr    // of the struct that has the field, from the fields of the type
	field *objects.Field // the value
	pair  *objects.Pair  // of the same struct: the text of its key is the name; nil if the field's own name counts
}

// leavesOf appends the leaves of a type with its fields at off.
func leavesOf(list []leaf, t *objects.Type, off target.Addr, depth int) []leaf {
	if t == nil || depth > leafDepth {
		return list
	}
	pairs := t.Pairs()
	for i := range pairs {
		if len(list) < mostLeaves {
			list = append(list, leaf{off: off, field: pairs[i].Value, pair: &pairs[i]})
		}
	}
	fields, _ := t.Fields()
	for _, f := range fields {
		if f.Static || len(list) >= mostLeaves {
			continue
		}
		switch {
		case refers(f):
			if means(f.Name) {
				list = append(list, leaf{off: off, field: f})
			}
		case f.ElementType == metadata.ElementValueType:
			if means(f.Name) {
				list = append(list, leaf{off: off, field: f})
			}
			if inner, err := f.At(0).Type(); err == nil {
				list = leavesOf(list, inner, off+target.Addr(f.Offset), depth+1)
			}
		}
	}
	return list
}

// means reports whether a field's name means a secret.
func means(name string) bool { return secrets.Strong(name) || secrets.Holds(name) }

// refers reports whether a field refers to an object.
func refers(f *objects.Field) bool { return objects.Leaf{Type: f.ElementType}.IsReference() }

// at returns the value and its name, for fields at an address; "" if it is no secret by its name. A key may be one of locals, which are
// AsyncLocals with the names of what holds them.
func (l *leaf) at(fields target.Addr, locals map[target.Addr]string) (name string, v objects.Value) {
	fields += l.off
	if l.pair == nil {
		return l.field.Name, l.field.At(fields)
	}
	if len(locals) > 0 {
		if a, err := l.pair.Key.At(fields).Addr(); err == nil && locals[a] != "" {
			return locals[a], l.field.At(fields)
		}
	}
	name = l.pair.Name(fields)
	if name == "" || !l.pair.Named && !secrets.HoldsKey(name) {
		return "", v
	}
	return name, l.field.At(fields)
}

// textDepth bounds what holds what holds a text.
const textDepth = 3

// A textReader finds the texts that a value stands for: a string, a Guid, an array of characters or bytes, a StringBuilder, what a box, a list, a
// Lazy, a Task or a weak reference holds. It is for one value.
type textReader struct {
	b     *objects.Binder
	items *objects.Collections
	mem   target.Memory
	found func(text string, at target.Addr) // at is the address of a string, 0 for other texts
	weak  bool                              // the name may mean something else: of texts in a list, those that look generated are secrets
	n     int
}

// value reads a value. name is the name of its holder.
func (r *textReader) value(name string, v objects.Value, depth int) {
	if v.Err() != nil || v.IsNull() || depth > textDepth || r.n > limits.SecretItems {
		return
	}
	switch v.Kind() {
	case objects.KindStruct:
		if s, err := v.Struct(); err == nil {
			r.structure(name, v, s, depth)
		}
	case objects.KindReference:
		if o, err := v.Object(); err == nil {
			r.object(name, o, depth)
		}
	}
}

func (r *textReader) text(name, text string, depth int) { r.textAt(name, text, 0, depth) }

// textAt is text for the text of a string at an address.
func (r *textReader) textAt(name, text string, at target.Addr, depth int) {
	r.n++
	switch {
	case text == "":
	case depth == 0, secrets.HoldsKey(name) && !strings.EqualFold(text, name), r.weak && secrets.LooksGenerated(text):
		r.found(text, at)
	}
}

func (r *textReader) object(name string, o objects.Object, depth int) {
	switch {
	case o.IsString():
		if text, err := o.Text(limits.SecretChars); err == nil {
			r.textAt(name, text, o.Addr, depth)
		}
		return
	case o.IsBoxed():
		r.value(name, o.Boxed(), depth)
		return
	}
	if depth == 0 && !secrets.HoldsKey(name) {
		if !r.weak || !o.Type.MT.IsArray() && !o.Type.HoldsValues() {
			return // only a text itself is one by a weaker name
		}
	}
	if o.Type.MT.IsArray() {
		r.array(name, o, depth)
		return
	}
	if c, err := r.items.Of(o); err == nil {
		r.collection(name, c, depth)
		return
	}
	if !o.Type.HoldsValues() {
		return
	}
	if held, err := r.b.Weak(o); err == nil {
		if held.Addr != 0 {
			r.object(name, held, depth+1)
		}
		return
	}
	if text, ok := r.secureString(o); ok {
		r.text(name, text, depth)
		return
	}
	if r.line(name, o.Line(limits.SecretChars), depth) {
		return
	}
	fields, _ := o.Type.Fields()
	for _, f := range fields {
		if !f.Static && wrapped[f.Name] {
			r.value(name, o.Value(f), depth+1)
		}
	}
}

// wrapped are the fields of wrappers for what they hold.
var wrapped = map[string]bool{"_value": true, "m_value": true, "Value": true, "value": true, "m_result": true, "m_Item1": true, "m_Item2": true, "Item1": true, "Item2": true,
	"_task": true, "_values": true, "key": true}

// line reads the quoted texts of a line. It reports whether there are any.
func (r *textReader) line(name string, pieces answer.Line, depth int) (any bool) {
	for _, p := range pieces {
		if p.Quoted && p.Text != "" {
			r.text(name, p.Text, depth)
			any = true
		}
	}
	return any
}

func (r *textReader) structure(name string, v objects.Value, s objects.Struct, depth int) {
	if text, ok := r.elements(s); ok {
		r.text(name, text, depth)
		return
	}
	if b, size, ok := s.Units(limits.SecretChars); ok {
		r.text(name, textOf(b, size), depth)
		return
	}
	if text, ok := guid(s); ok {
		r.text(name, text, depth)
		r.text(name, strings.ReplaceAll(text, "-", ""), depth)
		return
	}
	if r.line(name, v.Line(limits.SecretChars), depth) {
		return
	}
	any := !s.Type.HoldsValues() // a struct of the program
	fields, _ := s.Type.Fields()
	for _, f := range fields {
		if !f.Static && (any || wrapped[f.Name]) {
			r.value(name, f.At(s.Addr), depth+1)
		}
	}
}

// elements returns the text of an inline array or a buffer of characters or bytes.
func (r *textReader) elements(s objects.Struct) (text string, ok bool) {
	var b []byte
	size := 0
	for _, v := range s.Elements() {
		size = v.Size()
		unit, err := v.Bits()
		switch v.Kind() {
		case objects.KindChar, objects.KindUint:
		default:
			return "", false
		}
		if err != nil || size > 2 || len(b) >= limits.SecretChars*size {
			break
		}
		if b = append(b, byte(unit)); size == 2 {
			b = append(b, byte(unit>>8))
		}
	}
	if size == 0 || size > 2 {
		return "", false
	}
	return textOf(b, size), true
}

// guid returns the text of a Guid, but of the empty one.
func guid(s objects.Struct) (text string, ok bool) {
	if name, err := s.Type.ManagedName(); err != nil || name != "System.Guid" {
		return "", false
	}
	text = s.Inline(limits.SecretChars)
	return text, strings.Trim(text, "0-") != ""
}

type (
	secureString struct {
		_      objects.Shape    `of:"System.Security.SecureString"`
		Buffer objects.RefField `field:"_buffer"`
		Length objects.IntField `field:"_decryptedLength"`
	}
	safeHandle struct {
		_      objects.Shape    `of:"System.Runtime.InteropServices.SafeHandle"`
		Handle objects.IntField `field:"handle"`
	}
)

// secureString returns the text of a SecureString, which Windows encrypts: what it has there is no text.
func (r *textReader) secureString(o objects.Object) (text string, ok bool) {
	s, x, err := objects.BindObject[*secureString](r.b, o)
	if err != nil {
		return "", false
	}
	buffer, err := s.Buffer.Object(x)
	if err != nil || buffer.Addr == 0 {
		return "", true
	}
	h, at, err := objects.BindObject[*safeHandle](r.b, buffer)
	if err != nil {
		return "", true
	}
	handle, err := h.Handle.Uint(at)
	if err != nil {
		return "", true
	}
	n, err := s.Length.Int(x)
	if err != nil || n <= 0 {
		return "", true
	}
	const size = 2
	b, err := target.Bytes(r.mem, target.Addr(handle), int(min(n, limits.SecretChars))*size)
	if err != nil {
		return "", true
	}
	return textOf(b, size), true
}

func (r *textReader) array(name string, o objects.Object, depth int) {
	a, err := o.Array()
	if err != nil {
		return
	}
	if text, ok := r.units(&a); ok {
		r.text(name, text, depth)
		return
	}
	for i := range a.Len {
		if r.n++; r.n > limits.SecretItems {
			return
		}
		r.value(name, a.At(i), depth+1)
	}
}

// units returns the text of an array of characters or bytes. ok is false for other arrays.
func (r *textReader) units(a *objects.Array) (string, bool) {
	size := int(a.Type.MT.ComponentSize)
	if a.Type.MT.ContainsPointers() || size > 2 {
		return "", false
	}
	if a.Len == 0 {
		return "", true
	}
	b, err := target.Bytes(r.mem, a.At(0).Location(), int(min(a.Len, limits.SecretChars))*size)
	if err != nil {
		return "", true
	}
	return textOf(b, size), true
}

// textOf returns the text of units of UTF-16, or of bytes of UTF-8 or UTF-16; "" if they are no text.
func textOf(b []byte, size int) string {
	if size == 2 {
		return strings.TrimRight(utf16text.String(b), "\x00")
	}
	if n := len(b); n >= 4 && n%2 == 0 && b[1] == 0 && b[3] == 0 && b[0] != 0 {
		return strings.TrimRight(utf16text.String(b), "\x00")
	}
	text := strings.TrimRight(string(b), "\x00")
	if !utf8.ValidString(text) || strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' }) >= 0 {
		return ""
	}
	return text
}

// key reads a key of a collection with a name for secrets: the keys may be the secrets, or names of them. Those that look generated are secrets.
func (r *textReader) key(name string, key objects.Value) {
	if key.Kind() != objects.KindReference || key.IsNull() || !secrets.Holds(name) {
		return
	}
	if text, err := key.Text(limits.SecretChars); err == nil && secrets.LooksGenerated(text) {
		at, _ := key.Addr() // 0 marks no string
		r.found(text, at)
	}
}

func (r *textReader) collection(name string, c *objects.Collection, depth int) {
	if text, ok, _ := c.Text(); ok {
		r.text(name, text, depth)
		return
	}
	var units []uint16
	for item, err := range c.Items() {
		if r.n++; r.n > limits.SecretItems {
			return
		}
		if err != nil {
			continue
		}
		v := item.Value
		if c.HasKeys {
			r.key(name, item.Key)
		}
		switch bits, err := v.Bits(); {
		case err != nil:
		case v.Kind() == objects.KindChar || v.Kind() == objects.KindUint && v.Size() == 1:
			units = append(units, uint16(bits))
		default:
			r.value(name, v, depth+1)
		}
	}
	r.text(name, utf16text.FromUnits(units), depth)
}
