package query_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

type saleRow struct {
	City  query.Opt[string]      `row:"city"`
	Year  int64                  `row:"year"`
	Sum   query.Opt[float64]     `row:"sum"`
	Where query.Opt[target.Addr] `row:"at"`
	Paid  bool                   `row:"paid"`
}

// sales are rows with a null, a value that is not in the dump, and a NaN.
var sales = []saleRow{
	{query.Some("Oslo"), 2024, query.Some(1.5), query.Some(target.Addr(0x10)), true},
	{query.Some("Rome"), 2024, query.Some(4.0), query.Some(target.Addr(0x20)), false},
	{query.Some("Oslo"), 2025, query.Some(2.5), query.Opt[target.Addr]{}, true},
	{query.Opt[string]{}, 2025, query.Some(math.NaN()), query.Some(target.Addr(0x10)), true},
	{query.Some("Rome"), 2026, query.Unread[float64](target.ErrNotInDump), query.Some(target.Addr(0x30)), false},
	{query.Some("Bern"), -1, query.Opt[float64]{}, query.Some(target.Addr(0x40)), false},
}

// withSales adds the source sales to the Env of a dump.
func withSales(t *testing.T) *query.Env {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	p.Sources = append(p.Sources, query.NewSource(query.Source{Name: "sales", Aliases: []string{"orders"}}, func(context.Context) iter.Seq2[saleRow, error] {
		return func(yield func(saleRow, error) bool) {
			for _, s := range sales {
				if !yield(s, nil) {
					return
				}
			}
		}
	}))
	return p
}

// questions have answers that can be counted by hand.
var questions = []struct {
	text string
	want []string
}{
	{"from sales | where year == 2024 | select city, sum", []string{"Oslo | 1.5", "Rome | 4"}},
	{"from orders | where paid && sum > 1 | select year", []string{"2024", "2025"}},
	{"SELECT city, year FROM sales WHERE city LIKE 'R%' ORDER BY year DESC", []string{"Rome | 2026", "Rome | 2024"}},
	{"select distinct city from sales order by city", []string{"null", "Bern", "Oslo", "Rome"}},
	{"from sales | group by city | select city, count() | order by city", []string{"null | 1", "Bern | 1", "Oslo | 2", "Rome | 2"}},
	{"from sales | where city == 'Oslo' | select sum(sum), avg(sum), min(sum), max(sum), any(city), count(at)", []string{"4 | 2 | 1.5 | 2.5 | Oslo | 1"}},
	{"from sales | select sum(year), avg(year), min(year), max(year), count(distinct year)", []string{"10123 | 1687.1666666666667 | -1 | 2026 | 4"}},
	{"from sales | where sum == sum | select sum", []string{"1.5", "4", "2.5", "null"}}, // NaN is not equal to itself
	{"from sales | where missing(sum) | select year", []string{"2026"}},
	{"from sales | where isnull(at) | select year", []string{"2025"}},
	{"from sales | where sum is null | select year", []string{"-1"}},
	{"from sales | group by paid | select paid, count(*) | having count(*) > 2 | order by 2 desc, 1", []string{"false | 3", "true | 3"}},
	{"SELECT city, count(*) FROM sales GROUP BY city HAVING count(*) > 1 ORDER BY city DESC LIMIT 1", []string{"Rome | 2"}},
	{"SELECT year FROM sales ORDER BY year LIMIT 2 OFFSET 1", []string{"2024", "2024"}},
	{"from sales | select year | order by year desc | top 2", []string{"2026", "2025"}},
	{"from sales | where year between 2024 and 2025 && city in ('Oslo', 'Bern') | select count()", []string{"2"}},
	{"from sales | where at == 0x10 | select year * 2 + 1, at", []string{"4049 | 0x10", "4051 | 0x10"}},
	{"from sales | where !(city matches /^[OR]/) | select city", []string{"null", "Bern"}},
	{"from sales | select city + '/' + year | top 1", []string{"Oslo/2024"}},
	{"from sales | select sum, year | order by sum desc", []string{"4 | 2024", "2.5 | 2025", "1.5 | 2024", "NaN | 2025", "null | -1", "<not in dump> | 2026"}},
	{"from sales | select sum, year | order by sum", []string{"null | -1", "NaN | 2025", "1.5 | 2024", "2.5 | 2025", "4 | 2024", "<not in dump> | 2026"}},
	{"from sales | where false | select count(), sum(year), max(year)", []string{"0 | 0 | null"}},
}

// TestQuestions: pipelines and SQL give the rows that a person would count.
func TestQuestions(t *testing.T) {
	p := withSales(t)
	for _, q := range questions {
		list, _, _ := readRows(t, p, q.text, query.Options{})
		assert.Equal(t, q.want, list, q.text)
	}
}

// TestQuestionErrors: a fault in a question is reported with a suggestion.
func TestQuestionErrors(t *testing.T) {
	p := withSales(t)
	for text, want := range map[string]string{
		"from sales | group by city | select year":   "year is another for each row of a group",
		"from sales | select cty":                    "did you mean city?",
		"from sale | select city":                    "did you mean sales?",
		"from sales | select size(city":              "column",
		"from sales of string | select city":         "sales",
		"from objects of Nonesuch | select address":  "no loaded type is named Nonesuch",
		"from objects of Node | select address":      "Node is ambiguous: write one of Debuggee.Zoo.Node",
		"from sales | where city like | select city": "column",
		"from sales | select count(city, year)":      "count",
		"from sales | select nothing(city)":          "there is no function nothing",
		"from sales | top x":                         "column",
		"select":                                     "column",
		"":                                           "",
	} {
		_, err := query.Run(t.Context(), p, text, query.Options{})
		if assert.Error(t, err, text) {
			assert.ErrorContains(t, err, want, text)
			assert.ErrorAs(t, err, new(*query.Error), text)
		}
	}
}

