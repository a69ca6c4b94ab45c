package query_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// envOf returns the Env of a dump.
func envOf(t testing.TB, d *sosgo.Dump) *query.Env {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	p, err := rows.Env(v.Process)
	require.NoError(t, err)
	return p
}

// evaluate returns the result of an expression as text, or its error.
func evaluate(p *query.Env, expression string) string {
	e, err := query.Evaluate(context.Background(), p, expression)
	if err != nil {
		return "error: " + err.Error()
	}
	c := e.Values[0].Value
	return c.Plain()
}

// rowsOf returns the rows of a query that has all its rows.
func rowsOf(t testing.TB, p *query.Env, text string, o query.Options) ([]string, *answer.Query) {
	t.Helper()
	out, lost, q := readRows(t, p, text, o)
	require.Empty(t, lost, text)
	return out, q
}

// readRows returns the rows of a query and the errors of missing ones.
func readRows(t testing.TB, p *query.Env, text string, o query.Options) (out []string, lost []error, q *answer.Query) {
	t.Helper()
	q, err := query.Run(context.Background(), p, text, o)
	require.NoError(t, err, text)
	for row, err := range q.Rows {
		if err != nil {
			assert.Empty(t, row)
			lost = append(lost, err)
			continue
		}
		var cells []string
		for i := range row.Cells {
			cells = append(cells, row.Cells[i].Plain())
		}
		out = append(out, strings.Join(cells, " | "))
	}
	require.NoError(t, q.Failure(), text)
	return out, lost, q
}

// zooFacts are expressions about objects of Zoo.cs with the results that its source determines. R is the root.
var zooFacts = []struct{ expression, want string }{
	{"R.Dog.name", `"hidden"`},
	{"((Debuggee.Zoo.Animal)R.Dog).name", `"Rex"`},
	{"R.Dog.Legs + R.Dog.name2", "11"},
	{"R.Dog is Debuggee.Zoo.Animal && R.Dog is Debuggee.Zoo.IShape && !(R.Dog is string)", "true"},
	{"(R.Dog as Debuggee.Zoo.Node)?.Id ?? -1", "-1"},
	{"R.Dog.Coat", "Blue"},
	{`R.Dog.Coat == "Blue" && R.Dog.Coat == Debuggee.Zoo.Color.Blue && (int)R.Dog.Coat == 200`, "true"},
	{"R.Primitives.SByte", "-5"},
	{"R.Primitives.UInt64", "18000000000000000000"},
	{"R.Primitives.UInt64 > R.Primitives.Int64", "true"},
	{"R.Primitives.Int32 % 10", "-9"},
	{"R.Primitives.Decimal * 2 + 0.1m", "24691.4578"},
	{"R.Primitives.Decimal > 12345.6788m && R.Primitives.Decimal < 12346", "true"},
	{"R.Primitives.NaN == R.Primitives.NaN || R.Primitives.NaN < 1", "false"},
	{"R.Primitives.Inf > 1e300", "true"},
	{"R.Primitives.Char == 'Ω' && R.Primitives.Char == \"Ω\"", "true"},
	{"R.Primitives.Some + 1", "18"},
	{`R.Primitives.None ?? "none"`, "none"},
	{"R.Primitives.None > 1", "false"},
	{"R.Primitives.Null == null && R.Primitives.Null?.Length == null", "true"},
	{"R.Primitives.Boxed + 1", "43"},
	{"R.Primitives.BoxedStruct.X * 10 + R.Primitives.BoxedStruct.Y", "34"},
	{"R.Primitives.Struct.To.X", "30"},
	{"R.Primitives.Struct.Label", `"seg"`},
	{"R.Primitives.Tuple.Item1", "5"},
	{"R.Primitives.Flags.HasFlag(\"Write\")", "true"},
	{"R.Primitives.TimeSpan.TotalMinutes", "90.5"},
	{"R.Primitives.TimeSpan == \"1h30m30s\"", "true"},
	{"R.Primitives.DateTime > \"2013-02-28\" && R.Primitives.DateTime < \"2013-02-28T01:02:04\"", "true"},
	{"R.Primitives.Guid == \"00112233-4455-6677-8899-AABBCCDDEEFF\"", "true"},
	{"R.Primitives.String.Length", "15"},
	{`R.Primitives.String.StartsWith("hello") && R.Primitives.String.EndsWith("好") && R.Primitives.String.Contains("wör")`, "true"},
	{`R.Primitives.String matches /^h.*w(ö|oe)rld/ && R.Primitives.String like 'hello%'`, "true"},
	{`R.Primitives.String.Substring(0, 5).ToUpper()`, "HELLO"},
	{"R.Primitives.String[1]", "e"},
	{"R.Arrays.Ints[3] - R.Arrays.Ints[0]", "30"},
	{"R.Arrays.Matrix[1, 2]", "6"},
	{"R.Arrays.Jagged[1][1]", "3"},
	{"R.Arrays.NonZeroBased.Length", "3"},
	{"R.Arrays.Points[1].Y", "4"},
	{"R.Arrays.Strings[1] == null", "true"},
	{"R.Collections.List[1] + R.Collections.List.Count", "5"},
	{`R.Collections.ByName["key4"]`, "16"},
	{`R.Collections.ByName.ContainsKey("key3")`, "false"},
	{"R.Collections.ById[21].Legs", "4"},
	{`R.Collections.HashSet.Contains("y")`, "true"},
	{`R.Collections.Sorted[2]`, `"b"`},
	{"R.Anonymous.Value", "12"},
	{"R.Nested.Parent.Item", `"item"`},
	{"Debuggee.Zoo.Statics.Int", "1234567"},
	{"hex(Debuggee.Zoo.Statics.Long)", "0x1122334455667788"},
	{"Debuggee.Zoo.Statics.Struct.Y", "22"},
	{"Debuggee.Zoo.GenericStatics<int>.Name != Debuggee.Zoo.GenericStatics<string>.Name", "true"},
	{"(byte)300 + (sbyte)200", "-12"},
	{"1 + 2 * 3 == 7 ? \"yes\" : \"no\"", "yes"},
	{"0x10 + 1", "0x11"},
	{"1.5kb", "1536"},
	{"7 in (1, 3, 7)", "true"},
	{"5 between 1 and 5", "true"},
	{"bor(1, 4) & ~1", "0x4"},
	{"size(R.Dog) == R.Dog.size || size(R.Dog) > 0", "true"},
}

