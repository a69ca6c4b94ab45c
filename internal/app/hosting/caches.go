package hosting

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
)

// A MemoryCache of Microsoft.Extensions.Caching.Memory. objects.Collections reads its entries.
type (
	memoryCache struct {
		_       objects.Shape    `of:"Microsoft.Extensions.Caching.Memory.MemoryCache"`
		State   objects.RefField `field:"_coherentState,optional"`
		Size    objects.IntField `field:"_cacheSize,optional"`
		Options objects.RefField `field:"_options,optional"`
	}
	cacheState struct {
		_    objects.Shape    `of:"Microsoft.Extensions.Caching.Memory.MemoryCache+CoherentState"`
		Size objects.IntField `field:"_cacheSize"`
	}
	cacheOptions struct {
		_     objects.Shape      `of:"Microsoft.Extensions.Caching.Memory.MemoryCacheOptions"`
		Limit objects.ValueField `field:"_sizeLimit"`
	}
	cacheEntry struct {
		_        objects.Shape      `of:"Microsoft.Extensions.Caching.Memory.CacheEntry"`
		Key      objects.ValueField `field:"<Key>"`
		Value    objects.ValueField `field:"_value|<Value>"`
		Size     objects.ValueField `field:"_size,optional"`
		Expired  objects.IntField   `field:"_isExpired,optional"`
		Flags    objects.IntField   `field:"_state._flags,optional"` // .NET 6
		Accessed objects.IntField   `field:"<LastAccessed>._dateData|<LastAccessed>._dateTime._dateData,optional"`
		Expires  objects.IntField   `field:"_absoluteExpirationTicks|<AbsoluteExpiration>.value._dateTime._dateData|_absoluteExpiration.value._dateTime._dateData,optional"`
		Sliding  objects.ValueField `field:"_slidingExpiration,optional"`
	}
)

// notSet is the value of an unset entry size or cache limit in fields that are numbers, not Nullables.
const notSet = -1

// expiredFlag marks an expired entry in .NET 6.
const expiredFlag = 1 << 1

// Caches lists the memory caches of the process with their entries, the largest and oldest entries first. It records
// what could not be read. The error is ctx's.
func (r *Reader) Caches(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.MemoryCaches, error) {
	out := &answer.MemoryCaches{Caches: []answer.MemoryCache{}}
	in := shapes.Reading{Gaps: &out.Gaps, Binder: r.b}
	for cache, f := range shapes.ReadObjects[*memoryCache](ctx, in, h, o) {
		out.Caches = append(out.Caches, r.cache(in, cache, f.Shape, f.At()))
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, nil
}

// cache describes one cache.
func (r *Reader) cache(in shapes.Reading, o objects.Object, s *memoryCache, x objects.Instance) answer.MemoryCache {
	out := answer.MemoryCache{Address: o.Addr, Size: in.IntAt(&s.Size, x), Limit: answer.Missing[*int64](objects.ErrNoField), Entries: []answer.CacheEntry{}}
	if s.State.Has() {
		if c, at, err := shapes.BindAtOr[*cacheState](in, &s.State, x, objects.ErrNoField); err != nil {
			out.Size = answer.Missing[int64](err)
		} else {
			out.Size = in.IntAt(&c.Size, at)
		}
	}
	if c, at, err := shapes.BindAtOr[*cacheOptions](in, &s.Options, x, objects.ErrNoField); err != nil {
		out.Limit = answer.Missing[*int64](err)
	} else {
		out.Limit = r.number(in, &c.Limit, at)
	}
	var failed error
	for e, err := range r.items.CacheEntries(o) {
		if err != nil {
			in.Note(err)
			failed = cmp.Or(failed, err)
			continue
		}
		if s, x := shapes.BindAs[*cacheEntry](in, e); s != nil {
			out.Entries = append(out.Entries, r.entry(in, e, s, x))
		} else {
			failed = cmp.Or(failed, objects.ErrNoField)
		}
	}
	out.Count = answer.Of(int64(len(out.Entries)), failed)
	slices.SortStableFunc(out.Entries, func(a, b answer.CacheEntry) int {
		return cmp.Or(cmp.Compare(declared(&b), declared(&a)), cmp.Compare(b.Bytes.Value, a.Bytes.Value), a.Accessed.Value.Compare(b.Accessed.Value))
	})
	return out
}

// declared returns the size that the program gave an entry, or 0.
func declared(e *answer.CacheEntry) int64 {
	if e.Size.Value == nil {
		return 0
	}
	return *e.Size.Value
}

// entry describes one entry.
func (r *Reader) entry(in shapes.Reading, o objects.Object, s *cacheEntry, x objects.Instance) answer.CacheEntry {
	out := answer.CacheEntry{Address: o.Addr, Key: in.Plain(s.Key.Value(x), limits.RequestText), Size: r.number(in, &s.Size, x), Expired: in.BoolAt(&s.Expired, x),
		Accessed: answer.Missing[time.Time](objects.ErrNoField), Bytes: answer.Missing[int64](objects.ErrNoField)}
	if !s.Expired.Has() && s.Flags.Has() {
		flags := in.IntAt(&s.Flags, x)
		out.Expired = answer.Of(flags.Value&expiredFlag != 0, flags.Err())
	}
	if t := in.TimeAt(&s.Accessed, x); t != nil {
		out.Accessed = answer.Known(*t)
	}
	if ticks := in.IntAt(&s.Expires, x); ticks.Err() == nil && ticks.Value > 0 {
		if t, err := objects.DateTime(uint64(ticks.Value)); err != nil {
			in.Note(err)
		} else {
			out.Expires = &t
		}
	}
	if s.Sliding.Has() {
		if text := in.Plain(s.Sliding.Value(x), 0); text != "00:00:00" && text != "null" {
			out.Sliding = text
		}
	}
	v := s.Value.Value(x)
	if v.Err() == nil && v.IsNull() {
		return out
	}
	value, err := v.Object()
	if err != nil {
		out.Type, out.Bytes = in.Text("", err), answer.Missing[int64](err)
		return out
	}
	out.Value, out.Type = value.Addr, in.TypeText(value)
	n, err := value.Size()
	in.Note(err)
	out.Bytes = answer.Of(int64(n), err)
	return out
}

// number returns a number kept as a Nullable or as a plain number, or nil if it was not set.
func (r *Reader) number(in shapes.Reading, f *objects.ValueField, x objects.Instance) answer.Maybe[*int64] {
	if !f.Has() {
		return answer.Missing[*int64](objects.ErrNoField)
	}
	v := f.Value(x)
	if s, err := v.Struct(); err == nil {
		var has bool
		if v, has, err = r.b.Nullable(s); err != nil || !has {
			in.Note(err)
			return answer.Of[*int64](nil, err)
		}
	}
	n, err := v.Int()
	if err != nil {
		in.Note(err)
		return answer.Of[*int64](nil, err)
	}
	if n == notSet {
		return answer.Known[*int64](nil)
	}
	return answer.Known(&n)
}
