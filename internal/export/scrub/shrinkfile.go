package scrub

import (
	"cmp"
	"math"
	"slices"

	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/target"
)

// filePage is the unit in bytes of inserted blocks: pages of memory then stay pages of the file.
const filePage = 4096

func paged(b []byte) []byte { return append(b, make([]byte, -len(b)&(filePage-1))...) }

// markELF returns a block to insert after the header of a core, and the new header. The block contains the
// program headers with one more, and the note. Program headers come first, so that a truncated core is
// readable.
//
// Bytes of the file in gone, by offset and disjoint, are not stored: they are the memory of the note's runs.
func markELF(src target.Source, m leftout.Note, gone []span) (at int64, block []byte, edits []edit, err error) {
	head, err := corefile.ReadAt(src, 0, elfHeader)
	if err != nil {
		return 0, nil, nil, err
	}
	head = append([]byte(nil), head...)
	n := uint64(le.Uint16(head[56:]))
	var section []byte
	if n == countInSection {
		if section, err = corefile.ReadAt(src, le.Uint64(head[40:]), elfSection); err != nil {
			return 0, nil, nil, err
		}
		section = append([]byte(nil), section...)
		n = uint64(le.Uint32(section[44:]))
	}
	programs, err := corefile.ReadAt(src, le.Uint64(head[32:]), n*elfProgram) // readELF has compared n with the file's size
	if err != nil {
		return 0, nil, nil, err
	}
	if len(gone) > 0 {
		m.Segments = programs
		programs = splitLoads(programs, gone)
		n = uint64(len(programs)) / elfProgram
	}
	block = append(block, programs...)
	block = append(block, make([]byte, elfProgram)...)
	if n+1 >= countInSection && section == nil {
		section = make([]byte, elfSection)
	}
	if section != nil {
		le.PutUint32(section[44:], uint32(n+1))
		le.PutUint64(head[40:], elfHeader+uint64(len(block)))
		le.PutUint16(head[56:], countInSection)
		le.PutUint16(head[58:], elfSection)
		le.PutUint16(head[60:], 1)
		block = append(block, section...)
	} else {
		le.PutUint16(head[56:], uint16(n+1))
		le.PutUint64(head[40:], 0)
		le.PutUint16(head[60:], 0)
	}
	le.PutUint16(head[62:], 0) // no section names
	le.PutUint64(head[32:], elfHeader)

	note := le.AppendUint32(nil, uint32(len(leftout.Owner)+1))
	content := m.Bytes()
	note = le.AppendUint32(note, uint32(len(content)))
	note = le.AppendUint32(note, leftout.NoteType)
	note = append(note, leftout.Owner...)
	note = append(note, make([]byte, 4-len(leftout.Owner)&3)...)
	note = append(note, content...)
	own := block[n*elfProgram:]
	le.PutUint32(own, programNote)
	le.PutUint64(own[8:], elfHeader+uint64(len(block)))
	le.PutUint64(own[32:], uint64(len(note)))
	le.PutUint64(own[40:], uint64(len(note)))
	le.PutUint64(own[48:], 4)
	block = paged(append(block, note...))
	for i := range n {
		p := block[i*elfProgram:]
		off, size := le.Uint64(p[8:]), le.Uint64(p[32:])
		switch {
		case size == 0 && off < elfHeader:
			continue
		case off < elfHeader || off > math.MaxInt64-uint64(len(block)):
			return 0, nil, nil, target.Unsupportedf("program header %d is of the bytes at %#x of the file", i, off)
		}
		le.PutUint64(p[8:], off-goneBefore(gone, int64(off))+uint64(len(block)))
	}
	return elfHeader, block, []edit{{0, head}}, nil
}

