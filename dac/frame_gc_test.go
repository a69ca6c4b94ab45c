package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// The memory of TestGCFrames: a Thread with its chain at 0x80, and its stack after it.
const (
	gcThread = frameBase
	gcMember = 0x80
	gcStack  = frameBase + 0x200
)

// gcMemory returns that memory with the words at their addresses.
func gcMemory(words map[target.Addr]uint64) []byte {
	b := make([]byte, 0x300)
	for a, w := range words {
		binary.LittleEndian.PutUint64(b[a-frameBase:], w)
	}
	return b
}

func TestGCFrames(t *testing.T) {
	const (
		one, two = gcStack + 0x40, gcStack + 0x20 // the next is usually above
		refs     = gcStack + 0x80
		member   = gcThread + gcMember
		top      = uint64(topFrame)
		interior = 1 << 32
	)
	frame := func(at target.Addr, next, count uint64) map[target.Addr]uint64 {
		return map[target.Addr]uint64{at: next, at + 8: uint64(gcThread), at + 16: uint64(refs), at + 24: count}
	}
	first := func(at target.Addr) map[target.Addr]uint64 { return map[target.Addr]uint64{member: uint64(at)} }
	word := func(at target.Addr, w uint64) map[target.Addr]uint64 { return map[target.Addr]uint64{at: w} }
	wantOne := []GCFrame{{Addr: one, References: refs, Count: 2}}
	for _, tc := range []struct {
		name  string
		words []map[target.Addr]uint64
		want  []GCFrame
		err   error
	}{
		{"none", nil, nil, nil},
		{"none, of 10", []map[target.Addr]uint64{word(member, top)}, nil, nil},
		{"one", []map[target.Addr]uint64{first(one), frame(one, 0, 2)}, wantOne, nil},
		{"two", []map[target.Addr]uint64{first(one), frame(one, uint64(two), 2), frame(two, top, interior|3)},
			[]GCFrame{wantOne[0], {Addr: two, References: refs, Count: 3, Interior: true}}, nil},
		{"another build", []map[target.Addr]uint64{word(member, 7), word(member+0x18, uint64(one)), frame(one, top, 2)}, wantOne, nil},
		{"an end where the layout says, the chain elsewhere", []map[target.Addr]uint64{word(member-0x40, uint64(one)), frame(one, top, 2)}, wantOne, nil},
		{"too far", []map[target.Addr]uint64{word(member, 7), word(member+0x48, uint64(one)), frame(one, top, 2)}, nil, target.ErrUnsupported},
		{"of another thread", []map[target.Addr]uint64{first(one), frame(one, 0, 2), word(one+8, 1)}, nil, target.ErrUnsupported},
		{"next outside", []map[target.Addr]uint64{first(one), frame(one, 0x1000, 2)}, nil, target.ErrUnsupported},
		{"the second outside", []map[target.Addr]uint64{first(one), frame(one, uint64(two), 2), frame(two, 0x1000, 2)}, wantOne, target.ErrCorrupt},
		{"the second of another thread", []map[target.Addr]uint64{first(one), frame(one, uint64(two), 2)}, wantOne, target.ErrCorrupt},
		{"too many references", []map[target.Addr]uint64{first(one), frame(one, uint64(two), 2), frame(two, top, limits.ProtectedReferences+1)},
			wantOne, target.ErrCorrupt},
		{"references at null", []map[target.Addr]uint64{first(one), frame(one, uint64(two), 2), frame(two, top, 1), word(two+16, 0)},
			wantOne, target.ErrCorrupt},
		{"number left out", []map[target.Addr]uint64{first(one), frame(one, uint64(two), 2), frame(two, top, filteredWord)},
			wantOne, target.ErrNotInDump},
		{"itself", []map[target.Addr]uint64{first(one), frame(one, uint64(one), 2)}, wantOne, target.ErrCorrupt},
	} {
		t.Run(tc.name, func(t *testing.T) {
			words := map[target.Addr]uint64{}
			for _, m := range tc.words {
				for a, w := range m {
					words[a] = w
				}
			}
			r := frameRuntime(t, gcMemory(words))
			r.off.Thread.GCFrame = gcMember
			th := Thread{Addr: gcThread, Stack: target.Range{Start: gcStack, End: gcStack + 0x100}}
			_, _ = r.threads.Get(func() (threadList, error) { return threadList{threads: []Thread{th}}, nil })
			got, err := gcFrames(r, &th)
			assert.Equal(t, tc.want, got)
			assert.ErrorIs(t, err, tc.err)
		})
	}
}

// gcFrames returns the GCFrames of t before the first error.
func gcFrames(r *Runtime, t *Thread) (out []GCFrame, err error) {
	for f, err := range r.GCFrames(t) {
		if err != nil {
			return out, err
		}
		out = append(out, f)
	}
	return out, nil
}

// TestGCFramesCycle checks that a long cycle is an error.
func TestGCFramesCycle(t *testing.T) {
	words := map[target.Addr]uint64{gcThread + gcMember: uint64(gcStack)}
	for i := range target.Addr(4) {
		at := gcStack + 0x20*i
		words[at], words[at+8], words[at+16], words[at+24] = uint64(gcStack+0x20*((i+1)%4)), uint64(gcThread), uint64(gcStack), 1
	}
	r := frameRuntime(t, gcMemory(words))
	r.off.Thread.GCFrame = gcMember
	th := Thread{Addr: gcThread, Stack: target.Range{Start: gcStack, End: gcStack + 0x100}}
	_, _ = r.threads.Get(func() (threadList, error) { return threadList{threads: []Thread{th}}, nil })
	got, err := gcFrames(r, &th)
	assert.LessOrEqual(t, len(got), 12)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestGCFramesUnknown checks that an unknown offset is an error, and not an empty chain.
func TestGCFramesUnknown(t *testing.T) {
	r := frameRuntime(t, gcMemory(nil))
	r.off.Thread.GCFrame = layout.Absent
	_, err := gcFrames(r, &Thread{Addr: gcThread})
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

// TestProtectedArray reads the frame that protects an array of references.
func TestProtectedArray(t *testing.T) {
	const (
		at   = gcThread + 0x40
		refs = gcStack + 0x80
	)
	for _, c := range []struct {
		name      string
		at, count uint64
		want      []target.Addr
		err       error
	}{
		{"none", 0, 0, []target.Addr{}, nil},
		{"two", uint64(refs), 2, []target.Addr{refs, refs + 8}, nil},
		{"more beside the number", uint64(refs), 7<<32 | 1, []target.Addr{refs}, nil},
		{"no address", 4, 1, nil, target.ErrCorrupt},
		{"too many", uint64(refs), limits.ProtectedReferences + 1, nil, target.ErrCorrupt},
	} {
		r := frameRuntime(t, gcMemory(map[target.Addr]uint64{at + 0x10: c.at, at + 0x18: c.count}))
		l, err := r.frameLayout()
		require.NoError(t, err)
		l.HelperObjects.References = 0x10
		got, _, err := r.Protected(&Frame{Addr: at, Class: protectsArray})
		assert.Equal(t, c.want, got, c.name)
		require.ErrorIs(t, err, c.err, c.name)
		l.HelperObjects.References = layout.Absent
		_, _, err = r.Protected(&Frame{Addr: at, Class: protectsArray})
		require.ErrorIs(t, err, target.ErrUnsupported, c.name)
		l.HelperObjects.References = 0x1000
		_, _, err = r.Protected(&Frame{Addr: at, Class: protectsArray})
		require.ErrorIs(t, err, target.ErrNotInDump, c.name)
	}
}
