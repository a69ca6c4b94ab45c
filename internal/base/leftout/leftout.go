// Package leftout defines the note of dumps that sosgo shrink writes. It holds the mark, a 64-bit
// value, and the runs of pages that the file does not store, with sums of those that a module's file
// has. Each word of memory that was left out
// has this value, and no other word of the dump has it.
package leftout

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

// Owner and NoteType identify the note in an ELF core, and Stream the stream in a minidump. Stream
// numbers above 0xffff are free for users (minidumpapiset.h, LastReservedStream).
const (
	Owner    = "SOSGO"
	NoteType = 1
	Stream   = 0x4f474f53
)

// WordSize is the size of a word in bytes. Words are aligned.
const WordSize = 8

// A Mark is the value of words that were left out. The zero Mark means that nothing was.
type Mark uint64

// Page is the unit in bytes of runs.
const Page = 4096

// Sizes in bytes of the two forms of a note: without runs, and before the runs of one with runs.
const plainSize, headSize, runSize, sumSize = 24, 32, 16, 8

// magic begins a note; its form follows it.
const magic, plain, withRuns = "sosgo shrink", 1, 2

// A Kind states where the content of a run is. It is stored in the lowest bits of the run's address.
type Kind uint8

// Kinds of runs.
const (
	Nowhere Kind = iota // it was left out
	Zeros               // all bytes are zero
	InFile              // in the file of the module that is loaded there
	kinds
)

// A Run is whole pages of memory that the file does not store.
type Run struct {
	Addr target.Addr
	Size uint64 // bytes
	Kind Kind
	Sums []uint64 // of an InFile run, the Sum of each page
}

// Sum returns a checksum of a page. A page of a module's file stands for a page of the process if it
// has the same sum.
func Sum(page []byte) uint64 {
	sum := sha256.Sum256(page)
	return binary.LittleEndian.Uint64(sum[:])
}

// A Note is what a shrunk dump records about itself.
type Note struct {
	Mark     Mark
	Runs     []Run  // by address and disjoint
	Segments []byte // the program headers before runs split them
}

// Bytes returns the content of the note.
func (n *Note) Bytes() []byte {
	form := uint32(plain)
	if len(n.Runs) > 0 || len(n.Segments) > 0 {
		form = withRuns
	}
	b := binary.LittleEndian.AppendUint32([]byte(magic), form)
	b = binary.LittleEndian.AppendUint64(b, uint64(n.Mark))
	if form == plain {
		return b
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(len(n.Runs)))
	for _, r := range n.Runs {
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Addr)|uint64(r.Kind))
		b = binary.LittleEndian.AppendUint64(b, r.Size)
	}
	for _, r := range n.Runs {
		for _, sum := range r.Sums {
			b = binary.LittleEndian.AppendUint64(b, sum)
		}
	}
	return append(b, n.Segments...)
}

// Decode decodes a note. The error is target.ErrUnsupported for a note of a later version of
// sosgo, and target.ErrCorrupt for a damaged one: what was left out of such a dump is not
// recognizable.
func Decode(b []byte) (*Note, error) {
	head := len(magic) + 4
	if len(b) < head || !bytes.HasPrefix(b, []byte(magic)) {
		return nil, target.Corruptf("the note of sosgo shrink is damaged: which memory was left out is unknown")
	}
	form := binary.LittleEndian.Uint32(b[len(magic):])
	switch {
	case form != plain && form != withRuns:
		return nil, target.Unsupportedf("the dump was shrunk in form %d, and this sosgo reads forms up to %d", form, withRuns)
	case form == plain && len(b) != plainSize, form == withRuns && len(b) < headSize:
		return nil, target.Corruptf("the note of sosgo shrink has %d bytes", len(b))
	}
	n := &Note{Mark: Mark(binary.LittleEndian.Uint64(b[head:]))}
	if !n.Mark.valid() {
		return nil, target.Corruptf("the note of sosgo shrink has no usable mark: %#x", uint64(n.Mark))
	}
	if form == plain {
		return n, nil
	}
	count, rest := binary.LittleEndian.Uint64(b[plainSize:]), b[headSize:]
	if count > uint64(len(rest)/runSize) {
		return nil, target.Corruptf("the note of sosgo shrink has %d bytes for %d runs", len(b), count)
	}
	var end target.Addr
	for range count {
		a, size := binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:])
		const low = Page - 1
		r := Run{Addr: target.Addr(a &^ low), Size: size, Kind: Kind(a & low & 0xff)}
		if a&low >= uint64(kinds) || size%Page != 0 || size == 0 || r.Addr < end || r.Addr+target.Addr(size) <= r.Addr {
			return nil, target.Corruptf("the note of sosgo shrink has an impossible run of %#x bytes at %#x", size, a)
		}
		n.Runs, rest, end = append(n.Runs, r), rest[runSize:], r.Addr+target.Addr(size)
	}
	var err error
	if n.Segments, err = n.readSums(rest); err != nil {
		return nil, err
	}
	if len(n.Runs) == 0 && len(n.Segments) == 0 {
		return nil, target.Corruptf("the note of sosgo shrink has no runs")
	}
	return n, nil
}

// readSums reads the sums at the start of b, and returns what follows them.
func (n *Note) readSums(b []byte) (rest []byte, err error) {
	for i := range n.Runs {
		r := &n.Runs[i]
		if r.Kind != InFile {
			continue
		}
		pages := r.Size / Page
		if pages > uint64(len(b)/sumSize) {
			return nil, target.Corruptf("the note of sosgo shrink has no sums for %#x bytes at %#x", r.Size, uint64(r.Addr))
		}
		r.Sums = make([]uint64, pages)
		for i := range r.Sums {
			r.Sums[i], b = binary.LittleEndian.Uint64(b), b[sumSize:]
		}
	}
	return b, nil
}

// tag is the upper 16 bits of each mark, so that a mark is neither an address nor a small number.
const tag = 0xa5c3

// NewMark returns a mark made from n.
func NewMark(n uint64) Mark { return Mark(tag<<48 | n>>16) }

func (m Mark) valid() bool { return m>>48 == tag }

// Bytes returns the bytes of a word that was left out.
func (m Mark) Bytes() []byte { return binary.LittleEndian.AppendUint64(nil, uint64(m)) }

// near is how many bytes Index compares word by word, which is faster for few bytes.
const near = 256

// Index returns the offset in b of the first whole aligned word that was left out, or -1. b is
// memory at a; word is the result of Mark.Bytes.
func Index(b []byte, a target.Addr, word []byte) int {
	at := int(-a % WordSize)
	// Words that were left out are close to each other: the next is often near.
	w := binary.LittleEndian.Uint64(word)
	for end := min(len(b), at+near); at+WordSize <= end; at += WordSize {
		if binary.LittleEndian.Uint64(b[at:]) == w {
			return at
		}
	}
	for at < len(b) {
		i := bytes.Index(b[at:], word)
		if i < 0 {
			return -1
		}
		if at += i; (a+target.Addr(at))%WordSize == 0 {
			return at
		}
		at++
	}
	return -1
}
