package elfcore_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// text returns s, padded with zeros to n bytes.
func text(s string, n int) []byte {
	b := make([]byte, n)
	copy(b, s)
	return b
}

func freeBSD() *synth.ELFCore {
	status := func(id, signal uint32, first uint64) synth.ELFNote {
		var r [15]uint64
		for i := range r {
			r[i] = first + uint64(i) // first is r15
		}
		return synth.ELFNote{Owner: "FreeBSD", Type: 1, Desc: synth.Fields(uint32(1), uint32(0), uint64(224), uint64(176), uint64(512), uint32(1400000), signal, id, uint32(0),
			r, uint32(6), uint16(0x13), uint16(0x1b), uint32(4), uint16(0x3b), uint16(0x3c), uint64(0x401234), uint64(0x43), uint64(0x246), uint64(0x7ffe00000100), uint64(0x3d))}
	}
	mapping := func(start, end, offset uint64, path string) []byte {
		b := synth.Fields(uint32(136+len(path)+1), uint32(2), start, end, offset, make([]byte, 104), []byte(path), byte(0))
		b = append(b, make([]byte, -len(b)&7)...)
		copy(b, synth.Fields(uint32(len(b))))
		return b
	}
	maps := append(synth.Fields(uint32(1160)), mapping(0x400000, 0x402000, 0, "/usr/bin/app")...)
	maps = append(maps, mapping(0x800000, 0x804000, 0, "/lib/libc.so.7")...)
	return &synth.ELFCore{
		Notes: []synth.ELFNote{
			{Owner: "FreeBSD", Type: 3, Desc: synth.Fields(uint32(1), uint32(0), uint64(120), text("app", 17), text("./app -x", 81), uint16(0), uint32(77))},
			status(100200, 10, 0x1000), {Owner: "FreeBSD", Type: 7, Desc: text("main", 24)},
			status(100201, 10, 0x2000),
			{Owner: "FreeBSD", Type: 10, Desc: maps},
			{Owner: "FreeBSD", Type: 16, Desc: append(synth.Fields(uint32(16)), synth.Fields([]uint64{3, 0x400040, 9, 0x401000, 0, 0})...)},
		},
		Segments: []synth.ELFSegment{{Addr: 0x7ffe00000000, Data: make([]byte, 0x1000), Flags: 6}},
	}
}

func TestFreeBSD(t *testing.T) {
	f := open(t, freeBSD())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, target.OSFreeBSD, f.Platform().OS)
	assert.EqualValues(t, 77, f.Process().ID)
	assert.Equal(t, "./app -x", f.Process().Command)
	threads := f.Threads()
	require.Len(t, threads, 2)
	assert.EqualValues(t, 100200, threads[0].ID)
	assert.Equal(t, "main", threads[0].Name)
	want := map[target.Reg]uint64{target.R15: 0x1000, target.RAX: 0x100e, target.RDI: 0x1008, target.RIP: 0x401234, target.RSP: 0x7ffe00000100, target.FS: 0x13, target.SS: 0x3d, target.EFLAGS: 0x246}
	for r, v := range want {
		got, ok := threads[0].Registers.Get(r)
		assert.True(t, ok)
		assert.Equal(t, v, got, target.RegName(target.ArchAMD64, r))
	}
	assert.Equal(t, []string{"400000+2000 /usr/bin/app x1", "800000+4000 /lib/libc.so.7 x1"}, describe(f.Modules()))
	assert.Equal(t, []elfcore.AuxEntry{{Tag: 3, Value: 0x400040}, {Tag: 9, Value: 0x401000}}, f.Auxv())
	e, ok := f.Exception()
	require.True(t, ok)
	assert.EqualValues(t, 100200, e.ThreadID)
	assert.Equal(t, "SIGBUS", e.Words, "10 is not SIGUSR1 there")
	assert.Nil(t, e.Signal, "its numbers are Linux's")
}

func netBSD() *synth.ELFCore {
	process := synth.Fields(uint32(1), uint32(160), uint32(11), uint32(1), make([]byte, 64), uint32(88), make([]byte, 36), uint32(2), text("app", 32), uint32(2))
	registers := func(id int, rip uint64) synth.ELFNote {
		var r [26]uint64
		for i := range r {
			r[i] = uint64(i)
		}
		r[21], r[24] = rip, 0x7f7f00000100
		return synth.ELFNote{Owner: fmt.Sprintf("NetBSD-CORE@%d", id), Type: 33, Desc: synth.Fields(r)}
	}
	return &synth.ELFCore{
		Notes:    []synth.ELFNote{{Owner: "NetBSD-CORE", Type: 1, Desc: process}, registers(1, 0x401000), registers(2, 0x402000)},
		Segments: []synth.ELFSegment{{Addr: 0x7f7f00000000, Data: make([]byte, 0x1000), Flags: 6}},
	}
}

func TestNetBSD(t *testing.T) {
	f := open(t, netBSD())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, target.OSNetBSD, f.Platform().OS)
	assert.EqualValues(t, 88, f.Process().ID)
	assert.Equal(t, "app", f.Process().Command)
	require.Len(t, f.Threads(), 2)
	e, ok := f.Exception()
	require.True(t, ok)
	assert.EqualValues(t, 2, e.ThreadID)
	assert.Equal(t, "SIGSEGV", e.Words)
	ip, _ := e.Registers.IP()
	assert.EqualValues(t, 0x402000, ip)
	rdi, _ := e.Registers.Get(target.RDI)
	rax, _ := e.Registers.Get(target.RAX)
	assert.Equal(t, []uint64{0, 14}, []uint64{rdi, rax})
}

// TestOtherSystems: threads of systems that are not supported are missing.
func TestOtherSystems(t *testing.T) {
	f := open(t, &synth.ELFCore{
		Notes:    []synth.ELFNote{{Owner: "OpenBSD", Type: 10, Desc: make([]byte, 200)}, {Owner: "OpenBSD@7", Type: 20, Desc: make([]byte, 200)}},
		Segments: []synth.ELFSegment{{Addr: 0x10000, Data: fill(8)}},
	})
	assert.Equal(t, target.OSOpenBSD, f.Platform().OS)
	require.Len(t, f.Warnings(), 1)
	assert.ErrorIs(t, f.Warnings()[0], target.ErrUnsupported)
	assert.Empty(t, f.Threads())
}

// TestDamagedBSD cuts each note of the BSDs at each length.
func TestDamagedBSD(t *testing.T) {
	for _, whole := range []*synth.ELFCore{freeBSD(), netBSD()} {
		for i := range whole.Notes {
			for n := range whole.Notes[i].Desc {
				c := *whole
				c.Notes = append([]synth.ELFNote(nil), whole.Notes...)
				c.Notes[i].Desc = whole.Notes[i].Desc[:n]
				f, err := elfcore.Open(target.BytesSource(c.Bytes()))
				require.NoError(t, err)
				for _, w := range f.Warnings() {
					assert.ErrorIs(t, w, target.ErrCorrupt)
				}
			}
		}
	}
}
