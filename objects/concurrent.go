package objects

import (
	"cmp"
	"errors"

	"github.com/sosgo/sosgo/target"
)

// concurrentKinds returns the classes of System.Collections.Concurrent.
func concurrentKinds() []kind {
	return []kind{
		kindOf((*Collections).concurrentDictionary),
		kindOf((*Collections).concurrentQueue),
		kindOf((*Collections).concurrentStack),
		kindOf((*Collections).concurrentBag),
		wrapperKind(func(s *blockingCollection) *RefField { return &s.Items }),
		kindOf((*Collections).singleQueue),
	}
}

type concurrentDictionary struct {
	_      Shape    `of:"System.Collections.Concurrent.ConcurrentDictionary<,>"`
	Tables RefField `field:"_tables"`
}

type concurrentTables struct {
	Buckets RefField `field:"_buckets"`
	Counts  RefField `field:"_countPerLock"`
}

type concurrentNode struct {
	Key   ValueField `field:"_key"`
	Value ValueField `field:"_value"`
	Next  RefField   `field:"_next"`
}

func (n *concurrentNode) next() *RefField { return &n.Next }

func (n *concurrentNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Key: n.Key.Value(x), Value: n.Value.Value(x)})
}

// A volatileNode is a bucket since .NET 8.
type volatileNode struct {
	_    Shape    `of:"System.Collections.Concurrent.ConcurrentDictionary<,>+VolatileNode"`
	Node RefField `field:"_node"`
}

func (r *Collections) concurrentDictionary(s *concurrentDictionary, f *reading) content {
	o := f.object(&s.Tables)
	if o.Addr == 0 {
		return failed(target.CorruptHeapf("the dictionary has no tables"))
	}
	t := bindNext[*concurrentTables](r, f, o)
	buckets, counts := f.object(&t.Buckets), f.object(&t.Counts)
	a, err := r.array(buckets)
	if err != nil && a.Type == nil {
		return failed(err)
	}
	first, berr := r.bucketReader(buckets, &a)
	if berr != nil {
		return failed(berr)
	}
	count, cerr := r.sumCounts(counts)
	err = cmp.Or(err, cerr)
	return content{count: count, keys: true, err: err, each: itemSeq(func(yield yielder) bool {
		n := &nodes[*concurrentNode]{r: r}
		return a.visit(a.len, forwards, yield, func(i uint32) (CollectionItem, bool, error) {
			node, err := first(i)
			if err == nil && node != 0 && !follow(n, node, 0, yield, (*concurrentNode).item) {
				return CollectionItem{}, false, errStop
			}
			return CollectionItem{}, false, err
		})
	}).stoppable()}
}

// bucketReader returns a function that reads a bucket's first node. Buckets are references, and value types since .NET
// 8.
func (r *Collections) bucketReader(o Object, a *array) (func(i uint32) (target.Addr, error), error) {
	if a.Type == nil {
		return nil, target.CorruptHeapf("the dictionary has no buckets")
	}
	if a.Element() == nil || !a.Element().MT.IsValueType() {
		return func(i uint32) (target.Addr, error) { return a.Ref(i) }, nil
	}
	v, _, err := BindElements[*volatileNode](r.b, o)
	if err != nil {
		return nil, err
	}
	return func(i uint32) (target.Addr, error) { return v.Node.Addr(a.Instance(i)) }, nil
}

// sumCounts adds up the counts of all locks.
func (r *Collections) sumCounts(o Object) (int64, error) {
	a, err := r.array(o)
	if a.Type == nil {
		return unknown, err
	}
	sum := int64(0)
	for i := range a.len {
		n, err := a.At(i).Int()
		if err != nil {
			return unknown, err
		}
		if n < 0 {
			return unknown, target.CorruptHeapf("the dictionary claims %d elements under one lock", n)
		}
		sum += n
	}
	return sum, err
}

type concurrentQueue struct {
	_    Shape    `of:"System.Collections.Concurrent.ConcurrentQueue<>"`
	Head RefField `field:"_head"`
}

type queueSegment struct {
	Slots  RefField `field:"_slots"`
	Head   IntField `field:"_headAndTail.Head"`
	Tail   IntField `field:"_headAndTail.Tail"`
	Frozen IntField `field:"_frozenForEnqueues"`
	Next   RefField `field:"_nextSegment"`
}

func (s *queueSegment) next() *RefField { return &s.Next }

type queueSlot struct {
	Item   ValueField `field:"Item"`
	Number IntField   `field:"SequenceNumber"`
}

func (r *Collections) concurrentQueue(s *concurrentQueue, f *reading) content {
	return content{count: unknown, each: segments(r, f.addr(&s.Head), r.queueSegment)}
}

