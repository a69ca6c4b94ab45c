package image

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// ErrMismatch reports a file that is not the one that was loaded.
var ErrMismatch = errors.New("not the file that was loaded")

// An Identity distinguishes one build of a file from another, as far as the dump records it for a module. The zero
// value has no information; each part that is not zero must agree.
type Identity struct {
	BuildID       []byte   // ELF
	TimeDateStamp uint32   // PE, with SizeOfImage
	SizeOfImage   uint32   // PE
	MVID          [16]byte // managed images, as stored
}

// IdentityOf reads the identity of m from a dump's module list and memory.
func IdentityOf(mem target.Memory, m *target.Module) Identity {
	if m == nil {
		return Identity{}
	}
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

// String names the build by its build id, or its time stamp and size.
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

// Kind names what Check goes by.
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

// Check compares a file to the identity. It returns ErrMismatch with the difference, or why the file is unreadable.
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
