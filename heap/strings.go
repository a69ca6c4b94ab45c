package heap

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// StringStats counts the strings with one content.
type StringStats struct {
	First target.Addr // the first string
	Count uint64
	Size  uint64 // bytes of one string
}

// TotalSize returns the size of all strings in bytes.
func (s *StringStats) TotalSize() uint64 { return s.Count * s.Size }

// comparedChars is the number of characters that count as content, as in SOS: longer strings of equal
// size that begin alike are taken for equal.
const comparedChars = 1024

// Strings counts the strings that f selects by content, sorted by total size, the smallest first; equal ones
// keep the order of their first objects. It compares contents by a 116-bit hash and does not keep them, at
// about 50 bytes each (docs/performance.md). If there are more than limits.StringContents the error reports it,
// and the list holds the first ones. The Stats count the strings as objects.
func (h *Heap) Strings(ctx context.Context, f *Filter, o ScanOptions) ([]StringStats, Stats, error) {
	sorted, gap, stats, err := h.countStrings(ctx, f, o)
	if err != nil {
		return nil, stats, err
	}
	var list []StringStats
	var rows, spare []stringRow
	for i := range sorted.ranges() {
		rows, spare = sorted.rows(i, rows, spare)
		for j := range rows {
			list = append(list, rows[j].stats())
		}
	}
	return list, stats, gap
}

// countStrings counts the strings that f selects. gap reports the strings that did not fit.
func (h *Heap) countStrings(ctx context.Context, f *Filter, o ScanOptions) (sorted *sortedStrings, gap error, s Stats, err error) {
	sf := h.stringFilter(f)
	total := NewCounter(h, sf)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keepers := keepStrings(ctx, o.jobs(), cancel)
	err = Scan(ctx, h, sf, o, func() *stringCollector {
		return &stringCollector{Counter: *NewCounter(h, sf), stringHasher: newStringHasher(h)}
	}, func(c *stringCollector) error {
		total.Add(&c.Counter)
		keepers.add(ctx, &c.stringHasher)
		return nil
	})
	sorted, gap = keepers.end().sorted(err, o.jobs())
	return sorted, gap, total.Stats(), err
}

// sorted sorts the counted strings unless counting failed, and frees the table. gap reports the strings that
// did not fit.
func (t *stringTable) sorted(failed error, jobs int) (s *sortedStrings, gap error) {
	if failed != nil {
		t.free()
		return nil, nil
	}
	gap = t.gap()
	return t.sort(jobs), gap
}

// stringFilter returns f restricted to strings.
func (h *Heap) stringFilter(f *Filter) *Filter {
	f = f.orAll()
	sf := *f
	sf.Type = func(mt *dac.MethodTable) bool {
		return mt.Addr == h.Runtime().WellKnown().String && (f.Type == nil || f.Type(mt))
	}
	return &sf
}

// A hashedString is the record of a string.
type hashedString struct {
	a, b uint64 // hash of its content and length
	addr target.Addr
	size uint64 // bytes
}

// A stringHasher hashes strings for one goroutine. Strings that certainly count go to stringKeepers in address
// order.
type stringHasher struct {
	win    *target.Window
	seeds  *[2]maphash.Seed
	hashed stringLists
	unread unreadStrings
}

// unreadStrings counts strings without content: it is not in the dump, or their lengths are wrong.
type unreadStrings struct {
	count uint64
	first error
}

func (u *unreadStrings) add(count uint64, err error) {
	u.count += count
	u.first = cmp.Or(u.first, err)
}

// err returns an error about the strings without content, or nil.
func (u *unreadStrings) err() error {
	if u.count == 0 {
		return nil
	}
	return fmt.Errorf("%d strings are not counted by content: %w", u.count, u.first)
}

// stringLists holds hashed strings by the lanes of a stringTable.
type stringLists [stringLanes][]hashedString

func newStringHasher(h *Heap) stringHasher {
	return stringHasher{win: target.NewWindow(h.mem), seeds: &h.seeds}
}