// queueSegment lists the elements of a segment of a queue. They are the slots from Head to Tail with the sequence
// number of an element that was added and not removed. In a frozen segment, Tail is too high by twice the length.
func (r *Collections) queueSegment(s *queueSegment, x Instance, yield yielder) error {
	f := reading{x: x}
	o, head, tail := f.object(&s.Slots), uint32(f.int(&s.Head)), uint32(f.int(&s.Tail))
	frozen, err := s.Frozen.Bool(x)
	if f.note(err); f.err != nil {
		return f.err
	}
	if o.Addr == 0 {
		return target.CorruptHeapf("a segment without slots")
	}
	slot, _, err := BindElements[*queueSlot](r.b, o)
	if err != nil {
		return err
	}
	a, err := r.array(o)
	if err != nil || a.len == 0 || a.len&(a.len-1) != 0 {
		return target.CorruptHeapf("a segment of %d slots", a.Len)
	}
	if frozen {
		tail -= 2 * a.len
	}
	n := tail - head
	if int32(n) < 0 || n > a.len {
		return target.CorruptHeapf("a segment of %d slots from %d to %d", a.len, head, tail)
	}
	ring := func(i uint32) uint32 { return (head + i) & (a.len - 1) }
	places := n
	if r.slotOrder {
		ring, places = forwards, a.len
	}
	if !a.visit(places, ring, yield, func(at uint32) (CollectionItem, bool, error) {
		i := (at - head) & (a.len - 1)
		number, err := slot.Number.Int(a.Instance(at))
		if err != nil || i >= n || uint32(number) != head+i+1 {
			return CollectionItem{}, false, err
		}
		return checkItem(CollectionItem{Value: slot.Item.Value(a.Instance(at))})
	}) {
		return errStop
	}
	return nil
}

// errStop stops a walk inside another walk.
var errStop = target.Unsupportedf("the caller stopped the elements")

// stoppable returns a walk that returns false when an inner walk fails with errStop, and does not yield that error.
func (e itemSeq) stoppable() itemSeq {
	return func(yield yielder) bool {
		stopped := false
		done := e(func(i CollectionItem, err error) bool {
			if stopped = stopped || errors.Is(err, errStop); stopped {
				return false
			}
			if !yield(i, err) {
				stopped = true
			}
			return !stopped
		})
		return done && !stopped
	}
}

type concurrentStack struct {
	_    Shape    `of:"System.Collections.Concurrent.ConcurrentStack<>"`
	Head RefField `field:"_head"`
}

type stackNode struct {
	Value ValueField `field:"_value"`
	Next  RefField   `field:"_next"`
}

func (n *stackNode) next() *RefField { return &n.Next }

func (n *stackNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Value: n.Value.Value(x)})
}

func (r *Collections) concurrentStack(s *concurrentStack, f *reading) content {
	return content{count: unknown, stack: true, each: chain[*stackNode](r, f.addr(&s.Head), 0)}
}

type concurrentBag struct {
	_      Shape    `of:"System.Collections.Concurrent.ConcurrentBag<>"`
	Queues RefField `field:"_workStealingQueues"`
}

type bagQueue struct {
	Head  IntField `field:"_headIndex"`
	Tail  IntField `field:"_tailIndex"`
	Array RefField `field:"_array"`
	Mask  IntField `field:"_mask"`
	Next  RefField `field:"_nextQueue"`
}

func (q *bagQueue) next() *RefField { return &q.Next }

// concurrentBag lists the queues of the threads, each with the most recent item first.
func (r *Collections) concurrentBag(s *concurrentBag, f *reading) content {
	return content{count: unknown, each: segments(r, f.addr(&s.Queues), r.bagQueue)}
}

func (r *Collections) bagQueue(s *bagQueue, x Instance, yield yielder) error {
	f := reading{x: x}
	o, head, tail := f.object(&s.Array), uint32(f.int(&s.Head)), uint32(f.int(&s.Tail))
	if f.err != nil {
		return f.err
	}
	a, err := r.array(o)
	n := tail - head
	if err == nil && (int32(n) < 0 || n > a.len) {
		err = target.CorruptHeapf("a queue of the bag from %d to %d in %d places", int32(head), int32(tail), a.len)
	}
	if err == nil && !a.visit(n, func(i uint32) uint32 { return (tail - 1 - i) & (a.len - 1) }, yield, a.value) {
		err = errStop
	}
	return err
}

type blockingCollection struct {
	_     Shape    `of:"System.Collections.Concurrent.BlockingCollection<>"`
	Items RefField `field:"_collection"`
}

type singleQueue struct {
	_    Shape    `of:"System.Collections.Concurrent.SingleProducerSingleConsumerQueue<>|System.Threading.Tasks.SingleProducerSingleConsumerQueue<>"`
	Head RefField `field:"_head|m_head"`
}

type singleSegment struct {
	Next  RefField `field:"_next|m_next"`
	Array RefField `field:"_array|m_array"`
	First IntField `field:"_state._first|m_state.m_first"`
	Last  IntField `field:"_state._last|m_state.m_last"`
}

func (s *singleSegment) next() *RefField { return &s.Next }

func (r *Collections) singleQueue(s *singleQueue, f *reading) content {
	return content{count: unknown, each: segments(r, f.addr(&s.Head), r.singleSegment)}
}

func (r *Collections) singleSegment(s *singleSegment, x Instance, yield yielder) error {
	f := reading{x: x}
	o, first, last := f.object(&s.Array), uint32(f.int(&s.First)), uint32(f.int(&s.Last))
	if f.err != nil {
		return f.err
	}
	a, err := r.array(o)
	if err == nil && (a.len == 0 || first >= a.len || last >= a.len) {
		err = target.CorruptHeapf("a segment of %d places from %d to %d", a.len, first, last)
	}
	if err == nil && !a.visit((last-first)&(a.len-1), func(i uint32) uint32 { return (first + i) & (a.len - 1) }, yield, a.value) {
		err = errStop
	}
	return err
}
