package image

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// An embedded portable PDB in the debug directory (PE-COFF.md of dotnet/runtime, "Embedded Portable
// PDB Debug Directory Entry") has a signature, its unpacked size, and a deflate stream.
const (
	debugEmbeddedPDB     = 17
	embeddedPDBSignature = "MPDB"
	embeddedPDBHead      = 8
)

// EmbeddedPDB returns the portable PDB inside of the image if it has the given GUID. It is
// target.ErrUnsupported if it is missing, and target.ErrLimit if it unpacks to more than most bytes.
func (im *Image) EmbeddedPDB(guid target.GUID, most int64) ([]byte, error) {
	entries, err := im.debugEntries(debugEmbeddedPDB)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, target.Unsupportedf("the image has no PDB in itself")
	}
	entry := entries[0]
	n := le32(entry, 16)
	if n < embeddedPDBHead || uint64(n) > limits.EmbeddedPDB {
		return nil, target.Corruptf("embedded PDB of %d bytes", n)
	}
	data, err := im.debugData(RVA(le32(entry, 20)), uint64(le32(entry, 24)), int(n))
	if err != nil {
		return nil, fmt.Errorf("embedded PDB: %w", err)
	}
	return unpackPDB(data, guid, most)
}

// unpackPDB unpacks an embedded PDB. It unpacks the head first to check the id, and then at most
// the size in the entry, within the limits of a PDB.
func unpackPDB(data []byte, guid target.GUID, most int64) ([]byte, error) {
	size := uint64(le32(data, 4))
	if string(data[:4]) != embeddedPDBSignature || size > limits.EmbeddedPDB || size > limits.EmbeddedRatio*uint64(len(data)) {
		return nil, target.Corruptf("embedded PDB %q of %d bytes in %d", data[:4], size, len(data))
	}
	if int64(size) > most {
		return nil, target.Limitf("the embedded PDB unpacks to %d bytes, and there is room for %d", size, most)
	}
	z := flate.NewReader(bytes.NewReader(data[embeddedPDBHead:]))
	head := make([]byte, min(size, limits.PDBHead))
	if _, err := io.ReadFull(z, head); err != nil {
		return nil, target.Corruptf("embedded PDB: %w", err)
	}
	// Compilers write the id in the head.
	got, err := PortablePDBID(bytes.NewReader(head), int64(len(head)))
	if err != nil {
		return nil, fmt.Errorf("embedded PDB: %w", err)
	}
	if got != guid {
		return nil, target.Corruptf("the embedded PDB has the id %v, the module names %v", got, guid)
	}
	out := make([]byte, size)
	n := copy(out, head)
	if _, err := io.ReadFull(z, out[n:]); err != nil {
		return nil, target.Corruptf("embedded PDB: %w", err)
	}
	return out, z.Close()
}
