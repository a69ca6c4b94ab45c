package objects

import (
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// This file reads structs of System.Private.CoreLib as Go values. Fields are found by name, because their order differs
// between versions. The error is target.ErrUnsupported for a version with other fields.

// instance returns the struct that v holds in place or in a box. The error is target.ErrArgument unless the type has one
// of the names, without type arguments.
func (v Value) instance(names ...string) (Struct, error) {
	var s Struct
	var err error
	if v.Kind() == KindReference {
		var o Object
		if o, err = v.Object(); err == nil {
			s, err = o.Unbox()
		}
	} else {
		s, err = v.Struct()
	}
	if err != nil {
		return Struct{}, err
	}
	name, err := s.Type.openName()
	if err == nil && !slices.Contains(names, name) {
		err = target.Argumentf("the value is of type %s, not %s", name, strings.Join(names, " or "))
	}
	return s, err
}

// openName returns the type's name without type arguments: "System.Nullable`1".
func (t *Type) openName() (string, error) {
	name, err := t.Name()
	if i := strings.IndexByte(name, '['); i > 0 {
		name = name[:i]
	}
	return name, err
}

// integer returns the bits of the integer field that has one of the names, sign-extended if its type is signed. The
// error is target.ErrUnsupported if the struct has no such field.
func (s Struct) integer(names ...string) (uint64, error) {
	for _, n := range names {
		v := s.Field(n)
		switch v.Kind() {
		case KindInt:
			return uint64(v.signed()), nil
		case KindUint, KindBool, KindChar:
			return v.bits, nil
		}
		if err := v.Err(); err != nil && !errors.Is(err, target.ErrNoSuch) {
			return 0, err
		}
	}
	return 0, target.Unsupportedf("this version of the struct has no integer field %s", strings.Join(names, " or "))
}

// Nullable returns the value in a Nullable<T>, and reports whether it has one. The error is target.ErrArgument for other
// types.
func (v Value) Nullable() (value Value, has bool, err error) {
	s, err := v.instance("System.Nullable`1")
	if err != nil {
		return Value{}, false, err
	}
	return s.readNullable()
}

func (s Struct) readNullable() (value Value, has bool, err error) {
	if has, err = s.Field("hasValue").Bool(); err != nil || !has {
		return Value{}, false, err
	}
	return s.Field("value"), true, nil
}

// Enum returns the text that Enum.ToString returns: a name, names of flags, or the number. Int and Uint return the
// number. The error is target.ErrArgument if the value is not an enum.
func (v Value) Enum() (string, error) {
	t, err := v.Type()
	if err := cmp.Or(v.err, err); err != nil {
		return "", err
	}
	if v.Kind() == KindReference {
		return "", v.want(KindInt)
	}
	e, err := t.Enum()
	if err != nil {
		return "", err
	}
	return e.Format(v.bits), nil
}

// The locations of a DateTime that is not in UTC. The dump does not say which zone was the process's.
var (
	localTime       = time.FixedZone("local", 0)
	unspecifiedTime = time.FixedZone("unspecified", 0)
)

// DateTime returns the time in the field of a DateTime, in UTC whatever its kind. The low 62 bits are ticks; the upper
// two are the kind (0 unspecified, 1 UTC, 2 and 3 local). An unset DateTime is the zero Time.
func DateTime(data uint64) (time.Time, error) {
	n := data & (1<<62 - 1)
	if n > ticks.Max {
		return time.Time{}, target.CorruptHeapf("a DateTime of %#x", data)
	}
	return ticks.Time(int64(n)), nil
}

// Time returns the time of a DateTime or a DateTimeOffset, in place or boxed. A DateTimeOffset has its offset as its
// location. A DateTime of kind UTC is in time.UTC. The name of another DateTime's location is "local" or "unspecified",
// and its offset is 0: the date and the clock are as stored, and the instant is unknown. The error is
// target.ErrArgument for other types.
func (v Value) Time() (time.Time, error) {
	s, err := v.instance("System.DateTime", "System.DateTimeOffset")
	if err != nil {
		return time.Time{}, err
	}
	if name, _ := s.Type.openName(); name == "System.DateTime" { // instance has read the name
		return s.readDateTime()
	}
	return s.readDateTimeOffset()
}

func (s Struct) readDateTime() (time.Time, error) {
	data, err := s.integer("_dateData", "dateData")
	if err != nil {
		return time.Time{}, err
	}
	t, err := DateTime(data)
	if err != nil {
		return time.Time{}, err
	}
	return t.In([]*time.Location{unspecifiedTime, time.UTC, localTime, localTime}[data>>62]), nil
}

// readDateTimeOffset reads the time in UTC and the offset in minutes.
func (s Struct) readDateTimeOffset() (time.Time, error) {
	d, err := s.Field("_dateTime").Struct()
	if err != nil {
		return time.Time{}, err
	}
	t, err := d.readDateTime()
	minutes, err2 := s.integer("_offsetMinutes")
	if err := cmp.Or(err, err2); err != nil {
		return time.Time{}, err
	}
	const most = 14 * 60
	m := int64(minutes)
	if m < -most || m > most {
		return time.Time{}, target.CorruptHeapf("a DateTimeOffset of %d minutes", m)
	}
	return t.In(time.FixedZone("", int(m)*60)), nil
}

// Duration returns the length of a TimeSpan, in place or boxed. The error is target.ErrArgument for other types, and
// target.ErrUnsupported for more than the 292 years of a time.Duration, such as TimeSpan.MaxValue.
func (v Value) Duration() (time.Duration, error) {
	s, err := v.instance("System.TimeSpan")
	if err != nil {
		return 0, err
	}
	n, err := s.readTimeSpan()
	const tick = 100 // nanoseconds
	if err == nil && (n > math.MaxInt64/tick || n < math.MinInt64/tick) {
		err = target.Unsupportedf("a TimeSpan of %s does not fit in a time.Duration", ticks.Span(n))
	}
	if err != nil {
		return 0, err
	}
	return time.Duration(n * tick), nil
}

// readTimeSpan reads a number of ticks of 100 ns.
func (s Struct) readTimeSpan() (int64, error) {
	n, err := s.integer("_ticks")
	return int64(n), err
}

// GUID returns the value of a Guid, in place or boxed. The error is target.ErrArgument for other types.
func (v Value) GUID() (target.GUID, error) {
	s, err := v.instance("System.Guid")
	if err != nil {
		return target.GUID{}, err
	}
	return s.readGUID()
}

func (s Struct) readGUID() (g target.GUID, err error) {
	read := func(name string) (n uint64) {
		if err == nil {
			n, err = s.integer(name)
		}
		return n
	}
	le := binary.LittleEndian
	le.PutUint32(g[0:], uint32(read("_a")))
	le.PutUint16(g[4:], uint16(read("_b")))
	le.PutUint16(g[6:], uint16(read("_c")))
	for i := range 8 {
		g[8+i] = byte(read("_" + string(rune('d'+i))))
	}
	if err != nil {
		return target.GUID{}, err
	}
	return g, nil
}

// Decimal returns the exact value of a Decimal, in place or boxed. Plain also has the zeros at its end. The error is
// target.ErrArgument for other types.
func (v Value) Decimal() (*big.Rat, error) {
	s, err := v.instance("System.Decimal")
	if err != nil {
		return nil, err
	}
	d, err := s.readDecimal()
	if err != nil {
		return nil, err
	}
	if d.negative {
		d.digits.Neg(d.digits)
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.scale)), nil)
	return new(big.Rat).SetFrac(d.digits, power), nil
}

