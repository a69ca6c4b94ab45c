package elfcore_test

import (
	"errors"
	"testing"

	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// FuzzNotes opens cores with arbitrary content in two notes of the kernel's types, and follows the
// lists in them.
func FuzzNotes(f *testing.F) {
	// NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE, NT_SIGINFO, NT_FPREGSET, NT_X86_XSTATE.
	kinds := []uint32{1, 3, 6, 0x46494c45, 0x53494749, 2, 0x202}
	for i, n := range small().Notes {
		f.Add(uint8(i), n.Desc, uint8(i+1), n.Desc)
	}
	f.Fuzz(func(t *testing.T, kind uint8, desc []byte, other uint8, more []byte) {
		c := small()
		c.Notes = append([]synth.ELFNote{
			{Owner: "CORE", Type: kinds[int(kind)%len(kinds)], Desc: desc}, {Owner: "CORE", Type: kinds[int(other)%len(kinds)], Desc: more},
		}, c.Notes[:2]...)
		d, err := elfcore.Open(target.BytesSource(c.Bytes()))
		if err != nil {
			if !errors.Is(err, target.ErrCorrupt) && !errors.Is(err, target.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		touch(d)
	})
}
