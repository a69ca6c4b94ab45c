package dac

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

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

// ObjectHeaderSize is the size of an ObjectHeader in bytes.
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

// A ThinLock is a lock in the object's header.
type ThinLock struct {
	Owner     uint32 // managed thread id
	Recursion uint32 // times that the owner has entered again
}

// ThinLock decodes the lock in h. It returns false if h does not contain a lock.
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
	Object      target.Addr // 0 for a free entry
	Held        bool
	Recursion   uint32
	Waiters     uint32
	OwnerThread target.Addr // Thread that holds the lock; 0 if the runtime records only an id
	OwnerID     uint32      // managed id of the holder; 0 if the runtime records a Thread
	// Lock is the System.Threading.Lock that implements the monitor, since .NET 11 and once threads have
	// competed for it; else 0.
	Lock target.Addr
	// Since is when a waiter last got the lock and left others waiting, or the first of those came
	// (AwareLock::m_waiterStarvationStartTimeMs). It means nothing without waiters.
	Since TickStamp
}

// A TickStamp is what the runtime has stored of a time of the clock that counts milliseconds since boot (Environment.TickCount64).
type TickStamp struct {
	Low  uint32 // the lower Bits bits; 0 if there is no time, or it can't be read
	Bits int
}

// SyncBlock reads the sync block with an index. Object is 0 for a free entry.
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
	switch {
	case b.Object&1 != 0 || b.Object == 0 && b.Addr == 0:
		return SyncBlock{Index: index}, nil // in the free list
	case b.Addr == 0 && r.lacksSyncBlock(b.Object, index):
		return SyncBlock{Index: index}, nil // being made: it has nothing yet
	case b.Addr == 0:
		return SyncBlock{Index: index}, fmt.Errorf("the table has the object %016x and no block; it is damaged, or was being made and is %w", uint64(b.Object), target.ErrNotInDump)
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
	if o.StarvedSince != layout.Absent {
		since := layout.Reader{Mem: r.mem, Base: b.Addr} // without it a lock is still one
		b.Since = TickStamp{since.U32(o.StarvedSince), 32}
	}
	own := s.U32(o.Index) & 0x7fffffff
	if s.Err != nil {
		return b, s.Err
	}
	if own != index {
		return b, target.Corruptf("it says that its index is %d", own)
	}
	if b.Held && b.Object == 0 {
		return b, target.Corruptf("it is held, and has no object")
	}
	return b, r.deniesHolder(&b)
}

// lacksSyncBlock reports whether an object does not refer to the sync block with an index. The runtime enters the object into the table, then the
// block, and then the index into the object (syncblk.cpp, ObjHeader::GetSyncBlock).
func (r *Runtime) lacksSyncBlock(object target.Addr, index uint32) bool {
	h, err := r.ObjectHeader(object)
	return err == nil && h.SyncBlockIndex() != index
}

// deniesHolder returns an error if a held lock has the OS id of another thread than its holder. The runtime stores both ids while it has the lock, and clears
// them before it leaves the lock (syncblk.cpp, AwareLock), so that one may be 0.
func (r *Runtime) deniesHolder(b *SyncBlock) error {
	if r.off.SyncBlock.HoldingOSID == layout.Absent || !b.Held {
		return nil
	}
	id, err := target.Uint64(r.mem, b.Addr+target.Addr(r.off.SyncBlock.HoldingOSID))
	if err != nil || id == 0 {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	list, _ := r.threads.Get(r.listThreads) // what can't be read is not compared
	for i := range list.threads {
		t := &list.threads[i]
		if (t.Addr == b.OwnerThread || b.OwnerThread == 0 && t.ManagedID == b.OwnerID) && t.OSID != 0 && t.OSID != uint32(id) {
			return target.Corruptf("thread %d (%#x) holds it, and it names the OS thread %#x", t.ManagedID, t.OSID, id)
		}
	}
	return nil
}

// managedSyncBlock reads the lock of a sync block of .NET 11: a lock object, or the thin lock that was in the
// header before (syncblk.h, SyncBlock::m_Lock and m_thinLock).
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
		b.Held, b.OwnerID, b.Waiters, b.Since = l.Held, l.OwnerID, l.Waiters, l.Since
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
	next uint32 // index of the first entry that was never used
	size uint32 // number of entries
}

