package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/export/internal/parquetfile"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A journal records an intended compaction: to replace Parts by Whole.
type journal struct {
	Date  string   `json:"date"`
	Whole string   `json:"whole"`
	Parts []string `json:"parts"`
}

// Compact merges the parts of each partition. It leaves a partition with a single part. While parts are
// replaced, a reader may see their dumps twice. The error wraps fs.ErrNotExist for a fleet that is not there.
func (f *Fleet) Compact(ctx context.Context) (*answer.FleetCompacted, error) {
	out := &answer.FleetCompacted{}
	if _, err := os.Stat(f.dir); err != nil {
		return nil, err
	}
	if err := f.recover(true); err != nil {
		return nil, err
	}
	dates, err := f.dates()
	if err != nil {
		return nil, err
	}
	for _, date := range dates {
		parts, err := f.parts(date)
		if err != nil {
			return nil, err
		}
		n, err := f.files(date)
		if err != nil {
			return nil, err
		}
		out.Before += n
		if len(parts) > 1 {
			if err := f.compact(ctx, date, parts); err != nil {
				return nil, err
			}
			out.Dates++
			out.Parts += len(parts)
		}
		if n, err = f.files(date); err != nil {
			return nil, err
		}
		out.After += n
	}
	return out, f.shortenLog()
}

// files counts the tables of a partition.
func (f *Fleet) files(date string) (int, error) {
	list, err := filepath.Glob(filepath.Join(f.dir, datePrefix+date, partPrefix+"*", "*.parquet"))
	return len(list), err
}

