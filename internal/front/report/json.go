package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// JSONSchema is the version of the envelope and of the results. It increases if a field changes its meaning or is
// removed, but not if one is added.
const JSONSchema = 2

// A Problem is a warning or an error in the envelope.
type Problem struct {
	Text   string `json:"text" doc:"what happened, in words"`
	Kind   string `json:"kind" doc:"\"not in dump\", \"corrupt\", \"unsupported\", \"host\", \"limit\", \"usage\", \"open\", \"canceled\", \"bug\" or \"other\""`
	Count  int    `json:"count,omitempty" doc:"how often, for a warning that came more than once"`
	Advice string `json:"advice,omitempty" doc:"what to do next"`
	Exit   int    `json:"exit,omitempty" doc:"the exit code, for an error"`
	Host   bool   `json:"host,omitempty" doc:"for an error: this machine failed (disk, rights, time), and not the dump"`
	Limit  bool   `json:"limit,omitempty" doc:"for an error: a limit was reached"`
}

// ErrJSONState is the error for results written out of order, such as a second result or a list written twice.
var ErrJSONState = errors.New("JSON result written out of order")

// jsonState is the encoder's position in the document.
type jsonState uint8

const (
	jsonEmpty  jsonState = iota // before the result
	jsonWhole                   // after a whole result
	jsonList                    // inside the list that is the result
	jsonObject                  // inside the object that is the result
	jsonField                   // inside a list that is a field of the result
)

// A JSONEncoder writes the JSON document of a command. The result is an answer (Answer), a value (Value), a list
// (Item with an empty name) or an object written field by field (Field, and Item for lists). Lists are streamed. A
// JSONEncoder must be used by one goroutine.
type JSONEncoder struct {
	w     io.Writer
	enc   jsonenc.Encoder
	state jsonState
	list  string
	done  map[string]bool
	items int
	fresh bool // the object has no field yet

	written int     // parts already written
	window  *Window // nil for all
	parts   map[string]*ListPart
	counted bool // the items have already been selected

	failed error // the failure of a list; the fields after it are written
}

// NewJSONEncoder starts the document of a command.
func NewJSONEncoder(w io.Writer, command string) *JSONEncoder {
	e := &JSONEncoder{w: w}
	e.enc.Emit = e.emit
	e.print(`{"command":`)
	e.value(command)
	e.print(`,"schema":`)
	e.enc.Buf = strconv.AppendInt(e.enc.Buf, JSONSchema, 10)
	return e
}

// EncodeJSON returns v as JSON, escaped for a terminal as in documents.
func EncodeJSON(v any) ([]byte, error) { return jsonenc.Marshal(v) }

// Answer writes an answer as the whole result: a struct field by field, its lists row by row. It calls warn with the
// reasons for missing rows. It returns the failure of a list after it has written the rest.
func (e *JSONEncoder) Answer(v any, warn func(error)) error {
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer && !rv.IsNil() {
		rv = rv.Elem()
	}
	if !rv.IsValid() || rv.Kind() == reflect.Pointer {
		return e.Value(v)
	}
	rv = addressable(rv)
	switch p := jsonenc.PlanOf(rv.Type()); {
	case p.IsIterator(), p.IsSlice():
		return cmp.Or(e.rows("", p, rv, warn), e.failed)
	case p.IsStruct():
		if err := e.startObject(); err != nil {
			return err
		}
		return cmp.Or(p.Each(rv, func(f *jsonenc.Field, v reflect.Value) error { return e.field(f, v, warn) }), e.enc.Err, e.failed)
	}
	return e.Value(v)
}

// addressable returns v, or a copy of it that has an address.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// A rowStreamer is a list that formats its rows with several workers.
type rowStreamer interface {
	// StreamJSON calls emit with encoded rows, in order, separated by a comma and a line feed. It never calls emit for
	// an empty list.
	StreamJSON(emit func(rows []byte) error) error
}

// field writes a field of an answer; lists are streamed.
func (e *JSONEncoder) field(f *jsonenc.Field, v reflect.Value, warn func(error)) error {
	list := v
	if list.Kind() == reflect.Pointer && !list.IsNil() {
		list = list.Elem()
	}
	if list.CanAddr() {
		if s, ok := list.Addr().Interface().(rowStreamer); ok {
			if err := e.List(f.Name); err != nil {
				return err
			}
			return e.ended(s.StreamJSON(func(rows []byte) error { return e.rawItems(f.Name, rows) }))
		}
	}
	if f.Plan.IsTable() {
		return e.rows(f.Name, f.Plan, v, warn)
	}
	if !e.enterField(f.Name) {
		return e.fail(f.Name)
	}
	e.reflect(v)
	return e.Flush()
}

