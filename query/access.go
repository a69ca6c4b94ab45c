package query

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A form is how a value is stored.
type form uint8

const (
	formUnknown form = iota // err is the reason
	formBool
	formChar
	formSigned
	formUnsigned
	formFloat32
	formFloat64
	formAddress // native integers and pointers
	formReference
	formStruct
	formDecimal
	formNullable // the value at inner, if the bool at has is true
)

// An access describes how a field, an element or a box's content is read. It is bound to a type once, and reads do not
// allocate.
type access struct {
	form   form
	size   uint8
	off    uint32        // offset of a field from the start of its type's fields
	typ    *objects.Type // of a struct or enum
	static *objects.Field
	has    uint32        // of a Nullable: offset of hasValue
	inner  *access       // of a Nullable: the value, with off counted from the Nullable
	within *objects.Type // the type, if the field may be a character of its text; only read where secrets are masked
	secret bool          // the field's name means a secret
	pair   *objects.Pair // the field is the value of a pair, which may be a secret by its key; nil for others
	err    error
}

var primitiveForms = map[metadata.ElementType]access{
	metadata.ElementBoolean: {form: formBool, size: 1}, metadata.ElementChar: {form: formChar, size: 2},
	metadata.ElementI1: {form: formSigned, size: 1}, metadata.ElementU1: {form: formUnsigned, size: 1},
	metadata.ElementI2: {form: formSigned, size: 2}, metadata.ElementU2: {form: formUnsigned, size: 2},
	metadata.ElementI4: {form: formSigned, size: 4}, metadata.ElementU4: {form: formUnsigned, size: 4},
	metadata.ElementI8: {form: formSigned, size: 8}, metadata.ElementU8: {form: formUnsigned, size: 8},
	metadata.ElementR4: {form: formFloat32, size: 4}, metadata.ElementR8: {form: formFloat64, size: 8},
	metadata.ElementPtr: {form: formAddress, size: 8}, metadata.ElementByRef: {form: formAddress, size: 8},
	metadata.ElementI: {form: formAddress, size: 8}, metadata.ElementU: {form: formAddress, size: 8},
	metadata.ElementFnPtr:  {form: formAddress, size: 8},
	metadata.ElementString: {form: formReference, size: 8}, metadata.ElementClass: {form: formReference, size: 8},
	metadata.ElementVar: {form: formReference, size: 8}, metadata.ElementMVar: {form: formReference, size: 8},
	metadata.ElementArray: {form: formReference, size: 8}, metadata.ElementSZArray: {form: formReference, size: 8},
	metadata.ElementObject: {form: formReference, size: 8},
}

// accessOf returns how a value of element type et is read. t is the type of a struct or enum.
func accessOf(et metadata.ElementType, t *objects.Type, err error) *access {
	a, ok := primitiveForms[et]
	switch {
	case ok:
		if a.form == formSigned || a.form == formUnsigned {
			if t != nil && t.IsEnum() {
				a.typ = t
			}
		}
		return &a
	case err != nil:
		return &access{err: err}
	case et != metadata.ElementValueType || t == nil:
		return &access{err: target.Unsupportedf("a value of element type %#x", uint8(et))}
	}
	return structAccess(t)
}

// structAccess returns how a value type is read. Decimals and Nullables have forms of their own.
func structAccess(t *objects.Type) *access {
	name, err := t.Name()
	if err != nil {
		return &access{form: formStruct, typ: t}
	}
	switch {
	case name == "System.Decimal":
		return &access{form: formDecimal, size: 16, typ: t}
	case strings.HasPrefix(name, "System.Nullable`1"):
		if a := nullableAccess(t); a != nil {
			return a
		}
	}
	return &access{form: formStruct, typ: t}
}

func nullableAccess(t *objects.Type) *access {
	has, err := t.InstanceField("hasValue")
	if err != nil {
		return nil
	}
	value, err := t.InstanceField("value")
	if err != nil {
		return nil
	}
	inner := fieldAccess(value)
	return &access{form: formNullable, typ: t, has: has.Offset, inner: inner}
}