// TestZooFacts: the results that Zoo.cs determines, on every runtime and both systems.
func TestZooFacts(t *testing.T) {
	n := 0
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		root, ok := d.Manifest.Fact("root")
		if !ok || !strings.Contains(root, "Debuggee.Zoo.Everything") || d.Manifest.Kind != "withheap" {
			t.Skip("no program of Zoo.cs")
		}
		address, _, _ := strings.Cut(root, " ")
		p := envOf(t, d.Dump)
		for _, f := range zooFacts {
			if strings.Contains(f.expression, "R.Dog.size") {
				continue
			}
			got := evaluate(p, strings.ReplaceAll(f.expression, "R.", address+"."))
			if strings.Contains(f.expression, ".Statics.") && strings.Contains(got, "not in the dump") && testcase.OnWindows(d.Case) {
				continue // minidumps with heap have only statics that are references
			}
			n++
			assert.Equal(t, f.want, got, f.expression)
		}
		if got := evaluate(p, "Debuggee.Zoo.NeverTouched.Value"); !testcase.OnWindows(d.Case) {
			assert.Contains(t, got, "not initialised")
		}
	})
	require.NotZero(t, n)
}

// TestZooQueries: queries with answers that Zoo.cs determines, and the same in SQL.
func TestZooQueries(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if root, ok := d.Manifest.Fact("root"); !ok || !strings.Contains(root, "Debuggee.Zoo.Everything") || d.Manifest.Kind != "withheap" {
			t.Skip("no program of Zoo.cs")
		}
		p := envOf(t, d.Dump)
		for _, c := range []struct {
			pipeline, sql string
			want          []string
		}{
			{"from Debuggee.Zoo.Node | select count(), max(Id), min(Id), count(distinct Id)",
				"SELECT COUNT(*), MAX(Id), MIN(Id), COUNT(DISTINCT Id) FROM Debuggee.Zoo.Node", []string{"20 | 19 | 0 | 20"}},
			{"from objects of Debuggee.Zoo.Node | where Id >= 17 | select Id, Next.Id as n | order by Id desc",
				"SELECT Id, Next.Id AS n FROM Debuggee.Zoo.Node WHERE Id >= 17 ORDER BY Id DESC", nil},
			{"from objects of Debuggee.Zoo.Animal | where Coat == \"Blue\" && this is Debuggee.Zoo.IShape | group by type, Legs | select sum(Legs) / count()",
				"SELECT SUM(Legs) / COUNT(*), type, Legs FROM Debuggee.Zoo.Animal WHERE Coat = 'Blue' AND this IS Debuggee.Zoo.IShape GROUP BY type, Legs", nil},
			{"from strings | where text == \"hello, wörld 你好\" | select length", "SELECT length FROM strings WHERE text = 'hello, wörld 你好'", []string{"15"}},
			{"from objects of Debuggee.Zoo.Finalizable | select Tag", "SELECT Tag FROM Finalizable", nil},
		} {
			got, lost, _ := readRows(t, p, c.pipeline, query.Options{})
			sql, again, _ := readRows(t, p, c.sql, query.Options{})
			assert.Equal(t, lost, again)
			assert.NotEmpty(t, got, c.pipeline)
			assert.Equal(t, got, sql, c.sql)
			if c.want != nil {
				assert.Equal(t, c.want, got, c.pipeline)
			}
		}
	})
}

