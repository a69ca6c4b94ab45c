package metadata

import (
	"encoding/binary"
	"math"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// ConstantOf returns the compile-time value of a Field, Param or Property: a bool, Char, sized integer, float,
// string, or nil for a null reference. It returns false if the token has no constant.
func (md *Metadata) ConstantOf(t Token) (value any, ok bool, err error) {
	rows, err := md.byToken(TableConstant, 1, t)
	row, ok, err := only(rows, err, md.Constant)
	if !ok {
		return nil, false, err
	}
	b, err := md.Blob(row.Value)
	if err != nil {
		return nil, false, err
	}
	value, err = decodeConstant(row.Type, b)
	return value, err == nil, err
}

// A Char is a UTF-16 code unit, the value of a System.Char.
type Char uint16

// fixedSize returns the size in bytes of a value in constants and custom attributes, or 0 for types of variable
// size.
func fixedSize(e ElementType) int {
	switch e {
	case ElementBoolean, ElementI1, ElementU1:
		return 1
	case ElementChar, ElementI2, ElementU2:
		return 2
	case ElementI4, ElementU4, ElementR4:
		return 4
	case ElementI8, ElementU8, ElementR8:
		return 8
	}
	return 0
}

// fixedValue decodes the first fixedSize(e) bytes of b.
func fixedValue(e ElementType, b []byte) any {
	le := binary.LittleEndian
	switch e {
	case ElementBoolean:
		return b[0] != 0
	case ElementChar:
		return Char(le.Uint16(b))
	case ElementI1:
		return int8(b[0])
	case ElementU1:
		return b[0]
	case ElementI2:
		return int16(le.Uint16(b))
	case ElementU2:
		return le.Uint16(b)
	case ElementI4:
		return int32(le.Uint32(b))
	case ElementU4:
		return le.Uint32(b)
	case ElementI8:
		return int64(le.Uint64(b))
	case ElementU8:
		return le.Uint64(b)
	case ElementR4:
		return math.Float32frombits(le.Uint32(b))
	case ElementR8:
		return math.Float64frombits(le.Uint64(b))
	}
	return nil
}

// decodeConstant decodes the value of a Constant row (ECMA-335 II.22.9).
func decodeConstant(e ElementType, b []byte) (any, error) {
	switch n := fixedSize(e); {
	case e == ElementString:
		if len(b)%2 != 0 {
			return nil, corruptf(0, "constant string of %d bytes", len(b))
		}
		return utf16text.String(b), nil
	case e == ElementClass: // null
		return nil, nil
	case n == 0:
		return nil, corruptf(0, "constant of type %s", e)
	case len(b) < n:
		return nil, corruptf(0, "constant of type %s in %d bytes", e, len(b))
	}
	return fixedValue(e, b), nil
}

// IntegerBits returns the bits of a constant from ConstantOf in its own size, without sign extension. It
// returns false unless the constant is an integer, character or bool.
func IntegerBits(c any) (bits uint64, ok bool) {
	switch c := c.(type) {
	case bool:
		if c {
			return 1, true
		}
		return 0, true
	case Char:
		return uint64(c), true
	case int8:
		return uint64(uint8(c)), true
	case uint8:
		return uint64(c), true
	case int16:
		return uint64(uint16(c)), true
	case uint16:
		return uint64(c), true
	case int32:
		return uint64(uint32(c)), true
	case uint32:
		return uint64(c), true
	case int64:
		return uint64(c), true
	case uint64:
		return c, true
	}
	return 0, false
}
