package nativeformat

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

// A MappedType is an entry of a program's map of types.
type MappedType struct {
	Fixup uint32 // index of its MethodTable in the table of fixups
	Type  Token
}

// TypeMap decodes a program's map of types (ReflectionMapBlob.TypeMap), a hash table of the native format.
func TypeMap(b []byte) ([]MappedType, error) {
	var out []MappedType
	err := eachEntry(b, func(d *decoder) {
		out = append(out, MappedType{Fixup: d.unsigned(), Type: Token(d.unsigned())})
	})
	return out, err
}

// An InvokableMethod is an entry of the map of methods that reflection can call.
type InvokableMethod struct {
	Method uint32 // offset of its record in the metadata
	Type   uint32 // index of its type's MethodTable in the table of fixups
	Code   uint32 // index of its code in the table of fixups; another value for a method without code
}

// InvokeMap decodes the map of methods that reflection can call (ReflectionMapBlob.InvokeMap): flags, in a
// number that differs between versions, followed by the entries. Callers must check that entries are
// consistent.
func InvokeMap(b []byte) ([]InvokableMethod, error) {
	var out []InvokableMethod
	err := eachEntry(b, func(d *decoder) {
		d.unsigned() // flags
		out = append(out, InvokableMethod{Method: d.unsigned(), Type: d.unsigned(), Code: d.unsigned()})
	})
	return out, err
}

// Entries calls use for each entry of a hash table, with all bytes from the entry on.
func Entries(b []byte, use func(entry []byte)) error {
	return eachEntry(b, func(d *decoder) {
		if d.at < 0 || d.at > len(d.b) {
			d.fail()
			return
		}
		use(d.b[d.at:])
	})
}

// eachEntry calls use for each entry of a hash table (NativeHashtable). A byte holds the logarithm of the
// number of buckets and the width of the following bucket offsets. A bucket holds entries of a hash byte and a
// relative offset.
func eachEntry(b []byte, use func(*decoder)) error {
	if len(b) == 0 {
		return target.Corruptf("native format: a hash table without a header")
	}
	shift, width := b[0]>>2, 1<<(b[0]&3)
	if b = b[1:]; shift > 31 || width > 4 || (int64(1)<<shift+1)*int64(width) > int64(len(b)) {
		return target.Corruptf("native format: a hash table of 1<<%d buckets in %d bytes", shift, len(b))
	}
	entries := 0
	for i := range 1 << shift {
		d := &decoder{b: b, at: start(b, i, width)}
		for end := start(b, i+1, width); d.at < end && d.err == nil; entries++ {
			if entries > len(b)/2 {
				return target.Corruptf("native format: a hash table with overlapping buckets")
			}
			d.take(1) // a byte of the hash code
			at := d.at
			entry := &decoder{b: b, at: at + int(d.signed())}
			if d.err != nil {
				break
			}
			if use(entry); entry.err != nil {
				return entry.err
			}
		}
		if d.err != nil {
			return d.err
		}
	}
	return nil
}

// start returns the offset of a bucket.
func start(b []byte, bucket, width int) int {
	p := b[bucket*width:]
	switch width {
	case 1:
		return int(p[0])
	case 2:
		return int(binary.LittleEndian.Uint16(p))
	}
	return int(binary.LittleEndian.Uint32(p))
}
