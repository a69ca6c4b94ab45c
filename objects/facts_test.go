package objects_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// zoos are canned dumps of the program that zooContents describes.
var zoos = []string{"net10-zoo", "net8-zoo", "net31-zoo", "win-net6-zoo"}

// collectionsOfZoo opens a canned dump of that program. The returned function returns one of its collections.
func collectionsOfZoo(t *testing.T, name string) (*objects.Collections, *objects.Binder, func(fact string) objects.Object) {
	t.Helper()
	d := testdump.Open(t, name)
	r, b := open(t, d)
	return r, b, func(fact string) objects.Object {
		t.Helper()
		for _, f := range d.Manifest.Objects() {
			if f.Name == "root.Collections."+fact {
				o, err := b.Objects().Object(f.Addr)
				require.NoError(t, err)
				return o
			}
		}
		t.Fatal("the manifest has no", fact)
		return objects.Object{}
	}
}

// TestReferred: with Referred, each element describes what its key and its value are or refer to.
func TestReferred(t *testing.T) {
	for _, name := range zoos {
		r, b, fact := collectionsOfZoo(t, name)
		items := func(fact objects.Object, o objects.CollectionOptions) (out []answer.CollectionItem) {
			c, err := r.Describe(t.Context(), fact.Addr, o)
			require.NoError(t, err)
			for i, err := range c.Items.All() {
				require.NoError(t, err)
				out = append(out, i)
			}
			return out
		}
		typeName := func(mt target.Addr) string {
			s, err := b.Objects().Runtime().TypeName(mt, 0)
			require.NoError(t, err)
			return s
		}
		asked := objects.CollectionOptions{Referred: true}

		bag := items(fact("Bag"), asked)
		require.Len(t, bag, 10)
		for i, item := range bag {
			v := item.Referred.Value
			assert.Equal(t, strings.Fields(zooContents["Bag"])[i], v.String)
			assert.True(t, v.IsString)
			assert.Equal(t, "System.String", typeName(v.MethodTable))
			assert.Zero(t, item.Referred.Key, "a bag has no keys")
		}
		for _, item := range items(fact("ByName"), asked) {
			assert.True(t, strings.HasPrefix(item.Referred.Key.String, "key"), item.Referred.Key.String)
			assert.Zero(t, item.Referred.Value, "an Int32 refers to nothing")
		}
		points := items(fact("ByPoint"), asked)
		require.Len(t, points, 10)
		for _, item := range points {
			assert.Equal(t, "Debuggee.Zoo.Point", typeName(item.Referred.Key.MethodTable))
			assert.Equal(t, "Debuggee.Zoo.Segment", typeName(item.Referred.Value.MethodTable))
			assert.NotZero(t, item.Referred.Key.At)
			assert.Equal(t, item.Referred.Value.At-item.Referred.Key.At, points[0].Referred.Value.At-points[0].Referred.Key.At, "they are in one entry")
		}
		list := items(fact("ArrayList"), asked)
		require.Len(t, list, 3)
		assert.Equal(t, "System.Int32", typeName(list[0].Referred.Value.MethodTable))
		assert.EqualValues(t, 1, list[0].Referred.Value.Boxed.Int())
		assert.Equal(t, "b", list[1].Referred.Value.String)
		assert.Zero(t, list[2].Referred.Value, "null")

		for _, item := range items(fact("Bag"), objects.CollectionOptions{}) {
			assert.Nil(t, item.Referred)
		}
		queue, slots := items(fact("Queue"), objects.CollectionOptions{}), items(fact("Queue"), objects.CollectionOptions{SlotOrder: true})
		require.Len(t, slots, 9)
		for i := range queue {
			assert.Equal(t, queue[i].Item, slots[i].Item, "the queue never went round")
		}
	}
}

