package image_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// A corpusCase is a case of the corpus with its opened dump.
type corpusCase struct {
	*testcase.Case
	target.Target
}

// NextStored implements target.SparseMemory.
func (c *corpusCase) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(c.Target, a)
}

// eachCase calls f for the cases of the corpus that want selects. f returns how many facts it
// compared.
func eachCase(t *testing.T, want testcase.Filter, f func(t *testing.T, c *corpusCase) int) {
	testcase.Corpus(t, want, func(t *testing.T, c *testcase.Case) int { return f(t, openCase(t, c)) })
}

func openCase(t testing.TB, c *testcase.Case) *corpusCase {
	f, err := mmapfile.Open(c.Path, false)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	var tgt target.Target
	if testcase.OnWindows(c) {
		tgt, err = minidump.Open(f)
	} else {
		tgt, err = elfcore.Open(f)
	}
	require.NoError(t, err)
	return &corpusCase{c, tgt}
}

// addr is a number that the oracle writes as "0x…".
type addr uint64

func (h *addr) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 0, 64)
	*h = addr(v)
	return err
}

type runtimeLine struct {
	Build, Module      string
	Base, Size         addr
	ContractDescriptor addr
}

type moduleLine struct {
	Name           string
	ImageBase      addr
	Size           addr
	Layout         string
	Metadata       addr
	MetadataLength int
	PDB            *struct {
		Path, GUID string
		Revision   uint32
	}
}

// runtimes returns the CLRs of a case, with their modules in the dump.
func runtimes(t *testing.T, c *corpusCase) []runtimeLine {
	return append(testcase.Oracle[runtimeLine](t, c.Case, "runtime"), testcase.OracleIfAny[runtimeLine](t, c.Case, "clr1/runtime")...)
}

func moduleAt(c *corpusCase, base addr) *target.Module {
	list := c.Target.Modules()
	for i := range list {
		if list[i].Base == target.Addr(base) {
			return &list[i]
		}
	}
	return nil
}

