package dac_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// oracle calls f for the lines of an oracle file, if the case has it. The
// oracle's runtime of a process with two is not the first one found.
func oracle(t *testing.T, dir, name string, f func(map[string]any)) {
	path := filepath.Join(dir, "oracle", name)
	if _, err := os.Stat(path); err != nil || strings.HasPrefix(filepath.Base(dir), "sxs-") {
		t.Skip("the oracle has nothing to compare with")
	}
	lines(t, path, f)
}

// TestExceptions compares every exception object of the oracle: result, cause,
// message and the addresses of the trace.
func TestExceptions(t *testing.T) {
	corpus(t, func(t *testing.T, dir string, rt *dac.Runtime) {
		oracle(t, dir, "exceptions.jsonl", func(m map[string]any) {
			a, ok := m["address"].(string)
			if _, typed := m["type"].(string); !ok || !typed {
				return
			}
			e, err := rt.Exception(hex(a))
			require.NoError(t, err, a)
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
	})
}

func TestExceptionOfAnotherType(t *testing.T) {
	corpus(t, func(t *testing.T, _ string, rt *dac.Runtime) {
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
		assert.ErrorIs(t, err, target.ErrNotInDump)
	})
}

// TestSyncBlocks compares the sync blocks that are in use.
func TestSyncBlocks(t *testing.T) {
	corpus(t, func(t *testing.T, dir string, rt *dac.Runtime) {
		got := map[uint32]dac.SyncBlock{}
		for b, err := range rt.SyncBlocks() {
			if err == nil {
				got[b.Index] = b
			}
		}
		oracle(t, dir, "syncblocks.jsonl", func(m map[string]any) {
			index, ok := m["index"].(float64)
			if !ok || m["type"] == nil {
				return
			}
			b, ok := got[uint32(index)]
			if !assert.True(t, ok, "sync block %v", index) {
				return
			}
			assert.Equal(t, hex(m["object"]), b.Object)
			assert.Equal(t, m["held"], b.Held)
			if b.Held {
				assert.Equal(t, m["recursion"].(float64), float64(b.Recursion))
			}
		})
	})
}
