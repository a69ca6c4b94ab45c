package objects_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
)

// TestScratch: formatting a value type with its members allocates nothing after warm-up, and gives the result of a
// Storer.
func TestScratch(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	structs, measured := 0, false
	plain, s := r.Storer(), r.NewScratch()
	for o, err := range h.Objects() {
		if structs > 50 && measured {
			break
		}
		if err != nil || o.Type == nil {
			continue
		}
		object, err := r.Of(o)
		if err != nil {
			continue
		}
		for _, v := range object.Fields() {
			if v.Kind() != objects.KindStruct {
				continue
			}
			structs++
			want, got := plain(v), s.Stored(v)
			row := jsonenc.Row[answer.Stored]()
			assert.Equal(t, string(row(nil, &want)), string(row(nil, &got)))
			s.Reset()
			if st, err := v.Struct(); err == nil && numbers(st) && strconv.IntSize == 64 { // not for 32 bits
				var b []byte
				assert.Zero(t, testing.AllocsPerRun(10, func() {
					got = s.Stored(v)
					b = row(b[:0], &got)
					s.Reset()
				}), "%s", want.Text)
				measured = true
			}
		}
	}
	assert.True(t, measured || strconv.IntSize == 32, "no structs of numbers")
}

// numbers reports whether a value type has a few integers and no short form.
func numbers(s objects.Struct) bool {
	n := 0
	for f, v := range s.Fields() {
		if sig := f.Signature(); v.Kind() != answer.KindInt || sig == nil || sig.Kind != v.ElementType() {
			return false
		}
		n++
	}
	return n > 1 && s.Inline(-1)[0] == '{'
}
