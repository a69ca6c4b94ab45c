package jsonenc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/target"
)

type inner struct {
	A int    `json:"a"`
	B string `json:"b,omitempty"`
}

type tail struct {
	Next *tail   `json:"next,omitempty"`
	F32  float32 `json:"f32"`
}

type many struct {
	inner
	*tail
	Hidden   int `json:"-"`
	NoTag    uint8
	Addr     target.Addr       `json:"addr"`
	Optional *int              `json:"optional,omitempty"`
	Null     *int              `json:"null"`
	List     []inner           `json:"list"`
	Empty    []int             `json:"empty,omitempty"`
	Array    [2]bool           `json:"array"`
	Map      map[string]inner  `json:"map"`
	Any      any               `json:"any"`
	Bytes    []byte            `json:"bytes"`
	Time     time.Time         `json:"time,omitzero"`
	Float    float64           `json:"float"`
	Raw      json.RawMessage   `json:"raw,omitempty"`
	Texts    map[string]string `json:"texts,omitempty"`
	private  int
}

type parted struct {
	Part *inner `json:",inline"`
	C    int    `json:"c"`
}

// TestInline: the fields of a part with a name stand in its place. An absent part has none.
func TestInline(t *testing.T) {
	b, err := jsonenc.Marshal(parted{&inner{1, "x"}, 2})
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":1,"b":"x","c":2}`, string(b))
	b, err = jsonenc.Marshal(parted{C: 2})
	require.NoError(t, err)
	assert.JSONEq(t, `{"c":2}`, string(b))
}

// TestEqualsEncodingJSON compares with encoding/json for all kinds of fields.
func TestEqualsEncodingJSON(t *testing.T) {
	n := 7
	deep := &tail{Next: &tail{F32: 1e-7}, F32: 3.5e21}
	for _, v := range []any{
		many{}, &many{}, (*many)(nil), nil, 5, "x", true, 1.5, uint64(math.MaxUint64),
		many{inner: inner{1, "<b>&\"\\\n\r\t\b\f\x00\u2028é🙂"}, tail: deep, NoTag: 3, Addr: 0x1f, Optional: &n, Null: &n, List: []inner{{}, {2, "x"}},
			Empty: []int{1}, Array: [2]bool{true}, Map: map[string]inner{"b": {}, "a<": {1, ""}}, Any: []any{nil, 1.0, "s", map[string]any{"k": json.Number("-0.5e3")}},
			Bytes: []byte{1, 2, 255}, Time: time.Unix(1, 5).UTC(), Float: 1e-9, Raw: json.RawMessage(`{"x":1}`), private: 1},
		[]float64{0, 1, -1.5, 1e21, 1e20, 1e-6, 1e-7, 123456789, math.MaxFloat64, math.SmallestNonzeroFloat64},
		[]many{}, []*inner{nil, {}}, struct{}{}, json.Number("12345678901234567890"), json.Number(""), map[string]any{"n": json.Number("1")}, target.Addr(0), []target.Addr{1 << 63},
	} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(v))
		got, err := jsonenc.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, strings.TrimSuffix(want.String(), "\n"), string(got), "%T", v)
	}
}

type shadow struct {
	inner
	A string `json:"a"`
}

// TestShadowedFields: of two fields with one name, the outer one wins.
func TestShadowedFields(t *testing.T) {
	want, err := json.Marshal(shadow{A: "outer"})
	require.NoError(t, err)
	got, err := jsonenc.Marshal(shadow{A: "outer"})
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

type listed struct {
	Rows iter.Seq2[inner, error] `json:"rows"`
}

func seq(list ...any) iter.Seq2[inner, error] {
	return func(yield func(inner, error) bool) {
		for _, x := range list {
			err, _ := x.(error)
			n, _ := x.(int)
			if !yield(inner{A: n}, err) {
				return
			}
		}
	}
}

// TestIterators: a missing row is replaced by its reason; the end of the context ends the list with
// an error.
func TestIterators(t *testing.T) {
	got, err := jsonenc.Marshal(listed{seq(1, target.ErrCorrupt, 2)})
	require.NoError(t, err)
	assert.Equal(t, `{"rows":[{"a":1},{"missing":"corrupt data"},{"a":2}]}`, string(got))
	got, err = jsonenc.Marshal(listed{})
	require.NoError(t, err)
	assert.Equal(t, `{"rows":[]}`, string(got))
	got, err = jsonenc.Marshal(listed{seq(1, context.Canceled, 2)})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, `{"rows":[{"a":1}]}`, string(got))
}

