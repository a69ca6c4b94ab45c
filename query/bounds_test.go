package query_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// TestErrors: a fault is reported with its place and a suggestion.
func TestErrors(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	for text, want := range map[string]string{
		"1 +":                               `column 4, at "the end": an expression is missing`,
		"(1":                                ") is missing before this",
		`"abc`:                              `column 1`,
		"x[1":                               "] is missing",
		"1 | 2":                             "bor(a, b)",
		"Debuggee.Zoo.Statcs.Int":           "did you mean Debuggee.Zoo.Statics?",
		"Debuggee":                          "names of types begin with Debuggee, but it is none of them itself; one is Debuggee.",
		"Debuggee.Zoo":                      "names of types begin with Debuggee.Zoo, but it is none of them itself; one is Debuggee.Zoo.",
		"Debuggee.Zoo.Xylophone.s_keys":     "no type in this dump is named Debuggee.Zoo.Xylophone; another in there is Debuggee.Zoo.",
		"Debuggee.Zoo.Statics.Itn":          "did you mean Int?",
		"siz(1)":                            "did you mean size?",
		"size(1, 2)":                        "size(x) has 2 arguments here",
		"(Debuggee.Zoo.Dgo)0x10000000":      "did you mean Debuggee.Zoo.Dog?",
		"Debuggee.Zoo.Statics.Null.Length":  "of a null reference; ?. is null there",
		"Node.x":                            "Node is ambiguous: write one of Debuggee.Zoo.Node",
		"1 matches /(/":                     "error parsing regexp",
		"$x":                                "$x has no value",
		"@nope":                             "there is no",
		"count()":                           "count is a function of groups",
		"12abz":                             `"12abz" is no number`,
		`Debuggee.Zoo.Statics.String.Foo()`: "nothing of the program can be called",
		`1 / 0`:                             "division by zero",
		`9223372036854775807 * 9`:           "more than 64 bits",
		`1 + true`:                          "+ is not defined for integer and bool",
		"Debuggee.Zoo.Statics.Struct.Z":     "there is no Z in Debuggee.Zoo.Point; it has X, Y",
		"Debuggee.Zoo.Statics.Array[3]":     "the array has no element [3]: its length is 3",
	} {
		assert.Contains(t, evaluate(p, text), want, text)
	}
	for text, want := range map[string]string{
		"from objekts":                                             "did you mean objects?",
		"from objects | wher size > 1":                             "did you mean where?",
		"from objects of Debuggee.Zoo.Dgo":                         "did you mean Debuggee.Zoo.Dog?",
		"from objects of Debuggee.Zoo.Dog | where Legz > 1":        "did you mean Legs?",
		"from objects of Debuggee.Zoo.Dog | where Friend.Legz > 1": "there is no Legz in Debuggee.Zoo.Dog; did you mean Legs?",
		"from objects | where NoSuchFieldAnywhere > 1":             "no column is named NoSuchFieldAnywhere",
		"from objects | group by type | select size":               "size is another for each row of a group",
		"from objects | select size | order by 3":                  "there is no column 3",
		"from objects | top x":                                     "a number of rows is missing",
		"from objects | top 3 | where size > 1":                    "top is the last step",
		"from threads of Debuggee.Zoo.Dog":                         "threads are of no type",
		"from objects of 'Debuggee.Zoo.Nothing<,>'":                "no loaded type is named",
		"select size":                                                   "FROM is missing",
		"select count(* from objects":                                   ") is missing",
		`from objects of "Nothing.Like*This"`:                           "no loaded type is named",
		"from objects where size > 1 garbage":                           "the query ends before this",
		"from objects | where size > 1 | group by type | select live(1": "missing",
	} {
		_, err := query.Run(t.Context(), p, text, query.Options{})
		if assert.Error(t, err, text) {
			assert.Contains(t, err.Error(), want, text)
			assert.ErrorAs(t, err, new(*query.Error), text)
		}
	}
}

// TestOpenGenerics: a generic type without arguments, or with the names of its parameters, means all instances, in
// quotes too.
func TestOpenGenerics(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	count := func(of string) string {
		out, _ := rowsOf(t, p, "from objects of "+of+" | select count()", query.Options{})
		require.Len(t, out, 1, of)
		return out[0]
	}
	want := count("System.Collections.Generic.Dictionary")
	assert.NotEqual(t, "0", want)
	for _, of := range []string{"System.Collections.Generic.Dictionary<,>", "'System.Collections.Generic.Dictionary<,>'", "'Dictionary<,>'",
		"System.Collections.Generic.Dictionary<TKey, TValue>", "'System.Collections.Generic.Dictionary<K,V>'"} {
		assert.Equal(t, want, count(of), of)
	}
}

// TestAmbiguousField: a name that fits several fields is an error that lists them.
func TestAmbiguousField(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	// System.Threading.Thread has _name. Debuggee.Zoo.Dog and its base both have name: the nearer one is used.
	assert.Equal(t, `"hidden"`, evaluate(p, "Debuggee.Zoo.Scenario.Root.Dog.name"))
	assert.Equal(t, `"hidden"`, evaluate(p, "Debuggee.Zoo.Scenario.Root.Dog.Name"))
}

