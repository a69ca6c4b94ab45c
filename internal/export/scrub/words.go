package scrub

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// Pseudo-random letters and a filler replace texts. The first lettered characters are a keyed hash of the whole
// text, so that equal texts stay equal and different ones differ. The others are the filler, so that the dump
// compresses well.
const (
	lettered = 16
	filler   = 'x'
	letters  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// Texts of at most shortChars characters could become equal by chance, as there are few words of that length.
// Replacements of up to mostShort such texts are remembered to avoid that.
const (
	shortChars = 8
	mostShort  = 1 << 20
)

// firstIdeograph and ideographs are characters for short texts when the letters are used up.
const firstIdeograph, ideographs = 0x4e00, 0x5000

// A disguise replaces texts and numbers. Its key is random and is not stored, so that replacements cannot be
// guessed by trying texts. It is safe for concurrent use.
type disguise struct {
	key [32]byte

	mu    sync.Mutex
	short map[string][]uint16 // replacements of short texts, by the narrow or wide text
	taken map[string]bool     // replacements that are used
	stay  map[string]bool     // texts that are not replaced, in UTF-16
}

func newDisguise(stay map[string]bool) (*disguise, error) {
	d := &disguise{short: map[string][]uint16{}, taken: map[string]bool{}, stay: stay}
	_, err := rand.Read(d.key[:])
	return d, err
}

// hash returns the keyed hash of a text. A wide text of ASCII has the hash of the narrow one, so that a string,
// its copy in an array of bytes and a native copy get the same replacement.
func (d *disguise) hash(text []byte, wide bool, salt byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(d.key[:])
	if wide && !narrow(text) {
		h.Write([]byte{salt, 2})
		h.Write(text)
		return [sha256.Size]byte(h.Sum(nil))
	}
	h.Write([]byte{salt, 1})
	if !wide {
		h.Write(text)
		return [sha256.Size]byte(h.Sum(nil))
	}
	var piece [512]byte
	for len(text) > 1 {
		n := 0
		for ; n < len(piece) && len(text) > 1; n, text = n+1, text[2:] {
			piece[n] = text[0]
		}
		h.Write(piece[:n])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// narrow reports whether a UTF-16 text is ASCII.
func narrow(text []byte) bool {
	for i := 0; i+1 < len(text); i += 2 {
		if text[i] >= 0x80 || text[i+1] != 0 {
			return false
		}
	}
	return true
}

// lead returns the first characters of the replacement for a text, at most lettered of them.
func (d *disguise) lead(text []byte, wide bool) []uint16 {
	n := len(text)
	if wide {
		n /= 2
	}
	if n <= shortChars {
		return d.shortLead(text, wide, n)
	}
	h := d.hash(text, wide, 0)
	out := make([]uint16, min(n, lettered))
	spell(out, h)
	return out
}

func spell(out []uint16, h [sha256.Size]byte) {
	for i := range out {
		out[i] = uint16(letters[binary.LittleEndian.Uint16(h[2*i:])%uint16(len(letters))])
	}
}

func (d *disguise) shortLead(text []byte, wide bool, n int) []uint16 {
	key := string(text)
	if wide && narrow(text) {
		b := make([]byte, 0, shortChars)
		for i := 0; i < n; i++ {
			b = append(b, text[2*i])
		}
		key = string(b)
	} else if wide {
		key = "\x00w" + key
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if out, ok := d.short[key]; ok {
		return out
	}
	out := make([]uint16, n)
	const tries = 64
	for salt := range byte(tries) {
		h := d.hash(text, wide, salt)
		spell(out, h)
		if wide && salt >= tries/2 { // the letters of this length are used up
			for i := range out {
				out[i] = firstIdeograph + binary.LittleEndian.Uint16(h[2*i:])%ideographs
			}
		}
		if len(d.taken) >= mostShort {
			return out
		}
		if text := spelled(out); !d.taken[text] && !d.stay[text] {
			break
		}
	}
	d.short[key], d.taken[spelled(out)] = out, true
	return out
}

func spelled(chars []uint16) string {
	b := make([]byte, 0, 2*shortChars)
	for _, c := range chars {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return string(b)
}

// replace replaces a text in place.
func (d *disguise) replace(text []byte, wide bool) { write(text, 0, d.lead(text, wide), filler, wide) }

// write writes the replacement of a text, lead followed by rest, into part of the text: b starts at byte from
// of it.
func write(b []byte, from int64, lead []uint16, rest byte, wide bool) {
	size := int64(1)
	if wide {
		size = 2
	}
	for i := range b {
		at := from + int64(i)
		c := uint16(rest)
		if n := at / size; n < int64(len(lead)) {
			c = lead[n]
		}
		if at%size == 1 {
			c >>= 8
		}
		b[i] = byte(c)
	}
}

// blank reports whether there is nothing to replace in a text.
func blank(text []byte) bool { return len(bytes.Trim(text, "\x00")) == 0 }

// code replaces the hash code of a text. Its sign, which some collections use as a mark, stays, and so do 0 and
// -1.
func (d *disguise) code(v uint32) uint32 {
	const sign = 1 << 31
	if v&^sign == 0 || v == ^uint32(0) {
		return v
	}
	h := d.hash(binary.LittleEndian.AppendUint32(nil, v), false, 0xff)
	return v&sign | max(binary.LittleEndian.Uint32(h[:])&^sign, 1)
}
