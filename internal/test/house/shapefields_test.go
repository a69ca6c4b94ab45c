package house_test

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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fieldLists, if not empty, names files with the fields of all types of the class libraries.
// TestShapesFitVersions then writes the table anew from the fields that shapes name: go test . -run
// TestShapesFitVersions -fields A,B. The files are made from the assemblies of each version; see
// the head of the table.
var fieldLists = flag.String("fields", "", "files to make testdata/shapefields.txt anew from, with commas between")

const fieldTable = "testdata/shapefields.txt"

// shapeVersions lists the versions in the table by library: the class library; the network and host libraries of .NET
// Core 3.1, and those for a web server of .NET 10; the database packages Npgsql, Microsoft.Data.SqlClient,
// System.Data.SqlClient and Entity Framework Core; gRPC; ASP.NET Core; the network and host libraries of .NET 6 and 8
// where they differ; and the class library of 11.0.0 for browsers (Mono). Its sources equal other systems except for
// threads, delegates, exceptions and sockets.
var shapeVersions = [][]string{
	{"31", "6", "8", "9", "10"},
	{"fx3.1"},
	{"web10"},
	{"npgsql4.1", "npgsql5", "npgsql6", "npgsql7", "npgsql8", "npgsql9", "npgsql10"},
	{"mds1", "mds2", "mds3", "mds4", "mds5", "mds5.2", "mds6", "mds6.1", "mds7", "mds7.1"},
	{"sds4.8"},
	{"ef3.1", "ef5", "ef6", "ef7", "ef8", "ef9", "ef10"},
	{"grpc2.27", "grpc2.38", "grpc2.52", "grpc2.67", "grpc2.80"},
	{"asp3.1", "asp5", "asp6", "asp7", "asp8"},
	{"lib6", "lib8"},
	{"net11"},
}

// A shapeStruct is a struct with the tags of a shape.
type shapeStruct struct {
	where   string   // package and name
	names   []string // of definitions
	derived bool     // the fields belong to types that derive from these
	slots   []shapeSlot
	choices []*shapeStruct
}

type shapeSlot struct {
	names    []string
	kind     string
	optional bool
}

// basesOf maps types in the table to their base classes that have fields.
var basesOf = map[string]string{}

// TestShapesFitVersions compares every shape of the class libraries with the fields that its types
// have in each version, including versions without a dump.
func TestShapesFitVersions(t *testing.T) {
	all := shapeStructs(t)
	if *fieldLists != "" {
		writeFieldTable(t, all, strings.Split(*fieldLists, ","))
	}
	table := readFieldTable(t, fieldTable)
	checked := map[string]int{}
	for _, s := range all {
		for _, name := range s.names {
			for _, v := range slices.Concat(shapeVersions...) {
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
	for i, library := range shapeVersions {
		for _, v := range library {
			assert.Greater(t, checked[v], []int{90, 20, 30, 6, 12, 12, 3, 2, 20, 5, 90}[i], "shapes of types of %s", v)
		}
	}
}

// TestShapesMeetVersions checks that each shape has a type in every version of its libraries, which detects renamed
// types. It also checks that each name in a shape exists in some version, which detects misspelled names.
func TestShapesMeetVersions(t *testing.T) {
	table := readFieldTable(t, fieldTable)
	usedAbsent, usedUnseen := map[string]bool{}, map[string]bool{}
	for _, s := range shapeStructs(t) {
		for _, name := range s.names {
			if table[name] == nil {
				usedUnseen[name] = true
				assert.Contains(t, unseen, name, "%s: no version has this type", s.where)
			}
		}
		for _, library := range shapeVersions {
			met := func(v string) bool {
				return slices.ContainsFunc(s.names, func(n string) bool { return table.has(n, v) })
			}
			if !slices.ContainsFunc(library, met) {
				continue
			}
			for _, v := range library {
				if !met(v) {
					usedAbsent[s.where] = true
					versions, _, _ := strings.Cut(absent[s.where], ":")
					assert.Contains(t, strings.Fields(versions), v, "%s: no type %s in this version", s.where, strings.Join(s.names, ", "))
				}
			}
		}
		for _, name := range s.fieldNames() {
			if s.derived || slices.ContainsFunc(s.names, func(typ string) bool { return table.ever(typ, name.text, name.kind) }) {
				continue
			}
			key := s.where + " " + name.text
			usedUnseen[key] = true
			assert.Contains(t, unseen, key, "no version of %s has this field", strings.Join(s.names, ", "))
		}
	}
	for key := range absent {
		assert.True(t, usedAbsent[key], "absent has %s, which is there", key)
	}
	for key := range unseen {
		assert.True(t, usedUnseen[key], "unseen has %s, which some version has", key)
	}
}

// fieldNames returns the names in a shape, each with its kind.
func (s *shapeStruct) fieldNames() []fieldName {
	var out []fieldName
	for _, slot := range s.slots {
		for _, n := range slot.names {
			out = append(out, fieldName{n, slot.kind})
		}
	}
	for _, c := range s.choices {
		out = append(out, c.fieldNames()...)
	}
	return out
}

type fieldName struct{ text, kind string }

// ever reports whether some version of a type has the field at a path.
func (t fieldsByType) ever(name, path, kind string) bool {
	return slices.ContainsFunc(slices.Concat(shapeVersions...), func(v string) bool { return t.has(name, v) && t.path(name, path, v, kind) })
}

// missing returns the fields that a type lacks in a version, for the choice that lacks the fewest.
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

// A fieldsByType maps type names to fields.
type fieldsByType map[string]*typeFields

type typeFields struct {
	versions []string
	fields   []fieldLine
}

type fieldLine struct {
	name, typ string
	versions  []string // empty means all versions of the type
}

func (t fieldsByType) has(name, v string) bool {
	f := t[name]
	return f != nil && slices.Contains(f.versions, v)
}

// path reports whether a type has a field at a path with the kind of a slot.
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
				return fitsKind(kind, f.typ)
			}
			for _, inner := range t.named(f.typ) {
				if t.path(inner, rest, v, kind) || !t.has(inner, v) && t.ever(inner, rest, kind) {
					return true
				}
			}
		}
	}
	return false
}

