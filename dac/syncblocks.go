package dac

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// SyncBlocks iterates over the table of sync blocks, by index from 1 on; a free entry has no Object. It yields an error with the index of
// an unreadable block, one error for each missing part of the table, and continues. The length of the table is the runtime's (syncblk.h,
// SyncBlockCache::m_FreeSyncTableIndex). If the dump or the layout lacks it, the table ends before the first entry that was never used.
func (r *Runtime) SyncBlocks() iter.Seq2[SyncBlock, error] {
	return func(yield func(SyncBlock, error) bool) {
		err := r.Check(FeatureSyncBlocks)
		var table target.Addr
		if err == nil {
			table, err = r.GlobalPointer("SyncTableEntries")
		}
		if err == nil && table == 0 {
			err = target.Unsupportedf("the runtime has made no table of them yet")
		}
		if err != nil {
			yield(SyncBlock{}, fmt.Errorf("sync blocks: %w", err))
			return
		}
		end, counted := r.syncTableEnd()
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

// CleanupSyncBlocks lists the addresses of the sync blocks whose objects are gone and whose interop data the finalizer
// thread has yet to release, the next one first (syncblk.h, SyncBlockCache::m_pCleanupBlockList). It returns the blocks
// before an unreadable one together with the error.
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

// syncTableEnd returns the index after the last entry that was ever used, and true if the runtime counts them;
// otherwise it returns a bound.
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

// syncEntryUsed reports whether an entry of the table was ever used: it names a block that names it, or it is in the
// free list, where the object's low bit is set and the rest is the next index.
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
	// Other memory follows a full table. A block that the dump lacks does not disprove the entry.
	if r.off.SyncBlock.Index == layout.Absent {
		return true, nil
	}
	own, err := target.Uint32(r.mem, block+target.Addr(r.off.SyncBlock.Index))
	return err != nil || own&syncIndexMask == index, nil
}

// lastMissingEntry returns the last entry, from an unreadable one on, before the next entry with bytes in the dump.
func (r *Runtime) lastMissingEntry(table target.Addr, index uint32) uint32 {
	size := target.Addr(r.off.SyncEntry.Size)
	at := table + target.Addr(index)*size
	next, more := target.NextStored(r.mem, at+size)
	if !more {
		return limits.SyncBlocks
	}
	return max(index, uint32(min((next-table)/size-1, limits.SyncBlocks)))
}

// syncIndexMask are the bits of SyncBlock.m_dwSyncIndex that hold the index; the highest is a mark.
const syncIndexMask = 0x7fffffff
