package pagecache_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/pagecache"
	"github.com/sosgo/sosgo/target"
)

type counted struct {
	io.ReaderAt
	n     atomic.Int64
	fails atomic.Bool
}

var errBroken = errors.New("broken")

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.n.Add(1)
	if c.fails.Load() {
		return 0, errBroken
	}
	return c.ReaderAt.ReadAt(p, off)
}

// TestSourceInOrder: sequential reads grow. If a large read fails, the readable blocks at its start
// are read one by one.
func TestSourceInOrder(t *testing.T) {
	data := make([]byte, 16<<20+17)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	r := &counted{ReaderAt: bytes.NewReader(data)}
	s := pagecache.Source(r, int64(len(data)))
	p := make([]byte, 10_000)
	for at := 0; at < len(data); at += len(p) {
		n, err := s.ReadAt(p, int64(at))
		require.Equal(t, min(len(p), len(data)-at), n)
		require.True(t, n == len(p) && err == nil || err == io.EOF)
		require.True(t, bytes.Equal(p[:n], data[at:at+n]), "at %d", at)
	}
	assert.Less(t, r.n.Load(), int64(16))

	cut := &counted{ReaderAt: io.NewSectionReader(bytes.NewReader(data), 0, 5<<17+9)} // a file that was truncated
	s = pagecache.Source(cut, int64(len(data)))
	for at := 0; at < 5<<17; at += 1 << 17 {
		n, err := s.ReadAt(p, int64(at))
		require.NoError(t, err)
		require.True(t, bytes.Equal(p[:n], data[at:at+n]))
	}
	n, err := s.ReadAt(p, 5<<17)
	assert.Equal(t, 9, n)
	assert.ErrorIs(t, err, io.EOF)
}

// TestSource reads random parts of a file from several goroutines. They equal the file, the end is
// io.EOF, and few reads reach the file.
func TestSource(t *testing.T) {
	data := make([]byte, 3<<20+17)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	r := &counted{ReaderAt: bytes.NewReader(data)}
	s := pagecache.Source(r, int64(len(data)))
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1))
			for range 500 {
				off, p := random.IntN(len(data)), make([]byte, random.IntN(200<<10))
				n, err := s.ReadAt(p, int64(off))
				want := min(len(p), len(data)-off)
				if n != want || !bytes.Equal(p[:n], data[off:off+n]) || (err != nil) != (want < len(p)) || err != nil && err != io.EOF {
					t.Errorf("%d bytes at %d: %d, %v", len(p), off, n, err)
				}
			}
		})
	}
	all.Wait()
	assert.LessOrEqual(t, r.n.Load(), int64(len(data)>>17+1))
	_, err := s.ReadAt(make([]byte, 1), int64(len(data)))
	assert.ErrorIs(t, err, io.EOF)
}

// TestFailureIsNotKept: a failed read is repeated.
func TestFailureIsNotKept(t *testing.T) {
	r := &counted{ReaderAt: bytes.NewReader(make([]byte, 100))}
	s := pagecache.Source(r, 100)
	r.fails.Store(true)
	_, err := s.ReadAt(make([]byte, 4), 0)
	require.ErrorIs(t, err, errBroken)
	r.fails.Store(false)
	_, err = s.ReadAt(make([]byte, 4), 0)
	require.NoError(t, err)
}

// holes is a memory with bytes in some ranges only.
type holes struct{ ranges []target.Range }

func (h holes) ReadMemory(p []byte, a target.Addr) (int, error) {
	for i := range p {
		at := a + target.Addr(i)
		there := false
		for _, r := range h.ranges {
			there = there || at >= r.Start && at < r.End
		}
		if !there {
			return i, &target.MemoryError{Addr: at, Size: len(p) - i, Err: target.ErrNotInDump}
		}
		p[i] = byte(at>>8) ^ byte(at)
	}
	return len(p), nil
}

func (holes) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (holes) Span(target.Addr) []byte              { return nil }

// TestMemory reads at and across the edges of stored ranges. Bytes and errors equal those of the
// uncached memory.
func TestMemory(t *testing.T) {
	bare := holes{[]target.Range{{Start: 0x1000, End: 0x3000}, {Start: 0x3800, End: 0x3900}, {Start: 0xf000, End: 0x23456}, {Start: ^target.Addr(0) - 0x1fff, End: ^target.Addr(0)}}}
	cached := pagecache.Memory(bare, bare.ranges)
	for _, edge := range []target.Addr{0x1000, 0x3000, 0x3800, 0x3900, 0xf000, 0x10000, 0x20000, 0x23456, ^target.Addr(0) - 0x1fff, ^target.Addr(0)} {
		for _, before := range []target.Addr{0, 1, 8, 0x700} {
			for _, n := range []int{0, 1, 8, 0x800, 0x9000} {
				a, want, got := edge-before, make([]byte, n), make([]byte, n)
				wn, werr := bare.ReadMemory(want, a)
				gn, gerr := cached.ReadMemory(got, a)
				assert.Equal(t, wn, gn, "%d at %v", n, a)
				assert.Equal(t, werr, gerr)
				assert.Equal(t, want[:wn], got[:gn])
			}
		}
	}
}