// TestLargeExpressions: a large expression is answered or refused at once.
func TestLargeExpressions(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	const n = 10_000
	for name, text := range map[string]string{
		"parentheses": strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"negations":   strings.Repeat("!", n) + "true",
		"minus":       strings.Repeat("- ", n) + "1",
		"chain":       "x" + strings.Repeat(".x", 500_000),
		"sum":         "1" + strings.Repeat("+1", 500_000),
		"less":        "a" + strings.Repeat("<a", 500_000),
		"types":       strings.Repeat("a<", 500_000),
		"casts":       strings.Repeat("(a)", 300_000),
		"indexes":     "x" + strings.Repeat("[0]", 300_000),
		"calls":       strings.Repeat("size(", n) + "1" + strings.Repeat(")", n),
		"choices":     strings.Repeat("1?", n) + "1" + strings.Repeat(":1", n),
		"coalesce":    "null" + strings.Repeat("??null", n),
		"number":      strings.Repeat("9", 1<<20-1),
		"string":      `"` + strings.Repeat("a", 1<<20-3) + `"`,
		"too long":    strings.Repeat("1", 1<<21),
		"angles":      strings.Repeat("<", 1<<19),
		"brackets":    strings.Repeat("[", 1<<19),
		"pattern":     `"" matches /` + strings.Repeat("(a*)*", 100_000) + "/",
	} {
		start := time.Now()
		_ = evaluate(p, text)
		assert.Less(t, time.Since(start), 20*time.Second, name)
	}
	assert.Equal(t, "1", evaluate(p, strings.Repeat("(", 5000)+"1"+strings.Repeat(")", 5000)))
}

// TestLimits: rows, memory and time of a query are bounded, and the answer reports a cut.
func TestLimits(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	got, q := rowsOf(t, p, "from objects | select address", query.Options{Rows: 7})
	assert.Len(t, got, 7)
	assert.True(t, q.More)
	failure := func(text string, o query.Options) error {
		q, err := query.Run(t.Context(), p, text, o)
		require.NoError(t, err)
		for _, end := range q.Rows {
			require.Error(t, end, "there is a row")
			err = end
		}
		assert.Error(t, q.Total.Err(), "not all rows were read")
		return err
	}
	assert.ErrorIs(t, failure("from objects | group by address", query.Options{Memory: 10_000}), query.ErrLimit)
	assert.ErrorIs(t, failure("from objects | order by size", query.Options{Memory: 10_000}), query.ErrLimit)
	assert.ErrorIs(t, failure("from objects | group by address", query.Options{Time: time.Nanosecond}), query.ErrLimit)
	ctx, cancel := context.WithCancel(t.Context())
	q, err := query.Run(ctx, p, "from objects | group by address", query.Options{})
	require.NoError(t, err)
	cancel()
	for _, err := range q.Rows {
		assert.True(t, errors.Is(err, context.Canceled))
	}
}

// FuzzEvaluate: no text makes the parser or the evaluator panic or run for long.
func FuzzEvaluate(f *testing.F) {
	p := envOf(f, testdump.Open(f, "net10-zoo").Dump)
	for _, fact := range zooFacts {
		f.Add(strings.ReplaceAll(fact.expression, "R.", "Debuggee.Zoo.Scenario.Root."))
	}
	for _, s := range []string{"a<b<c>>.d", "(a.b[])x", "x?.[1]", "'\\", "0x", "1e", "$_", "@rax", "`", "refs(0x10)[0].x", "path(1)", "poi(poi(1))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, _ = query.Evaluate(ctx, p, text)
	})
}

// FuzzQuery is FuzzEvaluate for queries.
func FuzzQuery(f *testing.F) {
	p := envOf(f, testdump.Open(f, "net10-zoo").Dump)
	for _, s := range []string{
		"from objects of Debuggee.Zoo.Dog | where Legs > 3 && name != null | group by type, Coat | select count(), sum(Legs) as n | order by n desc | top 5",
		"SELECT DISTINCT type, count(*) FROM objects WHERE size BETWEEN 10 AND 20 GROUP BY type HAVING count(*) > 3 ORDER BY 2 DESC LIMIT 3 OFFSET 1",
		"from strings | where text like 'a%' | select text | distinct", "from threads | where name is not null", "from live | select count()",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		q, err := query.Run(ctx, p, text, query.Options{Rows: 20, Memory: 1 << 20})
		if err != nil {
			return
		}
		for row := range q.Rows {
			_ = row.AppendJSON(nil)
		}
	})
}

// TestLyingArray: an array that claims four billion elements is searched only as far as its memory goes.
func TestLyingArray(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	p := envOf(t, d.Dump)
	at, err := strconv.ParseUint(strings.TrimPrefix(evaluate(p, "addr(Debuggee.Zoo.Statics.Array)"), "0x"), 16, 64)
	require.NoError(t, err)
	bad := d.Damaged(t, testdump.Damage{At: target.Addr(at) + 8, Bytes: []byte{0xff, 0xff, 0xff, 0xff}})
	defer bad.Close()
	assert.Contains(t, evaluate(envOf(t, bad), "Debuggee.Zoo.Statics.Array.Contains(987654321)"), "segment")
}

// TestUnreadHeap: if no segment of the heap can be read, no query reports zero objects.
func TestUnreadHeap(t *testing.T) {
	d := testdump.Open(t, "net31-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	var damage []testdump.Damage
	for i := range h.Segments() {
		damage = append(damage, testdump.Words(h.Segments()[i].Addr, make([]uint64, 10)...))
	}
	damaged := d.Damaged(t, damage...)
	h, err = damaged.Heap()
	require.NoError(t, err)
	require.ErrorIs(t, h.Unread(), target.ErrCorrupt)
	for _, err := range h.Walk(t.Context(), nil) {
		require.ErrorIs(t, err, target.ErrCorrupt, "there is nothing to walk")
	}
	p := envOf(t, damaged)
	for _, text := range []string{"objects", "select count() from objects", "strings", "exceptions", "live", "from Zoo.Dog", "tasks", "select count() from tasks"} {
		q, err := query.Run(t.Context(), p, text, query.Options{})
		if err == nil {
			for _, err = range q.Rows {
				assert.Error(t, err, text)
			}
		}
		assert.ErrorIs(t, err, target.ErrCorrupt, text)
	}
}
