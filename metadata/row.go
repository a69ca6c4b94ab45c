package metadata

import "encoding/binary"

// A row is an undecoded row. The first failure sticks in err; columns of a row that failed are zero.
type row struct {
	b   []byte // nil after a failure
	t   *table
	off int // of the row in the metadata
	err error
}

// row finds row rid of a table. It checks the rid and that the bytes are there.
func (md *Metadata) row(id TableID, rid uint32) row {
	t := &md.tables[id]
	if rid-1 >= t.rows { // rid 0 wraps around
		return row{err: corruptf(t.off, "row %d of table %s, which has %d", rid, id, t.rows)}
	}
	off := t.off + int(rid-1)*int(t.rowSize)
	end := off + int(t.rowSize)
	if md.available != nil {
		if err := md.need(off, int(t.rowSize)); err != nil {
			return row{err: err}
		}
	}
	return row{b: md.b[off:end:end], t: t, off: off}
}

// u32 reads column i, whatever its width.
func (r *row) u32(i int) uint32 {
	if r.b == nil {
		return 0
	}
	c := r.t.cols[i]
	if c.size == 2 {
		return uint32(binary.LittleEndian.Uint16(r.b[c.off:]))
	}
	return binary.LittleEndian.Uint32(r.b[c.off:])
}

// u16 reads column i, which is two bytes wide.
func (r *row) u16(i int) uint16 { return uint16(r.u32(i)) }

// token reads column i, an index of table id.
func (r *row) token(i int, id TableID) Token {
	v := r.u32(i)
	if v > maxRID {
		r.fail("row %d of table %s can't be", v, id)
		return 0
	}
	return NewToken(id, v)
}

// coded reads column i, a coded index.
func (r *row) coded(i int, c codedIndex) Token {
	v := r.u32(i)
	t, ok := c.decode(v)
	if !ok && r.b != nil {
		r.fail("coded index %#x", v)
	}
	return t
}

func (r *row) fail(format string, args ...any) {
	if r.err == nil {
		r.err = corruptf(r.off, format, args...)
	}
}
