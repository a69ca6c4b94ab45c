package synth

// Nibbles encodes the numbers in compilers' debug information: groups of three bits, the high ones
// first, with a mark on each except the last (runtime: nibblestream.h).
type Nibbles struct {
	B []byte
	n int
}

func (w *Nibbles) nibble(v byte) {
	if w.n%2 == 0 {
		w.B = append(w.B, v)
	} else {
		w.B[w.n/2] |= v << 4
	}
	w.n++
}

// Uint appends unsigned numbers.
func (w *Nibbles) Uint(values ...uint32) *Nibbles {
	for _, v := range values {
		shift := 0
		for v>>shift > 7 {
			shift += 3
		}
		for ; shift > 0; shift -= 3 {
			w.nibble(byte(v>>shift&7) | 8)
		}
		w.nibble(byte(v & 7))
	}
	return w
}

// Int appends a signed number.
func (w *Nibbles) Int(v int32) *Nibbles {
	if v < 0 {
		return w.Uint(uint32(-v)<<1 | 1)
	}
	return w.Uint(uint32(v) << 1)
}

// A Mapping maps an offset in code to one in IL.
type Mapping struct{ Native, IL uint32 }

// Bounds encodes mappings in the form of .NET 10 and 11: an array of bits. Each mapping begins with
// sourceBits zeros.
func Bounds(list []Mapping, sourceBits int) []byte {
	const width, bias = 32, 3
	head := (&Nibbles{}).Uint(uint32(len(list)), width-1, width-1)
	var bits []byte
	at, last := 0, uint32(0)
	put := func(v uint32, n int) {
		for i := range n {
			if at%8 == 0 {
				bits = append(bits, 0)
			}
			bits[at/8] |= byte(v>>i&1) << (at % 8)
			at++
		}
	}
	for _, m := range list {
		put(0, sourceBits)
		put(m.Native-last, width)
		put(m.IL+bias, width)
		last = m.Native
	}
	return append(head.B, bits...)
}