// fileOf returns the file in the module set for a path in the dump.
func (c *corpusCase) fileOf(path string) string {
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	file := filepath.Join(c.Case.Modules, parts[len(parts)-1])
	if len(parts) > 1 {
		// The case sxs has a folder for each runtime.
		if sub := filepath.Join(c.Case.Modules, parts[len(parts)-2], parts[len(parts)-1]); exists(sub) {
			return sub
		}
	}
	return file
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestCorpusRuntime compares the runtime library of every dump with the oracle.
func TestCorpusRuntime(t *testing.T) {
	eachCase(t, (*testcase.Case).HasRuntime, func(t *testing.T, c *corpusCase) int {
		testcase.NeedModules(t, c.Case)
		list := runtimes(t, c)
		for _, rt := range list {
			m := moduleAt(c, rt.Base)
			require.NotNil(t, m, "module at %#x", rt.Base)
			im, err := image.OpenMemory(c, m)
			require.NoError(t, err)
			assert.Equal(t, rt.Build, buildOf(t, im))
			checkSymbols(t, c, im, rt)
		}
		return len(list)
	})
}

func buildOf(t *testing.T, im *image.Image) string {
	if im.Kind() == image.KindPE {
		return fmt.Sprintf("%x%x", im.TimeDateStamp(), im.SizeOfImage())
	}
	id, err := im.BuildID()
	require.NoError(t, err)
	return hex.EncodeToString(id)
}

// checkSymbols: g_dacTable is exported since 8.0, the contract descriptor since 9.0, and every kind
// of dump holds the tables for them. The dumps of 3.1 don't hold the hash table; that library
// exports neither.
func checkSymbols(t *testing.T, c *corpusCase, im *image.Image, rt runtimeLine) {
	_, size, err := im.Symbol("g_dacTable")
	switch {
	case strings.HasPrefix(c.Name, "net31"):
		require.ErrorIs(t, err, target.ErrNotInDump)
		return
	case strings.HasPrefix(c.Name, "win-net6"):
		require.ErrorIs(t, err, image.ErrNoSymbol)
	default:
		require.NoError(t, err)
		assert.Equal(t, im.Kind() == image.KindELF, size > 0, "size of g_dacTable")
	}
	rva, _, err := im.Symbol("DotNetRuntimeContractDescriptor")
	if rt.ContractDescriptor == 0 {
		require.ErrorIs(t, err, image.ErrNoSymbol)
		return
	}
	require.NoError(t, err)
	a, err := im.Address(rva)
	require.NoError(t, err)
	assert.Equal(t, target.Addr(rt.ContractDescriptor), a)
	exports := 0
	for e, err := range im.Exports() {
		if err != nil {
			// The dump holds only what its writer looked up.
			require.ErrorIs(t, err, target.ErrNotInDump)
			continue
		}
		if e.Name == "DotNetRuntimeContractDescriptor" {
			assert.Equal(t, rva, e.RVA)
			exports++
		}
	}
	assert.Equal(t, 1, exports)
}

// TestCorpusHeadless finds the exports of coreclr.dll without its headers.
func TestCorpusHeadless(t *testing.T) {
	eachCase(t, testcase.Named("win-net10-*"), func(t *testing.T, c *corpusCase) int {
		list := runtimes(t, c)
		for _, rt := range list {
			m := moduleAt(c, rt.Base)
			im, err := image.OpenMemory(holed{c, target.Range{Start: m.Base, End: m.Base + 4096}}, m)
			require.NoError(t, err)
			assert.False(t, im.HasHeaders())
			rva, _, err := im.Symbol("DotNetRuntimeContractDescriptor")
			require.NoError(t, err)
			assert.Equal(t, uint64(rt.ContractDescriptor), uint64(m.Base)+uint64(rva))
			_, err = im.Metadata()
			require.ErrorIs(t, err, target.ErrNotInDump)
		}
		return len(list)
	})
}

// holed is a Memory without the bytes of one range.
type holed struct {
	target.Memory
	hole target.Range
}

func (h holed) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := len(p)
	if h.hole.Contains(a) {
		n = 0
	} else if a < h.hole.Start {
		n = min(n, int(min(uint64(h.hole.Start-a), 1<<30)))
	}
	got, err := h.Memory.ReadMemory(p[:n], a)
	if got == n && n < len(p) {
		err = &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return got, err
}

func (h holed) View(a target.Addr, n int) ([]byte, bool) {
	if s := h.Span(a); n >= 0 && n <= len(s) {
		return s[:n], true
	}
	return nil, false
}

func (h holed) NextStored(a target.Addr) (target.Addr, bool) {
	if h.hole.Contains(a) {
		a = h.hole.End
	}
	return target.NextStored(h.Memory, a)
}

func (h holed) Span(a target.Addr) []byte {
	if h.hole.Contains(a) {
		return nil
	}
	s := h.Memory.Span(a)
	if a < h.hole.Start {
		s = s[:min(uint64(len(s)), uint64(h.hole.Start-a))]
	}
	return s
}

// TestCorpusVersion compares version strings with eeversion: from the dump if it holds them,
// otherwise from the module file.
func TestCorpusVersion(t *testing.T) {
	eachCase(t, (*testcase.Case).HasRuntime, func(t *testing.T, c *corpusCase) int {
		testcase.NeedModules(t, c.Case)
		for _, rt := range runtimes(t, c)[:1] { // eeversion describes the first runtime
			m := moduleAt(c, rt.Base)
			im, err := image.OpenMemory(c, m)
			require.NoError(t, err)
			v, err := im.VersionString()
			if err != nil {
				require.ErrorIs(t, err, target.ErrNotInDump)
				file, err := image.OpenFile(c.fileOf(m.Path))
				require.NoError(t, err)
				defer file.Close()
				v, err = file.VersionString()
				require.NoError(t, err)
			}
			number, commit, ok := strings.Cut(v, " @Commit: ")
			assert.True(t, ok && len(commit) == 40, v)
			if sos, err := os.ReadFile(filepath.Join(c.Dir, "sos", "eeversion.txt")); err == nil {
				assert.Contains(t, string(sos), v)
			} else {
				assert.True(t, strings.HasPrefix(number, strings.Join(strings.Split(c.Manifest.Runtime, ".")[:2], ".")), v)
			}
		}
		return 1
	})
}

// TestCorpusManaged compares layouts, metadata and PDB records with the oracle, through an overlay
// with all module files.
func TestCorpusManaged(t *testing.T) {
	eachCase(t, (*testcase.Case).HasRuntime, func(t *testing.T, c *corpusCase) int {
		testcase.NeedModules(t, c.Case)
		o := overlay(t, c)
		checked := 0
		for _, line := range testcase.Oracle[moduleLine](t, c.Case, "modules") {
			m := moduleAt(c, line.ImageBase)
			if m == nil || !exists(c.fileOf(m.Path)) {
				continue // dynamic, or loaded from bytes
			}
			im, err := image.OpenMemory(o, m)
			require.NoError(t, err)
			if testcase.OnLinux(c.Case) && !strings.HasPrefix(c.Name, "net31") {
				// The oracle's reader for 3.1 confuses flat and mapped.
				assert.Equal(t, map[string]image.Layout{"Mapped": image.Loaded, "Flat": image.Flat}[line.Layout], im.Layout(), m.Path)
			}
			checkManaged(t, im, line)
			checked++
		}
		t.Logf("%d modules", checked)
		return checked
	})
}

// overlay completes a case's memory with all module files that fit.
func overlay(t testing.TB, c *corpusCase) *image.Overlay {
	o := image.NewOverlay(c)
	for _, m := range c.Target.Modules() {
		if path := c.fileOf(m.Path); exists(path) {
			im, err := image.OpenFile(path)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, im.Close()) })
			if err := o.Add(&m, im); err != nil {
				require.ErrorIs(t, err, target.ErrCorrupt)
			}
		}
	}
	return o
}

