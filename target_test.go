package sosgo_test

import (
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/target"
)

// slowTarget is a caller's target that lends no memory. It counts its reads.
type slowTarget struct {
	target.Target
	reads atomic.Int64
}

func (t *slowTarget) ReadMemory(p []byte, a target.Addr) (int, error) {
	t.reads.Add(1)
	return t.Target.ReadMemory(p, a)
}
func (*slowTarget) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (*slowTarget) Span(target.Addr) []byte              { return nil }

// TestOpenTarget opens a target that lends no memory. Its answers equal the dump's, and it gets few reads.
func TestOpenTarget(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	want, err := c.View("")
	require.NoError(t, err)
	slow := &slowTarget{Target: c.Target()}
	d, err := sosgo.OpenTarget(slow, c.Options())
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	_, err = v.Runtime()
	require.NoError(t, err)
	t.Logf("%d reads to open", slow.reads.Load())
	assert.Less(t, slow.reads.Load(), int64(2000))
	a, err := memory.HeapStats(t.Context(), want.Process, memory.HeapOptions{})
	require.NoError(t, err)
	b, err := memory.HeapStats(t.Context(), v.Process, memory.HeapOptions{})
	require.NoError(t, err)
	assert.Equal(t, a.Statistics, b.Statistics)
	x, err := crash.Describe(t.Context(), want.Process, crash.Options{})
	require.NoError(t, err)
	y, err := crash.Describe(t.Context(), v.Process, crash.Options{})
	require.NoError(t, err)
	assert.Equal(t, x.Reason, y.Reason)
	s, err := summary.Summary(t.Context(), v.Process, summary.Options{})
	require.NoError(t, err)
	assert.NotZero(t, s.Objects)
	_, err = d.Pack(t.Context(), io.Discard, nil)
	assert.ErrorIs(t, err, sosgo.ErrUnsupported)
	t.Logf("%d reads in all", slow.reads.Load())
}

// slowReader counts the reads of a file.
type slowReader struct {
	io.ReaderAt
	reads, bytes atomic.Int64
}

func (r *slowReader) ReadAt(p []byte, off int64) (int, error) {
	r.reads.Add(1)
	r.bytes.Add(int64(len(p)))
	return r.ReaderAt.ReadAt(p, off)
}

// TestSlowReader opens a dump over a slow reader. Stacks and the crash need few reads.
func TestSlowReader(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	raw, err := c.Raw()
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.WriteFile(name, raw, 0o600))
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	r := &slowReader{ReaderAt: f}
	d, err := sosgo.OpenReaderAt(r, int64(len(raw)), c.Options())
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	_, err = crash.Describe(t.Context(), v.Process, crash.Options{})
	require.NoError(t, err)
	stacks, err := stacks.Stacks(t.Context(), v.Process, stacks.Options{StackOptions: threads.StackOptions{Source: true}})
	require.NoError(t, err)
	frames := 0
	for _, err := range stacks.Frames {
		assert.NoError(t, err)
		frames++
	}
	assert.NotZero(t, frames)
	t.Logf("%d frames of %d bytes: %d reads of %d bytes", frames, len(raw), r.reads.Load(), r.bytes.Load())
	assert.Less(t, r.reads.Load(), int64(300))
}

// TestNoModulesFolder checks that a missing folder of module files is an error.
func TestNoModulesFolder(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	for _, dir := range []string{filepath.Join(t.TempDir(), "none"), c.Path} {
		_, err := sosgo.Open(c.Plain(), sosgo.Options{Modules: []string{dir}})
		assert.ErrorContains(t, err, "folder of module files")
	}
}
