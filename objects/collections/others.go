package collections

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// others has the classes with a layout of their own.
func others() []kind {
	return []kind{
		of((*Reader).weakTable),
		of((*Reader).memoryCache),
		stored((*Reader).builder, func(s *builder) Store { return store(&s.Length, nil, &s.Chars) }),
		stored((*Reader).stream, func(s *stream) Store { return store(&s.Length, nil, &s.Buffer) }),
		of((*Reader).bits),
		of((*Reader).lazy),
		of((*Reader).threadLocal),
	}
}

type weakTable struct {
	_         shapes.Type `of:"System.Runtime.CompilerServices.ConditionalWeakTable<,>"`
	Container shapes.Ref  `field:"_container"`
}

type weakContainer struct {
	Entries shapes.Ref `field:"_entries"`
	Used    shapes.Int `field:"_firstFreeEntry"`
}

type weakEntry struct {
	Handle shapes.Int `field:"depHnd._handle"`
}

// weakTable passes the live keys with their values.
func (r *Reader) weakTable(s *weakTable, f *reading) content {
	o := f.object(&s.Container)
	if o.Addr == 0 {
		return content{count: unknown, each: nothing}
	}
	box := step[*weakContainer](r, f, o)
	array, used := f.object(&box.Entries), f.int(&box.Used)
	c := entries(r, array, used, used, true, nil, func(e *weakEntry, at shapes.Instance) (Item, bool, error) {
		h, err := e.Handle.Uint(at)
		if err != nil || h == 0 {
			return Item{}, false, err
		}
		key, value, err := r.b.DependentSlots(target.Addr(h))
		if err != nil || key.IsNull() {
			return Item{}, false, err
		}
		return good(Item{Key: key, Value: value})
	})
	c.count, c.after = unknown, nil // entries of dead keys count as used, and the handles hold the elements
	return c
}

type memoryCache struct {
	_       shapes.Type `of:"Microsoft.Extensions.Caching.Memory.MemoryCache"`
	State   shapes.Ref  `field:"_coherentState,optional"`
	Entries shapes.Ref  `field:"_entries,optional"`
}

type cacheState struct {
	Strings *struct {
		Strings shapes.Ref `field:"_stringEntries"`
		Others  shapes.Ref `field:"_nonStringEntries"`
	}
	All *struct {
		Entries shapes.Ref `field:"_entries"`
	}
}

type cacheEntry struct {
	Value shapes.Value `field:"_value|<Value>"`
}

// memoryCache passes keys with the cached values, strings first.
func (r *Reader) memoryCache(s *memoryCache, f *reading) content {
	stores, err := r.cacheStores(s, f.x)
	if err != nil {
		return failed(err)
	}
	c := r.wrap(stores[0])
	for _, o := range stores[1:] {
		c = behind(c, r.wrap(o))
	}
	return r.cached(c)
}

// cacheStores returns the dictionaries with the entries of a cache: one, or two since .NET 9.
func (r *Reader) cacheStores(s *memoryCache, x shapes.Instance) ([]objects.Object, error) {
	if !s.State.Has() {
		if !s.Entries.Has() {
			return nil, target.Unsupportedf("the cache keeps its entries in no known field")
		}
		o, err := s.Entries.Object(x)
		return []objects.Object{o}, err
	}
	o, err := s.State.Object(x)
	if err != nil {
		return nil, err
	}
	t, x, err := shapes.BindObject[*cacheState](r.b, o)
	if err != nil {
		return nil, err
	}
	if t.All != nil {
		o, err := t.All.Entries.Object(x)
		return []objects.Object{o}, err
	}
	first, err := t.Strings.Strings.Object(x)
	if err != nil {
		return nil, err
	}
	second, err := t.Strings.Others.Object(x)
	return []objects.Object{first, second}, err
}

// CacheEntries iterates over the entries of a MemoryCache, the objects with key, value and expiration. Items has the values alone.
// Unreadable entries are errors in their place. The error is shapes.ErrOtherType if the object is not a MemoryCache.
func (r *Reader) CacheEntries(cache objects.Object) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		s, x, err := shapes.BindObject[*memoryCache](r.b, cache)
		var stores []objects.Object
		if err == nil {
			stores, err = r.cacheStores(s, x)
		}
		if err != nil {
			yield(objects.Object{}, err)
			return
		}
		for _, store := range stores {
			for o, err := range r.ObjectsIn(store) {
				if !yield(o, err) {
					return
				}
			}
		}
	}
}

// behind returns the content of two collections, one after the other.
func behind(a, b content) content {
	c := content{count: unknown, keys: a.keys || b.keys, err: a.err}
	c.err = cmp.Or(c.err, b.err)
	if a.count >= 0 && b.count >= 0 {
		c.count = a.count + b.count
	}
	c.each = func(yield yield) bool {
		return (a.each == nil || a.each(yield)) && (b.each == nil || b.each(yield))
	}
	return c
}

// cached returns the content with the values of cache entries.
func (r *Reader) cached(c content) content {
	inner := c.each
	if inner == nil {
		return c
	}
	c.after = nil
	c.each = func(yield yield) bool {
		return inner(func(i Item, err error) bool {
			var o objects.Object
			if err == nil {
				o, err = i.Value.Object()
			}
			if err != nil {
				return yield(Item{}, err)
			}
			e, x, err := shapes.BindObject[*cacheEntry](r.b, o)
			if err != nil {
				return yield(Item{}, err)
			}
			return one(yield, Item{Key: i.Key, Value: e.Value.Value(x)})
		})
	}
	return c
}

