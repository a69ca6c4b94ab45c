package image

import (
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/cursor"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// pdbIDSize is the size of a portable PDB's id: a GUID and a stamp (portable PDB v1.0, "#Pdb stream").
const pdbIDSize = 20

// PortablePDBID reads the GUID of the portable PDB of size bytes in r. No more than its head is read, so that a file
// can be refused before it costs anything. What is no portable PDB is target.ErrCorrupt.
func PortablePDBID(r io.ReaderAt, size int64) (target.GUID, error) {
	var id target.GUID
	if r == nil || size < 0 {
		return id, target.Unsupportedf("a PDB without a reader")
	}
	head := make([]byte, min(size, limits.PDBHead))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return id, fmt.Errorf("head of a PDB: %w", err)
	}
	c := cursor.New(head, 0)
	if magic := c.Take(len(metadataMagic)); string(magic) != metadataMagic {
		return id, target.Corruptf("no portable PDB: it begins with % x", magic)
	}
	c.Skip(8)
	c.Skip(c.Count(1)) // version string
	c.Skip(2)
	for range c.Uint16() {
		off := c.Uint32()
		c.Skip(4)
		name := streamName(c)
		if c.Err() != nil {
			break
		}
		if name != "#Pdb" {
			continue
		}
		b := make([]byte, pdbIDSize)
		if int64(off) > size-pdbIDSize {
			return id, target.Corruptf("no portable PDB: its id would lie at %#x of %d bytes", off, size)
		}
		if n, err := r.ReadAt(b, int64(off)); n < len(b) {
			return id, fmt.Errorf("id of a PDB: %w", err)
		}
		copy(id[:], b)
		return id, nil
	}
	return id, target.Corruptf("no portable PDB: it has no #Pdb stream")
}
