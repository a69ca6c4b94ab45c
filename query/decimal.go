package query

import (
	"encoding/binary"
	"math"
	"math/big"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// maxScale is the maximum number of digits after the point of a System.Decimal (System.Decimal.cs).
const maxScale = 28

// decimalOf decodes a System.Decimal of 16 bytes: flags with sign and scale, the high 32 bits of the number, its low 64
// bits (Decimal.cs, the layout of COM's DECIMAL).
func decimalOf(b []byte) Value {
	flags := binary.LittleEndian.Uint32(b)
	scale := flags >> 16 & 0xff
	if scale > maxScale || flags&^0x80ff0000 != 0 {
		return Failed(target.Corruptf("no decimal has the flags %#x", flags))
	}
	aux := uint64(binary.LittleEndian.Uint32(b[4:])) | uint64(scale)<<32 | uint64(flags>>31)<<63
	return Value{kind: KindDecimal, bits: binary.LittleEndian.Uint64(b[8:]), aux: aux}
}

func (v Value) decimalParts() (hi uint32, scale int, negative bool) {
	return uint32(v.aux), int(v.aux >> 32 & 0xff), v.aux>>63 != 0
}

var powersOf10 = func() (p [maxScale + 1]float64) {
	for i := range p {
		p[i] = math.Pow10(i)
	}
	return p
}()

func (v Value) decimalFloat() float64 {
	hi, scale, negative := v.decimalParts()
	f := (float64(hi)*(1<<32)*(1<<32) + float64(v.bits)) / powersOf10[scale]
	if negative {
		return -f
	}
	return f
}

// rat returns a number that is not a float as a fraction.
func (v Value) rat() *big.Rat {
	switch v.kind {
	case KindInt:
		return new(big.Rat).SetInt64(int64(v.bits))
	case KindDecimal:
		hi, scale, negative := v.decimalParts()
		n := new(big.Int).SetUint64(uint64(hi))
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(v.bits))
		if negative {
			n.Neg(n)
		}
		return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	}
	return new(big.Rat).SetUint64(v.bits)
}

// ofRat returns a fraction as a decimal, rounded to 28 digits. A number that is too large becomes a float.
func ofRat(r *big.Rat) Value {
	for scale := maxScale; scale >= 0; scale-- {
		n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		n.Mul(n, r.Num())
		n.Mul(n, big.NewInt(2)).Add(n, new(big.Int).Mul(r.Denom(), big.NewInt(int64(r.Sign()))))
		n.Quo(n, new(big.Int).Mul(r.Denom(), big.NewInt(2)))
		if n.BitLen() > 96 {
			continue
		}
		for ten, rest := big.NewInt(10), new(big.Int); scale > 0; scale-- { // no trailing zeros
			q, m := new(big.Int).QuoRem(n, ten, rest)
			if m.Sign() != 0 {
				break
			}
			n = q
		}
		low := new(big.Int).And(n.Abs(n), new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		v := Value{kind: KindDecimal, bits: low, aux: new(big.Int).Rsh(n, 64).Uint64() | uint64(scale)<<32}
		if r.Sign() < 0 {
			v.aux |= 1 << 63
		}
		return v
	}
	f, _ := r.Float64()
	return Float(f)
}

// parseDecimal parses a literal such as 12.50m.
func parseDecimal(digits string) (Value, bool) {
	whole, part, _ := strings.Cut(digits, ".")
	n, ok := new(big.Int).SetString(whole+part, 10)
	if !ok || len(part) > maxScale || n.BitLen() > 96 {
		return Value{}, false
	}
	v := Value{kind: KindDecimal, bits: new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
	v.aux = new(big.Int).Rsh(n, 64).Uint64() | uint64(len(part))<<32
	return v, true
}

// decimalText formats a decimal with all its digits after the point, as Decimal.ToString does.
func (v Value) decimalText() string {
	_, scale, _ := v.decimalParts()
	return v.rat().FloatString(scale)
}
