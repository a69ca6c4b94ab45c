package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

func TestNumbers(t *testing.T) {
	assert.Equal(t, "000000000000001f", Hex16(uint64(0x1f)))
	assert.Equal(t, "ffffffffffffffff", Hex16(uint64(math.MaxUint64)))
	assert.Equal(t, "00000000001f", Hex12(uint64(0x1f)))
	assert.Equal(t, "ffff00000000001f", Hex12(uint64(0xffff00000000001f)))
	assert.Equal(t, "0x0", Hex(uint64(0)))
	assert.Equal(t, strings.Repeat("0", 19)+"f", string(AppendHex(nil, 15, 20)))
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 127410: "127,410", 1234567: "1,234,567",
		math.MaxUint64: "18,446,744,073,709,551,615"} {
		assert.Equal(t, want, Commas(n))
	}
	for n, want := range map[uint64]string{0: "0.00kb", 1024: "1.00kb", 1289748: "1.23mb", 5 << 40: "5120.00gb"} {
		assert.Equal(t, want, HumanSize(n))
	}
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 1<<20 - 1: "1.0 MB", 1289748: "1.2 MB", 5 << 40: "5120.0 GB"} {
		assert.Equal(t, want, Size(n))
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"plain":                 "plain",
		"žluťoučký 日本 🙂":        "žluťoučký 日本 🙂",
		"a\nb\tc\r\x00":         `a\nb\tc\r\0`,
		"\x1b]0;owned\x07":      `\x1b]0;owned\x07`,
		"\x1b[31mred\x7f":       `\x1b[31mred\x7f`,
		"C1 \u009b31m":          `C1 \u009b31m`,
		"bidi \u202etxt\u2066 ": `bidi \u202etxt\u2066 `,
		"line\u2028sep":         `line\u2028sep`,
		"bad \xff\xc3":          `bad \xff\xc3`,
		"\ufffd":                "\ufffd",
		"half \xed\xa0\x80b":    `half \ud800b`,
	} {
		assert.Equal(t, want, Escape(in), "%q", in)
	}
	// What is not seen: without width, of direction, tags, fillers, selectors.
	for _, r := range []rune{0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x202a, 0x202e,
		0x2060, 0x2064, 0x2066, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef} {
		want := fmt.Sprintf(`\u%04x`, r)
		if r > 0xffff {
			want = fmt.Sprintf(`\U%08x`, r)
		}
		assert.Equal(t, "Dog"+want+"x", Escape("Dog"+string(r)+"x"), "%U", r)
		var back string
		j := jsonenc.AppendString(nil, string(r))
		assert.Regexp(t, `^"(\\u[0-9a-f]{4}){1,2}"$`, string(j))
		require.NoError(t, json.Unmarshal(j, &back))
		assert.Equal(t, string(r), back)
	}
	for _, seen := range []string{"\u0600\u0661", "é", "e\u0301", "ไทย", "हिन्दी", "한국어", "日本語", "𝔘𝔫𝔦", "\u00a0"} {
		assert.Equal(t, seen, Escape(seen), "%q", seen)
	}
	assert.Equal(t, "a\n\tb\\r\\x1b", EscapeText("a\n\tb\r\x1b"))
}

// The samples are SOS's forms: sos.md 2.5 and 2.8.
func TestTableStreams(t *testing.T) {
	var b bytes.Buffer
	tab := NewTable(&b, Column{Name: "Address"}, Column{Name: "MT"}, Column{Name: "Size", Kind: Integer}, Column{Kind: Text})
	require.NoError(t, tab.Header())
	for _, r := range []struct {
		a, mt, size uint64
		text        string
	}{{0x200c0000028, 0x7ffb5a1b1188, 32, ""}, {0x200c0000048, 0x20bff0651d0, 1024, "Free"}} {
		tab.Uint(r.a)
		tab.Uint(r.mt)
		tab.Uint(r.size)
		tab.Text(r.text)
		require.NoError(t, tab.End())
	}
	assert.Equal(t, ""+
		"         Address               MT           Size\n"+
		"    0200c0000028     7ffb5a1b1188             32 \n"+
		"    0200c0000048     020bff0651d0          1,024 Free\n", b.String())
}

