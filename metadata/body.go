package metadata

import "github.com/sosgo/sosgo/internal/base/cursor"

// A MethodBody is the IL of a method (ECMA-335 II.25.4).
type MethodBody struct {
	MaxStack   uint16
	InitLocals bool
	LocalSig   Token  // StandAloneSig of the local variables, or nil
	Code       []byte // part of the slice that was parsed
	Clauses    []Clause
	Header     int // bytes before Code
	Size       int // bytes of the body with its sections
}

// A ClauseKind is the condition under which the handler of a Clause runs (ECMA-335 II.25.4.6).
type ClauseKind uint32

// The kinds of a Clause.
const (
	ClauseCatch   ClauseKind = 0
	ClauseFilter  ClauseKind = 1
	ClauseFinally ClauseKind = 2
	ClauseFault   ClauseKind = 4
)

func (k ClauseKind) String() string {
	switch k {
	case ClauseCatch:
		return "catch"
	case ClauseFilter:
		return "filter"
	case ClauseFinally:
		return "finally"
	case ClauseFault:
		return "fault"
	}
	return "unknown"
}

// A Clause is one exception handler. Offsets and lengths are bytes of IL.
type Clause struct {
	Kind                         ClauseKind
	TryOffset, TryLength         uint32
	HandlerOffset, HandlerLength uint32
	CatchType                    Token  // for ClauseCatch: TypeDef, TypeRef or TypeSpec
	FilterOffset                 uint32 // for ClauseFilter
}

const (
	bodyFormatMask = 0x03
	bodyTiny       = 0x02
	bodyFat        = 0x03
	bodyMoreSects  = 0x08
	bodyInitLocals = 0x10

	sectEHTable   = 0x01
	sectKindMask  = 0x3F
	sectFat       = 0x40
	sectMoreSects = 0x80

	tinyMaxStack = 8 // for a tiny body, which does not record it
)

// ParseMethodBody decodes the body at the start of b. More bytes may follow it.
func ParseMethodBody(b []byte) (MethodBody, error) {
	c := cursor.New(b, 0)
	first := c.Uint8()
	var m MethodBody
	var err error
	switch {
	case c.Err() != nil:
	case first&bodyFormatMask == bodyTiny:
		m = MethodBody{MaxStack: tinyMaxStack, Code: c.Take(int(first >> 2)), Header: 1, Size: c.Offset()}
	case first&bodyFormatMask == bodyFat:
		m, err = parseFatBody(c)
	default:
		err = corruptf(0, "method body starts with %#x", first)
	}
	if err == nil && c.Err() != nil {
		err = &FormatError{Off: int64(c.Offset()), Msg: "method body", Err: c.Err()}
	}
	if err != nil {
		return MethodBody{}, err
	}
	return m, nil
}

func parseFatBody(c *cursor.Cursor) (MethodBody, error) {
	c.Seek(0)
	flags := c.Uint16()
	header := 4 * int(flags>>12)
	m := MethodBody{InitLocals: flags&bodyInitLocals != 0, MaxStack: c.Uint16(), Header: header}
	size := c.Uint32()
	m.LocalSig = Token(c.Uint32())
	if c.Err() == nil && header < c.Offset() {
		return m, corruptf(0, "method body with a header of %d bytes", header)
	}
	c.Seek(header)
	if c.Err() == nil && uint64(size) > uint64(c.Len()) {
		return m, corruptf(4, "%d bytes of IL, %d are left", size, c.Len())
	}
	m.Code = c.Take(int(size))
	for more := flags&bodyMoreSects != 0; more && c.Err() == nil; {
		var err error
		if more, err = m.parseSection(c); err != nil {
			return m, err
		}
	}
	m.Size = c.Offset()
	return m, nil
}

// parseSection reads one data section, which starts at a multiple of four bytes (ECMA-335 II.25.4.5). It
// reports whether another section follows. Each takes at least four bytes.
func (m *MethodBody) parseSection(c *cursor.Cursor) (more bool, err error) {
	c.Seek((c.Offset() + 3) &^ 3)
	start := c.Offset()
	head := c.Uint32()
	kind := uint8(head)
	size := int(head >> 8 & 0xFF)
	if kind&sectFat != 0 {
		size = int(head >> 8)
	}
	if c.Err() != nil {
		return false, nil
	}
	if size < 4 {
		return false, corruptf(start, "section of %d bytes", size)
	}
	if kind&sectKindMask == sectEHTable {
		if err := m.parseClauses(c, kind&sectFat != 0, size, start); err != nil {
			return false, err
		}
	}
	// Some compilers leave the header out of the size; the clauses may pass the end.
	c.Seek(max(c.Offset(), start+size))
	return kind&sectMoreSects != 0, nil
}

const (
	smallClauseSize = 12
	fatClauseSize   = 24
)

// parseClauses reads the clauses of an exception handling section. Rounding the division down gives the right
// count even if the size includes the header, which is smaller than a clause.
func (m *MethodBody) parseClauses(c *cursor.Cursor, fat bool, size, start int) error {
	one := smallClauseSize
	if fat {
		one = fatClauseSize
	}
	n := size / one
	if n > c.Len()/one {
		return corruptf(start, "%d exception clauses, %d bytes are left", n, c.Len())
	}
	for range n {
		cl := readClause(c, fat)
		if !cl.inside(len(m.Code)) {
			return corruptf(c.Offset()-one, "exception clause outside of %d bytes of IL", len(m.Code))
		}
		m.Clauses = append(m.Clauses, cl)
	}
	return nil
}

func readClause(c *cursor.Cursor, fat bool) Clause {
	var cl Clause
	if fat {
		cl.Kind = ClauseKind(c.Uint32())
		cl.TryOffset, cl.TryLength = c.Uint32(), c.Uint32()
		cl.HandlerOffset, cl.HandlerLength = c.Uint32(), c.Uint32()
	} else {
		cl.Kind = ClauseKind(c.Uint16())
		cl.TryOffset, cl.TryLength = uint32(c.Uint16()), uint32(c.Uint8())
		cl.HandlerOffset, cl.HandlerLength = uint32(c.Uint16()), uint32(c.Uint8())
	}
	last := c.Uint32()
	switch cl.Kind {
	case ClauseCatch:
		cl.CatchType = Token(last)
	case ClauseFilter:
		cl.FilterOffset = last
	}
	return cl
}

// inside reports whether the clause covers only IL of a body of size bytes.
func (c *Clause) inside(size int) bool {
	within := func(off, n uint32) bool {
		return uint64(off) <= uint64(size) && uint64(n) <= uint64(size)-uint64(off)
	}
	return within(c.TryOffset, c.TryLength) && within(c.HandlerOffset, c.HandlerLength) &&
		within(c.FilterOffset, 0)
}
