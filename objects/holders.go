package objects

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/target"
)

// holders are the beginnings of names of types that are, or hold, a text or a number.
var holders = []string{"System.Guid", "System.Decimal", "System.Int128", "System.UInt128", "System.Half", "System.Numerics.BigInteger", "System.Nullable<",
	"System.Memory<", "System.ReadOnlyMemory<", "System.ArraySegment<", "System.Text.StringBuilder", "System.Security.SecureString", "System.Lazy<", "System.Threading.Tasks.Task<",
	"System.Threading.Tasks.TaskCompletionSource<", "System.Threading.Tasks.ValueTask<", "System.WeakReference", "System.Tuple<", "System.ValueTuple<",
	"System.Collections.Generic.KeyValuePair<", "System.Runtime.CompilerServices.StrongBox<", "System.Collections.Generic.List<System.Char>",
	"System.Collections.Generic.List<System.Byte>", "System.Collections.Generic.List<System.String>", "System.Collections.Immutable.ImmutableArray<System.",
	"Microsoft.Extensions.Primitives.String"}

// HoldsValues reports whether values of the type are, or hold, a text or a number, apart from strings and arrays: a name for a secret beside
// such a value is the name of what it holds.
func (t *Type) HoldsValues() bool {
	name, err := t.ManagedName()
	return err == nil && slices.ContainsFunc(holders, func(s string) bool { return strings.HasPrefix(name, s) })
}

// A Pair is two fields of a type: a name, and the value beside it, such as Key and Value, or Name and Value.
type Pair struct {
	Key, Value *Field
	Named      bool // the type is one of pairs, as the entries of a dictionary; a tuple may have other texts

	name bool // the key is a name, which is not always of a setting: it counts if it ends with a word for secrets
}

// pairNames are the names of fields for a key, without case and prefixes, each with the names of the value beside it.
var pairNames = map[string][]string{"key": {"value", "val"}, "name": {"value"}, "parametername": {"value", "parametervalue"}, "optionname": {"value", "optionvalue"},
	"settingname": {"value", "settingvalue"}, "keyname": {"value", "keyvalue"}, "item1": {"item2"}, "keys": {"values"},
	"key1": {"value1"}, "key2": {"value2"}, "key3": {"value3"}, "key4": {"value4"}}

// pairName returns the name of a field as it is in pairNames.
func pairName(field string) string {
	return strings.TrimLeft(strings.TrimPrefix(strings.ToLower(secrets.Bare(field)), "m_"), "_")
}

// Pairs returns the pairs among the fields of the type.
func (t *Type) Pairs() []Pair {
	if t == nil {
		return nil
	}
	list, _ := t.pairs.Get(func() (out []Pair, err error) {
		fields, err := t.allFields()
		for _, key := range fields {
			names := pairNames[pairName(key.Name)]
			if len(names) == 0 || key.Static || (Value{elem: key.ElementType}).Kind() != KindReference {
				continue
			}
			i := slices.IndexFunc(fields, func(f *Field) bool {
				return !f.Static && slices.Contains(names, pairName(f.Name))
			})
			if i >= 0 {
				name := pairName(key.Name)
				out = append(out, Pair{Key: key, Value: fields[i], Named: !strings.HasPrefix(name, "item"), name: strings.HasSuffix(name, "name")})
			}
		}
		return out, err
	})
	return list
}

// IsSecret reports whether the value is a secret by the text of its key. fields is the address of the fields of the type.
func (p *Pair) IsSecret(fields target.Addr) bool {
	key := p.Name(fields)
	return key != "" && p.Value.At(fields).IsSecretAt(key) && (p.Named || secrets.HoldsKey(key))
}

// Announces reports whether what is read through the value is a secret by the text of its key, or, of an array of values, by one of its keys.
func (p *Pair) Announces(fields target.Addr) bool {
	if p.IsSecret(fields) {
		return true
	}
	key := p.Key.At(fields)
	o, err := key.Object()
	if err != nil || key.IsNull() {
		return false
	}
	if !o.Type.MT.IsArray() {
		return secrets.HoldsKey(p.Name(fields))
	}
	a, err := o.Array()
	if err != nil || !o.Type.MT.ContainsPointers() {
		return false
	}
	for i := range min(a.Len, limits.SecretItems) {
		if secrets.HoldsKey(a.At(i).secretName()) {
			return true
		}
	}
	return false
}

// Name returns the text of the key of a pair if it may mean a secret; "" for others, for which nothing is allocated. fields is the address of the
// fields of the type.
func (p *Pair) Name(fields target.Addr) string {
	name := p.Key.At(fields).secretName()
	if p.name && !secrets.NamesSecret(name) {
		return ""
	}
	return name
}

// secretName returns the text of a key if it may mean a secret; "" for others.
func (v Value) secretName() string {
	if v.Kind() != KindReference || v.bits == 0 {
		return ""
	}
	o, err := v.Object()
	if err != nil || !o.IsString() {
		return ""
	}
	chars, n, err := v.r.Runtime().StringChars(o.Addr)
	if err != nil || n == 0 || n > limits.SecretNameChars {
		return ""
	}
	if units, ok := v.r.mem.View(chars, 2*int(n)); ok && !mayBeNamed(units) {
		return ""
	}
	text, err := o.Text(limits.SecretNameChars)
	if err != nil || !secrets.Named(text) && !secrets.HoldsKey(text) && !secrets.Strong(text) {
		return ""
	}
	return text
}

// mayBeNamed reports whether units of UTF-16 may be a name for a secret.
func mayBeNamed(units []byte) bool {
	var ascii [limits.SecretNameChars]byte
	n := 0
	for i := 0; i+1 < len(units); i += 2 {
		if units[i+1] != 0 || units[i] > unicode.MaxASCII {
			return true
		}
		ascii[n] = units[i]
		n++
	}
	return secrets.MayBeNamed(ascii[:n])
}

// secretPair returns the value of a pair in the struct that is a secret by the text of its key, or nil.
func (s Struct) secretPair() *Field {
	pairs := s.Type.Pairs()
	for i := range pairs {
		if pairs[i].IsSecret(s.Addr) {
			return pairs[i].Value
		}
	}
	return nil
}

// pair returns the line of a struct with fields that are secrets by the key beside them, or by their names. ok is false for others, and without masking.
func (d *describer) pair(v *Value) (line answer.Line, ok bool) {
	if d.mask == nil || v.Kind() != KindStruct {
		return nil, false
	}
	s, err := v.Struct()
	if err != nil {
		return nil, false
	}
	return d.pairIn(s)
}

// pairIn is pair for a struct.
func (d *describer) pairIn(s Struct) (line answer.Line, ok bool) {
	if d.mask == nil {
		return nil, false
	}
	secret := s.secretFields(0)
	if len(secret) == 0 {
		return nil, false
	}
	return s.appendBraces(nil, LineChars, 0, secret), true
}
