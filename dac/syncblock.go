package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// The bits of an object's header word (syncblk.h, BIT_SBLK_*).
const (
	headerHashOrSyncBlock = 0x08000000
	headerIsHashCode      = 0x04000000
	headerSyncIndexMask   = 0x03ffffff
)

// An ObjectHeader is the word before an object.
type ObjectHeader uint32

// ObjectHeaderSize is the number of bytes of an ObjectHeader.
const ObjectHeaderSize = 4

// ObjectHeader reads the header of the object at a.
func (r *Runtime) ObjectHeader(a target.Addr) (ObjectHeader, error) {
	if err := r.Check(FeatureObjectHeaders); err != nil {
		return 0, err
	}
	v, err := target.Uint32(r.mem, a-ObjectHeaderSize)
	return ObjectHeader(v), err
}

// SyncBlockIndex returns the index of the object's sync block, or 0.
func (h ObjectHeader) SyncBlockIndex() uint32 {
	if h&headerHashOrSyncBlock == 0 || h&headerIsHashCode != 0 {
		return 0
	}
	return uint32(h & headerSyncIndexMask)
}

// A ThinLock is a lock that is kept in the object's header.
type ThinLock struct {
	Owner     uint32 // managed thread id
	Recursion uint32 // times that the owner entered again
}

// ThinLock decodes the lock in h. It reports false if there is none.
func (r *Runtime) ThinLock(h ObjectHeader) (ThinLock, bool) {
	if h&headerHashOrSyncBlock != 0 {
		return ThinLock{}, false
	}
	c := &r.consts
	l := ThinLock{
		Owner:     uint32(h) & c.thinLockOwner,
		Recursion: uint32(h) & c.thinLockEntries >> c.thinLockShift,
	}
	return l, l.Owner != 0
}

// A SyncBlock holds a lock, a hash code or interop data of an object (syncblk.h).
type SyncBlock struct {
	Index       uint32
	Addr        target.Addr
	Object      target.Addr // 0 when the entry is free
	Held        bool
	Recursion   uint32
	Waiters     uint32
	OwnerThread target.Addr // Thread that holds the lock; 0 if the runtime records an id
	OwnerID     uint32      // managed id of the holder; 0 if the runtime records a Thread
	// Lock is the System.Threading.Lock that is the monitor, since .NET 11 and only once threads competed for it; else 0.
	Lock target.Addr
}

// SyncBlock reads the sync block with an index. A free entry has no Object.
func (r *Runtime) SyncBlock(index uint32) (SyncBlock, error) {
	b, err := r.readSyncBlock(index)
	if err != nil {
		err = fmt.Errorf("sync block %d: %w", index, err)
	}
	return b, err
}

func (r *Runtime) readSyncBlock(index uint32) (SyncBlock, error) {
	table, err := r.GlobalPointer("SyncTableEntries")
	if err != nil {
		return SyncBlock{}, err
	}
	e, o := &r.off.SyncEntry, &r.off.SyncBlock
	rd := layout.Reader{Mem: r.mem, Base: table + target.Addr(int(index)*e.Size)}
	b := SyncBlock{Index: index, Addr: rd.Ptr(e.Block), Object: rd.Ptr(e.Object)}
	if rd.Err != nil {
		return b, rd.Err
	}
	if b.Object&1 != 0 || b.Addr == 0 {
		return SyncBlock{Index: index}, nil // in the free list
	}
	if o.LockState == layout.Absent {
		return r.managedSyncBlock(b)
	}
	s := layout.Reader{Mem: r.mem, Base: b.Addr}
	state := s.U32(o.LockState)
	b.Held, b.Waiters = state&1 != 0, state>>6
	b.Recursion = s.U32(o.Recursion)
	if o.HoldingID != layout.Absent {
		b.OwnerID = s.U32(o.HoldingID)
	} else {
		b.OwnerThread = s.Ptr(o.HoldingThread)
	}
	own := s.U32(o.Index) & 0x7fffffff
	if s.Err != nil {
		return b, s.Err
	}
	if own != index {
		return b, target.Corruptf("it says that its index is %d", own)
	}
	return b, nil
}

// managedSyncBlock reads the lock of a sync block of .NET 11: a lock object, or the thin lock that the header had room for
// before (syncblk.h, SyncBlock::m_Lock and m_thinLock).
func (r *Runtime) managedSyncBlock(b SyncBlock) (SyncBlock, error) {
	o := &r.off.SyncBlock
	s := layout.Reader{Mem: r.mem, Base: b.Addr}
	handle, thin := s.Ptr(o.Lock), s.U32(o.ThinLock)
	if s.Err == nil && handle != 0 {
		b.Lock, s.Err = target.Pointer(r.mem, handle)
	}
	if s.Err != nil {
		return b, s.Err
	}
	if b.Lock != 0 {
		l, err := r.ManagedLock(b.Lock)
		b.Held, b.OwnerID, b.Waiters = l.Held, l.OwnerID, l.Waiters
		if l.Held {
			b.Recursion = l.Recursion + 1
		}
		return b, err
	}
	if l, held := r.ThinLock(ObjectHeader(thin)); held {
		b.Held, b.OwnerID, b.Recursion = true, l.Owner, l.Recursion+1
	}
	return b, nil
}

// A syncCache holds the runtime's counters of sync blocks (syncblk.h, SyncBlockCache).
type syncCache struct {
	next uint32 // index of the first entry of the table that was never used
	size uint32 // entries of the table
}

// syncTableInitial is the number of entries that the table begins with (syncblk.cpp, SYNC_TABLE_INITIAL_SIZE).
const syncTableInitial = 250

// syncCacheAt reads the counters of the SyncBlockCache at an address.
func (r *Runtime) syncCacheAt(a target.Addr) (syncCache, error) {
	o := &r.off.SyncCache
	rd := layout.Reader{Mem: r.mem, Base: a}
	c := syncCache{next: rd.U32(o.Next), size: limits.SyncBlocks}
	if o.Size != layout.Absent {
		c.size = rd.U32(o.Size)
	}
	if rd.Err != nil {
		return c, rd.Err
	}
	if c.next == 0 || c.size < syncTableInitial || c.next > c.size || c.size > limits.SyncBlocks {
		return c, target.Corruptf("a table of %d sync blocks, of which %d are used", c.size, c.next)
	}
	return c, nil
}

// HashCode returns the hash code in the header, or false. A hash code that made room for a lock is in the object's sync block.
func (h ObjectHeader) HashCode() (uint32, bool) {
	const mask = headerHashOrSyncBlock | headerIsHashCode
	return uint32(h & headerSyncIndexMask), h&mask == mask
}
