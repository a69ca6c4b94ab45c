package threads

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// SyncBlockOptions selects sync blocks. The zero value selects locked ones.
type SyncBlockOptions struct {
	All   bool   `opt:"all" help:"also those that are not locked"`
	Index *int64 `arg:"index,optional" help:"only this sync block, locked or not"`
}

// selects reports whether a block is wanted. err is the error of reading it.
func (o *SyncBlockOptions) selects(b *dac.SyncBlock, err error) bool {
	if o.Index != nil {
		return int64(b.Index) == *o.Index
	}
	return b.Held || b.Waiters > 0 || o.All || err != nil
}

// SyncBlocks lists the sync blocks of rt and the threads of a List that own them. If there is no table, the list of
// blocks fails.
func SyncBlocks(ctx context.Context, rt *dac.Runtime, list []stackwalk.Thread, o SyncBlockOptions) *answer.SyncBlocks {
	unread := answer.Missing[int](answer.ErrUnread)
	out := &answer.SyncBlocks{Total: unread, Free: unread}
	out.Blocks = answer.NewRows(&out.Gaps, func(yield func(answer.SyncBlock, error) bool) error {
		total, free := 0, 0
		for b, err := range rt.SyncBlocks() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil && b.Index <= 1 && b.Addr == 0 {
				return err // there is no table
			}
			if b.Index == 0 {
				continue
			}
			total++
			if err == nil && b.Object == 0 {
				free++
			}
			if o.selects(&b, err) && !yield(describeSyncBlock(&out.Gaps, rt, list, &b, err)) {
				return nil
			}
		}
		out.Total, out.Free = answer.Known(total), answer.Known(free)
		return nil
	})
	return out
}

func describeSyncBlock(g *answer.Gaps, rt *dac.Runtime, list []stackwalk.Thread, b *dac.SyncBlock, err error) (answer.SyncBlock, error) {
	d := answer.SyncBlock{Index: b.Index}
	if err != nil {
		return d, err
	}
	d.Address, d.Waiters, d.Recursion, d.Object = b.Addr, b.Waiters, b.Recursion, b.Object
	d.Held, d.Recorded, d.MonitorHeld = b.Held && (b.OwnerThread != 0 || b.OwnerID != 0), b.OwnerThread, 2*b.Waiters // a thread is about to be the owner, or just was
	if b.Held {
		d.MonitorHeld++
	}
	d.Type = lockedType(g, rt, b.Object)
	if t := ownerOf(list, b); t != nil {
		d.Thread, d.OSID = t.Managed.Addr, t.Managed.OSID
		if t.Index >= 0 {
			d.OwnerIndex = &t.Index
		}
	}
	return d, nil
}

// lockedType returns the type name of a locked object, or Free for a free entry.
func lockedType(g *answer.Gaps, rt *dac.Runtime, object target.Addr) answer.Text {
	if object == 0 {
		return answer.Text{S: "Free"}
	}
	return g.Text(rt.ObjectTypeName(object))
}

// ownerOf returns the thread that holds the block's lock, or nil if the lock is free or the thread has ended.
func ownerOf(list []stackwalk.Thread, b *dac.SyncBlock) *stackwalk.Thread {
	if !b.Held {
		return nil
	}
	for i := range list {
		m := list[i].Managed
		if m != nil && (b.OwnerThread != 0 && m.Addr == b.OwnerThread || b.OwnerID != 0 && m.ManagedID == b.OwnerID) {
			return &list[i]
		}
	}
	return nil
}
