package fleet

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/export/internal/parquetfile"
	"github.com/sosgo/sosgo/target"
)

func ExampleOpen() {
	f, err := Open(filepath.Join(os.TempDir(), "no-such-fleet"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, found := f.Has("10a2bc537d5c2f82")
	fmt.Println(found)
	// Output: false
}

// table writes a table of texts; columns of numbers are named offset, finding and count.
func table(t testing.TB, path string, names []string, rows [][]string) {
	t.Helper()
	columns, values := make([]parquetfile.Column, len(names)), make([]parquetfile.Values, len(names))
	for i, name := range names {
		columns[i] = parquetfile.Column{Name: name, Type: parquetfile.Text}
		isNumber := slices.Contains([]string{"offset", "finding", "count"}, name)
		if isNumber {
			columns[i].Type = parquetfile.Uint
		}
		for _, row := range rows {
			v := &values[i]
			if isNumber {
				n, _ := strconv.ParseUint(row[i], 10, 64)
				v.Numbers = append(v.Numbers, n)
				continue
			}
			v.Text = append(v.Text, row[i]...)
			v.Numbers = append(v.Numbers, uint64(len(v.Text)))
		}
	}
	var out bytes.Buffer
	w := parquetfile.NewWriter(&out, "t", columns)
	g, err := w.EncodeGroup(len(rows), values)
	require.NoError(t, err)
	require.NoError(t, w.Write(g))
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
}

// fill makes a part with a crash in a method.
func fill(t testing.TB, id, method string) func(string) error {
	return func(folder string) error {
		require.NoError(t, os.MkdirAll(folder, 0o700))
		table(t, filepath.Join(folder, "dump.parquet"), []string{"id", "dump_id"}, [][]string{{id, id}})
		names := []string{"role", "text", "module", "build", "offset", "dump_id"}
		table(t, filepath.Join(folder, "crash.parquet"), names, [][]string{{"kind", "E", "", "", "", id}, {"frame", method, "", "", "", id}, {"frame", "Shop.Main()", "", "", "", id}})
		return nil
	}
}

// made returns a fleet of n dumps on two days, which crashed in two methods.
func made(t testing.TB, n int) *Fleet {
	f, err := Open(t.TempDir())
	require.NoError(t, err)
	for i := range n {
		id := fmt.Sprintf("%016x", i)
		when := time.Date(2026, 11, 25+i%2, 1, 0, 0, 0, time.UTC)
		_, added, err := f.Add(id, &when, fill(t, id, fmt.Sprintf("Shop.F%c()", 'A'+i%2)))
		require.NoError(t, err)
		require.True(t, added)
	}
	return f
}

// held returns the ids in the tables dump, and the number of rows in all tables.
func held(t testing.TB, f *Fleet) (ids []string, rows int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(f.dir, "*", "*", "*.parquet"))
	require.NoError(t, err)
	for _, path := range paths {
		require.NoError(t, eachGroup(path, func(columns []parquetfile.Column, n int, values []parquetfile.Values) error {
			rows += n
			for i, c := range columns {
				for r := 0; c.Name == "id" && r < n; r++ {
					ids = append(ids, string(values[i].At(r)))
				}
			}
			return nil
		}))
	}
	return ids, rows
}

func isWhole(t testing.TB, f *Fleet, n int) {
	t.Helper()
	ids, rows := held(t, f)
	assert.Len(t, ids, n)
	assert.Equal(t, 4*n, rows)
	seen := map[string]bool{}
	for _, id := range ids {
		assert.False(t, seen[id], "%s is there twice", id)
		seen[id] = true
		_, has := f.Has(id)
		assert.True(t, has, id)
	}
}

// TestFleet: a dump is there once, in the partition of its day; compacted, the fleet has the same rows in fewer files.
func TestFleet(t *testing.T) {
	const n = 9
	f := made(t, n)
	isWhole(t, f, n)
	folder, added, err := f.Add("0000000000000001", nil, nil)
	require.NoError(t, err)
	assert.False(t, added)
	assert.Equal(t, filepath.Join("date=2026-11-26", "part=0000000000000001"), strings.TrimPrefix(folder, f.dir+string(filepath.Separator)))
	_, _, err = f.Add("../x", nil, nil)
	require.ErrorIs(t, err, target.ErrArgument)
	folder, _, err = f.Add("ff", nil, fill(t, "ff", "Shop.C()"))
	require.NoError(t, err)
	assert.Contains(t, folder, "date=unknown")

	done, err := f.Compact(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "2 9 20 6", fmt.Sprint(done.Dates, done.Parts, done.Before, done.After))
	f, err = Open(f.dir)
	require.NoError(t, err)
	isWhole(t, f, n+1)
	_, _, err = f.Add("fe", nil, fill(t, "fe", "Shop.C()"))
	require.NoError(t, err)
	done, err = f.Compact(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "1 2 8 6", fmt.Sprint(done.Dates, done.Parts, done.Before, done.After))
	_, err = f.Compact(t.Context())
	require.NoError(t, err)
	f, err = Open(f.dir)
	require.NoError(t, err)
	isWhole(t, f, n+2)
}

// TestInterrupted checks that the next process completes a killed compaction, or the next compaction undoes it:
// another process may be running it.
func TestInterrupted(t *testing.T) {
	const n = 6
	for stop := range 4 {
		f := made(t, n)
		parts, err := f.parts("2026-11-25")
		require.NoError(t, err)
		j := journal{Date: "2026-11-25", Whole: "part=all-1"}
		for _, p := range parts {
			j.Parts = append(j.Parts, p.name)
		}
		require.NoError(t, f.writeJournal(&j))
		dir := filepath.Join(f.dir, "date=2026-11-25")
		if stop > 0 {
			to := filepath.Join(dir, j.Whole)
			require.NoError(t, os.Mkdir(to, 0o700))
			require.NoError(t, f.merge(t.Context(), dir, parts, to, nil))
			var ids strings.Builder
			for _, p := range parts {
				ids.WriteString(p.ids[0] + "\n")
			}
			require.NoError(t, os.WriteFile(filepath.Join(to, idsFile), []byte(ids.String()), 0o600))
		}
		if stop > 1 {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, parts[0].name)))
		}
		if stop > 2 {
			require.NoError(t, os.Remove(filepath.Join(dir, parts[1].name, "dump.parquet")))
		}
		f, err = Open(f.dir)
		require.NoError(t, err)
		isWhole(t, f, n)
		if stop == 0 {
			assert.FileExists(t, filepath.Join(f.dir, journalFile))
		}
		_, err = f.Compact(t.Context())
		require.NoError(t, err)
		isWhole(t, f, n)
		assert.NoFileExists(t, filepath.Join(f.dir, journalFile))
	}
}

