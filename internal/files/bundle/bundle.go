// Package bundle reads the bundle of a single-file app: the files appended to the program, and the manifest
// that lists them. It does not find the manifest's offset in a process; package modfiles does that. Start at
// Place and Read.
//
// The format is dotnet/runtime's: docs/design/features/single-file of dotnet/designs (bundler.md) and
// src/native/corehost/bundle. Version 1 is .NET Core 3, with programs that first extract all files to a folder.
// Version 2 is .NET 5. Version 6, which supports compression, is .NET 6 and later.
package bundle

import (
	"bytes"
	"compress/flate"
	"io"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// mark follows the placeholder for the manifest's offset: the SHA-256 of ".net core bundle\n"
// (bundle_marker.cpp).
var mark = [32]byte{
	0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
	0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
}

// PlaceBytes is the size of the placeholder before the mark.
const PlaceBytes = 8

// A Kind is the kind of a bundled file (file_type.h).
type Kind uint8

// The kinds.
const (
	KindUnknown Kind = iota
	KindAssembly
	KindNative
	KindDeps
	KindRuntimeConfig
	KindSymbols
	kinds
)

// A File is an entry of a manifest.
type File struct {
	Path   string // relative to the program's folder, with slashes
	Kind   Kind
	Offset int64 // in the program's file, in bytes
	Size   int64 // of the unpacked file, in bytes
	Packed int64 // bytes in the program's file if compressed, else 0
}

// Stored returns the size of the file in the program's file, in bytes.
func (f *File) Stored() int64 {
	if f.Packed > 0 {
		return f.Packed
	}
	return f.Size
}

// A Manifest lists the files of a bundle.
type Manifest struct {
	Offset       int64 // of the manifest, in the program's file
	Major, Minor uint32
	ID           string
	// Extracts reports that the program extracts all files to a folder and loads them there, as in version 1.
	Extracts bool
	Files    []File
}

// Place returns the index in b of the PlaceBytes bytes with the manifest's offset, or -1 if b does not contain
// the mark.
func Place(b []byte) int {
	i := bytes.Index(b, mark[:])
	if i < PlaceBytes {
		return -1
	}
	return i - PlaceBytes
}

// Sizes of the fixed parts of a manifest, in bytes.
const (
	headBytes      = 12
	locationsBytes = 40 // from version 2 on
	entryBytes     = 18 // with an empty name, before version 6
	flagExtracts   = 1  // netcoreapp3_compat_mode
)

// Read decodes the manifest at an offset of a program's file. It returns target.ErrUnsupported for an unknown
// version, and target.ErrCorrupt for an invalid manifest.
func Read(src target.Source, offset int64) (*Manifest, error) {
	if offset <= 0 || offset >= src.Size() {
		return nil, target.Corruptf("bundle: its manifest lies at %#x of %#x bytes", offset, src.Size())
	}
	size := int(min(src.Size()-offset, limits.BundleManifest))
	b := src.Bytes(offset, size)
	if b == nil {
		b = make([]byte, size)
		if n, err := src.ReadAt(b, offset); n < size {
			return nil, target.Corruptf("bundle: its manifest at %#x: %w", offset, err)
		}
	}
	c := cursor.New(b, offset)
	m := &Manifest{Offset: offset, Major: c.Uint32(), Minor: c.Uint32()}
	known := m.Minor == 0 && (m.Major == 1 || m.Major == 2 || m.Major == 6)
	if c.Err() == nil && !known {
		return nil, target.Unsupportedf("bundle of version %d.%d", m.Major, m.Minor)
	}
	count := c.Count(entryBytes)
	m.ID = text(c)
	m.Extracts = m.Major == 1
	if m.Major >= 2 {
		c.Skip(locationsBytes - 8)
		m.Extracts = c.Uint64()&flagExtracts != 0
	}
	for range count {
		f, err := m.file(c, src.Size())
		if err != nil {
			return nil, err
		}
		m.Files = append(m.Files, f)
	}
	if c.Err() != nil {
		return nil, target.Corruptf("bundle: %w", c.Err())
	}
	return m, nil
}

// file decodes an entry. The file must be inside the program's file.
func (m *Manifest) file(c *cursor.Cursor, size int64) (File, error) {
	f := File{Offset: int64(c.Uint64()), Size: int64(c.Uint64())}
	if m.Major >= 6 {
		f.Packed = int64(c.Uint64())
	}
	f.Kind = Kind(c.Uint8())
	f.Path = text(c)
	switch {
	case c.Err() != nil:
		return f, target.Corruptf("bundle: %w", c.Err())
	case f.Kind >= kinds, f.Offset <= 0, f.Size < 0, f.Packed < 0, f.Offset > size, f.Stored() > size-f.Offset:
		return f, target.Corruptf("bundle: file %q of kind %d has %d bytes at %#x of %#x", f.Path, f.Kind, f.Stored(), f.Offset, size)
	}
	return f, nil
}

// text decodes a string with a length prefix of seven bits per byte.
func text(c *cursor.Cursor) string {
	var n uint64
	for shift := 0; ; shift += 7 {
		b := c.Uint8()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		if shift > 21 {
			c.Fail(target.Corruptf("a length of more than 28 bits"))
			return ""
		}
	}
	if n > limits.PathBytes {
		c.Fail(target.Corruptf("a text of %d bytes", n))
	}
	return string(c.Take(int(n)))
}

// At returns the file that contains an offset of the program's file, or nil.
func (m *Manifest) At(offset uint64) *File {
	for i := range m.Files {
		f := &m.Files[i]
		if start := uint64(f.Offset); start <= offset && offset < start+uint64(f.Stored()) {
			return f
		}
	}
	return nil
}

// Extent returns the number of bytes that a process maps of the file, in whole pages, from an offset of the
// program's file at or before the file's start.
func (f *File) Extent(offset, page uint64) uint64 {
	return (uint64(f.Offset) + uint64(f.Stored()) - offset + page - 1) &^ (page - 1)
}

// Starting returns the file at the start of a mapping of length bytes of the program's file. Its first byte is
// in the mapping's first page. A page may hold several small files, or the end of one and the start of the
// next. Starting returns the file with its end at the end of the mapping. Without such a file it returns the
// only one that begins in the page, if less of it is mapped or the mapping continues after it. It returns nil
// if no file begins there or several may.
func (m *Manifest) Starting(offset, length, page uint64) *File {
	var fits, only *File
	nFits, n := 0, 0
	for i := range m.Files {
		f := &m.Files[i]
		if start := uint64(f.Offset); start < offset || start-offset >= page || f.Stored() == 0 {
			continue
		}
		only = f
		n++
		if f.Extent(offset, page) == length {
			fits = f
			nFits++
		}
	}
	switch {
	case nFits == 1:
		return fits
	case n == 1:
		return only
	}
	return nil
}

// Open returns the content of a bundled file of the program's file src. It unpacks a compressed file. The size
// must match the manifest and be at most most bytes; else it returns target.ErrCorrupt or
// target.ErrUnsupported.
func Open(src target.Source, f *File, most int64) (target.Source, error) {
	if f.Packed == 0 {
		return section{src, f.Offset, f.Size}, nil
	}
	switch {
	case f.Size > most:
		return nil, target.Unsupportedf("bundle: %s has %d bytes once it is unpacked, more than %d", f.Path, f.Size, most)
	case f.Size/limits.DeflateRatio > f.Packed:
		return nil, target.Corruptf("bundle: %s has %d bytes in %d", f.Path, f.Size, f.Packed)
	}
	packed := io.NewSectionReader(src, f.Offset, f.Packed)
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(flate.NewReader(packed), f.Size+1))
	switch {
	case err != nil:
		return nil, target.Corruptf("bundle: %s: %w", f.Path, err)
	case n != f.Size:
		return nil, target.Corruptf("bundle: %s has not the %d bytes that the manifest says", f.Path, f.Size)
	}
	return target.BytesSource(out.Bytes()), nil
}

// A section is a part of a Source.
type section struct {
	src       target.Source
	off, size int64
}

// ReadAt implements io.ReaderAt.
func (s section) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size {
		return 0, io.EOF
	}
	n := min(int64(len(p)), s.size-off)
	got, err := s.src.ReadAt(p[:n], s.off+off)
	if err == nil && n < int64(len(p)) {
		err = io.EOF
	}
	return got, err
}

// Bytes implements target.Source.
func (s section) Bytes(off int64, n int) []byte { return s.src.Bytes(s.off+off, n) }

// Size implements target.Source.
func (s section) Size() int64 { return s.size }
