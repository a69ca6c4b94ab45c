package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// A BlockingKind says how a thread waits for a monitor (threaddebugblockinginfo.h, enum DebugBlockingItemType).
type BlockingKind uint32

// The kinds.
const (
	BlockedEnter BlockingKind = 0 // it wants to enter
	BlockedWait  BlockingKind = 1 // it waits for a pulse: Monitor.Wait
)

// A BlockingItem is a monitor that a thread waits for, as the runtime notes it for debuggers while the thread waits.
type BlockingItem struct {
	Monitor target.Addr // the lock in the sync block
	Block   SyncBlock   // whose lock it is
	Kind    BlockingKind
	Timeout int32 // milliseconds, -1 for none
}

// BlockingItems lists the monitors that t waits for, the innermost wait first: an item lies on the thread's stack while the
// wait lasts. Each is proved by the sync block whose lock it names. A runtime whose layout does not tell where the list is
// gives target.ErrUnsupported.
func (r *Runtime) BlockingItems(t *Thread) ([]BlockingItem, error) {
	o := &r.off.BlockingItem
	if r.off.Thread.Blocking == layout.Absent || o.Monitor == layout.Absent {
		return nil, target.Unsupportedf("the layout of this runtime does not tell where it notes what threads wait for")
	}
	at, err := r.ptr(t.Addr, r.off.Thread.Blocking, "Thread.DebugBlockingInfo")
	if err != nil || at == 0 {
		return nil, err
	}
	var out []BlockingItem
	seen := target.Addr(0)
	for at != 0 {
		// The items of outer waits lie nearer to the stack's base.
		if !t.Stack.Contains(at) || at <= seen || len(out) == limits.BlockingItems {
			return out, target.Corruptf("what thread %d waits for: an item at %#x", t.ManagedID, uint64(at))
		}
		seen = at
		rd := layout.Reader{Mem: r.mem, Base: at}
		item := BlockingItem{Monitor: rd.Ptr(o.Monitor), Kind: BlockingKind(rd.U32(o.Kind)), Timeout: int32(rd.U32(o.Timeout))}
		next := rd.Ptr(o.Next)
		if rd.Err != nil {
			return out, fmt.Errorf("what thread %d waits for: %w", t.ManagedID, rd.Err)
		}
		if item.Kind > BlockedWait {
			return out, target.Corruptf("what thread %d waits for: kind %d", t.ManagedID, item.Kind)
		}
		if item.Block, err = r.SyncBlockOfLock(item.Monitor); err != nil {
			return out, fmt.Errorf("what thread %d waits for: %w", t.ManagedID, err)
		}
		out = append(out, item)
		at = next
	}
	return out, nil
}

// SyncBlockOfLock finds the sync block whose lock (AwareLock, the first member of a SyncBlock) is at an address.
func (r *Runtime) SyncBlockOfLock(a target.Addr) (SyncBlock, error) {
	l, _ := r.syncLocks.Get(func() (syncLocks, error) { return r.readSyncLocks(), nil })
	switch b, ok := l.blocks[a]; {
	case ok:
		return b, nil
	case l.failed != nil: // it may be one of those
		return SyncBlock{}, l.failed
	}
	return SyncBlock{}, target.Corruptf("no sync block has a lock at %#x", uint64(a))
}

// syncLocks are the sync blocks by the addresses of their locks.
type syncLocks struct {
	blocks map[target.Addr]SyncBlock
	failed error // why some are missing
}

func (r *Runtime) readSyncLocks() syncLocks {
	l := syncLocks{blocks: map[target.Addr]SyncBlock{}}
	for b, err := range r.SyncBlocks() {
		switch {
		case err != nil:
			l.failed = err
		case b.Addr != 0:
			l.blocks[b.Addr] = b
		}
	}
	return l
}
