package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

type testRow struct {
	Address target.Addr `json:"address" doc:"where"`
}

type testAnswer struct {
	answer.Gaps
	Name   answer.Text                `json:"name,omitzero" doc:"its name"`
	Size   answer.Maybe[uint64]       `json:"size,omitzero" doc:"its size"`
	Flags  answer.Hex                 `json:"flags,omitempty" doc:"its flags"`
	Rows   iter.Seq2[testRow, error]  `json:"rows" doc:"its rows"`
	Copies []testRow                  `json:"copies,omitempty" doc:"more rows"`
	Total  int                        `json:"total" doc:"how many rows there were"`
	Nested *answer.Maybe[answer.Text] `json:"nested,omitempty" doc:"a value in a value"`
}

func rows(total *int, list ...any) iter.Seq2[testRow, error] {
	return func(yield func(testRow, error) bool) {
		for _, r := range list {
			a, isAddr := r.(target.Addr)
			err, _ := r.(error)
			if isAddr {
				*total++
			}
			if !yield(testRow{a}, err) {
				return
			}
		}
	}
}

func encode(t *testing.T, v any) (doc string, warned []error, err error) {
	t.Helper()
	var b bytes.Buffer
	e := NewJSONEncoder(&b, "x")
	err = e.Answer(v, func(w error) { warned = append(warned, w) })
	require.NoError(t, e.Close(nil, nil))
	require.True(t, json.Valid(b.Bytes()), b.String())
	return b.String(), warned, err
}

// TestAnswerJSON: lists come row by row, and fields behind a list may be known
// only when it has been read.
func TestAnswerJSON(t *testing.T) {
	v := &testAnswer{Name: answer.Text{Err: target.ErrNotInDump}, Size: answer.Known[uint64](7), Flags: 0x1f, Copies: []testRow{{3}}}
	v.Rows = rows(&v.Total, target.Addr(1), target.ErrCorrupt, target.Addr(2))
	doc, warned, err := encode(t, v)
	require.NoError(t, err)
	assert.Equal(t, []error{target.ErrCorrupt}, warned)
	assert.Equal(t, `{"command":"x","schema":2,"result":{"name":null,"size":7,"flags":"0x1f","rows":[
{"address":"0x1"},
{"address":"0x2"}],"copies":[
{"address":"0x3"}],"total":2}}
`, doc)
}

func TestAnswerJSONShapes(t *testing.T) {
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"empty": {&struct{}{}, `{}`},
		"list":  {[]testRow{{1}}, "[\n{\"address\":\"0x1\"}]"},
		"gaps":  {&struct{ answer.Gaps }{}, `{}`},
		"text":  {answer.Text{S: "a"}, `"a"`},
		"missing": {&struct {
			A answer.Maybe[int] `json:"a,omitzero"`
			B answer.Maybe[int] `json:"b"`
		}{answer.Missing[int](target.ErrCorrupt), answer.Missing[int](target.ErrCorrupt)}, `{"b":null}`},
	} {
		doc, _, err := encode(t, c.v)
		require.NoError(t, err, name)
		assert.Equal(t, `{"command":"x","schema":2,"result":`+c.want+"}\n", doc, name)
	}
}

// TestAnswerEnds: the end of the context ends a list, in JSON and in text.
func TestAnswerEnds(t *testing.T) {
	v := &testAnswer{}
	v.Rows = rows(&v.Total, target.Addr(1), context.Canceled, target.Addr(2))
	_, _, err := encode(t, v)
	require.ErrorIs(t, err, context.Canceled)

	var b bytes.Buffer
	var warned []error
	p := NewPage(&b, false, func(err error) { warned = append(warned, err) })
	n := 0
	for range Each(p, rows(&n, target.Addr(1), target.ErrNotInDump, target.Addr(2), context.Canceled, target.Addr(3))) {
	}
	assert.Equal(t, 2, n)
	assert.Equal(t, []error{target.ErrNotInDump}, warned)
	require.ErrorIs(t, p.Err(), context.Canceled)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestPageKeepsTheFirstError(t *testing.T) {
	p := NewPage(failingWriter{}, false, nil)
	p.Printf("%d", 1)
	p.Fail(errors.New("later"))
	require.EqualError(t, p.Err(), "full")
	for range Each(p, rows(new(int), target.Addr(1))) {
		t.Fatal("a row was read for nobody")
	}
}

func TestCheckResult(t *testing.T) {
	require.NoError(t, CheckResult(&testAnswer{}, Result[testAnswer]()))
	require.Error(t, CheckResult(&testRow{}, Result[testAnswer]()))
	require.Error(t, CheckResult(&testRow{}, nil))
}

func TestAnswerFields(t *testing.T) {
	var got []string
	for _, f := range (Shared{}).Fields(Result[testAnswer]()) {
		got = append(got, f.Path+" "+f.Type)
	}
	assert.Equal(t, []string{"name string", "size integer", "flags address", "rows[] object", "rows[].address address",
		"copies[] object", "copies[].address address", "total integer", "nested string"}, got)
}

// TestLacking: an answer warns of its gaps and has its failure, whether it is passed by a pointer or by value.
func TestLacking(t *testing.T) {
	var a testAnswer
	a.Note(target.ErrNotInDump)
	for _, v := range []any{a, &a} {
		var warned []error
		require.NoError(t, Lacking(v, func(err error) { warned = append(warned, err) }))
		require.Equal(t, []error{target.ErrNotInDump}, warned, "%T", v)
	}
	for _, v := range []any{nil, (*testAnswer)(nil), 7, struct{}{}} {
		require.NoError(t, Lacking(v, func(err error) { t.Errorf("%T: %v", v, err) }))
	}
}