// TestRequiredKinds: Describe refuses a collection of another kind than the options require.
func TestRequiredKinds(t *testing.T) {
	for _, name := range zoos {
		r, _, fact := collectionsOfZoo(t, name)
		refused := func(fact objects.Object, o objects.CollectionOptions) *objects.NotCollectionError {
			t.Helper()
			_, err := r.Describe(t.Context(), fact.Addr, o)
			var kind *objects.NotCollectionError
			require.ErrorAs(t, err, &kind)
			assert.ErrorIs(t, err, target.ErrUnsupported)
			assert.Equal(t, fact.Addr, kind.Addr)
			return kind
		}
		queues := objects.CollectionOptions{Only: "System.Collections.Concurrent.ConcurrentQueue`1"}
		assert.Equal(t, "ConcurrentQueue", refused(fact("Plain"), queues).Want)
		assert.ErrorContains(t, refused(fact("Bag"), queues), "is not a ConcurrentQueue but a System.Collections.Concurrent.ConcurrentBag<System.String>")
		assert.Equal(t, "dictionary", refused(fact("List"), objects.CollectionOptions{Keyed: true}).Want)
		c, err := r.Describe(t.Context(), fact("Queue").Addr, queues)
		require.NoError(t, err)
		assert.ErrorIs(t, c.Count.Err(), target.ErrUnsupported, "it keeps no count")
		_, err = r.Describe(t.Context(), fact("ByName").Addr, objects.CollectionOptions{Keyed: true})
		assert.NoError(t, err)

		text, err := r.Describe(t.Context(), fact("Builder").Addr, objects.CollectionOptions{})
		require.NoError(t, err)
		assert.Equal(t, "built "+strings.Repeat("z", 100), *text.Text)
		assert.Nil(t, text.Items)
		summary, err := r.Summary(t.Context(), fact("Builder"), 3)
		require.NoError(t, err)
		assert.False(t, summary.More)
		assert.Equal(t, *text.Text, *summary.Text)

		_, err = r.Describe(t.Context(), fact("List").Addr+8, objects.CollectionOptions{})
		assert.ErrorAs(t, err, new(*objects.InvalidError))
		key, err := first(t, r, fact("ByName")).Key.Object()
		require.NoError(t, err)
		_, err = r.Describe(t.Context(), key.Addr, objects.CollectionOptions{})
		assert.ErrorIs(t, err, objects.ErrNotCollection)
		summary, err = r.Summary(t.Context(), key, 3)
		assert.NoError(t, err)
		assert.Nil(t, summary)
	}
}

func first(t *testing.T, r *objects.Collections, o objects.Object) objects.CollectionItem {
	t.Helper()
	c, err := r.Of(o)
	require.NoError(t, err)
	for i, err := range c.Items() {
		require.NoError(t, err)
		return i
	}
	t.Fatal("no element")
	return objects.CollectionItem{}
}

// TestStores: the arrays of a collection have room for its elements, and its counts are the program's.
func TestStores(t *testing.T) {
	for _, name := range zoos {
		r, _, fact := collectionsOfZoo(t, name)
		for _, c := range []struct {
			name         string
			count, least int64 // elements, and minimum length of the first array; -1 for nodes
		}{{"List", 3, 3}, {"ArrayList", 3, 3}, {"ByName", 9, 9}, {"HashSet", 2, 2}, {"Plain", 10, 10}, {"Stack", 10, 10}, {"Linked", 10, -1}, {"Builder", -1, 1}} {
			o := fact(c.name)
			s, err := r.Store(o.Type)
			require.NoError(t, err, c.name)
			x := objects.InstanceOf(o)
			n, err := s.Count.Int(x)
			require.NoError(t, err, c.name)
			if s.Free != nil {
				free, err := s.Free.Int(x)
				require.NoError(t, err, c.name)
				n -= free
			}
			if c.count >= 0 {
				assert.Equal(t, c.count, n, "%s of %s", c.name, name)
			}
			if c.least < 0 {
				assert.Empty(t, s.Arrays, c.name)
				continue
			}
			require.NotEmpty(t, s.Arrays, c.name)
			array, err := s.Arrays[0].Object(x)
			require.NoError(t, err, c.name)
			a, err := array.Array()
			require.NoError(t, err, c.name)
			assert.GreaterOrEqual(t, int64(a.Len), max(n, c.least), c.name)
		}
		for _, without := range []string{"Concurrent", "Lazy"} {
			_, err := r.Store(fact(without).Type)
			assert.ErrorIs(t, err, objects.ErrNotCollection, without)
		}
		key, err := first(t, r, fact("ByName")).Key.Object()
		require.NoError(t, err)
		_, err = r.Store(key.Type)
		assert.ErrorIs(t, err, objects.ErrNotCollection)
	}
}

// A zooCollections is a shape of the object that holds the program's collections.
type zooCollections struct {
	_         objects.Shape    `of:"Debuggee.Zoo.Collections"`
	ByID      objects.RefField `field:"ById"`
	ArrayList objects.RefField `field:"ArrayList"`
	Bag       objects.RefField `field:"Bag"`
}