// rows writes a slice or an iterator as the list name.
func (e *JSONEncoder) rows(name string, p *jsonenc.Plan, v reflect.Value, warn func(error)) error {
	if err := e.List(name); err != nil {
		return err
	}
	if p.IsSlice() {
		from, end := e.wantedOf(name, v.Len())
		e.counted = true
		defer func() { e.counted = false }()
		for i := from; i < end; i++ {
			if err := e.item(name, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	var failed error
	gaps := gapsOf(p.Elem().Type)
	p.Range(v, func(row reflect.Value, err error) bool {
		switch {
		case jsonenc.IsStop(err), jsonenc.Ends(err):
			failed = e.ended(err)
			return false
		case err != nil:
			warn(err)
			return true
		}
		if gaps != nil {
			warnAll(row, gaps, warn)
		}
		failed = e.item(name, row)
		return failed == nil
	})
	return failed
}

// ended keeps the failure of a list. It returns other errors.
func (e *JSONEncoder) ended(err error) error {
	if jsonenc.IsStop(err) || !jsonenc.Ends(err) {
		return err
	}
	e.failed = cmp.Or(e.failed, err)
	return nil
}

// startObject starts a result that is an object, possibly empty.
func (e *JSONEncoder) startObject() error {
	if e.state != jsonEmpty {
		return e.fail("result")
	}
	e.print(`,"result":{`)
	e.state, e.done, e.fresh = jsonObject, map[string]bool{}, true
	return e.enc.Err
}

// Value writes the whole result.
func (e *JSONEncoder) Value(v any) error {
	if e.state != jsonEmpty {
		return e.fail("result")
	}
	e.state = jsonWhole
	e.print(`,"result":`)
	e.value(v)
	return e.Flush()
}

// Field writes one field of a result that is an object.
func (e *JSONEncoder) Field(name string, v any) error {
	if !e.enterField(name) {
		return e.fail(name)
	}
	e.value(v)
	return e.Flush()
}

// List starts the list name of the result, or for an empty name the list that is the result. Item starts lists, too;
// List is for lists that may be empty.
func (e *JSONEncoder) List(name string) error {
	switch {
	case name == "" && e.state == jsonList, name != "" && e.state == jsonField && e.list == name:
		return e.enc.Err
	case name == "" && e.state == jsonEmpty:
		e.print(`,"result":[`)
		e.state, e.items = jsonList, 0
		e.startPart(name)
		return e.enc.Err
	case name == "" || !e.enterField(name):
		return e.fail(name)
	}
	e.print("[")
	e.state, e.list, e.items = jsonField, name, 0
	e.startPart(name)
	return e.enc.Err
}

// Item appends v to a list and starts the list first if needed.
func (e *JSONEncoder) Item(list string, v any) error {
	if err := e.List(list); err != nil {
		return err
	}
	if v == nil {
		return e.item(list, reflect.ValueOf(&v).Elem())
	}
	return e.item(list, reflect.ValueOf(v))
}

func (e *JSONEncoder) item(list string, v reflect.Value) error {
	if !e.wants(list) {
		return e.enc.Err
	}
	if e.items > 0 {
		e.print(",")
	}
	e.print("\n")
	e.items++
	e.reflect(v)
	return e.Flush()
}

func (e *JSONEncoder) rawItems(list string, rows []byte) error {
	if e.state != jsonField || e.list != list {
		return e.fail(list)
	}
	if rows = e.wanted(list, rows); len(rows) == 0 {
		return e.enc.Err
	}
	if e.items > 0 {
		e.print(",")
	}
	e.items++
	e.print("\n")
	if err := e.Flush(); err != nil {
		return err
	}
	_, e.enc.Err = e.w.Write(rows)
	return e.enc.Err
}

// Close ends the document with the warnings and the error, if any.
func (e *JSONEncoder) Close(warnings []Problem, failure *Problem) error {
	switch e.state {
	case jsonList:
		e.print("]")
	case jsonObject:
		e.print("}")
	case jsonField:
		e.print("]}")
	}
	if len(e.parts) > 0 {
		e.print(`,"lists":`)
		e.value(e.parts)
	}
	if len(warnings) > 0 {
		e.print(`,"warnings":`)
		e.value(warnings)
	}
	if failure != nil {
		e.print(`,"error":`)
		e.value(failure)
	}
	e.print("}\n")
	return e.Flush()
}

// enterField writes what stands between the last field and the value of the field name. It reports whether a field may.
func (e *JSONEncoder) enterField(name string) bool {
	if e.done[name] || name == "" || e.state == jsonWhole || e.state == jsonList {
		return false
	}
	switch e.state {
	case jsonEmpty:
		e.print(`,"result":{`)
		e.done = map[string]bool{}
	case jsonField:
		e.print(`],`)
	case jsonObject:
		if !e.fresh {
			e.print(",")
		}
	}
	e.fresh = false
	e.state, e.done[name] = jsonObject, true
	e.value(name)
	e.print(":")
	return true
}

func (e *JSONEncoder) fail(what string) error {
	if e.enc.Err == nil {
		e.enc.Err = fmt.Errorf("%w: %q", ErrJSONState, what)
	}
	return e.enc.Err
}

func (e *JSONEncoder) print(s string) { e.enc.Buf = append(e.enc.Buf, s...) }

// value appends v. A value that cannot be encoded becomes null, so that the document stays valid, and the encoder
// keeps the error.
func (e *JSONEncoder) value(v any) { e.reflect(reflect.ValueOf(&v).Elem()) }

// reflect appends v as value does.
func (e *JSONEncoder) reflect(v reflect.Value) {
	start, written, whole := len(e.enc.Buf), e.written, false
	defer func() {
		if !whole && e.written == written { // a panic
			e.enc.Buf = append(e.enc.Buf[:start], "null"...)
		}
	}()
	e.enc.Reflect(v)
	whole = true
}

// emit writes a part of a long value.
func (e *JSONEncoder) emit(b []byte) error {
	e.written++
	_, err := e.w.Write(b)
	return err
}

// Flush writes what has been encoded.
func (e *JSONEncoder) Flush() error {
	if len(e.enc.Buf) > 0 {
		_, err := e.w.Write(e.enc.Buf)
		e.enc.Buf = e.enc.Buf[:0]
		e.enc.Err = cmp.Or(e.enc.Err, err)
	}
	return e.enc.Err
}
