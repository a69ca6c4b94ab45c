package minidump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

var le = binary.LittleEndian

// A location is MINIDUMP_LOCATION_DESCRIPTOR.
type location struct{ size, rva uint32 }

func locationAt(b []byte) location { return location{le.Uint32(b), le.Uint32(b[4:])} }

// read returns the n bytes at off of the file. It checks the range before it allocates.
func (f *File) read(stream string, off, n int64) ([]byte, error) {
	return readSource(f.src, stream, off, n)
}

func readSource(src target.Source, stream string, off, n int64) ([]byte, error) {
	size := src.Size()
	if off < 0 || n < 0 || n > math.MaxInt || off > size || n > size-off {
		msg := fmt.Sprintf("%d bytes wanted, the file has %d bytes", n, size)
		return nil, &FormatError{Stream: stream, Off: off, Msg: msg, Err: io.ErrUnexpectedEOF}
	}
	if b := src.Bytes(off, int(n)); b != nil {
		return b, nil
	}
	b := make([]byte, n)
	if got, err := src.ReadAt(b, off); int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, &FormatError{Stream: stream, Off: off + int64(got), Msg: "the file ends early", Err: io.ErrUnexpectedEOF}
		}
		return nil, fmt.Errorf("minidump %s at file offset %#x: %w", stream, off, err)
	}
	return b, nil
}

// A section is the body of a stream, cut at the end of the file.
type section struct {
	name string
	off  int64
	size uint32 // as in the directory; list detects padding by it
	b    []byte
}

// section returns the body of the stream of type t, and whether there is one. A stream that reaches
// past the end of the file is cut with a warning.
func (f *File) section(t StreamType, n *notes) (section, bool) {
	st, ok := f.stream(t)
	if !ok {
		return section{}, false
	}
	s := section{name: st.Name(), off: int64(st.RVA), size: st.Size}
	want := int64(st.Size)
	if left := max(f.src.Size()-s.off, 0); want > left {
		n.add(s.errorf(0, io.ErrUnexpectedEOF, "%d of the stream's %d bytes are in the file", left, want))
		want = left
	}
	if want == 0 {
		return section{}, false
	}
	b, err := f.read(s.name, s.off, want)
	if err != nil {
		n.add(err)
		return section{}, false
	}
	s.b = b
	return s, true
}

// errorf returns an error for the byte at off of the section.
func (s *section) errorf(off int, err error, format string, args ...any) *FormatError {
	return &FormatError{Stream: s.name, Off: s.off + int64(off), Msg: fmt.Sprintf(format, args...), Err: err}
}

// cursor returns a cursor at the start of the section.
func (s *section) cursor() *cursor.Cursor { return cursor.New(s.b, s.off) }

// A table holds the elements of a list stream: whole elements of stride bytes.
type table struct {
	b      []byte
	stride int
}

func (t table) len() int {
	if t.stride == 0 {
		return 0
	}
	return len(t.b) / t.stride
}

func (t table) at(i int) []byte { return t.b[i*t.stride:][:t.stride] }

// A bound is the maximum number of elements of a list.
type bound struct {
	elements int
	option   string // names the limit that the user may raise; "" if it is fixed
}

func (f *File) mostRanges() bound  { return bound{int(f.limits.Ranges), " (limit ranges)"} }
func (f *File) mostThreads() bound { return bound{int(f.limits.Threads), " (limit threads)"} }

// list reads a list of the form {uint32 count, elements}. Some writers align the elements to eight
// bytes; only the size of the stream shows it.
func (s *section) list(stride int, most bound, n *notes) table {
	c := s.cursor()
	count := uint64(c.Uint32())
	if c.Err() != nil {
		n.add(s.errorf(0, c.Err(), "no element count"))
		return table{}
	}
	if uint64(s.size) == 8+count*uint64(stride) {
		c.Skip(4)
	}
	return s.table(c.Offset(), count, stride, most, n)
}

