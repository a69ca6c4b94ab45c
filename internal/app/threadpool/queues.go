package threadpool

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/threadpool/internal/parts"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Queues lists the queued items of the shared queues and of each worker's local queue. A process that has not used its
// pool has no queues. It records what could not be read. The error is ctx's.
func (r *Reader) Queues(ctx context.Context) (*answer.WorkQueues, error) {
	out := &answer.WorkQueues{Queues: []answer.WorkQueue{}}
	q := &queueReader{r: r, ctx: ctx, out: out, list: parts.Lister{Most: limits.WorkItems}}
	q.shared()
	q.local()
	return out, ctx.Err()
}

// A queueReader collects queues.
type queueReader struct {
	r    *Reader
	ctx  context.Context
	out  *answer.WorkQueues
	list parts.Lister
}

// shared reads the shared queues in the order in which workers search them.
func (q *queueReader) shared() {
	root, err := static(q.r.b, "System.Threading.ThreadPoolWorkQueue", func(s *poolQueue) *objects.StaticField { return &s.Queue })
	if err != nil {
		q.out.Lose(fmt.Errorf("the thread pool's queue: %w", err))
	}
	if root.Addr == 0 {
		if n := q.workers(); n > 0 && err == nil {
			q.out.Lose(target.Corruptf("%d threads are workers of a thread pool that has no queue", n))
		}
		return
	}
	s, at, err := objects.BindObject[*workQueue](q.r.b, root)
	if err != nil {
		q.out.Lose(err)
		return
	}
	q.concurrent(answer.QueueTimeSensitive, &s.TimeSensitive, at)
	q.concurrent(answer.QueueHighPriority, &s.High, at)
	q.assignable(&s.Assignable, at)
	q.concurrent(answer.QueueGlobal, &s.Global, at)
	q.concurrent(answer.QueueLowPriority, &s.Low, at)
}

// workers returns the number of workers that the class library's pool counts. The states of threads do not show it: threads that wait for handles or poll
// for the pool have the same, and so do workers of the runtime's own pool (.NET 5 and earlier), which also does the runtime's work.
func (q *queueReader) workers() int64 {
	var pool answer.ThreadPool
	if _, err := q.r.portable(&pool, &ticks.Clock{}); err != nil {
		return 0
	}
	return pool.Total.Value
}

// assignable reads the queues that the pool creates on machines with many processors, one for each group of workers.
func (q *queueReader) assignable(f *objects.RefField, at objects.Instance) {
	if !f.Has() {
		return
	}
	list, err := f.Object(at)
	if err != nil || list.Addr == 0 {
		q.out.Lose(err)
		return
	}
	n := 0
	for o, err := range refs(list) {
		if err != nil {
			q.out.Lose(fmt.Errorf("assignable queues: %w", err))
			continue
		}
		q.queue(answer.QueueAssignable, n, o)
		n++
	}
}

// unreadElements is how many consecutive elements of an array may be missing before reading stops. The length of an
// array may be wrong.
const unreadElements = 16

// refs returns the objects that an array refers to, without nulls.
func refs(o objects.Object) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		a, err := o.Array()
		if err != nil {
			yield(objects.Object{}, err)
			return
		}
		unread := 0
		for _, v := range a.Values() {
			if v.Err() == nil && v.IsNull() {
				unread = 0
				continue
			}
			e, err := v.Object()
			if unread++; err == nil {
				unread = 0
			}
			if !yield(e, err) || unread == unreadElements {
				return
			}
		}
	}
}

func (q *queueReader) concurrent(kind answer.QueueKind, f *objects.RefField, at objects.Instance) {
	if !f.Has() {
		return
	}
	o, err := f.Object(at)
	if err != nil {
		q.out.Lose(fmt.Errorf("%s queue: %w", kind, err))
	}
	switch {
	case o.Addr != 0:
		q.queue(kind, 0, o)
	case err == nil && kind == answer.QueueGlobal: // it is never replaced
		q.out.Lose(target.CorruptHeapf("the thread pool has no %s queue", kind))
	}
}

