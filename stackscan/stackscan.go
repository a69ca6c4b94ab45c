package stackscan

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// A Source says where a reference to an object was found.
type Source uint8

// The sources.
const (
	SourceRegister Source = iota
	SourceStack
)

// String is "register" or "stack".
func (s Source) String() string {
	if s == SourceRegister {
		return "register"
	}
	return "stack"
}

// A Trust says how sure it is that there is an object.
type Trust uint8

// The degrees of trust, the surest first.
const (
	// TrustWalked: a walk of the heap passes the object.
	TrustWalked Trust = iota
	// TrustPlausible: no walk reaches the place, but its first word is a
	// MethodTable.
	TrustPlausible
)

// String is "walked" or "plausible".
func (t Trust) String() string {
	if t == TrustWalked {
		return "walked"
	}
	return "plausible"
}

// A Slot is a register or a word of a stack that holds the address of an
// object.
type Slot struct {
	Source   Source
	Trust    Trust
	Register target.Reg  // of a SourceRegister
	Addr     target.Addr // of the word, for a SourceStack
	Object   target.Addr
	Type     *dac.MethodTable
	Free     bool // no object but a free block of the heap
}

// Options say what is scanned.
type Options struct {
	// Ranges are the stacks, in the order in which they are reported. Words are
	// aligned to 8 bytes. What the dump lacks is an error in the sequence.
	Ranges []target.Range
	// Registers, if not nil, come before the stacks.
	Registers *target.Registers
	// Verify leaves out what is not TrustWalked, and objects that are damaged:
	// that end behind their segment or refer to what is no object.
	Verify bool
}

// A Scanner scans stacks for the objects of one runtime. It is safe for
// concurrent use. It keeps what it learns of the heap.
type Scanner struct {
	rt       *dac.Runtime
	heap     *heap.Heap // nil if it can't be opened
	starts   *heap.Starts
	bounds   target.Range
	complete bool // every object lies in a segment that is known
}

// New prepares scans for the objects of rt. h is its heap, or nil if the dump
// has too little of it to open one: then all results are TrustPlausible.
func New(rt *dac.Runtime, h *heap.Heap) *Scanner {
	s := &Scanner{rt: rt, heap: h}
	if h != nil {
		s.starts, s.bounds, s.complete = heap.NewStarts(h), h.Bounds(), len(h.Warnings()) == 0
	}
	return s
}

// Scan yields the references to objects in registers and stacks. Nothing is
// allocated per word. Damage to the scan itself, a part of a stack that is
// not in the dump, is an error in the sequence and not its end.
func (s *Scanner) Scan(o Options) iter.Seq2[Slot, error] {
	return func(yield func(Slot, error) bool) {
		c := scan{Scanner: s, verify: o.Verify, yield: yield, exclude: o.Ranges}
		if o.Registers != nil && !c.registers(o.Registers) {
			return
		}
		for _, r := range o.Ranges {
			if !c.stack(r) {
				return
			}
		}
	}
}

// A scan is one run of a Scanner.
type scan struct {
	*Scanner
	verify  bool
	yield   func(Slot, error) bool
	exclude []target.Range // stacks hold no objects of their own
	buf     []byte         // what the target could not lend
}

// general is the number of registers, from the first, that can hold an object.
const general = int(target.R15) + 1

func (c *scan) registers(regs *target.Registers) bool {
	for n := range target.Reg(general) {
		v, ok := regs.Get(n)
		if !ok {
			continue
		}
		slot := Slot{Source: SourceRegister, Register: n, Object: target.Addr(v)}
		if c.object(&slot) && !c.yield(slot, nil) {
			return false
		}
	}
	return true
}

