package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// A kind is a kind of damage. Its function changes raw, which may become shorter, and returns a
// description.
type kind struct {
	name   string
	damage func(d *damager) string
}

// kinds are the kinds of damage.
var kinds = []kind{
	{"flips", flips}, {"extreme integers", extremes}, {"zeroed", zeroed}, {"swapped pages", swapped}, {"copied pages", copied},
	{"truncation", truncated}, {"pointers", pointers}, {"cycles", cycles}, {"headers", headers}, {"garbage", garbage},
}

// A damager damages one subject.
type damager struct {
	random *rand.Rand
	raw    []byte
	lines  []line  // the lines to run
	heads  []int64 // places in the container's own tables
	common []place // places that are read before any line
	undo   []saved
}

// saved is the previous content of a place.
type saved struct {
	off int
	old []byte
}

// set writes b at off, up to the end, and saves the previous content.
func (d *damager) set(off int, b []byte) {
	if off < 0 || off >= len(d.raw) {
		return
	}
	b = b[:min(len(b), len(d.raw)-off)]
	d.undo = append(d.undo, saved{off, append([]byte(nil), d.raw[off:off+len(b)]...)})
	copy(d.raw[off:], b)
}

// mend undoes all damage.
func (d *damager) mend() {
	for i := len(d.undo) - 1; i >= 0; i-- {
		copy(d.raw[d.undo[i].off:], d.undo[i].old)
	}
	d.undo = nil
}

// aim returns a place that the lines read: a structure that they name or one that it points to, a
// word that was read for them, or, rarely, any place. It also returns the address if it is known.
func (d *damager) aim() (off int, addr uint64) {
	if len(d.raw) == 0 {
		return 0, 0
	}
	for range 20 {
		if len(d.lines) == 0 {
			break
		}
		l := &d.lines[d.random.IntN(len(d.lines))]
		switch p := d.random.IntN(20); {
		case p < 9 && len(l.at) > 0:
			r := l.at[d.random.IntN(len(l.at))]
			return int(r.off), r.addr
		case p < 18 && len(l.reads) > 0:
			r := l.reads[d.random.IntN(len(l.reads))]
			n := d.random.IntN(max(1, r.size))
			if off := int(r.off) + n; off < len(d.raw) && (r.size <= 64 || d.raw[off] != 0 || p%2 == 0) {
				return off, r.addr + uint64(n)
			}
		case p < 18: // the line reads little
		case d.random.IntN(4) > 0 && len(d.common) > 0:
			r := d.common[d.random.IntN(len(d.common))]
			return int(r.off), r.addr
		case p == 18:
			return d.random.IntN(len(d.raw)), 0
		default:
			return d.head(), 0
		}
	}
	if d.random.IntN(2) == 0 {
		return d.head(), 0
	}
	return d.random.IntN(len(d.raw)), 0
}

// head returns a place in the container's tables.
func (d *damager) head() int {
	if len(d.heads) > 0 && d.random.IntN(2) == 0 {
		return min(len(d.raw)-1, int(d.heads[d.random.IntN(len(d.heads))])+d.random.IntN(64))
	}
	return d.random.IntN(min(len(d.raw), 256<<d.random.IntN(9)))
}

// few returns a small number, mostly 1.
func (d *damager) few(most int) int { return 1 + d.random.IntN(1+d.random.IntN(most)) }

func flips(d *damager) string {
	n := d.few(48)
	first := 0
	for i := range n {
		at, _ := d.aim()
		if i == 0 {
			first = at
		}
		if at < len(d.raw) {
			d.set(at, []byte{d.raw[at] ^ 1<<d.random.IntN(8)})
		}
	}
	return fmt.Sprintf("%d bits from %#x on", n, first)
}

// word returns eight bytes that are likely to cause trouble.
func (d *damager) word() uint64 {
	n := d.random.IntN(64)
	switch d.random.IntN(7) {
	case 0:
		return 0
	case 1:
		return ^uint64(0)
	case 2:
		return 1<<63 - 1
	case 3:
		return 1 << 63
	case 4:
		return 1<<n - 1
	case 5:
		return 1<<n + 1
	}
	return 1 << n
}

func extremes(d *damager) string {
	n := d.few(32)
	said := ""
	for range n {
		size := 1 << d.random.IntN(4)
		at, _ := d.aim()
		at &^= size - 1
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], d.word())
		d.set(at, b[:size])
		said += fmt.Sprintf(" % x at %#x;", b[:size], at)
	}
	return said
}

