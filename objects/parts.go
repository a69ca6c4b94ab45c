package objects

import (
	"cmp"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// partForm returns the short form of a struct that is a part of an array, a string or other memory, or nil.
func partForm(name string) func(Struct, int, int) (answer.Line, bool) {
	run := partReader(name)
	if run == nil {
		return fsharpStructForm(name)
	}
	return func(s Struct, limit, depth int) (answer.Line, bool) {
		p, err := run(s)
		if err != nil {
			return nil, false
		}
		return p.line(limit, depth), true
	}
}

// partReader returns the reader of a struct that is a part of an array, a string or other memory, or nil.
func partReader(name string) func(Struct) (part, error) {
	switch name {
	case "System.Span`1", "System.ReadOnlySpan`1":
		return Struct.span
	case "System.Memory`1", "System.ReadOnlyMemory`1":
		return Struct.memory
	case "System.ArraySegment`1":
		return Struct.arraySegment
	case "System.Collections.Immutable.ImmutableArray`1":
		return Struct.immutableArray
	}
	return nil
}

// A part is a run of elements in memory.
type part struct {
	r    *Reader
	at   target.Addr
	n    int64
	size uint64 // bytes of an element
	elem metadata.ElementType
	typ  *Type // the elements' type, nil for pointers
}

// Units returns the bytes of a Memory, an ArraySegment, a Span or an ImmutableArray of bytes or characters, at most limit elements, and the size of
// an element in bytes. ok is false for other structs, for those without elements, and if their memory is not in the dump.
func (s Struct) Units(limit int) (units []byte, size int, ok bool) {
	if s.Type == nil {
		return nil, 0, false
	}
	name, err := s.Type.openName()
	if err != nil {
		return nil, 0, false
	}
	run := partReader(name)
	if run == nil {
		return nil, 0, false
	}
	p, err := run(s)
	if err != nil || p.n <= 0 || p.size == 0 || p.size > 2 || unitSize(p.value(0)) == 0 {
		return nil, 0, false
	}
	units, err = target.Bytes(p.r.mem, p.at, int(min(p.n, int64(limit)))*int(p.size))
	return units, int(p.size), err == nil
}

// line formats the number of elements and the first elements, or quoted text.
func (p *part) line(limit, depth int) answer.Line {
	if p.elem == metadata.ElementChar {
		return p.text(limit)
	}
	l := appendWords(nil, "("+strconv.FormatInt(p.n, 10)+") {")
	for i := range p.n {
		if i > 0 {
			l = appendWords(l, ", ")
		}
		if i == inlineFields {
			l = appendWords(l, "…")
			break
		}
		v := p.value(i)
		l = v.appendPlain(l, limit, depth+1)
		if v.err != nil && i+1 < p.n { // the others are most likely missing for the same reason
			l = appendWords(l, ", …")
			break
		}
	}
	return appendWords(l, "}")
}

// value returns the element i, 0 <= i < n.
func (p *part) value(i int64) Value {
	return p.r.value(p.elem, p.at+target.Addr(uint64(i)*p.size), nil, p.typ)
}

// text returns the first characters.
func (p *part) text(limit int) answer.Line {
	if limit < 0 || limit > stringChunk {
		limit = stringChunk
	}
	b, err := target.Bytes(p.r.mem, p.at, 2*int(min(p.n, int64(limit))))
	if err = target.InHeap(err); err != nil {
		return answer.Line{{Text: answer.Absent(err), Err: err}}
	}
	return answer.Line{{Text: utf16text.String(b), Quoted: true, Chars: uint32(p.n)}}
}

// span returns the memory of a Span. Before .NET 7 its byref is in a struct.
func (s Struct) span() (part, error) {
	n, err := s.Field("_length").Int()
	if err != nil {
		return part{}, err
	}
	at := s.Field("_reference")
	if inner, err := s.Field("_pointer").Struct(); err == nil {
		at = inner.Field("_value")
	}
	a, err := at.Addr()
	if err != nil {
		return part{}, err
	}
	if n < 0 || a == 0 && n > 0 {
		return part{}, target.CorruptHeapf("a span of %d elements at %#x", n, uint64(a))
	}
	p := part{r: s.Type.r, at: a, n: n}
	return p, p.setElement(s.Type)
}

// setElement sets the elements' type and size. The type is the argument of a generic type.
func (p *part) setElement(t *Type) error {
	args, err := t.arguments()
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return target.Unsupportedf("type %016x has %d type arguments", uint64(t.MT.Addr), len(args))
	}
	mt, err := p.r.Runtime().TypeHandleMethodTable(args[0])
	if err != nil {
		return err
	}
	p.elem = metadata.ElementPtr
	if mt != 0 {
		if p.typ, err = p.r.TrustedType(mt); err != nil {
			return err
		}
		p.elem = metadata.ElementClass
		if p.typ.MT.IsValueType() {
			if p.elem, err = p.typ.ElementType(); err != nil {
				return err
			}
		}
	}
	if p.size = uint64(Value{elem: p.elem}.Size()); p.size > 0 {
		return nil
	}
	return p.setStructSize()
}

