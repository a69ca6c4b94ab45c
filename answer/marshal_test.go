package answer_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// listed are the answers with iterators, which encoding/json cannot encode by itself.
var listed = []any{answer.ThreadAnalysis{}, answer.IL{}, answer.Disassembly{}, answer.ThrownException{}, answer.Handles{}, answer.Images{}, answer.Listing{},
	answer.Memory{}, answer.Array{}, answer.Exceptions{}, answer.Query{}, answer.Stacks{}, answer.ParallelStacks{}, answer.Returns{}, answer.StackObjects{},
	answer.Profile{}, answer.Async{}, answer.SyncBlocks{}, answer.ModuleDetails{}, answer.Unreachable{}, answer.Finalizers{}, answer.Closure{},
	answer.StressLog{}}

// withLists returns the structs of the package that have an iterator as a field in JSON, or embed such a struct.
func withLists(t *testing.T) []string {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	structs := map[string]*ast.StructType{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if st, ok := s.Type.(*ast.StructType); ok {
					structs[s.Name.Name] = st
				}
			}
			return true
		})
	}
	var has func(name string) bool
	has = func(name string) bool {
		st := structs[name]
		return st != nil && slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool {
			if len(f.Names) == 0 {
				e := f.Type
				if p, ok := e.(*ast.StarExpr); ok {
					e = p.X
				}
				id, ok := e.(*ast.Ident)
				return ok && has(id.Name)
			}
			ix, ok := f.Type.(*ast.IndexListExpr)
			if !ok || f.Tag == nil || strings.Contains(f.Tag.Value, `json:"-"`) {
				return false
			}
			sel, ok := ix.X.(*ast.SelectorExpr)
			return ok && sel.Sel.Name == "Seq2"
		})
	}
	var out []string
	for name := range structs {
		if has(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// fill sets the lists of an answer to a row, a missing row and a row.
func fill(v reflect.Value) {
	for f, fv := range v.Fields() {
		switch {
		case f.Anonymous && fv.Kind() == reflect.Pointer:
			fv.Set(reflect.New(fv.Type().Elem()))
		case f.Anonymous:
			fill(fv)
		case f.IsExported() && fv.Kind() == reflect.Func && fv.Type().CanSeq2():
			row := fv.Type().In(0).In(0)
			fv.Set(reflect.MakeFunc(fv.Type(), func(args []reflect.Value) []reflect.Value {
				for _, err := range []error{nil, target.ErrNotInDump, nil} {
					r := reflect.New(row).Elem()
					if row.Kind() == reflect.Pointer {
						r.Set(reflect.New(row.Elem()))
					}
					problem := reflect.New(reflect.TypeFor[error]()).Elem()
					if err != nil {
						problem.Set(reflect.ValueOf(err))
					}
					if !args[0].Call([]reflect.Value{r, problem})[0].Bool() {
						break
					}
				}
				return nil
			}))
		}
	}
}

// TestListsMarshal checks json.Marshal of every answer with lists, zero and full. A missing row is encoded as its
// reason, and a copy of an answer is an error.
func TestListsMarshal(t *testing.T) {
	var names []string
	for _, zero := range listed {
		typ := reflect.TypeOf(zero)
		names = append(names, typ.Name())
		b, err := json.Marshal(reflect.New(typ).Interface())
		require.NoError(t, err, typ)
		assert.True(t, json.Valid(b))
		full := reflect.New(typ)
		fill(full.Elem())
		want, err := json.Marshal(full.Interface())
		require.NoError(t, err, typ)
		assert.Contains(t, string(want), `,{"missing":"not in the dump"},`, "%v", typ)
		_, err = json.Marshal(full.Elem().Interface())
		assert.ErrorContains(t, err, "unsupported type", "%v is a copy, which its iterators do not complete", typ)
	}
	slices.Sort(names)
	assert.Equal(t, withLists(t), names, "listed has all answers with iterators")
}

// TestLongListsMarshal checks that lists without a source are empty.
func TestLongListsMarshal(t *testing.T) {
	for _, list := range []any{&answer.Objects{}, &answer.StringCounts{}, &answer.CollectionItems{}, answer.NewObjects(nil, nil)} {
		b, err := json.Marshal(list)
		require.NoError(t, err)
		assert.Equal(t, "[]", string(b), "%T", list)
	}
	b, err := json.Marshal(&answer.Listing{Objects: answer.NewObjects(nil, oneObject{})})
	require.NoError(t, err)
	assert.JSONEq(t, `{"objects":[{"address":"0x10","methodTable":"0x20","size":24}]}`, string(b))
}

// TestMissingRowsMarshal checks that long lists have the reasons for missing rows in JSON, as lists with iterators do.
func TestMissingRowsMarshal(t *testing.T) {
	items := answer.NewCollectionItems(nil, gap[answer.CollectionItem]{answer.CollectionItem{Index: 7}})
	contents := answer.NewStringCounts(nil, gap[answer.StringCount]{answer.StringCount{Count: 7}})
	objects := answer.NewObjects(nil, gapOfObjects{gap[answer.HeapObject]{answer.HeapObject{Size: 7}}})
	for list, row := range map[any]any{
		items: answer.CollectionItem{Index: 7}, contents: answer.StringCount{Count: 7}, objects: answer.HeapObject{Size: 7},
	} {
		want, err := json.Marshal(row)
		require.NoError(t, err)
		got, err := json.Marshal(list)
		require.NoError(t, err)
		assert.Equal(t, "["+string(want)+`,{"missing":"not in the dump"},`+string(want)+"]", string(got), "%T", list)
	}
}

// gap is a source of two rows with a missing one between them.
type gap[T any] struct{ row T }

func (g gap[T]) Each(yield func(T, error) bool) error {
	var none T
	_ = yield(g.row, nil) && yield(none, target.ErrNotInDump) && yield(g.row, nil)
	return nil
}

func (gap[T]) Format(func() func([]byte, *T) []byte, func([]byte) error) error {
	return target.ErrUnsupported
}

type gapOfObjects struct{ gap[answer.HeapObject] }

func (gapOfObjects) Format(int, func() answer.AppendObject, func([]byte) error) error {
	return target.ErrUnsupported
}

// oneObject is a source of one object.
type oneObject struct{}

func (oneObject) Each(yield func(answer.HeapObject, error) bool) error {
	yield(answer.HeapObject{Address: 0x10, MethodTable: 0x20, Size: 24}, nil)
	return nil
}

func (oneObject) Format(_ int, newRow func() answer.AppendObject, emit func([]byte) error) error {
	return emit(newRow()(nil, &answer.HeapObject{Address: 0x10, MethodTable: 0x20, Size: 24}))
}
