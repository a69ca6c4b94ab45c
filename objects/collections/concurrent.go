package collections

import (
	"cmp"
	"errors"

	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// concurrent has the classes of System.Collections.Concurrent.
func concurrent() []kind {
	return []kind{
		of((*Reader).concurrentDictionary),
		of((*Reader).concurrentQueue),
		of((*Reader).concurrentStack),
		of((*Reader).concurrentBag),
		of((*Reader).blockingCollection),
		of((*Reader).singleQueue),
	}
}

type concurrentDictionary struct {
	_      shapes.Type `of:"System.Collections.Concurrent.ConcurrentDictionary<,>"`
	Tables shapes.Ref  `field:"_tables"`
}

type concurrentTables struct {
	Buckets shapes.Ref `field:"_buckets"`
	Counts  shapes.Ref `field:"_countPerLock"`
}

type concurrentNode struct {
	Key   shapes.Value `field:"_key"`
	Value shapes.Value `field:"_value"`
	Next  shapes.Ref   `field:"_next"`
}

// A volatileNode is a bucket since .NET 8.
type volatileNode struct {
	_    shapes.Type `of:"System.Collections.Concurrent.ConcurrentDictionary<,>+VolatileNode"`
	Node shapes.Ref  `field:"_node"`
}

func (r *Reader) concurrentDictionary(s *concurrentDictionary, f *reading) content {
	o := f.object(&s.Tables)
	if o.Addr == 0 {
		return failed(target.Corruptf("the dictionary has no tables"))
	}
	t := step[*concurrentTables](r, f, o)
	buckets, counts := f.object(&t.Buckets), f.object(&t.Counts)
	a, err := r.array(buckets)
	if err != nil && a.Type == nil {
		return failed(err)
	}
	first, berr := r.bucket(buckets, &a)
	if berr != nil {
		return failed(berr)
	}
	count, cerr := r.sum(counts)
	err = cmp.Or(err, cerr)
	return content{count: count, keys: true, err: err, each: each(func(yield yield) bool {
		n := &nodes[*concurrentNode]{r: r}
		return a.visit(a.len, forwards, yield, func(i uint32) (Item, bool, error) {
			node, err := first(i)
			if err == nil && node != 0 && !chain(n, node, 0, yield, nextConcurrent, readConcurrent) {
				return Item{}, false, errStop
			}
			return Item{}, false, err
		})
	}).stoppable()}
}

func nextConcurrent(s *concurrentNode) *shapes.Ref { return &s.Next }

func readConcurrent(s *concurrentNode, x shapes.Instance) (Item, bool, error) {
	return good(Item{Key: s.Key.Value(x), Value: s.Value.Value(x)})
}

// bucket returns a function that reads a bucket's first node. Buckets are references, in a value type since .NET 8.
func (r *Reader) bucket(o objects.Object, a *array) (func(i uint32) (target.Addr, error), error) {
	if a.Type == nil {
		return nil, target.Corruptf("the dictionary has no buckets")
	}
	if a.Element() == nil || !a.Element().MT.IsValueType() {
		return func(i uint32) (target.Addr, error) { return a.Ref(i) }, nil
	}
	v, _, err := shapes.Elements[*volatileNode](r.b, o)
	if err != nil {
		return nil, err
	}
	return func(i uint32) (target.Addr, error) { return v.Node.Addr(a.Instance(i)) }, nil
}

// sum adds up the counts of all locks.
func (r *Reader) sum(o objects.Object) (int64, error) {
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
			return unknown, target.Corruptf("the dictionary claims %d elements under one lock", n)
		}
		sum += n
	}
	return sum, err
}

type concurrentQueue struct {
	_    shapes.Type `of:"System.Collections.Concurrent.ConcurrentQueue<>"`
	Head shapes.Ref  `field:"_head"`
}

type queueSegment struct {
	Slots  shapes.Ref `field:"_slots"`
	Head   shapes.Int `field:"_headAndTail.Head"`
	Tail   shapes.Int `field:"_headAndTail.Tail"`
	Frozen shapes.Int `field:"_frozenForEnqueues"`
	Next   shapes.Ref `field:"_nextSegment"`
}

type queueSlot struct {
	Item   shapes.Value `field:"Item"`
	Number shapes.Int   `field:"SequenceNumber"`
}

func (r *Reader) concurrentQueue(s *concurrentQueue, f *reading) content {
	head := f.addr(&s.Head)
	c := content{count: unknown}
	c.each = func(yield yield) bool {
		return chain(&nodes[*queueSegment]{r: r}, head, 0, yield, func(s *queueSegment) *shapes.Ref { return &s.Next }, func(s *queueSegment, x shapes.Instance) (Item, bool, error) {
			return Item{}, false, r.segment(s, x, yield)
		})
	}
	c.each = c.each.stoppable()
	return c
}

