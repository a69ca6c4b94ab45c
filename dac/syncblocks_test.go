package dac

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/testcase"
	"github.com/sosgo/sosgo/target"
)

// patched is a memory with other bytes at an address.
type patched struct {
	target.Memory
	at target.Addr
	b  []byte
}

func (p patched) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := p.Memory.ReadMemory(b, a)
	for i := range n {
		if off := a + target.Addr(i) - p.at; off < target.Addr(len(p.b)) {
			b[i] = p.b[off]
		}
	}
	return n, err
}

func (p patched) View(target.Addr, int) ([]byte, bool) { return nil, false }

func (p patched) Span(target.Addr) []byte { return nil }

// TestSyncBlocksBehindEmpty: an entry that is empty, though it was used, does not
// end the table, which is as long as the runtime says.
func TestSyncBlocksBehindEmpty(t *testing.T) {
	cases, err := testcase.CannedCases()
	require.NoError(t, err)
	tried := 0
	for _, c := range cases {
		if !c.HasHeap() {
			continue
		}
		d, err := dump.Open(c.Path, dump.Options{})
		require.NoError(t, err)
		defer d.Close()
		rt, err := Find(d, d, nil)[0].Open()
		require.NoError(t, err)
		want := map[uint32]SyncBlock{}
		for b, err := range rt.SyncBlocks() {
			if err == nil {
				want[b.Index] = b
			}
		}
		if len(want) < 3 {
			continue
		}
		tried++
		table, err := rt.globalPointer("SyncTableEntries")
		require.NoError(t, err)
		size := rt.off.SyncEntry.Size
		mem := patched{d, table + target.Addr(size), make([]byte, size)}
		rt, err = Find(d, mem, nil)[0].Open()
		require.NoError(t, err)
		got := map[uint32]SyncBlock{}
		for b, err := range rt.SyncBlocks() {
			require.NoError(t, err)
			got[b.Index] = b
		}
		assert.Zero(t, got[1].Object, "%s: the entry that was emptied", c.Name)
		got[1] = want[1]
		assert.Equal(t, want, got, c.Name)
	}
	testcase.Compared(t, tried)
}
