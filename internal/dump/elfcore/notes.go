package elfcore

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A NoteType is the type of a note with owner CORE or LINUX (elf.h, NT_*).
type NoteType uint32

// The notes that are decoded.
const (
	NotePRStatus NoteType = 1          // a thread: id, signal, integer registers
	NoteFPRegSet NoteType = 2          // its floating-point registers
	NotePRPSInfo NoteType = 3          // the process
	NoteAuxv     NoteType = 6          // the auxiliary vector
	NoteFile     NoteType = 0x46494c45 // the mapped files
	NoteSigInfo  NoteType = 0x53494749 // the signal

	NoteSignatures NoteType = 0x406 // signature bits in a thread's addresses; owner LINUX
)

// The owners of these notes.
const ownerCore, ownerLinux = "CORE", "LINUX"

func (t NoteType) String() string {
	switch t {
	case NotePRStatus:
		return "NT_PRSTATUS"
	case NoteFPRegSet:
		return "NT_FPREGSET"
	case NotePRPSInfo:
		return "NT_PRPSINFO"
	case NoteAuxv:
		return "NT_AUXV"
	case NoteFile:
		return "NT_FILE"
	case NoteSigInfo:
		return "NT_SIGINFO"
	case 0x202:
		return "NT_X86_XSTATE"
	case 0x204:
		return "NT_X86_SHSTK"
	case 0x205:
		return "NT_X86_XSAVE_LAYOUT"
	case 0x401:
		return "NT_ARM_TLS"
	case 0x405:
		return "NT_ARM_SVE"
	case NoteSignatures:
		return "NT_ARM_PAC_MASK"
	}
	return fmt.Sprintf("NoteType(%#x)", uint32(t))
}

// A Note is an entry of a PT_NOTE segment.
type Note struct {
	Owner  string // "CORE", "LINUX", …
	Type   NoteType
	Offset int64  // of Data in the file, in bytes
	Data   []byte // read-only, valid until the dump is closed
}

// Notes lists all notes in the file's order, including those that are not decoded.
func (f *File) Notes() []Note { return slices.Clone(f.notes) }

// ThreadsCut reports whether notes lie past the end of the file: they hold the threads and the signal.
func (f *File) ThreadsCut() bool { return f.NotesCut() > 0 }

// readNotes reads the notes of all segments.
func (b *builder) readNotes(src target.Source) {
	for i := range b.segments {
		if s := &b.segments[i]; s.typ == progNote {
			b.readNoteSegment(src, s)
		}
	}
}

// readLeftOut returns the note of sosgo shrink, which has its own segment, or nil. A damaged note is
// an error and not a warning: without it, memory that was left out would be read as data.
func (b *builder) readLeftOut(src target.Source) (*leftout.Note, error) {
	const head = 12
	for i := range b.segments {
		s := &b.segments[i]
		if s.typ != progNote || s.fileSize > limits.FileNoteBytes {
			continue
		}
		start, err := corefile.ReadAt(src, s.off, min(s.fileSize, head+uint64(len(leftout.Owner))))
		if err != nil || !bytes.HasSuffix(start, []byte(leftout.Owner)) {
			continue // readNotes warns
		}
		data, err := corefile.ReadAt(src, s.off, s.fileSize)
		if err != nil {
			return nil, target.Corruptf("the note of sosgo shrink is cut off: which memory was left out is unknown")
		}
		n := nextNote(cursor.New(data, int64(s.off)), int64(s.off))
		return leftout.Decode(n.Data)
	}
	return nil, nil
}

// restoreSegments puts the segments of the original core in the place of the pieces that sosgo shrink
// made of them.
func (b *builder) restoreSegments(note *leftout.Note) {
	whole := slices.DeleteFunc(decodeSegments(note.Segments[:len(note.Segments)/progSize*progSize]), func(s segment) bool { return s.typ != progLoad })
	rest := slices.DeleteFunc(b.segments, func(s segment) bool { return s.typ == progLoad })
	b.segments = append(rest, whole...)
	b.loads = sortedLoads(b.segments)
}

func (b *builder) readNoteSegment(src target.Source, s *segment) {
	size := uint64(src.Size())
	if end := min(s.fileSize, math.MaxInt64); end > size-min(s.off, size) {
		b.CutNotes += min(end-(size-min(s.off, size)), math.MaxInt64-min(b.CutNotes, math.MaxInt64))
	}
	if s.off >= size {
		b.Warn(target.Corruptf("the notes lie past the end of the file: threads and modules are missing"))
		return
	}
	n := min(s.fileSize, size-s.off, limits.NoteBytes)
	if n < s.fileSize {
		b.Warn(target.Corruptf("%d of %d bytes of notes are in the file", n, s.fileSize))
	}
	data, err := corefile.ReadAt(src, s.off, n)
	if err != nil {
		b.Warn(fmt.Errorf("the notes can't be read: %w", err))
		return
	}
	c := cursor.New(data, int64(s.off))
	for c.Len() > 0 {
		if int64(len(b.notes)) >= b.limits.Notes {
			b.Warn(target.Limitf("more than %d notes: the rest is left out (limit notes)", b.limits.Notes))
			return
		}
		n := nextNote(c, int64(s.off))
		if c.Err() != nil {
			b.Warn(&FormatError{Format: format, Off: int64(s.off) + int64(c.Offset()), Msg: "the notes end inside a note", Err: c.Err()})
			return
		}
		if n.Owner != "" || n.Type != 0 || len(n.Data) > 0 {
			b.notes = append(b.notes, n)
		}
	}
}

