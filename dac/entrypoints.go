package dac

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// entryPoints is the HashMap from the entry points of ahead-of-time code to MethodDescs (hash.h, class
// HashMap). A bucket has four keys and four values; the first bucket only holds the number of buckets.
type entryPoints struct {
	mem     target.Memory
	buckets target.Addr // the first with keys
	count   uint64      // number of buckets
	layout  *members
}

const (
	hashSlots    = 4
	hashValue    = 1<<63 - 1 // the highest bit of the first value marks a search that continues
	hashSeed     = 2         // bits of a key not used for the seed
	hashIncrease = 5         // and for the step
)

func (r *CodeReader) readEntryPoints(c *members, info target.Addr) (entryPoints, error) {
	e := entryPoints{mem: r.mem, layout: c}
	if c.HashMap.Buckets == layout.Absent || c.Bucket.Size < bucketSize(&c.codeOffsets) {
		return e, &layout.Error{Type: "HashMap"}
	}
	at, err := r.ptr(info+target.Addr(c.ReadyToRun.EntryPoints), c.HashMap.Buckets, "HashMap.Buckets")
	if err != nil {
		return e, fmt.Errorf("entry points: %w", err)
	}
	if e.count, err = target.Uint64(r.mem, at); err != nil {
		return e, fmt.Errorf("entry points: %w", err)
	}
	if e.count > limits.HashBuckets {
		return e, target.Corruptf("entry points in %d buckets", e.count)
	}
	e.buckets = at + target.Addr(c.Bucket.Size)
	return e, nil
}

// bucketSize returns the size in bytes of a bucket's keys and values.
func bucketSize(o *codeOffsets) int {
	return 8*hashSlots + max(o.Bucket.Keys, o.Bucket.Values)
}

// lookup returns the MethodDesc with the given entry point, or 0 if the runtime has not prepared the method.
// Keys are placed by double hashing in 32 bits. The number of buckets is a prime, so that many steps visit all
// of them.
func (e *entryPoints) lookup(entry target.Addr) (target.Addr, error) {
	if e.count < 2 {
		return 0, nil
	}
	key := uint64(entry)
	seed := uint32(key >> hashSeed)
	step := 1 + uint32((uint64(uint32(key>>hashIncrease))+1)&0xffffffff%(e.count-1))
	for range min(e.count, limits.HashProbes) {
		b, err := target.Bytes(e.mem, e.buckets+target.Addr(uint64(seed)%e.count*uint64(e.layout.Bucket.Size)), e.layout.Bucket.Size)
		if err != nil {
			return 0, fmt.Errorf("entry points: %w", err)
		}
		value, more := e.search(b, key)
		if value != 0 || !more {
			return value, nil
		}
		seed += step
	}
	return 0, nil
}

// search looks for key in one bucket; more reports whether the search continues.
func (e *entryPoints) search(b []byte, key uint64) (value target.Addr, more bool) {
	le, o := binary.LittleEndian, &e.layout.Bucket
	for i := range hashSlots {
		if le.Uint64(b[o.Keys+8*i:]) == key {
			return target.Addr(le.Uint64(b[o.Values+8*i:]) & hashValue << 1), false
		}
	}
	return 0, le.Uint64(b[o.Values:])&^hashValue != 0
}
