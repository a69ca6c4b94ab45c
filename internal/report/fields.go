package report

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// Result describes a result that is a T, so that the field lists of docs/json.md
// are made from the types that are encoded.
func Result[T any]() reflect.Type { return reflect.TypeFor[T]() }

// A FieldDoc is one row of a result's field list.
type FieldDoc struct {
	Path string // "objects[].address"
	Type string // "address", "integer", "string", "boolean", "number", "object", "any"
	Doc  string // from the struct tag doc
}

// fieldDepth bounds the nesting that a field list follows.
const fieldDepth = 8

// Fields lists the fields of a result in the order of the type. Names come from
// the json tag, texts from the doc tag.
func Fields(result reflect.Type) []FieldDoc {
	return appendFields(nil, "", result, "", false, 0)
}

func appendFields(out []FieldDoc, path string, t reflect.Type, doc string, list bool, depth int) []FieldDoc {
	t, list = elementType(t, list)
	if list {
		path += "[]"
	}
	if path != "" {
		out = append(out, FieldDoc{path, typeWord(t), doc})
	}
	if t.Kind() != reflect.Struct || isText(t) || depth == fieldDepth {
		return out
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "": // encoding/json takes its fields even if the type is unexported
			out = appendEmbedded(out, path, f.Type, depth)
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		out = appendFields(out, join(path, name), f.Type, f.Tag.Get("doc"), false, depth+1)
	}
	return out
}

// elementType takes pointers and lists off t, and what marks a value that may be
// missing.
func elementType(t reflect.Type, list bool) (reflect.Type, bool) {
	type typed interface{ JSONType() reflect.Type }
	for {
		switch {
		case t.Kind() == reflect.Pointer:
			t = t.Elem()
		case isRows(t):
			t, list = t.In(0).In(0), true
		case t.Implements(reflect.TypeFor[typed]()):
			t = reflect.Zero(t).Interface().(typed).JSONType()
		case isList(t):
			t, list = t.Elem(), true
		default:
			return t, list
		}
	}
}

// appendEmbedded lists the fields of an embedded struct as its owner's.
func appendEmbedded(out []FieldDoc, path string, t reflect.Type, depth int) []FieldDoc {
	from := len(out)
	out = appendFields(out, path, t, "", false, depth+1)
	if path != "" && len(out) > from {
		out = append(out[:from], out[from+1:]...)
	}
	return out
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func isList(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && !isText(t)
}

// isText reports whether encoding/json has t as a string.
func isText(t reflect.Type) bool {
	type textMarshaler interface{ MarshalText() ([]byte, error) }
	return t.Implements(reflect.TypeFor[textMarshaler]())
}

func typeWord(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[target.Addr](), t == reflect.TypeFor[answer.Hex]():
		return "address"
	case isText(t) || t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr:
		return "integer"
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.Interface:
		return "any"
	}
	return "object"
}

// WriteFields writes the field list of a result as a Markdown table.
func WriteFields(w io.Writer, result reflect.Type) error {
	if _, err := io.WriteString(w, "| field | type | meaning |\n|---|---|---|\n"); err != nil {
		return err
	}
	for _, f := range Fields(result) {
		doc := strings.ReplaceAll(f.Doc, "|", `\|`)
		if _, err := fmt.Fprintf(w, "| `%s` | %s | %s |\n", f.Path, f.Type, doc); err != nil {
			return err
		}
	}
	return nil
}
