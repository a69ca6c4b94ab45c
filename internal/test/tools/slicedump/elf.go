package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// The parts of ELF64 that are rewritten (gABI, "Program Header").
const (
	elfHeaderSize  = 64
	progHeaderSize = 56
	progLoad       = 1
	progRead       = 4
	progMany       = 0xffff // the number of program headers is elsewhere
)

type progHeader struct {
	Type, Flags                                      uint32
	Offset, Addr, PhysAddr, FileSize, MemSize, Align uint64
}

// An elfContainer is an ELF core.
type elfContainer struct {
	raw   []byte
	progs []progHeader
}

func openELF(raw []byte) (*elfContainer, error) {
	at, n := binary.LittleEndian.Uint64(raw[32:]), binary.LittleEndian.Uint16(raw[56:])
	if n == progMany {
		return nil, target.Unsupportedf("cores with %d segments or more", progMany)
	}
	e := &elfContainer{raw: raw, progs: make([]progHeader, n)}
	return e, binary.Read(bytes.NewReader(raw[at:]), binary.LittleEndian, e.progs)
}

func (e *elfContainer) ranges() []memmap.Range {
	var out []memmap.Range
	for _, p := range e.progs {
		if p.Type == progLoad {
			out = append(out, memmap.Range{Addr: target.Addr(p.Addr), Size: min(p.FileSize, p.MemSize), Offset: int64(p.Offset)})
		}
	}
	return out
}

// A segment is a program header of the slice and its bytes.
type segment struct {
	progHeader
	data []byte
}

// build writes the notes unchanged, and the segments divided where memory is omitted. Omitted
// memory keeps a header without bytes.
func (e *elfContainer) build(pieces []piece) ([]byte, error) {
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.addr, b.addr) })
	segments := e.segments(pieces)
	if len(segments) >= progMany {
		return nil, fmt.Errorf("%d segments", len(segments))
	}
	off := uint64(elfHeaderSize + progHeaderSize*len(segments))
	var head, body bytes.Buffer
	head.Write(e.raw[:elfHeaderSize])
	binary.LittleEndian.PutUint64(head.Bytes()[32:], elfHeaderSize)
	binary.LittleEndian.PutUint64(head.Bytes()[40:], 0) // no section headers
	binary.LittleEndian.PutUint16(head.Bytes()[56:], uint16(len(segments)))
	copy(head.Bytes()[60:64], "\x00\x00\x00\x00")
	for _, s := range segments {
		if s.Type == progLoad && len(s.data) >= pageSize {
			pad := -(off + uint64(body.Len())) % pageSize
			body.Write(make([]byte, pad))
		}
		s.Offset = off + uint64(body.Len())
		if err := binary.Write(&head, binary.LittleEndian, s.progHeader); err != nil {
			return nil, err
		}
		body.Write(s.data)
	}
	return append(head.Bytes(), body.Bytes()...), nil
}

func (e *elfContainer) segments(pieces []piece) []segment {
	var notes, loads []segment
	for _, p := range e.progs {
		if p.Type == progLoad {
			loads = append(loads, segment{progHeader: p})
			continue
		}
		notes = append(notes, segment{p, e.raw[p.Offset : p.Offset+p.FileSize]})
	}
	slices.SortStableFunc(loads, func(a, b segment) int { return cmp.Compare(a.Addr, b.Addr) })
	c := cutter{pieces: pieces}
	for _, l := range loads {
		c.outside(l.Addr)
		c.inside(&l.progHeader)
	}
	c.outside(^uint64(0))
	return append(notes, c.out...)
}

// A cutter advances through loads and pieces by address.
type cutter struct {
	pieces []piece
	out    []segment
}

// take returns the next piece before end.
func (c *cutter) take(end uint64) (piece, bool) {
	if len(c.pieces) == 0 || c.pieces[0].addr >= end {
		return piece{}, false
	}
	p := c.pieces[0]
	if p.end() > end {
		n := end - p.addr
		c.pieces[0] = piece{end, p.data[n:]}
		p.data = p.data[:n]
	} else {
		c.pieces = c.pieces[1:]
	}
	return p, true
}

// outside adds pieces outside of all segments: parts of module files.
func (c *cutter) outside(end uint64) {
	for p, ok := c.take(end); ok; p, ok = c.take(end) {
		c.add(progHeader{Flags: progRead}, p.addr, p.data, uint64(len(p.data)))
	}
}

// inside adds the kept and the omitted parts of a segment.
func (c *cutter) inside(l *progHeader) {
	at, end := l.Addr, l.Addr+l.MemSize
	for p, ok := c.take(end); ok; p, ok = c.take(end) {
		c.add(*l, at, nil, p.addr-at)
		c.add(*l, p.addr, p.data, uint64(len(p.data)))
		at = p.end()
	}
	c.add(*l, at, nil, end-at)
}

func (c *cutter) add(h progHeader, at uint64, data []byte, size uint64) {
	if size == 0 {
		return
	}
	h.Type, h.Addr, h.FileSize, h.MemSize, h.Align = progLoad, at, uint64(len(data)), size, pageSize
	c.out = append(c.out, segment{h, data})
}