func checkManaged(t *testing.T, im *image.Image, line moduleLine) {
	md, err := im.Metadata()
	require.NoError(t, err, line.Name)
	assert.Equal(t, line.MetadataLength, len(md.Data), line.Name)
	assert.Empty(t, md.Gaps, line.Name)
	a, err := im.Address(md.RVA)
	require.NoError(t, err)
	if line.Layout == "Flat" == (im.Layout() == image.Flat) {
		assert.Equal(t, target.Addr(line.Metadata), a, line.Name)
	}
	_, err = im.MVID()
	require.NoError(t, err, line.Name)
	if line.PDB != nil {
		pdb, err := im.PDB()
		require.NoError(t, err, line.Name)
		assert.Equal(t, line.PDB.GUID, guid(pdb.GUID), line.Name)
		assert.Equal(t, line.PDB.Path, pdb.Path, line.Name)
	}
}

// guid formats a stored GUID.
func guid(b [16]byte) string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint16(b[4:]),
		binary.LittleEndian.Uint16(b[6:]), b[8:10], b[10:])
}

// TestCorpusResource reads the table of globals of 6.0 (layouts: u32 120, u32 68).
func TestCorpusResource(t *testing.T) {
	eachCase(t, testcase.Named("win-net6-*"), func(t *testing.T, c *corpusCase) int {
		im, err := image.OpenFile(filepath.Join(c.Case.Modules, "coreclr.dll"))
		require.NoError(t, err)
		defer im.Close()
		b, err := im.Resource(image.ResourceRCData, "COREXTERNALDATAACCESSRESOURCE")
		require.NoError(t, err)
		require.Greater(t, len(b), 24+4*188-1)
		assert.Equal(t, uint32(120), binary.LittleEndian.Uint32(b))
		assert.Equal(t, uint32(68), binary.LittleEndian.Uint32(b[4:]))
		return 1
	})
}

// TestCorpusStaticSymbol finds g_dacTable of 3.1 in .symtab (layouts 1.2).
func TestCorpusStaticSymbol(t *testing.T) {
	eachCase(t, testcase.Named("net31-zoo-withheap"), func(t *testing.T, c *corpusCase) int {
		im, err := image.OpenFile(filepath.Join(c.Case.Modules, "libcoreclr.so"))
		require.NoError(t, err)
		defer im.Close()
		rva, size, err := im.Symbol("g_dacTable")
		require.NoError(t, err)
		assert.Equal(t, image.RVA(0x765688), rva)
		assert.Equal(t, uint64(0x2c4), size)
		return 1
	})
}

// BenchmarkSymbol measures a lookup in a dump, including opening the image.
func BenchmarkSymbol(b *testing.B) {
	c := openCase(b, testcase.Open(b, "net10-zoo-withheap"))
	var m *target.Module
	for _, x := range c.Target.Modules() {
		if strings.HasSuffix(x.Path, "libcoreclr.so") {
			m = &x
		}
	}
	require.NotNil(b, m)
	b.ReportAllocs()
	for b.Loop() {
		im, err := image.OpenMemory(c, m)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := im.Symbol("g_dacTable"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOverlayView measures the cost of an overlay for a view of the dump.
func BenchmarkOverlayView(b *testing.B) {
	c := openCase(b, testcase.Open(b, "net10-zoo-withheap"))
	sp, ok := c.Threads()[0].Registers.SP()
	require.True(b, ok)
	for name, mem := range map[string]target.Memory{"dump": c, "overlay": overlay(b, c)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, ok := mem.View(sp, 8); !ok {
					b.Fatal("the stack is not in the dump")
				}
			}
		})
	}
}
