package jsonenc

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// An Appender appends itself as one JSON value. It must use AppendString for text.
type Appender interface {
	AppendJSON(b []byte) []byte
}

// A Valuer is encoded as the value that JSONValue returns.
type Valuer interface {
	JSONValue() any
}

// A TextStreamer is a string that may be too long for memory.
type TextStreamer interface {
	// StreamText calls emit with pieces of the text. A piece holds whole characters.
	StreamText(emit func(part string) error) error
}

// A Typed value declares, for documents and schemas, the type of what its Appender or Valuer writes.
type Typed interface {
	// JSONType returns a pointer to a value of the type.
	JSONType() any
}

type isZeroer interface{ IsZero() bool }

// A Kind is the kind of a type in JSON.
type Kind uint8

// The kinds of types.
const (
	Any     Kind = iota // depends on the value
	Object              // a struct, described by Fields
	Map                 // an object with arbitrary names; Elem describes its values
	List                // a slice, an array, or an iterator; Elem describes its items
	String              // text
	Address             // a number in hexadecimal, as a string
	Integer
	Number
	Boolean
)

// code selects how a value is written.
type code uint8

const (
	codeUnsupported code = iota
	codeAppender
	codeValuer
	codeText
	codeMarshalText
	codeMarshalJSON
	codeHex
	codeUint
	codeInt
	codeFloat
	codeBool
	codeString
	codeNumber // a json.Number
	codeBytes
	codeInterface
	codePointer
	codeSlice
	codeArray
	codeIterator
	codeMap
	codeStruct
	codeAbsent // a struct of a value and a field that says whether it is missing
)

// A Plan describes how to encode the values of a type.
type Plan struct {
	Type reflect.Type
	code code

	elem   *Plan // of a pointer, list or map; for codeAbsent of the value
	fields []Field
	value  []int // codeAbsent: index of the value
	state  []int // codeAbsent: index of the field that says whether the value is missing
	known  bool  // codeAbsent: that field is not zero if there is a value
}

// A Field is one field of an object.
type Field struct {
	Name     string // in JSON
	Doc      string // from the tag doc
	Text     string // from the tag text: its label in text, "=" for none, "-" if text leaves it out
	Plan     *Plan
	Optional bool // the field is omitted for some values

	omit   omission
	code   code   // the plan's code; 0 for a field of the enclosing type, which is being compiled
	prefix string // ,"name": and for an address the start of its text
	index  []int
	direct bool // the field is not in an embedded struct; first is its index
	first  int
	depth  int
}

// omission selects when a field is omitted.
type omission uint8

const (
	omitNever omission = iota
	omitNumber
	omitLength
	omitNil
	omitZero
	omitIsZero
)

var (
	plans     sync.Map // reflect.Type to *Plan
	compiling sync.Mutex
)

// PlanOf returns the plan of a type. It compiles each type once. It is safe for concurrent use.
func PlanOf(t reflect.Type) *Plan {
	if p, ok := plans.Load(t); ok {
		return p.(*Plan)
	}
	compiling.Lock()
	defer compiling.Unlock()
	c := compiler{}
	p := c.plan(t)
	for t, p := range c {
		plans.Store(t, p)
	}
	return p
}

// A compiler holds incomplete plans, because types may contain themselves.
type compiler map[reflect.Type]*Plan

func (c compiler) plan(t reflect.Type) *Plan {
	if p, ok := plans.Load(t); ok {
		return p.(*Plan)
	}
	if p := c[t]; p != nil {
		return p
	}
	p := &Plan{Type: t}
	c[t] = p
	c.compile(p)
	return p
}

func (c compiler) compile(p *Plan) {
	if c.byMethod(p) {
		return
	}
	t := p.Type
	switch t.Kind() {
	case reflect.Bool:
		p.code = codeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.code = codeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.code = codeUint
	case reflect.Float32, reflect.Float64:
		p.code = codeFloat
	case reflect.String:
		if p.code = codeString; t == reflect.TypeFor[json.Number]() {
			p.code = codeNumber
		}
	case reflect.Interface:
		p.code = codeInterface
	case reflect.Pointer:
		p.code, p.elem = codePointer, c.plan(t.Elem())
	case reflect.Slice:
		p.code, p.elem = codeSlice, c.plan(t.Elem())
		if p.elem.code == codeUint && t.Elem().Kind() == reflect.Uint8 {
			p.code = codeBytes
		}
	case reflect.Array:
		p.code, p.elem = codeArray, c.plan(t.Elem())
	case reflect.Map:
		p.code, p.elem = codeMap, c.plan(t.Elem())
		if t.Key().Kind() != reflect.String {
			p.code = codeUnsupported
		}
	case reflect.Func:
		if isIterator(t) {
			p.code, p.elem = codeIterator, c.plan(t.In(0).In(0))
		}
	case reflect.Struct:
		c.compileStruct(p)
	}
}

