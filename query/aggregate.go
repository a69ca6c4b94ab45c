package query

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// An aggregate is a function of groups in a query.
type aggregate struct {
	name     string
	arg      *node // nil counts rows
	distinct bool
}

// An accumulator computes one aggregate of one group.
type accumulator struct {
	count    uint64 // values that are not null
	low      uint64 // sum of integers, 128 bits with high
	high     uint64
	float    float64
	rat      *big.Rat // sum of decimals, or nil
	isFloat  bool
	best     Value
	distinct map[string]struct{}
	known    int64  // estimated memory of distinct
	missing  uint64 // values that could not be computed
	err      error  // the first reason
}

func (a *accumulator) add(f *frame, g *aggregate, v Value) {
	switch v.kind {
	case KindError:
		if a.missing++; a.err == nil {
			a.err = v.Err()
		}
		return
	case KindNull:
		return
	}
	switch g.name {
	case "count":
		if g.distinct {
			a.addDistinct(f, v)
			return
		}
		a.count++
	case "sum", "avg":
		a.addNumber(f, g, v)
	case "min", "max":
		v = f.sortable(v)
		if c := compareSorted(v, a.best); a.count == 0 || g.name == "min" && c < 0 || g.name == "max" && c > 0 {
			a.best = v
		}
		a.count++
	default: // any
		if a.count++; a.count == 1 {
			a.best = v
		}
	}
}

func (a *accumulator) addDistinct(f *frame, v Value) {
	f.key = f.appendKey(f.key[:0], v)
	if _, ok := a.distinct[string(f.key)]; ok {
		return
	}
	if a.distinct == nil {
		a.distinct = map[string]struct{}{}
	}
	a.distinct[string(f.key)] = struct{}{}
	a.known += entryBytes + int64(len(f.key))
	a.count++
}

func (a *accumulator) addNumber(f *frame, g *aggregate, v Value) {
	v = f.plain(v)
	if t, ok := f.ticks(v); ok && t.unit == unitSpan {
		v = Int(t.ticks)
	}
	switch {
	case v.isInteger():
		high := uint64(0)
		if v.kind == KindInt && int64(v.bits) < 0 {
			high = math.MaxUint64
		}
		a.addInteger(v.bits, high)
	case v.kind == KindFloat:
		a.float, a.isFloat = a.float+v.float(), true
	case v.kind == KindDecimal:
		if a.rat == nil {
			a.rat = new(big.Rat)
		}
		a.rat.Add(a.rat, v.rat())
	default:
		if a.missing++; a.err == nil {
			a.err = f.kindError(g.name, v).Err()
		}
		return
	}
	a.count++
}

func (a *accumulator) addInteger(low, high uint64) {
	var carry uint64
	a.low, carry = bits.Add64(a.low, low, 0)
	a.high, _ = bits.Add64(a.high, high, carry)
}

// merge adds the result of another part of the rows.
func (a *accumulator) merge(b *accumulator, g *aggregate) {
	first := a.count == 0
	if g.distinct {
		for k := range b.distinct {
			if _, ok := a.distinct[k]; !ok {
				if a.distinct == nil {
					a.distinct = map[string]struct{}{}
				}
				a.distinct[k] = struct{}{}
				a.known += entryBytes + int64(len(k))
				a.count++
			}
		}
	} else {
		a.count += b.count
	}
	a.addInteger(b.low, b.high)
	a.float += b.float
	a.isFloat = a.isFloat || b.isFloat
	if b.rat != nil {
		if a.rat == nil {
			a.rat = new(big.Rat)
		}
		a.rat.Add(a.rat, b.rat)
	}
	if b.count > 0 {
		c := 0
		if !first {
			c = compareSorted(b.best, a.best)
		}
		if first || g.name == "min" && c < 0 || g.name == "max" && c > 0 {
			a.best = b.best
		}
	}
	a.missing += b.missing
	a.err = cmp.Or(a.err, b.err)
}

// value returns the result. If no value could be computed, it is the reason.
func (a *accumulator) value(g *aggregate) Value {
	if a.count == 0 && a.missing > 0 && g.name != "count" {
		return Failed(a.err)
	}
	switch g.name {
	case "count":
		return Uint(a.count)
	case "sum":
		return a.sum()
	case "avg":
		return a.mean()
	}
	if a.count == 0 {
		return null
	}
	return a.best
}

func (a *accumulator) sum() Value {
	switch {
	case a.isFloat:
		return Float(a.total())
	case a.rat != nil:
		return ofRat(new(big.Rat).Add(a.rat, new(big.Rat).SetInt(a.integer())))
	case a.high == 0 && a.low <= math.MaxInt64, a.high == math.MaxUint64 && a.low > math.MaxInt64:
		return Int(int64(a.low))
	case a.high == 0:
		return Uint(a.low)
	}
	return Failed(errOverflow)
}

func (a *accumulator) integer() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(int64(a.high)), 64)
	return n.Add(n, new(big.Int).SetUint64(a.low))
}

