package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// Result returns the type T. Commands declare their results with it, for the documents made from the encoded types.
func Result[T any]() reflect.Type { return reflect.TypeFor[T]() }

// A FieldDoc is one row of a result's field list.
type FieldDoc struct {
	Path string // "objects[].address"
	Type string // "address", "integer", "string", "boolean", "number", "object", "any", or the name of a shared type
	Doc  string // from the struct tag doc
}

// A NamedResult is the result of a command.
type NamedResult struct {
	Name string
	Type reflect.Type
}

// Shared holds the struct types with several fields that results use more than once, or that contain themselves.
// Documents describe each type once.
type Shared map[reflect.Type]bool

// SharedTypes returns the shared types of some results.
func SharedTypes(results []NamedResult) Shared {
	s, inside := Shared{}, map[reflect.Type]bool{}
	for _, r := range results {
		s.visit(inside, jsonenc.PlanOf(r.Type))
	}
	return s
}

// visit visits a type and the types in it. inside holds the visited types, with true for those that enclose the
// current one.
func (s Shared) visit(inside map[reflect.Type]bool, p *jsonenc.Plan) {
	p = item(p)
	if p.Kind() != jsonenc.Object {
		return
	}
	if encloses, seen := inside[p.Type]; seen {
		if encloses || len(p.Fields()) > 1 {
			s[p.Type] = true
		}
		return
	}
	inside[p.Type] = true
	for _, f := range p.Fields() {
		s.visit(inside, f.Plan)
	}
	inside[p.Type] = false
}

// item returns the plan of a type's innermost item, without lists, maps, pointers and absence.
func item(p *jsonenc.Plan) *jsonenc.Plan {
	p = p.Core()
	for p.Kind() == jsonenc.List || p.Kind() == jsonenc.Map {
		p = p.Elem().Core()
	}
	return p
}

// Fields lists the fields of a type in order. It does not descend into shared types. Names come from the json tags,
// texts from the doc tags.
func (s Shared) Fields(t reflect.Type) []FieldDoc {
	p := jsonenc.PlanOf(t).Core()
	if p.Kind() == jsonenc.Object {
		return s.members(nil, "", p)
	}
	return s.append(nil, "", p, "")
}

func (s Shared) append(out []FieldDoc, path string, p *jsonenc.Plan, doc string) []FieldDoc {
	p = p.Core()
	for p.Kind() == jsonenc.List {
		path, p = path+"[]", p.Elem().Core()
	}
	out = append(out, FieldDoc{path, s.word(p), doc})
	if p.Kind() != jsonenc.Object || s[p.Type] {
		return out
	}
	return s.members(out, path+".", p)
}

func (s Shared) members(out []FieldDoc, prefix string, p *jsonenc.Plan) []FieldDoc {
	for _, f := range p.Fields() {
		out = s.append(out, prefix+f.Name, f.Plan, f.Doc)
	}
	return out
}

var kindWords = [...]string{jsonenc.Any: "any", jsonenc.Object: "object", jsonenc.Map: "object", jsonenc.List: "list", jsonenc.String: "string",
	jsonenc.Address: "address", jsonenc.Integer: "integer", jsonenc.Number: "number", jsonenc.Boolean: "boolean"}

func (s Shared) word(p *jsonenc.Plan) string {
	if s[p.Type] {
		return fmt.Sprintf("[%s](#type-%s)", p.Type.Name(), strings.ToLower(p.Type.Name()))
	}
	return kindWords[p.Kind()]
}

// WriteFields writes the fields of results, and of their shared types, as Markdown.
func WriteFields(w io.Writer, results []NamedResult) error {
	var b strings.Builder
	s := SharedTypes(results)
	for _, r := range results {
		fmt.Fprintf(&b, "### %s\n\n", r.Name)
		if t := jsonenc.PlanOf(r.Type).Core().Type; s[t] {
			fmt.Fprintf(&b, "The result is %s.\n\n", s.word(jsonenc.PlanOf(t)))
			continue
		}
		s.table(&b, r.Type)
	}
	b.WriteString("## Shared types\n\n")
	for _, t := range s.sorted() {
		fmt.Fprintf(&b, "### type %s\n\n", t.Name())
		s.table(&b, t)
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

func (s Shared) table(b *strings.Builder, t reflect.Type) {
	b.WriteString("| field | type | meaning |\n|---|---|---|\n")
	for _, f := range s.Fields(t) {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Path, f.Type, strings.ReplaceAll(f.Doc, "|", `\|`))
	}
	b.WriteByte('\n')
}

// sorted returns the types by their names.
func (s Shared) sorted() []reflect.Type {
	return slices.SortedFunc(maps.Keys(s), func(a, b reflect.Type) int { return cmp.Compare(a.Name(), b.Name()) })
}