// headedList reads a list of the form {uint32 header size, uint32 element size, count, elements}
// (MINIDUMP_MEMORY_INFO_LIST and others). Writers may append fields to the header and to elements.
// If wide is set, the count has eight bytes.
func (s *section) headedList(header, stride int, wide bool, most bound, n *notes) table {
	c := s.cursor()
	headerSize, elementSize := uint64(c.Uint32()), uint64(c.Uint32())
	var count uint64
	if wide {
		count = c.Uint64()
	} else {
		count = uint64(c.Uint32())
	}
	switch {
	case c.Err() != nil:
		n.add(s.errorf(0, c.Err(), "no list header"))
		return table{}
	case headerSize < uint64(header) || headerSize > uint64(len(s.b)):
		n.add(s.errorf(0, nil, "header size %d", headerSize))
		return table{}
	case elementSize < uint64(stride) || elementSize > uint64(s.size):
		// An empty list may omit the size of its elements.
		if count > 0 {
			n.add(s.errorf(4, nil, "element size %d", elementSize))
		}
		return table{}
	}
	return s.table(int(headerSize), count, int(elementSize), most, n)
}

// table returns count elements, cut to those in the file and within the limit.
func (s *section) table(off int, count uint64, stride int, most bound, n *notes) table {
	if fit := uint64((len(s.b) - off) / stride); count > fit {
		n.add(s.errorf(off, io.ErrUnexpectedEOF, "%d elements of %d bytes claimed, %d are there", count, stride, fit))
		count = fit
	}
	if count > uint64(most.elements) {
		n.add(target.Limitf("minidump %s at file offset %#x: %d elements: the first %d are read%s", s.name, s.off+int64(off), count, most.elements, most.option))
		count = uint64(most.elements)
	}
	return table{s.b[off:][:int(count)*stride], stride}
}

// A nameReader reads what the elements of one list point to. The total is limited to the size of
// the file: valid records don't overlap, and a list of elements that all point to one long name
// must not make the reader allocate.
type nameReader struct {
	f      *File
	stream string
	left   int64
}

func (f *File) names(stream string) *nameReader {
	return &nameReader{f: f, stream: stream, left: f.src.Size()}
}

// bytes returns the n bytes at rva.
func (r *nameReader) bytes(rva uint32, n int64) ([]byte, error) {
	if n > r.left && n <= r.f.src.Size() {
		return nil, &FormatError{Stream: r.stream, Off: int64(rva), Msg: "names and records overlap one another"}
	}
	b, err := r.f.read(r.stream, int64(rva), n)
	if err == nil {
		r.left -= n
	}
	return b, err
}

// maxName is the maximum length of a name in bytes of UTF-16.
const maxName = 2 * limits.PathBytes

// string reads the MINIDUMP_STRING at rva: a length in bytes and UTF-16 text. The RVA 0 is the empty string.
func (r *nameReader) string(rva uint32) (string, error) {
	if rva == 0 {
		return "", nil
	}
	head, err := r.bytes(rva, 4)
	if err != nil {
		return "", err
	}
	n := le.Uint32(head)
	if n > maxName {
		return "", &FormatError{Stream: r.stream, Off: int64(rva), Msg: fmt.Sprintf("name of %d bytes", n)}
	}
	if rva > rva+4 {
		return "", &FormatError{Stream: r.stream, Off: int64(rva), Msg: "name past the 32-bit offsets"}
	}
	b, err := r.bytes(rva+4, int64(n))
	if err != nil {
		return "", err
	}
	return decodeUTF16(b), nil
}

// decodeUTF16 decodes b up to its first NUL.
func decodeUTF16(b []byte) string {
	u := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		c := le.Uint16(b)
		if c == 0 {
			break
		}
		u = append(u, c)
	}
	return utf16text.FromUnits(u)
}

// decodeBytes returns b up to its first NUL.
func decodeBytes(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