func (a *accumulator) total() float64 {
	f, _ := new(big.Float).SetInt(a.integer()).Float64()
	if a.rat != nil {
		r, _ := a.rat.Float64()
		f += r
	}
	return f + a.float
}

func (a *accumulator) mean() Value {
	switch {
	case a.count == 0:
		return null
	case a.rat != nil && !a.isFloat:
		sum := new(big.Rat).Add(a.rat, new(big.Rat).SetInt(a.integer()))
		return ofRat(sum.Quo(sum, new(big.Rat).SetFrac(new(big.Int).SetUint64(a.count), big.NewInt(1))))
	}
	return Float(a.total() / float64(a.count))
}

// sortable returns a value in the form for sorting: the text of a string, the ticks of a time, the number of a box or
// enum. The result does not depend on the frame.
func (f *frame) sortable(v Value) Value {
	v = f.plain(v)
	switch {
	case v.kind == KindType || f.isString(v):
		s, _, err := f.textOf(v)
		return textOr(s, err)
	case v.kind == KindStruct:
		if t, ok := f.ticks(v); ok {
			return Value{kind: KindStruct, bits: v.bits, typ: v.typ, aux: uint64(t.ticks)}
		}
	}
	return v
}

// sortRank returns the order of kinds that can't be compared with each other: null is first, and errors are last.
func sortRank(v Value) int {
	switch v.kind {
	case KindNull:
		return 0
	case KindBool:
		return 1
	case KindChar, KindText:
		return 3
	case KindObject, KindStruct, KindType, KindList:
		return 4
	case KindError:
		return 5
	}
	return 2
}

// compareSorted orders results of sortable.
func compareSorted(a, b Value) int {
	x, y := sortRank(a), sortRank(b)
	if x != y {
		return x - y
	}
	switch x {
	case 2:
		c, err := orderNumbers(a, b)
		if err == errNaN { // first, as in .NET
			return compareNaN(a, b)
		}
		return c
	case 3:
		return strings.Compare(a.plainText(), b.plainText())
	case 0, 5:
		return 0
	}
	if a.kind == KindStruct && b.kind == KindStruct && a.aux != b.aux {
		if int64(a.aux) < int64(b.aux) {
			return -1
		}
		return 1
	}
	switch {
	case a.bits < b.bits && !(a.kind == KindStruct && a.aux != 0):
		return -1
	case a.bits > b.bits && !(a.kind == KindStruct && a.aux != 0):
		return 1
	}
	return 0
}

func compareNaN(a, b Value) int {
	x, y := math.IsNaN(a.float()), math.IsNaN(b.float())
	switch {
	case x && !y:
		return -1
	case y && !x:
		return 1
	}
	return 0
}

// appendKey appends bytes that are equal if and only if the values are equal.
func (f *frame) appendKey(b []byte, v Value) []byte {
	v = f.plain(v)
	if s, ok, err := f.textOf(v); ok && v.kind != KindType {
		if err != nil {
			return append(b, 'E', reason(err))
		}
		b = append(b, 'T')
		b = binary.AppendUvarint(b, uint64(len(s)))
		return append(b, s...)
	}
	switch v.kind {
	case KindError:
		return append(b, 'E', reason(v.Err()))
	case KindNull:
		return append(b, 'N')
	case KindStruct:
		return f.appendStructKey(b, v)
	case KindType:
		return binary.LittleEndian.AppendUint64(append(b, 'Y'), uint64(v.typ.MT.Addr))
	case KindDecimal:
		s := v.rat().RatString()
		return append(binary.AppendUvarint(append(b, 'D'), uint64(len(s))), s...)
	case KindFloat:
		return binary.LittleEndian.AppendUint64(append(b, 'F'), v.bits)
	case KindUint:
		if v.bits > math.MaxInt64 {
			return binary.LittleEndian.AppendUint64(append(b, 'U'), v.bits)
		}
	case KindBool:
		return append(b, 'B', byte(v.bits))
	case KindObject:
		return binary.LittleEndian.AppendUint64(append(b, 'O'), v.bits)
	}
	return binary.LittleEndian.AppendUint64(append(b, 'I'), v.bits)
}

func (f *frame) appendStructKey(b []byte, v Value) []byte {
	size := int(v.typ.MT.BaseSize) - 2*dac.ObjectHeaderBytes
	if size < 0 || size > limits.StructLeaves {
		return append(b, 'E', 2)
	}
	raw, err := f.far.Bytes(v.Addr(), size)
	if err != nil {
		return append(b, 'E', reason(err))
	}
	b = binary.LittleEndian.AppendUint64(append(b, 'S'), uint64(v.typ.MT.Addr))
	return append(b, raw...)
}

// reason numbers the reasons for which a value is missing. Rows with the same reason are one group.
func reason(err error) byte {
	switch target.ReportedKind(err) {
	case target.ErrNotInDump:
		return 0
	case target.ErrCorrupt:
		return 1
	}
	return 2
}
