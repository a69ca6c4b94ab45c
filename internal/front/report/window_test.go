package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
)

type windowRow struct {
	N int `json:"n"`
}

// streamed is a list that formats its rows itself, several at a time.
type streamed int

func (s streamed) StreamJSON(emit func(rows []byte) error) error {
	var piece []byte
	for i := range int(s) {
		if len(piece) > 0 {
			piece = append(piece, ",\n"...)
		}
		piece = fmt.Appendf(piece, `{"n":%d}`, i)
		if i%3 == 2 || i == int(s)-1 {
			if err := emit(piece); err != nil {
				return err
			}
			piece = nil
		}
	}
	return nil
}

type windowed struct {
	Name   string                      `json:"name"`
	Slice  []windowRow                 `json:"slice"`
	Seq    iter.Seq2[windowRow, error] `json:"seq"`
	Stream streamed                    `json:"stream"`
	Sum    int                         `json:"sum"`
}

func sample(n int) windowed {
	w := windowed{Name: "x", Stream: streamed(n), Sum: n}
	for i := range n {
		w.Slice = append(w.Slice, windowRow{i})
	}
	w.Seq = func(yield func(windowRow, error) bool) {
		for i := range n {
			if i == 1 && !yield(windowRow{}, errors.New("one is missing")) || !yield(windowRow{i}, nil) {
				return
			}
		}
	}
	return w
}

// TestWindow: of every list the wanted part is there, and told how much that is; what follows a list is whole.
func TestWindow(t *testing.T) {
	numbers := func(from, end int) []windowRow {
		list := []windowRow{}
		for i := from; i < end; i++ {
			list = append(list, windowRow{i})
		}
		return list
	}
	for _, c := range []struct {
		w           report.Window
		slice, rest []windowRow
		part        report.ListPart
	}{
		{report.Window{Count: 3}, numbers(0, 3), numbers(0, 3), report.ListPart{From: 0, Listed: 3, Of: 10}},
		{report.Window{From: 8, Count: 5}, numbers(8, 10), numbers(8, 10), report.ListPart{From: 8, Listed: 2, Of: 10}},
		{report.Window{From: 20, Count: 5}, numbers(0, 0), numbers(0, 0), report.ListPart{From: 10, Listed: 0, Of: 10}},
		{report.Window{Count: 100}, numbers(0, 10), numbers(0, 10), report.ListPart{From: 0, Listed: 10, Of: 10}},
		{report.Window{Count: 3, Last: true}, numbers(7, 10), numbers(0, 3), report.ListPart{From: 7, Listed: 3, Of: 10}},
		{report.Window{From: 8, Count: 5, Last: true}, numbers(0, 2), numbers(8, 10), report.ListPart{From: 0, Listed: 2, Of: 10}},
		{report.Window{Count: 3, List: "slice"}, numbers(0, 3), numbers(0, 10), report.ListPart{From: 0, Listed: 3, Of: 10}},
	} {
		var b bytes.Buffer
		e := report.NewJSONEncoder(&b, "x")
		e.SetWindow(c.w)
		warned := 0
		require.NoError(t, e.Answer(sample(10), func(error) { warned++ }))
		require.NoError(t, e.Close(nil, nil))
		var doc struct {
			Result struct {
				Name               string
				Slice, Seq, Stream []windowRow
				Sum                int
			}
			Lists map[string]report.ListPart
		}
		require.NoError(t, json.Unmarshal(b.Bytes(), &doc), b.String())
		assert.Equal(t, c.slice, doc.Result.Slice, "%+v", c.w)
		assert.Equal(t, c.rest, doc.Result.Seq, "%+v", c.w)
		assert.Equal(t, c.rest, doc.Result.Stream, "%+v", c.w)
		assert.Equal(t, "x", doc.Result.Name)
		assert.Equal(t, 10, doc.Result.Sum)
		assert.Equal(t, 1, warned, "a row that is missing is told also outside of the window")
		assert.Equal(t, c.part, doc.Lists["slice"], "%+v", c.w)
		if c.w.List == "" {
			assert.Equal(t, 10, doc.Lists["seq"].Of)
			assert.Equal(t, 10, doc.Lists["stream"].Of)
		}
	}
}

// TestWindowOfWholeList: the list that is the result has the name "".
func TestWindowOfWholeList(t *testing.T) {
	var b bytes.Buffer
	e := report.NewJSONEncoder(&b, "x")
	e.SetWindow(report.Window{From: 1, Count: 1})
	require.NoError(t, e.Answer([]windowRow{{1}, {2}, {3}}, func(error) {}))
	require.NoError(t, e.Close(nil, nil))
	assert.JSONEq(t, `{"command":"x","schema":2,"result":[{"n":2}],"lists":{"":{"from":1,"listed":1,"of":3}}}`, b.String())
}