// syncTableInitial is the initial number of entries of the table (syncblk.cpp, SYNC_TABLE_INITIAL_SIZE).
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

// HashCode returns the hash code in the header, or false. It moves to the object's sync block when the header
// is needed for a lock.
func (h ObjectHeader) HashCode() (uint32, bool) {
	const mask = headerHashOrSyncBlock | headerIsHashCode
	return uint32(h & headerSyncIndexMask), h&mask == mask
}

// SyncBlocks iterates over the table of sync blocks, by index from 1 on. Object is 0 for a free entry. It
// yields an error with the index of an unreadable block, one error for each missing part of the table, and
// continues. The runtime records the length of the table (syncblk.h, SyncBlockCache::m_FreeSyncTableIndex). If
// the dump or the layout lacks it, the table ends before the first entry that was never used. Only used entries
// prove the place of the table (slotProver.syncTable). If it is not proved and the runtime has used none, there are
// no sync blocks.
func (r *Runtime) SyncBlocks() iter.Seq2[SyncBlock, error] {
	return func(yield func(SyncBlock, error) bool) {
		var table target.Addr
		var end uint32
		var counted bool
		err := r.Check(FeatureSyncBlocks)
		if err == nil {
			end, counted = r.syncTableEnd()
			table, err = r.GlobalPointer("SyncTableEntries")
			if errors.Is(err, target.ErrUnsupported) && counted && end == 1 {
				return
			}
		}
		if err == nil && table == 0 {
			err = target.Unsupportedf("the runtime has made no table of them yet")
		}
		if err != nil {
			yield(SyncBlock{}, fmt.Errorf("sync blocks: %w", err))
			return
		}
		for index := uint32(1); index < end; index++ {
			used, err := r.syncEntryUsed(table, index)
			switch {
			case err != nil:
				if !yield(SyncBlock{Index: index}, fmt.Errorf("sync block %d: %w", index, err)) || !counted {
					return
				}
				index = r.lastMissingEntry(table, index)
				continue
			case !used && !counted:
				return
			}
			b, err := r.SyncBlock(index)
			b.Index = index
			if !yield(b, err) {
				return
			}
		}
	}
}

// CleanupSyncBlocks lists the addresses of sync blocks without objects that still have interop data for the
// finalizer thread to release, the next one first (syncblk.h, SyncBlockCache::m_pCleanupBlockList). It returns
// the blocks before an unreadable one together with the error.
func (r *Runtime) CleanupSyncBlocks() ([]target.Addr, error) {
	blocks, err := r.readCleanupSyncBlocks()
	if err != nil {
		err = fmt.Errorf("sync blocks to be cleaned up: %w", err)
	}
	return blocks, err
}

func (r *Runtime) readCleanupSyncBlocks() ([]target.Addr, error) {
	if err := r.Check(FeatureSyncBlocks); err != nil {
		return nil, err
	}
	cache, err := r.GlobalPointer("SyncBlockCache")
	if err != nil {
		return nil, err
	}
	if cache == 0 {
		return nil, target.Unsupportedf("the runtime has made no table of sync blocks yet")
	}
	if _, err := r.syncCacheAt(cache); err != nil {
		return nil, err
	}
	head := layout.Reader{Mem: r.mem, Base: cache}
	link := head.Ptr(r.off.SyncCache.Cleanup)
	if head.Err != nil {
		return nil, head.Err
	}
	at := r.off.SyncBlock.Link
	if link != 0 && at == layout.Absent {
		return nil, target.Unsupportedf("the layout of this runtime lacks their links")
	}
	blocks := []target.Addr{}
	seen := map[target.Addr]bool{}
	for ; link != 0; link, err = target.Pointer(r.mem, link) {
		switch {
		case link%8 != 0 || link < target.Addr(at):
			return blocks, target.Corruptf("one is linked at %#x, where none can be", uint64(link))
		case seen[link]:
			return blocks, target.Corruptf("their list has a cycle at %#x", uint64(link))
		case len(blocks) == limits.SyncBlocks:
			return blocks, target.Corruptf("there are more than %d", limits.SyncBlocks)
		}
		seen[link] = true
		blocks = append(blocks, link-target.Addr(at))
	}
	return blocks, err
}

