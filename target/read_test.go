package target_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// piece is a Memory of one range that does not implement SparseMemory.
type piece struct{ target.Range }

func (p piece) ReadMemory(b []byte, a target.Addr) (int, error) {
	if !p.Contains(a) {
		return 0, &target.MemoryError{Addr: a, Size: len(b), Err: target.ErrNotInDump}
	}
	return min(len(b), int(p.End-a)), nil
}

func (p piece) View(target.Addr, int) ([]byte, bool) { return nil, false }

func (p piece) Span(target.Addr) []byte { return nil }

// TestNextStoredOfPieces: a range that begins inside a page is found, also by reads of single
// bytes.
func TestNextStoredOfPieces(t *testing.T) {
	m := piece{target.Range{Start: 0x1234, End: 0x1240}}
	for from, want := range map[target.Addr]target.Addr{
		0x0:    0x1000, // the first page is empty; the next is not searched
		0x1000: 0x1234,
		0x1234: 0x1234,
		0x1238: 0x1238,
		0x1240: 0x2000,
	} {
		got, ok := target.NextStored(m, from)
		assert.True(t, ok, "%v", from)
		assert.Equal(t, want, got, "from %v", from)
	}
	_, ok := target.NextStored(m, ^target.Addr(0))
	assert.False(t, ok, "the end of the address space")
}

// TestUpTo checks that the bytes before a hole are returned.
func TestUpTo(t *testing.T) {
	m := piece{target.Range{Start: 0x1234, End: 0x1240}}
	assert.Len(t, target.UpTo(m, 0x1234, 8), 8)
	assert.Len(t, target.UpTo(m, 0x1238, 64), 8)
	assert.Nil(t, target.UpTo(m, 0x1240, 8))
	assert.Nil(t, target.UpTo(m, 0x1234, 0))
	assert.Nil(t, target.UpTo(nil, 0x1234, 8))
}

// recording is a Memory that counts reads that are no search.
type recording struct {
	piece

	reads int
}

func (r *recording) ReadMemory(b []byte, a target.Addr) (int, error) {
	r.reads++
	return r.piece.ReadMemory(b, a)
}

func (r *recording) Search(b []byte, a target.Addr) (int, error) { return r.piece.ReadMemory(b, a) }

// TestSearching checks that a memory that records reads does not record a search.
func TestSearching(t *testing.T) {
	m := &recording{piece: piece{target.Range{Start: 0x1234, End: 0x1240}}}
	search := target.Searching(m)
	_, err := target.Bytes(search, 0x1234, 8)
	assert.NoError(t, err)
	assert.Nil(t, search.Span(0x1234))
	next, ok := target.NextStored(search, 0x1000)
	assert.True(t, ok)
	assert.Equal(t, target.Addr(0x1234), next)
	m.reads = 0
	_, err = target.Uint64(search, 0x1234)
	assert.NoError(t, err)
	assert.Zero(t, m.reads)
	assert.Equal(t, target.Memory(m.piece), target.Searching(m.piece), "no memory that records")
}
