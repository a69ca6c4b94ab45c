// Package leftout is the mark of dumps that sosgo shrink writes. Each word of memory that is left out has the value of the mark, which no other word of
// the dump has. A note of the dump has that value.
package leftout

import (
	"bytes"
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

// Owner and NoteType name the note in a core, and Stream the stream in a minidump. Numbers of streams above 0xffff are free for users
// (minidumpapiset.h, LastReservedStream).
const (
	Owner    = "SOSGO"
	NoteType = 1
	Stream   = 0x4f474f53
)

// WordSize is the size in bytes of the words, which are aligned.
const WordSize = 8

// Size is the size in bytes of a note.
const Size = 24

// magic begins a note; version follows it.
const magic, version = "sosgo shrink", 1

// A Mark is the value of words that are left out. The zero Mark is that of a dump that has all.
type Mark uint64

// Note returns the note of m.
func (m Mark) Note() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	return binary.LittleEndian.AppendUint64(b, uint64(m))
}

// Decode returns the mark that a note has. The error is target.ErrUnsupported for a note of a later sosgo, and target.ErrCorrupt for a damaged one: what is left
// out of such a dump can't be recognized.
func Decode(b []byte) (Mark, error) {
	head := len(magic) + 4
	if len(b) < head || !bytes.HasPrefix(b, []byte(magic)) {
		return 0, target.Corruptf("the note of sosgo shrink is damaged: which memory was left out is unknown")
	}
	if v := binary.LittleEndian.Uint32(b[len(magic):]); v != version {
		return 0, target.Unsupportedf("the dump was shrunk in form %d, and this sosgo reads form %d", v, version)
	}
	if len(b) != Size {
		return 0, target.Corruptf("the note of sosgo shrink has %d bytes, not %d", len(b), Size)
	}
	m := Mark(binary.LittleEndian.Uint64(b[head:]))
	if !m.valid() {
		return 0, target.Corruptf("the note of sosgo shrink has no usable mark: %#x", uint64(m))
	}
	return m, nil
}

// tag is in the upper half of each mark, so that it is neither an address nor a small number.
const tag = 0xa5c3

// NewMark returns the mark that is made of a number.
func NewMark(n uint64) Mark { return Mark(tag<<48 | n>>16) }

func (m Mark) valid() bool { return m>>48 == tag }

// Bytes returns the bytes of a word that is left out.
func (m Mark) Bytes() []byte { return binary.LittleEndian.AppendUint64(nil, uint64(m)) }

// near is how many bytes Index compares word by word, which is faster for few.
const near = 256

// Index returns the offset of the first whole word in b, which is memory at a, that was left out, or -1. word is that of Mark.Bytes.
func Index(b []byte, a target.Addr, word []byte) int {
	at := int(-a % WordSize)
	// Words that were left out stand close to each other: the next is often among the first.
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
