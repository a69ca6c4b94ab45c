package dump_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

func core() []byte {
	c := &synth.ELFCore{
		Notes:    []synth.ELFNote{synth.ELFProcess(42, "app", "app")},
		Segments: []synth.ELFSegment{{Addr: 0x10000, Data: bytes.Repeat([]byte("memory!\n"), 1<<14), Flags: 6}},
	}
	return c.Bytes()
}

func gz(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func zst(t testing.TB, b []byte, o ...zstd.EOption) []byte {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, o...)
	require.NoError(t, err)
	_, err = w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func write(t testing.TB, b []byte) string {
	name := filepath.Join(t.TempDir(), "any.name")
	require.NoError(t, os.WriteFile(name, b, 0o600))
	return name
}

func TestOpen(t *testing.T) {
	plain := core()
	for name, tt := range map[string]struct {
		file       []byte
		compressed string
	}{
		"plain":          {plain, ""},
		"gzip":           {gz(t, plain), "gzip"},
		"zstd":           {zst(t, plain), "zstd"},
		"zstd --long=27": {zst(t, plain, zstd.WithWindowSize(1<<27)), "zstd"},
		"gzip in parts":  {append(gz(t, plain[:5000]), gz(t, plain[5000:])...), "gzip"},
		"zstd in parts":  {append(zst(t, plain[:5000]), zst(t, plain[5000:])...), "zstd"},
	} {
		for _, noMmap := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				o := dump.Options{NoMmap: noMmap, TempDir: dir}
				path := write(t, tt.file)
				f, err := dump.Open(path, o)
				require.NoError(t, err)
				checkFile(t, f, tt.compressed, int64(len(plain)))
				assert.Equal(t, path, f.Path)
				_, lent := f.View(0x10000, 8)
				assert.Equal(t, !noMmap, lent)
				if runtime.GOOS != "windows" {
					left, err := os.ReadDir(dir)
					require.NoError(t, err)
					assert.Empty(t, left, "the unpacked dump has no name")
				}
				require.NoError(t, f.Close())
				require.NoError(t, f.Close(), "closing twice")

				f, err = dump.OpenReaderAt(bytes.NewReader(tt.file), int64(len(tt.file)), o)
				require.NoError(t, err)
				checkFile(t, f, tt.compressed, int64(len(plain)))
				assert.Empty(t, f.Path)
				require.NoError(t, f.Close())
			})
		}
	}
}

func checkFile(t *testing.T, f *dump.File, compressed string, size int64) {
	t.Helper()
	assert.Equal(t, dump.FormatELFCore, f.Format)
	assert.Equal(t, compressed, f.Compressed)
	assert.Equal(t, size, f.Size)
	assert.EqualValues(t, 42, f.Process().ID)
	var p [7]byte
	_, err := f.ReadMemory(p[:], 0x10008)
	require.NoError(t, err)
	assert.Equal(t, "memory!", string(p[:]))
}

func TestMinidump(t *testing.T) {
	file := []byte("MDMP\x93\xa7\x00\x00")
	_, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), dump.Options{})
	assert.ErrorIs(t, err, target.ErrCorrupt, "recognised, and cut")
}

// TestDamagedInside: a damaged dump inside of a compressed file is reported as damaged.
func TestDamagedInside(t *testing.T) {
	for name, b := range map[string][]byte{
		"core":     core()[:100],
		"minidump": []byte("MDMP\x93\xa7\x00\x00"),
	} {
		_, err := dump.OpenReaderAt(bytes.NewReader(b), int64(len(b)), dump.Options{})
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
		b = gz(t, b)
		_, err = dump.OpenReaderAt(bytes.NewReader(b), int64(len(b)), dump.Options{})
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
		assert.ErrorContains(t, err, "gzip: ", name)
	}
}

func TestContent(t *testing.T) {
	f := openBytes(t, zst(t, core()), dump.Options{})
	assert.Equal(t, string(core()), content(t, f.Content(), f.Size))
	a, ok := f.NextStored(1)
	assert.True(t, ok)
	assert.Equal(t, target.Addr(0x10000), a, "where the core's memory begins")
	_, ok = f.NextStored(0x10000 + 8<<14)
	assert.False(t, ok, "and behind its end there is none")
}