// TestKilledWriters: who opens a fleet next removes what killed processes left, also where parts were made before, and nothing else.
func TestKilledWriters(t *testing.T) {
	f := made(t, 2)
	old := time.Now().Add(-time.Hour)
	left := []string{filepath.Join(f.dir, ".sosgo-1-0.part=1.part"), filepath.Join(f.dir, "date=2026-11-25", ".sosgo-1-0.part=2.part")}
	for _, dir := range left {
		require.NoError(t, fill(t, "1", "Shop.F()")(dir))
		require.NoError(t, os.Chtimes(dir, old, old))
	}
	f, err := Open(f.dir)
	require.NoError(t, err)
	for _, dir := range left {
		assert.NoDirExists(t, dir)
	}
	isWhole(t, f, 2)
}

// TestBadJournal: a journal removes nothing outside its partition.
func TestBadJournal(t *testing.T) {
	for _, text := range []string{"{", `{"date":"..","whole":"part=all-1","parts":["part=1/../../x"]}`, `{"date":"a/b","whole":"part=all-1"}`, `{"date":"2026","whole":"x"}`} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, journalFile), []byte(text), 0o600))
		_, err := Open(dir)
		require.ErrorIs(t, err, target.ErrCorrupt)
	}
}

// TestNotFiles checks that pipes and devices in the place of a fleet's files are refused. Otherwise it does not end.
func TestNotFiles(t *testing.T) {
	for name, act := range map[string]func(f *Fleet) error{
		journalFile: func(f *Fleet) error { _, err := Open(f.dir); return err },
		logFile: func(f *Fleet) error {
			_, err := f.Entries()
			return cmp.Or(err, f.Log(Entry{File: "x"}))
		},
		"date=2026-11-25/part=all-1/" + idsFile:              func(f *Fleet) error { _, err := Open(f.dir); return err },
		"date=2026-11-25/part=00000000000000aa/dump.parquet": func(f *Fleet) error { _, err := f.Compact(t.Context()); return err },
	} {
		for kind, create := range map[string]func(path string) error{
			"pipe":   func(path string) error { return exec.CommandContext(t.Context(), "mkfifo", path).Run() },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			f := made(t, 4)
			path := filepath.Join(f.dir, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			_ = os.Remove(path)
			if create(path) != nil {
				t.Skip("this system has no mkfifo")
			}
			require.ErrorIs(t, act(f), target.ErrUnsupported, "%s %s", kind, name)
		}
	}
}

// TestUnreadablePart: a part that can't be read is no empty one: its dump would be lost.
func TestUnreadablePart(t *testing.T) {
	f := made(t, 2)
	dates, err := f.dates()
	require.NoError(t, err)
	parts, err := f.parts(dates[0])
	require.NoError(t, err)
	dir := filepath.Join(f.dir, datePrefix+dates[0])
	perm := func() fs.FileMode { return 0o600 }
	require.NoError(t, f.merge(t.Context(), dir, parts, t.TempDir(), perm))
	lost := append(parts, part{name: partPrefix + "00000000000000ff"}) // ReadDir has the same errors for what may not be read
	require.ErrorIs(t, f.merge(t.Context(), dir, lost, t.TempDir(), perm), fs.ErrNotExist)
}

// TestLinkedLog checks that the log of a folder of somebody else leads to no other file.
func TestLinkedLog(t *testing.T) {
	f := made(t, 1)
	precious := filepath.Join(t.TempDir(), "precious")
	require.NoError(t, os.WriteFile(precious, []byte("text"), 0o600))
	path := filepath.Join(f.dir, logFile)
	_ = os.Remove(path)
	if os.Symlink(precious, path) != nil {
		t.Skip("this system has no links")
	}
	require.ErrorIs(t, f.Log(Entry{File: "x"}), target.ErrUnsupported)
	require.NoError(t, os.WriteFile(precious, []byte(`{"file":"text"}`), 0o600))
	require.ErrorIs(t, f.shortenLog(), target.ErrUnsupported)
	text, err := os.ReadFile(precious)
	require.NoError(t, err)
	require.Equal(t, `{"file":"text"}`, string(text))
}

// TestLinkedPartition checks that nothing is removed or written behind a link in the place of a day.
func TestLinkedPartition(t *testing.T) {
	f := made(t, 1)
	other := t.TempDir()
	for _, name := range []string{"part=all-1", "part=1"} {
		require.NoError(t, os.Mkdir(filepath.Join(other, name), 0o700))
	}
	if os.Symlink(other, filepath.Join(f.dir, "date=unknown")) != nil {
		t.Skip("this system has no links")
	}
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, journalFile), []byte(`{"date":"unknown","whole":"part=all-1","parts":["part=1"]}`), 0o600))
	_, err := Open(f.dir)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.DirExists(t, filepath.Join(other, "part=1"))
	_, _, err = f.Add("2", nil, func(folder string) error { return os.Mkdir(folder, 0o700) })
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.NoDirExists(t, filepath.Join(other, "part=2"))
}

