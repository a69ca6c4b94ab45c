package query_test

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// expressions have values that C# or the source of Zoo.cs fixes. S is Debuggee.Zoo.Statics and R its root.
var expressions = [][2]string{
	// Collections.
	{`R.Collections.ByName["key4"], R.Collections.ByName["key3"], R.Collections.ByName.Count, len(R.Collections.ByName)`, "16, <not supported>, 9, 9"},
	{`R.Collections.List[0], R.Collections.List[2], R.Collections.List.Count, len(R.Collections.List)`, "1, 3, 3, 3"},
	{`R.Collections.Linked[3], R.Collections.Stack[0], R.Collections.Plain[9], R.Collections.Bag[1]`, `"l3", "s9", 9, "b8"`},
	{`R.Collections.Hashtable["h3"], R.Collections.Concurrent["c4"], R.Collections.Concurrent["c5"]`, `3, 4, "odd5"`},
	{`len(R.Collections.Builder), len(R.Collections.Linked), len(R.Collections.HashSet), len("abc"), len(R.Collections)`, "106, 10, 2, 3, <not supported>"},
	// Numbers of more than 64 bits, and times.
	{"18446744073709551615 - 18446744073709551614, 18446744073709551615 / 5, 18446744073709551615 % 10", "1, 3689348814741910323, 5"},
	{"S.When - S.When, S.When - R.Primitives.TimeSpan, S.When == S.Int, S.Struct < S.Struct", "0, <not supported>, <not supported>, <not supported>"},
	// No result.
	{`S.String["x"], S.Array[7], R.Collections.List[-1], R.Collections.ByName[1], S.Int[0]`, "<not supported>, <not supported>, <not supported>, <not supported>, <not supported>"},
	{`"abc".Substring(9), !S.String, -S.String, S.Array + 1, S.Bool + 1`, "<not supported>, <not supported>, <not supported>, <not supported>, <not supported>"},
	{"S.Struct == S.StructWithReference, S.Struct == 1, S.Array == S.FromData, S.When == 'no date', S.When.Nonesuch", "false, <not supported>, false, <not supported>, <not supported>"},
	{"(int)S.String, (byte)S.Struct, (System.String)S.Array, S.Struct is int, (long)S.When", "<not supported>, <not supported>, <not supported>, false, <not supported>"},
	// Numbers.
	{"7 / 2, 7.0 / 2, -7 % 3, 7 - 10", "3, 3.5, -1, -3"},
	{"0x10 + 1, 0b101, 2kb, 1.5k, 10 << 2, 0xf0 >> 4, 6 & 3, 6 ^ 3, bor(6, 3), ~0", "0x11, 5, 2048, 1536, 40, 0xf, 2, 5, 0x7, -1"},
	{"0.1f, 0.1f == 0.1, 0.1 == 0.1f, 0.1f == 0.1d, 0.1f < 0.1, 0.1f + 0.2f, -0.1f, (float)0.1", "0.1, true, true, false, false, 0.3, -0.1, 0.1"},
	{"0.5 * 3, 7.5 % 2, 1e3 - 1, 2.5 == 2.5d", "1.5, 1.5, 999, true"},
	{"0.1m + 0.2m, 1m / 4, 2m * 0.5m, 7m % 4m, 1.50m == 1.5m, 3 < 3.5m, -1.5m", "0.3, 0.25, 1, 3, true, true, -1.5"},
	{"(byte)300, (int)3.9, (long)2.5m, (double)1, (decimal)5, (char)65", "44, 3, 2, 1, 5, A"},
	{"1 == 1.0, 18446744073709551615 > -1, 1 <= 1, 2 != 2, 3 in (1, 2, 3), 4 not in (1, 2)", "true, true, true, false, true, true"},
	{"true && !false, false || false, true ^ true, true & false, 1 < 2 ? 'yes!' : 'no!'", "true, false, false, false, yes!"},
	{"null ?? 5, null == null, isnull(null), isnull(1), null + 1, missing(1)", "5, true, true, false, null, false"},
	{"hex(255), hex(S.Int)", "0xff, 0x12d687"},
	// Text.
	{`"a" + "b", "n" + 1, "x\ty\u0041", @"a\b", len("𝄞"), 'c' + 1`, "ab, n1, x\tyA, a\\b, 2, 100"},
	{`S.String, S.String + "!", len(S.String), S.String.Length, S.String[0], S.String.Contains("ic s"), S.String.StartsWith("sta")`,
		`"static string", static string!, 13, 13, s, true, true`},
	{`S.String.EndsWith("ing"), S.String.IndexOf("string"), S.String.IndexOf("z"), S.String.Substring(7), S.String.Substring(0, 6)`, "true, 7, -1, string, static"},
	{`S.String.ToUpper(), "ABC".ToLower(), " a ".Trim(), S.String == "static string", "b" > "a"`, "STATIC STRING, abc, a, true, true"},
	{"S.String like '%%%rin%%g%%', S.String like '%%x', S.String like '%_%_%%'", "true, false, true"},
	{`S.String like '%ring', S.String like 'ring', S.String matches /^st.*g$/, S.String in ("a", "static string")`, "true, false, true, true"},
	{`text(S.Int), text(S.When), text(true), text(S.String)`, "1234567, 2026-11-20T00:00:00Z, true, static string"},
	// Lone surrogates.
	{`"a\ud800", '\udc00', len("a\ud800"), "\ud800" == "\ud801", "\ud800" == "\ufffd", "\ud834\udd1e" == "𝄞", "\ud834" + "\udd1e" == "𝄞"`,
		"a\xed\xa0\x80, \xed\xb0\x80, 2, false, false, true, true"},
	{`"a𝄞b".Substring(2) == "\udd1eb", "a𝄞".Substring(0, 2) + "𝄞"[1] == "a𝄞", "a\ud800b".ToUpper() == "A\ud800B", "a\ud800b".IndexOf("b")`,
		"true, true, true, 2"},
	{`"\ud800" matches /^.$/, "\ud800" like '_', "\ud800" like '\ud800', "\ud800" > "a", "\ud800"[0] == '\ud800'`, "true, true, true, true, true"},
	{`"a\ud800" matches "\ud800$", "a\ud801" matches "\ud800", "a\ud800" like '%\ufffd', "a\ufffd" like '%\ud800', "\ud800" matches /\x{fffd}/`,
		"true, false, false, false, false"},
	{`"\udc00\ud800" like '\udc00_', "\ud83d" matches /^[^\x{fffd}]$/, "\ud834\udd1e" like '\ud834%', "\ud800x" matches /^\P{L}x$/`, "true, true, false, true"},
	// Inline arrays.
	{`R.Newer.Inline[0], R.Newer.Inline[2], R.Newer.Inline[3], R.Newer.Inline[4], R.Newer.Inline["x"]`, "0, 22, 33, <not supported>, <not supported>"},
	// Fields, structs and arrays.
	{"S.Bool, S.Int, S.Long, S.Double, S.Null, isnull(S.Null), S.Null?.x", "true, 1234567, 1234605616436508552, 2.5, null, true, null"},
	{"S.Struct.X, S.Struct.Y, S.Struct == S.Struct, S.StructWithReference.Label, S.StructWithReference.Length", `11, 22, true, "static segment", 1.5`},
	{"len(S.Array), S.Array.Length, count(S.FromData), size(S.Array), addr(S.Array) == S.Array, addr(null)", "3, 3, 20, 36, true, 0x0"},
	{"type(S.Array), type(S.Array) == type(S.Array), type(1), type(S.String), S.Array is int[], S.String is string", "System.Int32[], true, integer, System.String, true, true"},
	{`S.When == '2026-11-20', S.When > '2026-11-19 23:00', S.When < S.When, S.When.Ticks == 739939 * 864000000000`, "true, true, false, true"},
	{"obj(addr(S.String)), obj(0), obj(addr(S.Array)).Length", `"static string", null, 3`},
	{"dwo(addr(S.Array) + 8), by(addr(S.Array) + 8), wo(addr(S.Array) + 8), qwo(addr(S.Array) + 8), poi(addr(S.Array) + 8)", "3, 3, 3, 3, 0x3"},
	{"hash(S.Array), text(obj(addr(S.Array))), type(S.Struct).Name, type(S.Array).FullName, S.String.GetType(), S.Int.ToString()",
		"null, System.Int32[3], Point, System.Int32[], System.String, 1234567"},
	{"(System.Object)S.String is string, S.String.Equals('static string'), (S.Array as System.String) == null, refs(S.StructWithReference.Label)",
		"true, true, true, null"},
	{"R.Primitives.TimeSpan.TotalHours, R.Primitives.TimeSpan.TotalSeconds, R.Primitives.TimeSpan == '0.01:30:30', R.Primitives.Some.HasValue, R.Primitives.Some.Value",
		"1.5083333333333333, 5430, true, true, 17"},
	{"R.Primitives.TimeSpan < '90m31s', R.Primitives.TimeSpan >= '5400s', R.Primitives.TimeSpan == '5430000ms'", "true, true, true"},
	{`"\"\\\n\r\0\x41\u00e9", len(@"a""b")`, "\"\\\n\r\x00Aé, 3"},
	{"refs(R.Arrays)[0] == R.Arrays.Ints, Debuggee.Zoo.Color.Blue, (Debuggee.Zoo.Color)200, (int)Debuggee.Zoo.Color.Blue", "true, Blue, Blue, 200"},
	{"3 > null, null < 3, 'a' < 'b', 1m > 0.5, R.Primitives.Inf > 1m", "false, false, true, true, true"},
	{"gen(S.String), gen(S.Array) == 0, gen(S.String) == 'frozen', gen(S.String) + 1, gen(null)", "frozen, true, true, 6, null"},
	{"live(S.Array), live(null), retained(S.Array), retained(null), size(null), refs(S.Array), referrers(S.Array)", "true, null, 36, null, null, null, null"},
}

