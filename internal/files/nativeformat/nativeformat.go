// Package nativeformat decodes what the NativeAOT compiler adds to a program for reflection and stack traces:
// the ReadyToRun header that lists its blobs, the metadata with the names of types and methods, and the maps
// from the program's structures to that metadata. It works on bytes, and does not read a process; package dac
// does.
//
// Start at RowsOf, Sections and Open. The format is dotnet/runtime's: src/coreclr/tools/Common/Internal/Runtime
// (ModuleHeaders.cs, MetadataBlob.cs), Internal/Metadata/NativeFormat (Generator/SchemaDef.cs) and
// Internal/NativeFormat (NativeFormatReader.*.cs).
package nativeformat

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Kinds of sections with names: ReadyToRunSectionType, and ReflectionMapBlob counted from 300.
const (
	SectionGCStatics     = 201
	SectionThreadStatics = 202
	SectionTypeMap       = 301
	SectionInvokeMap     = 306
	SectionFixups        = 308
	SectionMetadata      = 313
	SectionStackTrace    = 327
)

// HeaderSignature starts a ReadyToRun header: "RTR" and a zero.
const HeaderSignature = 0x00525452

// Sizes in bytes of a header and of a row, and the flag of a row with an end.
const (
	HeaderSize = 16
	rowSize    = 24
	hasEnd     = 1
)

// A Section is a part of the program listed in its header.
type Section struct {
	Kind       uint32
	Start, End target.Addr // End is Start if the header lacks it
}

// RowsOf returns the number of bytes of the rows that follow the first HeaderSize bytes of a header, b. It
// returns target.ErrCorrupt unless b is the header of a NativeAOT program.
func RowsOf(b []byte) (int, error) {
	if len(b) < HeaderSize || binary.LittleEndian.Uint32(b) != HeaderSignature {
		return 0, target.Corruptf("no ReadyToRun header")
	}
	n := int(binary.LittleEndian.Uint16(b[12:]))
	if n == 0 || n > limits.NativeSections || b[14] != rowSize {
		return 0, target.Corruptf("ReadyToRun header of %d sections of %d bytes", n, b[14])
	}
	return n * rowSize, nil
}

// Sections decodes the rows of a header. All sections must be inside the program.
func Sections(rows []byte, program target.Range) ([]Section, error) {
	var out []Section
	for ; len(rows) >= rowSize; rows = rows[rowSize:] {
		le := binary.LittleEndian
		s := Section{Kind: le.Uint32(rows), Start: target.Addr(le.Uint64(rows[8:]))}
		if s.End = s.Start; le.Uint32(rows[4:])&hasEnd != 0 {
			s.End = target.Addr(le.Uint64(rows[16:]))
		}
		if s.End < s.Start || s.Start < program.Start || s.End > program.End {
			return nil, target.Corruptf("section %d of a ReadyToRun header is %x to %x", s.Kind, uint64(s.Start), uint64(s.End))
		}
		out = append(out, s)
	}
	return out, nil
}

// A decoder reads numbers of variable length from a blob. err is the first failure.
type decoder struct {
	b   []byte
	at  int
	err error
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = target.Corruptf("native format: a number at %#x of %#x bytes", d.at, len(d.b))
	}
}

// take returns the next n bytes, or nil after a failure.
func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || d.at < 0 || d.at > len(d.b) || n > len(d.b)-d.at {
		d.fail()
		return nil
	}
	b := d.b[d.at : d.at+n]
	d.at += n
	return b
}

// number reads an integer of one to five bytes, and returns its number of bits. The first byte's low bits
// encode the number of bytes.
func (d *decoder) number() (uint32, uint) {
	if d.err != nil || d.at < 0 || d.at >= len(d.b) {
		d.fail()
		return 0, 32
	}
	width := 1
	for first := d.b[d.at]; first&1 != 0 && width < 5; first >>= 1 {
		width++
	}
	b := d.take(width)
	if b == nil {
		return 0, 32
	}
	if width == 5 {
		return binary.LittleEndian.Uint32(b[1:]), 32
	}
	var v uint32
	for i, x := range b {
		v |= uint32(x) << (8 * i)
	}
	return v >> width, uint(7 * width)
}

func (d *decoder) unsigned() uint32 {
	v, _ := d.number()
	return v
}

func (d *decoder) signed() int32 {
	v, bits := d.number()
	return int32(v<<(32-bits)) >> (32 - bits)
}

// count reads the number of elements of a list. Each takes at least one byte.
func (d *decoder) count() int {
	n := d.unsigned()
	if d.err == nil && int64(n) > int64(len(d.b)-d.at) {
		d.err = target.Corruptf("native format: a list of %d at %#x of %#x bytes", n, d.at, len(d.b))
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

// list reads a list of offsets or handles.
func (d *decoder) list() []uint32 {
	out := make([]uint32, 0, d.count())
	for range cap(out) {
		out = append(out, d.unsigned())
	}
	return out
}

// skipList skips a list of offsets or handles.
func (d *decoder) skipList() {
	for range d.count() {
		d.unsigned()
	}
}

func (d *decoder) text() string {
	n := d.count()
	if n > limits.IdentifierBytes {
		d.fail()
	}
	b := d.take(n)
	if d.err == nil && !utf8.Valid(b) {
		d.err = target.Corruptf("native format: a name at %#x is no UTF-8", d.at-n)
	}
	return string(b)
}