// hash hashes a string. An unreadable string counts as an object without content, and as unread.
func (c *stringHasher) hash(o *Object) {
	b, err := c.win.Bytes(o.Addr+stringChars, 2*int(min(o.Length, comparedChars)))
	if err != nil {
		c.unread.add(1, err)
		return
	}
	c.keep(c.digest(o, b, uint64(o.Length)))
}

// digest hashes b and also, which distinguishes contents that b does not. Odd factors spread also, so
// that contents of different sizes that begin alike differ.
func (c *stringHasher) digest(o *Object, b []byte, also uint64) hashedString {
	return hashedString{
		a:    maphash.Bytes(c.seeds[0], b) ^ also*0x9e3779b97f4a7c15,
		b:    maphash.Bytes(c.seeds[1], b) + also*0xc2b2ae3d27d4eb4f,
		addr: o.Addr, size: o.Size,
	}
}

func (c *stringHasher) keep(s hashedString) {
	lane := &c.hashed[s.a%stringLanes]
	*lane = append(*lane, s)
}

// reset drops the strings.
func (c *stringHasher) reset() {
	c.hashed.reset()
	c.unread = unreadStrings{}
}

// reset drops the hashed strings.
func (l *stringLists) reset() {
	for i := range l {
		l[i] = l[i][:0]
	}
}

// A stringCollector counts and hashes strings.
type stringCollector struct {
	Counter
	stringHasher
}

// Objects hashes the objects that the filter selects.
func (c *stringCollector) Objects(s *Segment, batch []Object) {
	for i := range batch {
		if o := &batch[i]; c.sieve.Pass(o) {
			c.countOne(s, o)
			c.hash(o)
		}
	}
}

// Reset drops everything.
func (c *stringCollector) Reset() {
	c.Counter.Reset()
	c.stringHasher.reset()
}

// stringKeepers put hashed strings into a table on several goroutines, each with its own parts.
type stringKeepers struct {
	table *stringTable
	group workers.Group
	queue []chan *stringBatch // one per keeper
	spare sync.Pool           // of finished batches
}

// A stringBatch holds the strings of a run. The last keeper that uses it returns it.
type stringBatch struct {
	lists stringLists
	left  atomic.Int32 // keepers still using it
}

// keepStrings starts filling a table, with memory of the budget of ctx. A keeper that fails calls cancel.
func keepStrings(ctx context.Context, jobs int, cancel func()) *stringKeepers {
	k := &stringKeepers{table: newStringTable(offheap.BudgetOf(ctx)), queue: make([]chan *stringBatch, min(jobs, stringLanes))}
	for i := range k.queue {
		k.queue[i] = make(chan *stringBatch, 4)
		k.group.Go(func() {
			failed := true
			defer func() {
				if failed {
					cancel()
				}
			}()
			for b := range k.queue[i] {
				for lane := i; lane < stringLanes; lane += len(k.queue) {
					k.table.addAll(b.lists[lane])
				}
				if b.left.Add(-1) == 0 {
					k.spare.Put(b)
				}
			}
			failed = false
		})
	}
	return k
}

// add passes the lists of a hasher on and replaces them by empty ones.
func (k *stringKeepers) add(ctx context.Context, h *stringHasher) {
	k.table.unread.add(h.unread.count, h.unread.first)
	lists := &h.hashed
	b, ok := k.spare.Get().(*stringBatch)
	if !ok {
		b = &stringBatch{}
	}
	b.lists, *lists = *lists, b.lists
	lists.reset()
	b.left.Store(int32(len(k.queue)))
	for _, q := range k.queue {
		select {
		case q <- b:
		case <-ctx.Done():
		}
	}
}

// end waits until everything is in the table and returns it.
func (k *stringKeepers) end() *stringTable {
	for _, q := range k.queue {
		close(q)
	}
	k.group.Wait()
	return k.table
}

// stringChars is the offset of a string's characters, after the MethodTable and the length (object.h, StringObject).
const stringChars = 12
