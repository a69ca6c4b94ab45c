package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// bucketLayout returns the offsets of keys and values in a bucket, which all runtimes share.
func bucketLayout() *members {
	c := &members{}
	c.Bucket.Size, c.Bucket.Keys, c.Bucket.Values = 64, 0, 32
	return c
}

// makeEntryPoints returns a HashMap as the runtime writes it: by double hashing, with the mark of a continued
// search in the first value.
func makeEntryPoints(t testing.TB, count uint64, entries map[uint64]uint64) []byte {
	b := make([]byte, 64*count)
	le := binary.LittleEndian
	for key, value := range entries {
		seed, step := uint32(key>>2), 1+uint32((uint64(uint32(key>>5))+1)%(count-1))
		placed := false
		for range count {
			bucket := b[64*(uint64(seed)%count):]
			for i := 0; i < hashSlots && !placed; i++ {
				if le.Uint64(bucket[8*i:]) == 0 {
					le.PutUint64(bucket[8*i:], key)
					le.PutUint64(bucket[32+8*i:], le.Uint64(bucket[32+8*i:])&^hashValue|value>>1)
					placed = true
				}
			}
			if placed {
				break
			}
			le.PutUint64(bucket[32:], le.Uint64(bucket[32:])|1<<63)
			seed += step
		}
		require.True(t, placed)
	}
	return b
}

func TestEntryPoints(t *testing.T) {
	entries := map[uint64]uint64{}
	for i := range uint64(60) {
		entries[0x7f0012340000+i*0x70] = 0x7f0056780000 + i*0x20
	}
	e := entryPoints{mem: layout.BytesMemory(makeEntryPoints(t, 17, entries)), count: 17, layout: bucketLayout()}
	for k, v := range entries {
		got, err := e.lookup(target.Addr(k))
		assert.NoError(t, err)
		assert.Equal(t, target.Addr(v), got)
	}
	got, err := e.lookup(0x7f0012340001)
	assert.NoError(t, err)
	assert.Zero(t, got)
}

func TestEntryPointsLies(t *testing.T) {
	c := bucketLayout()
	b := make([]byte, 128)
	binary.LittleEndian.PutUint64(b, 64) // the address of the buckets
	binary.LittleEndian.PutUint64(b[64:], limits.HashBuckets+1)
	r := &CodeReader{mem: layout.BytesMemory(b)}
	_, err := r.readEntryPoints(c, 0)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	binary.LittleEndian.PutUint64(b[64:], 5000) // more buckets than memory
	e, err := r.readEntryPoints(c, 0)
	require.NoError(t, err)
	_, err = e.lookup(0x1234560)
	assert.Error(t, err)
	e.count = 0
	got, err := e.lookup(1)
	assert.NoError(t, err)
	assert.Zero(t, got)
}

func FuzzEntryPoints(f *testing.F) {
	f.Add(makeEntryPoints(f, 3, map[uint64]uint64{0x1000: 0x2000, 0x3000: 0x4000}), uint64(3), uint64(0x1000))
	f.Fuzz(func(t *testing.T, b []byte, count, key uint64) {
		e := entryPoints{mem: layout.BytesMemory(b), count: min(count, limits.HashBuckets), layout: bucketLayout()}
		_, _ = e.lookup(target.Addr(key))
	})
}

func TestHotCold(t *testing.T) {
	var pairs []byte
	for _, v := range []uint32{100, 3, 102, 7, 105, 9} { // cold function, hot function
		pairs = binary.LittleEndian.AppendUint32(pairs, v)
	}
	im := &r2rImage{hotCold: pairs}
	for _, c := range []struct {
		i, want int
		cold    bool
	}{{3, 3, false}, {99, 99, false}, {100, 3, true}, {101, 3, true}, {104, 7, true}, {200, 9, true}} {
		got, cold := im.hotPart(c.i)
		assert.Equal(t, c.want, got, c.i)
		assert.Equal(t, c.cold, cold, c.i)
	}
}

func TestNativeNumbers(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want uint32
	}{
		{[]byte{0x08}, 4}, {[]byte{0xfe}, 127},
		{[]byte{0x01, 0x02}, 0x80}, {[]byte{0xfd, 0xff}, 0x3fff},
		{[]byte{0x03, 0x00, 0x02}, 0x4000}, {[]byte{0x07, 0, 0, 0x02}, 0x200000},
		{[]byte{0x0f, 0x78, 0x56, 0x34, 0x12}, 0x12345678},
	} {
		r := nativeReader{b: c.b}
		assert.Equal(t, c.want, r.uint(), "% x", c.b)
		assert.NoError(t, r.err)
		assert.Equal(t, len(c.b), r.pos)
		for n := range c.b {
			cut := nativeReader{b: c.b[:n]}
			cut.uint()
			assert.ErrorIs(t, cut.err, target.ErrCorrupt)
		}
	}
	bad := nativeReader{b: []byte{0x1f, 0, 0, 0, 0}}
	bad.uint()
	assert.ErrorIs(t, bad.err, target.ErrCorrupt)
}

func TestNativeArray(t *testing.T) {
	// Seven elements, one-byte offsets; the only block is a leaf for index 5, followed by the number 9.
	b := []byte{7 << 3, 1, 5 << 3, 9 << 1}
	a, err := newNativeArray(b)
	require.NoError(t, err)
	for i := range uint32(20) {
		at, ok, err := a.at(i)
		assert.NoError(t, err)
		assert.Equal(t, i == 5, ok, i)
		if ok {
			assert.Equal(t, 3, at)
		}
	}
	// A node with both halves: with bit 8 clear it goes on after the node, with bit 8 set at offset +2.
	b = []byte{16 << 3, 1, (3 | 2<<2) << 1, 1 << 3, 3 << 3}
	b = append(b, 0)
	a, err = newNativeArray(b)
	require.NoError(t, err)
	at, ok, err := a.at(1)
	assert.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, 4, at)
	_, ok, err = a.at(3)
	assert.NoError(t, err)
	assert.False(t, ok)
}

func FuzzNativeArray(f *testing.F) {
	f.Add([]byte{7 << 3, 1, 5 << 3, 9 << 1}, uint32(5))
	f.Fuzz(func(t *testing.T, b []byte, index uint32) {
		a, err := newNativeArray(b)
		if err != nil {
			return
		}
		if at, ok, err := a.at(index); err == nil && ok && at > len(b) {
			t.Fatalf("element at %d of %d bytes", at, len(b))
		}
	})
}