func TestProgress(t *testing.T) {
	file := gz(t, core())
	var calls []int64
	f, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), dump.Options{Progress: func(done, total int64) {
		assert.EqualValues(t, len(file), total)
		calls = append(calls, done)
	}})
	require.NoError(t, err)
	defer f.Close()
	require.NotEmpty(t, calls)
	assert.IsIncreasing(t, append([]int64{0}, calls...))
	assert.EqualValues(t, len(file), calls[len(calls)-1])
}

// TestUnpackingEnds: when the context ends, unpacking stops with the context's error alone.
func TestUnpackingEnds(t *testing.T) {
	big := append(core(), bytes.Repeat([]byte("0123456789abcdef"), 1<<20)...)
	for name, file := range map[string][]byte{"gzip": gz(t, big), "zstd": zst(t, big)} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		_, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), dump.Options{TempDir: dir,
			OpenContext: func() context.Context { return ctx }, Progress: func(int64, int64) { cancel() }})
		assert.ErrorIs(t, err, context.Canceled, name)
		assert.NotErrorIs(t, err, target.ErrCorrupt, name)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

func TestMaxDecompressed(t *testing.T) {
	size := int64(len(core()))
	for _, file := range [][]byte{gz(t, core()), zst(t, core())} {
		open := func(limit int64) error {
			f, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), dump.Options{MaxDecompressed: limit})
			if err == nil {
				f.Close()
			}
			return err
		}
		assert.NoError(t, open(size))
		err := open(size - 1)
		assert.ErrorIs(t, err, target.ErrLimit)
		assert.ErrorContains(t, err, "Options.MaxDecompressed")
		assert.Error(t, open(1))
	}
}

func TestDamagedCompression(t *testing.T) {
	for name, file := range map[string][]byte{"gzip": gz(t, core()), "zstd": zst(t, core())} {
		for _, n := range []int{4, 12, len(file) / 2, len(file) - 1} {
			_, err := dump.OpenReaderAt(bytes.NewReader(file[:n]), int64(n), dump.Options{})
			assert.ErrorIs(t, err, target.ErrCorrupt, "%s cut at %d", name, n)
		}
		for i := range file {
			broken := bytes.Clone(file)
			broken[i] ^= 0x55
			f, err := dump.OpenReaderAt(bytes.NewReader(broken), int64(len(broken)), dump.Options{})
			if err == nil {
				f.Close()
				continue
			}
			assert.True(t, errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrUnsupported), "%s byte %d: %v", name, i, err)
		}
	}
}

func TestLargeWindow(t *testing.T) {
	// Frame headers with a window of 2 GB (RFC 8878, 3.1.1.1.2), and with a single segment of 1 TB
	// (zstd --long=31).
	for _, header := range []string{"\x00\xa8\x01\x00\x00", "\xe0\x00\x00\x00\x00\x00\x01\x00\x00\x01\x00\x00"} {
		file := []byte("\x28\xb5\x2f\xfd" + header)
		_, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), dump.Options{})
		assert.ErrorIs(t, err, target.ErrUnsupported)
		assert.ErrorContains(t, err, "window")
	}
}

// TestMachOCore opens a core of macOS, compressed and not.
func TestMachOCore(t *testing.T) {
	b := (&synth.MachOCore{Segments: []synth.MachOSegment{{Addr: 0x100000000, Data: bytes.Repeat([]byte{7}, 4096), Prot: 3}}}).Bytes()
	for compressed, file := range map[string][]byte{"": b, "gzip": gz(t, b), "zstd": zst(t, b)} {
		f, err := dump.Open(write(t, file), dump.Options{})
		require.NoError(t, err)
		assert.Equal(t, dump.FormatMachOCore, f.Format)
		assert.Equal(t, compressed, f.Compressed)
		assert.Equal(t, target.OSDarwin, f.Platform().OS)
		got, err := target.Bytes(f, 0x100000010, 2)
		require.NoError(t, err)
		assert.Equal(t, []byte{7, 7}, got)
		require.NoError(t, f.Truncated())
		require.NoError(t, f.Close())
	}
	f, err := dump.Open(write(t, b[:len(b)-100]), dump.Options{})
	require.NoError(t, err)
	defer f.Close()
	require.ErrorContains(t, f.Truncated(), "100 bytes")
}

