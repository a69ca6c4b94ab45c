package dac

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// SyncBlocks iterates over the table of sync blocks, by index from 1 on; a free
// entry has no Object. A block that can't be read is an error with its index,
// and the others go on. The runtime keeps the number of entries where no layout
// tells: the table ends before the first entry that was never used.
func (r *Runtime) SyncBlocks() iter.Seq2[SyncBlock, error] {
	return func(yield func(SyncBlock, error) bool) {
		table, err := r.globalPointer("SyncTableEntries")
		if err != nil {
			yield(SyncBlock{}, fmt.Errorf("sync blocks: %w", err))
			return
		}
		for index := uint32(1); index < limits.SyncBlocks; index++ {
			used, err := r.syncEntryUsed(table, index)
			if err != nil {
				yield(SyncBlock{Index: index}, fmt.Errorf("sync block %d: %w", index, err))
				return // the table itself ends here
			}
			if !used {
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

// syncEntryUsed reports whether an entry of the table is one: it names a block
// that names it, or it is in the free list, where the object's low bit is set
// and the rest is the next index.
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
	// Behind a table that is full other memory follows. A block that the dump
	// lacks is no proof against the entry.
	own, err := target.Uint32(r.mem, block+target.Addr(r.off.SyncBlock.Index))
	return err != nil || own&syncIndexMask == index, nil
}

// syncIndexMask are the bits of SyncBlock.m_dwSyncIndex that hold the index;
// the highest is a mark.
const syncIndexMask = 0x7fffffff
