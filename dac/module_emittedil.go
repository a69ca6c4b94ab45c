package dac

import (
	"encoding/binary"
	"errors"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// EmittedIL returns the address of the IL body that Reflection.Emit gave to a method of the module. It is in a
// hash table of the Module (ceeload.h, DynamicILBlobTable). No layout has the table's offset; its content
// proves it (see provenBlobs). EmittedIL returns 0 for a method that is not in the table, and
// target.ErrUnsupported if no table is proved.
func (m *Module) EmittedIL(t metadata.Token) (target.Addr, error) {
	blobs, err := m.blobs.Get(m.findBlobs)
	return blobs[t], err
}

// findBlobs searches the words of the Module, up to the next Module, for the address of the table. The address
// of the table's lock precedes it.
func (m *Module) findBlobs() (map[metadata.Token]target.Addr, error) {
	if m.r.off.SHash.Table == layout.Absent || m.r.off.ILBlob.Token == layout.Absent {
		return nil, &layout.Error{Type: "SHash"}
	}
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

var errNoBlobs = target.Corruptf("not the table of a module's IL")

// provenBlobs reads the table of IL at a, an SHash (shash.h) that maps tokens to addresses of IL. The proof:
// its numbers fit each other (at most three of four slots are filled), the number of filled slots is right,
// each filled slot holds the token of a method of this module, and hashing that token leads to the slot over
// filled slots.
func (m *Module) provenBlobs(a target.Addr) (map[metadata.Token]target.Addr, error) {
	hash, entry := &m.r.off.SHash, uint64(m.r.off.ILBlob.Size)
	b, err := target.Bytes(m.r.mem, a, hash.Size)
	if err != nil {
		return nil, err
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	at := target.Addr(binary.LittleEndian.Uint64(b[hash.Table:]))
	size, count, occupied, most := u32(hash.TableSize), u32(hash.TableCount), u32(hash.TableOccupied), u32(hash.TableMax)
	bytes := uint64(size) * entry
	if count == 0 || count > occupied || occupied > most || uint64(most) != uint64(size)*3/4 || bytes > limits.ILBytes || !canonical(at) {
		return nil, errNoBlobs
	}
	end := at + target.Addr(bytes)
	if end < at || !target.Available(m.r.mem, end-target.Addr(entry), int(entry)) {
		return nil, &target.MemoryError{Addr: at, Size: int(bytes), Err: target.ErrNotInDump}
	}
	slots, err := target.Bytes(m.r.mem, at, int(bytes))
	if err != nil {
		return nil, err
	}
	return m.blobsOf(slots, size, count)
}

func (m *Module) blobsOf(slots []byte, size, count uint32) (map[metadata.Token]target.Addr, error) {
	entry := &m.r.off.ILBlob
	key := func(i uint32) uint32 { return binary.LittleEndian.Uint32(slots[int(i)*entry.Size+entry.Token:]) }
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
		il := target.Addr(binary.LittleEndian.Uint64(slots[int(i)*entry.Size+entry.IL:]))
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

// probes reports whether the probe sequence of SHash for the key in slot i reaches that slot before an empty
// one.
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
