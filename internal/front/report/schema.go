package report

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// A node is a JSON Schema, or a part of one. encoding/json sorts its keys.
type node map[string]any

// schema collects the definitions of the types that results use.
type schema struct {
	defs  node
	names map[reflect.Type]string
}

// WriteSchema writes a JSON Schema for the documents of all commands: the envelope, and for each command its result.
// Fields that are not listed as required may be absent; a result may lack any field, because a command may fail midway.
func WriteSchema(w io.Writer, results []NamedResult) error {
	s := &schema{defs: node{}, names: map[reflect.Type]string{}}
	var commands []node
	for _, r := range results {
		s.of(jsonenc.PlanOf(r.Type), false) // whole results have names, too
		commands = append(commands, node{
			"if":   node{"properties": node{"command": node{"const": r.Name}}},
			"then": node{"properties": node{"result": s.result(r)}},
		})
	}
	envelope := s.envelope()
	var b bytes.Buffer
	b.WriteString("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"A document of sosgo\",\n" +
		"\"type\":\"object\",\"required\":[\"command\",\"schema\"],\"properties\":")
	line(&b, envelope)
	b.WriteString(",\n\"allOf\":[")
	for i, c := range commands {
		separate(&b, i)
		line(&b, c)
	}
	b.WriteString("\n],\n\"$defs\":{")
	for i, name := range slices.Sorted(maps.Keys(s.defs)) {
		separate(&b, i)
		line(&b, name)
		b.WriteByte(':')
		line(&b, s.defs[name])
	}
	b.WriteString("\n}}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// SchemaOf returns a JSON Schema for the documents of one command and the definitions that it refers to, both for
// json.Marshal.
func SchemaOf(r NamedResult) (document, defs map[string]any) {
	s := &schema{defs: node{}, names: map[reflect.Type]string{}}
	envelope := s.envelope()
	envelope["command"], envelope["result"] = node{"const": r.Name}, s.result(r)
	return node{"type": "object", "required": []string{"command", "schema"}, "properties": envelope}, s.defs
}

// result returns the schema of a command's result.
func (s *schema) result(r NamedResult) node {
	if p := jsonenc.PlanOf(r.Type).Core(); p.Kind() == jsonenc.Object {
		return s.object(p, false)
	}
	return s.of(jsonenc.PlanOf(r.Type), false)
}

// envelope returns the schemas of the fields of every document.
func (s *schema) envelope() node {
	problem := s.of(jsonenc.PlanOf(reflect.TypeFor[Problem]()), false)
	lists := s.of(jsonenc.PlanOf(reflect.TypeFor[ListPart]()), false)
	return node{"command": node{"type": "string"}, "schema": node{"const": JSONSchema}, "result": true,
		"lists": node{"type": "object", "additionalProperties": lists}, "warnings": node{"type": "array", "items": problem}, "error": problem}
}

// separate begins the line of item i of a list.
func separate(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
	b.WriteByte('\n')
}

// line writes v without line feeds.
func line(b *bytes.Buffer, v any) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a schema has a form in JSON
	b.Truncate(b.Len() - 1)
}

// of returns the schema of a type's values, null among them where they may be.
func (s *schema) of(p *jsonenc.Plan, null bool) node {
	core := p.Core()
	switch core.Kind() {
	case jsonenc.Object:
		ref := node{"$ref": "#/$defs/" + s.define(core)}
		if null {
			return node{"anyOf": []node{ref, {"type": "null"}}}
		}
		return ref
	case jsonenc.List:
		// The rows of an iterator are never null: one that is missing is left out and warned of.
		return node{"type": types("array", null), "items": s.of(core.Elem(), core.Elem().Nullable() && !core.IsIterator())}
	case jsonenc.Map:
		return node{"type": types("object", null), "additionalProperties": s.of(core.Elem(), core.Elem().Nullable())}
	case jsonenc.Address:
		return node{"type": types("string", null), "pattern": "^0x[0-9a-f]+$"}
	case jsonenc.Any:
		return node{}
	}
	return node{"type": types(kindWords[core.Kind()], null)}
}

// types returns a JSON type, with null if that is possible.
func types(word string, null bool) any {
	if null {
		return []string{word, "null"}
	}
	return word
}

// define adds a type to the definitions and returns its name there. Types of one name in several packages get numbers.
func (s *schema) define(p *jsonenc.Plan) string {
	if name, ok := s.names[p.Type]; ok {
		return name
	}
	name := p.Type.Name()
	for s.defs[name] != nil {
		name += "2"
	}
	s.names[p.Type], s.defs[name] = name, node{}
	s.defs[name] = s.object(p, true)
	return name
}

func (s *schema) object(p *jsonenc.Plan, whole bool) node {
	properties, required := node{}, []string{}
	for _, f := range p.Fields() {
		n := s.of(f.Plan, f.Plan.Nullable() && (!f.Optional || !isPointer(f.Plan)))
		if f.Doc != "" {
			n["description"] = f.Doc
		}
		properties[f.Name] = n
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	n := node{"type": "object", "properties": properties}
	if whole && len(required) > 0 {
		n["required"] = required
	}
	return n
}

func isPointer(p *jsonenc.Plan) bool { return p.Type.Kind() == reflect.Pointer }