func TestNotADump(t *testing.T) {
	pad := func(s string) []byte { return append([]byte(s), bytes.Repeat([]byte{0, 1, 2, 3}, 200)...) }
	tar := make([]byte, 512)
	copy(tar, "dump.dmp")
	copy(tar[257:], "ustar\x0000")
	elf := (&synth.ELFCore{Type: 3}).Bytes()
	machO := func(typ uint32) []byte {
		return pad("\xcf\xfa\xed\xfe" + string(synth.Fields(uint32(0x01000007), uint32(3), typ)))
	}
	for name, tt := range map[string]struct {
		file    []byte
		want    error
		message string
	}{
		"empty":               {nil, target.ErrCorrupt, "empty"},
		"zeros":               {make([]byte, 4096), target.ErrCorrupt, "zero bytes"},
		"ELF library":         {elf, target.ErrUnsupported, "an ELF program or library, not a core"},
		"Mach-O core, cut":    {machO(4)[:16], target.ErrCorrupt, "ends inside the header"},
		"crash report":        {[]byte("{\n  \"payload\" : {\n    \"protocol_version\" : \"1.0.0\",\n"), target.ErrCorrupt, "the crash report is cut at byte"},
		"other JSON":          {[]byte("{\"payload\": 1}"), target.ErrUnsupported, "text file"},
		"Mach-O program":      {machO(2), target.ErrUnsupported, "Mach-O program"},
		"kernel dump":         {pad("PAGEDU64"), target.ErrUnsupported, "kernel dump"},
		"PE":                  {pad("MZ"), target.ErrUnsupported, "Windows program"},
		"gcdump":              {pad("\x14\x00\x00\x00!FastSerialization.1"), target.ErrUnsupported, "heap snapshot"},
		"nettrace":            {pad("Nettrace"), target.ErrUnsupported, "EventPipe"},
		"zip":                 {pad("PK\x03\x04"), target.ErrUnsupported, "unpack it first"},
		"tar":                 {tar, target.ErrUnsupported, "tar archive"},
		"text":                {[]byte("Hello, wörld!\nsecond line"), target.ErrUnsupported, "not a dump: a text file"},
		"long text":           {[]byte(strings.Repeat("ü", 600)), target.ErrUnsupported, "text file"},
		"data":                {pad("\x01\x02\x03"), target.ErrUnsupported, "begins with 01 02 03"},
		"one byte":            {[]byte{0xff}, target.ErrUnsupported, "begins with ff"},
		"gzip of text":        {gz(t, []byte("text")), target.ErrUnsupported, "text file"},
		"gzip of gzip":        {gz(t, gz(t, core())), target.ErrUnsupported, "gzip again"},
		"zstd of zstd":        {zst(t, zst(t, core())), target.ErrUnsupported, "zstd again"},
		"gzip of nothing":     {gz(t, nil), target.ErrCorrupt, "empty"},
		"escape in the text":  {[]byte("\x1b[31mred\x1b[0m"), target.ErrUnsupported, "begins with 1b"},
		"newline at the edge": {[]byte("\n"), target.ErrUnsupported, "text file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dump.Open(write(t, tt.file), dump.Options{})
			require.ErrorIs(t, err, tt.want)
			assert.ErrorContains(t, err, tt.message)
			_, err2 := dump.OpenReaderAt(bytes.NewReader(tt.file), int64(len(tt.file)), dump.Options{})
			assert.ErrorIs(t, err2, tt.want)
		})
	}
}

func TestNotAFile(t *testing.T) {
	_, err := dump.Open(t.TempDir(), dump.Options{})
	assert.ErrorIs(t, err, target.ErrUnsupported)
	assert.ErrorContains(t, err, "a directory")
	_, err = dump.Open(filepath.Join(t.TempDir(), "none"), dump.Options{})
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = dump.OpenReaderAt(bytes.NewReader(nil), -1, dump.Options{})
	assert.Error(t, err)
}

// brokenReader fails.
type brokenReader struct{}

func (brokenReader) ReadAt([]byte, int64) (int, error) { return 0, io.ErrNoProgress }

func TestHostErrors(t *testing.T) {
	_, err := dump.OpenReaderAt(brokenReader{}, 4096, dump.Options{})
	assert.ErrorIs(t, err, io.ErrNoProgress)
}