// splitLoads returns the program headers with one for each part of a segment that stays.
func splitLoads(programs []byte, gone []span) (out []byte) {
	for p := range slices.Chunk(programs, elfProgram) {
		off, left := le.Uint64(p[8:]), min(le.Uint64(p[32:]), le.Uint64(p[40:]))
		if le.Uint32(p) != programLoad || left == 0 {
			out = append(out, p...)
			continue
		}
		addr, end, memory := le.Uint64(p[16:]), off+left, le.Uint64(p[40:])
		add := func(from, stored, size uint64) {
			piece := slices.Clone(p)
			le.PutUint64(piece[8:], from)
			le.PutUint64(piece[16:], addr+from-off)
			le.PutUint64(piece[32:], stored)
			le.PutUint64(piece[40:], size)
			out = append(out, piece...)
		}
		at := off // the part from here on has no header
		i, _ := slices.BinarySearchFunc(gone, int64(off), func(g span, off int64) int { return cmp.Compare(g.off+g.size-1, off) })
		for ; i < len(gone) && uint64(gone[i].off) < end; i++ {
			g := max(uint64(gone[i].off), off)
			stop := min(uint64(gone[i].off+gone[i].size), end)
			if stop == end {
				stop = off + memory
			}
			if at < g || stop >= end {
				add(at, g-at, stop-at)
			} else {
				add(g, 0, stop-g)
			}
			at = stop
		}
		if at < end {
			add(at, end-at, off+memory-at)
		}
	}
	return out
}

// goneBefore returns the number of bytes before an offset that are not stored.
func goneBefore(gone []span, off int64) (n uint64) {
	for _, g := range gone {
		if g.off >= off {
			break
		}
		n += uint64(min(g.size, off-g.off))
	}
	return n
}

// markMinidump returns a block with a new directory and the stream, where to insert it, and the changes before
// it. Streams have offsets of 32 bits. If memory of a list with offsets of 64 bits follows all of them, as
// usual, the block precedes it; otherwise it is at the end.
func markMinidump(c *container, m leftout.Note) (at int64, block []byte, edits []edit, err error) {
	head, err := corefile.ReadAt(c.src, 0, miniHeader)
	if err != nil {
		return 0, nil, nil, err
	}
	head = append([]byte(nil), head...)
	mini := &mini{container: c}
	at = c.src.Size()
	var list edit   // the header of the list with offsets of 64 bits
	var wide uint64 // the number of its ranges
	if err := mini.streams(func(entry int64, kind uint32, b []byte, off int64) {
		if b := directoryEntry(c.src, entry); b != nil {
			block = append(block, b...)
		}
		if kind == memory64List && len(b) >= 16 && list.b == nil {
			list = edit{off, append([]byte(nil), b[:16]...)}
			at = int64(min(le.Uint64(b[8:]), uint64(at)))
			wide = min(le.Uint64(b), uint64(len(b)-16)/rangeEntry)
		}
	}); err != nil {
		return 0, nil, nil, err
	}
	for _, s := range c.structures {
		if s.off < c.src.Size() && s.off+s.size > at {
			at = c.src.Size()
		}
	}
	for _, r := range c.ranges { // those at offsets of 32 bits precede it, too
		if r.Offset < at && uint64(at-r.Offset) < r.Size {
			at = c.src.Size()
			break
		}
		if r.Offset >= at {
			wide--
		}
	}
	if wide > math.MaxInt64 {
		at = c.src.Size()
	}
	count := len(block) / miniEntry
	stream := at + int64(len(block)) + miniEntry
	block = le.AppendUint32(block, leftout.Stream)
	block = le.AppendUint32(block, uint32(len(m.Bytes())))
	block = le.AppendUint32(block, uint32(stream))
	block = paged(append(block, m.Bytes()...))
	if at+int64(len(block)) > math.MaxUint32 {
		return 0, nil, nil, target.Unsupportedf("a minidump of %d bytes in which streams follow the memory", c.src.Size())
	}
	le.PutUint32(head[8:], uint32(count+1))
	le.PutUint32(head[12:], uint32(at))
	edits = []edit{{0, head}}
	if list.b != nil && at < c.src.Size() {
		le.PutUint64(list.b[8:], le.Uint64(list.b[8:])+uint64(len(block)))
		edits = append(edits, list)
	}
	return at, block, edits, nil
}

func directoryEntry(src target.Source, at int64) []byte {
	b, err := corefile.ReadAt(src, uint64(at), miniEntry)
	if err != nil {
		return nil
	}
	return b
}
