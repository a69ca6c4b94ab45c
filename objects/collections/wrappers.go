package collections

import (
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// wrapperKinds returns the classes that wrap another collection, or a part of one.
func wrapperKinds() []kind {
	return []kind{
		wrapperKind(func(s *wrapper) *shapes.Ref { return &s.Base }),
		kindOf((*Reader).segmentOf),
		kindOf((*Reader).memory),
		kindOf((*Reader).lookup),
		kindOf((*Reader).grouping),
		kindOf((*Reader).expando),
		kindOf((*Reader).jsonNode),
		kindOf((*Reader).jsonProperties),
		kindOf((*Reader).jsonRoot),
	}
}

type wrapper struct {
	_    shapes.Type `of:"System.Collections.ObjectModel.Collection<>|System.Collections.ObjectModel.ReadOnlyCollection<>|System.Collections.ObjectModel.ReadOnlyDictionary<,>|System.Collections.ObjectModel.ReadOnlySet<>|System.Collections.ObjectModel.ReadOnlyDictionary<,>+KeyCollection|System.Collections.ObjectModel.ReadOnlyDictionary<,>+ValueCollection"`
	Base shapes.Ref  `field:"items|list|m_dictionary|_set|_collection"`
}
type segmentOf struct {
	_      shapes.Type `of:"System.ArraySegment<>"`
	Array  shapes.Ref  `field:"_array"`
	Offset shapes.Int  `field:"_offset"`
	Count  shapes.Int  `field:"_count"`
}

func (r *Reader) segmentOf(s *segmentOf, f *reading) content {
	o, from, n := f.object(&s.Array), f.int(&s.Offset), f.int(&s.Count)
	return r.subarray(o, from, n)
}

// subarray returns the content of n elements of an array, starting at from.
func (r *Reader) subarray(o objects.Object, from, n int64) content {
	a, err := r.array(o)
	if err != nil && a.Type == nil {
		return failed(err)
	}
	if from < 0 || n < 0 || from+n > int64(a.len) {
		return failed(target.Corruptf("%d elements from %d on of an array that has %d", n, from, a.len))
	}
	return content{count: n, err: err}.withWalk(walk{array: &a, n: uint32(n), place: func(i uint32) uint32 { return uint32(from) + i }, read: a.value})
}

// A memory is a part of an array or string, or of memory that a MemoryManager owns.
type memory struct {
	_      shapes.Type `of:"System.Memory<>|System.ReadOnlyMemory<>"`
	Object shapes.Ref  `field:"_object"`
	Index  shapes.Int  `field:"_index"`
	Length shapes.Int  `field:"_length"`
}

// pinned is the bit of a memory's index that marks a pinned array.
const pinned = 1 << 31

func (r *Reader) memory(s *memory, f *reading) content {
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
			return "", target.Corruptf("%d characters from %d on of a string that has %d", n, from, length)
		}
		b, err := r.units(at+target.Addr(2*from), n)
		return utf16text.String(b), err
	}}
}

type lookup struct {
	_     shapes.Type `of:"System.Linq.Lookup<,>"`
	Last  shapes.Ref  `field:"_lastGrouping"`
	Count shapes.Int  `field:"_count"`
}

type group struct {
	Key  shapes.Value `field:"_key"`
	Next shapes.Ref   `field:"_next"`
}

func (g *group) next() *shapes.Ref { return &g.Next }

// lookup lists keys with their groups, which are collections. The groups form a ring, and the lookup refers to the
// last.
func (r *Reader) lookup(s *lookup, f *reading) content {
	n, last := f.int(&s.Count), f.addr(&s.Last)
	return content{count: n, keys: true, each: func(yield yielder) bool {
		g := &nodes[*group]{r: r}
		// The value is the reference to a group, so it is read from the group before.
		return follow(g, last, last, yield, func(s *group, x shapes.Instance) (Item, bool, error) {
			next, err := s.Next.Addr(x)
			if err != nil {
				return Item{}, false, err
			}
			t, nx, err := g.at(next)
			if err != nil {
				return Item{}, false, err
			}
			return checkItem(Item{Key: t.Key.Value(nx), Value: s.Next.Value(x)})
		})
	}}.checkCount()
}

type grouping struct {
	_        shapes.Type `of:"System.Linq.Grouping<,>"`
	Elements shapes.Ref  `field:"_elements"`
	Count    shapes.Int  `field:"_count"`
}

func (r *Reader) grouping(s *grouping, f *reading) content {
	o, n := f.object(&s.Elements), f.int(&s.Count)
	return r.sequence(o, n, nil)
}

type expando struct {
	_       shapes.Type   `of:"System.Dynamic.ExpandoObject"`
	Data    shapes.Ref    `field:"_data"`
	Count   shapes.Int    `field:"_count"`
	Nothing shapes.Static `static:"Uninitialized"`
}

type expandoData struct {
	Class shapes.Ref `field:"Class"`
	Array shapes.Ref `field:"_dataArray"`
}

type expandoClass struct {
	Keys shapes.Ref `field:"_keys"`
}

// expando lists the members that have a value. A removed member has a marker object as its value.
func (r *Reader) expando(s *expando, f *reading) content {
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
		return inner(func(i Item, err error) bool {
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
		wrapperKind(func(s *channel) *shapes.Ref { return &s.Items }),
		wrapperKind(func(s *channelEnd) *shapes.Ref { return &s.Parent }),
	}
}

type channel struct {
	_     shapes.Type `of:"System.Threading.Channels.UnboundedChannel<>|System.Threading.Channels.BoundedChannel<>|System.Threading.Channels.SingleConsumerUnboundedChannel<>"`
	Items shapes.Ref  `field:"_items"`
}

// A channelEnd is a reader or writer of a channel.
type channelEnd struct {
	_      shapes.Type `of:"System.Threading.Channels.ChannelReader<>|System.Threading.Channels.ChannelWriter<>" fields:"derived"`
	Parent shapes.Ref  `field:"_parent"`
}
