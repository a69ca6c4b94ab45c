package modfiles

import (
	"errors"
	"testing"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// FuzzPDB opens arbitrary files as the PDB of a module. Only one with the right id is accepted.
func FuzzPDB(f *testing.F) {
	head := []byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00\x0c\x00\x00\x00PDB v1.0\x00\x00\x00\x00\x00\x00\x01\x00\x30\x00\x00\x00\x20\x00\x00\x00#Pdb\x00\x00\x00\x00")
	f.Add(append(head, make([]byte, 64)...), make([]byte, 16))
	f.Fuzz(func(t *testing.T, b, id []byte) {
		var guid target.GUID
		copy(guid[:], id)
		got, err := pdbContent(target.BytesSource(b), guid)
		if err != nil {
			if !errors.Is(err, target.ErrCorrupt) && !errors.Is(err, target.ErrUnsupported) && !errors.Is(err, target.ErrNotInDump) {
				t.Fatal(err)
			}
			return
		}
		if len(got) != len(b) {
			t.Fatalf("%d bytes of %d", len(got), len(b))
		}
		if md, err := metadata.Parse(got); err == nil {
			_ = md.PDB()
		}
	})
}
