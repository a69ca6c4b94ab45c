package objects

import (
	"encoding/binary"
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
)

// knownObject returns the short form of the objects of a class of the class library, nil for other names. It finds fields by their names in
// metadata. An object without the expected fields has no short form.
func knownObject(name string) func(Object, int) answer.Line {
	switch name {
	case "System.Version":
		return Object.version
	case "System.Uri":
		return textOf("_string", "m_String") // .NET 6 and later; before
	case "System.Net.IPAddress", "System.Net.IPAddress+ReadOnlyIPAddress":
		return Object.ipAddress
	case "System.Text.RegularExpressions.Regex":
		return textOf("pattern")
	case "System.RuntimeType":
		return Object.runtimeTypeName
	}
	return nil
}

// textOf returns a form that is the string in the first of the fields that the class has.
func textOf(names ...string) func(Object, int) answer.Line {
	return func(o Object, limit int) answer.Line {
		for _, n := range names {
			v := o.Field(n)
			if v.Kind() != KindReference || v.bits == 0 {
				continue
			}
			s, err := v.Object()
			if err != nil {
				return appendMissing(nil, err)
			}
			if s.IsString() {
				return s.appendQuoted(nil, limit)
			}
		}
		return nil
	}
}

func (o Object) version(int) answer.Line {
	var parts []string
	for _, n := range []string{"_Major", "_Minor", "_Build", "_Revision"} {
		i, err := o.Field(n).Int()
		if err != nil {
			return nil
		}
		if i < 0 { // not given
			break
		}
		parts = append(parts, strconv.FormatInt(i, 10))
	}
	return appendWords(nil, strings.Join(parts, "."))
}

// ipAddress formats an address. The bytes of a version 4 address are in network order in a little-endian word; a version 6 address has its
// groups in an array.
func (o Object) ipAddress(int) answer.Line {
	number, err := o.Field("_addressOrScopeId").Uint()
	groups := o.Field("_numbers")
	if err != nil || groups.Kind() != KindReference {
		return nil
	}
	if groups.bits == 0 {
		return appendWords(nil, netip.AddrFrom4([4]byte(binary.LittleEndian.AppendUint32(nil, uint32(number)))).String())
	}
	list, err := groups.Object()
	if err != nil {
		return appendMissing(nil, err)
	}
	a, err := list.Array()
	if err != nil || a.Len != 8 {
		return appendMissing(nil, err)
	}
	var bytes []byte
	for i := range a.Len {
		n, err := a.At(i).Uint()
		if err != nil {
			return appendMissing(nil, err)
		}
		bytes = binary.BigEndian.AppendUint16(bytes, uint16(n))
	}
	address := netip.AddrFrom16([16]byte(bytes))
	if number != 0 {
		address = address.WithZone(strconv.FormatUint(number, 10))
	}
	return appendWords(nil, address.String())
}

func (o Object) runtimeTypeName(int) answer.Line {
	th, _, err := o.RuntimeType()
	if err != nil || th == 0 {
		return appendMissing(nil, err)
	}
	name, err := o.Type.r.Runtime().TypeName(th, dac.NameManaged)
	if err != nil {
		return appendMissing(nil, err)
	}
	return appendWords(nil, name)
}

// maxDigits is how many words of a BigInteger are shown as a number.
const maxDigits = 64

// bigInteger formats a System.Numerics.BigInteger. A small one is its sign; another has the words of its magnitude in an array, the lowest
// first.
func (s Struct) bigInteger() (string, bool) {
	sign, ok := s.number("_sign")
	bits := s.Field("_bits")
	if !ok || bits.Kind() != KindReference {
		return "", false
	}
	if bits.bits == 0 {
		return strconv.FormatInt(int64(sign), 10), true
	}
	o, err := bits.Object()
	if err != nil {
		return "", false
	}
	a, err := o.Array()
	if err != nil || a.Len == 0 || a.Len > maxDigits {
		return "", false
	}
	width := uint(o.Type.MT.ComponentSize) * 8
	n := new(big.Int)
	for i := range a.Len {
		w, err := a.At(a.Len - 1 - i).Bits()
		if err != nil {
			return "", false
		}
		n.Or(n.Lsh(n, width), new(big.Int).SetUint64(w))
	}
	if int64(sign) < 0 {
		n.Neg(n)
	}
	return n.String(), true
}
