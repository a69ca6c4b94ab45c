package sosgo_test

import (
	"bufio"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fieldLists, if not empty, names files with the fields of every type of the class libraries, from which TestShapesFitVersions
// takes those that shapes ask for: go test . -run TestShapesFitVersions -fields A,B. They are made from the assemblies of each
// version; see the head of the table.
var fieldLists = flag.String("fields", "", "files to make testdata/shapefields.txt anew from, with commas between")

const fieldTable = "testdata/shapefields.txt"

// shapeVersions are the versions that the table tells of: of the class library, of the packages of a web server of .NET 10.
var shapeVersions = []string{"31", "6", "8", "9", "10", "web10"}

// A shapeStruct is a struct of some package with the tags of a shape.
type shapeStruct struct {
	where   string   // package and name
	names   []string // of definitions
	derived bool     // fields are those of the types that derive from these
	slots   []shapeSlot
	choices []*shapeStruct
}

type shapeSlot struct {
	names    []string
	kind     string
	optional bool
}

// basesOf are the base classes with fields of the types of the table that have some.
var basesOf = map[string]string{}

// TestShapesFitVersions holds every shape of the class libraries to the fields that their types have in each version, also in
// those of which there is no dump.
func TestShapesFitVersions(t *testing.T) {
	all := shapeStructs(t)
	if *fieldLists != "" {
		writeFieldTable(t, all, strings.Split(*fieldLists, ","))
	}
	table := readFieldTable(t, fieldTable)
	checked := map[string]int{}
	for _, s := range all {
		for _, name := range s.names {
			for _, v := range shapeVersions {
				if s.derived || !table.has(name, v) {
					continue
				}
				checked[v]++
				key := s.where + " " + name + " " + v
				missing := s.missing(table, name, v)
				if why, known := unfit[key]; known {
					assert.NotEmpty(t, missing, "%s fits; unfit says %s", key, why)
					continue
				}
				assert.Empty(t, missing, key)
			}
		}
	}
	for _, v := range shapeVersions {
		assert.Greater(t, checked[v], 30, "shapes of types of %s", v)
	}
}

// missing are the fields that a type has not in a version, of the choice that lacks least.
func (s *shapeStruct) missing(table fieldsByType, name, v string) []string {
	var out []string
	for _, slot := range s.slots {
		if !slot.optional && !slices.ContainsFunc(slot.names, func(n string) bool { return table.path(name, n, v, slot.kind) }) {
			out = append(out, strings.Join(slot.names, "|"))
		}
	}
	for i, c := range s.choices {
		lacks := c.missing(table, name, v)
		if len(lacks) == 0 {
			return nil
		}
		if i == 0 || len(lacks) < len(out) {
			out = lacks
		}
	}
	return out
}

// A fieldsByType has the fields of types, by the type's name.
type fieldsByType map[string]*typeFields

type typeFields struct {
	versions []string
	fields   []fieldLine
}

type fieldLine struct {
	name, typ string
	versions  []string // none: all of the type's
}

func (t fieldsByType) has(name, v string) bool {
	f := t[name]
	return f != nil && slices.Contains(f.versions, v)
}

// path reports whether a type has the field at a path, of the kind of a slot.
func (t fieldsByType) path(name, path, v, kind string) bool {
	first, rest, deeper := cutPath(path)
	for typ := name; typ != ""; typ = basesOf[typ] {
		if !t.has(typ, v) {
			continue
		}
		for _, f := range t[typ].fields {
			if f.name != first || f.versions != nil && !slices.Contains(f.versions, v) {
				continue
			}
			if !deeper {
				return kind != "Ref" || !primitive[f.typ]
			}
			for _, inner := range t.named(f.typ) {
				if t.path(inner, rest, v, kind) {
					return true
				}
			}
		}
	}
	return false
}

var primitive = map[string]bool{"Boolean": true, "Char": true, "SByte": true, "Byte": true, "Int16": true, "UInt16": true, "Int32": true, "UInt32": true, "Int64": true, "UInt64": true}

// named are the types that a field's type, which may lack namespace and outer type, may be.
func (t fieldsByType) named(short string) []string {
	short, _, _ = strings.Cut(short, "<")
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if name == short || strings.HasSuffix(name, "."+short) || strings.HasSuffix(name, "+"+short) {
			out = append(out, name)
		}
	}
	return out
}

