package objects

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// objectForm returns the short form of the objects of a class of the class library, or nil. A form finds fields by
// name. It returns no line for an object without the expected fields.
func objectForm(name string) func(Object, int) answer.Line {
	switch name {
	case "System.Version":
		return Object.version
	case "System.Uri":
		return textOf("_string", "m_String") // since .NET 6; before
	case "System.Net.IPAddress", "System.Net.IPAddress+ReadOnlyIPAddress":
		return Object.ipAddress
	case "System.Text.RegularExpressions.Regex":
		return textOf("pattern")
	case "System.RuntimeType":
		return Object.runtimeTypeName
	case "System.Globalization.CultureInfo":
		return textOf("_name")
	case "System.Text.StringBuilder":
		return Object.builderText
	case "System.Threading.CancellationTokenSource", "System.Threading.CancellationTokenSource+Linked1CancellationTokenSource",
		"System.Threading.CancellationTokenSource+Linked2CancellationTokenSource", "System.Threading.CancellationTokenSource+LinkedNCancellationTokenSource":
		return func(o Object, _ int) answer.Line {
			text, err := o.cancellation()
			if err != nil {
				return formless(err)
			}
			return appendWords(nil, text)
		}
	}
	if class := strings.TrimSuffix(name, "Sealed"); strings.HasPrefix(class, "System.Text.") && strings.HasSuffix(class, "Encoding") {
		return Object.encoding
	}
	return fsharpObjectForm(name)
}

// formless returns the line of an object with unreadable fields: the error, or no line if the class does not have them.
func formless(err error) answer.Line {
	if otherShape(err) {
		return nil
	}
	return appendMissing(nil, err)
}

// codePages maps code pages to the names of the encodings of System.Private.CoreLib (EncodingTable.cs).
var codePages = map[int64]string{1200: "utf-16", 1201: "utf-16BE", 12000: "utf-32", 12001: "utf-32BE", 20127: "us-ascii", 28591: "iso-8859-1", 65000: "utf-7", 65001: "utf-8"}

// encoding names an encoding by its code page. An encoding that wraps another has no code page and no line.
func (o Object) encoding(int) answer.Line {
	page, err := o.Field("_codePage").Int()
	if err != nil || page <= 0 {
		return formless(err)
	}
	name, ok := codePages[page]
	if !ok {
		name = "code page " + strconv.FormatInt(page, 10)
	}
	return appendWords(nil, name)
}

// builderChunks bounds the chunks of a StringBuilder that are read for its first characters.
const builderChunks = 256

// builderText returns the first characters of a StringBuilder. The object is the last chunk, and each chunk refers to
// the chunk before it. There is no text if the chunks' offsets do not fit.
func (o Object) builderText(limit int) answer.Line {
	if limit < 0 || limit > stringChunk {
		limit = stringChunk
	}
	var units []byte
	var total int64
	for i, end := 0, int64(-1); ; i++ {
		offset, err := o.Field("m_ChunkOffset").Int()
		length, err2 := o.Field("m_ChunkLength").Int()
		before := o.Field("m_ChunkPrevious")
		switch {
		case err != nil || err2 != nil || before.Err() != nil:
			return formless(cmp.Or(err, err2, before.Err()))
		case offset < 0 || length < 0 || end >= 0 && offset+length != end || i == builderChunks:
			return nil
		case i == 0:
			total = offset + length
		}
		if n := min(length, int64(limit)-offset); n > 0 {
			chars, err := o.Field("m_ChunkChars").Object()
			if err != nil {
				return appendMissing(nil, err)
			}
			a, err := chars.Array()
			if err != nil || n > int64(a.Len) {
				return appendMissing(nil, err)
			}
			b, err := target.Bytes(o.Type.r.mem, a.data, int(2*n))
			if err != nil {
				return appendMissing(nil, err)
			}
			units = append(b[:len(b):len(b)], units...)
		}
		if before.Kind() != KindReference || before.bits == 0 {
			if offset != 0 {
				return nil
			}
			return answer.Line{{Text: utf16text.String(units), Quoted: true, Chars: uint32(min(total, math.MaxUint32))}}
		}
		if o, err = before.Object(); err != nil {
			return appendMissing(nil, err)
		}
		end = offset
	}
}

// cancellation returns the state of a CancellationTokenSource. Before .NET 5, where callbacks are in partitions, the
// states begin at 1.
func (o Object) cancellation() (string, error) {
	n, err := o.Field("_state").Int()
	if err != nil {
		return "", err
	}
	switch p := o.Field("_callbackPartitions"); {
	case p.Kind() == KindReference:
		n--
	case p.Err() != nil && !otherShape(p.Err()):
		return "", p.Err()
	}
	switch n {
	case -1, 0:
		return "not canceled", nil
	case 1:
		return "canceling", nil
	case 2:
		return "canceled", nil
	}
	return "", target.Unsupportedf("the state %d of a CancellationTokenSource", n)
}

// cancellationToken returns the state of a token's source.
func (s Struct) cancellationToken() (string, bool) {
	v := s.Field("_source")
	if v.Kind() != KindReference {
		return "", false
	}
	if v.bits == 0 {
		return "can't be canceled", true
	}
	o, err := v.Object()
	if err != nil {
		return "", false
	}
	text, err := o.cancellation()
	return text, err == nil
}

// index formats an Index as in C#. An index from the end is stored as its complement.
func (s Struct) index() (string, bool) {
	n, ok := s.number("_value")
	if i := int64(n); i < 0 {
		return "^" + strconv.FormatInt(^i, 10), ok
	}
	return strconv.FormatInt(int64(n), 10), ok
}

func (s Struct) indexRange() (string, bool) {
	var ends [2]string
	for i, name := range []string{"<Start>k__BackingField", "<End>k__BackingField"} {
		index, err := s.Field(name).Struct()
		if err != nil {
			return "", false
		}
		var ok bool
		if ends[i], ok = index.index(); !ok {
			return "", false
		}
	}
	return ends[0] + ".." + ends[1], true
}

// textOf returns a form that is the string in the first of the fields that the class has.
func textOf(names ...string) func(Object, int) answer.Line {
	return func(o Object, limit int) answer.Line {
		for _, n := range names {
			v := o.Field(n)
			if err := v.Err(); err != nil && !otherShape(err) {
				return appendMissing(nil, err)
			}
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
			return formless(err)
		}
		if i < 0 { // not given
			break
		}
		parts = append(parts, strconv.FormatInt(i, 10))
	}
	return appendWords(nil, strings.Join(parts, "."))
}

// ipAddress formats an address. A version 4 address is a little-endian word with its bytes in network order. A version
// 6 address has its groups in an array.
func (o Object) ipAddress(int) answer.Line {
	number, err := o.Field("_addressOrScopeId").Uint()
	groups := o.Field("_numbers")
	if err != nil || groups.Kind() != KindReference {
		return formless(cmp.Or(err, groups.Err(), errNoGroups))
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

var errNoGroups = target.Unsupportedf("an IPAddress without groups")

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

// maxDigits is the maximum number of words of a BigInteger that is shown as a number.
const maxDigits = 64

// bigInteger formats a System.Numerics.BigInteger. A small number is in _sign. A large one has the words of its
// magnitude in an array, the lowest first.
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
