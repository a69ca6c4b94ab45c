package collections

import (
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// bufferKinds returns the classes that hold characters, bytes or bits.
func bufferKinds() []kind {
	return []kind{
		storedKind((*Reader).builder, func(s *builder) Store { return store(&s.Length, nil, &s.Chars) }),
		storedKind((*Reader).stream, func(s *stream) Store { return store(&s.Length, nil, &s.Buffer) }),
		kindOf((*Reader).bits),
	}
}

// A builder is a chunk of a StringBuilder. Each chunk refers to the chunk before it.
type builder struct {
	_        shapes.Type `of:"System.Text.StringBuilder"`
	Chars    shapes.Ref  `field:"m_ChunkChars"`
	Length   shapes.Int  `field:"m_ChunkLength"`
	Offset   shapes.Int  `field:"m_ChunkOffset"`
	Previous shapes.Ref  `field:"m_ChunkPrevious"`
}

func (s *builder) next() *shapes.Ref { return &s.Previous }

func (r *Reader) builder(s *builder, f *reading) content {
	n := f.int(&s.Offset) + f.int(&s.Length)
	return content{count: n, text: func() (string, error) { return r.builderText(f.x.Object()) }}.checkCount()
}

// builderText joins the chunks. If a chunk is unreadable, it returns the text after that chunk, and an error.
func (r *Reader) builderText(last target.Addr) (string, error) {
	var parts [][]byte
	total := int64(0)
	var failure error
	follow(&nodes[*builder]{r: r}, last, 0, func(_ Item, err error) bool {
		failure = err
		return false
	}, func(s *builder, x shapes.Instance) (Item, bool, error) {
		f := reading{x: x}
		o, n := f.object(&s.Chars), f.int(&s.Length)
		if f.err != nil {
			return Item{}, false, f.err
		}
		a, err := r.array(o)
		if err != nil {
			return Item{}, false, err
		}
		if total += n; n < 0 || n > int64(a.len) || total > limits.StringBuilderChars {
			return Item{}, false, target.Corruptf("a chunk of %d characters of %d, %d in all", n, a.len, total)
		}
		units, err := r.units(a.addr(0), n)
		parts = append(parts, units)
		return Item{}, false, err
	})
	slices.Reverse(parts)
	return utf16text.String(slices.Concat(parts...)), failure
}

// units reads n UTF-16 code units.
func (r *Reader) units(at target.Addr, n int64) ([]byte, error) {
	if n <= 0 {
		return nil, nil
	}
	if n > limits.StringBuilderChars {
		return nil, target.Corruptf("%d characters", n)
	}
	return target.Bytes(r.b.Objects().Runtime().Memory(), at, int(2*n))
}

// A stream is a MemoryStream. Its content is a part of an array.
type stream struct {
	_      shapes.Type `of:"System.IO.MemoryStream"`
	Buffer shapes.Ref  `field:"_buffer"`
	Origin shapes.Int  `field:"_origin"`
	Length shapes.Int  `field:"_length"`
}

func (r *Reader) stream(s *stream, f *reading) content {
	o, from, end := f.object(&s.Buffer), f.int(&s.Origin), f.int(&s.Length)
	return r.subarray(o, from, end-from)
}

// A bits is a BitArray. Its array has 32-bit words before .NET 10, and bytes since.
type bits struct {
	_      shapes.Type `of:"System.Collections.BitArray"`
	Array  shapes.Ref  `field:"_array|m_array"`
	Length shapes.Int  `field:"_bitLength|m_length"`
}

func (r *Reader) bits(s *bits, f *reading) content {
	o, n := f.object(&s.Array), f.int(&s.Length)
	return content{count: n, text: func() (string, error) {
		a, err := r.array(o)
		if err != nil || a.Type == nil {
			return "", err
		}
		size := int64(a.Type.MT.ComponentSize)
		if n > 8*size*int64(a.len) {
			return "", target.Corruptf("%d bits in %d bytes", n, size*int64(a.len))
		}
		b, err := target.Bytes(r.b.Objects().Runtime().Memory(), a.addr(0), int((n+7)/8))
		if err != nil {
			return "", err
		}
		out := make([]byte, n)
		for i := range out {
			out[i] = '0' + b[i/8]>>(i%8)&1
		}
		return string(out), nil
	}}.checkCount()
}