// TestLongLines checks that no words of a server make the log unreadable, and that a long line of another program costs
// itself alone.
func TestLongLines(t *testing.T) {
	f := made(t, 1)
	require.NoError(t, f.Log(Entry{File: "a", Result: Failed, Reason: strings.Repeat("<", 2<<20)}))
	path := filepath.Join(f.dir, logFile)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(b, `{"file":"b","reason":"`+strings.Repeat("x", 3<<20)+"\"}\n"...), 0o600))
	require.NoError(t, f.Log(Entry{File: "c", Result: Added}))
	list, err := f.Entries()
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Less(t, len(list[0].Reason), 8<<10)
	assert.Equal(t, "c", list[1].File)
}

// TestNumberOfRuntime checks that a table with numbers in the column of versions is merged as it is.
func TestNumberOfRuntime(t *testing.T) {
	var one, out bytes.Buffer
	columns := []parquetfile.Column{{Name: runtimeColumn, Type: parquetfile.Uint}}
	w := parquetfile.NewWriter(&one, dumpTable, columns)
	g, err := w.EncodeGroup(1, []parquetfile.Values{{Numbers: []uint64{1 << 40}}})
	require.NoError(t, err)
	require.NoError(t, w.Write(g))
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "dump.parquet")
	require.NoError(t, os.WriteFile(path, one.Bytes(), 0o600))
	require.NoError(t, mergeTable(t.Context(), &out, dumpTable, []string{path, path}))
}