// fitsKind reports whether a field of a declared type may have the kind of a slot, judging by the
// type's name.
func fitsKind(kind, typ string) bool {
	reference := typ == "System.String" || typ == "System.Object" || strings.HasSuffix(typ, "]") || strings.HasPrefix(typ, "System.Action") || strings.HasPrefix(typ, "Dictionary`") || strings.HasPrefix(typ, "List`")
	switch kind {
	case "Ref":
		return !primitive[typ]
	case "Int":
		return !reference
	case "Struct":
		return !reference && !primitive[typ]
	}
	return true
}

var primitive = map[string]bool{"Boolean": true, "Char": true, "SByte": true, "Byte": true, "Int16": true, "UInt16": true, "Int32": true, "UInt32": true, "Int64": true, "UInt64": true}

// named returns the types that a field's type may be. Its name may omit the namespace and the outer
// type.
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

// shapeStructs returns the shapes of all packages.
func shapeStructs(t *testing.T) []*shapeStruct {
	t.Helper()
	if len(allShapes) == 0 {
		allShapes = readShapes(t)
	}
	return allShapes
}

var allShapes []*shapeStruct // cached

func readShapes(t *testing.T) []*shapeStruct {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*/*.go", "internal/app/*/*.go", "internal/app/*/internal/*/*.go"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, found...)
	}
	structs := map[string]map[string]*ast.StructType{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		pkg := filepath.Base(filepath.Dir(file))
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
			s := &shapeStruct{where: pkg + "." + name, names: nameless[pkg+"."+name]}
			if s.names == nil && !tagged(structs[pkg][name]) {
				continue
			}
			s.read(structs[pkg], structs[pkg][name], true)
			out = append(out, s)
		}
	}
	return out
}

// TestShapesAreGivenAsPointers: functions that bind shapes need pointers as their type parameter.
// A struct would compile too, but matches no type.
func TestShapesAreGivenAsPointers(t *testing.T) {
	calls := regexp.MustCompile(`\b(Bind|BindObject|IsShape|TryBind|BindAs|BindAt|BindAtOr|BoundObjects|ReadObjects|LoadedShapes|BindElements|objects\.Found)\[([^\[\]]+)\]`)
	seen := 0
	for _, pattern := range []string{"objects/*.go", "internal/*/*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, call := range calls.FindAllStringSubmatch(string(text), -1) {
				if call[2] != "S" && call[2] != "S any" {
					seen++
					assert.True(t, strings.HasPrefix(call[2], "*"), "%s: %s", file, call[0])
				}
			}
		}
	}
	assert.Greater(t, seen, 300)
}

// tagged reports whether a struct names the definitions of types.
func tagged(st *ast.StructType) bool {
	return slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool { return f.Tag != nil && strings.HasPrefix(f.Tag.Value, "`of:") })
}

// read reads the tags of a struct. With choices it also reads the structs that its fields point to.
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
				s.slots = append(s.slots, shapeSlot{strings.Split(names, "|"), strings.TrimSuffix(id.Name, "Field"), optional})
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

// arity converts "Ns.Outer<,>+Inner<>" to "Ns.Outer`2+Inner`1".
func arity(name string) string {
	for n := 4; n >= 1; n-- {
		name = strings.ReplaceAll(name, "<"+strings.Repeat(",", n-1)+">", "`"+strconv.Itoa(n))
	}
	return name
}

// readFields reads lists of fields: a line "TYPE  [ASSEMBLY]  {VERSION,…}" for a type, followed by
// a line for each field, four spaces and "NAME : TYPE   VERSION,…". Static fields begin with
// static.
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

// readFieldTable reads the table and the base classes in it.
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

// writeFieldTable writes the table anew: the fields that shapes name, of the types that they name
// and of the types on the paths of fields.
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

