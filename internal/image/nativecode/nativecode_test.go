package nativecode_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/dump/machocore"
	"github.com/sosgo/sosgo/internal/image/nativecode"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// TestProgramEntry checks that the code at which the system starts a program, without unwind data, has no
// caller.
func TestProgramEntry(t *testing.T) {
	const base = 0x5500_0000_0000
	program := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x1000, 0x1000})
	for entry, want := range map[uint64]unwind.Format{0x400: unwind.FormatEntry, 0x3d0: unwind.FormatEntry, 0x404: unwind.FormatNone, 0x300: unwind.FormatNone, 0: unwind.FormatNone} {
		copy(program[24:], synth.Fields(entry))
		core := &synth.ELFCore{Segments: []synth.ELFSegment{{Addr: base, Data: program, Flags: 5}}}
		f, err := elfcore.Open(target.BytesSource(core.Bytes()))
		if !assert.NoError(t, err) {
			return
		}
		n := nativecode.Open(f, target.ArchARM64, &target.Module{Base: base, Size: 0x1000, Path: "/app"})
		found, _ := n.Find(base + 0x400)
		assert.Equal(t, want, found.Format, "%#x", entry)
	}
}

// TestCompactNative finds code by the compact unwind information of a Mach-O image.
func TestCompactNative(t *testing.T) {
	const base = 0x7fff_2000_0000
	section := synth.Fields([]uint32{1, 28, 0, 28, 0, 28, 2, 0x400, 52, 0, 0x800, 0, 0, 2, 8 | 1<<16, 0x400, 0x04000000})
	for name, where := range map[string]uint64{"of this image": 0x1200, "past the image": 0x9000} {
		header := (&synth.MachOImage{CPU: 0x0100000c, Name: "/libx.dylib", Segments: []synth.MachOSegment{
			{Name: "__TEXT", Size: 0x2000, FileSize: 0x2000, Prot: 5, Sections: []synth.MachOSection{{Name: "__unwind_info", Addr: where, Size: uint64(len(section))}}},
		}}).Header()
		text := make([]byte, 0x2000)
		copy(text, header)
		copy(text[0x1200:], section)
		core := &synth.MachOCore{CPU: 0x0100000c, Segments: []synth.MachOSegment{{Addr: base, Data: text, Prot: 5}}}
		f, err := machocore.Open(target.BytesSource(core.Bytes()))
		require.NoError(t, err)
		n := nativecode.Open(f, target.ArchARM64, &target.Module{Base: base, Size: 0x2000, Path: "/libx.dylib"})
		found, ok := n.Find(base + 0x700)
		if name != "of this image" {
			assert.False(t, ok, name)
			continue
		}
		require.True(t, ok, name)
		assert.Equal(t, unwind.Code{Range: target.Range{Start: base + 0x400, End: base + 0x800}, Format: unwind.FormatCompact, Base: base, Packed: 0x04000000}, found)
	}
}
