package tables_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/internal/export/tables"
	"github.com/sosgo/sosgo/internal/test/exportread"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

func processOf(t testing.TB, d *sosgo.Dump) *tables.Input {
	v, err := d.View("")
	require.NoError(t, err)
	p := &tables.Input{Summary: &answer.Summary{ID: "1", Dump: "x"}}
	env, err := rows.Env(v.Process)
	if errors.Is(err, target.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	p.Sources = env.Sources
	r, err := v.Objects()
	require.NoError(t, err)
	if g, err := v.Graph(t.Context(), graph.Options{}); err == nil {
		p.Heap = &pieces.Heap{Graph: g, Objects: r, Jobs: 3}
	}
	return p
}

// written returns the files of a form by their names.
func written(t testing.TB, p *tables.Input, o tables.Options) (map[string][]byte, []tables.Written) {
	files := map[string][]byte{}
	var gaps answer.Gaps
	list, err := tables.Write(t.Context(), p, o, &gaps, func(name string, write func(io.Writer) error) error {
		var b bytes.Buffer
		err := write(&b)
		if err == nil {
			files[name] = b.Bytes()
		}
		return err
	})
	require.NoError(t, err)
	require.Len(t, files, len(list))
	return files, list
}

// TestForms: the forms have the same rows, and their bytes are the same for any number of workers.
func TestForms(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		p := processOf(t, d.Dump)
		pq, list := written(t, p, tables.Options{Form: tables.Parquet})
		text, _ := written(t, p, tables.Options{Form: tables.CSV})
		lines, _ := written(t, p, tables.Options{Form: tables.NDJSON})
		if p.Heap != nil {
			p.Heap.Jobs = 1
		}
		again, _ := written(t, p, tables.Options{Form: tables.Parquet})
		for _, w := range list {
			require.True(t, bytes.Equal(pq[w.Name], again[w.Name]), w.Name)
			name := strings.TrimSuffix(w.Name, ".parquet")
			rows := readParquet(t, pq[w.Name])
			require.EqualValues(t, w.Rows, len(rows))
			cells, err := csv.NewReader(bytes.NewReader(text[name+".csv"])).ReadAll()
			require.NoError(t, err)
			require.Len(t, cells, len(rows)+1)
			dec := json.NewDecoder(bytes.NewReader(lines[name+".ndjson"]))
			dec.UseNumber()
			for i, row := range rows {
				var object map[string]any
				require.NoError(t, dec.Decode(&object))
				require.Len(t, object, len(row))
				for k, column := range cells[0] {
					got := ""
					if v, ok := object[column]; ok {
						got = fmt.Sprint(v)
						want := row[column]
						if strings.HasPrefix(got, "0x") && !strings.HasPrefix(want, "0x") { // an address
							n, err := strconv.ParseUint(want, 10, 64)
							require.NoError(t, err, "%s %s", name, column)
							want = fmt.Sprintf("%#x", n)
						}
						if want != got { // require takes long, and there are many cells
							require.Equal(t, want, got, "%s %s", name, column)
						}
					}
					if want, cell := strings.ReplaceAll(got, "\r\n", "\n"), strings.TrimPrefix(cells[i+1][k], "'"); want != cell { // as the reader of CSV returns it
						require.Equal(t, want, cell)
					}
				}
			}
		}
	})
}

// readParquet returns the rows of a file, without nulls.
func readParquet(t *testing.T, b []byte) []map[string]string {
	return exportread.ReadParquet(t, b).Rows
}

// TestObjects compares the tables of the heap with the graph.
func TestObjects(t *testing.T) {
	p := processOf(t, testdump.Open(t, "net10-zoo").Dump)
	g := p.Heap.Graph
	files, _ := written(t, p, tables.Options{Form: tables.Parquet})
	rows := readParquet(t, files["objects.parquet"])
	require.Len(t, rows, g.Objects())
	d, err := g.Dominators(t.Context())
	require.NoError(t, err)
	live, err := g.Live(t.Context())
	require.NoError(t, err)
	sizes := map[string]uint64{}
	for n := range graph.Node(g.Objects()) {
		row := rows[n]
		require.Equal(t, fmt.Sprint(uint64(g.Address(n))), row["address"])
		require.Equal(t, fmt.Sprint(g.Size(n)), row["size"])
		require.Equal(t, fmt.Sprint(d.Retained(n)), row["retained"])
		require.Equal(t, fmt.Sprint(live.Live(n)), row["live"])
		require.Equal(t, g.Generation(n).String(), row["generation"])
		owner, owned := row["owner"]
		require.Equal(t, g.IsObject(d.Idom(n)), owned)
		if owned {
			require.Equal(t, fmt.Sprint(uint64(g.Address(d.Idom(n)))), owner)
		}
		sizes[row["type"]] += g.Size(n)
	}
	types := readParquet(t, files["types.parquet"])
	require.Len(t, types, len(g.Types()))
	for _, row := range types {
		require.Equal(t, fmt.Sprint(sizes[row["id"]]), row["size"])
		assert.NotEmpty(t, row["assembly"])
	}
	for _, row := range readParquet(t, files["strings.parquet"]) {
		var a uint64
		_, err := fmt.Sscan(row["address"], &a)
		require.NoError(t, err)
		text, whole, err := g.Heap().StringText(target.Addr(a), 256)
		require.NoError(t, err)
		require.Equal(t, text, row["text"])
		require.Equal(t, whole, row["length"] <= "256" || len(row["length"]) < 3)
	}
}