// TestColumnNames: columns are named by as, or by their expression. Names are unique.
func TestColumnNames(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	_, q := rowsOf(t, p, "SELECT Id AS number, Next.Id AS 'the next', size,  size FROM Debuggee.Zoo.Node LIMIT 1", query.Options{})
	var names []string
	for _, c := range q.Columns {
		names = append(names, c.Name)
	}
	assert.Equal(t, []string{"number", "the next", "size", "size (2)"}, names)
}

// TestWorkers: the answer does not depend on the number of workers.
func TestWorkers(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	for _, text := range []string{
		"from objects | group by type | select count(), sum(size), any(address), avg(size)",
		"from objects | where size > 100 | select address, size, type | order by size desc | top 50",
		"from strings | group by text | select count(), min(address) | order by 1 desc",
		"from objects | select address | skip 100 | top 500",
	} {
		p.Scan.Jobs = 1
		want, q := rowsOf(t, p, text, query.Options{})
		require.NotEmpty(t, want)
		for _, jobs := range []int{2, 7} {
			p.Scan.Jobs = jobs
			got, again := rowsOf(t, p, text, query.Options{})
			assert.Equal(t, want, got, text)
			assert.Equal(t, q.Total, again.Total)
		}
	}
}

// stringInterfaces returns the addresses of the MethodTable of strings and of the list of its interfaces, found by a
// pointer to a list that starts with one of them.
func stringInterfaces(t *testing.T, d *sosgo.Dump) (mt, list target.Addr) {
	t.Helper()
	h, err := d.Heap()
	require.NoError(t, err)
	p := envOf(t, d)
	r, err := p.Process().Objects()
	require.NoError(t, err)
	for s, err := range r.TypeByName("System.String", "") {
		require.NoError(t, err)
		ifaces, err := r.Runtime().Interfaces(s.MT)
		require.NoError(t, err)
		word := func(a target.Addr) target.Addr {
			b, err := target.Bytes(h.Memory(), a, 8)
			if err != nil {
				return 0
			}
			return target.Addr(binary.LittleEndian.Uint64(b))
		}
		for at := s.MT.Addr; at < s.MT.Addr+0x60; at += 8 {
			if first := word(word(at)); first != 0 && slices.Contains(ifaces, first) {
				return s.MT.Addr, word(at)
			}
		}
	}
	require.Fail(t, "the list of the interfaces of strings was not found")
	return 0, 0
}

// TestDoubts: if the interfaces of a type are not in the dump, it is unknown whether its objects are selected. That is
// reported once, however many workers meet the type in however many parts of the heap.
func TestDoubts(t *testing.T) {
	sound := testdump.Open(t, "net10-zoo")
	str, list := stringInterfaces(t, sound.Dump)
	for _, jobs := range []int{1, 2, 3, 8} {
		p := envOf(t, sound.Without(t, target.Range{Start: list, End: list + 8}))
		p.Scan.Jobs = jobs
		got, lost, _ := readRows(t, p, "SELECT count(*) FROM System.Collections.IEnumerable", query.Options{})
		require.Len(t, got, 1)
		var problems []string
		for _, err := range lost {
			if strings.Contains(err.Error(), fmt.Sprintf("%016x are wanted", uint64(str))) {
				assert.ErrorIs(t, err, target.ErrNotInDump)
				problems = append(problems, err.Error())
			}
		}
		assert.Len(t, problems, 1, "%d workers", jobs)
	}
}

