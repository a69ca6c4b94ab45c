package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A HeldWord is a word with a reference.
type HeldWord struct {
	Addr     target.Addr
	Interior bool // the reference may point into an object, or outside the heap
}

// The states of a TailCallArgBuffer (tailcallhelp.h).
const (
	tailCallActive = iota
	tailCallContextOnly
	tailCallAbandoned
)

// TailCallArguments returns the references among the arguments of a tail call that t is about to make. The
// caller has stored them in a buffer of the thread and returned (tailcallhelp.h, TailCallArgBuffer; .NET 5 and
// later). The buffer of a call that has begun contains none. It returns target.ErrUnsupported if the layout
// lacks the buffer's offset; few threads are affected, as the buffer is in use for a few instructions.
func (r *Runtime) TailCallArguments(t *Thread) ([]HeldWord, error) {
	l, err := r.frameLayout()
	if err != nil {
		return nil, err
	}
	if r.off.Thread.TailCall == layout.Absent || l.TailCallBuffer.GCDesc == layout.Absent {
		return nil, fmt.Errorf("arguments of a tail call: %w", r.absent("Thread.TailCallArgBuffer"))
	}
	buffer, err := target.Pointer(r.mem, t.Addr+target.Addr(r.off.Thread.TailCall))
	if err != nil || buffer == 0 {
		return nil, err
	}
	out, err := r.tailCallBuffer(l, buffer)
	if err != nil {
		err = fmt.Errorf("buffer of tail calls %016x of thread %d: %w", uint64(buffer), t.ManagedID, err)
	}
	return out, err
}

func (r *Runtime) tailCallBuffer(l *frameLayout, buffer target.Addr) ([]HeldWord, error) {
	o := &l.TailCallBuffer
	rd := layout.Reader{Mem: r.mem, Base: buffer}
	state, size, desc := rd.U32(o.State), rd.U32(o.Bytes), rd.Ptr(o.GCDesc)
	switch {
	case rd.Err != nil:
		return nil, rd.Err
	case state > tailCallAbandoned || size < uint32(o.Size) || size > limits.TailCallBuffer:
		return nil, target.Corruptf("state %d, %d bytes", state, size)
	case state != tailCallActive || desc == 0:
		return nil, nil
	}
	words := int(size-uint32(o.Size)) / 8
	refs, err := r.gcRefMap(desc, words)
	for i := range refs {
		refs[i].Addr = buffer + target.Addr(o.Size) + 8*refs[i].Addr
	}
	return refs, err
}

// The tokens of a GCRefMap (gcrefmap.h).
const (
	refMapSkip = iota
	refMapReference
	refMapInterior
)

// gcRefMap decodes a GCRefMap of the given number of words. It returns the words with references, by index.
func (r *Runtime) gcRefMap(at target.Addr, words int) ([]HeldWord, error) {
	d := refMapDecoder{mem: r.mem, at: at, pending: 0x80}
	var out []HeldWord
	for d.err == nil && d.pending != 0 {
		pos := d.pos
		token := d.token()
		if d.err != nil {
			break
		}
		if d.pos > words {
			return out, target.Corruptf("its map of references goes beyond its %d words", words)
		}
		if token == refMapReference || token == refMapInterior {
			out = append(out, HeldWord{Addr: target.Addr(pos), Interior: token == refMapInterior})
		}
	}
	return out, d.err
}

// A refMapDecoder reads the bits of a GCRefMap: seven in each byte. The eighth bit marks that another byte
// follows.
type refMapDecoder struct {
	mem     target.Memory
	at      target.Addr
	pending uint32
	pos     int
	err     error
}

func (d *refMapDecoder) bit() int {
	x := d.pending
	if x&0x80 != 0 && d.err == nil {
		var b uint8
		b, d.err = target.Uint8(d.mem, d.at)
		d.at++
		x = uint32(b) | uint32(b)&0x80<<7
	}
	d.pending = x >> 1
	return int(x & 1)
}

func (d *refMapDecoder) bits(n int) (v int) {
	for i := range n {
		v |= d.bit() << i
	}
	return v
}

// int reads a number in groups of three bits. A bit after each group marks another group. More than 30 bits are
// an error.
func (d *refMapDecoder) int() (v int) {
	for shift := 0; d.err == nil; shift += 3 {
		if shift > 27 {
			d.err = target.Corruptf("its map of references has a number without end")
			return 0
		}
		v |= d.bits(3) << shift
		if d.bit() == 0 {
			break
		}
	}
	return v
}

// token reads a token and skips the words that it covers.
func (d *refMapDecoder) token() int {
	v := d.bits(2)
	if v != 3 {
		d.pos++
		return v
	}
	ext := d.int()
	if ext&1 == 0 {
		d.pos += ext>>1 + 4
		return refMapSkip
	}
	d.pos++
	return ext>>1 + 3
}
