package objects

import (
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// wrapperKinds returns the classes that wrap another collection, or a part of one.
func wrapperKinds() []kind {
	return []kind{
		wrapperKind(func(s *wrapper) *RefField { return &s.Base }),
		kindOf((*Collections).segmentOf),
		kindOf((*Collections).memory),
		kindOf((*Collections).lookup),
		kindOf((*Collections).grouping),
		kindOf((*Collections).expando),
		kindOf((*Collections).jsonNode),
		kindOf((*Collections).jsonProperties),
		kindOf((*Collections).jsonRoot),
	}
}

type wrapper struct {
	_    Shape    `of:"System.Collections.ObjectModel.Collection<>|System.Collections.ObjectModel.ReadOnlyCollection<>|System.Collections.ObjectModel.ReadOnlyDictionary<,>|System.Collections.ObjectModel.ReadOnlySet<>|System.Collections.ObjectModel.ReadOnlyDictionary<,>+KeyCollection|System.Collections.ObjectModel.ReadOnlyDictionary<,>+ValueCollection"`
	Base RefField `field:"items|list|m_dictionary|_set|_collection"`
}
type segmentOf struct {
	_      Shape    `of:"System.ArraySegment<>"`
	Array  RefField `field:"_array"`
	Offset IntField `field:"_offset"`
	Count  IntField `field:"_count"`
}

func (r *Collections) segmentOf(s *segmentOf, f *reading) content {
	o, from, n := f.object(&s.Array), f.int(&s.Offset), f.int(&s.Count)
	return r.subarray(o, from, n)
}

// subarray returns the content of n elements of an array, starting at from.
func (r *Collections) subarray(o Object, from, n int64) content {
	a, err := r.array(o)
	if err != nil && a.Type == nil {
		return failed(err)
	}
	if from < 0 || n < 0 || from+n > int64(a.len) {
		return failed(target.CorruptHeapf("%d elements from %d on of an array that has %d", n, from, a.len))
	}
	return content{count: n, err: err}.withWalk(walk{array: &a, n: uint32(n), place: func(i uint32) uint32 { return uint32(from) + i }, read: a.value})
}

// A memory is a part of an array or string, or of memory that a MemoryManager owns.
type memory struct {
	_      Shape    `of:"System.Memory<>|System.ReadOnlyMemory<>"`
	Object RefField `field:"_object"`
	Index  IntField `field:"_index"`
	Length IntField `field:"_length"`
}

// pinned is the bit of a memory's index that marks a pinned array.
const pinned = 1 << 31

func (r *Collections) memory(s *memory, f *reading) content {
	o, n := f.object(&s.Object), f.int(&s.Length)
	from, err := s.Index.Uint(f.x)
	f.note(err)
	from &^= pinned
	switch {
	case o.Addr == 0:
		return content{count: n, each: yieldNothing}.checkCount()
	case o.Type.MT.IsArray():
		return r.subarray(o, int64(from), n)
	case !o.IsString():
		return failed(target.Unsupportedf("memory that a MemoryManager has"))
	}
	return content{count: n, text: func() (string, error) {
		at, length, err := r.b.Objects().Runtime().StringChars(o.Addr)
		if err != nil {
			return "", err
		}
		if n < 0 || int64(from)+n > int64(length) {
			return "", target.CorruptHeapf("%d characters from %d on of a string that has %d", n, from, length)
		}
		b, err := r.units(at+target.Addr(2*from), n)
		return utf16text.String(b), err
	}}
}

type lookup struct {
	_     Shape    `of:"System.Linq.Lookup<,>"`
	Last  RefField `field:"_lastGrouping"`
	Count IntField `field:"_count"`
}

type group struct {
	Key  ValueField `field:"_key"`
	Next RefField   `field:"_next"`
}

func (g *group) next() *RefField { return &g.Next }

// lookup lists keys with their groups, which are collections. The groups form a ring, and the lookup refers to the
// last.
func (r *Collections) lookup(s *lookup, f *reading) content {
	n, last := f.int(&s.Count), f.addr(&s.Last)
	return content{count: n, keys: true, each: func(yield yielder) bool {
		g := &nodes[*group]{r: r}
		// The value is the reference to a group, so it is read from the group before.
		return follow(g, last, last, yield, func(s *group, x Instance) (CollectionItem, bool, error) {
			next, err := s.Next.Addr(x)
			if err != nil {
				return CollectionItem{}, false, err
			}
			t, nx, err := g.at(next)
			if err != nil {
				return CollectionItem{}, false, err
			}
			return checkItem(CollectionItem{Key: t.Key.Value(nx), Value: s.Next.Value(x)})
		})
	}}.checkCount()
}

type grouping struct {
	_        Shape    `of:"System.Linq.Grouping<,>"`
	Elements RefField `field:"_elements"`
	Count    IntField `field:"_count"`
}

func (r *Collections) grouping(s *grouping, f *reading) content {
	o, n := f.object(&s.Elements), f.int(&s.Count)
	return r.sequence(o, n, nil)
}

type expando struct {
	_       Shape       `of:"System.Dynamic.ExpandoObject"`
	Data    RefField    `field:"_data"`
	Count   IntField    `field:"_count"`
	Nothing StaticField `static:"Uninitialized"`
}

type expandoData struct {
	Class RefField `field:"Class"`
	Array RefField `field:"_dataArray"`
}

type expandoClass struct {
	Keys RefField `field:"_keys"`
}

// expando lists the members that have a value. A removed member has a marker object as its value.
func (r *Collections) expando(s *expando, f *reading) content {
	n := f.int(&s.Count)
	o := f.object(&s.Data)
	data := bindNext[*expandoData](r, f, o)
	class, values := f.object(&data.Class), f.object(&data.Array)
	names := bindNext[*expandoClass](r, f, class)
	keys := f.object(&names.Keys)
	none, err := s.Nothing.Value().Addr()
	f.note(err)
	c := r.parallelArrays(keys, values, allKeys)
	c.count = n
	inner := c.each
	if inner == nil {
		return c
	}
	c.after = nil
	c.each = func(yield yielder) bool {
		return inner(func(i CollectionItem, err error) bool {
			if a, aerr := i.Value.Addr(); err == nil && aerr == nil && a == none {
				return true
			}
			return yield(i, err)
		})
	}
	return c.checkCount()
}

// channelKinds returns the classes of System.Threading.Channels.
func channelKinds() []kind {
	return []kind{
		wrapperKind(func(s *channel) *RefField { return &s.Items }),
		wrapperKind(func(s *channelEnd) *RefField { return &s.Parent }),
	}
}

type channel struct {
	_     Shape    `of:"System.Threading.Channels.UnboundedChannel<>|System.Threading.Channels.BoundedChannel<>|System.Threading.Channels.SingleConsumerUnboundedChannel<>"`
	Items RefField `field:"_items"`
}

// A channelEnd is a reader or writer of a channel.
type channelEnd struct {
	_      Shape    `of:"System.Threading.Channels.ChannelReader<>|System.Threading.Channels.ChannelWriter<>" fields:"derived"`
	Parent RefField `field:"_parent"`
}