// TestColumns: the tables that are made of sources of queries have all their columns.
func TestColumns(t *testing.T) {
	p := processOf(t, testdump.Open(t, "net10-zoo").Dump)
	files, _ := written(t, p, tables.Options{Form: tables.CSV})
	for _, s := range rows.Sources() {
		head, _, found := strings.Cut(string(files[s.Name+".csv"]), "\n")
		if !found || s.Name == "types" || s.Name == "objects" || s.Name == "strings" {
			continue
		}
		for _, c := range s.Columns {
			assert.Contains(t, strings.Split(head, ","), c.Name, s.Name)
		}
	}
}

// TestBadNames checks that text of all kinds survives all formats, and that a table with nothing readable is omitted.
func TestBadNames(t *testing.T) {
	nasty := []string{"", " ", "a,b", "\"", "\"\"", "a\nb", "a\r\nb", "</script><b>", "=1+1", "\u202egnp.exe", "\x1b[31m", "\x00", "ü🎉", "'; drop table x; --", "null"}
	source := query.Source{Name: "threads", Columns: []query.Column{{Name: "index", Kind: query.KindInt}, {Name: "name"}}, Rows: func(context.Context) iter.Seq2[[]query.Value, error] {
		return func(yield func([]query.Value, error) bool) {
			for i, s := range nasty {
				if !yield([]query.Value{query.Int(int64(i - 3)), query.Text(s)}, nil) {
					return
				}
			}
		}
	}}
	lost := query.Source{Name: "tasks", Columns: []query.Column{{Name: "task", Kind: query.KindUint}}, Rows: func(context.Context) iter.Seq2[[]query.Value, error] {
		return func(yield func([]query.Value, error) bool) { yield(nil, target.ErrNotInDump) }
	}}
	p := &tables.Input{Summary: &answer.Summary{}, Sources: []query.Source{source, lost}}
	files, _ := written(t, p, tables.Options{Form: tables.Parquet})
	assert.NotContains(t, files, "tasks.parquet", "nothing is known of tasks, not that there are none")
	rows := readParquet(t, files["threads.parquet"])
	files, _ = written(t, p, tables.Options{Form: tables.CSV})
	cells, err := csv.NewReader(bytes.NewReader(files["threads.csv"])).ReadAll()
	require.NoError(t, err)
	files, _ = written(t, p, tables.Options{Form: tables.CSV, RawCSV: true})
	raw, err := csv.NewReader(bytes.NewReader(files["threads.csv"])).ReadAll()
	require.NoError(t, err)
	files, _ = written(t, p, tables.Options{Form: tables.NDJSON})
	dec := json.NewDecoder(bytes.NewReader(files["threads.ndjson"]))
	for i, want := range nasty {
		assert.Equal(t, want, rows[i]["name"])
		assert.Equal(t, strconv.Itoa(i-3), rows[i]["index"])
		text := strings.ReplaceAll(want, "\r\n", "\n") // as the reader of CSV has it
		assert.Equal(t, text, raw[i+1][1])
		assert.Equal(t, text, strings.TrimPrefix(cells[i+1][1], "'"))
		assert.NotContains(t, []string{"=", "+", "-", "@"}, (cells[i+1][1] + " ")[:1])
		var object struct{ Name string }
		require.NoError(t, dec.Decode(&object))
		assert.Equal(t, want, object.Name)
	}
}

// TestDumpRow: a crash is true, false or not known, and the row has its version, labels and where its time is from.
func TestDumpRow(t *testing.T) {
	for _, c := range []struct {
		s    answer.Summary
		want string
	}{
		{answer.Summary{Crashed: true, Reason: "SIGSEGV"}, "true"},
		{answer.Summary{Reason: "the dump has no crash record"}, "false"},
		{answer.Summary{Reason: "the dump has no crash record", Undecided: true}, ""},
		{answer.Summary{}, ""},
	} {
		p := &tables.Input{Summary: &c.s, Tool: "1.2.3", TimeFrom: "file", Labels: map[string]string{"service": "shop", "env": "a\"b"}}
		files, _ := written(t, p, tables.Options{Form: tables.Parquet})
		row := readParquet(t, files["dump.parquet"])[0]
		assert.Equal(t, c.want, row["crashed"])
		assert.Equal(t, "3", row["schema"])
		assert.Equal(t, "1.2.3", row["tool"])
		assert.Equal(t, "file", row["time_from"])
		assert.JSONEq(t, `{"env":"a\"b","service":"shop"}`, row["labels"])
	}
}

