package wordscan_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/wordscan"
	"github.com/sosgo/sosgo/target"
)

// Find the words of a stack that may be addresses in a heap.
func Example() {
	mem := &pieces{at: []target.Addr{0x1000}, data: [][]byte{words(1, heapStart, 0x7fff_0000)}}
	s := wordscan.Scan{Memory: mem, Processor: target.AMD64(), Bounds: target.Range{Start: heapStart, End: heapEnd},
		Found: func(w wordscan.Word) bool { fmt.Println(w.Addr, w.Value); return true },
		Lost:  func(err error) bool { fmt.Println(err); return true }}
	fmt.Println(s.Stack(context.Background(), target.Range{Start: 0x1000, End: 0x1018}))
	// Output:
	// 0000000000001008 0000000000010000
	// true
}

// pieces is a memory of a few stored ranges. If lend is unset, it lends nothing, like a dump that
// is not mapped.
type pieces struct {
	at   []target.Addr // ascending
	data [][]byte
	lend bool
}

func (m *pieces) find(a target.Addr) []byte {
	for i, start := range m.at {
		if a >= start && uint64(a-start) < uint64(len(m.data[i])) {
			return m.data[i][a-start:]
		}
	}
	return nil
}

func (m *pieces) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := copy(p, m.find(a))
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

func (m *pieces) View(a target.Addr, n int) ([]byte, bool) {
	b := m.find(a)
	if !m.lend || len(b) < n {
		return nil, false
	}
	return b[:n], true
}

func (m *pieces) Span(a target.Addr) []byte {
	if !m.lend {
		return nil
	}
	return m.find(a)
}

func (m *pieces) NextStored(a target.Addr) (target.Addr, bool) {
	for i, start := range m.at {
		if a < start+target.Addr(len(m.data[i])) {
			return max(a, start), true
		}
	}
	return 0, false
}

func words(vs ...uint64) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

const (
	heapStart = 0x10000
	heapEnd   = 0x20000
)

// testScan scans for the multiples of 0x100 from heapStart to heapEnd.
func testScan(mem target.Memory, found func(wordscan.Word) bool, lost func(error) bool) *wordscan.Scan {
	return &wordscan.Scan{
		Memory:    mem,
		Processor: target.AMD64(),
		Bounds:    target.Range{Start: heapStart, End: heapEnd},
		Found:     func(w wordscan.Word) bool { return w.Value%0x100 != 0 || found(w) },
		Lost:      lost,
	}
}

type found struct {
	addr, object target.Addr
	reg          target.Reg
}

// collect returns what f finds and loses.
func collect(mem target.Memory, f func(c *wordscan.Scan)) (words []found, errs []error) {
	f(testScan(mem, func(w wordscan.Word) bool {
		words = append(words, found{w.Addr, w.Value, w.Register})
		return true
	}, func(err error) bool {
		errs = append(errs, err)
		return true
	}))
	return words, errs
}

func TestStack(t *testing.T) {
	for _, lend := range []bool{true, false} {
		mem := &pieces{lend: lend, at: []target.Addr{0x1000, 0x3000}, data: [][]byte{
			words(0, 0x10100, 0x10101, 0x10108, 0x20000, 0xfff8, 0x10000),
			words(0x1ff00, 1<<63),
		}}
		tests := []struct {
			name  string
			r     target.Range
			want  []found
			holes int
		}{
			{"one piece", target.Range{Start: 0x1000, End: 0x1038}, []found{{0x1008, 0x10100, 0}, {0x1030, 0x10000, 0}}, 0},
			{"ends are cut to words", target.Range{Start: 0x1001, End: 0x1037}, []found{{0x1008, 0x10100, 0}}, 0},
			{"hole between the pieces", target.Range{Start: 0x1000, End: 0x3010}, []found{{0x1008, 0x10100, 0}, {0x1030, 0x10000, 0}, {0x3000, 0x1ff00, 0}}, 1},
			{"hole at the start", target.Range{Start: 0x2000, End: 0x3010}, []found{{0x3000, 0x1ff00, 0}}, 1},
			{"hole at the end", target.Range{Start: 0x3000, End: 0x4000}, []found{{0x3000, 0x1ff00, 0}}, 1},
			{"nothing stored", target.Range{Start: 0x8000, End: 0x9000}, nil, 1},
			{"empty", target.Range{Start: 0x1008, End: 0x1008}, nil, 0},
			{"inverted", target.Range{Start: 0x1030, End: 0x1000}, nil, 0},
			{"end of the address space", target.Range{Start: ^target.Addr(0) - 2, End: ^target.Addr(0)}, nil, 0},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				slots, errs := collect(mem, func(c *wordscan.Scan) { c.Stack(t.Context(), tt.r) })
				assert.Equal(t, tt.want, slots)
				assert.Len(t, errs, tt.holes)
				for _, err := range errs {
					assert.ErrorIs(t, err, target.ErrNotInDump)
				}
			})
		}
	}
}