// A decimal is digits divided by ten to the power of scale.
type decimal struct {
	digits   *big.Int
	scale    int // 0 to 28
	negative bool
}

// readDecimal reads 96 bits, a scale in bits 16 to 23 of the flags, and a sign in bit 31.
func (s Struct) readDecimal() (decimal, error) {
	flags, err := s.integer("_flags", "flags")
	hi, err2 := s.integer("_hi32", "hi")
	if err := cmp.Or(err, err2); err != nil {
		return decimal{}, err
	}
	lo64, err := s.integer("_lo64")
	if errors.Is(err, target.ErrUnsupported) { // two words before .NET 5
		lo, err1 := s.integer("lo")
		mid, err2 := s.integer("mid")
		lo64, err = uint64(uint32(mid))<<32|uint64(uint32(lo)), cmp.Or(err1, err2)
	}
	if err != nil {
		return decimal{}, err
	}
	d := decimal{scale: int(uint32(flags) >> 16 & 0xff), negative: uint32(flags)>>31 != 0}
	if d.scale > 28 {
		return decimal{}, target.CorruptHeapf("a Decimal with %d decimal places", d.scale)
	}
	d.digits = new(big.Int).SetUint64(uint64(uint32(hi)))
	d.digits.Lsh(d.digits, 64).Or(d.digits, new(big.Int).SetUint64(lo64))
	return d, nil
}

