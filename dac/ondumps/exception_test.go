package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// oracle calls f for the lines of a section of the oracle. In a process with two runtimes, the oracle read the
// second.
func oracle(t *testing.T, d *testdump.Dump, section string, f func(map[string]any)) {
	if len(d.Runtimes()) > 1 {
		t.Skip("the oracle speaks of another runtime of the process")
	}
	d.Oracle(t, section, f)
}

// TestExceptions compares every exception object of the oracle: result, cause, message and the addresses of the
// trace.
func TestExceptions(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		compared := 0
		oracle(t, d, "exceptions", func(m map[string]any) {
			a, ok := m["address"].(string)
			if _, typed := m["type"].(string); !ok || !typed {
				return
			}
			e, err := rt.Exception(hex(a))
			require.NoError(t, err, a)
			compared++
			assert.Equal(t, hex(m["hresult"]), target.Addr(e.HResult), a)
			assert.Equal(t, hex(m["inner"]), e.Inner, a)
			if want, ok := m["message"].(string); ok && e.Message != 0 {
				text, err := rt.StringAt(e.Message, 1<<16)
				if err == nil { // a partial dump may lack it
					assert.Equal(t, want, text, a)
				}
			}
			frames, _ := m["frames"].([]any)
			got, err := rt.StackTrace(&e)
			require.NoError(t, err, a)
			if !assert.GreaterOrEqual(t, len(got), len(frames), a) {
				return
			}
			for i, f := range frames {
				frame := f.(map[string]any)
				if ip, ok := frame["ip"].(string); ok && frame["signature"] != nil {
					assert.Equal(t, hex(ip), got[i].IP, "%s frame %d", a, i)
				}
			}
		})
		return compared
	})
}

func TestExceptionOfAnotherType(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		threads, err := rt.Threads()
		require.NoError(t, err)
		for i := range threads {
			obj, err := target.Pointer(rt.Memory(), threads[i].ExposedHandle)
			if err != nil || obj == 0 {
				continue
			}
			_, err = rt.Exception(obj)
			assert.Error(t, err, "a Thread is no exception")
			break
		}
		_, err = rt.Exception(8)
		assert.ErrorIs(t, err, target.ErrCorrupt)
		assert.NotErrorIs(t, err, target.ErrNotInDump, "no process has memory there")
		return 1
	})
}

// TestSyncBlocks compares the sync blocks that are in use.
func TestSyncBlocks(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		got := map[uint32]dac.SyncBlock{}
		for b, err := range rt.SyncBlocks() {
			if err == nil {
				got[b.Index] = b
			}
		}
		compared := 0
		oracle(t, d, "syncblocks", func(m map[string]any) {
			index, ok := m["index"].(float64)
			if !ok || m["type"] == nil {
				return
			}
			b, ok := got[uint32(index)]
			if !assert.True(t, ok, "sync block %v", index) {
				return
			}
			compared++
			assert.Equal(t, hex(m["object"]), b.Object)
			assert.Equal(t, m["held"], b.Held)
			if b.Held {
				assert.Equal(t, m["recursion"].(float64), float64(b.Recursion))
			}
		})
		if compared == 0 {
			t.Skip("no sync block is in use")
		}
		return compared
	})
}
