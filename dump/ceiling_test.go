package dump_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// filled returns a core with memory that is filled with b.
func filled(b byte) []byte {
	c := &synth.ELFCore{Segments: []synth.ELFSegment{{Addr: 0x10000, Data: bytes.Repeat([]byte{b}, 1<<20), Flags: 6}}}
	return c.Bytes()
}

// bomb returns a file that unpacks to a core of so many megabytes.
func bomb(t *testing.T, megabytes int) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	defer w.Close()
	zeros := w.EncodeAll(make([]byte, 1<<20), nil) // a frame, to be repeated
	return append(w.EncodeAll(filled(1), nil), bytes.Repeat(zeros, megabytes)...)
}

// TestBomb: a small file does not fill the disk unless its user allows it.
func TestBomb(t *testing.T) {
	file := bomb(t, 1200)
	require.Less(t, len(file), 1<<20)
	read := int64(0)
	o := dump.Options{TempDir: t.TempDir(), Progress: func(done, _ int64) { read = done }}
	_, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), o)
	require.ErrorIs(t, err, target.ErrLimit)
	assert.ErrorContains(t, err, "--limit ratio")
	assert.NotZero(t, read)
	if !testcase.Complete() { // unpacks more than a gigabyte
		return
	}
	o.MaxRatio = 1 << 20
	f, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), o)
	require.NoError(t, err)
	assert.Greater(t, f.Size, int64(1200<<20))
	require.NoError(t, f.Close())
}

// TestNoTemporaryFolder: if there is no folder for temporary files, as in a container image that
// holds only sosgo, the error says so, and not that the dump is missing.
func TestNoTemporaryFolder(t *testing.T) {
	packed := bomb(t, 1)
	o := dump.Options{TempDir: filepath.Join(t.TempDir(), "missing")}
	_, err := dump.OpenReaderAt(bytes.NewReader(packed), int64(len(packed)), o)
	require.ErrorContains(t, err, "TMPDIR")
	assert.NotErrorIs(t, err, fs.ErrNotExist)
	assert.True(t, machine.Failed(err))
	_, err = dump.OpenStream(bytes.NewReader(packed), o)
	require.ErrorContains(t, err, "TMPDIR")
	assert.NotErrorIs(t, err, fs.ErrNotExist)
	assert.True(t, machine.Failed(err))
}

// TestStream opens dumps from a pipe, compressed and not.
func TestStream(t *testing.T) {
	for _, b := range [][]byte{filled(7), zst(t, filled(7))} {
		dir := t.TempDir()
		r, w := io.Pipe()
		go func() {
			_, _ = w.Write(b)
			w.Close()
		}()
		f, err := dump.OpenStream(r, dump.Options{TempDir: dir})
		require.NoError(t, err)
		v, err := target.Uint8(f, 0x10000)
		require.NoError(t, err)
		assert.EqualValues(t, 7, v)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, files)
		require.NoError(t, f.Close())
	}
	_, err := dump.OpenStream(bytes.NewReader(filled(1)), dump.Options{MaxDecompressed: 1000})
	assert.ErrorIs(t, err, target.ErrLimit)
	_, err = dump.OpenStream(bytes.NewReader(nil), dump.Options{})
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestLimits: the containers obey the limits.
func TestLimits(t *testing.T) {
	c := &synth.ELFCore{}
	for i := range uint64(20) {
		c.Segments = append(c.Segments, synth.ELFSegment{Addr: i << 20, Data: []byte{1}, Flags: 4})
		c.Notes = append(c.Notes, synth.ELFThread(uint32(i+1), 0, make([]uint64, 27)))
	}
	b := c.Bytes()
	open := func(l target.Limits) (*dump.File, error) {
		return dump.OpenReaderAt(bytes.NewReader(b), int64(len(b)), dump.Options{Limits: l})
	}
	_, err := open(target.Limits{Ranges: 10})
	assert.ErrorIs(t, err, target.ErrLimit)
	f, err := open(target.Limits{Threads: 5})
	require.NoError(t, err)
	assert.Len(t, f.Threads(), 5)
	assert.NotEmpty(t, f.Warnings())
	f, err = open(target.Limits{Notes: 3})
	require.NoError(t, err)
	assert.Len(t, f.Threads(), 3)
	f, err = open(target.Limits{})
	require.NoError(t, err)
	assert.Len(t, f.Threads(), 20)
	assert.Empty(t, f.Warnings())
}

// TestTruncated counts the missing bytes of cut files.
func TestTruncated(t *testing.T) {
	c := synth.ELFCore{Notes: []synth.ELFNote{synth.ELFThread(1, 0, make([]uint64, 27))},
		Segments: []synth.ELFSegment{{Addr: 0x10000, Data: make([]byte, 0x3000)}, {Addr: 0x20000, Data: make([]byte, 0x1000)}}}
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpAMD64)
	m.Modules(synth.MinidumpModule{Base: 0x1000, Size: 1, Path: "a"})
	m.Memory64(synth.MinidumpRange{Addr: 0x10000, Data: make([]byte, 0x3000)}, synth.MinidumpRange{Addr: 0x20000, Data: make([]byte, 0x1000)})
	for name, whole := range map[string][]byte{"core": c.Bytes(), "minidump": m.Bytes()} {
		for _, lack := range []int{0, 1, 0x1000, 0x1800} {
			f, err := dump.OpenReaderAt(bytes.NewReader(whole), int64(len(whole)-lack), dump.Options{})
			require.NoError(t, err)
			if lack == 0 {
				assert.NoError(t, f.Truncated(), name)
				continue
			}
			assert.ErrorIs(t, f.Truncated(), target.ErrCorrupt)
			assert.ErrorContains(t, f.Truncated(), fmt.Sprintf(" %d bytes that it lists", lack), name)
		}
	}
}