// segment passes the elements of a segment of a queue: those from Head to Tail whose sequence number shows that they
// were added and not removed. In a frozen segment, twice the length was added to Tail.
func (r *Reader) segment(s *queueSegment, x shapes.Instance, yield yield) error {
	f := reading{x: x}
	o, head, tail := f.object(&s.Slots), uint32(f.int(&s.Head)), uint32(f.int(&s.Tail))
	frozen, err := s.Frozen.Bool(x)
	if f.note(err); f.err != nil {
		return f.err
	}
	if o.Addr == 0 {
		return target.Corruptf("a segment without slots")
	}
	slot, _, err := shapes.Elements[*queueSlot](r.b, o)
	if err != nil {
		return err
	}
	a, err := r.array(o)
	if err != nil || a.len == 0 || a.len&(a.len-1) != 0 {
		return target.Corruptf("a segment of %d slots", a.Len)
	}
	if frozen {
		tail -= 2 * a.len
	}
	n := tail - head
	if int32(n) < 0 || n > a.len {
		return target.Corruptf("a segment of %d slots from %d to %d", a.len, head, tail)
	}
	ring := func(i uint32) uint32 { return (head + i) & (a.len - 1) }
	places := n
	if r.slotOrder {
		ring, places = forwards, a.len
	}
	if !a.visit(places, ring, yield, func(at uint32) (Item, bool, error) {
		i := (at - head) & (a.len - 1)
		number, err := slot.Number.Int(a.Instance(at))
		if err != nil || i >= n || uint32(number) != head+i+1 {
			return Item{}, false, err
		}
		return good(Item{Value: slot.Item.Value(a.Instance(at))})
	}) {
		return errStop
	}
	return nil
}

// errStop stops a walk inside of another walk.
var errStop = target.Unsupportedf("the caller stopped the elements")

// stoppable returns a walk that ends quietly when an inner walk fails with errStop.
func (e each) stoppable() each {
	return func(yield yield) bool {
		stopped := false
		done := e(func(i Item, err error) bool {
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
	_    shapes.Type `of:"System.Collections.Concurrent.ConcurrentStack<>"`
	Head shapes.Ref  `field:"_head"`
}

type stackNode struct {
	Value shapes.Value `field:"_value"`
	Next  shapes.Ref   `field:"_next"`
}

func (r *Reader) concurrentStack(s *concurrentStack, f *reading) content {
	head := f.addr(&s.Head)
	return content{count: unknown, each: func(yield yield) bool {
		return chain(&nodes[*stackNode]{r: r}, head, 0, yield, func(s *stackNode) *shapes.Ref { return &s.Next }, func(s *stackNode, x shapes.Instance) (Item, bool, error) {
			return good(Item{Value: s.Value.Value(x)})
		})
	}}
}

type concurrentBag struct {
	_      shapes.Type `of:"System.Collections.Concurrent.ConcurrentBag<>"`
	Queues shapes.Ref  `field:"_workStealingQueues"`
}

type bagQueue struct {
	Head  shapes.Int `field:"_headIndex"`
	Tail  shapes.Int `field:"_tailIndex"`
	Array shapes.Ref `field:"_array"`
	Mask  shapes.Int `field:"_mask"`
	Next  shapes.Ref `field:"_nextQueue"`
}

// concurrentBag passes the queues of the threads, in each the most recent item first.
func (r *Reader) concurrentBag(s *concurrentBag, f *reading) content {
	first := f.addr(&s.Queues)
	return content{count: unknown, each: each(func(yield yield) bool {
		return chain(&nodes[*bagQueue]{r: r}, first, 0, yield, func(s *bagQueue) *shapes.Ref { return &s.Next }, func(s *bagQueue, x shapes.Instance) (Item, bool, error) {
			f := reading{x: x}
			o, head, tail := f.object(&s.Array), uint32(f.int(&s.Head)), uint32(f.int(&s.Tail))
			if f.err != nil {
				return Item{}, false, f.err
			}
			a, err := r.array(o)
			n := tail - head
			if err == nil && (int32(n) < 0 || n > a.len) {
				err = target.Corruptf("a queue of the bag from %d to %d in %d places", int32(head), int32(tail), a.len)
			}
			if err == nil && !a.values(n, func(i uint32) uint32 { return (tail - 1 - i) & (a.len - 1) }, yield) {
				err = errStop
			}
			return Item{}, false, err
		})
	}).stoppable()}
}

type blockingCollection struct {
	_     shapes.Type `of:"System.Collections.Concurrent.BlockingCollection<>"`
	Items shapes.Ref  `field:"_collection"`
}

func (r *Reader) blockingCollection(s *blockingCollection, f *reading) content {
	return r.wrap(f.object(&s.Items))
}

type singleQueue struct {
	_    shapes.Type `of:"System.Collections.Concurrent.SingleProducerSingleConsumerQueue<>|System.Threading.Tasks.SingleProducerSingleConsumerQueue<>"`
	Head shapes.Ref  `field:"_head|m_head"`
}

type singleSegment struct {
	Next  shapes.Ref `field:"_next|m_next"`
	Array shapes.Ref `field:"_array|m_array"`
	First shapes.Int `field:"_state._first|m_state.m_first"`
	Last  shapes.Int `field:"_state._last|m_state.m_last"`
}

func (r *Reader) singleQueue(s *singleQueue, f *reading) content {
	head := f.addr(&s.Head)
	return content{count: unknown, each: each(func(yield yield) bool {
		return chain(&nodes[*singleSegment]{r: r}, head, 0, yield, func(s *singleSegment) *shapes.Ref { return &s.Next }, func(s *singleSegment, x shapes.Instance) (Item, bool, error) {
			f := reading{x: x}
			o, first, last := f.object(&s.Array), uint32(f.int(&s.First)), uint32(f.int(&s.Last))
			if f.err != nil {
				return Item{}, false, f.err
			}
			a, err := r.array(o)
			if err == nil && (a.len == 0 || first >= a.len || last >= a.len) {
				err = target.Corruptf("a segment of %d places from %d to %d", a.len, first, last)
			}
			if err == nil && !a.values((last-first)&(a.len-1), func(i uint32) uint32 { return (first + i) & (a.len - 1) }, yield) {
				err = errStop
			}
			return Item{}, false, err
		})
	}).stoppable()}
}
