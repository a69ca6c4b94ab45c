package objects_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestListingIsTheSame: a list has the elements of the iterator in their order, whatever the number of workers, the
// selection and the form. The largest collection of a dump has more elements than a batch.
func TestListingIsTheSame(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, _ := open(t, d)
	lists, large := 0, 0
	options := testcase.Sample(t, []func(n uint64) objects.CollectionOptions{
		func(uint64) objects.CollectionOptions { return objects.CollectionOptions{} },
		func(n uint64) objects.CollectionOptions { return objects.CollectionOptions{Offset: 1, Limit: n - 2} },
		func(uint64) objects.CollectionOptions {
			return objects.CollectionOptions{Find: "a", Offset: 2, Limit: 3}
		},
		func(uint64) objects.CollectionOptions { return objects.CollectionOptions{Find: "e"} },
		func(uint64) objects.CollectionOptions { return objects.CollectionOptions{NoKeys: true} },
	}, 2)
	for at, n := range lengths(t, d, r) {
		if n < 3 || n < severalBatches && lists > 60 || large > 10 {
			continue
		}
		lists++
		if n >= severalBatches {
			large++
		}
		for _, option := range options {
			o := option(n)
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

// severalBatches is more than two batches of a list.
const severalBatches = 1100

// lengths returns the collections of a dump with their numbers of elements.
func lengths(t *testing.T, d *testdump.Dump, r *objects.Collections) iter.Seq2[target.Addr, uint64] {
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

// listed returns a list as text and as JSON. It compares the JSON with encoding/json's for the rows.
func listed(t *testing.T, r *objects.Collections, a target.Addr, o objects.CollectionOptions) (text, js string) {
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
	require.Equal(t, d.Found.Err() == nil, c.Found.Err() == nil)
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

// TestListingStops: an error of the caller ends a list, and so does the context, for any number of workers.
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
		c, err := r.Describe(t.Context(), a, objects.CollectionOptions{Jobs: jobs})
		require.NoError(t, err)
		full := errors.New("the disk is full")
		assert.ErrorIs(t, c.Items.StreamJSON(func([]byte) error { return full }), full)
		assert.Error(t, c.Found.Err())

		ctx, cancel := context.WithCancel(t.Context())
		c, err = r.Describe(ctx, a, objects.CollectionOptions{Jobs: jobs})
		require.NoError(t, err)
		assert.ErrorIs(t, c.Items.StreamJSON(func([]byte) error { cancel(); return nil }), context.Canceled)
	}
}

// TestPages: a page of a collection is that part of the whole list, with the errors before the page's end.
func TestPages(t *testing.T) {
	pages := 0
	for _, name := range []string{"net10-zoo", "net31-zoo", "win-net6-zoo"} {
		r, _ := open(t, testdump.Open(t, name))
		large := 0
		for at, n := range lengths(t, testdump.Open(t, name), r) {
			if n > severalBatches {
				if large++; large > 1 {
					continue
				}
			}
			all := listedWith(t, r, at, objects.CollectionOptions{})
			for _, from := range []uint64{1, n / 3, n - 1, n, n + 1} {
				for _, limit := range []uint64{0, 2} {
					if n > 1 {
						samePage(t, r, at, all, objects.CollectionOptions{Offset: from, Limit: limit}, "%s: %016x %d %d", name, uint64(at), from, limit)
						pages++
					}
				}
			}
		}
	}
	assert.Greater(t, pages, 3000)
}

// A damagedMemory is an overlay that can be read without a copy, and does not have the bytes from hole to end.
type damagedMemory struct {
	*testdump.Overlay
	hole, end target.Addr
}

func (m *damagedMemory) ReadMemory(b []byte, a target.Addr) (int, error) {
	if a < m.end && a+target.Addr(len(b)) > m.hole {
		n, err := m.Overlay.ReadMemory(b[:max(a, m.hole)-a], a)
		return n, cmp.Or(err, error(&target.MemoryError{Addr: a + target.Addr(n), Size: len(b) - n, Err: target.ErrNotInDump}))
	}
	return m.Overlay.ReadMemory(b, a)
}

func (m *damagedMemory) View(a target.Addr, n int) ([]byte, bool) {
	if a < m.end && a+target.Addr(n) > m.hole {
		return nil, false
	}
	return m.Overlay.View(a, n)
}

func (m *damagedMemory) Span(a target.Addr) []byte {
	n := min(len(m.Memory.Span(a)), 1<<12)
	if a < m.end {
		n = min(n, int(max(a, m.hole)-a))
	}
	b := make([]byte, n)
	if _, err := m.Overlay.ReadMemory(b, a); err != nil || n == 0 {
		return nil
	}
	return b
}

func (m *damagedMemory) NextStored(a target.Addr) (target.Addr, bool) {
	if a >= m.hole && a < m.end {
		a = m.end
	}
	return m.Overlay.NextStored(a)
}

// TestDamagedPages: a page of a collection with arrays that are damaged or partly not in the dump is a part of the
// whole list.
func TestDamagedPages(t *testing.T) {
	z := testdump.Open(t, "net10-zoo")
	mem := &damagedMemory{Overlay: &testdump.Overlay{}}
	mem.Set()
	options := z.Options()
	options.WrapMemory = func(m target.Memory) target.Memory { mem.Memory = m; return mem }
	d, err := sosgo.Open(z.Path, options)
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	r, places := objects.NewCollections(b), 0
	for _, f := range z.Manifest.Objects() {
		name, ok := strings.CutPrefix(f.Name, "root.Collections.")
		array := map[string]string{"ByName": "_entries", "ByPoint": "_entries", "List": "_items", "Plain": "_array", "Stack": "_array", "HashSet": "_entries"}[name]
		if !ok || array == "" {
			continue
		}
		o, err := b.Objects().Object(f.Addr)
		require.NoError(t, err)
		in, err := o.Field(array).Object()
		require.NoError(t, err)
		compare := func(what string, at target.Addr) {
			all := listedWith(t, r, f.Addr, objects.CollectionOptions{})
			for from := uint64(1); from < 12; from += 2 {
				for _, limit := range []uint64{0, 2} {
					samePage(t, r, f.Addr, all, objects.CollectionOptions{Offset: from, Limit: limit}, "%s: %s at %x, from %d", name, what, uint64(at-in.Addr), from)
				}
			}
		}
		for at := in.Addr + 16; at < in.Addr+0x80; at += 4 {
			places++
			for _, word := range []uint32{0, 0xffffffff, 0xfffffffd} {
				mem.Set(testdump.Damage{At: at, Bytes: binary.LittleEndian.AppendUint32(nil, word)})
				compare("a word", at)
			}
			mem.Set()
			mem.hole, mem.end = at, at+40
			compare("a hole", at)
			mem.hole, mem.end = 0, 0
		}
	}
	assert.Equal(t, 6*28, places)
}

// A rowList has the rows and the errors of a list, each in order, and the number of elements, if all were read.
type rowList struct {
	rows, errs []string
	found      answer.Maybe[uint64]
	before     []int // by error: the number of rows before it
}

func listedWith(t *testing.T, r *objects.Collections, a target.Addr, o objects.CollectionOptions) (out rowList) {
	c, err := r.Describe(t.Context(), a, o)
	require.NoError(t, err)
	for i, err := range c.Items.All() {
		if err != nil {
			out.errs, out.before = append(out.errs, err.Error()), append(out.before, len(out.rows))
			continue
		}
		out.rows = append(out.rows, fmt.Sprint(i.Index, i.Key.Value, i.Key.Text, i.Item.Value, i.Item.Text))
	}
	out.found = c.Found
	return out
}

// samePage compares a page with that part of the whole list.
func samePage(t *testing.T, r *objects.Collections, a target.Addr, all rowList, o objects.CollectionOptions, what ...any) {
	t.Helper()
	page := listedWith(t, r, a, o)
	from, end := min(int(o.Offset), len(all.rows)), len(all.rows)
	errs := all.errs
	cut := o.Limit > 0 && from+int(o.Limit) <= end
	if cut {
		end = from + int(o.Limit)
		n := 0
		for n < len(errs) && all.before[n] < end {
			n++
		}
		errs = errs[:n]
	}
	assert.Equal(t, slices.Concat(all.rows[from:end]), slices.Concat(page.rows), what...)
	assert.Equal(t, slices.Concat(errs), slices.Concat(page.errs), what...)
	assert.Equal(t, cut, page.found.Err() != nil, what...)
	if !cut {
		assert.Equal(t, all.found, page.found, what...)
	}
}