func fieldAccess(f *objects.Field) *access {
	if f.Static {
		return &access{static: f, secret: secrets.Holds(f.Name)}
	}
	if err := f.Err(); err != nil && f.ElementType == metadata.ElementValueType {
		return &access{err: err}
	}
	var t *objects.Type
	var err error
	if f.ElementType == metadata.ElementValueType || isEnumField(f) {
		t, err = declaredType(f)
	}
	a := accessOf(f.ElementType, t, err)
	a.off, a.secret = f.Offset, secrets.Holds(f.Name)
	pairs := f.Declaring.Pairs()
	if i := slices.IndexFunc(pairs, func(p objects.Pair) bool { return p.Value.Offset == f.Offset }); i >= 0 {
		a.pair = &pairs[i]
	}
	if f.Declaring.IsString() && a.form == formChar || f.Declaring.MT.IsValueType() {
		a.within = f.Declaring
	}
	return a
}

// isEnumField reports whether the field is an enum: its signature differs from its element type.
func isEnumField(f *objects.Field) bool {
	sig := f.Signature()
	return sig != nil && sig.Kind != f.ElementType
}

// declaredType returns the type of a field, or nil if it is not loaded. It reads no memory: the field knows its type.
func declaredType(f *objects.Field) (*objects.Type, error) { return f.At(0).Type() }

// maxMembers is the maximum number of members that an error about a wrong name lists.
const maxMembers = 12

// errNoMember reports that a type has no member with a name.
var errNoMember = errors.New("no such member")

// An ambiguousError reports that a name may mean several fields.
type ambiguousError struct {
	name   string
	fields []string
}

func (e *ambiguousError) Error() string {
	return fmt.Sprintf("%s is ambiguous: the type has %s; write the field's name, between back-ticks if need be", e.name, strings.Join(e.fields, ", "))
}

// findField finds the field that a name means for a type. It takes the first of these that exists, in the type or its
// nearest base class: the name itself; the compiler's <name>…; a habit, that is _name, m_name, s_name, _Name or name.
// If several fields fit one of these, the error is an ambiguousError.
func findField(t *objects.Type, name string, static bool) (*objects.Field, error) {
	fields, err := t.Fields()
	if err != nil && len(fields) == 0 {
		return nil, err
	}
	steps := []func(string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return strings.HasPrefix(s, "<"+name+">") },
		func(s string) bool { return isHabit(s, name) },
	}
	for _, is := range steps {
		if f, err := oneField(fields, name, static, is); f != nil || err != nil {
			return f, err
		}
	}
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if f.Static == static && f.Name == "" && f.Err() != nil {
			return nil, f.Err() // it may be the field
		}
	}
	return nil, errNoMember
}

// oneField returns the only field with a name for which is returns true. If several types have it, the most derived is
// used.
func oneField(fields []*objects.Field, name string, static bool, is func(string) bool) (*objects.Field, error) {
	var found *objects.Field
	var names []string
	for _, f := range fields {
		if f.Static != static || !is(f.Name) {
			continue
		}
		if found == nil || found.Name != f.Name {
			names = append(names, f.Name)
		}
		found = f
	}
	if len(names) > 1 {
		return nil, &ambiguousError{name: name, fields: names}
	}
	return found, nil
}

// isHabit reports whether a field's name is a usual one for a property of that name.
func isHabit(field, name string) bool {
	first, n := utf8.DecodeRuneInString(name)
	lower := string(unicode.ToLower(first)) + name[n:]
	switch field {
	case "_" + lower, "m_" + lower, "s_" + lower, "_" + name, "m_" + name, "s_" + name, lower:
		return true
	}
	return false
}

// read reads a value at a.off from base, the start of its type's fields.
func (f *frame) read(a *access, base target.Addr, w *target.Window) Value {
	v := f.readAny(a, base, w)
	if f.e.mask != nil && (a.secret || a.pair != nil && a.pair.Announces(base)) {
		return f.secret(v)
	}
	return v
}

// readIn is read for a part of a value.
func (f *frame) readIn(of Value, a *access, base target.Addr) Value {
	return f.below(of, f.read(a, base, f.far))
}

// below returns a value that was read through another, which may be a secret.
func (f *frame) below(of, v Value) Value {
	if of.secret {
		return f.secret(v)
	}
	return v
}

// secretIf returns a value that may be announced as a secret.
func (f *frame) secretIf(announced bool, v Value) Value {
	if announced {
		return f.secret(v)
	}
	return v
}

// secret returns what stands for a value that something on its path announced as a secret. What is read through it is one, too.
func (f *frame) secret(v Value) Value {
	v = f.hide(v)
	v.secret = true
	return v
}

