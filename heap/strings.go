package heap

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/workers"
	"github.com/sosgo/sosgo/target"
)

// StringStats are the strings of one content.
type StringStats struct {
	First target.Addr // the first of them
	Count uint64
	Size  uint64 // bytes of one
}

// TotalSize is the size of all of them in bytes.
func (s *StringStats) TotalSize() uint64 { return s.Count * s.Size }

// comparedChars is how much of a string counts as its content, as in SOS:
// longer ones of one size that begin alike are taken for the same.
const comparedChars = 1024

// Strings counts the strings that f chooses by content, sorted by total size,
// the smallest first; equal ones are in the order of their first objects.
// Contents are told apart by a hash of 128 bits and not kept: one takes some 60 bytes
// (docs/performance.md). Where there are more than limits.StringContents the error says so,
// and the list has those that came first. The Stats are of the strings as objects.
func (h *Heap) Strings(ctx context.Context, f *Filter, o ScanOptions) ([]StringStats, Stats, error) {
	t, stats, err := h.countStrings(ctx, f, o)
	if err != nil {
		return nil, stats, err
	}
	return slices.Collect(t.sorted(o.jobs())), stats, t.gap()
}

// countStrings fills a table with the strings that f chooses. Workers hash; what they hashed goes on when it is certain to
// count, in the order of addresses, to those who keep parts of the table.
func (h *Heap) countStrings(ctx context.Context, f *Filter, o ScanOptions) (*stringTable, Stats, error) {
	sf := h.StringFilter(f)
	total := NewCounter(h, sf)
	t := newStringTable()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keepers := t.keep(o.jobs(), cancel)
	err := Scan(ctx, h, h.Spans(sf), o, func() *stringCollector { return newStringCollector(h, sf) }, func(c *stringCollector) error {
		total.Add(&c.Counter)
		c.hashed = keepers.add(ctx, c.hashed)
		return nil
	})
	keepers.end()
	return t, total.Stats(), err
}

// StringFilter is f for strings alone.
func (h *Heap) StringFilter(f *Filter) *Filter {
	f = f.orAll()
	sf := *f
	sf.Type = func(mt *dac.MethodTable) bool {
		return mt.Addr == h.rt.WellKnown().String && (f.Type == nil || f.Type(mt))
	}
	return &sf
}

// A hashedString is a string as far as it counts.
type hashedString struct {
	a, b uint64 // of its content and length
	addr target.Addr
	size uint64 // bytes
}

// A stringCollector hashes strings.
type stringCollector struct {
	Counter
	win    *target.Window
	seeds  *[2]maphash.Seed
	hashed []hashedString
}

// newStringCollector returns a collector for the objects of h that f chooses, which must be strings (see
// Heap.StringFilter).
func newStringCollector(h *Heap, f *Filter) *stringCollector {
	return &stringCollector{Counter: *NewCounter(h, f), win: target.NewWindow(h.mem), seeds: &h.seeds}
}

// Objects hashes those that the filter chooses. One that can't be read counts as the object that it is, without content.
func (c *stringCollector) Objects(s *Segment, batch []Object) {
	for i := range batch {
		o := &batch[i]
		if !c.sieve.Pass(o) {
			continue
		}
		c.Count(s, o)
		b, err := c.win.Bytes(o.Addr+stringChars, 2*int(min(o.Length, comparedChars)))
		if err != nil {
			continue
		}
		// Odd factors spread the length, so that contents of two sizes that begin alike differ.
		c.hashed = append(c.hashed, hashedString{
			a:    maphash.Bytes(c.seeds[0], b) ^ uint64(o.Length)*0x9e3779b97f4a7c15,
			b:    maphash.Bytes(c.seeds[1], b) + uint64(o.Length)*0xc2b2ae3d27d4eb4f,
			addr: o.Addr, size: o.Size,
		})
	}
}

// Reset forgets everything.
func (c *stringCollector) Reset() {
	c.Counter.Reset()
	c.hashed = c.hashed[:0]
}

// stringKeepers put hashed strings into a table, several goroutines with parts of their own.
type stringKeepers struct {
	group workers.Group
	queue []chan *stringBatch // one for each
	spare sync.Pool           // of slices that are done with
}

// A stringBatch is strings of a run. The last keeper who is done with it gives it back.
type stringBatch struct {
	list []hashedString
	left atomic.Int32 // keepers
}