var short = strings.NewReplacer("S.", "Debuggee.Zoo.Statics.", "R.", "Debuggee.Zoo.Scenario.Root.")

// TestExpressions: expressions with and without members have the values that C# gives them.
func TestExpressions(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	for _, x := range expressions {
		e, err := query.Evaluate(t.Context(), p, short.Replace(x[0]))
		if !assert.NoError(t, err, x[0]) {
			continue
		}
		var got []string
		for i := range e.Values {
			got = append(got, e.Values[i].Value.Plain())
		}
		assert.Equal(t, x[1], strings.Join(got, ", "), x[0])
	}
}

// TestAnObjectsMembers: for EvaluateOf, the object's fields are names, and this is the object.
func TestAnObjectsMembers(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	e, err := query.Evaluate(t.Context(), p, "Debuggee.Zoo.Scenario.Root.Dog")
	require.NoError(t, err)
	r, err := p.Process().Objects()
	require.NoError(t, err)
	dog, err := r.Proven(e.Values[0].Address)
	require.NoError(t, err)
	e, err = query.EvaluateOf(t.Context(), p, dog, "name, Coat, this == obj(addr(this)), Legs")
	require.NoError(t, err)
	assert.Equal(t, `"hidden"`, e.Values[0].Value.Plain())
	assert.Equal(t, "Blue", e.Values[1].Value.Plain())
	assert.Equal(t, "true", e.Values[2].Value.Plain())
	assert.Equal(t, "4", e.Values[3].Value.Plain())
	_, err = query.EvaluateOf(t.Context(), p, dog, "nonesuch")
	require.ErrorAs(t, err, new(*query.Error))
}