// nameless are the types of shapes without a definition.
var nameless = map[string][]string{
	"objects.concurrentTables":    {"System.Collections.Concurrent.ConcurrentDictionary`2+Tables"},
	"objects.concurrentNode":      {"System.Collections.Concurrent.ConcurrentDictionary`2+Node"},
	"objects.queueSegment":        {"System.Collections.Concurrent.ConcurrentQueueSegment`1"},
	"objects.queueSlot":           {"System.Collections.Concurrent.ConcurrentQueueSegment`1+Slot"},
	"objects.stackNode":           {"System.Collections.Concurrent.ConcurrentStack`1+Node"},
	"objects.bagQueue":            {"System.Collections.Concurrent.ConcurrentBag`1+WorkStealingQueue"},
	"objects.entry":               {"System.Collections.Generic.Dictionary`2+Entry", "System.Collections.Generic.OrderedDictionary`2+Entry"},
	"objects.setEntry":            {"System.Collections.Generic.HashSet`1+Entry"},
	"objects.setSlot":             {"System.Collections.Generic.HashSet`1+Slot"},
	"objects.linkedNode":          {"System.Collections.Generic.LinkedListNode`1"},
	"objects.sortedNode":          {"System.Collections.Generic.SortedSet`1+Node"},
	"objects.bucketTree":          {"System.Collections.Immutable.ImmutableHashSet`1", "System.Collections.Immutable.ImmutableDictionary`2"},
	"objects.treeBucket":          {"System.Collections.Immutable.ImmutableHashSet`1+HashBucket", "System.Collections.Immutable.ImmutableDictionary`2+HashBucket"},
	"objects.sortedPair":          {"System.Collections.Immutable.ImmutableSortedDictionary`2+Node"},
	"objects.hashBucket":          {"System.Collections.Hashtable+bucket", "System.Collections.Hashtable+Bucket"},
	"objects.listDictionaryNode":  {"System.Collections.ListDictionaryInternal+DictionaryNode", "System.Collections.Specialized.ListDictionary+DictionaryNode"},
	"objects.nameEntry":           {"System.Collections.Specialized.NameObjectCollectionBase+NameObjectEntry"},
	"objects.weakContainer":       {"System.Runtime.CompilerServices.ConditionalWeakTable`2+Container"},
	"objects.weakEntry":           {"System.Runtime.CompilerServices.ConditionalWeakTable`2+Entry"},
	"objects.linkedSlot":          {"System.Threading.ThreadLocal`1+LinkedSlot"},
	"objects.group":               {"System.Linq.Grouping`2"},
	"objects.expandoData":         {"System.Dynamic.ExpandoObject+ExpandoData"},
	"objects.expandoClass":        {"System.Dynamic.ExpandoClass"},
	"sqlpools.clientGroup":        {"Microsoft.Data.SqlClient.ConnectionPool.DbConnectionPoolGroup", "Microsoft.Data.ProviderBase.DbConnectionPoolGroup", "System.Data.ProviderBase.DbConnectionPoolGroup"},
	"sqlpools.clientKey":          {"Microsoft.Data.Common.DbConnectionPoolKey", "Microsoft.Data.SqlClient.ConnectionPool.DbConnectionPoolKey", "Microsoft.Data.SqlClient.ConnectionPool.ConnectionPoolKey", "System.Data.Common.DbConnectionPoolKey"},
	"sqlpools.clientOptions":      {"Microsoft.Data.SqlClient.ConnectionPool.DbConnectionPoolGroupOptions", "Microsoft.Data.ProviderBase.DbConnectionPoolGroupOptions", "System.Data.ProviderBase.DbConnectionPoolGroupOptions"},
	"sqlpools.clientConnection":   {"Microsoft.Data.SqlClient.SqlInternalConnectionTds", "Microsoft.Data.SqlClient.Connection.SqlConnectionInternal", "System.Data.SqlClient.SqlInternalConnectionTds"},
	"sqlpools.clientParser":       {"Microsoft.Data.SqlClient.TdsParser", "System.Data.SqlClient.TdsParser"},
	"sqlpools.clientState":        {"Microsoft.Data.SqlClient.TdsParserStateObject", "System.Data.SqlClient.TdsParserStateObject"},
	"sqlpools.clientParameters":   {"Microsoft.Data.SqlClient.SqlParameterCollection", "System.Data.SqlClient.SqlParameterCollection"},
	"sqlpools.clientParameter":    {"Microsoft.Data.SqlClient.SqlParameter", "System.Data.SqlClient.SqlParameter"},
	"sqlpools.sourceReader":       {"Npgsql.NpgsqlDataReader"},
	"sqlpools.sourceParameters":   {"Npgsql.NpgsqlParameterCollection"},
	"sqlpools.sourceParameter":    {"Npgsql.NpgsqlParameter"},
	"sqlpools.channelReader":      {"System.Threading.Channels.UnboundedChannel`1+UnboundedChannelReader", "System.Threading.Channels.BoundedChannel`1+BoundedChannelReader", "System.Threading.Channels.SingleConsumerUnboundedChannel`1+UnboundedChannelReader"},
	"sqlpools.channel":            {"System.Threading.Channels.UnboundedChannel`1", "System.Threading.Channels.BoundedChannel`1"},
	"sqlpools.deque":              {"System.Collections.Generic.Deque`1"},
	"threadpool.hillClimbingStep": {"System.Threading.PortableThreadPool+HillClimbing+LogEntry"},
	"threadpool.slot":             {"System.Collections.Concurrent.ConcurrentQueueSegment`1+Slot"},
	"web.queueItem":               {"System.Net.Http.HttpConnectionPool+RequestQueue`1+QueueItem", "System.Net.Http.RequestQueue`1+QueueItem"},
	"web.grpcOutcome":             {"System.Threading.Tasks.TaskCompletionSource`1"},
	"web.stream2":                 {"System.Net.Http.Http2Connection+Http2Stream", "System.Net.Http.Http3RequestStream"},
}

