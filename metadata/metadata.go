// Package metadata reads the metadata of .NET modules (ECMA-335, 6th edition, II.22 to II.24) and of portable
// PDBs, which use the same format. It decodes tables, heaps, signatures, constants, custom attributes and IL
// method bodies from a byte slice. It does not find that slice: package image does so in a file, and package
// dac in a process.
//
// Start at Parse. It only computes where tables and heaps lie; rows are decoded on demand, by value. A Metadata
// is safe for concurrent use.
//
// Metadata taken from a dump may have holes: see Sparse.
//
// Stability: stable.
package metadata

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Metadata is the parsed metadata of one module or portable PDB.
type Metadata struct {
	b         []byte
	available func(off, n int) bool // nil if nothing is missing
	owner     any                   // keeps b reachable

	version string
	strings heap
	blobs   heap
	guids   heap
	user    heap
	pdb     *PDBInfo

	uncompressed bool
	largeRefs    bool // #JTD: every reference has four bytes
	heapSizes    uint8
	sorted       uint64
	tables       [numTables]table

	lookups   [numLookups]lookup
	ptrOwners [numTables]lookup
	types     typeIndex
}

// A heap is the range of a stream in the metadata, in bytes.
type heap struct{ off, size int }

// A table describes where a table lies and how its rows are laid out, in bytes.
type table struct {
	off     int
	rows    uint32
	rowSize uint8
	cols    [maxColumns]columnLayout
}

type columnLayout struct{ off, size uint8 }

// An Option changes how Parse treats its bytes.
type Option func(*Metadata)

// Sparse reports that parts of the metadata may be missing. The function reports whether the n bytes at off, counted
// from the start of the metadata, are all there; Parse and every method that needs a missing byte fail with
// target.ErrNotInDump, whatever the slice holds there. The function must be safe for concurrent use.
func Sparse(available func(off, n int) bool) Option {
	return func(md *Metadata) { md.available = available }
}

// Owner keeps owner reachable as long as the metadata: the mapped file that holds the bytes, for example.
func Owner(owner any) Option { return func(md *Metadata) { md.owner = owner } }

// PDBInfo is the #Pdb stream of a portable PDB (portable PDB v1.0, "#Pdb stream").
type PDBInfo struct {
	ID         [20]byte          // GUID of the PDB, then its stamp
	EntryPoint Token             // MethodDef, or nil
	TypeRows   [numTables]uint32 // rows of the module's own tables, by TableID
}

// Parse opens metadata that starts at b[0] with its root (signature BSJB). The caller must not change b while
// the Metadata is in use. Metadata that breaks the format is a *FormatError.
func Parse(b []byte, opts ...Option) (*Metadata, error) {
	md := &Metadata{b: b}
	for _, o := range opts {
		o(md)
	}
	if len(b) > limits.MetadataSize-1 {
		return nil, corruptf(0, "%d bytes of metadata", len(b))
	}
	streams, err := md.parseRoot()
	if err != nil {
		return nil, err
	}
	if err := md.parseStreams(streams); err != nil {
		return nil, err
	}
	return md, nil
}

const (
	rootSignature  = 0x424A5342 // "BSJB"
	maxStreamName  = 32         // with the NUL, ECMA-335 II.24.2.2
	maxVersionSize = 255        // ECMA-335 II.24.2.1
)

// streamSet holds the streams that the root lists, by name.
type streamSet struct {
	tables, pdb                 heap
	strings, blobs, guids, user heap
	haveTables, havePDB         bool
}

