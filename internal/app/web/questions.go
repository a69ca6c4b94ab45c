package web

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Of returns the process's Reader.
func Of(p *process.Process) (*Reader, error) {
	b, err := p.Shapes()
	if err != nil {
		return nil, err
	}
	t, err := tasks.Of(p)
	if err != nil {
		return nil, err
	}
	items, err := p.Collections()
	if err != nil {
		return nil, err
	}
	return New(b, items, t), nil
}

// read computes an answer about objects of the heap. work describes the scan in progress reports.
func read[T any](ctx context.Context, p *process.Process, work string, o heap.ScanOptions,
	compute func(r *Reader, ctx context.Context, h *heap.Heap, o heap.ScanOptions) (T, error)) (T, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (none T, err error) {
		r, err := Of(p)
		if err != nil {
			return none, err
		}
		h, err := c.NamedHeap()
		if err != nil {
			return none, err
		}
		return process.Found(compute(r, ctx, h, c.Scan(work, o)))
	})
}

// Requests lists the web requests that the process works on: their age, the thread or async code that handles them, and
// what they wait for.
func Requests(ctx context.Context, p *process.Process, o RequestOptions) (*answer.Requests, error) {
	return read(ctx, p, "looking for requests", o.Scan, func(r *Reader, ctx context.Context, h *heap.Heap, scan heap.ScanOptions) (*answer.Requests, error) {
		o.Scan = scan
		return r.Requests(ctx, p, h, o)
	})
}

// Messages lists the requests that the process sent with HttpClient.
func Messages(ctx context.Context, p *process.Process, o MessageOptions) (*answer.Messages, error) {
	return read(ctx, p, "looking for requests", o.Scan, func(r *Reader, ctx context.Context, h *heap.Heap, scan heap.ScanOptions) (*answer.Messages, error) {
		o.Scan = scan
		return r.Messages(ctx, h, o)
	})
}

// HTTPClients lists the HttpClients with their connection pools, and the requests in them.
func HTTPClients(ctx context.Context, p *process.Process, o ClientOptions) (*answer.HTTPClients, error) {
	return read(ctx, p, "looking for connections", o.Scan, func(r *Reader, ctx context.Context, h *heap.Heap, scan heap.ScanOptions) (*answer.HTTPClients, error) {
		o.Scan = scan
		if !o.Brief {
			pool, err := threadpool.Of(p)
			if err != nil {
				return nil, err
			}
			var unread answer.Gaps // an unknown time has its own error
			if o.Clock, err = pool.Now(ctx, &unread); err != nil {
				return nil, err
			}
		}
		return r.Clients(ctx, h, o)
	})
}

// SignalR lists the hubs of ASP.NET Core SignalR with their connections and groups, and the circuits of Blazor.
func SignalR(ctx context.Context, p *process.Process) (*answer.SignalR, error) {
	return read(ctx, p, "looking for hubs", heap.ScanOptions{}, (*Reader).SignalR)
}

// Redis lists the multiplexers of StackExchange.Redis, with the commands that wait for each server.
func Redis(ctx context.Context, p *process.Process) (*answer.Redis, error) {
	return read(ctx, p, "looking for connections to Redis", heap.ScanOptions{}, (*Reader).Redis)
}

// Queues lists the log event queues of Serilog, and the queues and endpoints of MassTransit.
func Queues(ctx context.Context, p *process.Process) (*answer.Queues, error) {
	return read(ctx, p, "looking for queues", heap.ScanOptions{}, (*Reader).Queues)
}

// ObjectPools lists the pools of Microsoft.Extensions.ObjectPool.
func ObjectPools(ctx context.Context, p *process.Process) (*answer.ObjectPools, error) {
	return read(ctx, p, "looking for pools", heap.ScanOptions{}, (*Reader).ObjectPools)
}

// Sockets lists the WebSockets of servers and clients.
func Sockets(ctx context.Context, p *process.Process) (*answer.WebSockets, error) {
	return read(ctx, p, "looking for WebSockets", heap.ScanOptions{}, (*Reader).WebSockets)
}

// GRPCCalls lists the gRPC calls that the process sends and answers.
func GRPCCalls(ctx context.Context, p *process.Process) (*answer.GRPCCalls, error) {
	return read(ctx, p, "looking for calls of gRPC", heap.ScanOptions{}, (*Reader).GRPC)
}

// Sessions lists the sessions of ASP.NET Core by user: sessions in use by requests, and sessions stored in a cache of
// the process.
func Sessions(ctx context.Context, p *process.Process, o SessionOptions) (*answer.Sessions, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Sessions, error) {
		out, err := read(ctx, p, "looking for sessions", o.Scan, func(r *Reader, ctx context.Context, h *heap.Heap, scan heap.ScanOptions) (*answer.Sessions, error) {
			o.Scan = scan
			return r.Sessions(ctx, p, h, o)
		})
		if err != nil || !o.Retained || len(out.Sessions) == 0 {
			return out, err
		}
		return out, retainSessions(ctx, c, out)
	})
}

// retainSessions adds the retained sizes of sessions.
func retainSessions(ctx context.Context, c *process.Call, out *answer.Sessions) error {
	holders, err := c.NotedHolders()
	if err != nil {
		return err
	}
	g := holders.Graph()
	d, err := g.Dominators(ctx)
	if err != nil {
		return err
	}
	retained := func(a target.Addr) *int64 {
		node, ok := g.Node(a)
		if !ok {
			out.Note(target.Unsupportedf("%v is no object of the graph", a))
			return nil
		}
		n := int64(d.Retained(node))
		return &n
	}
	var all int64
	users := map[string]int64{}
	for i := range out.Sessions {
		s := &out.Sessions[i]
		var sum int64
		if r := s.Rests; r != nil {
			if r.Retained = retained(r.Entry); r.Retained != nil {
				sum += *r.Retained
			}
		}
		for n := range s.Live {
			l := &s.Live[n]
			if l.Retained = retained(l.Address); l.Retained != nil && l.Request != 0 {
				sum += *l.Retained
			}
		}
		s.Retained = &sum
		users[s.User.String()] += sum
		all += sum
	}
	for i := range out.Users {
		sum := users[out.Users[i].User.String()]
		out.Users[i].Retained = &sum
	}
	out.Retained = &all
	return nil
}