// hide returns what stands for the value of a name that means a secret: a mask for a text, an error for a number and for what holds one.
func (f *frame) hide(v Value) Value {
	switch v.kind {
	case KindText:
		return Text(secrets.Mask)
	case KindChar, KindFloat, KindDecimal:
		return Failed(answer.ErrHidden)
	case KindInt, KindUint:
		if v.bits != 0 && v.typ == nil && !v.hex {
			return Failed(answer.ErrHidden)
		}
	case KindObject, KindStruct:
		t, err := f.typeOf(v)
		if err != nil || t == nil {
			return v
		}
		switch o := (objects.Object{Addr: v.Addr(), Type: t}); {
		case v.kind == KindStruct && (objects.Struct{Addr: v.Addr(), Type: t}).MayBeSecret(), v.kind == KindObject && !t.IsString() && o.MayBeSecret():
			return Failed(answer.ErrHidden)
		case v.kind == KindObject && t.IsString() && o.MayBeSecret():
			return Text(secrets.Mask)
		}
	}
	return v
}

func (f *frame) readAny(a *access, base target.Addr, w *target.Window) Value {
	at := base + target.Addr(a.off)
	if f.e.mask != nil && a.within != nil {
		if err := f.checkUnit(a.within, base); err != nil {
			return Failed(err)
		}
	}
	switch a.form {
	case formStruct:
		return Value{kind: KindStruct, bits: uint64(at), typ: a.typ}
	case formNullable:
		b, err := w.Bytes(at+target.Addr(a.has), 1)
		if err != nil {
			return Failed(err)
		}
		if b[0] == 0 {
			return null
		}
		v := f.read(a.inner, at, w)
		if v.kind == KindStruct {
			v.note = noteNullable
		}
		return v
	case formUnknown:
		return f.readOther(a)
	}
	b, err := w.Bytes(at, int(a.size))
	if err != nil {
		return Failed(err)
	}
	return a.decode(b)
}

// readOther reads a static field, or returns an error.
func (f *frame) readOther(a *access) Value {
	if a.static == nil {
		return Failed(a.err)
	}
	if a.static.Thread {
		return f.threadStatic(a.static)
	}
	return f.fromValue(a.static.StaticValue().Value)
}

