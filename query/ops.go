package query

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// ErrNoAnswer is wrapped by the error of an expression without a result, whatever the dump holds: a division by zero, a
// member of null, a missing element, an operator that is not defined for its operands. Such errors also wrap
// target.ErrUnsupported.
var ErrNoAnswer = errors.New("the expression has no answer")

type noAnswerError struct{ text string }

func (e *noAnswerError) Error() string { return e.text }

func (e *noAnswerError) Unwrap() []error { return []error{ErrNoAnswer, target.ErrUnsupported} }

func noAnswer(format string, args ...any) error { return &noAnswerError{fmt.Sprintf(format, args...)} }

// errNull reports that an expression reads a member of null.
var errNull = noAnswer("a null reference")

var (
	errOverflow = noAnswer("the result has more than 64 bits")
	errZero     = noAnswer("a division by zero")
)

// kindError returns the error for an operator that is not defined for values of these kinds.
func (f *frame) kindError(op string, vs ...Value) Value {
	words := make([]string, len(vs))
	for i, v := range vs {
		words[i] = f.describeKind(v)
	}
	return Failed(noAnswer("%s is not defined for %s", op, strings.Join(words, " and ")))
}

func (f *frame) describeKind(v Value) string {
	if v.kind == KindObject && f.isString(v) {
		return "string"
	}
	if v.typ != nil {
		if name, err := v.typ.ManagedName(); err == nil {
			return name
		}
	}
	return v.kind.String()
}

// binary computes a binary operator.
func (f *frame) binary(op string, a, b Value) Value {
	a, b = f.plain(a), f.plain(b)
	switch {
	case a.kind == KindError:
		return a
	case b.kind == KindError:
		return b
	case op == "+" && (f.isText(a) || f.isText(b)):
		return f.concat(a, b)
	case a.kind == KindNull || b.kind == KindNull:
		return null // as C# lifts operators
	case a.kind == KindBool && b.kind == KindBool:
		return logic(op, a.bits, b.bits)
	}
	if v, ok := f.timeArithmetic(op, a, b); ok {
		return v
	}
	if !a.isNumber() || !b.isNumber() {
		return f.kindError(op, a, b)
	}
	switch {
	case a.isInteger() && b.isInteger():
		return integers(op, a, b)
	case a.kind == KindDecimal && b.kind != KindFloat || b.kind == KindDecimal && a.kind != KindFloat:
		return decimals(op, a, b)
	}
	v := floats(op, a.float(), b.float())
	if a.note == noteSingle && b.note == noteSingle && v.kind == KindFloat {
		return single(float32(v.float()))
	}
	return v
}

func logic(op string, a, b uint64) Value {
	switch op {
	case "&":
		return Bool(a&b != 0)
	case "^":
		return Bool(a != b)
	}
	return Failed(noAnswer("%s is not defined for truth values", op))
}

func floats(op string, a, b float64) Value {
	switch op {
	case "+":
		return Float(a + b)
	case "-":
		return Float(a - b)
	case "*":
		return Float(a * b)
	case "/":
		return Float(a / b)
	case "%":
		return Float(math.Mod(a, b))
	}
	return Failed(noAnswer("%s is not defined for floats", op))
}

func decimals(op string, a, b Value) Value {
	x, y, z := a.rat(), b.rat(), new(big.Rat)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "/", "%":
		if y.Sign() == 0 {
			return Failed(errZero)
		}
		z.Quo(x, y)
		if op == "%" {
			whole := new(big.Rat).SetInt(new(big.Int).Quo(z.Num(), z.Denom()))
			z.Sub(x, whole.Mul(whole, y))
		}
	default:
		return Failed(noAnswer("%s is not defined for decimals", op))
	}
	return ofRat(z)
}

// integers computes with 64 bits. A result with more bits is an error.
func integers(op string, a, b Value) Value {
	switch op {
	case "&", "^", "<<", ">>":
		return bitwise(op, a, b)
	case "/", "%":
		if b.bits == 0 {
			return Failed(errZero)
		}
	}
	if a.kind != KindUint && b.kind != KindUint {
		if v, ok := computeSmall(op, int64(a.bits), int64(b.bits)); ok {
			return v
		}
	}
	v := computeLarge(op, a.big(), b.big())
	v.hex = (a.hex || b.hex) && v.kind != KindError
	if v.hex {
		v.kind = KindUint
	}
	return v
}