// cutPath cuts the first name off a path, as shapes do.
func cutPath(s string) (first, rest string, deeper bool) {
	from := 0
	if strings.HasPrefix(s, "<") {
		from = max(strings.IndexByte(s, '>'), 0)
	}
	first = s
	if i := strings.IndexByte(s[from:], '.'); i >= 0 {
		first, rest, deeper = s[:from+i], s[from+i+1:], true
	}
	if len(first) > 2 && first[0] == '<' && first[len(first)-1] == '>' {
		first += "k__BackingField"
	}
	return first, rest, deeper
}

// shapeStructs are the shapes of all packages.
func shapeStructs(t *testing.T) []*shapeStruct {
	t.Helper()
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	structs := map[string]map[string]*ast.StructType{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		pkg := filepath.Dir(file)
		if structs[pkg] == nil {
			structs[pkg] = map[string]*ast.StructType{}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if st, ok := spec.Type.(*ast.StructType); ok {
					structs[pkg][spec.Name.Name] = st
				}
			}
			return true
		})
	}
	var out []*shapeStruct
	for _, pkg := range slices.Sorted(maps.Keys(structs)) {
		for _, name := range slices.Sorted(maps.Keys(structs[pkg])) {
			if !tagged(structs[pkg][name]) {
				continue
			}
			s := &shapeStruct{where: pkg + "." + name}
			s.read(structs[pkg], structs[pkg][name], true)
			out = append(out, s)
		}
	}
	return out
}

// tagged reports whether a struct names the definitions of types.
func tagged(st *ast.StructType) bool {
	return slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool { return f.Tag != nil && strings.HasPrefix(f.Tag.Value, "`of:") })
}

// read reads the tags of a struct, with choices those of the structs that its fields point to.
func (s *shapeStruct) read(known map[string]*ast.StructType, st *ast.StructType, choices bool) {
	for _, f := range st.Fields.List {
		typ := f.Type
		if sel, ok := typ.(*ast.SelectorExpr); ok {
			typ = sel.Sel
		}
		if star, ok := f.Type.(*ast.StarExpr); ok {
			if choices {
				s.choice(known, star)
			}
			continue
		}
		id, ok := typ.(*ast.Ident)
		if !ok {
			continue
		}
		if len(f.Names) == 0 {
			if inner := known[id.Name]; inner != nil && inner != st && typ == f.Type {
				s.read(known, inner, false)
			}
			continue
		}
		if f.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value)
		tag := reflect.StructTag(text)
		if of := tag.Get("of"); of != "" && s.names == nil {
			for name := range strings.SplitSeq(of, "|") {
				s.names = append(s.names, arity(name))
			}
			s.derived = tag.Get("fields") == "derived"
		}
		for _, key := range []string{"field", "static", "threadstatic"} {
			if names := tag.Get(key); names != "" {
				names, optional := strings.CutSuffix(names, ",optional")
				s.slots = append(s.slots, shapeSlot{strings.Split(names, "|"), id.Name, optional})
			}
		}
	}
}

func (s *shapeStruct) choice(known map[string]*ast.StructType, star *ast.StarExpr) {
	c := &shapeStruct{}
	switch x := star.X.(type) {
	case *ast.StructType:
		c.read(known, x, false)
	case *ast.Ident:
		if st := known[x.Name]; st != nil {
			c.read(known, st, false)
		}
	}
	if len(c.slots) > 0 {
		s.choices = append(s.choices, c)
	}
}

// arity turns "Ns.Outer<,>+Inner<>" into "Ns.Outer`2+Inner`1".
func arity(name string) string {
	for n := 4; n >= 1; n-- {
		name = strings.ReplaceAll(name, "<"+strings.Repeat(",", n-1)+">", "`"+strconv.Itoa(n))
	}
	return name
}

