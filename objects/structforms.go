package objects

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// textForm returns the short form of a struct of System.Private.CoreLib, or nil. A form finds fields by name. A struct
// without the expected fields is shown like any other.
func textForm(name string) func(Struct) (string, bool) {
	switch name {
	case "System.DateTime":
		return Struct.dateTime
	case "System.DateTimeOffset":
		return Struct.dateTimeOffset
	case "System.TimeSpan":
		return Struct.timeSpan
	case "System.DateOnly":
		return Struct.dateOnly
	case "System.TimeOnly":
		return Struct.timeOnly
	case "System.Guid":
		return Struct.guid
	case "System.Decimal":
		return Struct.decimal
	case "System.Half":
		return Struct.half
	case "System.Int128":
		return func(s Struct) (string, bool) { return s.int128(true) }
	case "System.UInt128":
		return func(s Struct) (string, bool) { return s.int128(false) }
	case "System.Numerics.BigInteger":
		return Struct.bigInteger
	case "System.Threading.CancellationToken":
		return Struct.cancellationToken
	case "System.Index":
		return Struct.index
	case "System.Range":
		return Struct.indexRange
	case "System.IntPtr", "System.UIntPtr":
		return Struct.native
	}
	return nil
}

// number returns the bits of the integer field that has one of the names.
func (s Struct) number(names ...string) (uint64, bool) {
	for _, n := range names {
		v := s.Field(n)
		switch v.Kind() {
		case KindInt:
			i, err := v.Int()
			return uint64(i), err == nil
		case KindUint, KindBool, KindChar:
			return v.bits, true
		}
	}
	return 0, false
}

// DateTime returns the time in the field of a DateTime, in UTC whatever its kind. The low 62 bits are ticks; the upper
// two are the kind (0 unspecified, 1 UTC, 2 and 3 local). An unset DateTime is the zero Time.
func DateTime(data uint64) (time.Time, error) {
	n := data & (1<<62 - 1)
	if n > ticks.Max {
		return time.Time{}, target.Corruptf("a DateTime of %#x", data)
	}
	return ticks.Time(int64(n)), nil
}

// dateTime formats a DateTime.
func (s Struct) dateTime() (string, bool) {
	data, ok := s.number("_dateData", "dateData")
	if !ok {
		return "", false
	}
	t, err := DateTime(data)
	if err != nil {
		return "", false
	}
	text := t.Format("2006-01-02T15:04:05.9999999")
	switch data >> 62 {
	case 1:
		text += "Z"
	case 2, 3:
		text += " (local)"
	}
	return text, true
}

func (s Struct) dateTimeOffset() (string, bool) {
	d, err := s.Field("_dateTime").Struct()
	if err != nil {
		return "", false
	}
	data, ok := d.number("_dateData", "dateData")
	if !ok {
		return "", false
	}
	minutes, ok := s.number("_offsetMinutes")
	n := data & (1<<62 - 1)
	if !ok || n > ticks.Max || int64(minutes) > 14*60 || int64(minutes) < -14*60 {
		return "", false
	}
	zone := time.FixedZone("", int(int64(minutes))*60)
	return ticks.Time(int64(n)).In(zone).Format("2006-01-02T15:04:05.9999999-07:00"), true
}

func (s Struct) timeSpan() (string, bool) {
	n, ok := s.number("_ticks")
	return ticks.Span(int64(n)), ok
}

func (s Struct) dateOnly() (string, bool) {
	days, ok := s.number("_dayNumber")
	if !ok || days > ticks.Max/ticks.PerDay {
		return "", false
	}
	return ticks.Time(int64(days) * ticks.PerDay).Format("2006-01-02"), true
}

func (s Struct) timeOnly() (string, bool) {
	n, ok := s.number("_ticks")
	if !ok || n >= ticks.PerDay {
		return "", false
	}
	return ticks.Span(int64(n)), true
}

func (s Struct) guid() (string, bool) {
	var g metadata.GUID
	a, ok := s.number("_a")
	if !ok {
		return "", false
	}
	binary.LittleEndian.PutUint32(g[0:], uint32(a))
	for i, name := range []string{"_b", "_c"} {
		v, ok := s.number(name)
		if !ok {
			return "", false
		}
		binary.LittleEndian.PutUint16(g[4+2*i:], uint16(v))
	}
	for i := range 8 {
		v, ok := s.number("_" + string(rune('d'+i)))
		if !ok {
			return "", false
		}
		g[8+i] = byte(v)
	}
	return g.String(), true
}

// decimal formats a Decimal: 96 bits, a scale in bits 16 to 23 of the flags, and a sign in bit 31.
func (s Struct) decimal() (string, bool) {
	flags, ok := s.number("_flags", "flags")
	hi, ok2 := s.number("_hi32", "hi")
	if !ok || !ok2 {
		return "", false
	}
	lo64, ok := s.number("_lo64")
	if !ok { // two words before .NET 5
		lo, ok1 := s.number("lo")
		mid, ok2 := s.number("mid")
		if !ok1 || !ok2 {
			return "", false
		}
		lo64 = uint64(uint32(mid))<<32 | uint64(uint32(lo))
	}
	scale := int(uint32(flags) >> 16 & 0xff)
	if scale > 28 {
		return "", false
	}
	n := new(big.Int).SetUint64(uint64(uint32(hi)))
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo64))
	digits := n.String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if uint32(flags)>>31 != 0 {
		digits = "-" + digits
	}
	return digits, true
}

// half formats an IEEE 754 binary16.
func (s Struct) half() (string, bool) {
	v, ok := s.number("_value", "m_value")
	if !ok {
		return "", false
	}
	sign, exp, frac := 1.0, int(v>>10&0x1f), float64(v&0x3ff)
	if v>>15&1 != 0 {
		sign = -1
	}
	var f float64
	switch exp {
	case 0:
		f = sign * math.Ldexp(frac, -24)
	case 31:
		f = math.Inf(int(sign))
		if frac != 0 {
			f = math.NaN()
		}
	default:
		f = sign * math.Ldexp(1024+frac, exp-25)
	}
	return strconv.FormatFloat(f, 'g', 5, 64), true
}

func (s Struct) int128(signed bool) (string, bool) {
	lower, ok := s.number("_lower")
	upper, ok2 := s.number("_upper")
	if !ok || !ok2 {
		return "", false
	}
	n := new(big.Int).SetUint64(upper)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lower))
	if signed && upper>>63 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return n.String(), true
}

// native formats a boxed IntPtr or UIntPtr.
func (s Struct) native() (string, bool) {
	for _, v := range s.Fields() {
		a, err := v.Addr()
		return "0x" + strconv.FormatUint(uint64(a), 16), err == nil
	}
	return "", false
}

// appendNullable appends the value of a Nullable<T>. It appends nothing if the struct does not have the expected
// fields.
func (s Struct) appendNullable(l answer.Line, limit, depth int) answer.Line {
	has, err := s.Field("hasValue").Bool()
	if err != nil {
		return l
	}
	if !has {
		return appendWords(l, "null")
	}
	v := s.Field("value")
	return v.appendPlain(l, limit, depth+1)
}
