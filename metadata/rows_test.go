package metadata

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAccessors calls every row accessor on a row with distinct columns and compares the fields with the
// columns in order.
func TestAccessors(t *testing.T) {
	w := newBuilder()
	want := map[TableID][]uint32{}
	for id := range TableID(numTables) {
		var cols []any
		for i, c := range schema[id].cols {
			v := uint32(i + 1)
			if c.kind == kindCoded {
				for _, table := range codedIndexes[c.arg].tables {
					if coded, ok := codedIndex(c.arg).encode(NewToken(table, v)); ok {
						v = coded
						break
					}
				}
			}
			want[id] = append(want[id], v)
			if c.kind == kindU32 {
				cols = append(cols, v)
			} else {
				cols = append(cols, uint16(v))
			}
		}
		if cols != nil {
			w.row(id, cols...)
		}
	}
	md := reflect.ValueOf(w.open(t))
	called := 0
	for id := range TableID(numTables) {
		accessor := md.MethodByName(id.String())
		if !accessor.IsValid() {
			continue
		}
		res := accessor.Call([]reflect.Value{reflect.ValueOf(uint32(1))})
		require.Nil(t, res[1].Interface(), id)
		assert.Equal(t, want[id], fields(id, res[0]), id)
		called++
		res = accessor.Call([]reflect.Value{reflect.ValueOf(uint32(2))})
		require.NotNil(t, res[1].Interface(), id)
	}
	const ptrTables, gaps, unread = 5, 3, 20 // without an accessor
	assert.Equal(t, numTables-ptrTables-gaps-unread, called)
}

// fields turns a decoded row back into columns.
func fields(id TableID, row reflect.Value) (out []uint32) {
	for i := range row.NumField() {
		switch v := row.Field(i).Interface().(type) {
		case Token:
			c := schema[id].cols[len(out)]
			n := v.Row()
			if c.kind == kindCoded {
				n, _ = codedIndex(c.arg).encode(v)
			}
			out = append(out, n)
		case [4]uint16:
			out = append(out, uint32(v[0]), uint32(v[1]), uint32(v[2]), uint32(v[3]))
		default:
			out = append(out, uint32(reflect.ValueOf(v).Uint()))
		}
	}
	return out
}
