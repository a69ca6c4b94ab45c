package code_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/dump/elfcore"
	"github.com/sosgo/sosgo/image/unwind"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// TestProgramEntry: where the system starts a program there may be no unwind data; nobody called it.
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
		n := code.OpenNative(f, target.ArchARM64, &target.Module{Base: base, Size: 0x1000, Path: "/app"})
		found, _ := n.Find(base + 0x400)
		assert.Equal(t, want, found.Format, "%#x", entry)
	}
}
