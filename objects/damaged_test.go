package objects_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// damageable opens a dump with memory that can be overwritten, and finds its facts.
func damageable(t testing.TB, name string) (*objects.Collections, *objects.Binder, *testdump.Overlay, func(fact string) objects.Object) {
	t.Helper()
	d, over := testdump.OpenOverlaid(t, name)
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	facts := testdump.Open(t, name).Manifest.Objects()
	return objects.NewCollections(b), b, over, func(fact string) objects.Object {
		t.Helper()
		for _, f := range facts {
			if f.Name == "root.Collections."+fact {
				o, err := b.Objects().Object(f.Addr)
				require.NoError(t, err)
				return o
			}
		}
		t.Fatal(fact)
		return objects.Object{}
	}
}

// read returns the number of elements of a collection, and the errors.
func read(t *testing.T, r *objects.Collections, o objects.Object) (n int, errs []error) {
	t.Helper()
	c, err := r.Of(o)
	if err != nil {
		return 0, []error{err}
	}
	for _, err := range c.Items() {
		if err != nil {
			errs = append(errs, err)
		} else {
			n++
		}
		require.Less(t, n+len(errs), 1<<20, "it does not end")
	}
	return n, errs
}

// TestDamaged: wrong counts, chains and trees with circles, and arrays of two billion elements yield the valid elements
// and an error.
func TestDamaged(t *testing.T) {
	field := func(t *testing.T, o objects.Object, names ...string) target.Addr {
		t.Helper()
		for _, n := range names[:len(names)-1] {
			var err error
			o, err = o.Field(n).Object()
			require.NoError(t, err)
		}
		v := o.Field(names[len(names)-1])
		require.NoError(t, v.Err())
		return v.Location()
	}
	for _, name := range []string{"net10-zoo", "net31-zoo", "net8-zoo", "win-net6-zoo"} {
		t.Run(name, func(t *testing.T) {
			r, _, over, fact := damageable(t, name)
			check := func(what string, o objects.Object, want int, at target.Addr, word uint32) {
				t.Helper()
				n, errs := read(t, r, o)
				require.Empty(t, errs, "%s: before", what)
				over.Set(testdump.Damage{At: at, Bytes: binary.LittleEndian.AppendUint32(nil, word)})
				defer over.Set()
				have, errs := read(t, r, o)
				if want < 0 {
					want += 1 + n
				}
				assert.Equal(t, want, have, what)
				require.NotEmpty(t, errs, what)
				for _, err := range errs {
					assert.ErrorIs(t, err, target.ErrCorrupt, what)
				}
			}
			dict := fact("ByName")
			check("a count below zero", dict, 0, field(t, dict, "_count"), 1<<31)
			check("a count above the array", dict, -1, field(t, dict, "_count"), 1<<30)
			check("more free entries than are used", dict, 0, field(t, dict, "_freeCount"), 100)
			check("a free entry that is not counted", dict, -1, field(t, dict, "_freeCount"), 0)
			list := fact("List")
			check("a list longer than its array", list, 4, field(t, list, "_size"), 5)
			items, err := list.Field("_items").Object()
			require.NoError(t, err)
			check("a list of two billion", list, 3, items.Addr+8, 0x7fffffff)
			check("a negative size", list, 0, field(t, list, "_size"), 0xffffffff)
			over.Set(testdump.Damage{At: field(t, list, "_size"), Bytes: []byte{0xff, 0xff, 0xff, 0xff}})
			assert.True(t, strings.HasSuffix(list.Inline(10), "> (<corrupt>)"), "the line says that the count is none: %s", list.Inline(10))
			over.Set()
			plain := fact("Plain")
			check("a queue longer than its ring", plain, 16, field(t, plain, "_size"), 999)
			linked := fact("Linked")
			check("a count of nodes", linked, -1, field(t, linked, "count"), 3)
			tree, err := fact("Sorted").Field("_set").Object()
			require.NoError(t, err)
			check("a count of a tree", fact("Sorted"), -1, field(t, tree, "count"), 7)
		})
	}
}

