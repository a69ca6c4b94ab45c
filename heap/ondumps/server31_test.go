package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// serverMode is a process in which the kind of GC is that of servers.
type serverMode struct {
	target.Target
	at target.Addr
}

func (m serverMode) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := m.Target.ReadMemory(b, a)
	if off := m.at - a; off < target.Addr(n) {
		b[off] = 2
	}
	return n, err
}

func (m serverMode) View(target.Addr, int) ([]byte, bool) { return nil, false }

func (m serverMode) Span(target.Addr) []byte { return nil }

// TestServerWithoutOffsets: a server GC that does not tell where its heaps keep
// their members, as that of 3.1, is not supported, and it is said why.
func TestServerWithoutOffsets(t *testing.T) {
	d := testdump.Open(t, "net31-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	at, err := rt.Layout().Variable("HeapType")
	require.NoError(t, err)
	raw, err := dump.Open(d.Case.Path, dump.Options{})
	require.NoError(t, err)
	defer raw.Close()
	process := serverMode{raw, at}
	rt, err = dac.Find(process, process, nil)[0].Open()
	require.NoError(t, err)
	_, err = heap.Open(rt, process)
	assert.ErrorIs(t, err, target.ErrUnsupported)
	assert.ErrorContains(t, err, "server GC")
}