// TestObjectsIn: the objects of a collection come in its order, without null elements and without keys.
func TestObjectsIn(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, b, fact := collectionsOfZoo(t, "net10-zoo")
	for _, f := range d.Manifest.Objects() {
		if f.Name != "root.Collections" {
			continue
		}
		o, err := b.Objects().Object(f.Addr)
		require.NoError(t, err)
		s, x, err := objects.BindObject[*zooCollections](b, o)
		require.NoError(t, err)
		names := func(field *objects.RefField, most int) (out []string) {
			for o, err := range r.Objects(field, x) {
				require.NoError(t, err)
				v := objects.Value{}
				for f, value := range o.Fields() {
					if f.Name == "name" || f.Name == "Name" {
						v = value
						break
					}
				}
				if o.IsString() {
					s, err := o.Text(-1)
					require.NoError(t, err)
					out = append(out, s)
				} else if o.IsBoxed() {
					out = append(out, o.Boxed().Plain(-1))
				} else {
					out = append(out, describe(t, v))
				}
				if len(out) == most {
					break
				}
			}
			return out
		}
		assert.Equal(t, strings.Fields("dog0 dog1 dog3 dog4 dog5 dog6 dog7 dog8 dog9"), names(&s.ByID, -1))
		assert.Equal(t, []string{"1", "b"}, names(&s.ArrayList, -1))
		assert.Equal(t, strings.Fields(zooContents["Bag"]), names(&s.Bag, -1))
		assert.Equal(t, []string{"b9", "b8"}, names(&s.Bag, 2))
		n := 0
		for i, err := range r.ItemsAt(&s.ByID, x) {
			require.NoError(t, err)
			assert.EqualValues(t, n, i.Index)
			assert.False(t, i.Key.IsNull())
			n++
		}
		assert.Equal(t, 9, n)
	}
	for _, none := range []func() error{
		func() (last error) {
			for _, err := range r.ObjectsIn(objects.Object{}) {
				last = errors.Join(last, err)
			}
			return last
		},
		func() (last error) {
			for _, err := range r.CacheEntries(fact("List")) {
				last = errors.Join(last, err)
			}
			return last
		},
	} {
		assert.Error(t, none(), "no collection is no empty one")
	}
}

// views are classes that show another collection, with the field that refers to it and what they show of it.
var views = []struct {
	prefix, field string
	part          func(objects.CollectionItem) objects.Value
}{
	{"System.Collections.Generic.Dictionary`2+KeyCollection", "_dictionary", func(i objects.CollectionItem) objects.Value { return i.Key }},
	{"System.Collections.Generic.Dictionary`2+ValueCollection", "_dictionary", func(i objects.CollectionItem) objects.Value { return i.Value }},
	{"System.Collections.Hashtable+KeyCollection", "_hashtable", func(i objects.CollectionItem) objects.Value { return i.Key }},
	{"System.Collections.Hashtable+SyncHashtable", "_table", func(i objects.CollectionItem) objects.Value { return i.Value }},
	{"System.Threading.Channels.UnboundedChannel`1+UnboundedChannelReader", "_parent", func(i objects.CollectionItem) objects.Value { return i.Value }},
	{"System.Threading.Channels.BoundedChannel`1+BoundedChannelWriter", "_parent", func(i objects.CollectionItem) objects.Value { return i.Value }},
}

// TestViews: an object that shows another collection has the elements of that collection. TestExpect compares these
// with the manifest.
func TestViews(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		r, b := open(t, d)
		h, err := d.Heap()
		require.NoError(t, err)
		found, elements := map[string]int{}, 0
		for o, err := range h.Objects() {
			if err != nil || o.Free {
				continue
			}
			name, err := b.Objects().Runtime().TypeName(o.Type.Addr, 0)
			if err != nil {
				continue
			}
			i := slices.IndexFunc(views, func(v struct {
				prefix, field string
				part          func(objects.CollectionItem) objects.Value
			}) bool {
				return name == v.prefix || strings.HasPrefix(name, v.prefix+"[")
			})
			if i < 0 {
				continue
			}
			view, err := b.Objects().Object(o.Addr)
			require.NoError(t, err)
			behind, err := view.Field(views[i].field).Object()
			require.NoError(t, err, name)
			texts := func(o objects.Object, part func(objects.CollectionItem) objects.Value) (out []string) {
				c, err := r.Of(o)
				require.NoError(t, err, name)
				for item, err := range c.Items() {
					if err != nil {
						out = append(out, err.Error())
						continue
					}
					v := part(item)
					out = append(out, v.Location().String()+" "+v.Plain(-1))
				}
				return out
			}
			want := texts(behind, views[i].part)
			assert.Equal(t, want, texts(view, func(i objects.CollectionItem) objects.Value { return i.Value }), name)
			found[views[i].prefix]++
			elements += len(want)
		}
		for _, v := range views {
			assert.NotZero(t, found[v.prefix], v.prefix)
		}
		assert.NotZero(t, elements)
		return elements
	})
}

