package dac

import (
	"encoding/binary"
	"errors"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// EmittedIL is where the IL of a method lies that Reflection.Emit gave to the module:
// the header of its body. The runtime has it in a hash table of the Module
// (ceeload.h, DynamicILBlobTable), and no layout tells where; the table is known by
// what it holds (see provenBlobs). It is 0 for a method that the table lacks, and
// target.ErrUnsupported where nothing proves to be the table.
func (m *Module) EmittedIL(t metadata.Token) (target.Addr, error) {
	blobs, err := m.blobs.Get(m.findBlobs)
	return blobs[t], err
}

// findBlobs looks through the words of the Module, as far as the next Module, for the
// address of the table. The word in front of it is that of the table's lock.
func (m *Module) findBlobs() (map[metadata.Token]target.Addr, error) {
	mem := m.r.mem
	class, err := target.Pointer(mem, m.Addr)
	if err != nil {
		return nil, err
	}
	var lock target.Addr
	missing := false
	for at := m.Addr + 8; at < m.Addr+8*limits.ModuleWords; at += 8 {
		word, err := target.Pointer(mem, at)
		if err != nil || word == class {
			missing = missing || errors.Is(err, target.ErrNotInDump)
			break
		}
		if canonical(lock) && canonical(word) {
			blobs, err := m.provenBlobs(word)
			if err == nil {
				return blobs, nil
			}
			missing = missing || errors.Is(err, target.ErrNotInDump)
		}
		lock = word
	}
	if missing {
		return nil, &target.MemoryError{Addr: m.Addr, Size: 8 * limits.ModuleWords, Err: target.ErrNotInDump}
	}
	return nil, target.Unsupportedf("nothing in module %016x proves to be the table of the IL that Reflection.Emit made", uint64(m.Addr))
}

// The runtime's SHash (shash.h): the address of its slots, then how many there are,
// how many are filled, how many were, and how many may be: three of four. A slot of
// DynamicILBlobTable is a token and the address of its IL.
const (
	shashSize    = 24
	blobSlotSize = 16
)

var errNoBlobs = target.Corruptf("not the table of a module's IL")

// provenBlobs reads the table of IL at a. What proves it: its numbers fit each other,
// each slot that is not empty holds the token of a method of this module, is where
// the hash of that token leads, over filled slots alone, and is as often there as the
// table says.
func (m *Module) provenBlobs(a target.Addr) (map[metadata.Token]target.Addr, error) {
	b, err := target.Bytes(m.r.mem, a, shashSize)
	if err != nil {
		return nil, err
	}
	u32 := binary.LittleEndian.Uint32
	at := target.Addr(binary.LittleEndian.Uint64(b))
	size, count, occupied, most := u32(b[8:]), u32(b[12:]), u32(b[16:]), u32(b[20:])
	if count == 0 || count > occupied || occupied > most || uint64(most) != uint64(size)*3/4 || uint64(size)*blobSlotSize > limits.ILBytes || !canonical(at) {
		return nil, errNoBlobs
	}
	end := at + target.Addr(size)*blobSlotSize
	if end < at || !target.Available(m.r.mem, end-blobSlotSize, blobSlotSize) {
		return nil, &target.MemoryError{Addr: at, Size: int(size) * blobSlotSize, Err: target.ErrNotInDump}
	}
	slots, err := target.Bytes(m.r.mem, at, int(size)*blobSlotSize)
	if err != nil {
		return nil, err
	}
	return m.blobsOf(slots, size, count)
}

func (m *Module) blobsOf(slots []byte, size, count uint32) (map[metadata.Token]target.Addr, error) {
	key := func(i uint32) uint32 { return binary.LittleEndian.Uint32(slots[i*blobSlotSize:]) }
	rows := ^uint32(0)
	if md, err := m.Metadata(); err == nil {
		rows = md.RowCount(metadata.TableMethodDef)
	}
	blobs := make(map[metadata.Token]target.Addr, min(count, size))
	for i := range size {
		k := key(i)
		if k == 0 {
			continue
		}
		t := metadata.Token(k)
		il := target.Addr(binary.LittleEndian.Uint64(slots[i*blobSlotSize+8:]))
		_, twice := blobs[t]
		if t.Table() != metadata.TableMethodDef || t.Row() == 0 || t.Row() > rows || !canonical(il&^7) || twice || !probes(key, size, i) {
			return nil, errNoBlobs
		}
		blobs[t] = il
	}
	if uint32(len(blobs)) != count {
		return nil, errNoBlobs
	}
	return blobs, nil
}

// probes reports whether a search for the key in slot i of a table comes there: by
// the steps of SHash, which end at an empty slot.
func probes(key func(uint32) uint32, size, i uint32) bool {
	k := key(i)
	at := k % size
	for range limits.HashProbes {
		if at == i {
			return true
		}
		if key(at) == 0 || size < 2 {
			return false
		}
		at = uint32((uint64(at) + uint64(k%(size-1)+1)) % uint64(size))
	}
	return false
}