// isIterator reports whether t is an iter.Seq2[T, error].
func isIterator(t reflect.Type) bool {
	return t.Kind() == reflect.Func && t.CanSeq2() && t.In(0).In(1) == reflect.TypeFor[error]()
}

// byMethod sets the plan of a type that encodes itself with a method. It reports false for other
// types.
func (c compiler) byMethod(p *Plan) bool {
	t := p.Type
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(reflect.TypeFor[Appender]()):
		p.code = codeAppender
	case pointer.Implements(reflect.TypeFor[Valuer]()):
		p.code = codeValuer
	case pointer.Implements(reflect.TypeFor[TextStreamer]()):
		p.code = codeText
		return true
	case hasAbsent(t):
		return false
	case pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		p.code = codeMarshalText
		if isHex(t) {
			p.code = codeHex
		}
		return true
	case pointer.Implements(reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }]()) && !hasFields(t):
		p.code = codeMarshalJSON
		return true
	default:
		return false
	}
	if pointer.Implements(reflect.TypeFor[Typed]()) {
		p.elem = c.plan(reflect.TypeOf(reflect.New(t).Interface().(Typed).JSONType()).Elem())
	}
	return true
}

// isHex reports whether MarshalText of an unsigned type returns the number in hexadecimal.
func isHex(t reflect.Type) bool {
	if t.Kind() != reflect.Uint64 && t.Kind() != reflect.Uint32 {
		return false
	}
	v := reflect.New(t)
	v.Elem().SetUint(0x2a)
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	return err == nil && string(text) == "0x2a"
}

// hasFields reports whether a struct has fields with a JSON name. Such a type is encoded by its
// fields; its methods are for encoding/json.
func hasFields(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if tag := f.Tag.Get("json"); f.IsExported() && tag != "-" || f.Anonymous {
			return true
		}
	}
	return false
}

func hasAbsent(t reflect.Type) bool {
	value, _, _ := absentFields(t)
	return value != nil
}

// absentFields returns the indexes of the field tagged jsonenc:"value" and of the one that says whether there is a value:
// an error tagged jsonenc:"absent", which is then nil, or a bool tagged jsonenc:"known". They may be in an embedded struct.
func absentFields(t reflect.Type) (value, state []int, known bool) {
	if t.Kind() != reflect.Struct {
		return nil, nil, false
	}
	for f := range t.Fields() {
		switch f.Tag.Get("jsonenc") {
		case "value":
			value = f.Index
		case "absent":
			state = f.Index
		case "known":
			state, known = f.Index, true
		}
		if f.Anonymous && t.NumField() == 1 {
			if v, s, k := absentFields(f.Type); v != nil {
				return append([]int{0}, v...), append([]int{0}, s...), k
			}
		}
	}
	return value, state, known
}

func (c compiler) compileStruct(p *Plan) {
	if p.value, p.state, p.known = absentFields(p.Type); p.value != nil {
		p.code, p.elem = codeAbsent, c.plan(p.Type.FieldByIndex(p.value).Type)
		return
	}
	p.code = codeStruct
	c.collect(p, p.Type)
}

// collect adds the fields of a struct, with the fields of structs that are embedded, or have the option inline of
// encoding/json/v2, in their place. Of two
// fields with one name, the less nested one wins; if both are equally nested, both are dropped.
func (c compiler) collect(p *Plan, t reflect.Type) {
	found := c.flatten(nil, t, nil, false, map[reflect.Type]bool{})
	for i := range found {
		f := &found[i]
		wins := true
		for k := range found {
			wins = wins && (k == i || found[k].Name != f.Name || found[k].depth > f.depth)
		}
		if wins {
			p.fields = append(p.fields, *f)
		}
	}
}