// absent lists shapes with types that are missing in some versions of their library, and the reasons.
var absent = map[string]string{
	"tasks.processHolder":         "6: Windows has a handle there",
	"tasks.processState":          "6: Windows has a handle there",
	"locks.registrations":         "31: a partition of the CancellationTokenSource has the callbacks",
	"reach.sourceCallbacks":       "31: a partition of the CancellationTokenSource has the callbacks",
	"interop.anchor":              "31: ComWrappers is of .NET 5 and later",
	"interop.factory":             "31: ComWrappers is of .NET 5 and later",
	"interop.holder":              "31 6 8 9: the wrappers are native there",
	"interop.managedWrapper":      "31 6 8 9: the wrappers are native there",
	"interop.nativeWrapper":       "31 6 8 9: the wrappers are native there",
	"tracing.providerState":       "31 6: the provider has the state itself there",
	"settings.gcMemoryInfo":       "31: nothing keeps the figures of a collection",
	"settings.gcGenerationInfo":   "31: nothing keeps the figures of a collection",
	"objects.frozenCodes":         "31 6: frozen collections are of .NET 8 and later",
	"objects.frozenDictionary":    "31 6: frozen collections are of .NET 8 and later",
	"objects.frozenHashed":        "31 6: frozen collections are of .NET 8 and later",
	"objects.frozenSet":           "31 6: frozen collections are of .NET 8 and later",
	"objects.orderedDictionary":   "31 6 8: of .NET 9 and later",
	"objects.priorityQueue":       "31: of .NET 6 and later",
	"objects.setEntry":            "31: a HashSet has slots there, see setSlot",
	"objects.setSlot":             "6 8 9 10: a HashSet has entries there, see setEntry",
	"objects.volatileNode":        "31 6: the buckets are the nodes there",
	"locks.blockingInfo":          "31 6 8: threads note in native code there what they wait for",
	"dac.lockFields":              "31 6 8: System.Threading.Lock is of .NET 9 and later",
	"locks.lockID":                "31 6 8: System.Threading.Lock is of .NET 9 and later",
	"locks.managedLock":           "31 6 8: System.Threading.Lock is of .NET 9 and later",
	"sqlpools.clientChannels":     "mds1 mds2 mds3 mds4 mds5 mds5.2 mds6: the second pool is of 6.1 and later",
	"sqlpools.clientIdle":         "mds1 mds2 mds3 mds4 mds5 mds5.2 mds6 mds6.1 mds7: there the pool has the channel itself",
	"sqlpools.clientSlots":        "mds1 mds2 mds3 mds4 mds5 mds5.2 mds6 mds6.1: of the second pool, which is written in 7.0",
	"web.activityFeature":         "asp3.1 asp5: the context of the host has the activity itself there",
	"web.sysFeatureContext":       "asp6 asp7 asp8: the context of the request is the collection there",
	"web.grpcMethod":              "grpc2.27 grpc2.38: the source of Grpc.Core.Api was elsewhere",
	"tasks.cancellationPromise":   "31: WaitAsync is of .NET 6 and later",
	"tasks.continuation":          "31 6 8 9: async methods of the runtime are of .NET 10 and later",
	"tasks.pooledShape":           "31: pooled boxes are of .NET 6 and later",
	"threadpool.hillClimber":      "31: the pool is native there",
	"threadpool.hillClimbingStep": "31: the pool is native there",
	"threadpool.legacyQueue":      "6 8 9 10: the queue is a static of ThreadPool there",
	"tasks.periodicTimer":         "31: PeriodicTimer is of .NET 6 and later",
	"tasks.tickState":             "31: PeriodicTimer is of .NET 6 and later",
	"threadpool.periodicState":    "31: PeriodicTimer is of .NET 6 and later",
	"threadpool.portable":         "31: the pool is native there",
	"threadpool.portablePool":     "31: the pool is native there",
	"threadpool.waitAsync":        "31: WaitAsync is of .NET 6 and later",
	"threadpool.waitNode":         "31: the pool is native there",
	"threadpool.waitThread":       "31: the pool is native there",
	"threadpool.windowsPool":      "31 6: of .NET 8 and later",
}

