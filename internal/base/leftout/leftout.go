// Package leftout defines the mark of dumps that sosgo shrink writes. A note in the dump holds the
// mark, a 64-bit value. Each word of memory that was left out has this value, and no other word of
// the dump has it.
package leftout

import (
	"bytes"
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

// Size is the size in bytes of a note.
const Size = 24

// magic begins a note; version follows it.
const magic, version = "sosgo shrink", 1

// A Mark is the value of words that were left out. The zero Mark means that nothing was.
type Mark uint64

// Note returns the note that holds m.
func (m Mark) Note() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	return binary.LittleEndian.AppendUint64(b, uint64(m))
}

// Decode returns the mark in a note. The error is target.ErrUnsupported for a note of a later
// version of sosgo, and target.ErrCorrupt for a damaged one: the words that were left out of such a
// dump are not recognizable.
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
