package parquetfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// statistics holds the least and the greatest value of a page or chunk in the order of the column's logical
// type, and the number of nulls.
type statistics struct {
	typ                     Type
	known                   bool // there is a value
	least, greatest         uint64
	leastText, greatestText []byte
	nulls                   int64
}

// addText adds a value. It returns the value as UTF-8.
func (s *statistics) addText(v []byte) []byte {
	if !utf8.Valid(v) {
		v = []byte(utf16text.Valid(string(v)))
	}
	s.addRange(v, v)
	return v
}

func (s *statistics) addRange(least, greatest []byte) {
	if !s.known || bytes.Compare(least, s.leastText) < 0 {
		s.leastText = least
	}
	if !s.known || bytes.Compare(greatest, s.greatestText) > 0 {
		s.greatestText = greatest
	}
	s.known = true
}

func (s *statistics) addNumber(v uint64) {
	if s.typ == Double && math.IsNaN(math.Float64frombits(v)) {
		return // NaN has no order
	}
	if !s.known || s.less(v, s.least) {
		s.least = v
	}
	if !s.known || s.less(s.greatest, v) {
		s.greatest = v
	}
	s.known = true
}

func (s *statistics) less(a, b uint64) bool {
	switch s.typ {
	case Int:
		return int64(a) < int64(b)
	case Double:
		return math.Float64frombits(a) < math.Float64frombits(b)
	}
	return a < b
}

// merge adds the statistics of other.
func (s *statistics) merge(other *statistics) {
	s.nulls += other.nulls
	switch {
	case !other.known:
	case s.typ == Text:
		s.addRange(other.leastText, other.greatestText)
	default:
		s.addNumber(other.least)
		s.addNumber(other.greatest)
	}
}

// bounds returns the least and the greatest value in the encoding PLAIN, without a length.
func (s *statistics) bounds() (least, greatest []byte) {
	switch s.typ {
	case Text:
		return s.leastText, s.greatestText
	case Bool:
		return []byte{byte(s.least)}, []byte{byte(s.greatest)}
	}
	return binary.LittleEndian.AppendUint64(nil, s.least), binary.LittleEndian.AppendUint64(nil, s.greatest)
}

func (s *statistics) write(t *thriftWriter, id int) {
	t.begin(id)
	t.i64(3, s.nulls)
	if s.known {
		least, greatest := s.bounds()
		t.bytes(5, greatest)
		t.bytes(6, least)
	}
	t.end()
}
