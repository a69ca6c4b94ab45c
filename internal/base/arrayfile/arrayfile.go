// Package arrayfile stores arrays of plain values in files that are mapped instead of read, so that
// results that took seconds to compute are available at once the next time. A file has named
// sections, each with the bytes of one array, and a key that identifies the content; opening
// requires the key. Everything is verified by checksums before it is used. A truncated or damaged
// file is target.ErrCorrupt. A file with another key, version or byte order is
// target.ErrUnsupported. The caller checks what the arrays mean and whether they fit together.
//
// # Format
//
// The first page is the header, in little endian except for the mark:
//
//	0    16 bytes  magic
//	16   4         0x01020304 as the machine writes it: the arrays are in its byte order
//	20   4         version of the format
//	24   8         size of the file
//	32   32        key
//	64   8         number of sections
//	72   8         where the checksums are
//	80   32        SHA-256 of the rest of the header and of the checksums
//	112  40 each   sections: name (24 bytes), where it begins, how long it is
//
// Sections begin at page boundaries. They are followed by the checksums: the CRC-32C of each
// megabyte of each section.
package arrayfile

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

const (
	magic      = "sosgo arrays\r\n\x1a\n"
	mark       = 0x01020304
	version    = 1
	headSize   = 4096 // a page; sections begin at multiples of it
	digestAt   = 80
	entriesAt  = 112
	entrySize  = 40
	nameSize   = 24
	piece      = 1 << 20 // bytes with a checksum
	maxEntries = (headSize - entriesAt) / entrySize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Key identifies the content of a file.
type Key [sha256.Size]byte

// A Section is an array to be written.
type Section struct {
	Name string // at most 24 bytes
	Data []byte // see Bytes
}

// Bytes returns the memory of an array without copying it.
func Bytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(reflect.TypeFor[T]().Size()))
}

// Write writes a file atomically. It replaces a file written by Write; any other existing file is
// fs.ErrExist. The user alone can read it.
func Write(ctx context.Context, name string, key Key, sections []Section) error {
	if len(sections) > maxEntries {
		return fmt.Errorf("%s: %d arrays are too many for a file", name, len(sections))
	}
	head, sums := make([]byte, headSize), checksums(sections)
	copy(head, magic)
	binary.NativeEndian.PutUint32(head[16:], mark)
	binary.LittleEndian.PutUint32(head[20:], version)
	copy(head[32:], key[:])
	binary.LittleEndian.PutUint64(head[64:], uint64(len(sections)))
	at := uint64(headSize)
	for i, s := range sections {
		if len(s.Name) > nameSize || s.Name == "" {
			return fmt.Errorf("%s: an array can't be called %q", name, s.Name)
		}
		entry := head[entriesAt+i*entrySize:]
		copy(entry[:nameSize], s.Name)
		binary.LittleEndian.PutUint64(entry[nameSize:], at)
		binary.LittleEndian.PutUint64(entry[nameSize+8:], uint64(len(s.Data)))
		at = paged(at + uint64(len(s.Data)))
	}
	binary.LittleEndian.PutUint64(head[72:], at)
	binary.LittleEndian.PutUint64(head[24:], at+uint64(len(sums)))
	digest := digestOf(head, sums)
	copy(head[digestAt:], digest[:])
	return outfile.Write(name, outfile.Options{Guard: ours, Checked: true, Perm: outfile.Private}, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		for _, s := range sections {
			if err := writeSection(ctx, w, s.Data); err != nil {
				return err
			}
		}
		_, err := w.Write(sums)
		return err
	})
}

// writeSection writes an array, and zeros up to the next page.
func writeSection(ctx context.Context, w io.Writer, data []byte) error {
	rest := paged(uint64(len(data))) - uint64(len(data))
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := w.Write(data[:min(len(data), 8*piece)])
		if err != nil {
			return err
		}
		data = data[n:]
	}
	_, err := w.Write(make([]byte, rest))
	return err
}

// ours returns an error for a file of another kind, which must not be replaced.
func ours(name string, existing fs.FileInfo) error {
	f, err := mmapfile.OpenRegular(name)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic || !existing.Mode().IsRegular() {
		return fmt.Errorf("%s is a file of something else: %w", name, fs.ErrExist)
	}
	return nil
}

func paged(n uint64) uint64 { return (n + headSize - 1) &^ (headSize - 1) }

func checksums(sections []Section) []byte {
	var out []byte
	for _, s := range sections {
		for p := range slices.Chunk(s.Data, piece) {
			out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(p, castagnoli))
		}
	}
	return out
}

func digestOf(head, sums []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(head[:digestAt])
	h.Write(head[digestAt+sha256.Size:])
	h.Write(sums)
	return [sha256.Size]byte(h.Sum(nil))
}

// Options configures opening. The zero value maps the file and uses all processors.
type Options struct {
	NoMmap  bool            // read the file instead of mapping it
	Workers int             // goroutines that verify; 0 means one per processor
	Budget  *offheap.Budget // charged for the content if the file is not mapped
}

// A File is an open file with verified sections. Its memory is read-only and valid until Close; using
// it later, or writing to it, ends the program.
type File struct {
	file     *mmapfile.File
	read     *offheap.Array[uint64] // the content if the file is not mapped
	sections []section
}

