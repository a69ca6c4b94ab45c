package web

import (
	"cmp"
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
)

// Queues of Serilog and MassTransit. The names come from the sources of Serilog 2 to 4 with Serilog.Sinks.Async 1 and 2
// and Serilog.Sinks.PeriodicBatching 3 to 5, and of MassTransit 8. They are not tested on a dump of a real program.
type (
	queueAnchor struct {
		_ objects.Shape `of:"Serilog.Sinks.Async.BackgroundWorkerSink|Serilog.Core.Sinks.Batching.BatchingSink|Serilog.Sinks.PeriodicBatching.PeriodicBatchingSink|MassTransit.Transports.Fabric.MessageQueue<,>|MassTransit.Transports.ReceivePipeDispatcher"`
	}
	// An asyncSink writes log events on a thread of its own.
	asyncSink struct {
		_       objects.Shape    `of:"Serilog.Sinks.Async.BackgroundWorkerSink"`
		Target  objects.RefField `field:"_wrappedSink|_pipeline"`
		Queue   objects.RefField `field:"_queue"`
		Dropped objects.IntField `field:"_droppedMessages,optional"`
		Blocks  objects.IntField `field:"_blockWhenFull,optional"`
	}
	// A batchingSink collects log events. The events of the current batch have left the queue.
	batchingSink struct {
		_      objects.Shape    `of:"Serilog.Core.Sinks.Batching.BatchingSink|Serilog.Sinks.PeriodicBatching.PeriodicBatchingSink"`
		Target objects.RefField `field:"_targetSink|_batchedLogEventSink"`
		Queue  objects.RefField `field:"_queue"`
		Batch  objects.RefField `field:"_currentBatch|_waitingBatch"`
	}
	// A messageQueue is a queue of MassTransit's in-memory transport.
	messageQueue struct {
		_     objects.Shape    `of:"MassTransit.Transports.Fabric.MessageQueue<,>"`
		Name  objects.RefField `field:"<Name>"`
		Queue objects.RefField `field:"_channel"`
	}
	// A dispatcher hands the messages of an endpoint to the consumers.
	dispatcher struct {
		_      objects.Shape    `of:"MassTransit.Transports.ReceivePipeDispatcher"`
		Name   objects.RefField `field:"_endpointName"`
		Active objects.IntField `field:"_activeDispatchCount"`
		Most   objects.IntField `field:"_maxConcurrentDispatchCount"`
		Begun  objects.IntField `field:"_dispatchCount"`
	}
	boundedQueue struct {
		Capacity objects.IntField `field:"_boundedCapacity|_bufferedCapacity"`
	}
	blockingCollection struct {
		_     objects.Shape    `of:"System.Collections.Concurrent.BlockingCollection<>"`
		Items objects.RefField `field:"_collection"`
	}
)

// Queues lists the log event queues of Serilog, and the queues and endpoints of MassTransit. The error is ctx's.
func (r *Reader) Queues(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.Queues, error) {
	out := &answer.Queues{Queues: []answer.Queue{}}
	g := r.reading(&out.Gaps)
	none := answer.Missing[int64](objects.ErrNoField)
	for object := range shapes.ReadObjects[*queueAnchor](ctx, g, h, o) {
		q := answer.Queue{Address: object.Addr, Type: g.TypeText(object), Items: none, Capacity: none, Dropped: none,
			Active: none, Most: none, Begun: none, Blocks: answer.Missing[bool](objects.ErrNoField)}
		if s, x := shapes.BindAs[*asyncSink](g, object); s != nil {
			q.Name, q.Dropped, q.Blocks = g.TypeText(g.ObjectAt(&s.Target, x)), g.IntAt(&s.Dropped, x), g.BoolAt(&s.Blocks, x)
			r.queued(g, &q, &s.Queue, x)
		} else if s, x := shapes.BindAs[*batchingSink](g, object); s != nil {
			q.Name = g.TypeText(g.ObjectAt(&s.Target, x))
			r.queued(g, &q, &s.Queue, x)
			batch := r.counted(g, g.ObjectAt(&s.Batch, x))
			q.Items = answer.Of(q.Items.Value+batch.Value, cmp.Or(q.Items.Err(), batch.Err()))
		} else if s, x := shapes.BindAs[*messageQueue](g, object); s != nil {
			q.Name = g.TextAt(&s.Name, x)
			r.queued(g, &q, &s.Queue, x)
		} else if s, x := shapes.BindAs[*dispatcher](g, object); s != nil {
			q.Name, q.Active, q.Most, q.Begun = g.TextAt(&s.Name, x), g.IntAt(&s.Active, x), g.IntAt(&s.Most, x), g.IntAt(&s.Begun, x)
		} else {
			continue
		}
		out.Queues = append(out.Queues, q)
	}
	return out, ctx.Err()
}

// queued adds the number of items in the collection or channel that a field refers to, and its capacity if it is
// bounded.
func (r *Reader) queued(g shapes.Reading, q *answer.Queue, f *objects.RefField, x objects.Instance) {
	o := g.ObjectAt(f, x)
	if s, at, err := objects.BindObject[*boundedQueue](r.b, o); err == nil {
		if n := g.IntAt(&s.Capacity, at); n.Err() != nil || n.Value > 0 { // -1: no bound
			q.Capacity = n
		}
	}
	if s, at, is, err := shapes.TryBind[*blockingCollection](r.b, o); is {
		g.Note(err)
		if err == nil {
			o = g.ObjectAt(&s.Items, at)
		}
	}
	q.Items = r.counted(g, o)
}

// counted counts the items of a collection.
func (r *Reader) counted(g shapes.Reading, o objects.Object) answer.Maybe[int64] {
	if o.Addr == 0 {
		return answer.Missing[int64](objects.ErrNoField)
	}
	return r.countOf(g, r.items.ObjectsIn(o))
}

// countOf counts the objects of a list.
func (r *Reader) countOf(g shapes.Reading, list iter.Seq2[objects.Object, error]) answer.Maybe[int64] {
	n, lost := int64(0), error(nil)
	for _, err := range list {
		if err != nil {
			g.Note(err)
			lost = err
			continue
		}
		n++
	}
	return answer.Of(n, lost)
}
