package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A RowStreamer is a long list that formats its rows by several workers: JSON
// of a heap has millions of them.
type RowStreamer interface {
	// StreamJSON calls emit with pieces of JSON in the order of the rows: rows
	// separated by "," and a line feed. An empty list calls it never.
	StreamJSON(emit func(rows []byte) error) error
}

// A TextStreamer is a string that may be too long to be held.
type TextStreamer interface {
	// StreamText calls emit with pieces of the text that hold whole characters.
	StreamText(emit func(part string) error) error
}

// Answer writes an answer as the whole result: a struct field by field, its
// lists row by row. warn is told of rows that are missing.
func (e *JSONEncoder) Answer(v any, warn func(error)) error {
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer && !rv.IsNil() {
		rv = rv.Elem()
	}
	switch {
	case isRows(rv.Type()) || rv.Kind() == reflect.Slice && !isText(rv.Type()):
		return e.rows("", rv, warn)
	case rv.Kind() != reflect.Struct || isMarshaler(rv.Type()):
		return e.Value(v)
	}
	if err := e.startObject(); err != nil {
		return err
	}
	return e.fields(rv, warn)
}

// startObject makes the result an object, which may stay empty.
func (e *JSONEncoder) startObject() error {
	if e.state != jsonEmpty {
		return e.fail("result")
	}
	e.buf = append(e.buf, `,"result":{`...)
	e.state, e.done, e.fresh = jsonObject, map[string]bool{}, true
	return e.err
}

func (e *JSONEncoder) fields(rv reflect.Value, warn func(error)) error {
	t := rv.Type()
	for i := range t.NumField() {
		f, v := t.Field(i), rv.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			if v.Kind() == reflect.Pointer && v.IsNil() {
				continue
			}
			if err := e.fields(reflect.Indirect(v), warn); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() || isOmitted(v, options) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if err := e.field(name, v, warn); err != nil {
			return err
		}
	}
	return e.err
}

func (e *JSONEncoder) field(name string, v reflect.Value, warn func(error)) error {
	if s, ok := v.Interface().(RowStreamer); ok {
		if err := e.List(name); err != nil {
			return err
		}
		return s.StreamJSON(func(rows []byte) error { return e.rawItems(name, rows) })
	}
	if s, ok := v.Interface().(TextStreamer); ok {
		return e.stream(name, s)
	}
	if isRows(v.Type()) || isTable(v.Type()) {
		return e.rows(name, v, warn)
	}
	return e.Field(name, v.Interface())
}

// stream writes a string piece by piece. An error ends the string.
func (e *JSONEncoder) stream(name string, s TextStreamer) error {
	if !e.enterField(name) {
		return e.fail(name)
	}
	e.buf = append(e.buf, '"')
	err := s.StreamText(func(part string) error {
		quoted := len(e.buf)
		e.buf = AppendJSONString(e.buf, part)
		e.buf = slices.Delete(e.buf[:len(e.buf)-1], quoted, quoted+1)
		return e.flush()
	})
	e.buf = append(e.buf, '"')
	return cmp.Or(err, e.flush())
}

// rows writes a slice or an iterator with errors as the list name.
func (e *JSONEncoder) rows(name string, v reflect.Value, warn func(error)) error {
	if err := e.List(name); err != nil {
		return err
	}
	if v.Kind() == reflect.Slice {
		from, end := e.wantedOf(name, v.Len())
		e.counted = true
		defer func() { e.counted = false }()
		for i := from; i < end; i++ {
			if err := e.Item(name, v.Index(i).Interface()); err != nil {
				return err
			}
		}
		return nil
	}
	if v.IsNil() {
		return nil
	}
	for row, problem := range v.Seq2() {
		err, _ := problem.Interface().(error)
		switch {
		case isStop(err):
			return err
		case err != nil:
			warn(err)
			continue
		}
		if n, ok := row.Interface().(noter); ok {
			warnAll(n, warn)
		}
		if err := e.Item(name, row.Interface()); err != nil {
			return err
		}
	}
	return nil
}

// rawItems appends rows that are JSON already to a list that was started.
func (e *JSONEncoder) rawItems(list string, rows []byte) error {
	if e.state != jsonField || e.list != list {
		return e.fail(list)
	}
	if rows = e.wanted(list, rows); len(rows) == 0 {
		return e.err
	}
	if e.items > 0 {
		e.buf = append(e.buf, ',')
	}
	e.items++
	e.buf = append(e.buf, '\n')
	from := len(e.buf)
	e.buf = append(e.buf, rows...)
	e.escapeFrom(from)
	return e.flush()
}

// isOmitted says whether encoding/json would leave the field out.
func isOmitted(v reflect.Value, options string) bool {
	for o := range strings.SplitSeq(options, ",") {
		switch o {
		case "omitempty":
			switch v.Kind() {
			case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
				if v.Len() == 0 {
					return true
				}
			case reflect.Struct:
			default:
				if v.IsZero() {
					return true
				}
			}
		case "omitzero":
			if z, ok := v.Interface().(interface{ IsZero() bool }); ok {
				return z.IsZero()
			}
			return v.IsZero()
		}
	}
	return false
}

// isRows reports whether t is an iter.Seq2[T, error].
func isRows(t reflect.Type) bool {
	return t.Kind() == reflect.Func && t.CanSeq2() && t.In(0).In(1) == reflect.TypeFor[error]()
}

// isTable reports whether t is a slice whose items are objects: they stand on a
// line each. Lists of numbers or words stand on one.
func isTable(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || isText(t) {
		return false
	}
	item := t.Elem()
	for item.Kind() == reflect.Pointer {
		item = item.Elem()
	}
	return (item.Kind() == reflect.Struct || item.Kind() == reflect.Interface) && !isText(item)
}

func isMarshaler(t reflect.Type) bool {
	type marshaler interface{ MarshalJSON() ([]byte, error) }
	m := reflect.TypeFor[marshaler]()
	return isText(t) || t.Implements(m) || reflect.PointerTo(t).Implements(m)
}

// CheckResult reports whether v is what a command documents as its result. Nil
// documents a command that has only text.
func CheckResult(v any, result reflect.Type) error {
	if got := pointed(reflect.TypeOf(v)); result == nil || got != pointed(result) {
		return fmt.Errorf("the answer is a %v, and documented as a %v", got, result)
	}
	return nil
}

func pointed(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