// syncTableEnd returns the index after the last entry that was ever used, and true if the runtime records it.
// Otherwise it returns a bound.
func (r *Runtime) syncTableEnd() (end uint32, counted bool) {
	at, err := r.GlobalPointer("SyncBlockCache")
	if err != nil || at == 0 {
		return limits.SyncBlocks, false
	}
	c, err := r.syncCacheAt(at)
	if err != nil {
		return limits.SyncBlocks, false
	}
	return c.next, true
}

// syncEntryUsed reports whether an entry of the table was ever used: its block refers back to it, or it is in
// the free list. There the object's low bit is set, and the rest is the next index.
func (r *Runtime) syncEntryUsed(table target.Addr, index uint32) (bool, error) {
	o := &r.off.SyncEntry
	rd := layout.Reader{Mem: r.mem, Base: table + target.Addr(index)*target.Addr(o.Size)}
	block, object := rd.Ptr(o.Block), rd.Ptr(o.Object)
	switch {
	case rd.Err != nil:
		return false, rd.Err
	case object&1 != 0:
		return object>>1 < limits.SyncBlocks, nil
	case object == 0 || block == 0 || object%8 != 0 || block%8 != 0:
		return false, nil
	}
	// Other memory follows a full table. A block that is not in the dump does not disprove the entry.
	if r.off.SyncBlock.Index == layout.Absent {
		return true, nil
	}
	own, err := target.Uint32(r.mem, block+target.Addr(r.off.SyncBlock.Index))
	return err != nil || own&syncIndexMask == index, nil
}

// lastMissingEntry returns the last entry, from an unreadable one on, before the next entry with bytes in the
// dump.
func (r *Runtime) lastMissingEntry(table target.Addr, index uint32) uint32 {
	size := target.Addr(r.off.SyncEntry.Size)
	at := table + target.Addr(index)*size
	next, more := target.NextStored(r.mem, at+size)
	if !more {
		return limits.SyncBlocks
	}
	return max(index, uint32(min((next-table)/size-1, limits.SyncBlocks)))
}

// syncIndexMask selects the index in SyncBlock.m_dwSyncIndex. The highest bit is a flag.
const syncIndexMask = 0x7fffffff

// Unpulsed counts the threads that wait for a pulse of a monitor and have got none: a pulse takes a thread off the list of its sync block (syncblk.cpp,
// ThreadQueue). It returns target.ErrUnsupported if the layout lacks that list.
func (r *Runtime) Unpulsed(b *SyncBlock) (uint32, error) {
	if b.Lock != 0 {
		l, err := r.ManagedLock(b.Lock)
		return l.Pulse, cmp.Or(err, l.PulseErr)
	}
	at := r.off.SyncBlock.Link
	if at == layout.Absent {
		return 0, target.Unsupportedf("the layout of this runtime lacks the list of threads that wait for a pulse")
	}
	n, err := uint32(0), error(nil)
	for link := b.Addr + target.Addr(at); ; n++ {
		if link, err = target.Pointer(r.mem, link); err != nil || link == 0 {
			return n, err
		}
		if link%8 != 0 || n == limits.Threads {
			return n, target.Corruptf("the threads that wait for a pulse of sync block %d have no list that ends", b.Index)
		}
	}
}