// computeSmall computes if the result certainly fits.
func computeSmall(op string, a, b int64) (Value, bool) {
	const half = 1 << 31
	fits := a > -half && a < half && b > -half && b < half
	switch {
	case op == "+" && a > math.MinInt64/2 && a < math.MaxInt64/2 && b > math.MinInt64/2 && b < math.MaxInt64/2:
		return Int(a + b), true
	case op == "-" && a > math.MinInt64/2 && a < math.MaxInt64/2 && b > math.MinInt64/2 && b < math.MaxInt64/2:
		return Int(a - b), true
	case op == "*" && fits:
		return Int(a * b), true
	case op == "/" && a != math.MinInt64:
		return Int(a / b), true
	case op == "%" && b != -1:
		return Int(a % b), true
	}
	return Value{}, false
}

func (v Value) big() *big.Int {
	if v.kind == KindInt {
		return big.NewInt(int64(v.bits))
	}
	return new(big.Int).SetUint64(v.bits)
}

func computeLarge(op string, a, b *big.Int) Value {
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(a, b)
	case "-":
		z.Sub(a, b)
	case "*":
		z.Mul(a, b)
	case "/":
		z.Quo(a, b)
	case "%":
		z.Rem(a, b)
	}
	switch {
	case z.IsInt64():
		return Int(z.Int64())
	case z.IsUint64():
		return Uint(z.Uint64())
	}
	return Failed(errOverflow)
}

func bitwise(op string, a, b Value) Value {
	var n uint64
	switch op {
	case "&":
		n = a.bits & b.bits
	case "^":
		n = a.bits ^ b.bits
	case "<<":
		n = a.bits << (b.bits & 63)
	case ">>":
		if a.kind == KindInt {
			return Int(int64(a.bits) >> (b.bits & 63))
		}
		n = a.bits >> (b.bits & 63)
	}
	if a.hex || b.hex {
		return Value{kind: KindUint, bits: n, hex: true}
	}
	if a.kind == KindInt && b.kind == KindInt {
		return Int(int64(n))
	}
	return Uint(n)
}

// negate computes -v.
func (f *frame) negate(v Value) Value {
	v = f.plain(v)
	switch v.kind {
	case KindError, KindNull:
		return v
	case KindFloat:
		v.bits ^= 1 << 63
		return v
	case KindDecimal:
		v.aux ^= 1 << 63
		return v
	}
	if !v.isInteger() {
		return f.kindError("-", v)
	}
	return integers("-", Int(0), v)
}

func (f *frame) isText(v Value) bool { return v.kind == KindText || f.isString(v) }

// plainText returns the text of a literal.
func (v Value) plainText() string {
	if v.kind == KindChar {
		return utf16text.FromUnits([]uint16{uint16(v.bits)})
	}
	return v.text
}

// textOf returns the text of a string, a char or a literal. ok is false for other values.
func (f *frame) textOf(v Value) (s string, ok bool, err error) {
	switch {
	case v.kind == KindText:
		return v.text, true, nil
	case v.kind == KindChar:
		return v.plainText(), true, nil
	case v.kind == KindType:
		s, err := v.typ.ManagedName()
		return s, true, err
	case !f.isString(v):
		return "", false, nil
	}
	o, err := f.object(v)
	if err != nil {
		return "", true, err
	}
	n, err := o.Length()
	if err == nil && n > limits.ExpressionText {
		err = target.Unsupportedf("a string of %d characters is too long to compute with", n)
	}
	if err == nil {
		s, err = o.Text(-1)
	}
	return f.e.masked(s), true, err
}

func (f *frame) concat(a, b Value) Value {
	x, err := f.format(a)
	if err != nil {
		return Failed(err)
	}
	y, err := f.format(b)
	if err != nil {
		return Failed(err)
	}
	if len(x)+len(y) > limits.ExpressionText {
		return Failed(target.Unsupportedf("the text is too long"))
	}
	return Text(utf16text.Concat(x, y))
}

type truth uint8

