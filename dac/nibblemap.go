package dac

import (
	"encoding/binary"
	"errors"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A nibbleMap finds the start of the code at an address (nibblemapmacros.h). Each nibble describes a bucket of
// 32 bytes: 0 if no code starts there, otherwise code starts (nibble-1)*4 bytes in. Eight nibbles are a word,
// with the first in its highest bits. In maps with pointers, a word with a last nibble above 8 has no starts in
// its buckets, and holds the previous start (ExecutionManager contract, version 2).
type nibbleMap struct {
	mem      target.Memory
	at       target.Addr
	pointers bool
}

// nibbleMapPointers is the version of maps with pointers.
const nibbleMapPointers = 2

const (
	nibbleBucket = 32                         // bytes that a nibble describes
	nibbleAlign  = 4                          // alignment of code in a bucket
	nibbleWord   = 8                          // nibbles in a word
	nibbleMax    = nibbleBucket / nibbleAlign // the highest nibble that is not a pointer
)

// start returns the offset of the start of the code that contains the byte at offset delta from the map's base,
// or false. If part of the map is not in the dump, it returns the last known start and an error for the missing
// part; the caller must check the length of that code.
func (m *nibbleMap) start(delta uint64) (uint64, bool, error) {
	pos := delta / nibbleBucket
	index, before := pos/nibbleWord, pos%nibbleWord
	word, err := m.word(index)
	if err == nil {
		if s, ok := m.pointer(word); ok {
			return s, true, nil
		}
		if n := nibble(word, before); n != 0 && uint64(n-1)*nibbleAlign <= delta%nibbleBucket {
			return nibbleStart(pos, n), true, nil
		}
		if s, ok := lastStart(word, index, before); ok {
			return s, true, nil
		}
	}
	return m.before(index, err)
}

// before returns the last start before a word. missing is the reason why that word is unreadable. The returned
// error also covers the words before it.
func (m *nibbleMap) before(index uint64, missing error) (uint64, bool, error) {
	for n := 0; index > 0; n++ {
		if missing != nil && !errors.Is(missing, target.ErrNotInDump) || n == limits.NibbleWords {
			break
		}
		index--
		word, err := m.word(index)
		if err != nil {
			missing = err
			continue
		}
		if s, ok := m.pointer(word); ok {
			return s, true, missing
		}
		if s, ok := lastStart(word, index, nibbleWord); ok {
			return s, true, missing
		}
		if m.pointers && missing == nil {
			break // a pointer would lead to an earlier start
		}
	}
	return 0, false, missing
}

func (m *nibbleMap) word(index uint64) (uint32, error) {
	return target.Uint32(m.mem, m.at+target.Addr(4*index))
}

// pointer decodes a word with an offset from the map's base.
func (m *nibbleMap) pointer(word uint32) (uint64, bool) {
	if last := word & 0xf; m.pointers && last > nibbleMax {
		return uint64(word&^0xf) + uint64(last-nibbleMax-1)*nibbleAlign, true
	}
	return 0, false
}

// nibble returns the i-th nibble of a word.
func nibble(word uint32, i uint64) uint32 { return word >> (28 - 4*i) & 0xf }

func nibbleStart(pos uint64, n uint32) uint64 { return pos*nibbleBucket + uint64(n-1)*nibbleAlign }

// lastStart returns the last start among the first n buckets of a word.
func lastStart(word uint32, index, n uint64) (uint64, bool) {
	for n > 0 {
		n--
		if v := nibble(word, n); v != 0 {
			return nibbleStart(index*nibbleWord+n, v), true
		}
	}
	return 0, false
}

// starts iterates over the offsets where code starts in the first size bytes. It yields an error for each
// missing part of the map, and continues.
func (m *nibbleMap) starts(size uint64) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		words := (size + nibbleBucket*nibbleWord - 1) / (nibbleBucket * nibbleWord)
		if words > limits.NibbleMapWords {
			yield(0, target.Corruptf("nibble map at %016x for %d bytes", uint64(m.at), size))
			return
		}
		w := target.NewWindow(m.mem)
		for index := uint64(0); index < words; index++ {
			at := m.at + target.Addr(4*index)
			b, err := w.Bytes(at, 4)
			if err != nil {
				next, more := target.NextStored(m.mem, at+4)
				if !yield(0, err) || !more || next <= at {
					return
				}
				index = (uint64(next-m.at)+3)/4 - 1
				continue
			}
			if !m.startsIn(binary.LittleEndian.Uint32(b), index, yield) {
				return
			}
		}
	}
}

// startsIn yields the starts of one word.
func (m *nibbleMap) startsIn(word uint32, index uint64, yield func(uint64, error) bool) bool {
	if _, ok := m.pointer(word); ok {
		return true
	}
	for i := range uint64(nibbleWord) {
		n := nibble(word, i)
		if n != 0 && !yield(nibbleStart(index*nibbleWord+i, n), nil) {
			return false
		}
	}
	return true
}
