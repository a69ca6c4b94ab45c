package objects

import (
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// partForm returns the short form of a struct that is a part of an array, a string or other memory, or nil.
func partForm(name string) func(Struct, int, int) (answer.Line, bool) {
	var run func(Struct) (part, bool)
	switch name {
	case "System.Span`1", "System.ReadOnlySpan`1":
		run = Struct.span
	case "System.Memory`1", "System.ReadOnlyMemory`1":
		run = Struct.memory
	case "System.ArraySegment`1":
		run = Struct.arraySegment
	case "System.Collections.Immutable.ImmutableArray`1":
		run = Struct.immutableArray
	default:
		return fsharpStructForm(name)
	}
	return func(s Struct, limit, depth int) (answer.Line, bool) {
		p, ok := run(s)
		if !ok {
			return nil, false
		}
		return p.line(limit, depth), true
	}
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
		v := p.r.value(p.elem, p.at+target.Addr(uint64(i)*p.size), nil, p.typ)
		l = v.appendPlain(l, limit, depth+1)
		if v.err != nil && i+1 < p.n { // the others are most likely missing for the same reason
			l = appendWords(l, ", …")
			break
		}
	}
	return appendWords(l, "}")
}

// text returns the first characters.
func (p *part) text(limit int) answer.Line {
	if limit < 0 || limit > stringChunk {
		limit = stringChunk
	}
	b, err := target.Bytes(p.r.mem, p.at, 2*int(min(p.n, int64(limit))))
	if err != nil {
		return answer.Line{{Text: answer.Absent(err), Err: err}}
	}
	return answer.Line{{Text: utf16text.String(b), Quoted: true, Chars: uint32(p.n)}}
}

// span returns the memory of a Span. Before .NET 7 its byref is in a struct.
func (s Struct) span() (part, bool) {
	n, err := s.Field("_length").Int()
	if err != nil || n < 0 {
		return part{}, false
	}
	at := s.Field("_reference")
	if inner, err := s.Field("_pointer").Struct(); err == nil {
		at = inner.Field("_value")
	}
	a, err := at.Addr()
	if err != nil || a == 0 && n > 0 {
		return part{}, false
	}
	p := part{r: s.Type.r, at: a, n: n}
	return p, p.setElement(s.Type)
}

// setElement sets the elements' type, the argument of a generic type. It reports whether their size is known.
func (p *part) setElement(t *Type) bool {
	args, err := t.Arguments()
	if err != nil || len(args) != 1 {
		return false
	}
	mt, err := p.r.Runtime().TypeHandleMethodTable(args[0])
	if err != nil {
		return false
	}
	p.elem = metadata.ElementPtr
	if mt != 0 {
		if p.typ, err = p.r.Type(mt); err != nil {
			return false
		}
		p.elem = metadata.ElementClass
		if p.typ.MT.IsValueType() {
			if p.elem, err = p.typ.ElementType(); err != nil {
				return false
			}
		}
	}
	if p.size = uint64(Value{elem: p.elem}.Size()); p.size == 0 {
		p.size, _, err = p.typ.extent(0)
		parts, err2 := p.typ.InlineLength()
		return err == nil && err2 == nil && parts == 0 && p.typ.fits(p.size)
	}
	return true
}

// memory returns the part of an array or string that a Memory covers. The highest bit of the index marks a pinned
// array.
func (s Struct) memory() (part, bool) {
	from, err := s.Field("_index").Bits()
	n, err2 := s.Field("_length").Int()
	if err != nil || err2 != nil {
		return part{}, false
	}
	from &^= 1 << 31
	v := s.Field("_object")
	if v.IsNull() {
		return part{r: s.Type.r}, n == 0
	}
	o, err := v.Object()
	if err != nil || !o.IsString() {
		return o.part(err, int64(from), n)
	}
	at, length, err := o.Type.r.Runtime().StringChars(o.Addr)
	if err != nil || n < 0 || int64(from)+n > int64(length) {
		return part{}, false
	}
	return part{r: o.Type.r, at: at + target.Addr(2*from), n: n, size: 2, elem: metadata.ElementChar}, true
}

func (s Struct) arraySegment() (part, bool) {
	from, err := s.Field("_offset").Int()
	n, err2 := s.Field("_count").Int()
	v := s.Field("_array")
	if err != nil || err2 != nil || v.IsNull() {
		return part{}, false
	}
	o, err := v.Object()
	return o.part(err, from, n)
}

// immutableArray returns all elements. An uninitialised ImmutableArray has no array and no short form.
func (s Struct) immutableArray() (part, bool) {
	o, err := s.Field("array").Object()
	return o.part(err, 0, -1)
}

// part returns n elements of an array, or all if n is negative. It reports false if err is not nil.
func (o Object) part(err error, from, n int64) (part, bool) {
	if err != nil || o.Type == nil || !o.Type.MT.IsArray() {
		return part{}, false
	}
	a, err := o.Array()
	if n < 0 {
		n = int64(a.Len)
	}
	if err != nil || from < 0 || from+n > int64(a.Len) {
		return part{}, false
	}
	return part{r: o.Type.r, at: a.addr(uint64(from)), n: n, size: uint64(o.Type.MT.ComponentSize), elem: a.elem, typ: a.typ}, true
}
