package code

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// overwritten is memory with other bytes at some addresses.
type overwritten struct {
	target.Memory
	with map[target.Addr][]byte
}

func (o *overwritten) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := o.Memory.ReadMemory(p, a)
	for at, b := range o.with {
		if a >= at && a+target.Addr(len(p)) <= at+target.Addr(len(b)) { // whole: the dump may lack the place
			return copy(p, b[a-at:]), nil
		}
	}
	return n, err
}

func (o *overwritten) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (o *overwritten) Span(target.Addr) []byte              { return nil }

// askedFiles notes which module's file was last asked for.
type noteFiles struct{ last target.Module }

var errNoFile = errors.New("there is no file")

func (f *noteFiles) File(m *target.Module, _ *image.Image) (*image.Image, error) {
	f.last = *m
	return nil, errNoFile
}

// A component is a process in which the code of an image is said to be of a module
// of another image, as the code of a composite image is.
type component struct {
	r     *Reader
	c     *members
	files *noteFiles
	m     *dac.Module
	info  target.Addr
	code  target.Range
	owner string // the file of the image with the code
}

// openComponent makes a component whose header names the composite, unless the
// name is empty.
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
	} else { // before 9: its PEImageLayout tells
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

// layoutBase returns where the base of the module's loaded image stands.
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

// openCanned opens the runtime of the canned dump of that name, which reads the memory that wrap makes of the dump's.
func openCanned(t testing.TB, name string, wrap func(target.Memory) target.Memory, files dac.ModuleFiles) *dac.Runtime {
	d, err := dump.Open(testcase.Canned(t, name).Path, dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	insts := dac.Find(d, wrap(d), files)
	require.Len(t, insts, 1)
	rt, err := insts[0].Open()
	require.NoError(t, err)
	return rt
}

// openCode opens a process, and the first image with code that it has.
func openCode(t *testing.T, name string, with map[target.Addr][]byte) component {
	c := component{files: &noteFiles{}}
	rt := openCanned(t, name, func(m target.Memory) target.Memory { return &overwritten{m, with} }, c.files)
	c.r = Of(rt)
	var err error
	c.c, err = c.r.members()
	require.NoError(t, err)
	sections, err := c.r.RangeSections()
	require.NotEmpty(t, sections, err)
	for _, s := range sections {
		if s.Kind != ReadyToRun {
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

// TestComposite: what the dump lacks of a composite image comes from the file of
// that image, not of the component that the range of code is said to be of.
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

// TestCompositeElsewhere: where the process has no module of the name that the
// component gives there, no file is believed to be the composite image's.
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

// nothing is memory that no dump has.
type nothing struct{ target.Memory }

func (nothing) ReadMemory(p []byte, a target.Addr) (int, error) {
	return 0, &target.MemoryError{Addr: a, Size: len(p), Err: target.ErrNotInDump}
}

// TestCompositeBefore9: a layout that does not tell where a composite image has its
// methods does not look among the component's.
func TestCompositeBefore9(t *testing.T) {
	c := openComponent(t, "net8-zoo", func(owner string) string { return owner })
	_, err := c.r.imageMemory(c.c, c.m, c.info, c.code)
	require.ErrorIs(t, err, target.ErrUnsupported)
	require.ErrorContains(t, err, "composite")
}

// TestComponentHeader: a component's header has no section of what is recorded
// beside code, which does not mean that there is none.
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

// TestOwnImages: the code of an image starts with the image of its module: what
// makes a composite image, and what RVAs count from.
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
			for _, inst := range dac.Find(d, d, nil) {
				rt, err := inst.Open()
				if err != nil {
					continue
				}
				sections, _ := Of(rt).RangeSections()
				for _, s := range sections {
					if s.Kind != ReadyToRun {
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