func TestAbsurdStackIsCut(t *testing.T) {
	_, errs := collect(&pieces{}, func(c *wordscan.Scan) { c.Stack(t.Context(), target.Range{Start: 0x1000, End: 1 << 60}) })
	require.NotEmpty(t, errs)
	assert.ErrorIs(t, errs[0], target.ErrCorrupt)
}

func TestRegisters(t *testing.T) {
	regs := target.Registers{Arch: target.ArchAMD64}
	regs.Set(target.R15, 0x10200)
	regs.Set(target.RBX, 0x10100)
	regs.Set(target.RCX, 0x10108)  // inside an object
	regs.Set(target.RIP, 0x10300)  // holds code
	regs.Set(target.RAX, 0x100000) // outside the heap
	slots, errs := collect(&pieces{}, func(c *wordscan.Scan) { c.Registers(t.Context(), &regs) })
	assert.Empty(t, errs)
	assert.Equal(t, []found{{0, 0x10100, target.RBX}, {0, 0x10200, target.R15}}, slots)
}

func TestScanStops(t *testing.T) {
	mem := &pieces{lend: true, at: []target.Addr{0x1000}, data: [][]byte{words(0x10100, 0x10200, 0x10300)}}
	n := 0
	c := testScan(mem, func(wordscan.Word) bool { n++; return n < 2 }, nil)
	assert.False(t, c.Stack(t.Context(), target.Range{Start: 0x1000, End: 0x1018}))
	assert.Equal(t, 2, n)
}

func TestScanOfOtherAddresses(t *testing.T) {
	c := testScan(&pieces{}, nil, nil)
	assert.False(t, c.Candidate(heapEnd))
	c.Elsewhere = true
	assert.True(t, c.Candidate(heapEnd))
	assert.False(t, c.Candidate(0xff8), "no process maps the first page")
	assert.False(t, c.Candidate(heapEnd+4), "objects are aligned")
}

func FuzzScan(f *testing.F) {
	f.Add(words(0x10100, 0, 0x10200), uint64(0x1000), uint64(0x1018), true)
	f.Add(words(1), ^uint64(0)-16, ^uint64(0), false)
	f.Fuzz(func(t *testing.T, data []byte, start, end uint64, lend bool) {
		at := target.Addr(0x1000)
		mem := &pieces{lend: lend, at: []target.Addr{at}, data: [][]byte{data}}
		if end-start > 1<<20 { // the fake memory has no holes to skip quickly
			end = start + 1<<20
		}
		last := target.Addr(0)
		c := testScan(mem, func(w wordscan.Word) bool {
			if w.Addr < last || w.Addr%8 != 0 || uint64(w.Addr) < start || uint64(w.Addr) >= end {
				t.Fatalf("word %v after %v in %x-%x", w.Addr, last, start, end)
			}
			if got := binary.LittleEndian.Uint64(data[w.Addr-at:]); got != uint64(w.Value) {
				t.Fatalf("word %v holds %x, not %v", w.Addr, got, w.Value)
			}
			last = w.Addr
			return true
		}, func(err error) bool {
			if !errors.Is(err, target.ErrNotInDump) && !errors.Is(err, target.ErrCorrupt) {
				t.Fatal(err)
			}
			return true
		})
		c.Stack(t.Context(), target.Range{Start: target.Addr(start), End: target.Addr(end)})
	})
}

// BenchmarkScan scans a stack of 64 KB. Every eighth word is an object.
func BenchmarkScan(b *testing.B) {
	data := make([]byte, 64<<10)
	for i := 0; i < len(data); i += 64 {
		binary.LittleEndian.PutUint64(data[i:], heapStart+uint64(i)/64*0x100%0x10000)
	}
	mem := &pieces{lend: true, at: []target.Addr{0x1000}, data: [][]byte{data}}
	n := 0
	c := testScan(mem, func(wordscan.Word) bool { n++; return true }, nil)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		c.Stack(b.Context(), target.Range{Start: 0x1000, End: 0x1000 + target.Addr(len(data))})
	}
	if n == 0 {
		b.Fatal("nothing found")
	}
}