// readFields reads lists of fields: a line "TYPE  [ASSEMBLY]  {VERSION,…}" for a type, and behind it a line with four spaces,
// "NAME : TYPE   VERSION,…", for each of its fields, with static in front of statics.
func readFields(t *testing.T, file string) fieldsByType {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	out := fieldsByType{}
	var last *typeFields
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			name, rest, _ := strings.Cut(line, "  ")
			_, versions, _ := strings.Cut(rest, "{")
			if last = out[name]; last == nil {
				last = &typeFields{}
				out[name] = last
			}
			last.versions = append(last.versions, strings.Split(strings.TrimSuffix(versions, "}"), ",")...)
		default:
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "static "))
			at := slices.Index(words, ":")
			if last == nil || at < 1 || len(words) < at+3 {
				t.Fatalf("%s: %q", file, line)
			}
			field := fieldLine{name: strings.Join(words[:at], " "), typ: strings.Join(words[at+1:len(words)-1], " ")}
			if v := words[len(words)-1]; v != "all" {
				field.versions = strings.Split(v, ",")
			}
			last.fields = append(last.fields, field)
		}
	}
	require.NoError(t, sc.Err())
	return out
}

// readFieldTable reads the table, and the base classes that it names.
func readFieldTable(t *testing.T, file string) fieldsByType {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "#base "); ok {
			derived, base, _ := strings.Cut(strings.TrimSpace(rest), " ")
			basesOf[derived] = base
		}
	}
	return readFields(t, file)
}

// writeFieldTable makes the table anew: of the types that shapes name, and of those of the fields on their paths, the fields that
// shapes ask for.
func writeFieldTable(t *testing.T, all []*shapeStruct, files []string) {
	t.Helper()
	old, _ := os.ReadFile(fieldTable)
	var head strings.Builder
	for line := range strings.Lines(string(old)) {
		if line[0] == '#' {
			head.WriteString(line)
		}
	}
	if head.Len() > 0 {
		readFieldTable(t, fieldTable)
	}
	full := fieldsByType{}
	for _, file := range files {
		for name, f := range readFields(t, file) {
			have := full[name]
			if have == nil {
				full[name] = f
				continue
			}
			for i := range f.fields {
				if f.fields[i].versions == nil {
					f.fields[i].versions = f.versions
				}
			}
			for i := range have.fields {
				if have.fields[i].versions == nil {
					have.fields[i].versions = slices.Clone(have.versions)
				}
			}
			have.versions, have.fields = append(have.versions, f.versions...), append(have.fields, f.fields...)
		}
	}
	wanted := map[string]map[string]bool{}
	var want func(name, path string, depth int)
	want = func(name, path string, depth int) {
		first, rest, deeper := cutPath(path)
		for typ := name; typ != "" && depth < 8; typ = basesOf[typ] {
			f := full[typ]
			if f == nil {
				continue
			}
			if wanted[typ] == nil {
				wanted[typ] = map[string]bool{}
			}
			for _, line := range f.fields {
				if line.name != first {
					continue
				}
				wanted[typ][first] = true
				if deeper {
					for _, inner := range full.named(line.typ) {
						want(inner, rest, depth+1)
					}
				}
			}
		}
	}
	var visit func(s *shapeStruct, name string)
	visit = func(s *shapeStruct, name string) {
		for _, slot := range s.slots {
			for _, path := range slot.names {
				want(name, path, 0)
			}
		}
		for _, c := range s.choices {
			visit(c, name)
		}
	}
	for _, s := range all {
		for _, name := range s.names {
			visit(s, name)
		}
	}
	var b strings.Builder
	b.WriteString(head.String())
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		f := full[name]
		fmt.Fprintf(&b, "%s  {%s}\n", name, strings.Join(f.versions, ","))
		for _, line := range f.fields {
			if !wanted[name][line.name] {
				continue
			}
			v := "all"
			if line.versions != nil {
				v = strings.Join(line.versions, ",")
			}
			fmt.Fprintf(&b, "    %s : %s %s\n", line.name, line.typ, v)
		}
	}
	require.NoError(t, os.WriteFile(fieldTable, []byte(b.String()), 0o644))
}

// unfit are the shapes that are not for a type of theirs in some version, and why.
var unfit = map[string]string{
	"threadpool.modernQueue System.Threading.ThreadPool 31":                                         "its queue is a static of ThreadPoolGlobals, which has a shape of its own",
	"sqlpools.clientChannels Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool web10": "in this version nothing of it is written yet: it has no fields, and can't be used",
}
