package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A BlockingKind is the way in which a thread waits for a monitor (threaddebugblockinginfo.h, enum
// DebugBlockingItemType).
type BlockingKind uint32

// The kinds.
const (
	BlockedEnter BlockingKind = 0 // waiting to enter
	BlockedWait  BlockingKind = 1 // waiting for a pulse: Monitor.Wait
)

// A BlockingItem is a monitor that a thread waits for. The runtime records it for debuggers during the wait.
type BlockingItem struct {
	Monitor target.Addr // the lock in the sync block
	Block   SyncBlock   // the sync block of the lock
	Kind    BlockingKind
	Timeout int32 // milliseconds, -1 for no timeout
}

// BlockingItems lists the monitors that t waits for, the innermost wait first. An item is on the thread's stack
// during the wait, and its sync block proves it. BlockingItems returns target.ErrUnsupported if the layout
// lacks the list.
func (r *Runtime) BlockingItems(t *Thread) ([]BlockingItem, error) {
	if t == nil {
		return nil, errNoThread
	}
	o := &r.off.BlockingItem
	if r.off.Thread.Blocking == layout.Absent || o.Monitor == layout.Absent {
		return nil, fmt.Errorf("monitors that threads wait for: %w", r.absent("Thread.DebugBlockingInfo"))
	}
	at, err := r.ptr(t.Addr, r.off.Thread.Blocking, "Thread.DebugBlockingInfo")
	if err != nil || at == 0 {
		return nil, err
	}
	var out []BlockingItem
	seen := target.Addr(0)
	for at != 0 {
		// Items of outer waits are nearer to the stack's base.
		if !t.Stack.Contains(at) || at <= seen || len(out) == limits.BlockingItems {
			return out, target.Corruptf("monitors that thread %d waits for: an item at %#x", t.ManagedID, uint64(at))
		}
		seen = at
		rd := layout.Reader{Mem: r.mem, Base: at}
		item := BlockingItem{Monitor: rd.Ptr(o.Monitor), Kind: BlockingKind(rd.U32(o.Kind)), Timeout: int32(rd.U32(o.Timeout))}
		next := rd.Ptr(o.Next)
		if rd.Err != nil {
			return out, fmt.Errorf("monitors that thread %d waits for: %w", t.ManagedID, rd.Err)
		}
		if item.Kind > BlockedWait {
			return out, target.Corruptf("monitors that thread %d waits for: kind %d", t.ManagedID, item.Kind)
		}
		if item.Block, err = r.SyncBlockOfLock(item.Monitor); err != nil {
			return out, fmt.Errorf("monitors that thread %d waits for: %w", t.ManagedID, err)
		}
		if item.Kind == BlockedEnter && !item.Block.Held && item.Block.Waiters == 0 { // it is counted, or has the lock (syncblk.cpp, EnterEpilog)
			return out, target.Corruptf("thread %d waits to enter the monitor of %016x, which is free and has no waiters", t.ManagedID, uint64(item.Block.Object))
		}
		out = append(out, item)
		at = next
	}
	return out, nil
}

// SyncBlockOfLock returns the sync block with the lock at a (AwareLock, the first member of a SyncBlock).
func (r *Runtime) SyncBlockOfLock(a target.Addr) (SyncBlock, error) {
	l, _ := r.syncLocks.Get(func() (syncLocks, error) { return r.readSyncLocks(), nil })
	switch b, ok := l.blocks[a]; {
	case ok:
		return b, nil
	case l.failed != nil: // it may be in an unreadable one
		return SyncBlock{}, l.failed
	}
	return SyncBlock{}, target.Corruptf("no sync block has a lock at %#x", uint64(a))
}

// syncLocks maps the addresses of locks to their sync blocks.
type syncLocks struct {
	blocks map[target.Addr]SyncBlock
	failed error // why some sync blocks are missing
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
