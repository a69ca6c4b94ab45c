package testcase

import (
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/sosgo/sosgo/target"
)

// A Damage is written over the memory of a dump.
type Damage struct {
	At    target.Addr
	Bytes []byte
}

// Words returns the damage of writing words at a.
func Words(a target.Addr, words ...uint64) Damage {
	d := Damage{At: a}
	for _, w := range words {
		d.Bytes = binary.LittleEndian.AppendUint64(d.Bytes, w)
	}
	return d
}

// Overwrite applies the damage to a memory that lends the bytes of its file. The memory must hold
// the damaged addresses.
func Overwrite(t testing.TB, mem target.Memory, damage ...Damage) {
	t.Helper()
	for _, w := range damage {
		b, ok := mem.View(w.At, len(w.Bytes))
		if !ok {
			t.Fatalf("%d bytes at %v are not in the dump", len(w.Bytes), w.At)
		}
		copy(b, w.Bytes)
	}
}

// An Overlay is a memory with replaced bytes at some stored addresses. Other memory is lent
// unchanged, so that reads cost the same as without an Overlay.
type Overlay struct {
	target.Memory
	damage atomic.Pointer[[]Damage]
}

// Set replaces the damage. If several overwrite one address, the last one wins.
func (o *Overlay) Set(damage ...Damage) { o.damage.Store(&damage) }

func (o *Overlay) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := o.Memory.ReadMemory(b, a)
	for _, d := range *o.damage.Load() {
		if from := d.At - a; from < target.Addr(n) {
			copy(b[from:n], d.Bytes)
		} else if from = a - d.At; from < target.Addr(len(d.Bytes)) {
			copy(b[:n], d.Bytes[from:])
		}
	}
	return n, err
}

func (o *Overlay) View(a target.Addr, n int) ([]byte, bool) {
	for _, d := range *o.damage.Load() {
		if d.At-a < target.Addr(max(n, 0)) || a-d.At < target.Addr(len(d.Bytes)) {
			return nil, false
		}
	}
	return o.Memory.View(a, n)
}

func (o *Overlay) Span(a target.Addr) []byte {
	s := o.Memory.Span(a)
	for _, d := range *o.damage.Load() {
		if a-d.At < target.Addr(len(d.Bytes)) {
			return nil
		}
		if to := d.At - a; to < target.Addr(len(s)) {
			s = s[:to]
		}
	}
	return s
}

// NextStored implements target.SparseMemory. Damage does not change what is stored.
func (o *Overlay) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(o.Memory, a)
}