// TestFailures checks that parts that cannot be compacted stay.
func TestFailures(t *testing.T) {
	f := made(t, 4)
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "date=2026-11-25", "part=0000000000000000", "dump.parquet"), []byte("no table, and long enough"), 0o600))
	_, err := f.Compact(t.Context())
	require.ErrorIs(t, err, target.ErrCorrupt)
	f, err = Open(f.dir)
	require.NoError(t, err)
	_, has := f.Has("0000000000000002")
	assert.True(t, has)

	f = made(t, 2)
	for _, id := range []string{"10", "11"} {
		_, _, err := f.Add(id, nil, func(folder string) error {
			require.NoError(t, os.MkdirAll(folder, 0o700))
			return os.WriteFile(filepath.Join(folder, "dump.csv"), nil, 0o600)
		})
		require.NoError(t, err)
	}
	_, err = f.Compact(t.Context())
	require.ErrorIs(t, err, target.ErrUnsupported)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f = made(t, 4)
	_, err = f.Compact(ctx)
	require.ErrorIs(t, err, context.Canceled)
	isWhole(t, f, 4)
	_, err = f.TryRules(ctx, "", "")
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.TryRules(t.Context(), "", "x")
	require.ErrorIs(t, err, target.ErrArgument)
	_, _, err = f.Add("12", nil, func(string) error { return io.ErrShortWrite })
	require.ErrorIs(t, err, io.ErrShortWrite)
	_, has = f.Has("12")
	assert.False(t, has)
}

// TestColumns checks that a missing column becomes null, and that a missing file is an error.
func TestColumns(t *testing.T) {
	dir := t.TempDir()
	one, two, three := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3")
	table(t, one, []string{"a"}, [][]string{{"x"}})
	table(t, two, []string{"a", "b"}, [][]string{{"y", "z"}})
	var out bytes.Buffer
	require.NoError(t, mergeTable(t.Context(), &out, "t", []string{one, two}))
	require.NoError(t, os.WriteFile(three, out.Bytes(), 0o600))
	require.NoError(t, eachGroup(three, func(columns []parquetfile.Column, n int, values []parquetfile.Values) error {
		assert.Equal(t, 2, n)
		assert.Equal(t, "b", columns[1].Name)
		assert.Equal(t, []bool{true, false}, values[1].Null)
		assert.Equal(t, "z", string(values[1].At(1)))
		return nil
	}))
	_, err := unionColumns([]string{one, filepath.Join(dir, "none")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestLog: the last entry of a file counts, and a line that was not written to its end is passed over.
func TestLog(t *testing.T) {
	f := made(t, 2)
	e := Entry{File: "a", Size: 1, Result: Failed, Reason: "no"}
	require.NoError(t, f.Log(e))
	path := filepath.Join(f.dir, logFile)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(b, `{"file":"b","res`...), 0o600))
	e.Result = Added
	require.NoError(t, f.Log(e))
	list, err := f.Entries()
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, Added, list[0].Result)
	assert.True(t, list[0].Same(&e))
	require.NoError(t, f.shortenLog())
	again, err := f.Entries()
	require.NoError(t, err)
	assert.Equal(t, list, again)
}

