package hexdump_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/hexdump"
	"github.com/sosgo/sosgo/target"
)

// memory holds bytes at addresses from base on.
type memory struct {
	base  target.Addr
	bytes []byte
}

func (m memory) View(a target.Addr, n int) ([]byte, bool) {
	if a < m.base || uint64(a-m.base)+uint64(n) > uint64(len(m.bytes)) {
		return nil, false
	}
	return m.bytes[a-m.base:][:n], true
}

func (m memory) Span(a target.Addr) []byte {
	b, _ := m.View(a, 1)
	if b == nil {
		return nil
	}
	return m.bytes[a-m.base:]
}

func (m memory) ReadMemory(p []byte, a target.Addr) (int, error) {
	if a < m.base || uint64(a-m.base) > uint64(len(m.bytes)) {
		return 0, &target.MemoryError{Addr: a, Size: len(p), Err: target.ErrNotInDump}
	}
	n := copy(p, m.bytes[a-m.base:])
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

func ExampleRows() {
	mem := memory{0x1000, []byte{1, 0, 2, 0, 3, 0}}
	m, err := hexdump.Rows(context.Background(), mem, 0x1000, hexdump.Shape{Length: 2, Count: 4, Width: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for row := range m.Rows {
		fmt.Print(row.Address)
		for _, e := range row.Elements {
			if e == nil {
				fmt.Print(" ????")
				continue
			}
			fmt.Printf(" %04x", uint64(*e))
		}
		fmt.Println()
	}
	// Output:
	// 0000000000001000 0001 0002
	// 0000000000001004 0003 ????
}

func TestRowsThatTheDumpLacks(t *testing.T) {
	mem := memory{0x1000, []byte{1, 2, 3, 4}}
	m, err := hexdump.Rows(t.Context(), mem, 0x2000, hexdump.Shape{Length: 4, Count: 4, Width: 2})
	require.NoError(t, err)
	n := 0
	for row, err := range m.Rows {
		if n++; n == 3 {
			require.ErrorIs(t, err, target.ErrNotInDump)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []int{2, 0}, []int{len(row.Elements), count(row.Elements)})
	}
	assert.Equal(t, 3, n)

	m, err = hexdump.Rows(t.Context(), mem, 0x1000, hexdump.Shape{Length: 4, Count: 2, Width: 2})
	require.NoError(t, err)
	for range m.Rows {
	}
	require.NoError(t, m.Failure())
	require.Len(t, m.Noted(), 1)
	require.ErrorIs(t, m.Noted()[0], target.ErrNotInDump)
}

func count[T any](list []*T) int {
	n := 0
	for _, e := range list {
		if e != nil {
			n++
		}
	}
	return n
}

func TestRowsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, err := hexdump.Rows(ctx, memory{}, 0, hexdump.Shape{Length: 8, Count: 1 << 20, Width: 4})
	require.NoError(t, err)
	rows := 0
	for _, err := range m.Rows {
		require.ErrorIs(t, err, context.Canceled)
		rows++
	}
	assert.Equal(t, 1, rows)
}

func TestImpossibleShapes(t *testing.T) {
	for _, s := range []hexdump.Shape{{}, {Length: 3, Count: 1, Width: 1}, {Length: 1, Count: -1, Width: 1}, {Length: 1, Count: 1}} {
		_, err := hexdump.Rows(t.Context(), memory{}, 0, s)
		require.ErrorIs(t, err, target.ErrUnsupported, "%+v", s)
	}
	_, err := hexdump.Text(memory{}, 0, 5)
	require.ErrorIs(t, err, target.ErrUnsupported)
}

func TestText(t *testing.T) {
	mem := memory{0x1000, []byte("ab\x00c")}
	text, err := hexdump.Text(mem, 0x1000, 1)
	require.NoError(t, err)
	assert.Equal(t, "ab", text.Text)
	text, err = hexdump.Text(mem, 0x1003, 1)
	require.NoError(t, err)
	assert.Equal(t, "c", text.Text)
	require.Len(t, text.Noted(), 1)
	_, err = hexdump.Text(mem, 0x2000, 1)
	require.ErrorIs(t, err, target.ErrNotInDump)
}
