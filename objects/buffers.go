package objects

import (
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// bufferKinds returns the classes that hold characters, bytes or bits.
func bufferKinds() []kind {
	return []kind{
		storedKind((*Collections).builder, func(s *builder) CollectionStore { return store(&s.Length, nil, &s.Chars) }),
		storedKind((*Collections).stream, func(s *stream) CollectionStore { return store(&s.Length, nil, &s.Buffer) }),
		kindOf((*Collections).bits),
	}
}

// A builder is a chunk of a StringBuilder. Each chunk refers to the chunk before it.
type builder struct {
	_        Shape    `of:"System.Text.StringBuilder"`
	Chars    RefField `field:"m_ChunkChars"`
	Length   IntField `field:"m_ChunkLength"`
	Offset   IntField `field:"m_ChunkOffset"`
	Previous RefField `field:"m_ChunkPrevious"`
}

func (s *builder) next() *RefField { return &s.Previous }

func (r *Collections) builder(s *builder, f *reading) content {
	n := f.int(&s.Offset) + f.int(&s.Length)
	return content{count: n, text: func() (string, error) { return r.builderText(f.x.Object()) }}.checkCount()
}

// builderText joins the chunks. If a chunk is unreadable, it returns the text after that chunk, and an error.
func (r *Collections) builderText(last target.Addr) (string, error) {
	var parts [][]byte
	total := int64(0)
	var failure error
	follow(&nodes[*builder]{r: r}, last, 0, func(_ CollectionItem, err error) bool {
		failure = err
		return false
	}, func(s *builder, x Instance) (CollectionItem, bool, error) {
		f := reading{x: x}
		o, n := f.object(&s.Chars), f.int(&s.Length)
		if f.err != nil {
			return CollectionItem{}, false, f.err
		}
		a, err := r.array(o)
		if err != nil {
			return CollectionItem{}, false, err
		}
		if total += n; n < 0 || n > int64(a.len) || total > limits.StringBuilderChars {
			return CollectionItem{}, false, target.CorruptHeapf("a chunk of %d characters of %d, %d in all", n, a.len, total)
		}
		units, err := r.units(a.addr(0), n)
		parts = append(parts, units)
		return CollectionItem{}, false, err
	})
	slices.Reverse(parts)
	return utf16text.String(slices.Concat(parts...)), failure
}

// units reads n UTF-16 code units.
func (r *Collections) units(at target.Addr, n int64) ([]byte, error) {
	if n <= 0 {
		return nil, nil
	}
	if n > limits.StringBuilderChars {
		return nil, target.CorruptHeapf("%d characters", n)
	}
	return target.Bytes(r.b.Objects().Runtime().Memory(), at, int(2*n))
}

// A stream is a MemoryStream. Its content is a part of an array.
type stream struct {
	_      Shape    `of:"System.IO.MemoryStream"`
	Buffer RefField `field:"_buffer"`
	Origin IntField `field:"_origin"`
	Length IntField `field:"_length"`
}

func (r *Collections) stream(s *stream, f *reading) content {
	o, from, end := f.object(&s.Buffer), f.int(&s.Origin), f.int(&s.Length)
	return r.subarray(o, from, end-from)
}

// A bits is a BitArray. Its array has 32-bit words before .NET 10, and bytes since.
type bits struct {
	_      Shape    `of:"System.Collections.BitArray"`
	Array  RefField `field:"_array|m_array"`
	Length IntField `field:"_bitLength|m_length"`
}

func (r *Collections) bits(s *bits, f *reading) content {
	o, n := f.object(&s.Array), f.int(&s.Length)
	return content{count: n, text: func() (string, error) {
		a, err := r.array(o)
		if err != nil || a.Type == nil {
			return "", err
		}
		size := int64(a.Type.MT.ComponentSize)
		if n > 8*size*int64(a.len) {
			return "", target.CorruptHeapf("%d bits in %d bytes", n, size*int64(a.len))
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