func (c *scan) stack(r target.Range) bool {
	at := (r.Start + 7) &^ 7
	end := r.End &^ 7
	if at < end && uint64(end-at) > limits.StackScan {
		end = at + limits.StackScan
		if !c.yield(Slot{}, target.Corruptf("a stack of %#x bytes: only the first %#x are scanned", r.Size(), limits.StackScan)) {
			return false
		}
	}
	for at < end {
		b := c.chunk(at, end)
		if len(b) < 8 {
			next, ok := target.NextStored(c.rt.Target(), at+8)
			if next = (next + 7) &^ 7; !ok || next > end || next <= at {
				next = end
			}
			err := fmt.Errorf("stack from %#x to %#x: %w", uint64(at), uint64(next), target.ErrNotInDump)
			if !c.yield(Slot{}, err) {
				return false
			}
			at = next
			continue
		}
		if !c.words(at, b) {
			return false
		}
		at += target.Addr(len(b) &^ 7)
	}
	return true
}

// chunkSize is what is copied at once where the target lends no memory.
const chunkSize = 64 << 10

// chunk returns the stored bytes from at on, or nothing.
func (c *scan) chunk(at, end target.Addr) []byte {
	mem := c.rt.Target()
	size := uint64(end - at)
	if b := mem.Span(at); len(b) >= 8 {
		return b[:min(uint64(len(b)), size)]
	}
	if c.buf == nil {
		c.buf = make([]byte, chunkSize)
	}
	n, _ := mem.ReadMemory(c.buf[:min(chunkSize, size)], at)
	return c.buf[:n]
}

func (c *scan) words(at target.Addr, b []byte) bool {
	bounds, size := c.bounds, c.bounds.Size()
	for ; len(b) >= 8; at, b = at+8, b[8:] {
		v := binary.LittleEndian.Uint64(b)
		if v-uint64(bounds.Start) >= size && c.complete || v%8 != 0 {
			continue
		}
		slot := Slot{Source: SourceStack, Addr: at, Object: target.Addr(v)}
		if c.object(&slot) && !c.yield(slot, nil) {
			return false
		}
	}
	return true
}

// object completes a slot; it reports false if its address is no object's.
func (c *scan) object(slot *Slot) bool {
	a := slot.Object
	if c.heap == nil || c.heap.Segment(a) == nil {
		return !c.complete && !c.verify && c.plausible(slot)
	}
	switch start, err := c.starts.IsStart(a); {
	case err != nil:
		return !c.verify && c.plausible(slot)
	case !start:
		return false
	}
	o, err := c.heap.ObjectAt(a)
	if err != nil {
		return false // the walk read it: an I/O error of the host
	}
	slot.Type, slot.Free = o.Type, o.Free
	return !c.verify || c.sound(&o)
}

// firstPage is the end of the addresses that no process maps.
const firstPage = 0x1000

// plausible completes a slot whose object no walk reaches.
func (c *scan) plausible(slot *Slot) bool {
	a := slot.Object
	if a%8 != 0 || a < firstPage {
		return false
	}
	for _, r := range c.exclude {
		if r.Contains(a) {
			return false
		}
	}
	word, err := target.Uint64(c.rt.Target(), a)
	if err != nil {
		return false
	}
	mt, err := c.rt.MethodTable(target.Addr(word))
	if err != nil || mt.BaseSize < minObject {
		return false
	}
	if c.image(a) {
		return false
	}
	slot.Trust, slot.Type, slot.Free = TrustPlausible, mt, mt.Addr == c.rt.WellKnown().Free
	return true
}

// minObject is the least base size of a type: a header word, the MethodTable.
const minObject = 16

// image reports whether a lies in a module: what looks like an object there is
// a pointer to a MethodTable.
func (c *scan) image(a target.Addr) bool {
	mods := c.rt.Target().Modules()
	lo, hi := 0, len(mods)
	for lo < hi {
		if m := (lo + hi) / 2; mods[m].Base > a {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo > 0 && mods[lo-1].Contains(a)
}

// sound reports whether an object ends inside its segment.
func (c *scan) sound(o *heap.Object) bool {
	s := c.heap.Segment(o.Addr)
	return s != nil && o.Size <= uint64(s.Objects.End-o.Addr)
}