// TestRegisters: registers of the current thread have names, and thread statics have its values.
func TestRegisters(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	p := envOf(t, d.Dump)
	v, err := d.View("")
	require.NoError(t, err)
	list, err := v.Threads()
	require.NoError(t, err)
	values := map[string]bool{}
	for i := range list {
		th := &list[i]
		p.Thread = func() (*stackwalk.Thread, error) { return th, nil }
		if th.OS == nil {
			continue
		}
		ip, _ := th.OS.Registers.IP()
		sp, _ := th.OS.Registers.SP()
		assert.Equal(t, fmt.Sprintf("0x%x", uint64(ip)), evaluate(p, "hex(@rip)"))
		assert.Equal(t, fmt.Sprintf("0x%x", uint64(sp)), evaluate(p, "hex(@rsp)"))
		assert.Equal(t, evaluate(p, "hex(@rip)"), evaluate(p, "hex(@ip)"))
		values[evaluate(p, "Debuggee.Zoo.Statics.PerThreadString")] = true
	}
	assert.True(t, values[`"main thread"`] && values[`"worker thread"`], "%v", values)
	assert.Contains(t, evaluate(p, "@nonesuch"), "there is no register @nonesuch")
	p.Thread = nil
	for _, text := range []string{"@rip", "Debuggee.Zoo.Statics.PerThreadString"} {
		_, err := query.Evaluate(t.Context(), p, text)
		assert.ErrorIs(t, err, query.ErrNoThread)
		assert.ErrorIs(t, err, target.ErrArgument)
		assert.ErrorContains(t, err, "is a thread's: no thread was chosen, by EvaluateOptions.Thread", text)
	}
	values = map[string]bool{}
	for i := range list {
		got, _ := rowsOf(t, p, "from objects of Debuggee.Zoo.Dog | select Debuggee.Zoo.Statics.PerThreadString | top 1", query.Options{Thread: &list[i]})
		require.Len(t, got, 1)
		values[got[0]] = true
	}
	assert.True(t, values[`"main thread"`] && values[`"worker thread"`], "%v", values)
	assert.Contains(t, evaluate(p, "@nonesuch"), "there is no register @nonesuch")
}

// TestNames: completion offers the functions and the sources.
func TestNames(t *testing.T) {
	names := map[string]bool{}
	for _, s := range query.HeapSources() {
		names[s.Name] = true
	}
	assert.Equal(t, map[string]bool{"objects": true, "live": true, "dead": true, "strings": true, "exceptions": true}, names)
	assert.Contains(t, fmt.Sprint(query.Functions()), "retained")
}

// TestGroupsOfValues: structs, decimals, times, enums and boxes are keys of groups, and can be sorted.
func TestGroupsOfValues(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	for text, want := range map[string][]string{
		"from objects of Debuggee.Zoo.Primitives | group by Struct.To, Decimal, DateTime, Boxed, Flags | select count()": nil,
		"from objects of Debuggee.Zoo.Primitives | select Decimal, TimeSpan, Boxed | order by Struct, Decimal desc, TimeSpan, Boxed, Guid": {
			"12345.6789 | 01:30:30 | 42"},
		"from objects of Debuggee.Zoo.Primitives | select max(Decimal), min(TimeSpan), sum(Boxed), avg(Decimal), sum(Decimal)": nil,
		"from objects of Debuggee.Zoo.Dog | where this is Debuggee.Zoo.IShape | select Coat | distinct":                        nil,
		"from objects of Debuggee.Zoo.Animal | where Coat == 'Blue' && type(this) != null | select any(Legs)":                  nil,
	} {
		got, q := rowsOf(t, p, text, query.Options{})
		require.NotEmpty(t, got, text)
		for _, line := range got {
			assert.NotContains(t, line, "<not", text)
		}
		if want != nil {
			assert.Len(t, got, len(want), text)
		}
		assert.Empty(t, q.Noted(), text)
	}
}

// TestRowMembers: members of the object that a source's row is about are names.
func TestRowMembers(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-async").Dump)
	want, _ := rowsOf(t, p, "from tasks | select flags", query.Options{})
	got, _ := rowsOf(t, p, "from tasks | select hex(m_stateFlags)", query.Options{})
	require.Len(t, got, len(want))
	same := 0
	for i := range got {
		if got[i] == want[i] {
			same++
		}
	}
	assert.Greater(t, same, 15)
	list, _ := rowsOf(t, p, "from tasks | where this is System.Threading.Tasks.Task && m_action == null | select count()", query.Options{})
	require.Len(t, list, 1)
	assert.NotEqual(t, "0", list[0])
}

// TestNothingToRead: without a heap in the dump, a question about objects is an error, and one about threads has rows
// with errors for missing parts.
func TestNothingToRead(t *testing.T) {
	p := envOf(t, testdump.Open(t, "win-net10-zoo-triage").Dump)
	for _, text := range []string{"from objects | select address", "from strings | group by length | select count()", "from live | select count()"} {
		q, err := query.Run(t.Context(), p, text, query.Options{})
		if err == nil {
			for _, err = range q.Rows {
				if err != nil {
					break
				}
			}
		}
		require.Error(t, err, text)
		assert.True(t, testdump.Typed(err), "%s: %v", text, err)
	}
	got, _ := rowsOf(t, p, "from threads | select osid, name, exception", query.Options{})
	assert.NotEmpty(t, got)
	grouped, lost, _ := readRows(t, p, "from statics | group by value | select count()", query.Options{})
	assert.NotEmpty(t, grouped)
	assert.NotEmpty(t, lost, "the count lacks statics that can't be read")
}