func (f *Fleet) compact(ctx context.Context, date string, parts []part) error {
	dir := filepath.Join(f.dir, datePrefix+date)
	j := journal{Date: date}
	var ids []string
	for _, p := range parts {
		j.Parts = append(j.Parts, p.name)
		ids = append(ids, p.ids...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	text := strings.Join(ids, "\n") + "\n"
	sum := sha256.Sum256([]byte(text))
	j.Whole = partPrefix + allPrefix + hex.EncodeToString(sum[:8])
	if slices.Contains(j.Parts, j.Whole) {
		return target.Corruptf("%s: %s has all dumps of the other parts", dir, j.Whole)
	}
	if err := f.writeJournal(&j); err != nil {
		return err
	}
	perm := func() fs.FileMode { return f.perm(dir, parts) }
	err := outfile.WriteDir(filepath.Join(dir, j.Whole), outfile.DirOptions{Perm: perm, Stage: f.dir}, func(to string) error {
		if err := f.merge(ctx, dir, parts, to, perm); err != nil {
			return err
		}
		return outfile.Write(filepath.Join(to, idsFile), outfile.Options{Perm: perm}, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	})
	if err != nil {
		return cmp.Or(f.removeJournal(), err)
	}
	return f.replace(&j)
}

// perm returns the permissions for a merged part: those that all tables of its parts have.
func (f *Fleet) perm(dir string, parts []part) fs.FileMode {
	var names []string
	for _, p := range parts {
		list, _ := filepath.Glob(filepath.Join(dir, p.name, "*.parquet")) // the pattern is well formed
		names = append(names, list...)
	}
	return outfile.PermOf(names...)
}

func (f *Fleet) writeJournal(j *journal) error {
	return outfile.Write(filepath.Join(f.dir, journalFile), outfile.Options{New: true}, func(w io.Writer) error { return json.NewEncoder(w).Encode(j) })
}

// removeJournal removes the journal, unless another process that opened the fleet has done so.
func (f *Fleet) removeJournal() error {
	if err := os.Remove(filepath.Join(f.dir, journalFile)); !errors.Is(err, fs.ErrNotExist) {
		return outfile.Failed(err)
	}
	return nil
}

// replace removes the parts that were merged.
func (f *Fleet) replace(j *journal) error {
	for _, name := range j.Parts {
		if err := os.RemoveAll(filepath.Join(f.dir, datePrefix+j.Date, name)); err != nil {
			return outfile.Failed(err)
		}
	}
	return f.removeJournal()
}

// recover completes a compaction that was interrupted after its merged part was complete. A compaction without
// one may be running in another process. With undo, the caller compacts itself, and recover drops it.
func (f *Fleet) recover(undo bool) error {
	text, err := readWhole(filepath.Join(f.dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var j journal
	if err := json.Unmarshal(text, &j); err != nil {
		return target.Corruptf("%s: %v", filepath.Join(f.dir, journalFile), err)
	}
	for _, name := range append([]string{j.Whole}, j.Parts...) {
		if !strings.HasPrefix(name, partPrefix) || filepath.Base(name) != name {
			return target.Corruptf("%s: %q is no part", filepath.Join(f.dir, journalFile), name)
		}
	}
	if filepath.Base(j.Date) != j.Date {
		return target.Corruptf("%s: %q is no date", filepath.Join(f.dir, journalFile), j.Date)
	}
	dir, err := f.partition(j.Date)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, j.Whole)); errors.Is(err, fs.ErrNotExist) {
		if undo {
			return f.removeJournal()
		}
		return nil // the parts are unchanged
	} else if err != nil {
		return err
	}
	return f.replace(&j)
}

// merge merges each table of the parts.
func (f *Fleet) merge(ctx context.Context, dir string, parts []part, to string, perm func() fs.FileMode) error {
	tables := map[string][]string{} // paths by table
	for _, p := range parts {
		list, err := os.ReadDir(filepath.Join(dir, p.name))
		if err != nil {
			return err // a part that can't be read is not empty
		}
		for _, file := range list {
			path := filepath.Join(dir, p.name, file.Name())
			switch name := file.Name(); {
			case name == idsFile:
			case filepath.Ext(name) != ".parquet":
				return target.Unsupportedf("%s is no Parquet file: such fleets can't be compacted", path)
			default:
				tables[name] = append(tables[name], path)
			}
		}
	}
	for name, paths := range tables {
		err := outfile.Write(filepath.Join(to, name), outfile.Options{New: true, Perm: perm}, func(w io.Writer) error { return mergeTable(ctx, w, strings.TrimSuffix(name, ".parquet"), paths) })
		if err != nil {
			return err
		}
	}
	return nil
}

// mergedRows is the minimum number of rows of a row group.
const mergedRows = 1 << 17

// mergeTable merges the rows of files. The table has the columns of all files; those that a file lacks are
// null.
func mergeTable(ctx context.Context, w io.Writer, name string, paths []string) error {
	columns, err := unionColumns(paths)
	if err != nil {
		return err
	}
	out := parquetfile.NewWriter(w, name, columns)
	values := make([]parquetfile.Values, len(columns))
	rows := 0
	flush := func() error {
		g, err := out.EncodeGroup(rows, values)
		if err != nil {
			return err
		}
		for i := range values {
			v := &values[i]
			v.Numbers, v.Text, v.Null = v.Numbers[:0], v.Text[:0], v.Null[:0]
		}
		rows = 0
		return out.Write(g)
	}
	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := eachGroup(path, func(have []parquetfile.Column, n int, cols []parquetfile.Values) error {
			for i := range columns {
				at := slices.IndexFunc(have, func(c parquetfile.Column) bool { return c.Name == columns[i].Name })
				if at < 0 {
					appendNulls(&values[i], n)
					continue
				}
				if name == dumpTable && columns[i].Name == runtimeColumn && columns[i].Type == parquetfile.Text {
					nameReleases(&cols[at])
				}
				appendValues(&values[i], &columns[i], &cols[at])
			}
			if rows += n; rows >= mergedRows {
				return flush()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if rows > 0 {
		if err := flush(); err != nil {
			return err
		}
	}
	return out.Close()
}

// unionColumns returns the columns of all files. A column that some files lack may be null.
func unionColumns(paths []string) ([]parquetfile.Column, error) {
	var out []parquetfile.Column
	count := map[string]int{}
	for _, path := range paths {
		err := withReader(path, func(r *parquetfile.Reader) error {
			for _, c := range r.Columns() {
				i := slices.IndexFunc(out, func(o parquetfile.Column) bool { return o.Name == c.Name })
				switch {
				case i < 0:
					out = append(out, c)
				case out[i].Type != c.Type:
					return target.Unsupportedf("the column %q has another type in other files", c.Name)
				default:
					out[i].Optional = out[i].Optional || c.Optional
				}
				count[c.Name]++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i].Optional = out[i].Optional || count[out[i].Name] < len(paths)
	}
	return out, nil
}

func withReader(path string, use func(*parquetfile.Reader) error) error {
	file, err := mmapfile.OpenRegular(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r, err := parquetfile.NewReader(file, info.Size())
	if err == nil {
		err = use(r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// eachGroup calls use with the columns and the rows of each row group of a file.
func eachGroup(path string, use func(columns []parquetfile.Column, rows int, values []parquetfile.Values) error) error {
	return withReader(path, func(r *parquetfile.Reader) error {
		for g := range r.Groups() {
			values := make([]parquetfile.Values, len(r.Columns()))
			if err := r.Read(g, values); err != nil {
				return err
			}
			rows := 0
			if len(values) > 0 {
				rows = len(values[0].Numbers)
			}
			if err := use(r.Columns(), rows, values); err != nil {
				return err
			}
		}
		return nil
	})
}

func appendNulls(v *parquetfile.Values, n int) {
	for range n {
		v.Numbers, v.Null = append(v.Numbers, uint64(len(v.Text))), append(v.Null, true)
	}
}

// The table and the column with the runtime's version. Versions of sosgo that wrote the version of the file gave one
// build two names.
const (
	dumpTable     = "dump"
	runtimeColumn = "runtime"
)

// nameReleases replaces versions of files in a column of texts by the releases.
func nameReleases(v *parquetfile.Values) {
	var text []byte
	start := uint64(0)
	for i, end := range v.Numbers {
		version := string(v.Text[start:end])
		text = append(text, cmp.Or(layout.Release(version), version)...)
		start, v.Numbers[i] = end, uint64(len(text))
	}
	v.Text = text
}

// appendValues appends the values of one column to another column's.
func appendValues(to *parquetfile.Values, c *parquetfile.Column, from *parquetfile.Values) {
	base := uint64(0)
	if c.Type == parquetfile.Text {
		base = uint64(len(to.Text))
		to.Text = append(to.Text, from.Text...)
	}
	for _, n := range from.Numbers {
		to.Numbers = append(to.Numbers, base+n)
	}
	switch {
	case !c.Optional:
	case len(from.Null) > 0:
		to.Null = append(to.Null, from.Null...)
	default:
		to.Null = append(to.Null, make([]bool, len(from.Numbers))...)
	}
}