// queue adds a ConcurrentQueue.
func (q *queueReader) queue(kind answer.QueueKind, n int, o objects.Object) {
	out := answer.WorkQueue{Kind: kind, Number: n, Address: o.Addr, Items: []answer.WorkItem{}}
	for item, err := range concurrentItems(q.r.b, o) {
		if err != nil {
			q.out.Lose(fmt.Errorf("%s queue: %w", kind, err))
			continue
		}
		if !q.add(&out, item.addr, item.slot) {
			break
		}
	}
	q.out.Queues = append(q.out.Queues, out)
}

// add adds an item to a queue and reports whether to continue. Items beyond a limit are only counted.
func (q *queueReader) add(to *answer.WorkQueue, item target.Addr, slot int) bool {
	q.list.Add(to, &q.out.Gaps, slot, func() answer.WorkItem { return q.r.item(&q.out.Gaps, item) })
	return q.ctx.Err() == nil
}

// A queued is an item and its place: the slot's number across all segments, in memory order.
type queued struct {
	addr target.Addr
	slot int
}

// concurrentItems returns the items of a ConcurrentQueue, the next one first. A slot holds an item if its sequence
// number is one more than its position. The queue tests the same, regardless of its tail. After the items, the number is
// the position, or still belongs to the item that was taken from the slot a moment ago, one round of the ring earlier: another one is damage.
func concurrentItems(b *objects.Binder, o objects.Object) iter.Seq2[queued, error] {
	return func(yield func(queued, error) bool) {
		s, at, err := objects.BindObject[*concurrentQueue](b, o)
		var seg objects.Object
		if err == nil {
			seg, err = s.Head.Object(at)
		}
		if err == nil && seg.Addr == 0 {
			err = target.CorruptHeapf("the queue %016x has no segment", uint64(o.Addr))
		}
		seen, base := map[target.Addr]bool{}, 0
		for err == nil && seg.Addr != 0 {
			if seen[seg.Addr] || len(seen) == limits.QueueSegments {
				err = target.CorruptHeapf("segment %016x of the queue repeats, or there are too many", uint64(seg.Addr))
				break
			}
			seen[seg.Addr] = true
			var more bool
			if seg, more, err = segmentItems(b, seg, &base, yield); !more {
				return
			}
		}
		if err != nil {
			yield(queued{}, err)
		}
	}
}

// segmentItems yields the items of a segment and returns the next segment. more is false if the caller stops. base is
// the number of slots before the segment.
func segmentItems(b *objects.Binder, o objects.Object, base *int, yield func(queued, error) bool) (next objects.Object, more bool, err error) {
	seg, at, err := objects.BindObject[*segment](b, o)
	if err != nil {
		return next, true, err
	}
	list, err := seg.Slots.Object(at)
	if err != nil {
		return next, true, err
	}
	sl, slots, err := objects.BindElements[*slot](b, list)
	if err != nil {
		return next, true, err
	}
	head, err := seg.Head.Int(at)
	if err != nil {
		return next, true, err
	}
	mask, err := seg.Mask.Int(at)
	if err == nil && mask+1 != int64(slots.Len) {
		err = target.CorruptHeapf("segment %016x of a queue has %d slots and the mask %#x", uint64(o.Addr), slots.Len, mask)
	}
	if err != nil {
		return next, true, err
	}
	for i := range int64(slots.Len) {
		n := int((head + i) & mask)
		x := slots.Instance(uint32(n))
		sequence, err := sl.Sequence.Int(x)
		if err == nil && int32(sequence) != int32(head+i+1) {
			// A worker moves the head before it gives the slot the number of the next round.
			if waits, taken := int32(head+i), int32(head+i-int64(slots.Len)+1); int32(sequence) != waits && int32(sequence) != taken {
				return next, true, target.CorruptHeapf("segment %016x of a queue has the number %d in slot %d, where the item %d begins", uint64(o.Addr), sequence, n, head+i)
			}
			break
		}
		var item target.Addr
		if err == nil {
			item, err = sl.Item.Addr(x)
		}
		if err != nil {
			return next, true, err
		}
		if !yield(queued{item, *base + n}, nil) {
			return next, false, nil
		}
	}
	*base += int(slots.Len)
	next, err = seg.Next.Object(at)
	return next, true, err
}

