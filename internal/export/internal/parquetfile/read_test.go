package parquetfile_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/export/internal/parquetfile"
	"github.com/sosgo/sosgo/target"
)

// written returns a file with two row groups of all types.
func written(t testing.TB) ([]byte, []parquetfile.Column, []parquetfile.Values) {
	columns := []parquetfile.Column{{Name: "a", Type: parquetfile.Uint}, {Name: "b", Type: parquetfile.Text, Optional: true}, {Name: "c", Type: parquetfile.Bool, Optional: true}, {Name: "d", Type: parquetfile.Double}, {Name: "e", Type: parquetfile.Int, Optional: true}}
	var out bytes.Buffer
	w := parquetfile.NewWriter(&out, "all", columns)
	all := make([]parquetfile.Values, len(columns))
	for g := range 2 {
		const rows = 100
		values := make([]parquetfile.Values, len(columns))
		for _, into := range [][]parquetfile.Values{values, all} {
			for r := range rows {
				n := uint64(g*rows + r)
				null := r%3 == 0 || r > 40 && r < 80
				into[0].Numbers = append(into[0].Numbers, n)
				if !null {
					into[1].Text = append(into[1].Text, bytes.Repeat([]byte{'x'}, r%5)...)
				}
				into[1].Numbers = append(into[1].Numbers, uint64(len(into[1].Text)))
				for _, c := range []int{2, 4} {
					v := n % 2
					if null {
						v = 0
					}
					into[c].Numbers = append(into[c].Numbers, v)
				}
				into[3].Numbers = append(into[3].Numbers, n<<40)
				for _, c := range []int{1, 2, 4} {
					into[c].Null = append(into[c].Null, null)
				}
			}
		}
		group, err := w.EncodeGroup(rows, values)
		require.NoError(t, err)
		require.NoError(t, w.Write(group))
	}
	require.NoError(t, w.Close())
	return out.Bytes(), columns, all
}

func readAll(b []byte) (columns []parquetfile.Column, out []parquetfile.Values, err error) {
	r, err := parquetfile.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, err
	}
	if r.Rows()*uint64(len(r.Columns())) > 1<<20 {
		return nil, nil, target.Unsupportedf("more than a test has")
	}
	out = make([]parquetfile.Values, len(r.Columns()))
	for g := range r.Groups() {
		if err := r.Read(g, out); err != nil {
			return nil, nil, err
		}
	}
	return r.Columns(), out, nil
}

// TestRead checks that a reader returns the written values.
func TestRead(t *testing.T) {
	b, columns, all := written(t)
	got, values, err := readAll(b)
	require.NoError(t, err)
	assert.Equal(t, columns, got)
	assert.Equal(t, all, values)
	for n := range len(b) {
		_, _, err := readAll(b[:n])
		require.Error(t, err, "cut after %d bytes", n)
	}
	_, _, err = readAll(append([]byte(nil), make([]byte, 100)...))
	require.ErrorIs(t, err, target.ErrCorrupt)
}

// TestReadOther: other encodings are not supported.
func TestReadOther(t *testing.T) {
	for _, e := range []parquetfile.Encoding{parquetfile.Delta, parquetfile.Dictionary} {
		var out bytes.Buffer
		w := parquetfile.NewWriter(&out, "x", []parquetfile.Column{{Name: "a", Encoding: e}})
		g, err := w.EncodeGroup(2, []parquetfile.Values{{Numbers: []uint64{1, 1}}})
		require.NoError(t, err)
		require.NoError(t, w.Write(g))
		require.NoError(t, w.Close())
		_, _, err = readAll(out.Bytes())
		require.ErrorIs(t, err, target.ErrUnsupported)
	}
}

func FuzzRead(f *testing.F) {
	b, _, _ := written(f)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := readAll(b)
		if err != nil && !errors.Is(err, target.ErrCorrupt) && !errors.Is(err, target.ErrUnsupported) {
			t.Error(err)
		}
	})
}

// TestStatisticsOfGroups: the bounds of a row group stay when the caller fills its buffers anew for the next.
func TestStatisticsOfGroups(t *testing.T) {
	var out bytes.Buffer
	w := parquetfile.NewWriter(&out, "x", []parquetfile.Column{{Name: "a", Type: parquetfile.Text}})
	buffer := []byte("first")
	for _, text := range []string{"first", "other"} {
		copy(buffer, text)
		g, err := w.EncodeGroup(1, []parquetfile.Values{{Text: buffer, Numbers: []uint64{5}}})
		require.NoError(t, err)
		require.NoError(t, w.Write(g))
	}
	require.NoError(t, w.Close())
	footer := out.Bytes()[bytes.LastIndex(out.Bytes(), []byte("schema"))+1:]
	assert.Contains(t, string(footer), "first", "a bound of the first group")
}