// nextNote decodes an Elf64_Nhdr. Its name and data are padded to four bytes; the last note may
// have no padding.
func nextNote(c *cursor.Cursor, base int64) Note {
	nameSize, dataSize := c.Uint32(), c.Uint32()
	n := Note{Type: NoteType(c.Uint32())}
	n.Owner = owner(c.Take(int(nameSize)))
	c.Skip(padding(nameSize))
	n.Offset = base + int64(c.Offset())
	n.Data = c.Take(int(dataSize))
	c.Skip(min(padding(dataSize), c.Len()))
	return n
}

// owner returns the owner of a note. It does not allocate for the common ones.
func owner(b []byte) string {
	b = bytes.TrimRight(b[:min(len(b), limits.NoteOwnerBytes)], "\x00")
	for _, s := range [...]string{ownerCore, ownerLinux, ""} {
		if string(b) == s {
			return s
		}
	}
	return string(b)
}

func padding(n uint32) int { return int(-n & 3) }

// decodeNotes decodes the supported notes. The notes of a thread follow its NT_PRSTATUS.
func (b *builder) decodeNotes() {
	b.kernelOrder = len(b.notes) > 0 && b.notes[0].Type == NotePRStatus
	for i := range b.notes {
		n := &b.notes[i]
		if os := b.Platform.OS; os == target.OSFreeBSD && n.Owner == ownerFreeBSD || os == target.OSNetBSD {
			if err := b.decodeBSD(n); err != nil {
				b.Warn(&FormatError{Format: format, Off: n.Offset, Msg: fmt.Sprintf("note %d of %s is not used", uint32(n.Type), n.Owner), Err: err})
			}
			continue
		}
		// createdump writes no further registers, such as NT_X86_XSTATE. gdb does, and leaves out what the process keeps out of cores (VM_DONTDUMP).
		if b.Platform.OS == target.OSLinux && n.Owner == ownerLinux {
			b.ListsAll, b.KeptOut = b.ListsAll || b.kernelOrder, b.KeptOut || !b.kernelOrder
		}
		if b.Platform.OS != target.OSLinux || n.Owner != ownerCore && (n.Owner != ownerLinux || n.Type != NoteSignatures) {
			continue
		}
		var err error
		switch n.Type {
		case NoteSignatures:
			err = b.addSignature(n)
		case NotePRStatus:
			err = b.addThread(n)
		case NoteFPRegSet:
			b.addFloat(n)
		case NotePRPSInfo:
			err = b.decodeProcess(n)
		case NoteAuxv:
			b.decodeAuxv(n)
		case NoteFile:
			err = b.decodeFiles(n)
		case NoteSigInfo:
			err = b.decodeSignal(n)
		}
		if err != nil {
			b.Warn(&FormatError{Format: format, Off: n.Offset, Msg: n.Type.String() + " is not used", Err: err})
		}
	}
	b.moveProcessTimes()
}

// moveProcessTimes moves the times of the process's first thread to the process: the kernel stores
// there the sum over all threads, including ended ones (fill_prstatus in fs/binfmt_elf.c). The
// thread's own times are unknown. If all times are zero, the writer records none: createdump and gdb leave them out.
func (b *builder) moveProcessTimes() {
	recorded := slices.ContainsFunc(b.Threads, func(t target.Thread) bool { return t.User+t.Kernel > 0 })
	moved := false
	for i := range b.Threads {
		t := &b.Threads[i]
		t.Timed = recorded
		if moved || b.Process.ID == 0 || t.ID != b.Process.ID || t.User+t.Kernel == 0 {
			continue
		}
		b.Process.Times = &target.Times{User: t.User, Kernel: t.Kernel}
		t.User, t.Kernel, t.Timed, moved = 0, 0, false, true
	}
}

// decodeProcess decodes an elf_prpsinfo.
func (b *builder) decodeProcess(n *Note) error {
	c := cursor.New(n.Data, n.Offset)
	c.Seek(24)
	pid := c.Uint32()
	c.Seek(40)
	name := cstring(c.Take(16))
	args := cstring(c.Take(80))
	if c.Err() != nil {
		return c.Err()
	}
	b.Process.ID, b.Process.Command = pid, name
	if args = strings.TrimSpace(args); args != "" {
		b.Process.Command = args
	}
	return nil
}

// cstring returns the text in b up to its first NUL.
func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// An AuxEntry is an entry of the auxiliary vector that the kernel passed to the process.
type AuxEntry struct{ Tag, Value uint64 }

// The tags in use (elf.h and linux/auxvec.h, AT_*).
const (
	auxProgHeaders = 3
	auxProgCount   = 5
	auxPage        = 6
	auxEntry       = 9
	auxExecName    = 31
	auxVDSO        = 33
)

