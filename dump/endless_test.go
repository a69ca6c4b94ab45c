package dump_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// An endless is a file of a server that never ends: head, and then again and again the same.
type endless struct {
	head, again []byte
	fail        int64 // bytes after which reading fails; 0 means never
	read        int64 // bytes
}

func (e *endless) ReadAt(p []byte, off int64) (int, error) {
	if e.fail > 0 && off+int64(len(p)) > e.fail {
		return 0, io.ErrUnexpectedEOF
	}
	for n := 0; n < len(p); {
		if at := off + int64(n); at < int64(len(e.head)) {
			n += copy(p[n:], e.head[at:])
		} else {
			n += copy(p[n:], e.again[(at-int64(len(e.head)))%int64(len(e.again)):])
		}
	}
	e.read = max(e.read, off+int64(len(p)))
	return len(p), nil
}

// TestEndlessInput checks that a compressed file that goes on and unpacks to nothing is given up, whatever its blocks are, also
// after the beginning of a dump and with a cache.
func TestEndlessInput(t *testing.T) {
	const size, most = math.MaxInt64 / 2, 16 << 20
	core := filled(1)
	zipped := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, err := w.Write(b)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	stored := append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), 0, 0, 0, 0xff, 0xff)
	repeat := func(s string) []byte { return bytes.Repeat([]byte(s), 4096) }
	for name, e := range map[string]*endless{
		"zstd, empty blocks":                   {head: []byte("\x28\xb5\x2f\xfd\x00\x58"), again: repeat("\x00\x00\x00")},
		"zstd, empty blocks after a dump":      {head: append(zst(t, core, zstd.WithEncoderCRC(false)), "\x28\xb5\x2f\xfd\x00\x58"...), again: repeat("\x00\x00\x00")},
		"zstd, skipped frames":                 {head: zst(t, core), again: append([]byte("\x50\x2a\x4d\x18\x00\x10\x00\x00"), make([]byte, 4096)...)},
		"zstd, one frame to be skipped":        {head: append(zst(t, core), "\x50\x2a\x4d\x18\xff\xff\xff\xff"...), again: repeat("\x01")},
		"gzip, a comment":                      {head: []byte("\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\x03"), again: repeat("x")},
		"gzip, a comment after a dump":         {head: append(zipped(core), "\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\x03"...), again: repeat("x")},
		"gzip, empty members":                  {head: zipped(nil), again: repeat(string(zipped(nil)))},
		"gzip, empty members after a dump":     {head: zipped(core), again: repeat(string(zipped(nil)))},
		"gzip, empty stored blocks":            {head: stored, again: repeat("\x00\x00\x00\xff\xff")},
		"gzip, empty stored blocks after data": {head: append(zipped(core), stored...), again: repeat("\x00\x00\x00\xff\xff")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []dump.Options{{TempDir: t.TempDir()}, {TempDir: t.TempDir(), Cache: filepath.Join(t.TempDir(), "cache"), CacheLeast: 1}} {
				e.read = 0
				_, err := dump.OpenReaderAt(e, size, o)
				require.ErrorIs(t, err, target.ErrCorrupt)
				assert.LessOrEqual(t, e.read, int64(most))
			}
		})
	}
}

// TestTables checks that tables of a file, which unpack to nothing, are no reason to give it up.
func TestTables(t *testing.T) {
	table := append([]byte("\x50\x2a\x4d\x18\x00\x00\x30\x00"), make([]byte, 3<<20)...)
	file := append(zst(t, filled(1)), table...)
	f, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), dump.Options{TempDir: t.TempDir()})
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// TestInputFails checks that a compressed file that can't be read is a fault of this machine or of a server, and neither cut nor
// damaged.
func TestInputFails(t *testing.T) {
	for _, packed := range [][]byte{zst(t, noise()), gz(t, noise())} {
		e := &endless{head: packed, again: []byte{0}, fail: int64(len(packed)) - 100}
		_, err := dump.OpenReaderAt(e, int64(len(packed)), dump.Options{TempDir: t.TempDir()})
		require.Error(t, err)
		assert.NotErrorIs(t, err, target.ErrCorrupt)
		assert.True(t, machine.Failed(err), err)
		_, err = dump.OpenStream(io.MultiReader(bytes.NewReader(packed[:100]), failing{}), dump.Options{TempDir: t.TempDir()})
		require.ErrorContains(t, err, "the stream can't be read: the other end is gone")
		assert.True(t, machine.Failed(err), err)
	}
	_, err := dump.OpenReaderAt(strings.NewReader("\x28\xb5\x2f\xfd\x00\x58"), 6, dump.Options{})
	assert.False(t, machine.Failed(err), err)
}

// noise returns a core that can't be compressed.
func noise() []byte {
	b := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never fails
	c := &synth.ELFCore{Segments: []synth.ELFSegment{{Addr: 0x10000, Data: b, Flags: 6}}}
	return c.Bytes()
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the other end is gone") }

// TestLyingSizeOfBomb checks that a size that a server claims, or a sparse file has, does not raise the limit of what little content
// unpacks to.
func TestLyingSizeOfBomb(t *testing.T) {
	head := append([]byte("\x28\xb5\x2f\xfd\x00\x58"), 0, 0, 8)                         // a window of 2 MB; a block of 64 KB
	b := &endless{head: append(head, filled(1)[:1<<16]...), again: []byte{2, 0, 16, 0}} // a block of 128 KB zeros
	_, err := dump.OpenReaderAt(b, 1<<39, dump.Options{TempDir: t.TempDir(), MaxRatio: 100})
	require.ErrorIs(t, err, target.ErrLimit)
	assert.ErrorContains(t, err, "--limit ratio")
	assert.Less(t, b.read, int64(8<<20))
}
