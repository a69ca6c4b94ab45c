// Package wordscan searches registers and stacks for words that may be addresses, for example of
// objects. It does not verify that an object is there.
package wordscan

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A Word is a match: a register or a word in memory.
type Word struct {
	InRegister bool
	Register   target.Reg  // if InRegister
	Addr       target.Addr // if not InRegister: a multiple of 8
	Value      target.Addr // a multiple of 8
}

// A Scan describes a search. It is for one goroutine and does not allocate per word.
type Scan struct {
	Memory    target.Memory
	Processor *target.Processor
	Bounds    target.Range // values in this range match
	Elsewhere bool         // any address that a process can use matches
	// Found receives each match, and Lost each part of a stack that can't be read. Lost's error is
	// target.ErrNotInDump, target.ErrCorrupt for a range too large to be a stack, or ctx's. The
	// scan ends when one returns false.
	Found func(Word) bool
	Lost  func(error) bool
	buf   []byte // a copy of memory that the target does not lend
}

// Registers scans the registers that can hold addresses. It reports whether to continue.
func (s *Scan) Registers(ctx context.Context, regs *target.Registers) bool {
	for n := range s.Processor.General.All {
		v, ok := regs.Get(n)
		if !ok {
			continue
		}
		if !s.found(ctx, Word{InRegister: true, Register: n, Value: target.Addr(v)}) {
			return false
		}
	}
	return true
}

// Stack scans the 8-byte aligned words in r upwards. It reports whether to continue.
func (s *Scan) Stack(ctx context.Context, r target.Range) bool {
	at, end := (r.Start+7)&^7, r.End&^7
	if at < r.Start {
		return true // rounding up passed the end of the address space
	}
	if at < end && uint64(end-at) > limits.StackScan {
		end = at + limits.StackScan
		if !s.Lost(target.Corruptf("a stack of %#x bytes: only the first %#x are scanned", r.Size(), limits.StackScan)) {
			return false
		}
	}
	for at < end {
		if err := ctx.Err(); err != nil {
			s.Lost(err)
			return false
		}
		b := s.chunk(at, end)
		if len(b) < 8 {
			next, ok := target.NextStored(s.Memory, at+8)
			if next = (next + 7) &^ 7; !ok || next > end || next <= at {
				next = end
			}
			if !s.Lost(fmt.Errorf("stack from %#x to %#x: %w", uint64(at), uint64(next), target.ErrNotInDump)) {
				return false
			}
			at = next
			continue
		}
		if !s.words(ctx, at, b) {
			return false
		}
		at += target.Addr(len(b) &^ 7)
	}
	return true
}

// chunkSize is how many bytes are copied at once if the target does not lend memory.
const chunkSize = 64 << 10

// chunk returns the stored bytes from at on, or nil.
func (s *Scan) chunk(at, end target.Addr) []byte {
	size := uint64(end - at)
	if b := s.Memory.Span(at); len(b) >= 8 {
		return b[:min(uint64(len(b)), size)]
	}
	if s.buf == nil {
		s.buf = make([]byte, chunkSize)
	}
	n, _ := s.Memory.ReadMemory(s.buf[:min(chunkSize, size)], at)
	return s.buf[:n]
}

func (s *Scan) words(ctx context.Context, at target.Addr, b []byte) bool {
	for ; len(b) >= 8; at, b = at+8, b[8:] {
		v := target.Addr(binary.LittleEndian.Uint64(b))
		if s.Candidate(v) && !s.found(ctx, Word{Addr: at, Value: v}) {
			return false
		}
	}
	return true
}

func (s *Scan) found(ctx context.Context, w Word) bool {
	if err := ctx.Err(); err != nil { // Found may take long
		s.Lost(err)
		return false
	}
	return !s.Candidate(w.Value) || s.Found(w)
}

// Candidate reports whether v may match. It is the cheap test that most words fail.
func (s *Scan) Candidate(v target.Addr) bool {
	return v%8 == 0 && (s.Bounds.Contains(v) || s.Elsewhere && s.Processor.Mappable(v))
}
