package collections_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects/collections"
	"github.com/sosgo/sosgo/target"
)

// TestListingIsTheSame: whatever the number of workers, what is chosen and which form is wanted, a list has the elements that
// the iterator passes, in its order. The largest collection of a dump has more elements than are formatted at once.
func TestListingIsTheSame(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, _ := open(t, d)
	lists, large := 0, 0
	for at, n := range lengths(t, d, r) {
		if n < 3 || n < severalBatches && lists > 60 || large > 10 {
			continue
		}
		lists++
		if n >= severalBatches {
			large++
		}
		for _, o := range []collections.Options{{}, {Offset: 1, Limit: n - 2}, {Find: "e"}, {Find: "a", Offset: 2, Limit: 3}, {NoKeys: true}} {
			one := o
			one.Jobs = 1
			want, wantJSON := listed(t, r, at, one)
			for _, jobs := range []int{2, 5} {
				o.Jobs = jobs
				got, gotJSON := listed(t, r, at, o)
				assert.Equal(t, want, got, "%016x %+v", uint64(at), o)
				assert.Equal(t, wantJSON, gotJSON)
			}
			require.True(t, json.Valid([]byte("["+wantJSON+"]")), wantJSON)
		}
	}
	assert.Greater(t, lists, 30)
	assert.Positive(t, large, "a collection of several batches")
}

// severalBatches is more than two of the parts in which lists are formatted.
const severalBatches = 1100

// lengths returns the collections of a dump with their numbers of elements.
func lengths(t *testing.T, d *testdump.Dump, r *collections.Reader) iter.Seq2[target.Addr, uint64] {
	view, err := d.View("")
	require.NoError(t, err)
	h, err := view.Heap()
	require.NoError(t, err)
	reader, err := view.Objects()
	require.NoError(t, err)
	return func(yield func(target.Addr, uint64) bool) {
		for o, err := range h.Objects() {
			if err != nil || o.Free {
				continue
			}
			at, err := reader.Of(o)
			if err != nil || !r.Is(at.Type) {
				continue
			}
			c, err := r.Of(at)
			if err != nil || c.IsText() {
				continue
			}
			if n, err := c.Count(); err == nil && !yield(at.Addr, n) {
				return
			}
		}
	}
}

// listed returns a list as text and as JSON, which is compared with what encoding/json makes of the rows.
func listed(t *testing.T, r *collections.Reader, a target.Addr, o collections.Options) (text, js string) {
	describe := func() *answer.Collection {
		c, err := r.Describe(t.Context(), a, o)
		require.NoError(t, err)
		return c
	}
	row := func(b []byte, i *answer.CollectionItem) []byte {
		return fmt.Appendf(b, "%d %v %v|%v %v\n", i.Index, i.Key.Value, i.Key.Text, i.Item.Value, i.Item.Text)
	}
	var rows, walked, streamed, encoded bytes.Buffer
	c := describe()
	require.NoError(t, c.Items.Format(func() answer.AppendItem { return row }, func(b []byte) error { rows.Write(b); return nil }))
	d := describe()
	for i, err := range d.Items.All() {
		if err != nil {
			d.Note(err)
			continue
		}
		walked.Write(row(nil, &i))
		if encoded.Len() > 0 {
			encoded.WriteByte(',')
		}
		enc := json.NewEncoder(&encoded)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(i))
	}
	require.Equal(t, walked.String(), rows.String())
	require.Equal(t, d.Found.Err == nil, c.Found.Err == nil)
	require.Equal(t, d.Found.Value, c.Found.Value)
	require.Equal(t, d.Noted(), c.Noted())
	require.NoError(t, describe().Items.StreamJSON(func(b []byte) error {
		if streamed.Len() > 0 {
			streamed.WriteByte(',')
		}
		streamed.Write(append(b, '\n'))
		return nil
	}))
	compact := func(b []byte) string {
		var out bytes.Buffer
		require.NoError(t, json.Compact(&out, append(append([]byte("["), b...), ']')))
		return out.String()
	}
	require.Equal(t, compact(encoded.Bytes()), compact(streamed.Bytes()))
	return rows.String(), compact(streamed.Bytes())
}

// TestListingStops: the reader's error ends a list, and so does the context, however many workers there are.
func TestListingStops(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, _ := open(t, d)
	var a target.Addr
	for at, n := range lengths(t, d, r) {
		if n >= severalBatches {
			a = at
			break
		}
	}
	require.NotZero(t, a)
	for _, jobs := range []int{1, 3} {
		c, err := r.Describe(t.Context(), a, collections.Options{Jobs: jobs})
		require.NoError(t, err)
		full := errors.New("the disk is full")
		assert.ErrorIs(t, c.Items.StreamJSON(func([]byte) error { return full }), full)
		assert.Error(t, c.Found.Err)

		ctx, cancel := context.WithCancel(t.Context())
		c, err = r.Describe(ctx, a, collections.Options{Jobs: jobs})
		require.NoError(t, err)
		assert.ErrorIs(t, c.Items.StreamJSON(func([]byte) error { cancel(); return nil }), context.Canceled)
	}
}