// decode returns the value with these bytes.
func (a *access) decode(b []byte) Value {
	switch a.form {
	case formBool:
		return Bool(b[0] != 0)
	case formChar:
		return Value{kind: KindChar, bits: uint64(binary.LittleEndian.Uint16(b))}
	case formSigned:
		return Value{kind: KindInt, bits: uint64(signed(b)), typ: a.typ}
	case formUnsigned:
		v := Uint(cursor.Uint(b))
		v.typ = a.typ
		return v
	case formFloat32:
		return single(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case formFloat64:
		return Float(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case formAddress:
		return Value{kind: KindUint, bits: binary.LittleEndian.Uint64(b), hex: true}
	case formReference:
		return Object(target.Addr(binary.LittleEndian.Uint64(b)))
	case formDecimal:
		return decimalOf(b)
	}
	return Failed(errNoValue)
}

func signed(b []byte) int64 {
	shift := 64 - 8*len(b)
	return int64(cursor.Uint(b)<<shift) >> shift
}

// fromValue converts a value of package objects.
func (f *frame) fromValue(v objects.Value) Value {
	if v.Err() != nil {
		return Failed(v.Err())
	}
	switch v.Kind() {
	case objects.KindStruct:
		s, err := v.Struct()
		if err != nil {
			return Failed(err)
		}
		return f.read(structAccess(s.Type), s.Addr, f.far)
	case objects.KindReference:
		a, err := v.Addr()
		if err != nil {
			return Failed(err)
		}
		return Object(a)
	}
	bits, err := v.Bits()
	if err != nil {
		return Failed(err)
	}
	a, ok := primitiveForms[v.ElementType()]
	if !ok {
		return Failed(target.Unsupportedf("a value of element type %#x", uint8(v.ElementType())))
	}
	if a.form == formSigned || a.form == formUnsigned {
		if t, err := v.Type(); err == nil && t != nil && t.IsEnum() {
			a.typ = t
		}
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	return a.decode(b[:a.size])
}

func (f *frame) typeOf(v Value) (*objects.Type, error) {
	if v.typ != nil {
		return v.typ, nil
	}
	mt, err := f.e.env.runtime.ObjectMethodTable(v.Addr())
	if err == nil && f.lastType != nil && f.lastType.MT.Addr == mt {
		return f.lastType, nil
	}
	o, err := f.e.env.objects.TrustedObject(v.Addr())
	if err != nil {
		return nil, err
	}
	f.lastType = o.Type
	return o.Type, nil
}

// object returns the object that a reference refers to.
func (f *frame) object(v Value) (objects.Object, error) {
	if v.typ != nil {
		return objects.Object{Addr: v.Addr(), Type: v.typ}, nil
	}
	return f.e.env.objects.TrustedObject(v.Addr())
}

func (f *frame) isString(v Value) bool {
	if v.kind != KindObject {
		return false
	}
	t, err := f.typeOf(v)
	return err == nil && t.IsString()
}

// plain returns the operand of operators for v: the content of a box, or v itself.
func (f *frame) plain(v Value) Value {
	if v.kind != KindObject {
		return v
	}
	t, err := f.typeOf(v)
	if err != nil {
		return Failed(err)
	}
	if !t.MT.IsValueType() {
		v.typ = t
		return v
	}
	return f.readBox(v, t)
}

func (f *frame) readBox(v Value, t *objects.Type) Value {
	return f.read(f.e.boxAccess(t), v.Addr()+dac.ObjectHeaderBytes, f.far)
}

// boxAccess returns how the content of a box is read.
func (e *engine) boxAccess(t *objects.Type) *access {
	if a, ok := e.boxes.Load(t); ok {
		return a.(*access)
	}
	et, err := t.ElementType()
	a := accessOf(et, t, err)
	if err != nil {
		a = &access{err: err}
	}
	kept, _ := e.boxes.LoadOrStore(t, a)
	return kept.(*access)
}

// fieldOf returns how a member of a type is read. If there is no such member, its err is errNoMember.
func (e *engine) fieldOf(t *objects.Type, name string) *access {
	key := memberKey{t, name}
	if a, ok := e.members.Load(key); ok {
		return a.(*access)
	}
	fd, err := findField(t, name, false)
	if err == errNoMember {
		fd, err = findField(t, name, true)
	}
	if err == nil && e.isCounted(t, name, fd) {
		err = errNoMember
	}
	a := &access{err: err}
	if err == nil {
		a = fieldAccess(fd)
	}
	kept, _ := e.members.LoadOrStore(key, a)
	return kept.(*access)
}

// isCounted reports whether a name is the element count of a known collection that has a similarly named field with
// another meaning: _count of a dictionary includes free entries.
func (e *engine) isCounted(t *objects.Type, name string, f *objects.Field) bool {
	return (name == "Count" || name == "Length") && f.Name != name && e.env.collections.Is(t)
}

type memberKey struct {
	t    *objects.Type
	name string
}

// registerValue returns a register by name. is reports whether the register exists.
func registerValue(r *target.Registers, name string) (v uint64, known, is bool) {
	switch name { // roles, on every processor
	case "ip", "pc":
		a, ok := r.IP()
		return uint64(a), ok, true
	case "sp":
		a, ok := r.SP()
		return uint64(a), ok, true
	case "fp":
		a, ok := r.FP()
		return uint64(a), ok, true
	}
	for n := target.Reg(0); n < 1<<6; n++ {
		if s := target.RegName(r.Arch, n); s != "" && strings.EqualFold(s, name) {
			v, known = r.Get(n)
			return v, known, true
		}
	}
	return 0, false, false
}

// pathText formats the first path, masked: the root, then the objects with the fields between them.
func pathText(p *answer.RootPaths, masked func(string) string) Value {
	if len(p.Paths) == 0 {
		if p.Verdict == answer.Garbage {
			return null
		}
		return Text("no path found (some roots or references can't be read)")
	}
	var b strings.Builder
	b.WriteString(p.Paths[0].Root.Name)
	for _, step := range p.Paths[0].Objects {
		b.WriteString(" -> ")
		if step.Edge != nil && step.Edge.Name.S != "" {
			b.WriteString(step.Edge.Name.S + " ")
		}
		b.WriteString(step.Type.String() + " " + step.Address.String())
	}
	return Text(masked(b.String()))
}