// A Slice is a run of elements in memory, as an array or a Span has. Its elements are read when they are asked for.
type Slice struct{ p part }

// Slice returns the elements of an array, a Span, a Memory, an ArraySegment or an ImmutableArray, also of the read-only
// ones. An array of several dimensions is in memory order. The error is target.ErrNull for a null array,
// target.ErrUnsupported for the memory of a MemoryManager, and target.ErrArgument for other types.
func (v Value) Slice() (Slice, error) {
	if v.Kind() == KindReference {
		o, err := v.Object()
		p, err := o.part(err, 0, -1)
		return Slice{p}, err
	}
	s, err := v.Struct()
	if err != nil {
		return Slice{}, err
	}
	name, err := s.Type.openName()
	if err != nil {
		return Slice{}, err
	}
	run := partReader(name)
	if run == nil {
		return Slice{}, target.Argumentf("a %s is not a run of elements", name)
	}
	p, err := run(s)
	return Slice{p}, err
}

// Len returns the number of elements that the slice claims. Elements may be missing from the dump.
func (s Slice) Len() int64 { return s.p.n }

// Element returns the type of the elements, nil for pointers and for an empty Memory.
func (s Slice) Element() *Type { return s.p.typ }

// At returns the element i, counted from 0. The value's error is target.ErrArgument if i is out of bounds.
func (s Slice) At(i int64) Value {
	if i < 0 || i >= s.p.n {
		return Value{err: target.Argumentf("element %d of %d", i, s.p.n)}
	}
	return s.p.value(i)
}

// All iterates over the elements with their indexes. It ends after the first element that is not in the dump, so that a
// damaged length does not make it long.
func (s Slice) All() iter.Seq2[int64, Value] {
	return func(yield func(int64, Value) bool) {
		for i := range s.p.n {
			v := s.p.value(i)
			if v.err == nil && v.kind() == KindStruct {
				_, err := target.Bytes(s.p.r.mem, v.at, int(s.p.size))
				v.err = target.InHeap(err)
			}
			if !yield(i, v) || v.err != nil {
				return
			}
		}
	}
}

// Text returns the text of characters, at most limit UTF-16 code units, or all if limit is negative. The error is
// target.ErrArgument for other elements.
func (s Slice) Text(limit int) (string, error) {
	n := s.p.n
	if n == 0 {
		return "", nil
	}
	if s.p.elem != metadata.ElementChar {
		return "", target.Argumentf("the elements are not characters")
	}
	if limit >= 0 {
		n = min(n, int64(limit))
	}
	var b []byte
	d := utf16text.Decoder{Emit: func(piece []byte) error {
		b = append(b, piece...)
		return nil
	}}
	err := decode(&d, s.p.r.mem, s.p.at, n)
	if err == nil {
		err = d.Finish(n < s.p.n)
	}
	return string(b), err
}