func TestTableFits(t *testing.T) {
	var b bytes.Buffer
	tab := NewTable(&b, Column{Name: "MT", Fit: true}, Column{Name: "Count", Kind: Integer, Fit: true},
		Column{Name: "TotalSize", Kind: Integer, Fit: true}, Column{Name: "Class Name", Kind: TypeName})
	require.NoError(t, tab.Header())
	type addr uint64
	require.NoError(t, tab.Row(addr(0x7ffb5a1fd2e8), 1, 32, "GCWhere"))
	require.NoError(t, tab.Row(uint64(0x7ffb5a1b1188), 1204, 127410, "System.String"))
	assert.Empty(t, b.String())
	require.NoError(t, tab.Flush())
	assert.Equal(t, ""+
		"          MT Count TotalSize Class Name\n"+
		"7ffb5a1fd2e8     1        32 GCWhere\n"+
		"7ffb5a1b1188 1,204   127,410 System.String\n", b.String())
}

func TestTableKinds(t *testing.T) {
	for _, tt := range []struct {
		col  Column
		cell any
		want string
	}{
		{Column{Kind: HexOffset}, -32, "     -0x20|"},
		{Column{Kind: HexOffset}, 8, "      0x08|"},
		{Column{Kind: HexValue}, uint64(0x1234), "            0x1234|"},
		{Column{Kind: PlainInteger}, 12345, "     12345|"},
		{Column{Kind: Integer}, int64(math.MinInt64), "-9,223,372,036,854,775,808|"},
		{Column{Kind: HumanReadable}, 1289748, "      1.23mb|"},
		{Column{Kind: Pointer}, "null", "            null|"},
		{Column{Kind: Pointer, Left: true}, 0x10, "000000000010    |"},
		{Column{Kind: Pointer}, nil, "                |"},
		{Column{Kind: TypeName, Width: 10}, "System.Collections", "...ections|"},
		{Column{Kind: Text, Width: 10}, "System.Collections", "System....|"},
		{Column{Kind: Text, Width: 3}, "System", "Sys|"},
		{Column{Kind: Text, Width: 6}, "žluťou", "žluťou|"},
		{Column{Kind: Text, Width: 8}, "a\x1b", "a\\x1b   |"},
		{Column{Kind: Text, Width: 4, Right: true}, "ab", "  ab|"},
	} {
		var b bytes.Buffer
		tab := NewTable(&b, tt.col, Column{Kind: Text})
		tab.any(tt.cell)
		tab.Text("|")
		require.NoError(t, tab.End())
		assert.Equal(t, strings.Replace(tt.want, "|", " |", 1)+"\n", b.String())
	}
	var b bytes.Buffer
	tab := NewTable(&b, Column{})
	tab.Indent = "  "
	tab.Uint(0x1000)
	tab.Text("more cells than columns")
	require.NoError(t, tab.End())
	assert.Equal(t, "      000000001000 more cells than columns\n", b.String())
}

func TestTableAllocatesNothing(t *testing.T) {
	tab := NewTable(io.Discard, Column{}, Column{Kind: Integer}, Column{Kind: TypeName})
	row := func() {
		tab.Uint(0x7ffb5a1fd2e8)
		tab.Uint(1234567)
		tab.Text("System.Collections.Generic.List<System.Int32>")
		_ = tab.End()
	}
	row()
	assert.Zero(t, testing.AllocsPerRun(100, row))
}

func BenchmarkTableRow(b *testing.B) {
	tab := NewTable(io.Discard, Column{}, Column{}, Column{Kind: Integer}, Column{Kind: TypeName})
	for b.Loop() {
		tab.Uint(0x7ffb5a1fd2e8)
		tab.Uint(0x7ffb5a1b1188)
		tab.Uint(1234567)
		tab.Text("System.String")
		_ = tab.End()
	}
}

func TestColumnTable(t *testing.T) {
	var b bytes.Buffer
	tab := NewColumnTable(&b, 4, -6, 3, -8)
	require.NoError(t, tab.Row("1", "ab", "xyzw", "last"))
	require.NoError(t, tab.Row("XXXX", "", "1", "\x1b"))
	assert.Equal(t, "   1 ab     xyzw last\nXXXX          1 \\x1b\n", b.String())
}