// parseRoot reads the metadata root and the stream headers (ECMA-335 II.24.2.1, II.24.2.2).
func (md *Metadata) parseRoot() (s streamSet, err error) {
	if err := md.need(0, min(16, len(md.b))); err != nil {
		return s, err
	}
	c := cursor.New(md.b, 0)
	if sig := c.Uint32(); c.Err() == nil && sig != rootSignature {
		return s, corruptf(0, "signature %#x instead of BSJB", sig)
	}
	c.Skip(8) // version of the format and a reserved word
	n := c.Uint32()
	if c.Err() == nil && n > maxVersionSize+1 {
		return s, corruptf(12, "version string of %d bytes", n)
	}
	if err := md.need(16, min(int(n)+4, c.Len())); err != nil {
		return s, err
	}
	version := c.Take(int(n))
	c.Skip(2) // flags
	count := int(c.Uint16())
	if c.Err() != nil {
		return s, &FormatError{Off: int64(c.Offset()), Msg: "metadata root", Err: c.Err()}
	}
	md.version = string(cutNUL(version))
	for range count {
		if err := md.parseStreamHeader(c, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func cutNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

func (md *Metadata) parseStreamHeader(c *cursor.Cursor, s *streamSet) error {
	start := c.Offset()
	off, size := c.Uint32(), c.Uint32()
	rest := md.b[c.Offset():min(len(md.b), c.Offset()+maxStreamName)]
	end := bytes.IndexByte(rest, 0)
	if c.Err() == nil && end < 0 {
		if err := md.need(start, 8+len(rest)); err != nil {
			return err
		}
		return corruptf(start, "stream name without end")
	}
	name := c.Take((end + 4) &^ 3)
	if err := md.need(start, c.Offset()-start); err != nil {
		return err
	}
	if c.Err() != nil {
		return &FormatError{Off: int64(start), Msg: "stream header", Err: c.Err()}
	}
	if uint64(off) > uint64(len(md.b)) || uint64(size) > uint64(len(md.b))-uint64(off) {
		return corruptf(start, "stream %q at %#x of %#x bytes passes the end", name[:end], off, size)
	}
	md.addStream(s, string(name[:end]), heap{int(off), int(size)})
	return nil
}

// addStream records a stream. The first of two streams with the same name counts, as in the runtime. Streams
// with unknown names are skipped.
func (md *Metadata) addStream(s *streamSet, name string, h heap) {
	set := func(dst *heap) {
		if *dst == (heap{}) {
			*dst = h
		}
	}
	switch name {
	case "#~", "#-":
		if !s.haveTables {
			s.tables, s.haveTables = h, true
			md.uncompressed = name == "#-"
		}
	case "#Strings":
		set(&s.strings)
	case "#Blob":
		set(&s.blobs)
	case "#GUID":
		set(&s.guids)
	case "#US":
		set(&s.user)
	case "#Pdb":
		if !s.havePDB {
			s.pdb, s.havePDB = h, true
		}
	case "#JTD":
		md.largeRefs = true
	}
}

func (md *Metadata) parseStreams(s streamSet) error {
	md.strings, md.blobs, md.guids, md.user = s.strings, s.blobs, s.guids, s.user
	if s.havePDB {
		if err := md.parsePDB(s.pdb); err != nil {
			return err
		}
	}
	if !s.haveTables {
		return corruptf(0, "no table stream")
	}
	return md.parseTables(s.tables)
}

func (md *Metadata) parsePDB(h heap) error {
	if err := md.need(h.off, h.size); err != nil {
		return err
	}
	c := cursor.New(md.b[h.off:h.off+h.size], int64(h.off))
	info := new(PDBInfo)
	copy(info.ID[:], c.Take(len(info.ID)))
	info.EntryPoint = Token(c.Uint32())
	present := c.Uint64()
	if present>>numTables != 0 {
		return corruptf(h.off, "#Pdb stream references tables %#x", present)
	}
	for m := present; m != 0; m &= m - 1 {
		info.TypeRows[bits.TrailingZeros64(m)] = c.Uint32()
	}
	if c.Err() != nil {
		return &FormatError{Off: int64(h.off), Msg: "#Pdb stream", Err: c.Err()}
	}
	md.pdb = info
	return nil
}

const (
	heapLargeStrings = 0x01
	heapLargeGUIDs   = 0x02
	heapLargeBlobs   = 0x04
	heapExtraData    = 0x40 // four more bytes follow the row counts
)

// parseTables reads the header of the #~ or #- stream (ECMA-335 II.24.2.6) and lays the tables out.
func (md *Metadata) parseTables(h heap) error {
	if err := md.need(h.off, min(24, h.size)); err != nil {
		return err
	}
	c := cursor.New(md.b[h.off:h.off+h.size], int64(h.off))
	c.Skip(6) // reserved and the version of the schema
	md.heapSizes = c.Uint8()
	c.Skip(1)
	valid := c.Uint64()
	md.sorted = c.Uint64()
	if valid>>numTables != 0 {
		return &FormatError{Off: int64(h.off), Msg: "table stream has unknown tables"}
	}
	counts := 4 * bits.OnesCount64(valid)
	if err := md.need(h.off+c.Offset(), min(counts, c.Len())); err != nil {
		return err
	}
	for m := valid; m != 0; m &= m - 1 {
		md.tables[bits.TrailingZeros64(m)].rows = c.Uint32()
	}
	if md.heapSizes&heapExtraData != 0 {
		c.Skip(4)
	}
	if c.Err() != nil {
		return &FormatError{Off: int64(h.off), Msg: "table stream", Err: c.Err()}
	}
	return md.layTables(h.off+c.Offset(), h.off+h.size)
}

// layTables computes the width of every column and the offset of every table from the row counts.
func (md *Metadata) layTables(off, end int) error {
	var rows [numTables]uint32
	for i := range md.tables {
		rows[i] = md.tables[i].rows
		if md.pdb != nil && rows[i] == 0 {
			rows[i] = md.pdb.TypeRows[i]
		}
	}
	for i := range md.tables {
		t := &md.tables[i]
		if rows[i] > maxRID || t.rows != 0 && schema[i].cols == nil {
			return corruptf(off, "%d rows in table %s", rows[i], TableID(i))
		}
		size := uint8(0)
		for j, col := range schema[i].cols {
			w := md.width(col, &rows)
			t.cols[j] = columnLayout{size, w}
			size += w
		}
		t.off, t.rowSize = off, size
		need := int64(t.rows) * int64(size)
		if need > int64(end-off) {
			return corruptf(off, "%d rows of %d bytes in table %s pass the end of the stream", t.rows, size, TableID(i))
		}
		off += int(need)
	}
	return nil
}

// width returns the size of a column in bytes.
func (md *Metadata) width(c column, rows *[numTables]uint32) uint8 {
	large := false
	switch c.kind {
	case kindU16:
		return 2
	case kindU32:
		return 4
	case kindString:
		large = md.heapSizes&heapLargeStrings != 0
	case kindGUID:
		large = md.heapSizes&heapLargeGUIDs != 0
	case kindBlob:
		large = md.heapSizes&heapLargeBlobs != 0
	case kindRow:
		large = rows[c.arg] > 0xFFFF
	case kindList:
		large = rows[c.arg] > 0xFFFF
		if p := ptrTable(TableID(c.arg)); rows[p] > 0 {
			large = rows[p] > 0xFFFF
		}
	case kindCoded:
		d := &codedIndexes[c.arg]
		for _, t := range d.tables {
			large = large || t != noTable && rows[t] > 0xFFFF>>d.bits
		}
	}
	if large || md.largeRefs {
		return 4
	}
	return 2
}

// need returns a *MissingError unless the dump has the n bytes at off.
func (md *Metadata) need(off, n int) error {
	if md.available == nil || n <= 0 || md.available(off, n) {
		return nil
	}
	return &MissingError{Off: int64(off), Size: n}
}

// Version returns the version string of the root, such as "v4.0.30319".
func (md *Metadata) Version() string { return md.version }

// RowCount returns the number of rows in a table.
func (md *Metadata) RowCount(t TableID) uint32 {
	if int(t) >= numTables {
		return 0
	}
	return md.tables[t].rows
}

// Uncompressed reports whether the tables come from a #- stream. Its lists may use Ptr tables, and its tables
// may be unsorted.
func (md *Metadata) Uncompressed() bool { return md.uncompressed }

// PDB returns the #Pdb stream, or nil for a module's metadata.
func (md *Metadata) PDB() *PDBInfo { return md.pdb }

// Sorted reports whether the writer declared a table sorted by its key.
func (md *Metadata) Sorted(t TableID) bool { return t < 64 && md.sorted>>t&1 != 0 }

// A Place is the range of a table or heap in the metadata.
type Place struct {
	Off, Size int // bytes from the metadata root
}

// Places lists the tables and heaps that are not empty, in the order of their offsets.
func (md *Metadata) Places() []Place {
	var out []Place
	for i := range md.tables {
		if t := &md.tables[i]; t.rows > 0 {
			out = append(out, Place{t.off, int(t.rows) * int(t.rowSize)})
		}
	}
	for _, h := range []heap{md.strings, md.user, md.guids, md.blobs} {
		if h.size > 0 {
			out = append(out, Place{h.off, h.size})
		}
	}
	slices.SortStableFunc(out, func(a, b Place) int { return cmp.Compare(a.Off, b.Off) })
	return out
}

// A FormatError reports metadata that breaks the format. It wraps target.ErrCorrupt, unless Err is
// target.ErrUnsupported.
type FormatError struct {
	Off int64  // bytes from the start of the parsed slice: the metadata root, a blob, a method body
	Msg string // what is wrong
	Err error  // cause, or nil
}

func (e *FormatError) Error() string {
	if e.Err == nil || e.Err == target.ErrUnsupported {
		return fmt.Sprintf("metadata at offset %#x: %s", e.Off, e.Msg)
	}
	return fmt.Sprintf("metadata at offset %#x: %s: %v", e.Off, e.Msg, e.Err)
}

// Unwrap returns the cause and the sentinel that classifies the error.
func (e *FormatError) Unwrap() []error {
	switch e.Err {
	case nil:
		return []error{target.ErrCorrupt}
	case target.ErrUnsupported:
		return []error{target.ErrUnsupported}
	}
	return []error{e.Err, target.ErrCorrupt}
}

// A MissingError reports metadata that is not in the dump. It wraps target.ErrNotInDump.
type MissingError struct {
	Off  int64 // bytes from the metadata root
	Size int   // bytes wanted at Off
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%d bytes of metadata at offset %#x are not in the dump", e.Size, e.Off)
}

// Unwrap returns target.ErrNotInDump.
func (e *MissingError) Unwrap() error { return target.ErrNotInDump }

func corruptf(off int, format string, args ...any) error {
	return &FormatError{Off: int64(off), Msg: fmt.Sprintf(format, args...)}
}