// flatten appends the fields of t, which is at index in the outer struct. A pointer on the way to
// it makes them optional. around holds the types that enclose t.
func (c compiler) flatten(out []Field, t reflect.Type, index []int, optional bool, around map[reflect.Type]bool) []Field {
	if around[t] {
		return out
	}
	around[t] = true
	defer delete(around, t)
	for sf := range t.Fields() {
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		at := append(append([]int(nil), index...), sf.Index...)
		if name == "" && (sf.Anonymous || hasOption(options, "inline")) {
			inner, pointed := sf.Type, sf.Type.Kind() == reflect.Pointer
			if pointed {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				out = c.flatten(out, inner, at, optional || pointed, around)
				continue
			}
		}
		if !sf.IsExported() {
			continue
		}
		name = cmp.Or(name, sf.Name)
		f := Field{Name: name, Doc: sf.Tag.Get("doc"), Text: sf.Tag.Get("text"), Plan: c.plan(sf.Type), index: at, depth: len(at)}
		f.prefix = string(append(AppendString([]byte{','}, name), ':'))
		f.code, f.direct, f.first = f.Plan.code, len(at) == 1, at[0]
		if f.code == codeHex {
			f.prefix += `"0x`
		}
		f.omit = omissionOf(sf.Type, options)
		f.Optional = f.omit != omitNever || optional
		out = append(out, f)
	}
	return out
}

func hasOption(options, option string) bool {
	return slices.Contains(strings.Split(options, ","), option)
}

// omissionOf returns the rule in a field's tag, with the meaning of encoding/json.
func omissionOf(t reflect.Type, options string) omission {
	for o := range strings.SplitSeq(options, ",") {
		switch o {
		case "omitempty":
			switch t.Kind() {
			case reflect.String, reflect.Slice, reflect.Map, reflect.Array:
				return omitLength
			case reflect.Struct:
				return omitNever
			case reflect.Pointer, reflect.Interface, reflect.Func:
				return omitNil
			}
			return omitNumber
		case "omitzero":
			if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[isZeroer]()) {
				return omitIsZero
			}
			return omitZero
		}
	}
	return omitNever
}

// IsIterator reports whether the type is an iter.Seq2[T, error].
func (p *Plan) IsIterator() bool { return p.code == codeIterator }

// IsSlice reports whether the type is a slice that is a list in JSON.
func (p *Plan) IsSlice() bool { return p.code == codeSlice }

// IsStruct reports whether the type is a struct. Each lists its fields.
func (p *Plan) IsStruct() bool { return p.code == codeStruct }

// Kind returns the kind of the type's values in JSON.
func (p *Plan) Kind() Kind {
	switch p.code {
	case codePointer, codeAbsent:
		return p.elem.Kind()
	case codeAppender, codeValuer:
		if p.elem != nil {
			return p.elem.Kind()
		}
		return Any
	case codeText, codeString, codeBytes, codeMarshalText, codeMarshalJSON:
		return String
	case codeHex:
		return Address
	case codeUint, codeInt:
		return Integer
	case codeFloat:
		return Number
	case codeBool:
		return Boolean
	case codeSlice, codeArray, codeIterator:
		return List
	case codeMap:
		return Map
	case codeStruct:
		return Object
	}
	return Any
}

// Core returns the plan for the form of the values: p without pointers, absence and methods.
func (p *Plan) Core() *Plan {
	for {
		switch p.code {
		case codePointer, codeAbsent:
		case codeAppender, codeValuer:
			if p.elem == nil {
				return p
			}
		default:
			return p
		}
		p = p.elem
	}
}

// Elem returns the plan of the items of a list or of the values of a map.
func (p *Plan) Elem() *Plan { return p.Core().elem }

// Fields returns the fields of an object, in their order.
func (p *Plan) Fields() []Field { return p.Core().fields }

// Nullable reports whether a value that is not omitted may be null.
func (p *Plan) Nullable() bool {
	switch p.code {
	case codeAbsent, codePointer, codeSlice, codeMap, codeInterface:
		return true
	}
	return p.Kind() == Any
}

// IsTable reports whether documents put each item of the list on a line: it is an iterator, or its
// items are objects.
func (p *Plan) IsTable() bool {
	switch p.code {
	case codeIterator:
		return true
	case codeSlice:
		item := p.elem
		for item.code == codePointer {
			item = item.elem
		}
		k := item.Type.Kind()
		return (k == reflect.Struct || k == reflect.Interface) && !item.Type.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	}
	return false
}