type section struct {
	name string
	data []byte
}

// ErrKey reports a file with another key. It wraps target.ErrUnsupported.
var ErrKey = target.Unsupportedf("it is of something else")

// Open opens and verifies the named file. Errors are fs.ErrNotExist and others of the system, ctx's
// error, and the errors in the package comment.
func Open(ctx context.Context, name string, key Key, o Options) (*File, error) {
	file, err := mmapfile.Open(name, o.NoMmap)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	if err := f.open(ctx, key, o); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *File) open(ctx context.Context, key Key, o Options) error {
	size := uint64(f.file.Size())
	head := make([]byte, headSize)
	if _, err := f.file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	count, at, err := f.head(head, key, size)
	if err != nil {
		return err
	}
	all, err := f.bytes(ctx, size, o)
	if err != nil {
		return err
	}
	sums := all[at:]
	if digest := digestOf(head, sums); string(digest[:]) != string(head[digestAt:digestAt+sha256.Size]) {
		return target.Corruptf("the head of the file, or its checksums, are not as they were written")
	}
	for i := range count {
		entry := head[entriesAt+i*entrySize:][:entrySize]
		from, n := binary.LittleEndian.Uint64(entry[nameSize:]), binary.LittleEndian.Uint64(entry[nameSize+8:])
		if from%headSize != 0 || from < headSize || from > at || n > at-from {
			return target.Corruptf("section %d at %d of %d bytes is not in the file", i, from, n)
		}
		name := strings.TrimRight(string(entry[:nameSize]), "\x00")
		f.sections = append(f.sections, section{name, all[from : from+n : from+n]})
	}
	return f.check(ctx, sums, o.Workers)
}

// head verifies the first page. It returns the number of sections and where the checksums begin.
func (f *File) head(head []byte, key Key, size uint64) (sections int, sums uint64, err error) {
	switch {
	case size < headSize || string(head[:len(magic)]) != magic:
		return 0, 0, target.Corruptf("it is no file of arrays")
	case binary.NativeEndian.Uint32(head[16:]) != mark:
		return 0, 0, target.Unsupportedf("it is of a machine with another byte order")
	case binary.LittleEndian.Uint32(head[20:]) != version:
		return 0, 0, target.Unsupportedf("it has version %d of the format, and not %d", binary.LittleEndian.Uint32(head[20:]), version)
	case string(head[32:64]) != string(key[:]):
		return 0, 0, ErrKey
	case binary.LittleEndian.Uint64(head[24:]) != size:
		return 0, 0, target.Corruptf("it has %d bytes, and was written with %d", size, binary.LittleEndian.Uint64(head[24:]))
	}
	count, sums := binary.LittleEndian.Uint64(head[64:]), binary.LittleEndian.Uint64(head[72:])
	if count > maxEntries || sums < headSize || sums > size || (size-sums)%4 != 0 {
		return 0, 0, target.Corruptf("it has %d sections, and checksums at %d", count, sums)
	}
	return int(count), sums, nil
}

// bytes returns all bytes of the file.
func (f *File) bytes(ctx context.Context, size uint64, o Options) ([]byte, error) {
	if f.file.Mapped() {
		return f.file.Bytes(0, int(size)), nil
	}
	var err error
	if f.read, err = offheap.Make[uint64](o.Budget, int((size+7)/8)); err != nil {
		return nil, err
	}
	all := Bytes(f.read.Slice())[:size]
	for at := 0; at < len(all); at += piece {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		part := all[at:min(len(all), at+piece)]
		if n, err := f.file.ReadAt(part, int64(at)); n < len(part) {
			return nil, err
		}
	}
	return all, nil
}

// check verifies the checksums.
func (f *File) check(ctx context.Context, sums []byte, jobs int) error {
	var list [][]byte
	for _, s := range f.sections {
		list = slices.AppendSeq(list, slices.Chunk(s.data, piece))
	}
	if uint64(len(list))*4 != uint64(len(sums)) {
		return target.Corruptf("it has %d bytes of checksums for %d pieces", len(sums), len(list))
	}
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var next, bad atomic.Int64
	var group workers.Group
	for range min(jobs, len(list)) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				if crc32.Checksum(list[i], castagnoli) != binary.LittleEndian.Uint32(sums[4*i:]) {
					bad.Store(int64(i) + 1)
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if bad.Load() != 0 {
		return target.Corruptf("what is in the file is not what was written")
	}
	return nil
}

// Values returns the named section as values of type T, which must not contain pointers. A missing
// section, or one that is not a whole number of values, is target.ErrCorrupt.
func Values[T any](f *File, name string) ([]T, error) {
	i := slices.IndexFunc(f.sections, func(s section) bool { return s.name == name })
	size := int(reflect.TypeFor[T]().Size())
	if i < 0 || len(f.sections[i].data)%size != 0 {
		return nil, target.Corruptf("the file has no whole array %q", name)
	}
	if data := f.sections[i].data; len(data) > 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/size), nil
	}
	return nil, nil
}

// Close releases the file.
func (f *File) Close() error {
	f.read.Free()
	f.sections = nil
	return f.file.CloseNow()
}