// TestRings: nodes that refer to themselves or to one another end a walk.
func TestRings(t *testing.T) {
	r, _, over, fact := damageable(t, "net10-zoo")
	address := func(a target.Addr) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(a)) }
	ring := func(what string, o objects.Object, want int, at, to target.Addr) {
		t.Helper()
		over.Set(testdump.Damage{At: at, Bytes: address(to)})
		defer over.Set()
		n, errs := read(t, r, o)
		assert.Equal(t, want, n, what)
		require.NotEmpty(t, errs, what)
		assert.ErrorIs(t, errs[0], target.ErrCorrupt, what)
	}
	head, err := fact("Linked").Field("head").Object()
	require.NoError(t, err)
	next, err := head.Field("next").Object()
	require.NoError(t, err)
	ring("the second node is its own next", fact("Linked"), 2, next.Field("next").Location(), next.Addr)
	ring("a node that is none", fact("Linked"), 2, next.Field("next").Location(), fact("List").Addr)

	set, err := fact("Sorted").Field("_set").Object()
	require.NoError(t, err)
	root, err := set.Field("root").Object()
	require.NoError(t, err)
	ring("a tree that is its own branch", fact("Sorted"), 2, root.Field("<Right>k__BackingField").Location(), root.Addr)

	tables, err := fact("Concurrent").Field("_tables").Object()
	require.NoError(t, err)
	buckets, err := tables.Field("_buckets").Object()
	require.NoError(t, err)
	a, err := buckets.Array()
	require.NoError(t, err)
	for i, v := range a.Values() {
		s, err := v.Struct()
		require.NoError(t, err)
		node, err := s.Field("_node").Object()
		if err != nil {
			continue
		}
		if next := node.Field("_next"); next.IsNull() {
			ring("a bucket whose node is its own next", fact("Concurrent"), 10, next.Location(), node.Addr)
			break
		}
		require.Less(t, i, a.Len-1)
	}
	queue, err := fact("Queue").Field("_head").Object()
	require.NoError(t, err)
	ring("a segment that is its own next", fact("Queue"), 9, queue.Field("_nextSegment").Location(), queue.Addr)
}

// FuzzCollections reads the collections of a program with arbitrary bytes.
func FuzzCollections(f *testing.F) {
	d := testdump.Open(f, "net10-zoo")
	r, b, over, _ := damageable(f, d.Name)
	var facts []target.Addr
	for _, have := range d.Manifest.Objects() {
		if o, err := b.Objects().Object(have.Addr); err == nil && r.Is(o.Type) {
			facts = append(facts, have.Addr)
		}
	}
	for i := range facts {
		f.Add(uint8(i), uint8(0), uint8(8), []byte{1, 0, 0, 0})
		f.Add(uint8(i), uint8(1), uint8(8), []byte{0xff, 0xff, 0xff, 0x7f})
		f.Add(uint8(i), uint8(2), uint8(24), []byte{0, 0, 0, 0x80})
	}
	f.Fuzz(func(t *testing.T, which, hop, offset uint8, bytes []byte) {
		at := facts[int(which)%len(facts)]
		over.Set()
		// The damage is in an object that the collection refers to over that many references.
		for range hop % 4 {
			o, err := b.Objects().Object(at)
			if err != nil {
				break
			}
			for _, v := range o.Fields() {
				if next, err := v.Object(); err == nil {
					at = next.Addr
					break
				}
			}
		}
		over.Set(testdump.Damage{At: at + target.Addr(offset), Bytes: bytes})
		o, err := b.Objects().Object(facts[int(which)%len(facts)])
		if err != nil {
			return
		}
		c, err := r.Of(o)
		if err != nil {
			if !testdump.Typed(err) {
				t.Fatalf("%v", err)
			}
			return
		}
		_, _ = c.Count()
		_, _, _ = c.Text()
		n := 0
		for _, err := range c.Items() {
			if err != nil && !testdump.Typed(err) {
				t.Fatalf("%v", err)
			}
			if n++; n > 1<<20 {
				t.Fatal("it does not end")
			}
		}
	})
}

// TestPairAcrossChunks: a surrogate pair that is split between two chunks of a StringBuilder is one character.
func TestPairAcrossChunks(t *testing.T) {
	r, _, over, fact := damageable(t, "net10-zoo")
	o := fact("Builder")
	last, err := o.Field("m_ChunkChars").Object()
	require.NoError(t, err)
	before, err := o.Field("m_ChunkPrevious").Object()
	require.NoError(t, err)
	first, err := before.Field("m_ChunkChars").Object()
	require.NoError(t, err)
	n, err := before.Field("m_ChunkLength").Int()
	require.NoError(t, err)
	const chars = 16 // after the MethodTable and the length
	over.Set(testdump.Damage{At: first.Addr + chars + 2*target.Addr(n-1), Bytes: []byte{0x34, 0xd8}}, testdump.Damage{At: last.Addr + chars, Bytes: []byte{0x1e, 0xdd}})
	c, err := r.Of(o)
	require.NoError(t, err)
	text, _, err := c.Text()
	require.NoError(t, err)
	assert.Contains(t, text, "𝄞")
	assert.True(t, utf8.ValidString(text))
}
