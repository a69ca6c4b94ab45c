package report

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// JSONSchema is the number of the envelope's and the results' form. It grows
// when a field changes its meaning or goes away, not when one is added.
const JSONSchema = 2

// A JSONAppender writes itself as one JSON value. Items of very long lists
// implement it to pass encoding/json by.
type JSONAppender interface {
	AppendJSON(b []byte) []byte
}

// A JSONStreamer writes itself as one JSON value in pieces of whole characters. Items
// of lists implement it that may be too large to be held.
type JSONStreamer interface {
	StreamValue(emit func(piece []byte) error) error
}

// A Problem is a warning or an error in the envelope.
type Problem struct {
	Text   string `json:"text" doc:"what happened, in words"`
	Kind   string `json:"kind" doc:"\"not in dump\", \"corrupt\", \"unsupported\", \"usage\", \"open\", \"canceled\", \"bug\" or \"other\""`
	Count  int    `json:"count,omitempty" doc:"how often, for a warning that came more than once"`
	Advice string `json:"advice,omitempty" doc:"what to do next, for an error"`
	Exit   int    `json:"exit,omitempty" doc:"the exit code, for an error"`
}

// ErrJSONState is the error for results written in an order that can't be
// JSON, such as a second whole result or a list that was left and comes again.
var ErrJSONState = errors.New("JSON result written out of order")

// jsonState is where in the document the encoder stands.
type jsonState uint8

const (
	jsonEmpty  jsonState = iota // no result yet
	jsonWhole                   // a whole result is written
	jsonList                    // inside the list that is the result
	jsonObject                  // inside the object that is the result
	jsonField                   // inside a list that is a field of the result
)

// A JSONEncoder writes the one JSON document of a command. The result is a
// value (Value), a list (Item with an empty name) or an object that is written
// field by field (Field, and Item for fields that are lists). Lists go out as
// they come and are never held. It is for one goroutine.
type JSONEncoder struct {
	w     io.Writer
	buf   []byte
	state jsonState
	list  string
	done  map[string]bool
	items int
	fresh bool // an object without a field so far
	err   error

	window  *Window // nil: all
	parts   map[string]*ListPart
	counted bool // the items that come are chosen already
}

// NewJSONEncoder starts the document of a command.
func NewJSONEncoder(w io.Writer, command string) *JSONEncoder {
	e := &JSONEncoder{w: w}
	e.buf = append(e.buf, `{"command":`...)
	e.value(command)
	e.buf = append(e.buf, `,"schema":`...)
	e.buf = strconv.AppendInt(e.buf, JSONSchema, 10)
	return e
}

// Value writes the whole result.
func (e *JSONEncoder) Value(v any) error {
	if e.state != jsonEmpty {
		return e.fail("result")
	}
	e.state = jsonWhole
	e.buf = append(e.buf, `,"result":`...)
	e.value(v)
	return e.flush()
}

// Field writes one field of a result that is an object.
func (e *JSONEncoder) Field(name string, v any) error {
	if !e.enterField(name) {
		return e.fail(name)
	}
	e.value(v)
	return e.flush()
}

// List starts the list name of the result, or the list that is the result
// when name is empty. Item does it too; List is for lists that may stay empty.
func (e *JSONEncoder) List(name string) error {
	switch {
	case name == "" && e.state == jsonList, name != "" && e.state == jsonField && e.list == name:
		return e.err
	case name == "" && e.state == jsonEmpty:
		e.buf = append(e.buf, `,"result":[`...)
		e.state, e.items = jsonList, 0
		e.startPart(name)
		return e.err
	case name == "" || !e.enterField(name):
		return e.fail(name)
	}
	e.buf = append(e.buf, '[')
	e.state, e.list, e.items = jsonField, name, 0
	e.startPart(name)
	return e.err
}

// Item appends v to a list and starts the list first if needed.
func (e *JSONEncoder) Item(list string, v any) error {
	if err := e.List(list); err != nil {
		return err
	}
	if !e.wants(list) {
		return e.err
	}
	if e.items > 0 {
		e.buf = append(e.buf, ',')
	}
	e.buf = append(e.buf, '\n')
	e.items++
	if s, ok := v.(JSONStreamer); ok {
		return s.StreamValue(e.piece)
	}
	e.value(v)
	return e.flush()
}

