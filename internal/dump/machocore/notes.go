package machocore

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/macho"
	"github.com/sosgo/sosgo/target"
)

// The owners of the notes that are decoded.
const (
	noteImages   = "all image infos"
	noteMain     = "main bin spec"
	noteBits     = "addrable bits"
	noteMetadata = "process metadata"
)

// noAddress is an address or offset that the writer of a note did not know.
const noAddress = math.MaxUint64

// A Note is an LC_NOTE.
type Note struct {
	Owner  string // "all image infos", …
	Offset int64  // of Data in the file, in bytes
	Data   []byte // read-only, valid until the dump is closed
}

// Notes lists all notes in the file's order, including those that are not decoded. A note past the
// end of the file has no data.
func (f *File) Notes() []Note { return slices.Clone(f.notes) }

// addNote decodes a note_command: an owner, and the position of its data in the file.
func (b *builder) addNote(cmd *macho.Command) {
	c := cursor.New(cmd.Data, cmd.Off)
	c.Skip(macho.CommandSize)
	n := Note{Owner: macho.Text(c.Take(16))}
	off, size := c.Uint64(), c.Uint64()
	if c.Err() != nil {
		b.Warn(&FormatError{Format: format, Off: cmd.Off, Msg: "a note is not used", Err: c.Err()})
		return
	}
	file := uint64(b.src.Size())
	have := min(size, file-min(off, file))
	if have < size {
		b.CutNotes += min(size-have, math.MaxInt64-min(b.CutNotes, math.MaxInt64))
		b.Warn(target.Corruptf("%d of %d bytes of the note %q are in the file", have, size, n.Owner))
	}
	if off < file {
		n.Offset = int64(off)
		var err error
		if n.Data, err = corefile.ReadAt(b.src, off, min(have, limits.NoteBytes)); err != nil {
			b.Warn(&FormatError{Format: format, Off: int64(off), Msg: "a note can't be read", Err: err})
		}
	}
	b.notes = append(b.notes, n)
}

// note returns the data of the first note with an owner, or nil.
func (b *builder) note(owner string) []byte {
	for i := range b.notes {
		if b.notes[i].Owner == owner {
			return b.notes[i].Data
		}
	}
	return nil
}

// addressBits is the width of the addresses of a process on ARM64 (xnu: MACH_VM_MAX_ADDRESS of
// osfmk/mach/arm/vm_param.h).
const addressBits = 47

// readSignatures sets the signature bits of code addresses. The system's libraries sign return
// addresses in every ARM64 process. The note gives the width of addresses; since version 4 the
// first width is for processes.
func (b *builder) readSignatures() {
	if b.Platform.Arch != target.ArchARM64 {
		return
	}
	bits := uint32(addressBits)
	if data := b.note(noteBits); data != nil {
		c := cursor.New(data, 0)
		version, n := c.Uint32(), c.Uint32()
		if c.Err() == nil && (version == 3 || version == 4) && n > 0 && n < 64 {
			bits = n
		}
	}
	for i := range b.Threads {
		b.Threads[i].Registers.Signature = ^uint64(0) << bits
	}
}

// metadataIDs returns the thread ids that lldb recorded, in order. It returns nil unless all
// threads have one.
func (b *builder) metadataIDs() []uint32 {
	data := b.note(noteMetadata)
	if data == nil || len(data) > limits.CrashReportBytes {
		return nil
	}
	var d struct {
		Threads []struct {
			ID *uint64 `json:"thread_id"`
		} `json:"threads"`
	}
	if err := json.Unmarshal(bytes.TrimRight(data, "\x00"), &d); err != nil {
		b.Warn(target.Corruptf("the note %q is not used: %w", noteMetadata, err))
		return nil
	}
	var out []uint32
	seen := map[uint32]bool{}
	for _, t := range d.Threads {
		if t.ID == nil || seen[uint32(*t.ID)] {
			return nil
		}
		seen[uint32(*t.ID)] = true
		out = append(out, uint32(*t.ID))
	}
	return out
}

// mainProgram returns the address of the program that a note names.
func (b *builder) mainProgram() (target.Addr, bool) {
	data := b.note(noteMain)
	c := cursor.New(data, 0)
	version := c.Uint32()
	c.Skip(4) // the kind of program
	a := c.Uint64()
	return target.Addr(a), c.Err() == nil && version >= 1 && a != noAddress && a != 0
}

// Sizes in the note "all image infos", in bytes.
const (
	imageEntrySize = 48
	uuidSize       = 16
)

// notedImages returns the images that a note lists, with their addresses, UUIDs and paths.
func (b *builder) notedImages() []loaded {
	c := cursor.New(b.note(noteImages), 0)
	version, count, entries, size := c.Uint32(), c.Uint32(), c.Uint64(), c.Uint32()
	if c.Err() != nil || version == 0 {
		return nil
	}
	if size < imageEntrySize || uint64(count) > uint64(b.src.Size())/uint64(size) || count > limits.Modules {
		b.Warn(target.Corruptf("the note %q is not used: %d entries of %d bytes", noteImages, count, size))
		return nil
	}
	var out []loaded
	for i := range uint64(count) {
		data, err := corefile.ReadAt(b.src, entries+i*uint64(size), imageEntrySize)
		if err != nil {
			b.Warn(target.Corruptf("the note %q ends after %d of %d images: %w", noteImages, i, count, err))
			break
		}
		c := cursor.New(data, 0)
		path, uuid, base := c.Uint64(), c.Take(uuidSize), c.Uint64()
		if base == noAddress || base == 0 {
			continue
		}
		im := loaded{base: target.Addr(base), listed: true}
		if bytes.Count(uuid, []byte{0}) < uuidSize {
			im.uuid = uuid
		}
		if path != noAddress {
			im.path = b.textAt(path)
		}
		out = append(out, im)
	}
	return out
}

// textAt returns the text at an offset of the file, or "".
func (b *builder) textAt(off uint64) string {
	size := uint64(b.src.Size())
	if off >= size {
		return ""
	}
	data, err := corefile.ReadAt(b.src, off, min(size-off, limits.PathBytes))
	if err != nil || bytes.IndexByte(data, 0) < 0 {
		return ""
	}
	return macho.Text(data)
}
