package objects

import (
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// stringChunk is the number of UTF-16 code units read at once.
const stringChunk = 16 << 10

// Text returns the first limit UTF-16 code units of a string, or all if limit is negative. A lone surrogate becomes its
// three bytes (ED A0 80 to ED BF BF), which are not UTF-8, so that different strings have different texts.
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

// cutMark ends a text that goes on.
const cutMark = "\u2026"

// Start is Text with an ellipsis where it is cut: who reads a part knows that it is one, and so does what masks secrets. Answers show it.
func (o Object) Start(limit int) (string, error) {
	s, err := o.Text(limit)
	if err != nil || limit < 0 {
		return s, err
	}
	if n, err := o.Length(); err == nil && int64(n) > int64(limit) {
		s += cutMark
	}
	return s, nil
}

// plainText returns the text of an ASCII string that can be read without a copy, as most can. It allocates once.
func (o Object) plainText(limit int) (string, bool) {
	if !o.IsString() {
		return "", false
	}
	at, length, err := o.Type.r.Runtime().StringChars(o.Addr)
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
	if uint32(n) == length && o.terminated(at, length) != nil {
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

// heldText is Text for the object that a reference of a declared type leads to. If that is String, another object is damage, and no wrong question.
func (o Object) heldText(limit int, declared func() (*Type, error)) (string, error) {
	if err := o.isHeldText(declared); err != nil {
		return "", err
	}
	return o.Text(limit)
}

// heldStart is heldText for Start.
func (o Object) heldStart(limit int, declared func() (*Type, error)) (string, error) {
	if err := o.isHeldText(declared); err != nil {
		return "", err
	}
	return o.Start(limit)
}

func (o Object) isHeldText(declared func() (*Type, error)) error {
	if o.Addr != 0 && !o.IsString() {
		if t, err := declared(); err == nil && t != nil && t.IsString() {
			return target.CorruptHeapf("a reference to a string leads to %016x, which is no string", uint64(o.Addr))
		}
	}
	return nil
}

// WriteText writes the text of a string as Text returns it, through a buffer of fixed size. On an error it has written
// everything before the unreadable part.
func (o Object) WriteText(w io.Writer) error {
	return o.text(-1, func(part []byte) error {
		_, err := w.Write(part)
		return err
	})
}

func (o Object) text(limit int, emit func([]byte) error) error {
	if !o.IsString() {
		return target.Argumentf("object %016x is not a string", uint64(o.Addr))
	}
	at, length, err := o.Type.r.Runtime().StringChars(o.Addr)
	if err != nil {
		return err
	}
	n := int64(length)
	if limit >= 0 {
		n = min(n, int64(limit))
	}
	if n == int64(length) {
		if err := o.terminated(at, length); err != nil {
			return err
		}
	}
	d := utf16text.Decoder{Emit: emit}
	if err := decode(&d, o.Type.r.mem, at, n); err != nil {
		return target.InHeap(err)
	}
	return d.Finish(limit >= 0 && n < int64(length))
}

// terminated returns an error unless a zero follows the n characters of the string, as it does in every string. A dump without that place
// proves nothing.
func (o Object) terminated(chars target.Addr, n uint32) error {
	if end, err := target.Uint16(o.Type.r.mem, chars+2*target.Addr(n)); err == nil && end != 0 {
		return target.CorruptHeapf("string %016x goes on after its %d characters", uint64(o.Addr), n)
	}
	return nil
}

// decode decodes n code units at a.
func decode(d *utf16text.Decoder, mem target.Memory, a target.Addr, n int64) error {
	buf := make([]byte, 2*min(n, stringChunk))
	for n > 0 {
		part := buf[:2*min(n, stringChunk)]
		got, err := mem.ReadMemory(part, a)
		if eerr := d.Piece(part[:got&^1]); eerr != nil {
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

// errEnough ends the writing of a text when the consumer stops.
var errEnough = errors.New("enough")

// DescribeString returns the whole text of the string at a. The error is target.ErrArgument for other objects.
func (r *Reader) DescribeString(a target.Addr) (*answer.String, error) {
	o, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	if !o.IsString() {
		name, _ := o.Type.Name() // used only in the message
		return nil, target.Argumentf("object %016x is not a string but %s", uint64(a), name)
	}
	n, err := o.Length()
	if err != nil {
		return nil, err
	}
	s := &answer.String{Address: a, Length: n}
	if n > 0 {
		s.Text.Parts = o.parts
	}
	return s, nil
}

// parts iterates over the text of a string. An error comes last.
func (o Object) parts(yield func(string, error) bool) {
	err := o.text(-1, func(part []byte) error {
		if !yield(string(part), nil) {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		yield("", err)
	}
}
