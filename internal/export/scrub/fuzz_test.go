package scrub

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// FuzzContainers reads arbitrary files. Parts must be inside the file and disjoint, edits must be inside it,
// and unused bytes must be cleared.
func FuzzContainers(f *testing.F) {
	core := &synth.ELFCore{Notes: []synth.ELFNote{synth.ELFThread(1, 11, make([]uint64, 27)), synth.ELFProcess(1, "app", "app --key secret"), synth.ELFAuxv(31, 0x1010), synth.ELFSignal(11, 0, 1, 0)}}
	f.Add(core.Bytes())
	last := &synth.ELFCore{Segments: []synth.ELFSegment{{Addr: 1<<64 - 4096, Data: make([]byte, 4096), Flags: 6}}} // up to the end of the address space
	f.Add(last.Bytes())
	m := synth.NewMinidump()
	m.Stream(commentA, []byte("a comment"))
	m.Stream(moduleList, make([]byte, 4+moduleEntry))
	m.Stream(memory64List, make([]byte, 32))
	f.Add(m.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		src := target.BytesSource(b)
		for _, read := range []func(target.Source) (*container, error){readELF, readMinidump} {
			c, err := read(src)
			if err != nil {
				continue
			}
			d, err := newDisguise(nil)
			require.NoError(t, err)
			j := &job{disguise: d, control: map[uint64]bool{}}
			j.marks = &marks{pages: map[target.Addr]*page{}, isPointer: j.isPointer}
			mem, _ := memmap.New(src, append([]memmap.Range(nil), c.ranges...))
			edits, err := c.edits(j)
			if err != nil {
				continue
			}
			edits = append(edits, place(mem.Ranges(), 0x1000, []byte("fresh"))...)
			l := newLayout(c.structures, c.ranges, edits, src.Size())
			end := int64(0)
			for _, s := range l.spans {
				require.GreaterOrEqual(t, s.off, end)
				require.Positive(t, s.size)
				end = s.off + s.size
			}
			require.LessOrEqual(t, end, src.Size())
			out := make([]byte, len(b))
			assert.NoError(t, j.fill(src, l, out, 0))
		}
	})
}

// TestCrossing checks that a read from memory that stays into other memory marks the other part.
func TestCrossing(t *testing.T) {
	b := make([]byte, 64)
	for i := range b {
		b[i] = byte(0x80 + i)
	}
	areas := areas{{Range: target.Range{Start: 0x1000, End: 0x1008}, kind: areaKeep}}
	m := &marks{pages: map[target.Addr]*page{}, isPointer: func(uint64) bool { return false }}
	r := &recorder{Target: fakeProcess{Memory: pokedMemory{at: 0x1000, b: b}}, areas: &areas, marks: m}
	assert.Len(t, r.Span(0x1000), 8)
	assert.Nil(t, m.page(0x1000))
	_, err := r.ReadMemory(make([]byte, 16), 0x1000)
	require.NoError(t, err)
	p := m.page(0x1000)
	require.NotNil(t, p)
	assert.False(t, p.isMarked(0x1007))
	assert.True(t, p.isMarked(0x1008))
	assert.True(t, p.isMarked(0x100f))
	assert.False(t, p.isMarked(0x1010))
}

// A fakeProcess has only memory.
type fakeProcess struct {
	target.Target
	target.Memory
}

func (p fakeProcess) ReadMemory(b []byte, a target.Addr) (int, error) {
	return p.Memory.ReadMemory(b, a)
}
func (p fakeProcess) View(a target.Addr, n int) ([]byte, bool) { return p.Memory.View(a, n) }
func (p fakeProcess) Span(a target.Addr) []byte                { return p.Memory.Span(a) }

type pokedMemory struct {
	at target.Addr
	b  []byte
}

func (m pokedMemory) ReadMemory(b []byte, a target.Addr) (int, error) {
	return copy(b, m.b[a-m.at:]), nil
}
func (m pokedMemory) View(a target.Addr, n int) ([]byte, bool) { return m.b[a-m.at:][:n], true }
func (m pokedMemory) Span(a target.Addr) []byte                { return m.b[a-m.at:] }
