package acceptance_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A bareCore is a core in the kernel's form. It omits mapped files that the process can't have
// written to. Pages that a loader relocated and then protected are included.
type bareCore struct {
	header []byte // replaces the first bytes of full
	full   []byte
}

func newBareCore(t *testing.T, d *testdump.Dump) (b bareCore, left uint64) {
	raw := mustRaw(t, d)
	f, err := elf.NewFile(bytes.NewReader(raw))
	require.NoError(t, err)
	files := map[target.Addr]bool{}
	for r := range d.Target().Regions() {
		if r.Path != "" && r.Prot&target.ProtWrite == 0 && !relocated(d, r) {
			files[r.Start] = true
		}
	}
	const size, fileSize = 56, 32 // of an Elf64_Phdr, and the offset of p_filesz
	at := int(binary.LittleEndian.Uint64(raw[32:]))
	b = bareCore{header: slices.Clone(raw[:at+size*len(f.Progs)]), full: raw}
	for i, p := range f.Progs {
		if p.Type == elf.PT_LOAD && files[target.Addr(p.Vaddr)] {
			left += p.Filesz
			binary.LittleEndian.PutUint64(b.header[at+i*size+fileSize:], 0)
		}
	}
	return b, left
}

// relocated reports whether the dump and the file differ in a region, if the file is available in
// the folder of the case's module files.
func relocated(d *testdump.Dump, r target.Region) bool {
	for path := strings.TrimPrefix(r.Path, "/"); path != ""; _, path, _ = strings.Cut(path, "/") {
		file, err := os.ReadFile(filepath.Join(d.Case.Modules, path))
		if err != nil {
			continue
		}
		in, err := target.Bytes(d.Memory(), r.Start, int(r.Size))
		part := file[min(r.Offset, uint64(len(file))):]
		n := min(len(in), len(part))
		return err == nil && !bytes.Equal(in[:n], part[:n])
	}
	return false
}

func (b bareCore) Size() int64 { return int64(len(b.full)) }

func (b bareCore) Bytes(off int64, n int) []byte {
	switch end, header := off+int64(n), int64(len(b.header)); {
	case end <= header:
		return b.header[off:end:end]
	case off >= header:
		return b.full[off:end:end]
	default:
		return slices.Concat(b.header[off:], b.full[header:end])
	}
}

func (b bareCore) ReadAt(p []byte, off int64) (int, error) {
	n := int(max(0, min(int64(len(p)), b.Size()-off)))
	copy(p, b.Bytes(off, n))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// bareSections returns the sections of the oracle as commands.
func bareSections(t *testing.T, d *testdump.Dump) map[string][]string {
	h, err := d.Heap()
	require.NoError(t, err)
	seen := map[target.Addr]bool{}
	var values, types, methods []string
	for o, err := range h.Objects() {
		require.NoError(t, err)
		if mt := o.Type.Addr; !seen[mt] {
			seen[mt] = true
			values, types = append(values, "dumpobj "+o.Addr.String()), append(types, "dumpmt "+mt.String())
			if len(seen)%3 == 0 {
				methods = append(methods, "dumpmt -md "+mt.String())
			}
		}
	}
	require.Greater(t, len(types), 20)
	return map[string][]string{
		"objects": {"dumpheap"}, "heapstat": {"dumpheap -stat", "gcheapstat"}, "segments": {"eeheap"}, "threads": {"clrthreads", "threads"},
		"values": values, "types": types, "methods": methods, "modules": {"clrmodules -v", "dumpdomain"}, "exceptions": {"dumpexceptions", "printexception -lines"},
		"waiting":    {"dumpasync", "tasks", "timerinfo", "threadpool", "locks", "waits"},
		"syncblocks": {"syncblk"}, "stacks": {"clrstack -all -a", "clrstack -all -r", "clrstack -all -gc", "clrstack -all -i"}, "strings": {"dumpheap -strings"},
	}
}

// TestBareAgainstFull: with module files, a core without any page of a mapped file gives the same
// answers as the full dump of the same moment, byte by byte, in every section of the oracle.
func TestBareAgainstFull(t *testing.T) {
	for _, name := range []string{"net10-stacks-full", "sxs-full"} {
		d := testdump.OpenCase(t, name)
		bare, left := newBareCore(t, d)
		require.Greater(t, left, uint64(20<<20), "%s: what is left out", name)
		for section, lines := range bareSections(t, d) {
			of := func(r io.ReaderAt, size int64) outcome {
				args := []string{"-d", "dump"}
				for _, line := range lines {
					args = append(args, "-c", line)
				}
				var stdout, stderr bytes.Buffer
				code := cli.Main(t.Context(), args, strings.NewReader(""), &stdout, &stderr, cli.Env{Commands: commands.All(),
					Open: func(context.Context, string, cli.OpenOptions) (cli.Dump, error) {
						return process.OpenReaderAt(r, size, d.Options())
					}})
				return outcome{stdout.String(), stderr.String(), code}
			}
			want, got := of(target.BytesSource(bare.full), bare.Size()), of(bare, bare.Size())
			assert.NotEmpty(t, want.stdout, section)
			if want != got {
				t.Errorf("%s, %s: %s", name, section, firstDifference(want.stdout+want.stderr, got.stdout+got.stderr))
			}
		}
	}
}