const (
	no truth = iota
	yes
	undecided // frame.err is the reason
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// isTrue returns a value as a condition. null is false.
func (f *frame) isTrue(v Value) truth {
	v = f.plain(v)
	switch v.kind {
	case KindBool:
		return truth(v.bits)
	case KindNull:
		return no
	case KindError:
		f.err = v.Err()
	default:
		f.err = noAnswer("%s is no condition: it is neither true nor false", f.describeKind(v))
	}
	return undecided
}

func (f *frame) truthValue(t truth) Value {
	if t == undecided {
		return Failed(f.err)
	}
	return Bool(t == yes)
}

// compare computes a comparison. null equals only null, and is neither less nor greater than any value, as in C#.
func (f *frame) compare(op string, a, b Value) truth {
	a, b = f.plain(a), f.plain(b)
	switch {
	case a.kind == KindError:
		f.err = a.Err()
		return undecided
	case b.kind == KindError:
		f.err = b.Err()
		return undecided
	case a.kind == KindNull || b.kind == KindNull:
		same := a.kind == b.kind
		return truthOf(op == "==" && same || op == "!=" && !same)
	}
	if op == "==" || op == "!=" {
		same, err := f.equal(a, b)
		if err != nil {
			f.err = err
			return undecided
		}
		return truthOf(same == (op == "=="))
	}
	c, err := f.order(a, b)
	if err == errNaN {
		return no
	}
	if err != nil {
		f.err = err
		return undecided
	}
	return truthOf(holds(op, c))
}

func holds(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// errNaN reports a NaN, which is neither less nor greater than any number.
var errNaN = errors.New("not a number")

// equal reports whether two values are equal. It compares numbers by value, strings by text, an enum also by name,
// structs by bytes, and other objects by identity.
func (f *frame) equal(a, b Value) (bool, error) {
	if a.isNumber() && b.isNumber() {
		c, err := orderNumbers(a, b)
		if err == errNaN {
			return false, nil
		}
		return c == 0, err
	}
	if same, ok := f.equalBits(a, b); ok {
		return same, nil
	}
	if same, ok, err := f.equalTexts(a, b); ok || err != nil {
		return same, err
	}
	if a.kind == KindStruct && b.kind == KindStruct {
		return f.equalStructs(a, b)
	}
	if a.kind == KindStruct || b.kind == KindStruct {
		c, err := f.order(a, b)
		return c == 0 && err == nil, err
	}
	return false, noAnswer("%s and %s can't be compared", f.describeKind(a), f.describeKind(b))
}

func (f *frame) equalBits(a, b Value) (same, ok bool) {
	switch {
	case a.kind == KindBool && b.kind == KindBool:
		return a.bits == b.bits, true
	case a.kind == KindType && b.kind == KindType:
		return a.typ == b.typ, true
	case a.kind == KindObject && b.kind == KindObject && !(f.isString(a) && f.isString(b)):
		return a.bits == b.bits, true
	case a.kind == KindObject && b.hex || b.kind == KindObject && a.hex:
		return a.bits == b.bits, true
	}
	return false, false
}

func (f *frame) equalTexts(a, b Value) (same, ok bool, err error) {
	if a.kind == KindText {
		a, b = b, a
	}
	if b.kind == KindText && a.typ != nil && a.isInteger() && a.typ.IsEnum() {
		name, err := enumName(a)
		return name == b.text, true, err
	}
	if b.kind == KindText && a.note == noteGeneration {
		return generationName(a.bits) == b.text, true, nil
	}
	if a.kind == KindStruct && b.kind == KindText {
		if t, ok := f.ticks(a); ok {
			n, err := parseTime(t.unit, b.text)
			return n == t.ticks, true, err
		}
		s := f.structText(a)
		return strings.EqualFold(strings.Trim(s, "{}"), strings.Trim(b.text, "{}")), true, nil
	}
	if b.kind == KindText && f.isString(a) {
		if n, err := f.stringLength(a); err != nil || int(n) != utf16Length(b.text) {
			return false, true, err
		}
	}
	x, isText, err := f.textOf(a)
	if !isText || err != nil {
		return false, false, err
	}
	y, isText, err := f.textOf(b)
	return isText && x == y, isText, err
}

func (f *frame) stringLength(v Value) (uint32, error) {
	_, n, err := f.e.env.runtime.StringChars(v.Addr())
	return n, err
}

// utf16Length returns the number of UTF-16 code units in a text.
func utf16Length(s string) int {
	_, n := answer.CutText(s, -1)
	return int(n)
}

func (f *frame) equalStructs(a, b Value) (bool, error) {
	if a.typ != b.typ {
		return false, nil
	}
	size := int(a.typ.MT.BaseSize) - 2*dac.ObjectHeaderBytes
	if size < 0 || size > limits.StructLeaves {
		return false, noAnswer("structs of %d bytes can't be compared", size)
	}
	x, err := f.near.Bytes(a.Addr(), size)
	if err != nil {
		return false, err
	}
	y, err := f.far.Bytes(b.Addr(), size)
	return err == nil && bytes.Equal(x, y), err
}

// order compares numbers, texts or times.
func (f *frame) order(a, b Value) (int, error) {
	if a.isNumber() && b.isNumber() {
		return orderNumbers(a, b)
	}
	if c, ok, err := f.orderTimes(a, b); ok {
		return c, err
	}
	x, isText, err := f.textOf(a)
	if err != nil {
		return 0, err
	}
	if isText {
		y, isText, err := f.textOf(b)
		if err != nil {
			return 0, err
		}
		if isText {
			return strings.Compare(x, y), nil
		}
	}
	if a.kind == KindBool && b.kind == KindBool {
		return cmp.Compare(a.bits, b.bits), nil
	}
	if (a.kind == KindObject || a.hex) && (b.kind == KindObject || b.hex) {
		return cmp.Compare(a.bits, b.bits), nil
	}
	return 0, noAnswer("%s and %s can't be compared", f.describeKind(a), f.describeKind(b))
}

// orderNumbers compares numbers. Integers and decimals are compared exactly.
func orderNumbers(a, b Value) (int, error) {
	switch {
	case a.kind == KindInt && b.kind == KindInt:
		return cmp.Compare(int64(a.bits), int64(b.bits)), nil
	case a.isInteger() && b.isInteger():
		if aNegative, bNegative := a.kind == KindInt && int64(a.bits) < 0, b.kind == KindInt && int64(b.bits) < 0; aNegative != bNegative {
			if aNegative {
				return -1, nil
			}
			return 1, nil
		}
		return cmp.Compare(a.bits, b.bits), nil
	}
	switch {
	case a.note == noteSingle && b.note == noteLiteral:
		b = single(float32(b.float()))
	case a.note == noteLiteral && b.note == noteSingle:
		a = single(float32(a.float()))
	}
	x, y := a.float(), b.float()
	if math.IsNaN(x) || math.IsNaN(y) {
		return 0, errNaN
	}
	const near = 1e-9
	if a.kind == KindFloat && b.kind == KindFloat || math.Abs(x-y) > near*(math.Abs(x)+math.Abs(y)) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return cmp.Compare(x, y), nil
	}
	return exact(a).Cmp(exact(b)), nil
}

func exact(v Value) *big.Rat {
	if v.kind == KindFloat {
		return new(big.Rat).SetFloat64(v.float())
	}
	return v.rat()
}

// A timeUnit is the unit of a tickTime.
type timeUnit uint8

const (
	unitDate timeUnit = iota + 1 // ticks since the year 1: DateTime, DateTimeOffset
	unitSpan                     // ticks: TimeSpan, TimeOnly
	unitDay                      // days since the year 1: DateOnly
)

type tickTime struct {
	ticks int64
	unit  timeUnit
}

// dateMask selects the ticks of a DateTime, without its kind (DateTime.cs, TicksMask).
const dateMask = 0x3fffffffffffffff

// ticks returns the value of a time type of the class library.
func (f *frame) ticks(v Value) (tickTime, bool) {
	if v.kind != KindStruct {
		return tickTime{}, false
	}
	name, err := v.typ.Name()
	if err != nil {
		return tickTime{}, false
	}
	field, unit := "", unitSpan
	switch name {
	case "System.DateTime":
		field, unit = "_dateData|dateData", unitDate
	case "System.DateTimeOffset":
		inner := f.member(v, "_dateTime", false)
		if inner.kind != KindStruct {
			inner = f.member(v, "m_dateTime", false)
		}
		return f.ticks(inner) // in UTC
	case "System.TimeSpan", "System.TimeOnly":
		field = "_ticks"
	case "System.DateOnly":
		field, unit = "_dayNumber", unitDay
	default:
		return tickTime{}, false
	}
	for _, name := range strings.Split(field, "|") {
		if n := f.member(v, name, false); n.isInteger() {
			if unit == unitDate {
				n.bits &= dateMask
			}
			return tickTime{int64(n.bits), unit}, true
		}
	}
	return tickTime{}, false
}

func (f *frame) orderTimes(a, b Value) (c int, ok bool, err error) {
	x, xok := f.ticks(a)
	y, yok := f.ticks(b)
	switch {
	case xok && yok && x.unit == y.unit:
	case xok && b.kind == KindText:
		y.ticks, err = parseTime(x.unit, b.text)
	case yok && a.kind == KindText:
		x.ticks, err = parseTime(y.unit, a.text)
	default:
		return 0, false, nil
	}
	return cmp.Compare(x.ticks, y.ticks), true, err
}

// dateForms are the accepted forms of a date.
var dateForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}