// Auxv returns the auxiliary vector without its terminator. It is empty if the core does not have
// it.
func (f *File) Auxv() []AuxEntry { return slices.Clone(f.auxv) }

// Environment lists the environment variables of the process as NAME=VALUE, in order. It is empty
// if the core does not have them. The kernel stores them on the first stack, right before the name
// of the program (AT_EXECFN); the process may have overwritten them. They may hold secrets.
func (f *File) Environment() []string {
	name, ok := auxValue(f.auxv, auxExecName)
	if !ok || name == 0 {
		return nil
	}
	block := min(name, limits.EnvironmentBytes)
	b := make([]byte, block)
	from := target.Addr(name - block)
	for len(b) > 0 {
		n, _ := f.ReadMemory(b, from)
		if n == len(b) {
			break
		}
		// The unreadable part is before the strings.
		skip := min(n+1, len(b))
		if next, ok := target.NextStored(f, from+target.Addr(skip)); ok && next < target.Addr(name) {
			skip = int(next - from)
		} else {
			skip = len(b)
		}
		b, from = b[skip:], from+target.Addr(skip)
	}
	var out []string
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
		start := bytes.LastIndexByte(b, 0) + 1
		if start == 0 || bytes.IndexByte(b[start:], '=') <= 0 {
			break // the arguments begin here
		}
		out = append(out, string(b[start:]))
		b = b[:start]
	}
	slices.Reverse(out)
	return out
}

func (b *builder) decodeAuxv(n *Note) {
	c := cursor.New(n.Data, n.Offset)
	b.auxv = nil
	for c.Len() >= 16 && len(b.auxv) < limits.AuxEntries {
		e := AuxEntry{c.Uint64(), c.Uint64()}
		if e.Tag == 0 {
			return
		}
		b.auxv = append(b.auxv, e)
	}
}

func (b *builder) aux(tag uint64) (uint64, bool) { return auxValue(b.auxv, tag) }

func auxValue(vector []AuxEntry, tag uint64) (uint64, bool) {
	for _, e := range vector {
		if e.Tag == tag {
			return e.Value, true
		}
	}
	return 0, false
}

// A fileMapping is a line of NT_FILE.
type fileMapping struct {
	target.Mapping
	path string
}

// decodeFiles decodes an NT_FILE note: the number of mappings, the unit of the offsets (the page
// size; gdb writes 1), three words for each mapping, then their names (fs/binfmt_elf.c,
// fill_files_note).
func (b *builder) decodeFiles(n *Note) error {
	c := cursor.New(n.Data, n.Offset)
	count := c.Uint64()
	unit := c.Uint64()
	if c.Err() != nil {
		return c.Err()
	}
	if unit == 0 || unit&(unit-1) != 0 || unit > 1<<30 {
		return target.Corruptf("page size %d", unit)
	}
	if count > uint64(c.Len()/(3*8+1)) {
		return target.Corruptf("%d mappings in %d bytes", count, len(n.Data))
	}
	if count > uint64(b.limits.Ranges) || len(n.Data) > limits.FileNoteBytes {
		return target.Limitf("%d mappings in %d bytes: more than the limit (ranges) of %d, or than %d bytes", count, len(n.Data), b.limits.Ranges, limits.FileNoteBytes)
	}
	files := make([]fileMapping, 0, count)
	for range count {
		m := target.Mapping{Start: target.Addr(c.Uint64()), End: target.Addr(c.Uint64()), Offset: c.Uint64()}
		files = append(files, fileMapping{Mapping: m})
	}
	names := c.Take(c.Len())
	bad, unnamed := 0, 0
	kept := files[:0]
	for _, m := range files {
		name, rest, ok := bytes.Cut(names, []byte{0})
		names = rest
		if !ok || len(name) > limits.PathBytes {
			unnamed++
			name = nil
		}
		if k := len(kept); k > 0 && kept[k-1].path == string(name) {
			m.path = kept[k-1].path // share the text of consecutive mappings of a file
		} else {
			m.path = string(name)
		}
		if m.End <= m.Start || m.Offset > math.MaxInt64/unit {
			bad++
			continue
		}
		m.Offset *= unit
		kept = append(kept, m)
	}
	if bad > 0 || unnamed > 0 {
		b.Warn(target.Corruptf("NT_FILE: %d mappings are impossible, %d have no name", bad, unnamed))
	}
	b.setFiles(kept)
	b.unit = unit
	return nil
}

func (b *builder) setFiles(files []fileMapping) {
	slices.SortStableFunc(files, func(x, y fileMapping) int { return cmp.Compare(x.Start, y.Start) })
	b.files = files
	for i := range files[:max(0, len(files)-1)] {
		if m, next := &files[i], &files[i+1]; m.Start < next.Start && m.End > next.Start {
			b.Warn(target.Corruptf("the mapping of %s at %016x overlaps that of %s at %016x", m.path, uint64(m.Start), next.path, uint64(next.Start)))
			break // one that ends too late may overlap all that follow
		}
	}
}