// TestTryRulesOnFindings checks the signatures that rules merge and split, before and after a compaction, for
// crashes and findings. A dump without findings counts none.
func TestTryRulesOnFindings(t *testing.T) {
	f := made(t, 2)
	names := []string{"dump_id", "finding", "kind", "method", "does", "failed", "count"}
	for i, rows := range [][][]string{
		{{"", "0", "deadlock", "Acme.V1.Shop.A()", "monitor", "", "1"}, {"", "0", "deadlock", "Acme.V1.Shop.B()", "monitor", "", "1"}, {"", "1", "failed tasks", "Acme.V1.Shop.C", "", "E", "2"}},
		{{"", "0", "deadlock", "Acme.V2.Shop.B()", "monitor", "", "1"}, {"", "0", "deadlock", "Acme.V2.Shop.A()", "monitor", "", "1"}, {"", "1", "failed tasks", "Acme.V2.Shop.C", "", "?", "1"}},
	} {
		id := fmt.Sprintf("a%d", i)
		for _, r := range rows {
			r[0] = id
		}
		_, _, err := f.Add(id, nil, func(folder string) error {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
			table(t, filepath.Join(folder, "dump.parquet"), []string{"id", "dump_id"}, [][]string{{id, id}})
			table(t, filepath.Join(folder, "sites.parquet"), names, rows)
			return nil
		})
		require.NoError(t, err)
	}
	for range 2 {
		trial, err := f.TryRules(t.Context(), "", "strip Acme.V1.\nstrip Acme.V2.\n")
		require.NoError(t, err)
		assert.Equal(t, "2 4 4 6 5", fmt.Sprint(trial.Dumps, trial.Findings, trial.Changed, trial.Before, trial.After))
		require.Len(t, trial.Merged, 1)
		assert.Equal(t, []string{"deadlock", "Shop.A monitor", "Shop.B monitor"}, trial.Merged[0].One.SignatureParts)
		assert.Equal(t, 2, trial.Merged[0].One.Dumps)
		_, err = f.Compact(t.Context())
		require.NoError(t, err)
	}
}

func TestTryRules(t *testing.T) {
	f := made(t, 10)
	merge := "skip Shop.F"
	for range 2 {
		trial, err := f.TryRules(t.Context(), "", merge)
		require.NoError(t, err)
		assert.Equal(t, "10 10 2 1", fmt.Sprint(trial.Dumps, trial.Changed, trial.Before, trial.After))
		require.Len(t, trial.Merged, 1)
		assert.Empty(t, trial.Split)
		assert.Equal(t, []string{"E", "Shop.Main"}, trial.Merged[0].One.SignatureParts)
		assert.Equal(t, 10, trial.Merged[0].One.Dumps)
		require.Len(t, trial.Merged[0].Several, 2)
		assert.Equal(t, 5, trial.Merged[0].Several[0].Dumps)
		back, err := f.TryRules(t.Context(), merge, "")
		require.NoError(t, err)
		require.Len(t, back.Split, 1)
		assert.Empty(t, back.Merged)
		same, err := f.TryRules(t.Context(), "", signature.DefaultRules)
		require.NoError(t, err)
		assert.Zero(t, same.Changed)
		_, err = f.Compact(t.Context())
		require.NoError(t, err)
	}
}

// TestOneNameOfABuild checks that compaction gives the rows of one build one name, also old rows.
func TestOneNameOfABuild(t *testing.T) {
	dir := t.TempDir()
	one, two, whole := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3")
	table(t, one, []string{"id", "runtime"}, [][]string{{"a", "10.0.1426.52326"}, {"b", "4.700.20.26901"}})
	table(t, two, []string{"id", "runtime"}, [][]string{{"c", "10.0.14"}, {"d", "4.700.22.30802"}, {"e", "8.0.23.53103"}, {"f", ""}})
	var out bytes.Buffer
	require.NoError(t, mergeTable(t.Context(), &out, "dump", []string{one, two}))
	require.NoError(t, os.WriteFile(whole, out.Bytes(), 0o600))
	var names []string
	require.NoError(t, eachGroup(whole, func(_ []parquetfile.Column, n int, values []parquetfile.Values) error {
		for i := range n {
			names = append(names, string(values[1].At(i)))
		}
		return nil
	}))
	assert.Equal(t, []string{"10.0.14", "4.700.20.26901", "10.0.14", "3.1.27", "8.0.0", ""}, names, "3.1.5 and 3.1.6 have the same runtime")
}
