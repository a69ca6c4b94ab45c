package heap

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// fakeMemory is pieces of memory with holes between them.
type fakeMemory struct {
	pieces []fakePiece // by address
	lends  bool
}

type fakePiece struct {
	at target.Addr
	b  []byte
}

func (m *fakeMemory) piece(a target.Addr) []byte {
	for _, p := range m.pieces {
		if a >= p.at && a < p.at+target.Addr(len(p.b)) {
			return p.b[a-p.at:]
		}
	}
	return nil
}

func (m *fakeMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := copy(p, m.piece(a))
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

func (m *fakeMemory) View(a target.Addr, n int) ([]byte, bool) {
	if b := m.Span(a); len(b) >= n {
		return b[:n], true
	}
	return nil, false
}

func (m *fakeMemory) Span(a target.Addr) []byte {
	if !m.lends {
		return nil
	}
	return m.piece(a)
}

func (m *fakeMemory) NextStored(a target.Addr) (target.Addr, bool) {
	for _, p := range m.pieces {
		if a < p.at+target.Addr(len(p.b)) {
			return max(a, p.at), true
		}
	}
	return 0, false
}

// fakeTypes are MethodTables by address.
type fakeTypes map[target.Addr]*dac.MethodTable

func (t fakeTypes) MethodTable(a target.Addr) (*dac.MethodTable, error) {
	if mt := t[a]; mt != nil {
		return mt, nil
	}
	return nil, target.Corruptf("%x is not a MethodTable", uint64(a))
}

func (t fakeTypes) TrustedMethodTable(a target.Addr) (*dac.MethodTable, error) {
	return t.MethodTable(a)
}

const (
	synthHeap = target.Addr(0x7f0000000000)
	synthCode = target.Addr(0x550000000000) // where the MethodTables are
	mtFree    = synthCode + 0x100
	mtSmall   = synthCode + 0x200 // 24 bytes
	mtLarge   = synthCode + 0x300 // 72 bytes
	mtBytes   = synthCode + 0x400 // array of bytes
	mtString  = synthCode + 0x500
)

func synthTypes() fakeTypes {
	t := fakeTypes{}
	for _, mt := range []dac.MethodTable{
		{Addr: mtFree, BaseSize: 24, ComponentSize: 1},
		{Addr: mtSmall, BaseSize: 24},
		{Addr: mtLarge, BaseSize: 72},
		{Addr: mtBytes, BaseSize: 24, ComponentSize: 1},
		{Addr: mtString, BaseSize: 22, ComponentSize: 2},
	} {
		t[mt.Addr] = &mt
	}
	return t
}

// A builder lays objects out.
type builder struct {
	b    []byte
	objs []target.Addr
}

func (b *builder) at() target.Addr { return synthHeap + target.Addr(len(b.b)) }

func (b *builder) add(mt target.Addr, base, comp, length int) target.Addr {
	a := b.at()
	size := (max(24, base+comp*length) + 7) &^ 7
	o := make([]byte, size)
	binary.LittleEndian.PutUint64(o, uint64(mt))
	if comp != 0 {
		binary.LittleEndian.PutUint32(o[8:], uint32(length))
	}
	b.b = append(b.b, o...)
	b.objs = append(b.objs, a)
	return a
}

func (b *builder) small() target.Addr      { return b.add(mtSmall, 24, 0, 0) }
func (b *builder) large() target.Addr      { return b.add(mtLarge, 72, 0, 0) }
func (b *builder) bytes(n int) target.Addr { return b.add(mtBytes, 24, 1, n) }
func (b *builder) free(n int) target.Addr  { return b.add(mtFree, 24, 1, n) }
func (b *builder) gap(n int)               { b.b = append(b.b, make([]byte, n)...) }
func (b *builder) put(a target.Addr, word uint64) {
	binary.LittleEndian.PutUint64(b.b[a-synthHeap:], word)
}

// heap makes a heap of one segment, without the bytes of the holes.
func (b *builder) heap(lends bool, contexts []dac.AllocContext, holes ...target.Range) *Heap {
	m := &fakeMemory{lends: lends, pieces: []fakePiece{{at: synthCode, b: make([]byte, 0x1000)}}}
	at, stored := synthHeap, 0
	for _, hole := range append(holes, target.Range{Start: b.at(), End: b.at()}) {
		if hole.Start > at {
			m.pieces = append(m.pieces, fakePiece{at, b.b[at-synthHeap : hole.Start-synthHeap]})
			stored += int(hole.Start - at)
		}
		at = hole.End
	}
	h := &Heap{rt: new(dac.Runtime), mem: m, types: newTypeTable(synthTypes(), mtFree), contexts: contexts}
	h.edges = &edgeTypes{mem: m, keeper: func(*dac.MethodTable) (target.Addr, error) { return 0, nil }}
	h.segments = []Segment{{
		Addr: 1, Kind: KindGeneration2, stored: uint64(stored),
		Objects: target.Range{Start: synthHeap, End: b.at()}, Committed: target.Range{Start: synthHeap, End: b.at()},
	}}
	h.readGaps()
	return h
}
