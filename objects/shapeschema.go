package objects

import (
	"reflect"
	"strings"

	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/target"
)

// A schema is the parsed tags of a Go struct.
type schema struct {
	typ     reflect.Type
	names   []string // of definitions; empty for every type
	derived bool     // search the fields of derived types too
	slots   []slot
	choices []choice
	err     error // what is wrong with the tags
}

// A slot is a field of a shape.
type slot struct {
	index    []int
	kind     reflect.Type
	static   bool
	names    [][]string // alternatives, each a path
	optional bool
	text     string // the tag, for messages
}

// A choice is one of several shapes. The first that fits is used.
type choice struct {
	index int
	s     *schema
}

// schemaOf parses the tags of the struct that t points to.
func schemaOf(t reflect.Type) *schema {
	if t.Kind() != reflect.Pointer {
		return &schema{typ: t, err: target.Unsupportedf("%v is not a pointer to a shape", t)}
	}
	return newSchema(t.Elem())
}

// newSchema parses the tags of a struct.
func newSchema(t reflect.Type) *schema {
	s := &schema{typ: t}
	if t.Kind() != reflect.Struct {
		s.err = target.Unsupportedf("shape %v is not a struct", t)
		return s
	}
	s.addFields(t, nil)
	if s.err == nil && len(s.choices) > 0 && len(s.slots) > 0 {
		s.err = target.Unsupportedf("shape %v has both fields and choices", t)
	}
	return s
}

// addFields parses the fields of t, a shape or a struct embedded in it at index.
func (s *schema) addFields(t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int(nil), index...), i)
		switch {
		case f.Type == reflect.TypeFor[Shape]():
			if len(index) == 0 || len(s.names) == 0 {
				s.names, s.derived = definitions(f.Tag.Get("of")), f.Tag.Get("fields") == "derived"
			}
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			s.addFields(f.Type, at)
		case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct && len(index) == 0 && f.IsExported():
			part := newSchema(f.Type.Elem())
			if part.err != nil {
				s.err = part.err
			}
			s.choices = append(s.choices, choice{i, part})
		default:
			s.addSlot(f, at)
		}
	}
}

// addSlot parses a field that a managed field is bound to.
func (s *schema) addSlot(f reflect.StructField, at []int) {
	sl := slot{index: at, kind: f.Type}
	sl.static = f.Type == reflect.TypeFor[StaticField]() || f.Type == reflect.TypeFor[ThreadStaticField]()
	key := "field"
	switch f.Type {
	case reflect.TypeFor[StaticField]():
		key = "static"
	case reflect.TypeFor[ThreadStaticField]():
		key = "threadstatic"
	case reflect.TypeFor[RefField](), reflect.TypeFor[IntField](), reflect.TypeFor[StructField](), reflect.TypeFor[ValueField]():
	default:
		s.err = target.Unsupportedf("field %s of shape %v is of an unknown kind", f.Name, s.typ)
		return
	}
	tag := f.Tag.Get(key)
	if tag == "" || !f.IsExported() {
		s.err = target.Unsupportedf("field %s of shape %v is not exported or has no tag %s", f.Name, s.typ, key)
		return
	}
	tag, sl.optional = strings.CutSuffix(tag, ",optional")
	sl.text = tag
	for name := range strings.SplitSeq(tag, "|") {
		sl.names = append(sl.names, compilernames.Path(name))
	}
	s.slots = append(s.slots, sl)
}

// definitions returns the metadata names for the names in a tag: Dictionary`2 for Dictionary<,>.
func definitions(tag string) []string {
	var out []string
	for name := range strings.SplitSeq(tag, "|") {
		if name != "" {
			out = append(out, compilernames.Definition(name))
		}
	}
	return out
}
