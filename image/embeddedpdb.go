package image

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// An embedded portable PDB in the debug directory (PE-COFF.md of
// dotnet/runtime, "Embedded Portable PDB Debug Directory Entry"): a signature,
// the size once it is unpacked, and a deflate stream.
const (
	debugEmbeddedPDB     = 17
	embeddedPDBSignature = "MPDB"
	embeddedPDBHead      = 8
	deflateRatio         = 1032 // the most that deflate can shrink
)

// EmbeddedPDB returns the portable PDB that stands in the image itself. An image
// without one is target.ErrUnsupported.
func (im *Image) EmbeddedPDB() ([]byte, error) {
	d, err := im.peDirectory(dirDebug, "debug directory")
	if err != nil {
		return nil, err
	}
	b, err := im.directory(d, debugEntries*debugEntrySize)
	if err != nil {
		return nil, fmt.Errorf("debug directory: %w", err)
	}
	for ; len(b) >= debugEntrySize; b = b[debugEntrySize:] {
		if le32(b, 12) != debugEmbeddedPDB {
			continue
		}
		n := le32(b, 16)
		if n < embeddedPDBHead || uint64(n) > limits.MetadataSize {
			return nil, target.Corruptf("embedded PDB of %d bytes", n)
		}
		data, err := im.debugData(RVA(le32(b, 20)), uint64(le32(b, 24)), int(n))
		if err != nil {
			return nil, fmt.Errorf("embedded PDB: %w", err)
		}
		return unpackPDB(data)
	}
	return nil, target.Unsupportedf("the image has no PDB in itself")
}

func unpackPDB(data []byte) ([]byte, error) {
	size := uint64(le32(data, 4))
	if string(data[:4]) != embeddedPDBSignature || size > limits.MetadataSize || size > deflateRatio*uint64(len(data)) {
		return nil, target.Corruptf("embedded PDB %q of %d bytes in %d", data[:4], size, len(data))
	}
	out := make([]byte, size)
	z := flate.NewReader(bytes.NewReader(data[embeddedPDBHead:]))
	if _, err := io.ReadFull(z, out); err != nil {
		return nil, target.Corruptf("embedded PDB: %w", err)
	}
	return out, z.Close()
}
