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
	key   *objects.Field // of the same struct: its text is the name; nil if the field's own name counts
	keyed bool           // the pair is of a dictionary, where weaker names count, too
}

// keyNames are the names of fields for a key, each with the names of the value beside it.
var keyNames = map[string][]string{"key": {"value", "val"}, "_key": {"_value"}, "Key": {"Value"}, "Item1": {"Item2"}, "m_Item1": {"m_Item2"}}

// leavesOf appends the leaves of a type with its fields at off.
func leavesOf(list []leaf, t *objects.Type, off target.Addr, depth int) []leaf {
	if t == nil || depth > leafDepth {
		return list
	}
	fields, _ := t.Fields()
	for _, f := range fields {
		if f.Static || len(list) >= mostLeaves {
			continue
		}
		if value := besideKey(fields, f); value != nil {
			list = append(list, leaf{off: off, field: value, key: f, keyed: !strings.Contains(f.Name, "Item")})
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

// besideKey returns the field with the value beside a field for a key, or nil.
func besideKey(fields []*objects.Field, key *objects.Field) *objects.Field {
	names := keyNames[key.Name]
	if len(names) == 0 || !refers(key) {
		return nil
	}
	for _, f := range fields {
		for _, name := range names {
			if f.Name == name && !f.Static && (refers(f) || f.ElementType == metadata.ElementValueType) {
				return f
			}
		}
	}
	return nil
}

// refers reports whether a field refers to an object.
func refers(f *objects.Field) bool { return objects.Leaf{Type: f.ElementType}.IsReference() }

// at returns the value and its name, for fields at an address; "" if it is no secret by its name.
func (l *leaf) at(fields target.Addr) (name string, v objects.Value) {
	fields += l.off
	if l.key == nil {
		return l.field.Name, l.field.At(fields)
	}
	o, err := l.key.At(fields).Object()
	if err != nil || !o.IsString() {
		return "", v
	}
	if n, err := o.Length(); err != nil || n > limits.SecretNameChars {
		return "", v
	}
	name, err = o.Text(limits.SecretNameChars)
	if err != nil || !secrets.Strong(name) && !(l.keyed && secrets.Named(name)) {
		return "", v
	}
	return name, l.field.At(fields)
}

// textDepth bounds what holds what holds a text.
const textDepth = 3

// A textReader finds the texts that a value stands for: a string, an array of characters or bytes, a StringBuilder, what a box, a list, a
// Lazy or a Task holds. It is for one value.
type textReader struct {
	items *objects.Collections
	mem   target.Memory
	found func(text string)
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

func (r *textReader) text(name, text string, depth int) {
	r.n++
	if text != "" && (depth == 0 || secrets.Holds(name) && !strings.EqualFold(text, name)) {
		r.found(text)
	}
}

func (r *textReader) object(name string, o objects.Object, depth int) {
	switch {
	case o.IsString():
		if text, err := o.Text(limits.SecretChars); err == nil {
			r.text(name, text, depth)
		}
		return
	case o.IsBoxed():
		r.value(name, o.Boxed(), depth)
		return
	}
	if depth == 0 && !secrets.Holds(name) && !secrets.HoldsKey(name) {
		return // only a text itself is one by a weaker name
	}
	if o.Type.MT.IsArray() {
		r.array(name, o, depth)
		return
	}
	if c, err := r.items.Of(o); err == nil {
		r.collection(name, c, depth)
		return
	}
	typ, err := o.Type.ManagedName()
	if err != nil || !isWrapper(typ) {
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

// isWrapper reports whether what a type of the class library holds is the value that its holder's name means.
func isWrapper(typ string) bool {
	for _, prefix := range []string{"System.Lazy<", "System.Threading.Tasks.Task<", "System.Threading.Tasks.TaskCompletionSource<", "System.Threading.Tasks.ValueTask<", "System.Tuple<",
		"System.ValueTuple<", "System.Nullable<", "System.Collections.Generic.KeyValuePair<", "System.Runtime.CompilerServices.StrongBox<", "System.Text.StringBuilder",
		"System.Memory<", "System.ReadOnlyMemory<", "System.ArraySegment<", "System.Collections.Immutable.ImmutableArray<", "Microsoft.Extensions.Primitives.String"} {
		if strings.HasPrefix(typ, prefix) {
			return true
		}
	}
	return false
}

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
	typ, err := s.Type.ManagedName()
	if err != nil || !isWrapper(typ) {
		return
	}
	if r.line(name, v.Line(limits.SecretChars), depth) {
		return
	}
	fields, _ := s.Type.Fields()
	for _, f := range fields {
		if !f.Static && wrapped[f.Name] {
			r.value(name, f.At(s.Addr), depth+1)
		}
	}
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

func (r *textReader) collection(name string, c *objects.Collection, depth int) {
	if text, ok, _ := c.Text(); ok {
		r.text(name, text, depth)
		return
	}
	var units []uint16
	for _, v := range c.Values() {
		if r.n++; r.n > limits.SecretItems {
			return
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
