package image

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// ErrMismatch reports a file that is not the loaded one.
var ErrMismatch = errors.New("not the file that was loaded")

// An Identity distinguishes builds of a file, as far as the dump records them for a module. Each
// field that is not zero must agree. The zero value has no information.
type Identity struct {
	BuildID       []byte   // ELF; the UUID of Mach-O
	TimeDateStamp uint32   // PE, with SizeOfImage
	SizeOfImage   uint32   // PE
	MVID          [16]byte // managed images, as stored
}

// IdentityOf reads the identity of m from a dump's module list and memory.
func IdentityOf(mem target.Memory, m *target.Module) Identity {
	id := Identity{TimeDateStamp: m.TimeDateStamp, SizeOfImage: m.SizeOfImage}
	if !m.BuildIDCut {
		id.BuildID = m.BuildID
	}
	im, err := OpenMemory(mem, m)
	if err != nil {
		return id
	}
	if b, err := im.BuildID(); err == nil {
		id.BuildID = b
	}
	if id.SizeOfImage == 0 && im.HasHeaders() {
		id.TimeDateStamp, id.SizeOfImage = im.TimeDateStamp(), im.SizeOfImage()
	}
	if v, err := im.MVID(); err == nil {
		id.MVID = v
	}
	return id
}

// String returns the build id, or the time stamp and the size.
func (id Identity) String() string {
	if len(id.BuildID) > 0 {
		return "build id " + hex.EncodeToString(id.BuildID)
	}
	if id.SizeOfImage != 0 {
		return fmt.Sprintf("timestamp %08x size %x", id.TimeDateStamp, id.SizeOfImage)
	}
	return "unknown build"
}

// Known reports whether any part of the identity is set.
func (id *Identity) Known() bool {
	return len(id.BuildID) > 0 || id.SizeOfImage != 0 || id.MVID != [16]byte{}
}

// Kind returns the name of the field that Check compares.
func (id *Identity) Kind() string {
	switch {
	case len(id.BuildID) > 0:
		return "build id"
	case id.MVID != [16]byte{}:
		return "MVID"
	case id.SizeOfImage != 0:
		return "time stamp and size"
	}
	return "nothing"
}

// Check compares a file with the identity. It returns an error that wraps ErrMismatch, with the
// difference, or the reason why the file is unreadable.
func (id *Identity) Check(im *Image) error {
	if len(id.BuildID) > 0 {
		got, err := im.BuildID()
		if err != nil {
			return err
		}
		if !bytes.Equal(got, id.BuildID) {
			return fmt.Errorf("build id %x, not %x: %w", got, id.BuildID, ErrMismatch)
		}
	}
	if id.SizeOfImage != 0 && (im.TimeDateStamp() != id.TimeDateStamp || im.SizeOfImage() != id.SizeOfImage) {
		return fmt.Errorf("time stamp %08x and size %#x, not %08x and %#x: %w",
			im.TimeDateStamp(), im.SizeOfImage(), id.TimeDateStamp, id.SizeOfImage, ErrMismatch)
	}
	if id.MVID != [16]byte{} {
		got, err := im.MVID()
		if err != nil {
			return err
		}
		if got != id.MVID {
			return fmt.Errorf("MVID %x, not %x: %w", got, id.MVID, ErrMismatch)
		}
	}
	return nil
}

// pdbIDSize is the size of a portable PDB's id: a GUID and a stamp (portable PDB v1.0, "#Pdb
// stream").
const pdbIDSize = 20

// PortablePDBID reads the GUID of the portable PDB of size bytes in r. It reads only the head, so
// that rejecting a file is cheap. Other files are target.ErrCorrupt.
func PortablePDBID(r io.ReaderAt, size int64) (target.GUID, error) {
	var id target.GUID
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