// parseTime parses a time: a date, or a duration in the form of .NET ([d.]hh:mm[:ss[.f]]) or Go (1h30m).
func parseTime(unit timeUnit, s string) (int64, error) {
	if unit == unitSpan {
		return parseSpan(s)
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, s); err == nil {
			n := ticks.Of(t)
			if unit == unitDay {
				n /= ticks.PerDay
			}
			return n, nil
		}
	}
	return 0, noAnswer("%q is no date: write 2026-11-20 or 2026-11-20T13:45:00", s)
}

func parseSpan(s string) (int64, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return int64(d / 100), nil
	}
	days, rest := 0, s
	if d, after, ok := strings.Cut(s, "."); ok && strings.Contains(after, ":") {
		if _, err := fmt.Sscanf(d, "%d", &days); err != nil {
			return 0, noAnswer("%q is no duration: write 1h30m or 01:30:00", s)
		}
		rest = after
	}
	for _, form := range []string{"15:04:05.9999999", "15:04"} {
		if t, err := time.Parse(form, rest); err == nil {
			seconds := int64(t.Hour())*3600 + int64(t.Minute())*60 + int64(t.Second())
			return int64(days)*ticks.PerDay + seconds*ticks.PerSecond + int64(t.Nanosecond()/100), nil
		}
	}
	return 0, noAnswer("%q is no duration: write 1h30m or 01:30:00", s)
}

