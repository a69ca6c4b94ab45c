package objects

import (
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sosgo/sosgo/target"
)

// stringChunk is how many UTF-16 code units of a string are read at once.
const stringChunk = 16 << 10

// Text is the text of a string: at most limit UTF-16 code units, all when
// limit is negative. Unpaired surrogates become U+FFFD.
func (o Object) Text(limit int) (string, error) {
	if s, ok := o.plainText(limit); ok {
		return s, nil
	}
	var b []byte
	err := o.text(limit, func(part []byte) error {
		b = append(b, part...)
		return nil
	})
	return string(b), err
}

// plainText is the text of a string of ASCII characters whose memory can be lent, as that of most: it costs one allocation.
func (o Object) plainText(limit int) (string, bool) {
	if !o.IsString() {
		return "", false
	}
	at, length, err := o.Type.r.rt.StringChars(o.Addr)
	if err != nil {
		return "", false
	}
	n := int(min(length, stringChunk))
	if limit >= 0 {
		n = min(n, limit)
	}
	if uint32(n) < length && limit != n {
		return "", false
	}
	view, ok := o.Type.r.mem.View(at, 2*n)
	if !ok || n == 0 {
		return "", ok && n == 0
	}
	var few [LineChars]byte
	chars := few[:]
	if n > len(few) {
		chars = make([]byte, n)
	}
	for i := range n {
		c := binary.LittleEndian.Uint16(view[2*i:])
		if c >= utf8.RuneSelf {
			return "", false
		}
		chars[i] = byte(c)
	}
	return string(chars[:n]), true
}

// WriteText writes the text of a string as UTF-8. Strings of any length go
// through a buffer of fixed size. What stands before a hole in the dump is
// written before the error returns.
func (o Object) WriteText(w io.Writer) error {
	return o.text(-1, func(part []byte) error {
		_, err := w.Write(part)
		return err
	})
}

func (o Object) text(limit int, emit func([]byte) error) error {
	if !o.IsString() {
		return target.Unsupportedf("object %016x is no string", uint64(o.Addr))
	}
	at, length, err := o.Type.r.rt.StringChars(o.Addr)
	if err != nil {
		return err
	}
	n := int64(length)
	if limit >= 0 {
		n = min(n, int64(limit))
	}
	d := utf16Decoder{emit: emit}
	if err := d.memory(o.Type.r.mem, at, n); err != nil {
		return err
	}
	return d.finish(limit >= 0 && n < int64(length))
}

// A utf16Decoder turns UTF-16 that comes in pieces into UTF-8.
type utf16Decoder struct {
	emit func([]byte) error
	out  []byte
	high rune // a high surrogate at the end of the last piece
}

// memory decodes n code units at a.
func (d *utf16Decoder) memory(mem target.Memory, a target.Addr, n int64) error {
	buf := make([]byte, 2*min(n, stringChunk))
	for n > 0 {
		part := buf[:2*min(n, stringChunk)]
		got, err := mem.ReadMemory(part, a)
		if eerr := d.piece(part[:got&^1]); eerr != nil {
			return eerr
		}
		if err != nil {
			return err
		}
		a += target.Addr(len(part))
		n -= int64(len(part) / 2)
	}
	return nil
}

func (d *utf16Decoder) piece(b []byte) error {
	d.out = d.out[:0]
	for ; len(b) >= 2; b = b[2:] {
		c := rune(binary.LittleEndian.Uint16(b))
		if d.high != 0 {
			r := utf16.DecodeRune(d.high, c)
			d.high = 0
			d.out = utf8.AppendRune(d.out, r)
			if r != utf8.RuneError {
				continue
			}
		}
		if c >= 0xd800 && c < 0xdc00 {
			d.high = c
			continue
		}
		d.out = utf8.AppendRune(d.out, c) // a lone low surrogate becomes U+FFFD
	}
	return d.emit(d.out)
}

// finish ends the text. A high surrogate that the end cut off is left out when
// the text was cut, and U+FFFD when it stands alone.
func (d *utf16Decoder) finish(cut bool) error {
	if d.high == 0 || cut {
		return nil
	}
	return d.emit(utf8.AppendRune(nil, utf8.RuneError))
}