// A builder is a chunk of a StringBuilder. The last chunk refers to the one before.
type builder struct {
	_        shapes.Type `of:"System.Text.StringBuilder"`
	Chars    shapes.Ref  `field:"m_ChunkChars"`
	Length   shapes.Int  `field:"m_ChunkLength"`
	Offset   shapes.Int  `field:"m_ChunkOffset"`
	Previous shapes.Ref  `field:"m_ChunkPrevious"`
}

func (r *Reader) builder(s *builder, f *reading) content {
	n := f.int(&s.Offset) + f.int(&s.Length)
	return content{count: n, text: func() (string, error) { return r.builderText(f.x.Object()) }}.counted()
}

// builderText joins the chunks. If one can't be read, the text starts after it, and the error says so.
func (r *Reader) builderText(last target.Addr) (string, error) {
	var parts [][]byte
	total := int64(0)
	var failure error
	chain(&nodes[*builder]{r: r}, last, 0, func(_ Item, err error) bool {
		failure = err
		return false
	}, func(s *builder) *shapes.Ref { return &s.Previous }, func(s *builder, x shapes.Instance) (Item, bool, error) {
		f := reading{x: x}
		o, n := f.object(&s.Chars), f.int(&s.Length)
		if f.err != nil {
			return Item{}, false, f.err
		}
		a, err := r.array(o)
		if err != nil {
			return Item{}, false, err
		}
		if total += n; n < 0 || n > int64(a.len) || total > limits.StringBuilderChars {
			return Item{}, false, target.Corruptf("a chunk of %d characters of %d, %d in all", n, a.len, total)
		}
		units, err := r.units(a.addr(0), n)
		parts = append(parts, units)
		return Item{}, false, err
	})
	slices.Reverse(parts)
	return utf16text.String(slices.Concat(parts...)), failure
}

// units reads n UTF-16 code units.
func (r *Reader) units(at target.Addr, n int64) ([]byte, error) {
	if n <= 0 {
		return nil, nil
	}
	if n > limits.StringBuilderChars {
		return nil, target.Corruptf("%d characters", n)
	}
	return target.Bytes(r.b.Objects().Runtime().Memory(), at, int(2*n))
}

// A stream is a MemoryStream. Its bytes are a part of an array.
type stream struct {
	_      shapes.Type `of:"System.IO.MemoryStream"`
	Buffer shapes.Ref  `field:"_buffer"`
	Origin shapes.Int  `field:"_origin"`
	Length shapes.Int  `field:"_length"`
}

func (r *Reader) stream(s *stream, f *reading) content {
	o, from, end := f.object(&s.Buffer), f.int(&s.Origin), f.int(&s.Length)
	return r.part(o, from, end-from)
}

// bits is a BitArray. Its array has words before .NET 10, and bytes since.
type bits struct {
	_      shapes.Type `of:"System.Collections.BitArray"`
	Array  shapes.Ref  `field:"_array|m_array"`
	Length shapes.Int  `field:"_bitLength|m_length"`
}

func (r *Reader) bits(s *bits, f *reading) content {
	o, n := f.object(&s.Array), f.int(&s.Length)
	return content{count: n, text: func() (string, error) {
		a, err := r.array(o)
		if err != nil || a.Type == nil {
			return "", err
		}
		size := int64(a.Type.MT.ComponentSize)
		if n > 8*size*int64(a.len) {
			return "", target.Corruptf("%d bits in %d bytes", n, size*int64(a.len))
		}
		b, err := target.Bytes(r.b.Objects().Runtime().Memory(), a.addr(0), int((n+7)/8))
		if err != nil {
			return "", err
		}
		out := make([]byte, n)
		for i := range out {
			out[i] = '0' + b[i/8]>>(i%8)&1
		}
		return string(out), nil
	}}.counted()
}

type lazyValue struct {
	_     shapes.Type  `of:"System.Lazy<>"`
	State shapes.Ref   `field:"_state"`
	Value shapes.Value `field:"_value"`
}

// lazy passes the value if it was created.
func (r *Reader) lazy(s *lazyValue, f *reading) content {
	state := f.addr(&s.State)
	if state != 0 {
		return content{count: unknown, each: nothing}
	}
	return content{count: unknown, each: func(yield yield) bool { return one(yield, Item{Value: s.Value.Value(f.x)}) }}
}

type threadLocal struct {
	_    shapes.Type `of:"System.Threading.ThreadLocal<>"`
	Slot shapes.Ref  `field:"_linkedSlot"`
}

type linkedSlot struct {
	Next  shapes.Ref   `field:"_next"`
	Array shapes.Ref   `field:"_slotArray"`
	Value shapes.Value `field:"_value"`
}

// threadLocal passes the values of the threads that have one. The first slot of the chain has no value.
func (r *Reader) threadLocal(s *threadLocal, f *reading) content {
	first := f.addr(&s.Slot)
	return content{count: unknown, each: func(yield yield) bool {
		return chain(&nodes[*linkedSlot]{r: r}, first, 0, yield, func(s *linkedSlot) *shapes.Ref { return &s.Next }, func(s *linkedSlot, x shapes.Instance) (Item, bool, error) {
			array, err := s.Array.Addr(x)
			if err != nil || array == 0 {
				return Item{}, false, err
			}
			return good(Item{Value: s.Value.Value(x)})
		})
	}}
}