// piece writes a piece of a value.
func (e *JSONEncoder) piece(b []byte) error {
	from := len(e.buf)
	e.buf = append(e.buf, b...)
	e.escapeFrom(from)
	return e.flush()
}

// Close ends the document with the warnings and the error, if any.
func (e *JSONEncoder) Close(warnings []Problem, failure *Problem) error {
	switch e.state {
	case jsonList:
		e.buf = append(e.buf, ']')
	case jsonObject:
		e.buf = append(e.buf, '}')
	case jsonField:
		e.buf = append(e.buf, `]}`...)
	}
	if len(e.parts) > 0 {
		e.buf = append(e.buf, `,"lists":`...)
		e.value(e.parts)
	}
	if len(warnings) > 0 {
		e.buf = append(e.buf, `,"warnings":`...)
		e.value(warnings)
	}
	if failure != nil {
		e.buf = append(e.buf, `,"error":`...)
		e.value(failure)
	}
	e.buf = append(e.buf, "}\n"...)
	return e.flush()
}

// enterField writes what stands between the last field and the value of the
// field name; it reports false where a field can't come.
func (e *JSONEncoder) enterField(name string) bool {
	if e.done[name] || name == "" || e.state == jsonWhole || e.state == jsonList {
		return false
	}
	switch e.state {
	case jsonEmpty:
		e.buf = append(e.buf, `,"result":{`...)
		e.done = map[string]bool{}
	case jsonField:
		e.buf = append(e.buf, `],`...)
	case jsonObject:
		if !e.fresh {
			e.buf = append(e.buf, ',')
		}
	}
	e.fresh = false
	e.state, e.done[name] = jsonObject, true
	e.value(name)
	e.buf = append(e.buf, ':')
	return true
}

func (e *JSONEncoder) fail(what string) error {
	if e.err == nil {
		e.err = fmt.Errorf("%w: %q", ErrJSONState, what)
	}
	return e.err
}

// value appends v. A value that can't be encoded becomes null, so that the
// document stays whole, and is the encoder's error.
func (e *JSONEncoder) value(v any) {
	start, whole := len(e.buf), false
	defer func() {
		if !whole { // by a panic: the document has to stay one
			e.buf = append(e.buf[:start], "null"...)
		}
	}()
	e.encode(v)
	whole = true
}

func (e *JSONEncoder) encode(v any) {
	if a, ok := v.(JSONAppender); ok {
		from := len(e.buf)
		e.buf = a.AppendJSON(e.buf)
		e.escapeFrom(from)
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		if e.err == nil {
			e.err = err
		}
		e.buf = append(e.buf, "null"...)
		return
	}
	from := len(e.buf)
	e.buf = append(e.buf, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	e.escapeFrom(from)
}

// escapeFrom escapes the characters that JSON allows and terminals act on.
// They can only stand inside strings, where \u means the same.
func (e *JSONEncoder) escapeFrom(from int) {
	i := from
	for i < len(e.buf) {
		if i+8 <= len(e.buf) {
			if w := binary.LittleEndian.Uint64(e.buf[i:]); (w|(w+0x0101010101010101))&0x8080808080808080 == 0 { // eight bytes below 0x7f
				i += 8
				continue
			}
		}
		if c := e.buf[i]; c < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(e.buf[i:])
		if r == 0x7f || unsafeRune(r) {
			break
		}
		i += n
	}
	if i == len(e.buf) {
		return
	}
	tail := string(e.buf[i:])
	e.buf = e.buf[:i]
	for _, r := range tail {
		if r == 0x7f || unsafeRune(r) {
			e.buf = appendJSONEscape(e.buf, r)
			continue
		}
		e.buf = utf8.AppendRune(e.buf, r)
	}
}

func (e *JSONEncoder) flush() error {
	if len(e.buf) > 0 {
		_, err := e.w.Write(e.buf)
		e.buf = e.buf[:0]
		if e.err == nil {
			e.err = err
		}
	}
	return e.err
}

// AppendJSONString appends s as a JSON string, for JSONAppenders.
func AppendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ' || r == 0x7f || unsafeRune(r):
			b = appendJSONEscape(b, r)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return append(b, '"')
}

// EncodeJSON is v as JSON that can be shown on a terminal, as documents are.
func EncodeJSON(v any) ([]byte, error) {
	var e JSONEncoder
	e.encode(v)
	return e.buf, e.err
}
