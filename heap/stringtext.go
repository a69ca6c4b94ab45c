package heap

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// StringText reads at most limit characters of the string at a. whole reports whether that is all of it.
func (h *Heap) StringText(a target.Addr, limit int) (text string, whole bool, err error) {
	b, whole, err := h.Texts().Append(nil, a, limit)
	return string(b), whole, err
}

// A textReader reads strings for one goroutine. It appends to bytes, so that the texts of many strings
// can share one Go string: an allocation for each took a fifth of the time of a long list.
type textReader struct{ win *target.Window }

// length returns the number of characters of the string at a.
func (r *textReader) length(a target.Addr) (uint32, error) { return r.win.Uint32(a + stringChars - 4) }

// append appends at most limit characters of the string of n characters at a to buf. whole reports whether that is all.
func (r *textReader) append(buf []byte, a target.Addr, n uint32, limit int) (_ []byte, whole bool, err error) {
	chars := min(n, uint32(limit))
	b, err := r.win.Bytes(a+stringChars, 2*int(chars))
	if err != nil {
		return buf, false, err
	}
	if chars < n {
		b = utf16text.WholeEnd(b)
	}
	return appendText(buf, b), chars == n, nil
}

// appendText appends UTF-16 as UTF-8. Most strings are ASCII: four characters are tested at once.
func appendText(buf, b []byte) []byte {
	start, all := len(buf), b
	const noASCII = 0xff80ff80ff80ff80
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		if v&noASCII != 0 {
			return utf16text.Append(buf[:start], all)
		}
		buf = append(buf, byte(v), byte(v>>16), byte(v>>32), byte(v>>48))
	}
	for ; len(b) >= 2; b = b[2:] {
		if b[0] >= utf8.RuneSelf || b[1] != 0 {
			return utf16text.Append(buf[:start], all)
		}
		buf = append(buf, b[0])
	}
	return buf
}

// Texts reads the texts of strings for one goroutine, without an allocation for each.
type Texts struct{ r textReader }

// Texts returns a reader of strings of h.
func (h *Heap) Texts() *Texts { return &Texts{textReader{win: target.NewWindow(h.mem)}} }

// Append appends at most limit UTF-16 units of the string at a to dst as UTF-8. whole reports whether that is all.
func (t *Texts) Append(dst []byte, a target.Addr, limit int) (_ []byte, whole bool, err error) {
	n, err := t.r.length(a)
	if err != nil {
		return dst, false, err
	}
	return t.r.append(dst, a, n, limit)
}