// timeArithmetic subtracts times. The result is a number of ticks, or of days for DateOnly.
func (f *frame) timeArithmetic(op string, a, b Value) (Value, bool) {
	if op != "-" {
		return Value{}, false
	}
	x, ok := f.ticks(a)
	if !ok {
		return Value{}, false
	}
	y, ok := f.ticks(b)
	if !ok || x.unit != y.unit {
		return Value{}, false
	}
	return Int(x.ticks - y.ticks), true
}

// enumName returns the name of an enum's value, or "".
func enumName(v Value) (string, error) {
	e, err := v.typ.Enum()
	if err != nil {
		return "", err
	}
	var names []string
	mask := ^uint64(0)
	rest := v.bits
	if a, ok := primitiveForms[e.Underlying]; ok && a.size < 8 {
		mask = 1<<(8*a.size) - 1
	}
	rest &= mask
	for _, m := range e.Members {
		if m.Value&mask == v.bits&mask {
			return m.Name, nil
		}
		if e.Flags && m.Value != 0 && rest&m.Value == m.Value {
			names, rest = append(names, m.Name), rest&^m.Value
		}
	}
	if len(names) > 0 && rest == 0 {
		return strings.Join(names, ", "), nil
	}
	return "", nil
}

func (f *frame) structText(v Value) string {
	s := objects.Struct{Addr: v.Addr(), Type: v.typ}
	if f.checkParts(s) != nil || f.e.mask != nil && s.HidesFields() {
		return secrets.Mask
	}
	return f.e.masked(s.Inline(objects.LineChars))
}

// format returns a value as text, for + and text(x).
func (f *frame) format(v Value) (string, error) {
	v = f.plain(v)
	if v.kind == KindError {
		return "", v.Err()
	}
	if s, ok, err := f.textOf(v); ok {
		return s, err
	}
	c := f.cell(v)
	if c.Err != nil {
		return "", c.Err
	}
	s := c.Plain()
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return s, nil
}