func zeroed(d *damager) string {
	said := ""
	for range d.few(12) {
		size := 8 << d.random.IntN(5)
		if d.random.IntN(4) == 0 {
			size = 8 << d.random.IntN(10)
		}
		at, _ := d.aim()
		at &^= 7
		d.set(at, make([]byte, size))
		said += fmt.Sprintf(" %d bytes from %#x on;", size, at)
	}
	return said
}

const page = 4096

func (d *damager) page() int {
	at, _ := d.aim()
	return at &^ (page - 1)
}

func swapped(d *damager) string {
	a, b := d.page(), d.page()
	x, y := append([]byte(nil), d.cut(a, page)...), append([]byte(nil), d.cut(b, page)...)
	d.set(a, y)
	d.set(b, x)
	return fmt.Sprintf("%#x and %#x", a, b)
}

func (d *damager) cut(off, n int) []byte {
	if off >= len(d.raw) {
		return nil
	}
	return d.raw[off:min(len(d.raw), off+n)]
}

func copied(d *damager) string {
	a, b := d.page(), d.page()
	d.set(b, append([]byte(nil), d.cut(a, page)...))
	return fmt.Sprintf("%#x to %#x", a, b)
}

func truncated(d *damager) string {
	at := len(d.raw) - d.random.IntN(len(d.raw)/(1+d.random.IntN(20))+1)
	switch d.random.IntN(6) {
	case 0:
		at = d.head()
	case 1, 2:
		at, _ = d.aim()
	}
	d.raw = d.raw[:min(at, len(d.raw))]
	return fmt.Sprintf("at %#x", at)
}

// A pointer is a word that looks like a pointer.
type pointer struct {
	off  int
	addr uint64 // of the word itself; 0 if unknown
	to   uint64
}

// aimAtPointer returns a word that looks like a pointer.
func (d *damager) aimAtPointer() (p pointer, ok bool) {
	for range 200 {
		p.off, p.addr = d.aim()
		p.off, p.addr = p.off&^7, p.addr&^7
		if p.off+8 > len(d.raw) {
			continue
		}
		if p.to = binary.LittleEndian.Uint64(d.raw[p.off:]); p.to>>20 != 0 && p.to>>47 == 0 {
			return p, true
		}
	}
	return pointer{}, false
}

func (d *damager) putWord(at int, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	d.set(at, b[:])
}

func pointers(d *damager) string {
	said := ""
	for range d.few(32) {
		p, ok := d.aimAtPointer()
		if !ok {
			break
		}
		other, _ := d.aimAtPointer()
		choices := []uint64{p.to | 1<<60, 0x4141414141414141, other.to, other.to + 8, p.to + 8, p.to - 8, p.to + 1, p.to ^ 1<<d.random.IntN(47), 1<<47 - 1}
		v := choices[d.random.IntN(len(choices))]
		d.putWord(p.off, v)
		said += fmt.Sprintf(" %#x at %#x;", v, p.off)
	}
	return said
}

// cycles changes pointers to refer to themselves, to the structures that hold them, or to an
// earlier one.
func cycles(d *damager) string {
	said := ""
	var before uint64
	for range d.few(32) {
		p, ok := d.aimAtPointer()
		if !ok {
			break
		}
		to := before
		if p.addr != 0 && (to == 0 || d.random.IntN(4) > 0) {
			to = p.addr - 8*uint64(d.random.IntN(1+d.random.IntN(16)))
		}
		if to == 0 {
			to = p.to - 8*uint64(d.random.IntN(4))
		}
		d.putWord(p.off, to)
		said += fmt.Sprintf(" %#x at %#x;", to, p.off)
		before = p.addr
	}
	return said
}

func headers(d *damager) string {
	said := ""
	for range d.few(12) {
		size := 1 << d.random.IntN(4)
		at := d.head() &^ (size - 1)
		var b [8]byte
		if d.random.IntN(2) == 0 {
			binary.LittleEndian.PutUint64(b[:], d.word())
		} else {
			binary.LittleEndian.PutUint64(b[:], d.random.Uint64())
		}
		d.set(at, b[:size])
		said += fmt.Sprintf(" % x at %#x;", b[:size], at)
	}
	return said
}

func garbage(d *damager) string {
	at, _ := d.aim()
	size := 16 << d.random.IntN(8)
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(d.random.Uint32())
	}
	d.set(at, b)
	return fmt.Sprintf("%d bytes from %#x on", size, at)
}
