// Package readers reads what sosgo exports with the libraries of others: parquet-go and pprof.
package readers

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/parquet-go/parquet-go"
)

// root is the folder of the main module.
const root = "../.."

// program returns sosgo: the binary that SOSGO names, or one that is built.
func program(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("SOSGO"); p != "" {
		return p
	}
	p := filepath.Join(t.TempDir(), "sosgo")
	run(t, "go", "build", "-o", p, "./cmd/sosgo")
	return p
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = root
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, errs.Bytes())
	}
	return out.Bytes()
}

// dumps returns the canned dumps with a CLR.
func dumps(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, "testdata", "dumps", "net*-zoo", "*.dmp.zst"))
	if err != nil || len(list) < 3 {
		t.Fatal("there are no canned dumps", err)
	}
	for i := range list {
		if list[i], err = filepath.Abs(list[i]); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// TestParquet: parquet-go reads from each Parquet file the cells of the CSV file, and statistics that hold.
func TestParquet(t *testing.T) {
	sosgo := program(t)
	for _, d := range dumps(t) {
		dir := t.TempDir()
		run(t, sosgo, "-d", d, "export", "parquet", filepath.Join(dir, "parquet"))
		run(t, sosgo, "-d", d, "export", "csv", "-raw-csv", filepath.Join(dir, "csv"))
		files, err := filepath.Glob(filepath.Join(dir, "parquet", "*"))
		if err != nil || len(files) < 10 {
			t.Fatal("tables:", files, err)
		}
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".parquet")
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			rows := readParquet(t, name, b)
			text, err := os.ReadFile(filepath.Join(dir, "csv", name+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			cells, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
			if err != nil || len(cells) != len(rows)+1 {
				t.Fatalf("%s: %d rows of Parquet, %d of CSV: %v", name, len(rows), len(cells)-1, err)
			}
			for i, row := range rows {
				for k, column := range cells[0] {
					got := cells[i+1][k]
					if n, err := strconv.ParseUint(strings.TrimPrefix(got, "0x"), 16, 64); err == nil && strings.HasPrefix(got, "0x") { // numbers in Parquet
						if _, err := strconv.ParseUint(row[column], 10, 64); err == nil {
							got = strconv.FormatUint(n, 10)
						}
					}
					if want := strings.ReplaceAll(row[column], "\r\n", "\n"); got != want { // as the reader of CSV has it
						t.Fatalf("%s row %d: %s is %q, in CSV %q", name, i, column, want, cells[i+1][k])
					}
				}
			}
		}
	}
}

// readParquet returns the rows of a file without nulls, and holds the values to the bounds of their pages.
func readParquet(t *testing.T, name string, b []byte) (out []map[string]string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(name, err)
	}
	columns := f.Schema().Columns()
	for _, g := range f.RowGroups() {
		bounds(t, name, g)
		rows := g.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, r := range buf[:n] {
				row := map[string]string{}
				for _, v := range r {
					if !v.IsNull() {
						row[columns[v.Column()][0]] = plain(f.Schema(), v)
					}
				}
				out = append(out, row)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(name, err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(name, err)
		}
	}
	if f.NumRows() != int64(len(out)) {
		t.Fatalf("%s: %d of %d rows", name, len(out), f.NumRows())
	}
	return out
}

// bounds holds the values of each page to the column index, and counts the nulls.
func bounds(t *testing.T, name string, g parquet.RowGroup) {
	t.Helper()
	for _, chunk := range g.ColumnChunks() {
		index, err := chunk.ColumnIndex()
		if err != nil {
			t.Fatal(name, err)
		}
		pages := chunk.Pages()
		for i := 0; ; i++ {
			p, err := pages.ReadPage()
			if err == io.EOF {
				if i != index.NumPages() {
					t.Fatalf("%s: %d pages, %d in the index", name, i, index.NumPages())
				}
				break
			}
			if err != nil {
				t.Fatal(name, err)
			}
			if p.NumNulls() != index.NullCount(i) {
				t.Fatalf("%s: %d nulls, %d in the index", name, p.NumNulls(), index.NullCount(i))
			}
			least, greatest, known := p.Bounds()
			if known && (chunk.Type().Compare(least, index.MinValue(i)) != 0 || chunk.Type().Compare(greatest, index.MaxValue(i)) != 0) {
				t.Fatalf("%s: a page from %v to %v, in the index from %v to %v", name, least, greatest, index.MinValue(i), index.MaxValue(i))
			}
		}
		if err := pages.Close(); err != nil {
			t.Fatal(name, err)
		}
	}
}

func plain(s *parquet.Schema, v parquet.Value) string {
	switch v.Kind() {
	case parquet.Int64:
		leaf, _ := s.Lookup(s.Columns()[v.Column()][0])
		if strings.HasPrefix(leaf.Node.Type().String(), "INT(64,true") {
			return strconv.FormatInt(v.Int64(), 10)
		}
		return strconv.FormatUint(v.Uint64(), 10)
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	}
	return string(v.ByteArray())
}

// TestPprof: pprof reads the profiles of heaps and stacks, and their values add up.
func TestPprof(t *testing.T) {
	sosgo := program(t)
	for _, d := range dumps(t) {
		dir := t.TempDir()
		heap := read(t, sosgo, d, filepath.Join(dir, "heap.pb.gz"), "-heap")
		if got := heap.SampleType[1].Type + heap.DefaultSampleType; got != "inuse_spaceinuse_space" {
			t.Error(got)
		}
		total := int64(0)
		for _, s := range heap.Sample {
			total += s.Value[1]
			if len(s.Label["generation"]) != 1 {
				t.Fatal("a sample without a generation")
			}
		}
		if total < 10_000 {
			t.Errorf("%d bytes of objects", total)
		}
		stacks := read(t, sosgo, d, filepath.Join(dir, "stacks.pb.gz"))
		for _, s := range stacks.Sample {
			if fmt.Sprint(s.Value) != "[1]" || len(s.NumLabel["os_id"]) != 1 || len(s.Location) == 0 || s.Location[0].Line[0].Function.Name == "" {
				t.Errorf("a thread: %v", s)
			}
		}
	}
}

func read(t *testing.T, sosgo, dump, file string, options ...string) *profile.Profile {
	t.Helper()
	run(t, sosgo, append(append([]string{"-d", dump, "export"}, options...), "pprof", file)...)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil || len(p.Sample) == 0 {
		t.Fatal("no samples", err)
	}
	return p
}

// TestGenerics: "go tool pprof -top" keeps type arguments: two instantiations of a generic type are two lines. It takes names
// for demangled C++, and removes what stands between < and >, where system names are equal to them.
func TestGenerics(t *testing.T) {
	sosgo, file := program(t), filepath.Join(t.TempDir(), "heap.pb.gz")
	for _, d := range dumps(t) {
		os.Remove(file)
		names := map[string]bool{}
		for _, s := range read(t, sosgo, d, file, "-heap").Sample {
			if name := s.Location[0].Line[0].Function.Name; strings.Contains(name, "<") {
				names[name] = true
			}
		}
		if len(names) < 2 {
			t.Fatalf("%s has %d generic types", d, len(names))
		}
		top := string(run(t, "go", "tool", "pprof", "-top", "-trim=false", file))
		for name := range names {
			if !strings.Contains(top, name) {
				t.Errorf("pprof -top has no %s", name)
			}
		}
	}
}