// keep begins to fill t. A keeper who fails calls cancel.
func (t *stringTable) keep(jobs int, cancel func()) *stringKeepers {
	k := &stringKeepers{queue: make([]chan *stringBatch, min(jobs, maxKeepers))}
	for i := range k.queue {
		k.queue[i] = make(chan *stringBatch, 4)
		k.group.Go(func() {
			defer cancel()
			for b := range k.queue[i] {
				t.addAll(b.list, i, len(k.queue))
				if b.left.Add(-1) == 0 {
					k.spare.Put(b)
				}
			}
		})
	}
	return k
}

// maxKeepers is from how many workers on more keepers would not help: each looks at all hashes.
const maxKeepers = 8

// add hands list on, and returns an empty one in exchange.
func (k *stringKeepers) add(ctx context.Context, list []hashedString) []hashedString {
	b, ok := k.spare.Get().(*stringBatch)
	if !ok {
		b = &stringBatch{}
	}
	empty := b.list[:0]
	b.list = list
	b.left.Store(int32(len(k.queue)))
	for _, q := range k.queue {
		select {
		case q <- b:
		case <-ctx.Done():
		}
	}
	return empty
}

// end waits until all is in the table.
func (k *stringKeepers) end() {
	for _, q := range k.queue {
		close(q)
	}
	k.group.Wait()
}

// stringChars is where the characters of a string are, behind the MethodTable
// and the length (object.h, StringObject).
const stringChars = 12

// StringText reads the string at a, at most limit characters of it, and whether
// that is all.
func (h *Heap) StringText(a target.Addr, limit int) (text string, whole bool, err error) {
	r := textReader{win: target.NewWindow(h.mem)}
	return r.read(a, limit)
}

// A textReader reads strings for one goroutine.
type textReader struct {
	win *target.Window
	buf []byte
}

// read is StringText.
func (r *textReader) read(a target.Addr, limit int) (text string, whole bool, err error) {
	n, err := r.win.Uint32(a + stringChars - 4)
	if err != nil {
		return "", false, err
	}
	chars := int(min(n, uint32(limit)))
	b, err := r.win.Bytes(a+stringChars, 2*chars)
	if err != nil {
		return "", false, err
	}
	return r.text(b), uint32(chars) == n, nil
}

// text decodes UTF-16. Most strings are ASCII.
func (r *textReader) text(b []byte) string {
	r.buf = r.buf[:0]
	for i := 0; i+1 < len(b); i += 2 {
		if b[i] >= utf8.RuneSelf || b[i+1] != 0 {
			return decodeUTF16(b)
		}
		r.buf = append(r.buf, b[i])
	}
	return string(r.buf)
}

func decodeUTF16(b []byte) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u))
}

// textBatch is how many strings are read at once.
const textBatch = 1 << 10

// texts yields the strings of list with what they say, in its order. Several goroutines read.
func (h *Heap) texts(ctx context.Context, list iter.Seq[StringStats], jobs int) iter.Seq[answer.StringCount] {
	type batch struct {
		rows []answer.StringCount
		done chan struct{}
	}
	return func(yield func(answer.StringCount) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var group workers.Group
		defer group.Wait()
		defer cancel()
		queue, order := make(chan *batch, jobs), make(chan *batch, 2*jobs)
		group.Go(func() {
			defer close(queue)
			defer close(order)
			b := &batch{done: make(chan struct{})}
			send := func() bool {
				select {
				case order <- b:
				case <-ctx.Done():
					return false
				}
				queue <- b
				b = &batch{rows: make([]answer.StringCount, 0, textBatch), done: make(chan struct{})}
				return true
			}
			for s := range list {
				b.rows = append(b.rows, answer.StringCount{Count: s.Count, Size: s.TotalSize(), Address: s.First})
				if len(b.rows) == textBatch && !send() {
					return
				}
			}
			send()
		})
		for range jobs {
			group.Go(func() {
				failed := true
				defer func() {
					if failed {
						cancel()
					}
				}()
				r := textReader{win: target.NewWindow(h.mem)}
				for b := range queue {
					for i := range b.rows {
						b.rows[i].Text.S, _, b.rows[i].Text.Err = r.read(b.rows[i].Address, comparedChars)
					}
					close(b.done)
				}
				failed = false
			})
		}
		for b := range order {
			select {
			case <-b.done:
			case <-ctx.Done():
				return
			}
			for i := range b.rows {
				if !yield(b.rows[i]) {
					return
				}
			}
		}
	}
}