// TestAddresses: addresses are text in hexadecimal in CSV and NDJSON, and generations have names.
func TestAddresses(t *testing.T) {
	p := processOf(t, testdump.Open(t, "net10-zoo").Dump)
	text, _ := written(t, p, tables.Options{Form: tables.CSV})
	cells, err := csv.NewReader(bytes.NewReader(text["objects.csv"])).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%#x", uint64(p.Heap.Graph.Address(0))), cells[1][0])
	lines, _ := written(t, p, tables.Options{Form: tables.NDJSON})
	assert.Contains(t, string(lines["objects.ndjson"]), `"generation":"frozen"`)
	assert.Regexp(t, `"object":"0x[0-9a-f]+"`, string(lines["handles.ndjson"]))
	assert.Regexp(t, `"method_table":"0x[0-9a-f]+"`, string(lines["types.ndjson"]))
}

// TestManyRows: more rows than one batch has.
func TestManyRows(t *testing.T) {
	const n = 300_000
	source := query.Source{Name: "tasks", Columns: []query.Column{{Name: "task", Kind: query.KindUint}, {Name: "name"}}, Rows: func(context.Context) iter.Seq2[[]query.Value, error] {
		return func(yield func([]query.Value, error) bool) {
			for i := range int64(n) {
				if !yield([]query.Value{query.Int(i), query.Text("Type" + strconv.FormatInt(i, 10))}, nil) {
					return
				}
			}
		}
	}}
	p := &tables.Input{Summary: &answer.Summary{}, Sources: []query.Source{source}}
	files, _ := written(t, p, tables.Options{Form: tables.Parquet})
	f := exportread.ReadParquet(t, files["tasks.parquet"])
	assert.Equal(t, 3, f.Groups)
	require.Len(t, f.Rows, n)
	assert.Equal(t, map[string]string{"task": "299999", "name": "Type299999"}, f.Rows[n-1])
}

// TestBrief: the tables of a fleet have no objects and no strings.
func TestBrief(t *testing.T) {
	p := processOf(t, testdump.Open(t, "net8-zoo").Dump)
	files, _ := written(t, p, tables.Options{Form: tables.Parquet, Brief: true})
	assert.Len(t, files, 4)
	rows := readParquet(t, files["stacks.parquet"])
	require.NotEmpty(t, rows)
	for _, row := range rows {
		assert.Len(t, row["signature"], 16)
		assert.NotContains(t, row["frames"], "0x7f")
		assert.NotRegexp(t, `(^|;)\w*Frame(;|$)`, row["frames"], "a frame of the runtime is no method")
	}
}

// TestWriterFails: the error of a file is the answer.
func TestWriterFails(t *testing.T) {
	p := processOf(t, testdump.Open(t, "net8-zoo").Dump)
	full := errors.New("no space left")
	for _, form := range []tables.Form{tables.Parquet, tables.CSV, tables.NDJSON} {
		_, err := tables.Write(t.Context(), p, tables.Options{Form: form}, &answer.Gaps{}, func(_ string, write func(io.Writer) error) error {
			return write(writer(func([]byte) (int, error) { return 0, full }))
		})
		require.ErrorIs(t, err, full, form)
	}
	_, err := tables.Write(t.Context(), p, tables.Options{Form: "dbase"}, &answer.Gaps{}, func(_ string, write func(io.Writer) error) error { return write(io.Discard) })
	require.ErrorIs(t, err, target.ErrArgument)
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// Write the threads of a dump as lines of JSON.
func ExampleWrite() {
	d, err := sosgo.Open("../../../testdata/dumps/net8-zoo/net8-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		panic(err)
	}
	env, err := rows.Env(v.Process)
	if err != nil {
		panic(err)
	}
	var gaps answer.Gaps
	p := &tables.Input{Summary: &answer.Summary{}, Sources: env.Sources}
	list, err := tables.Write(context.Background(), p, tables.Options{Form: tables.NDJSON}, &gaps, func(_ string, write func(io.Writer) error) error {
		return write(io.Discard)
	})
	fmt.Println(err, list[2].Name, list[2].Rows > 0)
	// Output: <nil> threads.ndjson true
}
