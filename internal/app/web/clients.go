package web

import (
	"cmp"
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// The pools of SocketsHttpHandler. Up to .NET 5 a pool keeps its idle connections in _idleConnections and its waiting
// requests in _waiters. .NET 9 keeps idle connections in the stack _http11Connections.
type (
	clientAnchor struct {
		_ objects.Shape `of:"System.Net.Http.HttpClient|System.Net.Http.SocketsHttpHandler|System.Net.Http.HttpConnectionPool|System.Net.Http.HttpConnection|System.Net.Http.Http2Connection|System.Net.Http.Http3Connection|Microsoft.Extensions.Http.LifetimeTrackingHttpMessageHandler|Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.TimeoutControl"`
	}
	httpPool struct {
		_         objects.Shape    `of:"System.Net.Http.HttpConnectionPool"`
		Kind      objects.IntField `field:"_kind"`
		Authority objects.RefField `field:"_originAuthority,optional"`
		Host      objects.RefField `field:"_host,optional"`
		Port      objects.IntField `field:"_port,optional"`
		Proxy     objects.RefField `field:"_proxyUri,optional"`
		Disposed  objects.IntField `field:"_disposed,optional"`
		Max       objects.IntField `field:"_maxHttp11Connections|_maxConnections,optional"`
		Count     objects.IntField `field:"_associatedHttp11ConnectionCount|_associatedConnectionCount,optional"`
		Opening   objects.IntField `field:"_pendingHttp11ConnectionCount,optional"`
		Idle      objects.RefField `field:"_http11Connections|_availableHttp11Connections|_idleConnections,optional"`
		Queue     objects.RefField `field:"_waiters,optional"`
		HTTP2     objects.IntField `field:"_associatedHttp2ConnectionCount,optional"`
		HTTP3     objects.IntField `field:"_associatedHttp3ConnectionCount,optional"`

		Queue11Ref objects.ValueField `field:"_http11RequestQueue,optional"`
		Queue2Ref  objects.ValueField `field:"_http2RequestQueue,optional"`
		Queue3Ref  objects.ValueField `field:"_http3RequestQueue,optional"`
	}
	authority struct {
		_    objects.Shape    `of:"System.Net.Http.HttpAuthority"`
		Host objects.RefField `field:"<IdnHost>"`
		Port objects.IntField `field:"<Port>"`
	}
	// A requestQueue is a class in some versions and a value type in others. In .NET 6 it contains a Queue, which is
	// also a ring buffer.
	requestQueue struct {
		_    objects.Shape `of:"System.Net.Http.RequestQueue<>|System.Net.Http.HttpConnectionPool+RequestQueue<>"`
		Ring *queueRing
		List *queueList
	}
	queueRing struct {
		Array objects.RefField `field:"_array"`
		Head  objects.IntField `field:"_head"`
		Size  objects.IntField `field:"_size"`
	}
	queueList struct {
		Queue objects.RefField `field:"_queue"`
	}
	queueItem struct {
		Request objects.RefField `field:"Request"`
		Waiter  objects.RefField `field:"Waiter,optional"`
	}
	// A queueWaiter is the promise of a connection (TaskCompletionSource). A request that was canceled or got another
	// connection stays in the queue, with a completed promise, until a connection of the pool dequeues it.
	queueWaiter struct {
		Task objects.RefField `field:"_task"`
	}
	waiterTask struct {
		_     objects.Shape    `of:"System.Threading.Tasks.Task<>"`
		Flags objects.IntField `field:"m_stateFlags"`
	}
	pooled struct {
		_    objects.Shape    `of:"System.Net.Http.HttpConnectionBase|System.Net.Http.HttpConnection|System.Net.Http.Http2Connection|System.Net.Http.Http3Connection"`
		Pool objects.RefField `field:"_pool"`
	}
	connection1 struct {
		_       objects.Shape    `of:"System.Net.Http.HttpConnection"`
		Current objects.RefField `field:"_currentRequest"`
		Created objects.IntField `field:"_creationTickCount,optional"`

		Ahead  objects.IntField   `field:"_readAheadTaskStatus,optional"`
		Buffer objects.ValueField `field:"_readBuffer,optional"`
	}
	// An arrayBuffer has the bytes that a connection has received, from the first element on (ArrayBuffer.cs).
	arrayBuffer struct {
		_     objects.Shape    `of:"System.Net.ArrayBuffer"`
		Bytes objects.RefField `field:"_bytes"`
	}
	connection2 struct {
		_       objects.Shape    `of:"System.Net.Http.Http2Connection|System.Net.Http.Http3Connection"`
		Streams objects.RefField `field:"_httpStreams|_activeRequests"`
	}
	stream2 struct {
		Request objects.RefField `field:"_request"`
	}
)

// ClientOptions selects what Clients reads.
type ClientOptions struct {
	Scan  heap.ScanOptions
	Clock ticks.Moment // the newest time that the process recorded, from which ages are computed
	Brief bool         `opt:"brief" help:"without the code that awaits requests, their ages, and the fields that hold clients"`

	Unnamed bool // without the fields that hold clients alone
}

// Clients lists the HttpClients and their connection pools, with the requests that wait for or have a connection. The
// error is ctx's.
func (r *Reader) Clients(ctx context.Context, h *heap.Heap, o ClientOptions) (*answer.HTTPClients, error) {
	out := &answer.HTTPClients{Pools: []answer.HTTPPool{}, Clock: o.Clock.Ticks}
	g := r.reading(&out.Gaps)
	index := map[target.Addr]int{}
	var connections []objects.Object
	var beat heartbeat
	for object := range shapes.ReadObjects[*clientAnchor](ctx, g, h, o.Scan) {
		if s, x := shapes.BindAs[*httpClient](g, object); s != nil {
			if out.Clients++; len(out.List) < limits.HTTPClients {
				out.List = append(out.List, r.client(g, object, s, x))
			}
		} else if is[*socketsHandler](r, object) {
			out.Handlers++
		} else if is[*factoryHandler](r, object) {
			out.FactoryHandlers++
		} else if s, x := shapes.BindAs[*httpPool](g, object); s != nil {
			index[object.Addr] = len(out.Pools)
			out.Pools = append(out.Pools, r.pool(g, object, s, x))
		} else if t, x := shapes.BindAs[*timeoutControl](g, object); t != nil {
			beat.note(g, t, x)
		} else {
			connections = append(connections, object)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if ms := beat.ms(); out.Clock.Err() == nil && ms > 0 {
		out.Fresh = true // the timers and the pool may have been idle longer
		o.Clock.Note(ms)
		out.Clock = o.Clock.Ticks
	}
	out.More = out.Clients - len(out.List)
	for _, c := range connections {
		s, x := shapes.BindAs[*pooled](g, c)
		if s == nil {
			continue
		}
		a, err := s.Pool.Addr(x)
		g.Note(err)
		if n, ok := index[a]; ok {
			r.running(g, &out.Pools[n], c)
		}
	}
	out.Verdicts = Unshared(out)
	if o.Brief {
		return out, nil
	}
	if err := r.senders(ctx, g, h, o, out); err != nil {
		return nil, err
	}
	if o.Unnamed {
		return out, nil
	}
	wanted := map[target.Addr]bool{}
	for i := range out.List {
		wanted[out.List[i].Address] = true
	}
	names, err := flows.Names(ctx, r.b, h, wanted, flows.NamesOptions{Walk: true, Scan: o.Scan})
	g.Note(err)
	for i := range out.List {
		out.List[i].Name = names[out.List[i].Address].Text
	}
	return out, ctx.Err()
}

// senders finds the code that awaits requests, and how long HttpClient has worked on each.
func (r *Reader) senders(ctx context.Context, g shapes.Reading, h *heap.Heap, o ClientOptions, out *answer.HTTPClients) error {
	var all []*answer.HTTPWait
	at := map[target.Addr]int{}
	for i := range out.Pools {
		for _, list := range [][]answer.HTTPWait{out.Pools[i].Running, out.Pools[i].Waiting} {
			for n := range list {
				w := &list[n]
				w.Age, w.Timeout = answer.Missing[int64](objects.ErrNoField), answer.Missing[int64](objects.ErrNoField)
				if w.Request == 0 {
					continue
				}
				at[w.Request] = len(all)
				if c, err := r.b.Objects().TrustedObject(w.Connection); w.Connection != 0 && err == nil && is[*connection1](r, c) {
					at[w.Connection] = len(all) // an HTTP/2 connection serves several requests
					w.Age = r.mute(g, c, o.Clock.Ticks)
				}
				all = append(all, w)
			}
		}
	}
	if len(all) == 0 || r.tasks == nil {
		return nil
	}
	set, err := r.tasks.Collect(ctx, h, o.Scan)
	if err != nil {
		return err
	}
	reader := flows.New(g, r.items)
	stacks, err := reader.Stacks(ctx, set, len(all), func(box objects.Object) (held, awaited []int) {
		n := -1
		for a := range reader.Variables(box) {
			if i, ok := at[a]; ok {
				n = i
			}
		}
		if n < 0 {
			return nil, nil
		}
		if strings.Contains(g.TypeText(box).S, "System.Net.Http.HttpClient+") {
			for a := range reader.Variables(box) {
				if v, err := r.b.Objects().TrustedObject(a); err == nil {
					if age, limit, ok := g.Countdown(v, o.Clock.Timers); ok { // of HttpClient's timeout
						all[n].Age, all[n].Timeout = age, limit
					}
				}
			}
		}
		return nil, []int{n}
	})
	for i, s := range stacks {
		all[i].Stack = s
		if s != nil && all[i].Method.S == "CONNECT" {
			r.tunnels(reader, s, all[i].Age, func(a target.Addr) *answer.HTTPWait {
				if n, ok := at[a]; ok && n != i {
					return all[n]
				}
				return nil
			})
		}
	}
	return err
}

// tunnels gives the age of a request for a tunnel (CONNECT) to the requests that the code which awaits the tunnel opens a connection for: they have
// waited longer.
func (r *Reader) tunnels(reader *flows.Reader, s *answer.AsyncWork, age answer.Maybe[int64], waits func(target.Addr) *answer.HTTPWait) {
	for i := range s.Frames {
		box, err := r.b.Objects().TrustedObject(s.Frames[i].Object)
		if s.Frames[i].Object == 0 || err != nil {
			continue
		}
		for a := range reader.Embedded(box) {
			if w := waits(a); w != nil && w.Age.Err() != nil {
				w.Age = age
			}
		}
	}
}

// mute returns for how long a connection of HTTP/1.1 has existed that nothing was received on and that was never idle: its request was sent when it was
// opened. Other connections have no such time. Before it is idle, and again before it is used, a connection begins to read ahead.
func (r *Reader) mute(g shapes.Reading, o objects.Object, clock answer.Maybe[int64]) answer.Maybe[int64] {
	c, x := shapes.BindAs[*connection1](g, o)
	if c == nil || !c.Created.Has() || !c.Ahead.Has() || !c.Buffer.Has() {
		return answer.Missing[int64](objects.ErrNoField)
	}
	created, ahead := g.IntAt(&c.Created, x), g.IntAt(&c.Ahead, x)
	if err := cmp.Or(created.Err(), ahead.Err(), clock.Err()); err != nil {
		return answer.Missing[int64](err)
	}
	received, err := r.received(c.Buffer.Value(x)) // small dumps do not have the bytes
	if err != nil || received || ahead.Value != 0 {
		return answer.Missing[int64](objects.ErrNoField)
	}
	return answer.Known(max(clock.Value-created.Value, 0))
}

// received reports whether a buffer has or had bytes. An answer of HTTP/1.1 begins with a letter. The buffer of a connection is no pooled one.
func (r *Reader) received(buffer objects.Value) (bool, error) {
	s, err := buffer.Struct()
	if err != nil {
		return false, err
	}
	b, err := objects.Bind[*arrayBuffer](r.b, s.Type)
	if err != nil {
		return false, err
	}
	o, err := b.Bytes.Object(objects.InstanceIn(s))
	if err != nil || o.Addr == 0 {
		return false, err
	}
	a, err := o.Array()
	if err != nil || a.Len == 0 {
		return false, err
	}
	first, err := a.At(0).Uint()
	return first != 0, err
}

// is reports whether an object has one of a shape's types.
func is[S any](r *Reader, o objects.Object) bool {
	ok, err := objects.IsShape[S](r.b, o.Type)
	return ok && err == nil
}

// pool describes one pool.
func (r *Reader) pool(g shapes.Reading, o objects.Object, s *httpPool, x objects.Instance) answer.HTTPPool {
	out := answer.HTTPPool{Address: o.Addr, Kind: g.EnumAt(&s.Kind, x), Max: g.IntAt(&s.Max, x), Count: g.IntAt(&s.Count, x), Opening: g.IntAt(&s.Opening, x),
		HTTP2: g.IntAt(&s.HTTP2, x), HTTP3: g.IntAt(&s.HTTP3, x), Disposed: g.BoolAt(&s.Disposed, x).Value,
		Idle: answer.Missing[int64](objects.ErrNoField), Waiting: []answer.HTTPWait{}, Running: []answer.HTTPWait{}}
	out.Host, out.Port = g.TextAt(&s.Host, x), g.IntAt(&s.Port, x)
	if a, at := shapes.BindAt[*authority](g, &s.Authority, x); a != nil {
		out.Host, out.Port = g.TextAt(&a.Host, at), g.IntAt(&a.Port, at)
	}
	if u, at := shapes.BindAt[*uri](g, &s.Proxy, x); u != nil {
		if out.Proxy = g.TextAt(&u.Text, at); out.Proxy.Err == nil {
			out.Proxy.S = uriServer(out.Proxy.S)
		}
	}
	if s.Idle.Has() {
		out.Idle = r.length(g, &s.Idle, x)
	}
	if s.Queue.Has() {
		r.waiters(g, &out, &s.Queue, x)
	}
	var queues []objects.Value
	for _, q := range []*objects.ValueField{&s.Queue11Ref, &s.Queue2Ref, &s.Queue3Ref} {
		if q.Has() {
			queues = append(queues, q.Value(x))
		}
	}
	r.queues(g, &out, queues)
	return out
}

// queues adds the requests in the queues of a pool, one for each version of HTTP. The queues have the same fields, but a type that was never used is not
// loaded: such a queue is read with the layout of another one.
func (r *Reader) queues(g shapes.Reading, out *answer.HTTPPool, list []objects.Value) {
	var layout *requestQueue
	var unloaded []objects.Value
	var unbound []error
	read := func(q *requestQueue, at objects.Instance) { g.Note(r.queue(g, out, q, at)) }
	for _, v := range list {
		known, at, err := r.bindQueue(v)
		switch {
		case known != nil:
			layout = known
			read(known, at)
		case v.Kind() == objects.KindStruct:
			unloaded, unbound = append(unloaded, v), append(unbound, err)
		default:
			g.Note(err)
		}
	}
	for i, v := range unloaded {
		if layout == nil {
			g.Note(unbound[i])
			continue
		}
		read(layout, objects.Instance(v.Location()))
	}
}

// length returns the number of items in the collection in a field.
func (r *Reader) length(g shapes.Reading, f *objects.RefField, x objects.Instance) answer.Maybe[int64] {
	o, err := f.Object(x)
	if err != nil || o.Addr == 0 {
		g.Note(err)
		return answer.Of(int64(0), err)
	}
	c, err := r.items.Of(o)
	if err != nil {
		g.Note(err)
		return answer.Of(int64(0), err)
	}
	n := int64(0)
	for _, err := range c.Items() {
		if err != nil {
			g.Note(err)
			return answer.Of(n, err)
		}
		n++
	}
	return answer.Known(n)
}

// bindQueue binds the shape of a queue, which is a value type or an object. It returns nil for null.
func (r *Reader) bindQueue(v objects.Value) (*requestQueue, objects.Instance, error) {
	if v.Kind() == objects.KindStruct {
		s, err := v.Struct()
		if err != nil {
			return nil, 0, err
		}
		q, err := objects.Bind[*requestQueue](r.b, s.Type)
		return q, objects.InstanceIn(s), err
	}
	if v.IsNull() {
		return nil, 0, nil
	}
	o, err := v.Object()
	if err != nil {
		return nil, 0, err
	}
	return objects.BindObject[*requestQueue](r.b, o)
}

// queue adds the requests of a RequestQueue, a ring buffer.
func (r *Reader) queue(g shapes.Reading, out *answer.HTTPPool, s *requestQueue, x objects.Instance) error {
	if s.Ring != nil {
		return r.ring(g, out, s.Ring, x)
	}
	o, err := s.List.Queue.Object(x)
	if err != nil || o.Addr == 0 { // created when the first request waits
		return err
	}
	ring, at, err := objects.BindObject[*queueRing](r.b, o)
	if err != nil {
		return err
	}
	return r.ring(g, out, ring, at)
}

// ring adds the requests in a ring buffer.
func (r *Reader) ring(g shapes.Reading, out *answer.HTTPPool, s *queueRing, x objects.Instance) error {
	size, err := s.Size.Int(x)
	if err != nil || size == 0 {
		return err
	}
	head, err := s.Head.Int(x)
	if err != nil {
		return err
	}
	o, err := s.Array.Object(x)
	if err != nil {
		return err
	}
	item, a, err := objects.BindElements[*queueItem](r.b, o)
	if err != nil {
		return err
	}
	if size < 0 || size > int64(a.Len) || head < 0 || head >= int64(a.Len) {
		return target.CorruptHeapf("a queue of requests has %d from %d on, in an array of %d", size, head, a.Len)
	}
	for i := range size {
		at := a.Instance(uint32((head + i) % int64(a.Len)))
		request, err := item.Request.Object(at)
		if err != nil {
			g.Note(err)
			continue
		}
		if w, x := shapes.BindAt[*queueWaiter](g, &item.Waiter, at); w != nil {
			if t, x := shapes.BindAt[*waiterTask](g, &w.Task, x); t != nil && tasks.Flags(g.IntAt(&t.Flags, x).Value).Completed() {
				continue
			}
		}
		out.Waiting = append(out.Waiting, r.wait(g, request, 0))
	}
	return nil
}

// waiters counts the requests that wait in a pool of .NET 5 or earlier, which keeps only their tasks.
func (r *Reader) waiters(g shapes.Reading, out *answer.HTTPPool, f *objects.RefField, x objects.Instance) {
	n := r.length(g, f, x)
	for range n.Value {
		out.Waiting = append(out.Waiting, answer.HTTPWait{})
	}
}

// running adds the request in progress on a connection.
func (r *Reader) running(g shapes.Reading, out *answer.HTTPPool, o objects.Object) {
	if c, x := shapes.BindAs[*connection1](g, o); c != nil {
		request, err := c.Current.Object(x)
		g.Note(err)
		if err == nil && request.Addr != 0 {
			out.Running = append(out.Running, r.wait(g, request, o.Addr))
		}
		return
	}
	c, x := shapes.BindAs[*connection2](g, o)
	if c == nil {
		return
	}
	for item, err := range r.items.ItemsAt(&c.Streams, x) {
		var stream objects.Object
		if err == nil {
			stream, err = item.Value.Object()
		}
		if err != nil {
			g.Note(err)
			continue
		}
		if s, x := shapes.BindAs[*stream2](g, stream); s != nil {
			request, err := s.Request.Object(x)
			g.Note(err)
			if err == nil && request.Addr != 0 {
				out.Running = append(out.Running, r.wait(g, request, o.Addr))
			}
		}
	}
}

// wait describes a request in a pool.
func (r *Reader) wait(g shapes.Reading, request objects.Object, connection target.Addr) answer.HTTPWait {
	out := answer.HTTPWait{Request: request.Addr, Connection: connection}
	if request.Addr == 0 {
		return out
	}
	if m := r.message(g, request); m != nil {
		out.Method, out.URI = m.Method, m.URI
	}
	return out
}