func TestSummary(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Summary(&b, []string{"MethodTable", "Value_x"},
		[][]string{{"00007ffb5a1fd2e8", "  leading"}, {"1", "tab\there"}, {"short"}}))
	assert.Equal(t, ""+
		"MethodTable       Value_x\n"+
		"00007ffb5a1fd2e8    leading\n"+
		"1                 tab\\there\n"+
		"short\n", b.String())
}

type row struct {
	Address target.Addr `json:"address" doc:"where"`
	Name    string      `json:"name,omitempty" doc:"what"`
}

type fastRow struct{ name string }

func (r fastRow) AppendJSON(b []byte) []byte {
	return append(jsonenc.AppendString(append(b, `{"name":`...), r.name), '}')
}

func TestJSONShapes(t *testing.T) {
	for name, tt := range map[string]struct {
		write func(e *JSONEncoder) error
		want  string
	}{
		"nothing": {func(*JSONEncoder) error { return nil }, `{"command":"x","schema":2}`},
		"value": {func(e *JSONEncoder) error { return e.Value(row{Address: 0x10}) },
			`{"command":"x","schema":2,"result":{"address":"0x10"}}`},
		"empty list": {func(e *JSONEncoder) error { return e.List("") }, `{"command":"x","schema":2,"result":[]}`},
		"list": {func(e *JSONEncoder) error { return errors.Join(e.Item("", 1), e.Item("", "<b>")) },
			`{"command":"x","schema":2,"result":[1,"<b>"]}`},
		"object": {func(e *JSONEncoder) error {
			return errors.Join(e.Field("a", 1), e.List("none"), e.Item("l", 1), e.Item("l", 2), e.Field("z", nil))
		}, `{"command":"x","schema":2,"result":{"a":1,"none":[],"l":[1,2],"z":null}}`},
		"fast": {func(e *JSONEncoder) error { return e.Item("", fastRow{"a\"\\\x1b\x80é\u202e"}) },
			`{"command":"x","schema":2,"result":[{"name":"a\"\\\u001b\ufffdé\u202e"}]}`},
	} {
		var b bytes.Buffer
		e := NewJSONEncoder(&b, "x")
		require.NoError(t, tt.write(e), name)
		require.NoError(t, e.Close(nil, nil))
		assert.JSONEq(t, tt.want, b.String(), name)
		assert.True(t, strings.HasSuffix(b.String(), "}\n"))
	}
}

// TestJSONEscapesAnywhere: what terminals act on is found wherever it stands among bytes that are passed eight at a
// time.
func TestJSONEscapesAnywhere(t *testing.T) {
	for before := range 20 {
		for _, bad := range []string{"\x7f", "\u009b", "\u202e"} {
			text := strings.Repeat("~", before) + bad + strings.Repeat("x", 9)
			b, err := EncodeJSON(text)
			require.NoError(t, err)
			assert.NotContains(t, string(b), bad, "behind %d", before)
			var back string
			require.NoError(t, json.Unmarshal(b, &back))
			assert.Equal(t, text, back)
		}
	}
}