// TestCountsAreTheHeaps: a query has the counts of the heap's own statistics.
func TestCountsAreTheHeaps(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	stats, err := h.Stats(t.Context(), nil, envOf(t, d.Dump).Scan)
	require.NoError(t, err)
	want := map[string]string{}
	for _, s := range stats.Types {
		name, err := h.Runtime().TypeName(s.Type.Addr, 1)
		require.NoError(t, err)
		if name != "Free" {
			want[fmt.Sprintf("%#x", uint64(s.Type.Addr))] = fmt.Sprintf("%d | %d", s.Count, s.Size)
		}
	}
	got := map[string]string{}
	list, _ := rowsOf(t, envOf(t, d.Dump), "SELECT mt, count(*), sum(size) FROM objects GROUP BY mt", query.Options{})
	for _, l := range list {
		mt, rest, _ := strings.Cut(l, " | ")
		got[mt] = rest
	}
	assert.Equal(t, want, got)
}

// TestAbsentIsNoNull: a value that is not in the dump is neither null nor zero, in expressions and in queries.
func TestAbsentIsNoNull(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	root, _ := d.Manifest.Fact("root")
	address, _, _ := strings.Cut(root, " ")
	head, _ := d.Manifest.Fact("root.Head")
	at := testdump.Address(strings.Fields(head)[0])
	// A reference to memory that the process did not have.
	damaged := testdump.Patched(t, "net10-zoo", map[target.Addr][]byte{at + 8: {8, 0, 0, 0, 0x20, 0, 0, 0}})
	p := envOf(t, damaged)
	for _, expression := range []string{"R.Head.Next.Id", "R.Head.Next.Id ?? 5", "R.Head.Next.Id + 1", "-R.Head.Next.Id", "R.Head.Next.Id > 1 && true",
		"R.Head.Next is Debuggee.Zoo.Node", "text(R.Head.Next.Id)", "R.Head.Next.Id == 1 ? 1 : 2", "R.Head.Next?.Id", "!(R.Head.Next.Id > 1)"} {
		_, err := query.Evaluate(t.Context(), p, strings.ReplaceAll(expression, "R.", address+"."))
		assert.ErrorIs(t, err, target.ErrCorrupt, expression)
	}
	for expression, want := range map[string]string{"R.Head.Next.Id > 1 && false": "false", "R.Head.Next.Id > 1 || true": "true", "missing(R.Head.Next.Id)": "true"} {
		assert.Equal(t, want, evaluate(p, strings.ReplaceAll(expression, "R.", address+".")), expression)
	}
	got, lost, _ := readRows(t, p, "from Debuggee.Zoo.Node | where Next.Id >= 0 | select count()", query.Options{})
	assert.Equal(t, []string{"18"}, got) // 20 without the last, which has no next, and one that is undecided
	require.Len(t, lost, 1)
	assert.ErrorIs(t, lost[0], target.ErrCorrupt)
	assert.Contains(t, lost[0].Error(), "1 rows are left out")
	got, lost, _ = readRows(t, p, "from Debuggee.Zoo.Node | select count(), sum(Next.Id)", query.Options{})
	assert.Len(t, got, 1)
	require.Len(t, lost, 1)
	assert.ErrorIs(t, lost[0], target.ErrCorrupt)
}

// TestNothingIsNotZero: if the heap is not in the dump, nothing is counted, not even zero objects.
func TestNothingIsNotZero(t *testing.T) {
	p := envOf(t, testdump.Open(t, "win-net10-zoo-triage").Dump)
	q, err := query.Run(t.Context(), p, "from objects | select count()", query.Options{})
	if err == nil {
		for _, end := range q.Rows {
			require.Error(t, end, "there is a row")
			err = end
		}
	}
	assert.ErrorIs(t, err, target.ErrNotInDump)
	_, err = query.Evaluate(t.Context(), p, "Debuggee.Zoo.Scenario.Root.Dog ?? 5")
	assert.ErrorIs(t, err, target.ErrNotInDump)
}