// TestMethodTableIsNoObject: the error about the address of a MethodTable names its type, and is the expression's, not
// of damaged memory.
func TestMethodTableIsNoObject(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	_, err := query.Evaluate(t.Context(), p, "obj(poi(addr(Debuggee.Zoo.Statics.String)))")
	require.ErrorIs(t, err, query.ErrNoAnswer)
	require.NotErrorIs(t, err, target.ErrCorrupt)
	assert.ErrorContains(t, err, "is not an object but the MethodTable of System.String; dumpmt ")
}

// TestLists: refs and referrers agree about the objects of an array, and a path leads to each.
func TestLists(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	e, err := query.Evaluate(t.Context(), p, "refs(Debuggee.Zoo.Scenario.Root.Arrays), referrers(Debuggee.Zoo.Scenario.Root.Arrays)")
	require.NoError(t, err)
	require.Equal(t, answer.CellList, e.Values[0].Kind)
	assert.Len(t, e.Values[0].Items, int(e.Values[0].Count))
	assert.Greater(t, int(e.Values[0].Count), 4, "one for each field with an array")
	require.EqualValues(t, 1, e.Values[1].Count)
	assert.Equal(t, "Debuggee.Zoo.Everything", e.Values[1].Items[0].Type)
	path := evaluate(p, "path(Debuggee.Zoo.Scenario.Root.Arrays)")
	assert.Contains(t, path, " -> ")
	assert.Contains(t, path, "Debuggee.Zoo.Everything")
	dead, _ := rowsOf(t, p, "from dead | select path(this) | top 1", query.Options{})
	assert.Equal(t, []string{"null"}, dead, "garbage has no path")
	assert.Equal(t, evaluate(p, "retained(System.String)"), sumRetained(t, p))
}