// unseen are the types and fields in shapes that no version in the table has, and their sources.
var unseen = map[string]string{
	// Microsoft.Data.Sqlite 6 to 10 and Entity Framework Core 10, StackExchange.Redis 2.0 to 3.1,
	// SignalR and Blazor of ASP.NET Core 3.1 to 10, and Microsoft.Extensions.ObjectPool up to 7.
	"Microsoft.AspNetCore.Components.Server.Circuits.CircuitClientProxy":        "of the library's source",
	"Microsoft.AspNetCore.Components.Server.Circuits.CircuitHost":               "of the library's source",
	"Microsoft.AspNetCore.SignalR.DefaultHubLifetimeManager`1":                  "of the library's source",
	"Microsoft.AspNetCore.SignalR.HubConnectionContext":                         "of the library's source",
	"Microsoft.AspNetCore.SignalR.HubConnectionStore":                           "of the library's source",
	"Microsoft.AspNetCore.SignalR.Internal.HubGroupList":                        "of the library's source",
	"Microsoft.AspNetCore.SignalR.StackExchangeRedis.RedisHubLifetimeManager`1": "of the library's source",
	"Microsoft.Data.Sqlite.SqliteCommand":                                       "of the library's source",
	"Microsoft.Data.Sqlite.SqliteConnection":                                    "of the library's source",
	"Microsoft.Data.Sqlite.SqliteConnectionPool":                                "of the library's source",
	"Microsoft.Data.Sqlite.SqliteConnectionPoolGroup":                           "of the library's source",
	"Microsoft.Data.Sqlite.SqliteDataReader":                                    "of the library's source",
	"Microsoft.EntityFrameworkCore.Storage.RelationalConnection":                "of the library's source",
	"Microsoft.Extensions.ObjectPool.DefaultObjectPool`1+ObjectWrapper":         "of the library's source",
	// Sessions of ASP.NET Core 3.1 to 10.
	"Microsoft.AspNetCore.Session.DistributedSessionStore":             "of the library's source",
	"Microsoft.AspNetCore.Session.DistributedSession":                  "of the library's source",
	"Microsoft.AspNetCore.Session.DefaultDistributedSessionStore":      "of the library's source",
	"Microsoft.AspNetCore.Session.EncodedKey":                          "of the library's source",
	"Microsoft.AspNetCore.Session.SessionFeature":                      "of the library's source",
	"web.sessionStore _cache":                                          "of the library's source",
	"web.session _cache":                                               "of the library's source",
	"web.session _sessionKey":                                          "of the library's source",
	"web.session _store":                                               "of the library's source",
	"web.session _isModified":                                          "of the library's source",
	"web.session _loaded":                                              "of the library's source",
	"web.session _isAvailable":                                         "of the library's source",
	"web.session _isNewSessionKey":                                     "of the library's source",
	"web.session _sessionIdBytes":                                      "of the library's source",
	"web.sessionValues _store":                                         "of the library's source",
	"web.sessionKey <KeyBytes>":                                        "of the library's source",
	"web.storedSession <Value>":                                        "of .NET Core 3.1, as its dumps have it",
	"hosting.cacheEntry <Value>":                                       "of .NET Core 3.1, as its dumps have it",
	"web.storedSession <AbsoluteExpiration>.value._dateTime._dateData": "the type is an argument of Nullable",
	"web.storedSession _absoluteExpiration.value._dateTime._dateData":  "the type is an argument of Nullable",
	// Serilog 2 to 4, MassTransit 8, System.Data.SqlClient 4.8 and Microsoft.Data.SqlClient 1 to 5.
	"Serilog.Sinks.Async.BackgroundWorkerSink":                          "of the library's source",
	"Serilog.Core.Sinks.Batching.BatchingSink":                          "of the library's source",
	"Serilog.Sinks.PeriodicBatching.PeriodicBatchingSink":               "of the library's source",
	"MassTransit.Transports.Fabric.MessageQueue`2":                      "of the library's source",
	"MassTransit.Transports.ReceivePipeDispatcher":                      "of the library's source",
	"System.Data.SqlClient.SqlException":                                "of the library's source",
	"sqlpools.clientLink _connectionPool":                               "of the library's source",
	"web.asyncSink _wrappedSink":                                        "of the library's source",
	"web.asyncSink _pipeline":                                           "of the library's source",
	"web.asyncSink _queue":                                              "of the library's source",
	"web.asyncSink _droppedMessages":                                    "of the library's source",
	"web.asyncSink _blockWhenFull":                                      "of the library's source",
	"web.batchingSink _targetSink":                                      "of the library's source",
	"web.batchingSink _batchedLogEventSink":                             "of the library's source",
	"web.batchingSink _queue":                                           "of the library's source",
	"web.batchingSink _currentBatch":                                    "of the library's source",
	"web.batchingSink _waitingBatch":                                    "of the library's source",
	"web.messageQueue <Name>":                                           "of the library's source",
	"web.messageQueue _channel":                                         "of the library's source",
	"web.dispatcher _endpointName":                                      "of the library's source",
	"web.dispatcher _activeDispatchCount":                               "of the library's source",
	"web.dispatcher _maxConcurrentDispatchCount":                        "of the library's source",
	"web.dispatcher _dispatchCount":                                     "of the library's source",
	"StackExchange.Redis.ConnectionMultiplexer":                         "of the library's source",
	"StackExchange.Redis.Message":                                       "of the library's source",
	"StackExchange.Redis.PhysicalBridge":                                "of the library's source",
	"StackExchange.Redis.PhysicalConnection":                            "of the library's source",
	"sqlpools.contextConnection <Context>":                              "of the library's source",
	"sqlpools.contextConnection _connection":                            "of the library's source",
	"sqlpools.sqliteCommand <DataReader>":                               "of the library's source",
	"sqlpools.sqliteCommand _commandText":                               "of the library's source",
	"sqlpools.sqliteCommand _commandTimeout":                            "of the library's source",
	"sqlpools.sqliteCommand _connection":                                "of the library's source",
	"sqlpools.sqliteConnection <Transaction>":                           "of the library's source",
	"sqlpools.sqliteConnection _connectionString":                       "of the library's source",
	"sqlpools.sqliteConnection _innerConnection":                        "of the library's source",
	"sqlpools.sqliteConnection _state":                                  "of the library's source",
	"sqlpools.sqliteGroup <ConnectionString>":                           "of the library's source",
	"sqlpools.sqliteGroup _pool":                                        "of the library's source",
	"sqlpools.sqlitePool _coldPool":                                     "of the library's source",
	"sqlpools.sqlitePool _connections":                                  "of the library's source",
	"sqlpools.sqlitePool _state":                                        "of the library's source",
	"sqlpools.sqlitePool _warmPool":                                     "of the library's source",
	"sqlpools.sqliteReader _closed":                                     "of the library's source",
	"web.bridge <Multiplexer>":                                          "of the library's source",
	"web.bridge Name":                                                   "of the library's source",
	"web.bridge _backlog":                                               "of the library's source",
	"web.bridge isDisposed":                                             "of the library's source",
	"web.bridge physical":                                               "of the library's source",
	"web.bridge state":                                                  "of the library's source",
	"web.bridgeConnection _writtenAwaitingResponse":                     "of the library's source",
	"web.circuit <CircuitId>.<Id>":                                      "of the library's source",
	"web.circuit <Client>":                                              "of the library's source",
	"web.circuit _disposed":                                             "of the library's source",
	"web.circuitClient <Connected>":                                     "of the library's source",
	"web.circuitClient <ConnectionId>":                                  "of the library's source",
	"web.defaultPool _firstItem":                                        "of the library's source",
	"web.hubConnection <Protocol>":                                      "of the library's source",
	"web.hubConnection <UserIdentifier>":                                "of the library's source",
	"web.hubConnection _connectedAborted":                               "of the library's source",
	"web.hubConnection _connectionAborted":                              "of the library's source",
	"web.hubConnection _writeLock":                                      "of the library's source",
	"web.hubConnections _connections":                                   "of the library's source",
	"web.hubGroups _groups":                                             "of the library's source",
	"web.hubManager _connections":                                       "of the library's source",
	"web.hubManager _groups":                                            "of the library's source",
	"web.multiplexer _isDisposed":                                       "of the library's source",
	"web.multiplexer asyncTimeouts":                                     "of the library's source",
	"web.multiplexer syncTimeouts":                                      "of the library's source",
	"web.pooledItem Element":                                            "of the library's source",
	"web.redisMessage CreatedDateTime._dateData":                        "of the library's source",
	"web.redisMessage command":                                          "of the library's source",
	"Microsoft.Extensions.Http.LifetimeTrackingHttpMessageHandler":      "no field is read",
	"web.wrapper _socketsHttpHandler":                                   "of .NET Core 3.1, by its source",
	"System.Data.SqlClient.SqlConnection":                               "as the class of Microsoft.Data.SqlClient of that name, by its source",
	"System.Data.SqlClient.SqlConnection+OpenAsyncRetry":                "as the class of Microsoft.Data.SqlClient of that name, by its source",
	"System.Data.ProviderBase.DbConnectionClosedConnecting":             "as the class of Microsoft.Data.SqlClient of that name, by its source",
	"System.Data.ProviderBase.DbConnectionPool+PendingGetConnection":    "as the class of Microsoft.Data.SqlClient of that name, by its source",
	"Microsoft.Data.ProviderBase.DbConnectionPool+PendingGetConnection": "as the class of Microsoft.Data.SqlClient of that name, by its source",
	// Types of System.Text.RegularExpressions: the program of no recorded version has used them.
	"System.Text.RegularExpressions.Regex":       "of the class library's source",
	"System.IO.Pipes.NamedPipeClientStream":      "of the class library's source, and as dumps of .NET 9 have it",
	"System.Text.RegularExpressions.RegexRunner": "of the class library's source",
	"locks.regex pattern":                        "of the class library's source",
	"locks.regex roptions":                       "of the class library's source",
	"locks.regex internalMatchTimeout._ticks":    "of the class library's source",
	"locks.regexRunner runregex":                 "of the class library's source",
	"locks.regexRunner runtextend":               "of the class library's source",
	// Types of System.Threading.RateLimiting 8 and later.
	"System.Threading.RateLimiting.ConcurrencyLimiter":                  "of the library's source",
	"System.Threading.RateLimiting.FixedWindowRateLimiter":              "of the library's source",
	"System.Threading.RateLimiting.SlidingWindowRateLimiter":            "of the library's source",
	"System.Threading.RateLimiting.TokenBucketRateLimiter":              "of the library's source",
	"System.Threading.RateLimiting.ConcurrencyLimiterOptions":           "of the library's source",
	"System.Threading.RateLimiting.FixedWindowRateLimiterOptions":       "of the library's source",
	"System.Threading.RateLimiting.SlidingWindowRateLimiterOptions":     "of the library's source",
	"System.Threading.RateLimiting.TokenBucketRateLimiterOptions":       "of the library's source",
	"System.Threading.RateLimiting.ConcurrencyLimiter+ConcurrencyLease": "of the library's source",
	"locks.bucket _options":                                                "of the library's source",
	"locks.refillOptions <TokensPerPeriod>":                                "of the library's source",
	"locks.refillOptions <PermitLimit>":                                    "of the library's source",
	"locks.refillOptions <ReplenishmentPeriod>._ticks":                     "of the library's source",
	"locks.refillOptions <Window>._ticks":                                  "of the library's source",
	"locks.refillOptions <AutoReplenishment>":                              "of the library's source",
	"locks.lease _limiter":                                                 "of the library's source",
	"locks.lease _count":                                                   "of the library's source",
	"locks.lease _disposed":                                                "of the library's source",
	"locks.bucket _queueCount":                                             "of the library's source",
	"locks.limiter _permitCount":                                           "of the library's source",
	"locks.limiter _queueCount":                                            "of the library's source",
	"locks.limiter _options":                                               "of the library's source",
	"locks.limiterOptions <PermitLimit>":                                   "of the library's source",
	"locks.limiterOptions <QueueLimit>":                                    "of the library's source",
	"Microsoft.FSharp.Collections.FSharpList`1":                            "of FSharp.Core 4.7, and of the library's source",
	"Microsoft.FSharp.Collections.FSharpMap`2":                             "of FSharp.Core 4.7, and of the library's source",
	"Microsoft.FSharp.Collections.FSharpSet`1":                             "of FSharp.Core 4.7, and of the library's source",
	"Microsoft.FSharp.Control.FSharpMailboxProcessor`1":                    "of FSharp.Core 4.7, and of the library's source",
	"Microsoft.FSharp.Control.Mailbox`1":                                   "of FSharp.Core 4.7, and of the library's source",
	"Microsoft.FSharp.Control.AsyncActivation`1":                           "of FSharp.Core 4.7, and of the library's source",
	"Microsoft.FSharp.Control.AsyncActivationContents`1":                   "of FSharp.Core 4.7, and of the library's source",
	"Microsoft.FSharp.Control.AsyncPrimitives+ResultCell`1":                "of FSharp.Core 4.7, and of the library's source",
	"tasks.resultCell resEvent":                                            "of FSharp.Core 4.7, and of the library's source",
	"Microsoft.FSharp.Core.FSharpOption`1":                                 "of FSharp.Core 4.7, and of the library's source",
	"tasks.activation contents":                                            "of FSharp.Core 4.7, and of the library's source",
	"tasks.activationContents cont@":                                       "of FSharp.Core 4.7, and of the library's source",
	"tasks.pipeClient _normalizedPipePath":                                 "of the class library's source, and as dumps of .NET 9 have it",
	"tasks.mailbox savedCont":                                              "of FSharp.Core 4.7, and of the library's source",
	"tasks.someClosure value":                                              "of FSharp.Core 4.7, and of the library's source",
	"tasks.someClosure item":                                               "of FSharp.Core 4.7, and of the library's source",
	"objects.fsharpList head":                                              "of FSharp.Core 4.7, and of the library's source",
	"objects.fsharpList tail":                                              "of FSharp.Core 4.7, and of the library's source",
	"objects.fsharpMap tree@":                                              "of FSharp.Core 4.7, and of the library's source",
	"objects.fsharpMap tree":                                               "of FSharp.Core 4.7, and of the library's source",
	"objects.fsharpSet tree@":                                              "of FSharp.Core 4.7, and of the library's source",
	"objects.fsharpSet tree":                                               "of FSharp.Core 4.7, and of the library's source",
	"objects.mailboxProcessor mailbox":                                     "of FSharp.Core 4.7, and of the library's source",
	"objects.mailbox inboxStore":                                           "of FSharp.Core 4.7, and of the library's source",
	"objects.mailbox arrivals":                                             "of FSharp.Core 4.7, and of the library's source",
	"System.Threading.WaitSubsystem+WaitableObject":                        "of NativeAOT's class library, by its source",
	"System.Threading.WaitSubsystem+WaitableObject+OwnershipInfo":          "of NativeAOT's class library, by its source",
	"locks.waitable _ownershipInfo":                                        "of NativeAOT's class library, by its source",
	"locks.ownership _thread":                                              "of NativeAOT's class library, by its source",
	"Microsoft.Win32.SafeHandles.SafeFileHandle":                           "of the class library's source",
	"System.Runtime.InteropServices.SafeHandle":                            "of the class library's source",
	"Microsoft.Win32.SafeHandles.SafeFileHandle+ThreadPoolValueTaskSource": "of the class library's source, and as dumps of .NET 9 and 10 have it",
	"System.Net.ArrayBuffer":                                               "of the class library's source, and as dumps of .NET 9 and 10 have it",
	"web.arrayBuffer _bytes":                                               "of the class library's source, and as dumps of .NET 9 and 10 have it",
	"web.connection1 _creationTickCount":                                   "of the class library's source, and as dumps of .NET 9 and 10 have it",
	"web.connection1 _readAheadTaskStatus":                                 "of the class library's source, and as dumps of .NET 9 and 10 have it",
	"web.connection1 _readBuffer":                                          "of the class library's source, and as dumps of .NET 9 and 10 have it",
	"tasks.fileTransfer _fileHandle":                                       "of the class library's source, and as dumps of .NET 9 and 10 have it",
	"tasks.fileTransfer _operation":                                        "of the class library's source, and as dumps of .NET 9 and 10 have it",
	"tasks.fileHandle _canSeek":                                            "of the class library's source",
	"tasks.fileHandle _path":                                               "of the class library's source",
	"locks.safeHandle handle":                                              "of the class library's source",
	"sensitive.safeHandle handle":                                          "of the class library's source",
	"System.Security.SecureString":                                         "of the class library's source",
	"sensitive.secureString _buffer":                                       "of the class library's source",
	"sensitive.secureString _decryptedLength":                              "of the class library's source",
	// Types without fields to read, which the table does not list.
	"System.Collections.Frozen.EmptyFrozenDictionary`2":           "no field is read",
	"System.Collections.Frozen.EmptyFrozenSet`1":                  "no field is read",
	"System.Threading.AsyncLocalValueMap+EmptyAsyncLocalValueMap": "no field is read",
	"System.Threading.Tasks.Task+SetOnInvokeMres":                 "no field of its own is read",
	"System.Threading.Tasks.Task+SetOnCountdownMres":              "no field of its own is read",
	"System.Runtime.CompilerServices.YieldAwaitable+YieldAwaiter": "no field is read",
	"System.Threading.Mutex":                                      "no field is read",
	"System.Threading.Semaphore":                                  "no field is read",

	// Fields of type arguments, which the table does not resolve.
	"objects.jsonNode _jsonElement.value._parent":                       "the type is an argument of Nullable",
	"objects.jsonNode _jsonElement.value._idx":                          "the type is an argument of Nullable",
	"hosting.backgroundService _executingTask":                          "of .NET 5, by its source",
	"hosting.cacheEntry <AbsoluteExpiration>.value._dateTime._dateData": "the type is an argument of Nullable",
	"hosting.cacheEntry _absoluteExpiration.value._dateTime._dateData":  "the type is an argument of Nullable",
	"web.grpcTask m_result.<StatusCode>":                                "the type is an argument of Task",
	"web.grpcTask m_result.<Detail>":                                    "the type is an argument of Task",
	"tasks.detail m_result":                                             "of a Task with a result, which derives from the type that is asked for",

	// Versions without a list.
	"tasks.continuation ResumeInfo":                                          "of .NET 11, by its source",
	"System.Runtime.CompilerServices.AsyncHelpers+TaskContinuation":          "of .NET 11, by its source",
	"System.Runtime.CompilerServices.AsyncHelpers+ValueTaskContinuation":     "of .NET 11, by its source",
	"tasks.awaitedContinuation Task":                                         "of .NET 11, by its source",
	"tasks.awaitedContinuation Source":                                       "of .NET 11, by its source",
	"tasks.awaitedContinuation RuntimeAsyncTask":                             "of .NET 11, by its source",
	"System.Runtime.CompilerServices.AsyncDispatcherInfo":                    "of .NET 11, by its source",
	"locks.dispatcher t_current":                                             "of .NET 11, by its source",
	"locks.dispatcher Next":                                                  "of .NET 11, by its source",
	"locks.dispatcher CurrentTask":                                           "of .NET 11, by its source",
	"leaks.multicast _extraData":                                             "of .NET 11, by its source",
	"Microsoft.Extensions.DependencyInjection.ServiceLookup.ScopePool+State": "of .NET 5, by its source",
	"Microsoft.Extensions.DependencyInjection.ServiceLookup.ScopeState":      "of .NET 5, by its source",
	"leaks.scope _state":                                                     "of .NET 5, by its source",
	"leaks.scopeState <Disposables>":                                         "of .NET 5, by its source",
	"Microsoft.AspNetCore.Routing.EndpointRoutingFeature":                    "of ASP.NET Core 2.2, by its source",

	// .NET Framework, which sosgo can't open yet.
	"web.httpMethod method":              "of .NET Framework",
	"web.requestMessage method":          "of .NET Framework",
	"web.requestMessage requestUri":      "of .NET Framework",
	"web.responseMessage statusCode":     "of .NET Framework",
	"web.responseMessage requestMessage": "of .NET Framework",
	"web.uri m_String":                   "of .NET Framework",
}

// unfit are shapes that don't match one of their types in some version, and why.
var unfit = map[string]string{
	"sqlpools.clientChannels Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool mds6.1": "in this version nothing of it is written yet: it has no fields, and can't be used",
	"sqlpools.sourcePool Npgsql.ConnectorPool npgsql4.1":                                             "its connections are in two arrays, and it does not count them in fields of their own",
	"leaks.multicast System.MulticastDelegate net11":                                                 "delegates of Mono",
	"settings.environmentClass System.Environment net11":                                             "the class of Mono",
	"locks.threadObject System.Threading.Thread net11":                                               "threads of Mono",
	"web.pooled System.Net.Http.HttpConnectionBase fx3.1":                                            "the connections themselves have the field, and are asked first",
	"threadpool.modernQueue System.Threading.ThreadPool 31":                                          "its queue is a static of ThreadPoolGlobals, which has a shape of its own",
	"sqlpools.clientChannels Microsoft.Data.SqlClient.ConnectionPool.ChannelDbConnectionPool web10":  "in this version nothing of it is written yet: it has no fields, and can't be used",
}