// TestUnsupported: a value without a JSON form becomes null and an error; the rest is encoded.
func TestUnsupported(t *testing.T) {
	for _, bad := range []any{func() {}, math.NaN(), make(chan int), map[int]int{1: 1}} {
		got, err := jsonenc.Marshal([]any{1, bad, 2})
		require.Error(t, err, "%T", bad)
		assert.Equal(t, "[1,null,2]", string(got))
	}
	var loop []any
	loop = append(loop, &loop)
	got, err := jsonenc.Marshal(loop)
	require.Error(t, err, "a value that contains itself ends")
	assert.True(t, json.Valid(got))
}

// TestEmit: the emitted pieces of a long value form the whole, and the receiver's error is kept.
func TestEmit(t *testing.T) {
	list := make([]inner, 100_000)
	want, err := json.Marshal(list)
	require.NoError(t, err)
	var got bytes.Buffer
	pieces := 0
	e := jsonenc.Encoder{Emit: func(b []byte) error { pieces++; got.Write(b); return nil }}
	e.Value(list)
	got.Write(e.Buf)
	require.NoError(t, e.Err)
	assert.Greater(t, pieces, 2)
	assert.Equal(t, string(want), got.String())
	full := errors.New("full")
	e = jsonenc.Encoder{Emit: func([]byte) error { return full }}
	e.Value(list)
	assert.ErrorIs(t, e.Err, full)
}

// TestEndString equals AppendString for all characters and positions.
func TestEndString(t *testing.T) {
	for _, text := range []string{"", "plain", `"`, `\`, `""\\`, `a"b\c`, "line\nfeed", "é\"", "\x00", "<&>", "\xff", "\u2028", "tail\\", "\u202e", "🙂\xf0\x9f"} {
		for _, before := range []string{"", `x"`} {
			want := before + string(jsonenc.AppendString(nil, text))
			got := jsonenc.EndString(append([]byte(before+`"`), text...), len(before)+1)
			assert.Equal(t, want, string(got), "%q", text)
		}
	}
}

type plainRow struct {
	Address target.Addr `json:"address"`
	Type    target.Addr `json:"methodTable"`
	Size    uint64      `json:"size"`
	Free    bool        `json:"free,omitempty"`
}

// TestRowAllocatesNothing: encoding a row does not allocate.
func TestRowAllocatesNothing(t *testing.T) {
	row, o, b := jsonenc.Row[plainRow](), &plainRow{0x7f0012345678, 0x7f0012340000, 24, false}, []byte(nil)
	b = row(b, o)
	assert.Equal(t, `{"address":"0x7f0012345678","methodTable":"0x7f0012340000","size":24}`+",\n", string(b))
	assert.Zero(t, testing.AllocsPerRun(100, func() { b = row(b[:0], o) }))
}

func BenchmarkRow(b *testing.B) {
	row, o, buf := jsonenc.Row[plainRow](), &plainRow{0x7f0012345678, 0x7f0012340000, 24, false}, []byte(nil)
	for b.Loop() {
		buf = row(buf[:0], o)
	}
}

// BenchmarkRowByHand appends the same row by hand, for comparison with BenchmarkRow.
func BenchmarkRowByHand(b *testing.B) {
	o, buf := &plainRow{0x7f0012345678, 0x7f0012340000, 24, false}, []byte(nil)
	for b.Loop() {
		buf = strconv.AppendUint(append(buf[:0], `{"address":"0x`...), uint64(o.Address), 16)
		buf = strconv.AppendUint(append(buf, `","methodTable":"0x`...), uint64(o.Type), 16)
		buf = strconv.AppendUint(append(buf, `","size":`...), o.Size, 10)
		if o.Free {
			buf = append(buf, `,"free":true`...)
		}
		buf = append(buf, '}', ',', '\n')
	}
}
