package dac

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// filePages hides the parts of a module that a kernel core lacks: all but the page with its headers and the
// pages that the loader or the program wrote to.
type filePages struct {
	onProcessor
	module target.Range
	kept   []target.Range
}

func withoutFilePages(i *Instance) *filePages {
	f := &filePages{onProcessor: i.tgt.(onProcessor), module: target.Range{Start: i.Module.Base, End: i.Module.Base + target.Addr(i.Module.Size)},
		kept: []target.Range{{Start: i.Module.Base, End: i.Module.Base + 0x1000}}}
	for _, s := range i.Image.Sections() {
		if at, err := i.Image.Address(s.RVA); err == nil && s.Prot&target.ProtWrite != 0 {
			f.kept = append(f.kept, target.Range{Start: at, End: at + target.Addr(s.Size)})
		}
	}
	return f
}

func (f *filePages) hidden(a target.Addr) bool {
	if !f.module.Contains(a) {
		return false
	}
	for _, r := range f.kept {
		if r.Contains(a) {
			return false
		}
	}
	return true
}

func (f *filePages) ReadMemory(b []byte, a target.Addr) (int, error) {
	if f.hidden(a) || len(b) > 0 && f.hidden(a+target.Addr(len(b)-1)) {
		return 0, &target.MemoryError{Addr: a, Size: len(b), Err: target.ErrNotInDump}
	}
	return f.Target.ReadMemory(b, a)
}

func (f *filePages) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (f *filePages) Span(target.Addr) []byte              { return nil }

// TestDescriptorWithoutExports opens a single-file app in a core without the pages of its file. It is found by
// the contract descriptor in its data, and uses the descriptor of a build of the same size with the addresses
// of the process.
func TestDescriptorWithoutExports(t *testing.T) {
	with := openInstance(t, "net10-single", target.ArchAMD64)
	require.True(t, with.SingleFile)
	want, err := with.Open()
	require.NoError(t, err)

	bare := withoutFilePages(with)
	all := Find(bare, bare, nil)
	require.Len(t, all, 1)
	inst := all[0]
	assert.True(t, inst.SingleFile)
	assert.Equal(t, with.descriptor, inst.descriptor)
	assert.Zero(t, inst.dacTable, "its export is not in the dump")
	own, tried := inst.ownParts()
	require.Len(t, own, 1, "%v", tried)
	assert.Contains(t, own[0].part.Source, "as long as the process's")
	got, err := inst.Open()
	require.NoError(t, err)
	assert.Equal(t, want.known, got.known)
	for _, name := range []string{"GcDacVars", "ThreadStore", "SyncTableEntries", "SyncBlockCache"} {
		w, err := want.layout.Variable(name)
		require.NoError(t, err)
		g, err := got.layout.Variable(name)
		require.NoError(t, err, name)
		assert.Equal(t, w, g, name)
	}
	threads, err := got.Threads()
	require.NoError(t, err)
	wanted, err := want.Threads()
	require.NoError(t, err)
	assert.Equal(t, wanted, threads)

	// Another magic number, or addresses outside of the module, are not a descriptor.
	for _, off := range []target.Addr{0, 16, 32} {
		over := &overwritten{filePages: bare, at: inst.descriptor + off, word: 0x1234}
		assert.Empty(t, Find(over, over, nil), "%d", off)
	}
	p, err := layout.LikeBuild(target.OSLinux, target.ArchAMD64, 1, 24)
	require.NoError(t, err)
	assert.Nil(t, p)
}

// overwritten replaces the word at an address.
type overwritten struct {
	*filePages
	at   target.Addr
	word uint64
}

func (o *overwritten) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := o.filePages.ReadMemory(b, a)
	for i := range b[:n] {
		if d := a + target.Addr(i) - o.at; d < 8 {
			b[i] = byte(o.word >> (8 * d))
		}
	}
	return n, err
}

// TestWellKnownNames checks that types known from the runtime's globals have names without metadata, and others
// do not.
func TestWellKnownNames(t *testing.T) {
	with := openInstance(t, "net10-single", target.ArchAMD64)
	want, err := with.Open()
	require.NoError(t, err)
	mt, err := want.TrustedMethodTable(want.known.Object)
	require.NoError(t, err)
	m, err := want.TrustedModule(mt.Module)
	require.NoError(t, err)
	coreLib, err := m.Image()
	require.NoError(t, err)
	hidden := &filePages{onProcessor: with.tgt.(onProcessor), module: coreLib}
	all := Find(hidden, hidden, nil)
	require.Len(t, all, 1)
	rt, err := all[0].Open()
	require.NoError(t, err)
	for th, name := range map[target.Addr]string{rt.known.Object: "System.Object", rt.known.String: "System.String", rt.known.Exception: "System.Exception"} {
		got, err := rt.TypeName(th, NameManaged)
		require.NoError(t, err)
		assert.Equal(t, name, got)
	}
	nameless := 0
	for row := uint32(2); row < 400; row++ {
		th, err := m.Lookup(MapTypeDef, row)
		if err != nil || th == 0 || rt.wellKnownName(th) != "" || th == rt.known.Free {
			continue
		}
		_, err = rt.TypeName(th, NameManaged)
		require.ErrorIs(t, err, target.ErrNotInDump)
		nameless++
	}
	assert.NotZero(t, nameless)
}

// TestStacksOfThreads checks that each stack pointer gets the rest of its region, and one outside all regions
// no stack.
func TestStacksOfThreads(t *testing.T) {
	p := stackProcess{pointers: []target.Addr{0x2800, 0x1100, 0x5000, 0x1f00, 0x10}, regions: []target.Range{{Start: 0x1000, End: 0x2000}, {Start: 0x2000, End: 0x3000}, {Start: 0x6000, End: 0x7000}}}
	assert.Equal(t, map[uint32]target.Range{0: {Start: 0x2800, End: 0x3000}, 1: {Start: 0x1100, End: 0x2000}, 3: {Start: 0x1f00, End: 0x2000}}, stacksOf(p))
}

type stackProcess struct {
	target.Target
	pointers []target.Addr
	regions  []target.Range
}

func (p stackProcess) Threads() []target.Thread {
	out := make([]target.Thread, len(p.pointers))
	for i, sp := range p.pointers {
		out[i] = target.Thread{ID: uint32(i), Registers: target.Registers{Arch: target.ArchAMD64}}
		out[i].Registers.SetSP(sp)
	}
	return out
}

func (p stackProcess) Regions() iter.Seq[target.Region] {
	return func(yield func(target.Region) bool) {
		for _, r := range p.regions {
			if !yield(target.Region{Start: r.Start, Size: r.Size()}) {
				return
			}
		}
	}
}
