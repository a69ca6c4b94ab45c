// Package profileproto writes profiles for pprof: the message Profile of
// https://github.com/google/pprof/blob/main/proto/profile.proto, compressed with gzip. It does not read them.
// Start at New.
package profileproto

import (
	"compress/gzip"
	"encoding/binary"
	"io"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// A ValueType describes the values of samples.
type ValueType struct{ Type, Unit string }

// A Label is a label of a sample: a text or, if Text is empty, a number.
type Label struct {
	Key, Text string
	Number    int64
}

// A Profile is a profile under construction. IDs count from 1 in the order of the calls.
type Profile struct {
	out     []byte
	strings map[string]uint64
	table   []string

	functions map[[2]string]uint64
	mappings  map[string]uint64
	locations uint64
	parts     [3][]byte // messages under construction, nested
}

// Field numbers of Profile.
const (
	fieldSampleType        = 1
	fieldSample            = 2
	fieldMapping           = 3
	fieldLocation          = 4
	fieldFunction          = 5
	fieldStringTable       = 6
	fieldPeriodType        = 11
	fieldPeriod            = 12
	fieldDefaultSampleType = 14
)

// New returns a profile without samples. usual is the type shown first, and period the type of a period of 1.
func New(types []ValueType, usual string, period ValueType) *Profile {
	p := &Profile{strings: map[string]uint64{"": 0}, table: []string{""}, functions: map[[2]string]uint64{}, mappings: map[string]uint64{}}
	for _, t := range types {
		p.out = appendMessage(p.out, fieldSampleType, p.valueType(t))
	}
	p.out = appendMessage(p.out, fieldPeriodType, p.valueType(period))
	p.out = appendNumber(p.out, fieldPeriod, 1)
	p.out = appendNumber(p.out, fieldDefaultSampleType, p.string(usual))
	return p
}

func (p *Profile) valueType(t ValueType) []byte {
	p.parts[0] = appendNumber(appendNumber(p.parts[0][:0], 1, p.string(t.Type)), 2, p.string(t.Unit))
	return p.parts[0]
}

// string returns the index of s in the string table.
func (p *Profile) string(s string) uint64 {
	i, ok := p.strings[s]
	if !ok {
		i = uint64(len(p.table))
		p.strings[s] = i
		p.table = append(p.table, utf16text.Valid(s))
	}
	return i
}

// Mapping returns the ID of the module with that file name. Mappings have no addresses, and all their functions
// have names. lines reports that they also have lines.
func (p *Profile) Mapping(file string, lines bool) uint64 {
	id, ok := p.mappings[file]
	if ok {
		return id
	}
	id = uint64(len(p.mappings) + 1)
	p.mappings[file] = id
	b := appendNumber(p.parts[0][:0], 1, id)
	b = appendNumber(b, 5, p.string(file))
	b = appendNumber(appendNumber(b, 7, 1), 8, 1) // has_functions, has_filenames
	if lines {
		b = appendNumber(b, 9, 1)
	}
	p.parts[0] = b
	p.out = appendMessage(p.out, fieldMapping, b)
	return id
}

// Function returns the ID of a function. It omits system_name: pprof demangles names that equal theirs, and
// would remove the type arguments of C# as templates of C++.
func (p *Profile) Function(name, file string) uint64 {
	key := [2]string{name, file}
	id, ok := p.functions[key]
	if ok {
		return id
	}
	id = uint64(len(p.functions) + 1)
	p.functions[key] = id
	p.parts[0] = appendNumber(appendNumber(appendNumber(p.parts[0][:0], 1, id), 2, p.string(name)), 4, p.string(file))
	p.out = appendMessage(p.out, fieldFunction, p.parts[0])
	return id
}

// Location adds a place in a function and returns its ID.
func (p *Profile) Location(mapping, address, function uint64, line int64) uint64 {
	p.locations++
	p.parts[1] = appendNumber(appendNumber(p.parts[1][:0], 1, function), 2, uint64(line))
	b := appendNumber(appendNumber(appendNumber(p.parts[0][:0], 1, p.locations), 2, mapping), 3, address)
	p.parts[0] = appendMessage(b, 4, p.parts[1])
	p.out = appendMessage(p.out, fieldLocation, p.parts[0])
	return p.locations
}

// Sample adds a sample: its locations from the leaf on, a value of each type, and labels.
func (p *Profile) Sample(locations []uint64, values []int64, labels ...Label) {
	packed := p.parts[1][:0]
	for _, l := range locations {
		packed = binary.AppendUvarint(packed, l)
	}
	b := appendMessage(p.parts[0][:0], 1, packed)
	packed = packed[:0]
	for _, v := range values {
		packed = binary.AppendUvarint(packed, uint64(v))
	}
	b = appendMessage(b, 2, packed)
	p.parts[1] = packed
	for _, l := range labels {
		label := appendNumber(p.parts[2][:0], 1, p.string(l.Key))
		label = appendNumber(appendNumber(label, 2, p.string(l.Text)), 3, uint64(l.Number))
		b, p.parts[2] = appendMessage(b, 3, label), label
	}
	p.parts[0] = b
	p.out = appendMessage(p.out, fieldSample, b)
}

// Write writes the profile.
func (p *Profile) Write(w io.Writer) error {
	z := gzip.NewWriter(w)
	if _, err := z.Write(p.out); err != nil {
		return err
	}
	for _, s := range p.table {
		p.parts[0] = appendMessage(p.parts[0][:0], fieldStringTable, []byte(s))
		if _, err := z.Write(p.parts[0]); err != nil {
			return err
		}
	}
	return z.Close()
}

// appendNumber appends a field with a number. It omits zero, the default.
func appendNumber(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

// appendMessage appends a field with a length: a message, a string, or packed numbers.
func appendMessage(b []byte, field int, v []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(v))), v...)
}