// sumRetained adds up the sizes of the live strings, which refer to nothing.
func sumRetained(t *testing.T, p *query.Env) string {
	t.Helper()
	list, _ := rowsOf(t, p, "from live of string | select sum(size)", query.Options{})
	require.Len(t, list, 1)
	return list[0]
}

// TestGenerations: groups have the names of generations, and are sorted by their numbers.
func TestGenerations(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	got, q := rowsOf(t, p, "from objects | group by gen | select gen | order by gen", query.Options{})
	assert.Equal(t, []string{"gen0", "loh", "poh", "frozen"}, got)
	assert.NotNil(t, q)
	byName, _ := rowsOf(t, p, "from objects | where gen == 'loh' | select count()", query.Options{})
	byNumber, _ := rowsOf(t, p, "from objects | where gen == 3 | select count()", query.Options{})
	assert.Equal(t, byNumber, byName)
}

// TestChoice: a condition selects the same objects as a query with it.
func TestChoice(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	h, err := p.Process().Heap()
	require.NoError(t, err)
	for _, where := range []string{"size > 100", "gen == 'frozen'", "live && length > 10", "_stringLength == 5"} {
		want, _ := rowsOf(t, p, "from objects | where "+where+" | select count()", query.Options{})
		c, err := query.Chooses(t.Context(), p, where, &heap.Filter{})
		require.NoError(t, err)
		test, n := c.Filter(), 0
		for o, err := range h.Objects() {
			require.NoError(t, err)
			if test(&o) {
				n++
			}
		}
		assert.Equal(t, want, []string{strconv.Itoa(n)}, where)
		require.NoError(t, c.Undecided())
		q, err := query.Select(t.Context(), p, where, "address, size", query.Options{Filter: &heap.Filter{}})
		require.NoError(t, err)
		for _, err := range q.Rows {
			require.NoError(t, err)
			n--
		}
		assert.Zero(t, n, where)
	}
	_, err = query.Chooses(t.Context(), p, "nonesuch > 1", &heap.Filter{})
	require.ErrorAs(t, err, new(*query.Error))
	_, err = query.Select(t.Context(), p, "size >", "", query.Options{})
	require.ErrorContains(t, err, "-where")
	_, err = query.Select(t.Context(), p, "", ",", query.Options{})
	require.ErrorContains(t, err, "-select")
}

type testRow struct {
	ID    uint64                 `row:"id,count" doc:"number"`
	Ref   query.Ref              `row:"ref,object" doc:"object"`
	Name  query.Opt[string]      `row:"name" doc:"name"`
	Raw   []byte                 `row:"raw,hidden"`
	At    query.Opt[target.Addr] `row:"at"`
	Float float64                `row:"float"`
	Any   query.Value            `row:"any"`
	Wrong int8                   `row:"wrong"`
}

// TestRowsOfStructs: the fields of a struct are columns. Null and missing values differ.
func TestRowsOfStructs(t *testing.T) {
	lost := errors.New("lost")
	s := query.NewSource(query.Source{Name: "x"}, func(context.Context) iter.Seq2[testRow, error] {
		return func(yield func(testRow, error) bool) {
			_ = yield(testRow{ID: 7, Ref: 8, Name: query.Some("n"), Raw: []byte("r"), At: query.Some(target.Addr(16)), Float: 0.5, Any: query.Bool(true)}, nil) &&
				yield(testRow{}, lost) && yield(testRow{Name: query.Unread[string](lost), At: query.SomeIf(target.Addr(0), false)}, nil)
		}
	})
	assert.Equal(t, 1, s.Object)
	kinds := []query.Kind{query.KindUint, query.KindObject, query.KindText, query.KindText, query.KindUint, query.KindFloat, query.KindError, query.KindError}
	for i, c := range s.Columns {
		assert.Equal(t, kinds[i], c.Kind, c.Name)
	}
	assert.True(t, s.Columns[0].Count)
	assert.Equal(t, "number", s.Columns[0].Summary)
	assert.True(t, s.Columns[3].Hidden)
	var got []string
	for row, err := range s.Rows(t.Context()) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		for _, v := range row {
			text, ok := v.Plain()
			if !ok {
				text = v.Kind().String()
			}
			got = append(got, text)
		}
	}
	assert.Equal(t, []string{"7", "0x8", "n", "r", "0x10", "0.5", "true", "error", "lost", "0", "null", "error", "", "null", "0", "error", "error"}, got)
}