// setStructSize sets the size of elements that are structs.
func (p *part) setStructSize() (err error) {
	if p.size, _, err = p.typ.extent(0); err != nil {
		return err
	}
	inline, err := p.typ.InlineLength()
	if err == nil && (inline != 0 || !p.typ.fits(p.size)) {
		err = target.Unsupportedf("the size of a %016x in place is unknown", uint64(p.typ.MT.Addr))
	}
	return err
}

// memory returns the part of an array or string that a Memory covers. The highest bit of the index marks a pinned
// array.
func (s Struct) memory() (part, error) {
	from, err := s.Field("_index").Bits()
	n, err2 := s.Field("_length").Int()
	v := s.Field("_object")
	if err := cmp.Or(err, err2, v.Err()); err != nil {
		return part{}, err
	}
	from &^= 1 << 31
	if v.IsNull() {
		if n != 0 {
			return part{}, target.CorruptHeapf("a Memory of %d elements without an object", n)
		}
		return part{r: s.Type.r}, nil
	}
	o, err := v.Object()
	switch {
	case err != nil:
		return part{}, err
	case o.Type.MT.IsArray():
		return o.part(nil, int64(from), n)
	case !o.IsString():
		return part{}, target.Unsupportedf("the memory of the MemoryManager at %016x", uint64(o.Addr))
	}
	at, length, err := o.Type.r.Runtime().StringChars(o.Addr)
	if err != nil {
		return part{}, err
	}
	if n < 0 || int64(from)+n > int64(length) {
		return part{}, target.CorruptHeapf("%d characters from %d of a string of %d", n, from, length)
	}
	return part{r: o.Type.r, at: at + target.Addr(2*from), n: n, size: 2, elem: metadata.ElementChar}, nil
}

// arraySegment returns the part of the array. The default ArraySegment has no array: it is target.ErrNull.
func (s Struct) arraySegment() (part, error) {
	from, err := s.Field("_offset").Int()
	n, err2 := s.Field("_count").Int()
	if err := cmp.Or(err, err2); err != nil {
		return part{}, err
	}
	o, err := s.Field("_array").Object()
	return o.part(err, from, n)
}

// immutableArray returns all elements. An uninitialised ImmutableArray has no array: it is target.ErrNull.
func (s Struct) immutableArray() (part, error) {
	o, err := s.Field("array").Object()
	return o.part(err, 0, -1)
}

// part returns n elements of an array, or all if n is negative. It fails with err if that is not nil.
func (o Object) part(err error, from, n int64) (part, error) {
	if err != nil {
		return part{}, err
	}
	a, err := o.Array()
	if err != nil {
		return part{}, err
	}
	if n < 0 {
		n = int64(a.Len)
	}
	if from < 0 || from+n > int64(a.Len) {
		return part{}, target.CorruptHeapf("%d elements from %d of an array of %d", n, from, a.Len)
	}
	return part{r: o.Type.r, at: a.addr(uint64(from)), n: n, size: uint64(o.Type.MT.ComponentSize), elem: a.elem, typ: a.typ}, nil
}