// TestSources: every source has rows, and its columns can be selected.
func TestSources(t *testing.T) {
	found := map[string]int{}
	for _, d := range []*testdump.Dump{testdump.Open(t, "net10-zoo"), testdump.OpenWeb(t, "web-net10")} {
		p := envOf(t, d.Dump)
		for _, s := range p.Sources {
			found[s.Name] += askAll(t, p, s)
		}
		list, err := d.Threads()
		require.NoError(t, err)
		got, _ := rowsOf(t, p, "from threads | select count()", query.Options{})
		assert.Equal(t, []string{fmt.Sprint(len(list))}, got)
	}
	sessions, _ := testdump.OverlaidFile(t, "../testdata/dumps/sessions/net10-sessions/net10-sessions.dmp.zst", sosgo.Options{Offline: true})
	for p, n := envOf(t, sessions), 0; n < len(p.Sources); n++ {
		if s := p.Sources[n]; s.Name == "sessions" {
			found[s.Name] += askAll(t, p, s)
		}
	}
	require.NotEmpty(t, found)
	for name, n := range found {
		assert.NotZero(t, n, name)
	}
}

// askAll selects all columns of a source. It returns the number of rows.
func askAll(t *testing.T, p *query.Env, s query.Source) (n int) {
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Name)
	}
	q, err := query.Run(t.Context(), p, "select "+strings.Join(names, ", ")+" from "+s.Name, query.Options{})
	require.NoError(t, err, s.Name)
	require.Error(t, q.Total.Err(), "not read yet")
	for row, err := range q.Rows {
		if err != nil {
			require.ErrorIs(t, err, target.ErrNotInDump, s.Name)
			continue
		}
		require.Len(t, row.Cells, len(names))
		n++
	}
	if q.Failure() != nil {
		require.Zero(t, n)
		require.Error(t, q.Total.Err(), "nothing could be read")
		return 0
	}
	assert.Equal(t, answer.Known(uint64(n)), q.Total)
	return n
}

// TestWebCollections: collections of a web program, selected by name, are as in its manifest.
func TestWebCollections(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		p := envOf(t, d.Dump)
		for expression, want := range map[string]string{
			`WEB.DictionaryStringInt["two"]`:          "2",
			`WEB.DictionaryStringInt.Count`:           "3",
			`WEB.DictionaryLongEnum[-5]`:              "Low",
			`WEB.DictionaryStringList["odd"][2]`:      "5",
			`WEB.ConcurrentDictionaryStringInt["c2"]`: "22",
			`WEB.FrozenDictionaryStringInt["hail"]`:   "3",
		} {
			assert.Equal(t, want, evaluate(p, strings.ReplaceAll(expression, "WEB", "WebDebuggee.Collections")), expression)
		}
		got, _ := rowsOf(t, p, "from threads | select count()", query.Options{})
		assert.NotEqual(t, []string{"0"}, got)
		return 6
	})
}

// TestLiveStrength: live has the strength possible if only unproved roots keep an object alive.
func TestLiveStrength(t *testing.T) {
	d := testdump.Open(t, "win-net10-zoo").Dump
	p := envOf(t, d)
	x, err := p.Process().Holders(t.Context(), graph.Options{})
	require.NoError(t, err)
	g := x.Graph()
	live, err := g.LiveStarts(t.Context())
	require.NoError(t, err)
	proved, err := g.LiveProved(t.Context())
	require.NoError(t, err)
	asked := map[answer.Strength]int{}
	for n := range graph.Node(g.Objects()) {
		a, want := g.Address(n), answer.Strength("")
		if live(a) && !proved(a) {
			want = answer.StrengthPossible
		}
		if asked[want]++; asked[want] > 3 {
			continue
		}
		e, err := query.Evaluate(t.Context(), p, fmt.Sprintf("live(%#x), 1", uint64(a)))
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(live(a)), e.Values[0].Value.Plain())
		assert.Equal(t, want, e.Values[0].Strength)
		assert.Empty(t, e.Values[1].Strength)
	}
	assert.NotZero(t, asked[answer.StrengthPossible])
}