// TestCacheEntries: a cache has an entry for each of its elements, with the element's value.
func TestCacheEntries(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		r, b := open(t, d)
		n := 0
		for typ, err := range b.Objects().TypeByName("Microsoft.Extensions.Caching.Memory.MemoryCache", "") {
			require.NoError(t, err)
			h, err := d.Heap()
			require.NoError(t, err)
			for o, err := range h.Objects() {
				if err != nil || o.Free || o.Type.Addr != typ.MT.Addr {
					continue
				}
				cache, err := b.Objects().Object(o.Addr)
				require.NoError(t, err)
				c, err := r.Of(cache)
				require.NoError(t, err)
				assert.True(t, c.HasKeys)
				var values, entries []string
				for i, err := range c.Items() {
					require.NoError(t, err)
					values = append(values, i.Value.Plain(-1))
				}
				for e, err := range r.CacheEntries(cache) {
					require.NoError(t, err)
					v := e.Field("_value")
					if v.Err() != nil {
						v = e.Field("<Value>k__BackingField")
					}
					require.NoError(t, v.Err())
					entries = append(entries, v.Plain(-1))
				}
				assert.Equal(t, values, entries)
				count, err := c.Count()
				require.NoError(t, err)
				assert.EqualValues(t, len(values), count)
				n += len(values)
				for range r.CacheEntries(cache) {
					break // a caller may stop
				}
			}
		}
		assert.NotZero(t, n)
		return n
	})
}

// each calls f with the objects of a class on the heap. It requires at least one.
func each(t *testing.T, d *testdump.Dump, b *objects.Binder, class string, f func(o objects.Object)) {
	t.Helper()
	h, err := d.Heap()
	require.NoError(t, err)
	n := 0
	for o, err := range h.Objects() {
		if err != nil || o.Free {
			continue
		}
		if name, err := b.Objects().Runtime().TypeName(o.Type.Addr, 0); err != nil || name != class && !strings.HasPrefix(name, class+"[") {
			continue
		}
		found, err := b.Objects().Object(o.Addr)
		require.NoError(t, err)
		f(found)
		n++
	}
	require.NotZero(t, n, class)
}

// TestStreams: a MemoryStream has the bytes of its buffer up to its length.
func TestStreams(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		r, b := open(t, d)
		n := 0
		each(t, d, b, "System.IO.MemoryStream", func(o objects.Object) {
			c, err := r.Of(o)
			require.NoError(t, err)
			length, err := o.Field("_length").Int()
			require.NoError(t, err)
			count, err := c.Count()
			require.NoError(t, err)
			assert.EqualValues(t, length, count)
			buffer, err := o.Field("_buffer").Object()
			require.NoError(t, err)
			array, err := buffer.Array()
			require.NoError(t, err)
			var want, have []string
			for i, v := range array.Values() {
				if int64(i) < length {
					want = append(want, v.Plain(-1))
				}
			}
			for i, err := range c.Items() {
				require.NoError(t, err)
				have = append(have, i.Value.Plain(-1))
			}
			assert.Equal(t, want, have)
			n += len(want)
		})
		return n + 1
	})
}

// TestSingleQueues: the queue of an exclusive scheduler keeps no count. Its elements are tasks or errors.
func TestSingleQueues(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		r, b := open(t, d)
		n := 0
		each(t, d, b, "System.Collections.Concurrent.SingleProducerSingleConsumerQueue`1", func(o objects.Object) {
			c, err := r.Of(o)
			require.NoError(t, err)
			_, err = c.Count()
			assert.ErrorIs(t, err, target.ErrUnsupported)
			for i, err := range c.Items() {
				if err != nil {
					assert.ErrorIs(t, err, target.ErrNotInDump, "no code that reads the queue has run: the runtime has no type for its state")
					continue
				}
				task, err := i.Value.Object()
				require.NoError(t, err)
				assert.NotZero(t, task.Addr)
			}
			n++
		})
		return n
	})
}
