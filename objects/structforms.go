package objects

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/ticks"
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
	n, err := s.integer(names...)
	return n, err == nil
}

// dateTime formats a DateTime.
func (s Struct) dateTime() (string, bool) {
	t, err := s.readDateTime()
	if err != nil {
		return "", false
	}
	text := t.Format("2006-01-02T15:04:05.9999999")
	switch t.Location() {
	case time.UTC:
		text += "Z"
	case localTime:
		text += " (local)"
	}
	return text, true
}

func (s Struct) dateTimeOffset() (string, bool) {
	t, err := s.readDateTimeOffset()
	return t.Format("2006-01-02T15:04:05.9999999-07:00"), err == nil
}

func (s Struct) timeSpan() (string, bool) {
	n, err := s.readTimeSpan()
	return ticks.Span(n), err == nil
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
	g, err := s.readGUID()
	return g.String(), err == nil
}

// decimal formats a Decimal with all decimal places that it stores.
func (s Struct) decimal() (string, bool) {
	d, err := s.readDecimal()
	if err != nil {
		return "", false
	}
	digits := d.digits.String()
	if len(digits) <= d.scale {
		digits = strings.Repeat("0", d.scale-len(digits)+1) + digits
	}
	if d.scale > 0 {
		digits = digits[:len(digits)-d.scale] + "." + digits[len(digits)-d.scale:]
	}
	if d.negative {
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
	v, has, err := s.readNullable()
	if err != nil {
		return l
	}
	if !has {
		return appendWords(l, "null")
	}
	return v.appendPlain(l, limit, depth+1)
}
