package parquetfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/export/internal/parquetfile"
	"github.com/sosgo/sosgo/internal/test/exportread"
)

// write writes groups of rows and reads the file back.
func write(t *testing.T, columns []parquetfile.Column, groups ...[]parquetfile.Values) *exportread.Parquet {
	t.Helper()
	var b bytes.Buffer
	w := parquetfile.NewWriter(&b, "test", columns)
	for _, values := range groups {
		g, err := w.EncodeGroup(len(values[0].Numbers), values)
		require.NoError(t, err)
		require.NoError(t, w.Write(g))
	}
	require.NoError(t, w.Close())
	return exportread.ReadParquet(t, b.Bytes())
}

// series returns lists of numbers that the encodings treat differently.
func series(random *rand.Rand) map[string][]uint64 {
	runs, wide, rising, few := []uint64(nil), []uint64(nil), []uint64(nil), []uint64(nil)
	at := uint64(1) << 46
	for i := range 70_000 { // three pages
		if i%100 < 50 {
			runs = append(runs, uint64(i/100))
		} else {
			runs = append(runs, random.Uint64N(300))
		}
		wide = append(wide, random.Uint64())
		at += 8 * random.Uint64N(100)
		rising = append(rising, at)
		few = append(few, 24+8*random.Uint64N(20))
	}
	return map[string][]uint64{"none": {}, "one": {7}, "extremes": {0, math.MaxUint64, 1, math.MaxInt64, 1 << 63, 0}, "equal": make([]uint64, 1000),
		"runs": runs, "wide": wide, "rising": rising, "few": few}
}

// TestNumbers checks that each encoding returns the written values, with and without nulls, over pages and
// groups.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, list := range series(random) {
		for _, encoding := range []parquetfile.Encoding{parquetfile.Plain, parquetfile.Delta, parquetfile.Dictionary} {
			values := []parquetfile.Values{{Numbers: list}, {Numbers: list, Null: make([]bool, len(list))}}
			for i := range list {
				values[1].Null[i] = random.IntN(3) == 0 || name == "one"
			}
			groups := [][]parquetfile.Values{values, values}
			if len(list) == 0 {
				groups = nil
			}
			got := write(t, []parquetfile.Column{{Name: "b", Encoding: encoding}, {Name: "a", Type: parquetfile.Int, Encoding: encoding, Optional: true}}, groups...)
			require.Equal(t, len(groups), got.Groups)
			require.Len(t, got.Rows, len(list)*len(groups))
			assert.Equal(t, []string{"a", "b"}, []string{got.Columns[0].Name, got.Columns[1].Name}, "the schema is in the order of names")
			assert.Equal(t, []string{"int", "uint"}, []string{got.Columns[0].Type, got.Columns[1].Type})
			nulls := int64(0)
			for i, row := range got.Rows {
				want, null := list[i%len(list)], values[1].Null[i%len(list)]
				if wanted := strconv.FormatUint(want, 10); row["b"] != wanted { // require takes long, and there are many rows
					require.Equal(t, wanted, row["b"], "%s %d", name, i)
				}
				text, known := row["a"]
				wanted := ""
				if null {
					nulls++
				} else {
					wanted = strconv.FormatInt(int64(want), 10)
				}
				if known == null || text != wanted {
					require.Failf(t, "another value", "%s %d: %q, %v, and not %q", name, i, text, known, wanted)
				}
			}
			assert.Equal(t, nulls, got.Columns[0].Nulls)
			if name == "wide" && encoding == parquetfile.Dictionary {
				assert.NotContains(t, got.Columns[1].Encodings, int64(8), "a dictionary of values that are all different")
			}
			if name == "few" {
				assert.Contains(t, got.Columns[1].Encodings, int64(encoding))
			}
		}
	}
}

// TestStatistics checks that bounds are in the order of the type, and absent for values without order or null.
func TestStatistics(t *testing.T) {
	float := func(f ...float64) (v parquetfile.Values) {
		for _, x := range f {
			v.Numbers = append(v.Numbers, math.Float64bits(x))
		}
		return v
	}
	minus := uint64(math.MaxUint64) // as an Int: -1
	columns := []parquetfile.Column{{Name: "a", Type: parquetfile.Int}, {Name: "b", Type: parquetfile.Uint}, {Name: "c", Type: parquetfile.Double},
		{Name: "d", Type: parquetfile.Text}, {Name: "e", Type: parquetfile.Bool}, {Name: "f", Type: parquetfile.Text, Optional: true}}
	got := write(t, columns, []parquetfile.Values{{Numbers: []uint64{1, minus, 0}}, {Numbers: []uint64{1, minus, 0}}, float(0.1, math.NaN(), -1),
		{Numbers: []uint64{1, 3, 3}, Text: []byte("büx"[:3])}, {Numbers: []uint64{1, 0, 1}}, {Numbers: []uint64{0, 0, 0}, Null: []bool{true, true, true}}})
	number := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	want := [][2][]byte{{number(minus), number(1)}, {number(0), number(minus)}, {number(math.Float64bits(-1)), number(math.Float64bits(0.1))},
		{[]byte(""), []byte("ü")}, {{0}, {1}}, {nil, nil}}
	for i, c := range got.Columns {
		assert.Equal(t, want[i][0], c.Least[0], c.Name)
		assert.Equal(t, want[i][1], c.Greatest[0], c.Name)
	}
	assert.EqualValues(t, 3, got.Columns[5].Nulls)
	assert.Equal(t, map[string]string{"a": "-1", "b": "18446744073709551615", "c": "NaN", "d": "ü", "e": "false"}, got.Rows[1])
}

// TestInvalidText checks that bytes that are not UTF-8 are replaced, as the logical type STRING requires.
func TestInvalidText(t *testing.T) {
	got := write(t, []parquetfile.Column{{Name: "a", Type: parquetfile.Text}}, []parquetfile.Values{{Numbers: []uint64{3}, Text: []byte("a\xffb")}})
	assert.Equal(t, "a\ufffdb", got.Rows[0]["a"])
	assert.Equal(t, "a\ufffdb", string(got.Columns[0].Least[0]))
	got = write(t, []parquetfile.Column{{Name: "a", Type: parquetfile.Text}}, []parquetfile.Values{{Numbers: []uint64{4}, Text: []byte("a\xed\xa0\x80")}})
	assert.Equal(t, `a\ud800`, got.Rows[0]["a"], "half a character")
}

type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestErrors: the error of the file is returned wherever it occurs.
func TestErrors(t *testing.T) {
	for _, space := range []int{0, 10, 60} {
		w := parquetfile.NewWriter(&full{space}, "test", []parquetfile.Column{{Name: "a"}})
		g, err := w.EncodeGroup(1, []parquetfile.Values{{Numbers: []uint64{1}}})
		require.NoError(t, err)
		if err = w.Write(g); err == nil {
			err = w.Close()
		}
		require.ErrorIs(t, err, errFull)
	}
}
