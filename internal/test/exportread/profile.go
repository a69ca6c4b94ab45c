package exportread

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Profile is the content of a pprof profile.
type Profile struct {
	SampleTypes [][2]string // type and unit
	Default     string
	Samples     []Sample
	Mappings    []string // files, in their order
}

// A Sample has its frames from the leaf on. A numeric label is decimal.
type Sample struct {
	Frames  []Frame
	Values  []int64
	Labels  map[string]string
	Numbers map[string]int64
}

// A Frame is a location with its function and its mapping.
type Frame struct {
	Function, SystemName, File, Mapping string
	FunctionID, Address                 uint64
	Line                                int64
}

// ReadProfile reads a compressed profile.
func ReadProfile(t testing.TB, b []byte) *Profile {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	raw, err := io.ReadAll(z)
	require.NoError(t, err)
	m := message(t, raw)
	var table []string
	for _, s := range m.bytes[6] {
		table = append(table, string(s))
	}
	require.NotEmpty(t, table)
	require.Empty(t, table[0])
	out := &Profile{Default: table[m.number(14)]}
	for _, b := range m.bytes[1] {
		v := message(t, b)
		out.SampleTypes = append(out.SampleTypes, [2]string{table[v.number(1)], table[v.number(2)]})
	}
	byID := func(field int) map[uint64]*fields {
		list := map[uint64]*fields{}
		for _, b := range m.bytes[field] {
			x := message(t, b)
			require.Positive(t, x.number(1))
			require.NotContains(t, list, x.number(1))
			list[x.number(1)] = x
		}
		return list
	}
	mappings, functions, locations := byID(3), byID(5), byID(4)
	for _, b := range m.bytes[3] {
		out.Mappings = append(out.Mappings, table[message(t, b).number(5)])
	}
	for _, b := range m.bytes[2] {
		x := message(t, b)
		s := Sample{Labels: map[string]string{}, Numbers: map[string]int64{}}
		for _, id := range packed(t, x.bytes[1]) {
			l := locations[id]
			require.NotNil(t, l)
			line := message(t, l.bytes[4][0])
			fn, mapping := functions[line.number(1)], mappings[l.number(2)]
			require.NotNil(t, fn)
			require.NotNil(t, mapping)
			s.Frames = append(s.Frames, Frame{table[fn.number(2)], table[fn.number(3)], table[fn.number(4)], table[mapping.number(5)],
				fn.number(1), l.number(3), int64(line.number(2))})
		}
		for _, v := range packed(t, x.bytes[2]) {
			s.Values = append(s.Values, int64(v))
		}
		require.Len(t, s.Values, len(out.SampleTypes))
		for _, b := range x.bytes[3] {
			if l := message(t, b); l.number(2) != 0 {
				s.Labels[table[l.number(1)]] = table[l.number(2)]
			} else {
				s.Numbers[table[l.number(1)]] = int64(l.number(3))
			}
		}
		out.Samples = append(out.Samples, s)
	}
	return out
}

// fields are the fields of a Protocol Buffers message, by number.
type fields struct {
	numbers map[int]uint64
	bytes   map[int][][]byte
}

func (f *fields) number(i int) uint64 { return f.numbers[i] }

func message(t testing.TB, b []byte) *fields {
	out := &fields{map[int]uint64{}, map[int][][]byte{}}
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		require.Positive(t, n)
		b = b[n:]
		return v
	}
	for len(b) > 0 {
		key := next()
		switch key & 7 {
		case 0:
			out.numbers[int(key>>3)] = next()
		case 2:
			n := next()
			require.LessOrEqual(t, n, uint64(len(b)))
			out.bytes[int(key>>3)] = append(out.bytes[int(key>>3)], b[:n])
			b = b[n:]
		default:
			require.Fail(t, "a wire type that is not expected")
		}
	}
	return out
}

func packed(t testing.TB, list [][]byte) (out []uint64) {
	for _, b := range list {
		for len(b) > 0 {
			v, n := binary.Uvarint(b)
			require.Positive(t, n)
			out, b = append(out, v), b[n:]
		}
	}
	return out
}
