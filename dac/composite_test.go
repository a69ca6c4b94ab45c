package dac

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// overwrittenCode replaces the bytes at some addresses.
type overwrittenCode struct {
	target.Memory
	with map[target.Addr][]byte
}

func (o *overwrittenCode) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := o.Memory.ReadMemory(p, a)
	for at, b := range o.with {
		if a >= at && a+target.Addr(len(p)) <= at+target.Addr(len(b)) { // the whole range is replaced, so the dump may lack it
			return copy(p, b[a-at:]), nil
		}
	}
	return n, err
}

func (o *overwrittenCode) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (o *overwrittenCode) Span(target.Addr) []byte              { return nil }

// noteFiles records the last requested module and finds no file.
type noteFiles struct{ last target.Module }

var errNoFile = errors.New("there is no file")

func (f *noteFiles) File(m *target.Module, _ *image.Image) (*image.Image, error) {
	f.last = *m
	return nil, errNoFile
}

// A component is a process in which the code of an image belongs to a module of another image, as in a
// composite image.
type component struct {
	r     *CodeReader
	c     *members
	files *noteFiles
	m     *Module
	info  target.Addr
	code  target.Range
	owner string // file of the image with the code
}

// openComponent makes a component with the composite's name in its header, unless composite returns "".
func openComponent(t *testing.T, name string, composite func(owner string) string) component {
	c := openCode(t, name, nil)
	own, err := c.m.Image()
	require.NoError(t, err)
	require.Equal(t, own.Start, c.code.Start)
	mods := c.r.rt.Target().Modules()
	tm := target.ModuleAt(mods, c.code.Start)
	require.NotNil(t, tm)
	other := mods[0].Base
	if other == c.code.Start {
		other = mods[1].Base
	}
	base, err := c.r.rt.Layout().Offset("Module", "Base")
	with := map[target.Addr][]byte{}
	put := func(a target.Addr, v target.Addr) { with[a] = binary.LittleEndian.AppendUint64(nil, uint64(v)) }
	if err == nil {
		put(c.m.Addr+target.Addr(base), other)
	} else { // before 9, from its PEImageLayout
		put(layoutBase(t, c), other)
	}
	owner := target.BaseName(tm.Path)
	if said := composite(owner); said != "" {
		const header, text = 0x40, 0x200
		le := binary.LittleEndian
		b := le.AppendUint32(nil, r2rSignature)
		b = le.AppendUint32(b, 9)
		b = le.AppendUint32(b, r2rComponent)
		for _, v := range []uint32{1, r2rSectionOwner, text, uint32(len(said)) + 1} {
			b = le.AppendUint32(b, v)
		}
		with[other+header], with[other+text] = b, append([]byte(said), 0)
		put(c.info+target.Addr(c.c.ReadyToRun.Header), other+header)
	}
	out := openCode(t, name, with)
	out.owner = owner
	return out
}

// layoutBase returns the address of the base in the PEImageLayout of the module's loaded image.
func layoutBase(t *testing.T, c component) target.Addr {
	at := c.m.PEAssembly
	for _, m := range [][2]string{{"PEAssembly", "PEImage"}, {"PEImage", "LoadedImageLayout"}} {
		off, err := c.r.rt.Layout().Offset(m[0], m[1])
		require.NoError(t, err)
		at, err = target.Pointer(c.r.mem, at+target.Addr(off))
		require.NoError(t, err)
	}
	off, err := c.r.rt.Layout().Offset("PEImageLayout", "Base")
	require.NoError(t, err)
	return at + target.Addr(off)
}