// local reads the workers' queues.
func (q *queueReader) local() {
	list, err := static(q.r.b, "System.Threading.ThreadPoolWorkQueue+WorkStealingQueue", func(s *localQueues) *objects.StaticField { return &s.Queues })
	if err != nil {
		q.out.Lose(fmt.Errorf("the workers' own queues: %w", err))
	}
	if list.Addr == 0 {
		return
	}
	owners, unread := q.r.queueOwners()
	n := 0
	for o, err := range refs(list) {
		if err != nil {
			q.out.Lose(fmt.Errorf("a worker's queue: %w", err))
			continue
		}
		out := answer.WorkQueue{Kind: answer.QueueLocal, Number: n, Address: o.Addr, Items: []answer.WorkItem{}}
		if t := owners[o.Addr]; t != nil {
			owner := t.Describe(&q.out.Gaps)
			out.Owner = &owner
		} else if out.OwnerErr = unread; unread == nil {
			out.OwnerErr = target.Unsupportedf("no thread owns the queue: its worker has ended")
		} else {
			q.out.Note(fmt.Errorf("the owner of worker's queue %016x: %w", uint64(o.Addr), unread))
		}
		n++
		q.localItems(&out, o)
		q.out.Queues = append(q.out.Queues, out)
	}
}

// localItems reads the items of a worker's queue. Its owner adds and removes items at the tail, thieves remove them at
// the head. A slot is empty if its item was removed out of order.
func (q *queueReader) localItems(to *answer.WorkQueue, o objects.Object) {
	s, at, err := objects.BindObject[*localQueue](q.r.b, o)
	var list objects.Object
	if err == nil {
		list, err = s.Items.Object(at)
	}
	if err != nil {
		q.out.Lose(fmt.Errorf("a worker's queue: %w", err))
		return
	}
	if list.Addr == 0 {
		return
	}
	a, err := objects.BindArray(list)
	head, err1 := s.Head.Int(at)
	tail, err2 := s.Tail.Int(at)
	mask, err3 := s.Mask.Int(at)
	for _, e := range []error{err1, err2, err3} {
		if err == nil {
			err = e
		}
	}
	// The indexes wrap around. Only their difference counts.
	n := int32(tail) - int32(head)
	if err == nil && (n < 0 || n > int32(min(a.Len, 1<<30)) || mask+1 != int64(a.Len)) {
		err = target.CorruptHeapf("items %d to %d of %d, with the mask %#x", head, tail, a.Len, mask)
	}
	if err != nil {
		q.out.Lose(fmt.Errorf("worker's queue %016x: %w", uint64(o.Addr), err))
		return
	}
	for i := range n {
		n := uint32(int32(head)+i) & uint32(mask)
		item, err := a.Ref(n)
		if err != nil {
			q.out.Lose(fmt.Errorf("worker's queue %016x: %w", uint64(o.Addr), err))
			return
		}
		if item != 0 && !q.add(to, item, int(n)) {
			return
		}
	}
}

// queueOwners returns the threads by local queue. The error is why some may be missing.
func (r *Reader) queueOwners() (map[target.Addr]*stackwalk.Thread, error) {
	out := map[target.Addr]*stackwalk.Thread{}
	unread := r.unread
	for s, err := range objects.LoadedShapes[*threadLocals](r.b) {
		if err != nil {
			unread = err
			continue
		}
		for i := range r.threads {
			t := &r.threads[i]
			if t.Managed == nil {
				continue
			}
			a, err := r.ownQueue(s, t.Managed)
			if err != nil {
				unread = err
			} else if a != 0 {
				out[a] = t
			}
		}
	}
	return out, unread
}

// ownQueue returns the local queue of a thread, or 0.
func (r *Reader) ownQueue(s *threadLocals, t *dac.Thread) (target.Addr, error) {
	o, err := threadStatic(&s.Current, t)
	if err != nil || o.Addr == 0 {
		return 0, err
	}
	return s.Queue.Addr(objects.InstanceOf(o))
}

// threadStatic returns the object in a thread's thread static, or the zero Object for null or an unused static.
func threadStatic(s *objects.ThreadStaticField, t *dac.Thread) (objects.Object, error) {
	v := s.Of(t)
	if noValue(v) {
		return objects.Object{}, nil
	}
	return v.Object()
}
