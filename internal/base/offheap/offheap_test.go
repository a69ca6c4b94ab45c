package offheap_test

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

func TestGrowAndShrink(t *testing.T) {
	budget := offheap.NewBudget(0)
	a, err := offheap.Reserve[uint32](budget, 1<<20)
	require.NoError(t, err)
	require.Empty(t, a.Slice())
	require.Equal(t, 1<<20, a.Cap())
	require.Zero(t, budget.InUse())

	require.NoError(t, a.Grow(1000))
	first := a.Slice()
	for i := range first {
		require.Zero(t, first[i])
		first[i] = uint32(i)
	}
	require.NoError(t, a.Grow(100_000))
	require.NoError(t, a.Grow(5))
	require.Len(t, a.Slice(), 100_000)
	require.Equal(t, uint32(999), a.Slice()[999])
	require.Same(t, &first[0], &a.Slice()[0], "growing does not move")
	require.EqualValues(t, 400_000, budget.InUse())

	a.Shrink(10)
	require.Len(t, a.Slice(), 10)
	require.Equal(t, 10, a.Cap())
	require.Equal(t, uint32(9), a.Slice()[9])
	require.EqualValues(t, 40, budget.InUse())
	require.Error(t, a.Grow(11))
	a.Free()
	a.Free()
	require.Empty(t, a.Slice())
	require.Zero(t, budget.InUse())
	require.EqualValues(t, 400_000, budget.Peak())
	budget.ResetPeak()
	require.Zero(t, budget.Peak())
}

func TestEmpty(t *testing.T) {
	for _, n := range []int{0, 3} {
		a, err := offheap.Make[struct{}](nil, n)
		require.NoError(t, err)
		require.Len(t, a.Slice(), n)
		a.Free()
	}
	a, err := offheap.Make[uint64](nil, 0)
	require.NoError(t, err)
	require.Empty(t, a.Slice())
	a.Shrink(0)
	a.Free()
	var none *offheap.Array[byte]
	none.Free()
	none.Shrink(0)
	require.Empty(t, none.Slice())
	require.Zero(t, none.Cap())
}

func TestRefusals(t *testing.T) {
	_, err := offheap.Make[*int](nil, 1)
	require.ErrorContains(t, err, "pointers")
	_, err = offheap.Make[struct{ a [2]string }](nil, 1)
	require.ErrorContains(t, err, "pointers")
	_, err = offheap.Make[uint64](nil, math.MaxInt/4)
	require.ErrorIs(t, err, target.ErrLimit)
	_, err = offheap.Make[uint64](nil, -1)
	require.ErrorIs(t, err, target.ErrLimit)
	if strconv.IntSize == 64 { // 32 bits have room for all that can be asked for
		_, err = offheap.Reserve[uint64](nil, math.MaxInt/16)
		require.ErrorContains(t, err, "the system gives no")
	}
}

func TestBudget(t *testing.T) {
	budget := offheap.NewBudget(10 << 20)
	a, err := offheap.Make[[4]uint16](budget, 1<<20)
	require.NoError(t, err)
	_, err = offheap.Make[byte](budget, 2<<20+1)
	var limit *offheap.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, offheap.LimitError{What: "an array", Need: 2<<20 + 1, InUse: 8 << 20, Limit: 10 << 20}, *limit)
	require.ErrorIs(t, err, target.ErrLimit)
	require.EqualValues(t, 8<<20, budget.InUse(), "what was refused is not charged")
	require.EqualValues(t, 8<<20, budget.Peak())
	require.NoError(t, budget.Need("a small thing", 2<<20))
	require.EqualError(t, budget.Need("the object graph", 3<<30+1),
		"3.1 GB of memory would be needed for the object graph beside the 8.0 MB in use: more than the limit of 10.0 MB")
	a.Free()
	b, err := offheap.Make[byte](budget, 10<<20)
	require.NoError(t, err)
	b.Free()
	var none *offheap.Budget
	require.NoError(t, none.Need("anything", math.MaxInt64))
	require.Zero(t, none.InUse()+none.Peak())
	none.ResetPeak()
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 1025: "1.1 KB", 1<<20 - 1: "1024.0 KB", 3 << 29: "1.5 GB"} {
		require.Equal(t, want, offheap.Bytes(n))
	}
}

// TestGivenBack checks the resident memory of the process: untouched room takes none, and freed
// memory is gone at once.
func TestGivenBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc/self/statm")
	}
	const size = 64 << 20
	before := resident(t)
	a, err := offheap.Make[byte](nil, 1<<30)
	require.NoError(t, err)
	s := a.Slice()
	require.Less(t, resident(t)-before, int64(size/4))
	for i := 0; i < size; i += 4096 {
		s[i] = 1
	}
	require.Greater(t, resident(t)-before, int64(size*3/4))
	a.Shrink(size / 2)
	require.Less(t, resident(t)-before, int64(size*3/4))
	require.Equal(t, byte(1), a.Slice()[size/2-4096])
	a.Free()
	require.Less(t, resident(t)-before, int64(size/4))
}

// TestSparse: a large array of which a few elements are touched takes little memory.
func TestSparse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc/self/statm")
	}
	const size = 256 << 20
	a, err := offheap.Make[byte](nil, size)
	require.NoError(t, err)
	defer a.Free()
	before := resident(t)
	s := a.Sparse().Slice()
	for i := 0; i < size; i += 2 << 20 {
		s[i] = 1
	}
	require.Less(t, resident(t)-before, int64(size/16))
}

func resident(t *testing.T) int64 {
	b, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}

// Collect numbers, given only an upper bound of their count.
func ExampleReserve() {
	budget := offheap.NewBudget(1 << 20)
	squares, err := offheap.Reserve[uint32](budget, 1<<26)
	if err != nil {
		panic(err)
	}
	defer squares.Free()
	if err := squares.Grow(5); err != nil {
		panic(err)
	}
	for i := range squares.Slice() {
		squares.Slice()[i] = uint32(i * i)
	}
	fmt.Println(squares.Slice(), budget.InUse())
	fmt.Println(squares.Grow(1 << 20))
	// Output:
	// [0 1 4 9 16] 20
	// 4.0 MB of memory would be needed for an array beside the 20 B in use: more than the limit of 1.0 MB
}

// TestCharge: bytes of Go's heap and arrays share one limit, and a refused growth counts nothing.
func TestCharge(t *testing.T) {
	budget := offheap.NewBudget(1000)
	c, other := budget.Charge("the rows"), budget.Charge("the groups")
	require.NoError(t, c.Add(600))
	require.NoError(t, other.Add(300))
	var limit *offheap.LimitError
	err := c.Add(200)
	require.ErrorAs(t, err, &limit)
	require.ErrorIs(t, err, target.ErrLimit)
	require.Equal(t, offheap.LimitError{What: "the rows", Need: 800, InUse: 300, Limit: 1000}, *limit)
	require.EqualValues(t, 900, budget.InUse())
	_, err = offheap.Make[uint64](budget, 100)
	require.ErrorIs(t, err, target.ErrLimit)
	require.NoError(t, other.Add(-200))
	require.NoError(t, c.Add(200))
	c.Free()
	c.Free()
	require.EqualValues(t, 100, budget.InUse())
	var none *offheap.Budget
	require.NoError(t, none.Charge("anything").Add(1<<60))
	none.Charge("anything").Free()
}
