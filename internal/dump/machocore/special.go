package machocore

import (
	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// createdump adds memory to the core at addresses that no process uses: the ids of the process and
// its threads, which the format has no place for, and an entry point for debuggers
// (debug/createdump/specialthreadinfo.h and specialdiaginfo.h of the runtime).
const (
	threadInfoAddr      = 0x7fffffff00000000
	threadInfoSignature = "THREADINFO"
	threadInfoHeader    = 24 // signature, process, number of threads
	threadInfoEntry     = 16 // id, padding, stack pointer

	diagAddr = 0x7fffffff10000000
)

// isMadeUp reports whether createdump made up the memory at an address.
func isMadeUp(a uint64) bool { return a == threadInfoAddr || a == diagAddr }

// A threadID is the id of the thread with a stack pointer.
type threadID struct {
	id uint32
	sp target.Addr
}

// readThreadIDs sets the ids of the threads: createdump's, or those in a note of lldb. Without
// either the threads are numbered.
func (b *builder) readThreadIDs() {
	if b.numberThreads(b.recordedIDs()) || len(b.Threads) == 0 {
		return
	}
	if ids := b.metadataIDs(); len(ids) == len(b.Threads) {
		for i := range b.Threads {
			b.Threads[i].ID = ids[i]
		}
		return
	}
	b.Warn(target.Unsupportedf("the core does not record the ids of threads: they are numbered in its order, and managed threads are recognized by their stacks"))
	for i := range b.Threads {
		b.Threads[i].ID, b.Threads[i].Numbered = uint32(i+1), true
	}
}

// recordedIDs returns the thread ids that createdump recorded, in order.
func (b *builder) recordedIDs() []threadID {
	head := b.Signed(threadInfoAddr, threadInfoSignature, threadInfoHeader)
	if head == nil {
		return nil
	}
	c := cursor.New(head, 0)
	c.Skip(corefile.SignatureSize)
	b.Process.ID = c.Uint32()
	count := int64(c.Uint32())
	var out []threadID
	for i := range min(count, b.limits.Threads, limits.Threads) {
		data, err := target.Bytes(b, threadInfoAddr+threadInfoHeader+threadInfoEntry*target.Addr(i), threadInfoEntry)
		if err != nil {
			b.Warn(target.Corruptf("createdump's list of %d threads ends after %d", count, i))
			break
		}
		c := cursor.New(data, 0)
		id := c.Uint32()
		c.Skip(4)
		out = append(out, threadID{id, target.Addr(c.Uint64())})
	}
	return out
}

// numberThreads sets the id of each thread from the recorded id with its stack pointer: the one at
// its position, or the only one. It reports false if no thread gets one. A thread without an id
// gets a unique number, with a warning.
func (b *builder) numberThreads(ids []threadID) bool {
	at, used := map[target.Addr][]uint32{}, map[uint32]bool{}
	for _, e := range ids {
		at[e.sp] = append(at[e.sp], e.id)
		used[e.id] = true
	}
	var rest []int
	for i := range b.Threads {
		t := &b.Threads[i]
		sp, known := t.Registers.SP()
		switch {
		case known && i < len(ids) && ids[i].sp == sp:
			t.ID = ids[i].id
		case known && len(at[sp]) == 1:
			t.ID = at[sp][0]
		default:
			rest = append(rest, i)
		}
	}
	if len(rest) == len(b.Threads) {
		return false
	}
	next := uint32(1)
	for _, i := range rest {
		for used[next] {
			next++
		}
		b.Threads[i].ID, b.Threads[i].Numbered, used[next] = next, true, true
	}
	if len(rest) > 0 {
		b.Warn(target.Corruptf("the ids of %d of %d threads are not recorded: they are made up", len(rest), len(b.Threads)))
	}
	return true
}