func TestJSONIsSafeOnTerminals(t *testing.T) {
	var b bytes.Buffer
	e := NewJSONEncoder(&b, "x")
	text := "\x1b[0m \u009b \u202e \x7f é \U0001f642"
	require.NoError(t, e.Value(text))
	require.NoError(t, e.Close([]Problem{{Text: text}}, &Problem{Text: text, Exit: 3}))
	out := strings.TrimSuffix(b.String(), "\n")
	assert.Equal(t, out, Escape(out))
	var doc struct {
		Result   string
		Warnings []Problem
		Error    Problem
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	assert.Equal(t, text, doc.Result)
	assert.Equal(t, text, doc.Warnings[0].Text)
	assert.Equal(t, 3, doc.Error.Exit)
}

func TestJSONOrderMistakes(t *testing.T) {
	for name, write := range map[string]func(e *JSONEncoder) error{
		"two values":       func(e *JSONEncoder) error { return errors.Join(e.Value(1), e.Value(2)) },
		"field after list": func(e *JSONEncoder) error { return errors.Join(e.Item("", 1), e.Field("a", 2)) },
		"same field":       func(e *JSONEncoder) error { return errors.Join(e.Field("a", 1), e.Field("a", 2)) },
		"list again":       func(e *JSONEncoder) error { return errors.Join(e.Item("a", 1), e.Field("b", 2), e.Item("a", 3)) },
		"list in object":   func(e *JSONEncoder) error { return errors.Join(e.Field("a", 1), e.Item("", 2)) },
	} {
		var b bytes.Buffer
		e := NewJSONEncoder(&b, "x")
		assert.ErrorIs(t, write(e), ErrJSONState, name)
		assert.Error(t, e.Close(nil, nil))
		assert.True(t, json.Valid(b.Bytes()), "%s: the document stays whole: %s", name, b.String())
	}
	var b bytes.Buffer
	e := NewJSONEncoder(&b, "x")
	assert.Error(t, e.Value(func() {}))
	assert.Error(t, e.Close(nil, nil))
	assert.True(t, json.Valid(b.Bytes()), b.String())
}

func TestJSONListIsNotHeld(t *testing.T) {
	e := NewJSONEncoder(io.Discard, "x")
	for range 1000 {
		require.NoError(t, e.Item("", fastRow{"System.String"}))
	}
	assert.Less(t, cap(e.enc.Buf), 1024)
}

type base struct {
	Kind string `json:"kind" doc:"sort | of"`
}

type owner struct {
	base
	Rows   []row             `json:"rows" doc:"all"`
	Next   *owner            `json:"next,omitempty" doc:"more"`
	Maps   map[string]string `json:"maps"`
	Size   uint32            `json:"size"`
	Share  float64           `json:"share"`
	OK     bool              `json:"ok"`
	Value  any               `json:"value"`
	Hidden int               `json:"-"`
}

func TestFields(t *testing.T) {
	got := Shared{}.Fields(Result[[]row]())
	assert.Equal(t, []FieldDoc{{"[]", "object", ""}, {"[].address", "address", "where"}, {"[].name", "string", "what"}}, got)

	shared := SharedTypes([]NamedResult{{"x", Result[owner]()}, {"y", Result[base]()}})
	assert.Equal(t, Shared{reflect.TypeFor[owner](): true}, shared, "a type that contains itself is shared")
	got = shared.Fields(Result[owner]())
	assert.Equal(t, FieldDoc{"kind", "string", "sort | of"}, got[0])
	assert.Contains(t, got, FieldDoc{"rows[].address", "address", "where"})
	assert.Contains(t, got, FieldDoc{"next", "[owner](#type-owner)", "more"})
	assert.Contains(t, got, FieldDoc{"share", "number", ""})
	assert.Contains(t, got, FieldDoc{"ok", "boolean", ""})
	assert.Contains(t, got, FieldDoc{"value", "any", ""})
	assert.Contains(t, got, FieldDoc{"maps", "object", ""})
	assert.Len(t, got, 10)

	var b bytes.Buffer
	require.NoError(t, WriteFields(&b, []NamedResult{{"one", Result[base]()}, {"two", Result[owner]()}}))
	assert.Contains(t, b.String(), "### one\n\n| field | type | meaning |\n|---|---|---|\n| `kind` | string | sort \\| of |\n")
	assert.Contains(t, b.String(), "### two\n\nThe result is [owner](#type-owner).\n")
	assert.Equal(t, 1, strings.Count(b.String(), "`rows[].address`"), "once")
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[0m\u202e\xff")
	f.Add("Dog\u200b\ufe0f\U000e0041")
	f.Add("\xed\xb0\x80\xed\xa0\x80\xed\xa0")
	f.Fuzz(func(t *testing.T, s string) {
		e := Escape(s)
		assert.True(t, utf8.ValidString(e))
		assert.Equal(t, e, Escape(e), "an escaped text is safe")
		for _, r := range e {
			assert.False(t, unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
				unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r), "%U is not seen", r)
		}
		q := jsonenc.AppendString(nil, s)
		var back string
		require.NoError(t, json.Unmarshal(q, &back))
		assert.Equal(t, string(utf16.Decode(utf16text.Units(s))), back, "each bad byte and lone surrogate becomes U+FFFD in Go")
	})
}