// openCanned opens the runtime of a canned dump. It reads the memory returned by wrap.
func openCanned(t testing.TB, name string, wrap func(target.Memory) target.Memory, files ModuleFiles) *Runtime {
	d, err := dump.Open(testcase.Canned(t, name).Path, dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	insts := Find(d, wrap(d), files)
	require.Len(t, insts, 1)
	rt, err := insts[0].Open()
	require.NoError(t, err)
	return rt
}

// openCode opens a process and finds its first image with code.
func openCode(t *testing.T, name string, with map[target.Addr][]byte) component {
	c := component{files: &noteFiles{}}
	rt := openCanned(t, name, func(m target.Memory) target.Memory { return &overwrittenCode{m, with} }, c.files)
	c.r = CodeOf(rt)
	var err error
	c.c, err = c.r.members()
	require.NoError(t, err)
	sections, err := c.r.RangeSections()
	require.NotEmpty(t, sections, err)
	for _, s := range sections {
		if s.Kind != CodeReadyToRun {
			continue
		}
		c.code = s.Range
		c.m, err = rt.TrustedModule(s.Image)
		require.NoError(t, err)
		c.info, err = c.r.ptr(c.m.Addr, c.c.Module.ReadyToRun, "Module.ReadyToRunInfo")
		require.NoError(t, err)
		return c
	}
	t.Fatalf("no image with code in %s", name)
	return component{}
}

// TestComposite checks that parts of a composite image missing from the dump come from that image's file, and
// not from the component's.
func TestComposite(t *testing.T) {
	for _, said := range []func(string) string{
		func(string) string { return "" }, func(owner string) string { return owner },
	} {
		c := openComponent(t, "net10-zoo", said)
		mem, err := c.r.imageMemory(c.c, c.m, c.info, c.code)
		require.NoError(t, err)
		_, err = mem.open()
		require.ErrorIs(t, err, errNoFile)
		assert.Equal(t, c.code.Start, c.files.last.Base)
		assert.Equal(t, c.owner, target.BaseName(c.files.last.Path))
	}
}

// TestCompositeElsewhere checks that no file is used if the process has no module with the composite's name
// there.
func TestCompositeElsewhere(t *testing.T) {
	c := openComponent(t, "net10-zoo", func(string) string { return "framework-r2r.dll" })
	mem, err := c.r.imageMemory(c.c, c.m, c.info, c.code)
	require.NoError(t, err)
	_, err = mem.open()
	require.ErrorIs(t, err, target.ErrUnsupported)
	require.ErrorContains(t, err, "framework-r2r.dll, which is not a module of the process")
	mem.Memory = nothing{}
	_, err = mem.ReadMemory(make([]byte, 8), c.code.Start)
	require.ErrorIs(t, err, target.ErrUnsupported)
	require.NotErrorIs(t, err, target.ErrNotInDump)
}

// nothing is memory that is not in any dump.
type nothing struct{ target.Memory }

func (nothing) ReadMemory(p []byte, a target.Addr) (int, error) {
	return 0, &target.MemoryError{Addr: a, Size: len(p), Err: target.ErrNotInDump}
}

// TestCompositeBefore9 checks that the component's methods are not searched if the layout cannot locate the
// methods of a composite image.
func TestCompositeBefore9(t *testing.T) {
	c := openComponent(t, "net8-zoo", func(owner string) string { return owner })
	_, err := c.r.imageMemory(c.c, c.m, c.info, c.code)
	require.ErrorIs(t, err, target.ErrUnsupported)
	require.ErrorContains(t, err, "composite")
}

// TestComponentHeader checks that a component's header, which lacks the sections of its code, is unsupported
// and not empty.
func TestComponentHeader(t *testing.T) {
	h := r2rHeader{flags: r2rComponent}
	for _, kind := range []uint32{r2rSectionEH, r2rSectionDebugInfo} {
		_, err := h.section(kind)
		require.ErrorIs(t, err, target.ErrUnsupported)
	}
	h.flags = 0
	at, err := h.section(r2rSectionEH)
	require.NoError(t, err)
	require.Zero(t, at)
}

// TestOwnImages checks that the code of an image starts with the image of its module, where RVAs count from.
func TestOwnImages(t *testing.T) {
	cases, err := testcase.CannedCases()
	require.NoError(t, err)
	for _, tc := range cases {
		if !tc.HasRuntime() {
			continue
		}
		t.Run(tc.Name, func(t *testing.T) {
			d, err := dump.Open(tc.Plain(), dump.Options{})
			require.NoError(t, err)
			defer d.Close()
			for _, inst := range Find(d, d, nil) {
				rt, err := inst.Open()
				if err != nil {
					continue
				}
				sections, _ := CodeOf(rt).RangeSections()
				for _, s := range sections {
					if s.Kind != CodeReadyToRun {
						continue
					}
					m, err := rt.TrustedModule(s.Image)
					if err != nil {
						continue
					}
					if at, err := m.Image(); err == nil {
						assert.Equal(t, s.Range.Start, at.Start, m.Label())
					}
				}
			}
		})
	}
}
