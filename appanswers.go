package sosgo

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/flows"
	"github.com/sosgo/sosgo/app/hosting"
	"github.com/sosgo/sosgo/app/locks"
	"github.com/sosgo/sosgo/app/sqlpools"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/app/threadpool"
	"github.com/sosgo/sosgo/app/triage"
	"github.com/sosgo/sosgo/app/web"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// Options of answers about applications. The zero value of each is the default.
type (
	// LockOptions choose locks.
	LockOptions = locks.Options
	// TaskOptions select tasks.
	TaskOptions = tasks.ListOptions
	// ThreadPoolOptions choose parts of the thread pool.
	ThreadPoolOptions = threadpool.Options
	// RequestOptions choose web requests that the process works on.
	RequestOptions = web.RequestOptions
	// MessageOptions select requests that the process sent.
	MessageOptions = web.MessageOptions
)

// Waits lists what threads and suspended async methods wait for and where that leads: deadlocks, held locks, semaphores without
// permits, tasks that block threads. Where no wait was
// found because something could not be read, the answer comes with that error.
func (v *View) Waits(ctx context.Context, o ...LockOptions) (*answer.Waits, error) {
	return ask(ctx, v, func(q *question) (*answer.Waits, error) {
		r, err := q.LockReader()
		if err != nil {
			return nil, err
		}
		o := option(o)
		o.Scan = q.scanning("looking for locks", o.Scan)
		out, err := r.Waits(q.ctx, o)
		if err != nil {
			return nil, err
		}
		return unlessEmpty(out, len(out.Threads)+len(out.Operations)+len(out.Verdicts) == 0, out.Lost)
	})
}

// TriageOptions choose what a triage looks at.
type TriageOptions = triage.Options

// Triage ranks what is wrong with the process: its crash, deadlocks, starved pools, failed tasks, damage and large holders of memory. It
// names what it looked at without a finding, and what it could not look at. It fails if it could look at nothing.
func (v *View) Triage(ctx context.Context, o ...TriageOptions) (*answer.Triage, error) {
	return ask(ctx, v, func(q *question) (*answer.Triage, error) {
		o := option(o)
		if o.Jobs == 0 {
			o.Jobs = q.jobs(q.ctx)
		}
		questions := q.triageQuestions()
		questions.Crash = func(ctx context.Context) (*answer.Crash, error) { return v.Crash(ctx, CrashOptions{NoHeap: o.NoHeap}) }
		questions.Leaks = func(ctx context.Context) (*answer.Leaks, error) { return v.Leaks(ctx) }
		questions.VerifyHeap = v.soundness
		questions.Contexts = func(ctx context.Context) (*answer.LoadContexts, error) { return v.LoadContexts(ctx) }
		if !o.NoHeap {
			_, _ = v.Graph(q.ctx, graph.Options{Census: true}) // one walk for all questions; those about the graph have its error
		}
		return q.triage(questions, o)
	})
}

// triageQuestions returns the questions of a triage but those about the crash and about all of the heap.
func (q *question) triageQuestions() triage.Questions {
	v := q.View
	return triage.Questions{
		Waits:      func(ctx context.Context) (*answer.Waits, error) { return v.Waits(ctx) },
		ThreadPool: func(ctx context.Context) (*answer.ThreadPool, error) { return v.ThreadPool(ctx) },
		SQLPools:   func(ctx context.Context) (*answer.SQLPools, error) { return v.SQLPools(ctx) },
		Redis:      func(ctx context.Context) (*answer.Redis, error) { return v.Redis(ctx) },
		HTTPClients: func(ctx context.Context) (*answer.HTTPClients, error) {
			return v.HTTPClients(ctx, HTTPClientOptions{Brief: true})
		},
		Tasks:       func(ctx context.Context) (*answer.Tasks, error) { return v.Tasks(ctx, TaskOptions{Faulted: true}) },
		Hosts:       v.Hosts,
		TypeInits:   v.Initializers,
		OutOfMemory: func(context.Context) (*answer.OutOfMemory, error) { return v.OutOfMemory() },
		FreeSpace:   v.fragmentation,
		Handles:     func(ctx context.Context) (*answer.Handles, error) { return v.Handles(ctx) },
		Native:      v.nativeMemory,
		GCSettings:  func(context.Context) ([]answer.GCSetting, error) { return v.gcSettings() },
	}
}

// triage ranks what is wrong. The answer itself names what could not be read.
func (q *question) triage(questions triage.Questions, o TriageOptions) (*answer.Triage, error) {
	return triage.Of(context.WithValue(q.ctx, notesKey{}, nil), questions, o)
}

// Locks lists the locks that a thread or async method holds or waits for. Where none was found because something could not be
// read, the answer comes with that error.
func (v *View) Locks(ctx context.Context, o ...LockOptions) (*answer.Locks, error) {
	return ask(ctx, v, func(q *question) (*answer.Locks, error) {
		r, err := q.LockReader()
		if err != nil {
			return nil, err
		}
		o := option(o)
		o.Scan = q.scanning("looking for locks", o.Scan)
		out, err := r.Describe(q.ctx, o)
		if err != nil {
			return nil, err
		}
		return unlessEmpty(out, len(out.Locks) == 0, out.Lost)
	})
}

// Initializers lists the classes whose initializer (static constructor) threw an exception.
func (v *View) Initializers(ctx context.Context) (*answer.Initializers, error) {
	return ask(ctx, v, func(q *question) (*answer.Initializers, error) {
		b, err := q.Shapes()
		if err != nil {
			return nil, err
		}
		return locks.Initializers(q.ctx, b, q.objectHeap, q.scanning("looking for exceptions", heap.ScanOptions{}))
	})
}

// Tasks counts the tasks of the heap by state and method.
func (v *View) Tasks(ctx context.Context, o ...TaskOptions) (*answer.Tasks, error) {
	return ask(ctx, v, func(q *question) (*answer.Tasks, error) {
		s, err := q.collected()
		if err != nil {
			return nil, err
		}
		out, err := s.List(q.ctx, option(o))
		if err != nil || !option(o).Faulted || out.Seen == 0 {
			return out, err
		}
		hosts, err := v.Hosts(q.ctx) // a host observes the exceptions of its services
		if err != nil {
			out.Note(err)
			return out, q.ctx.Err()
		}
		out.NoteAll(hosts.Noted())
		for i := range hosts.Hosts {
			for _, service := range hosts.Hosts[i].Services {
				if service.State.S == answer.ServiceFailed {
					out.Services = append(out.Services, service)
				}
			}
		}
		return out, nil
	})
}

// TaskState describes the state of a task. An object that is no task is a *tasks.NotTaskError.
func (v *View) TaskState(ctx context.Context, task target.Addr) (*answer.TaskState, error) {
	return ask(ctx, v, func(q *question) (*answer.TaskState, error) {
		r, err := q.TaskReader()
		if err != nil {
			return nil, err
		}
		return r.DescribeState(task)
	})
}

// Forms of async stacks.
const (
	AsyncListed  = iota // each stack
	AsyncMerged         // equal frames of stacks together
	AsyncCounted        // frames by name
)

// AsyncOptions select stacks of async methods.
type AsyncOptions struct {
	tasks.StackOptions
	Form      int  // AsyncListed, AsyncMerged or AsyncCounted
	WithRoots bool // what keeps each stack alive, in AsyncListed
}

// AsyncStacks lists the stacks of async methods: what each waits for and who continues after it.
func (v *View) AsyncStacks(ctx context.Context, o ...AsyncOptions) (*answer.Async, error) {
	return ask(ctx, v, func(q *question) (*answer.Async, error) {
		o := option(o)
		s, err := q.collected()
		if err != nil {
			return nil, err
		}
		switch o.Form {
		case AsyncMerged:
			return s.Merged(q.ctx, o.StackOptions)
		case AsyncCounted:
			return s.Count(o.StackOptions)
		}
		if o.WithRoots {
			h, err := q.Holders(q.ctx, graph.Options{})
			if err != nil {
				return nil, err
			}
			q.graph = h.Graph()
			o.Roots = func(ctx context.Context, a target.Addr) (*answer.RootPaths, error) {
				return h.RootPaths(ctx, a, graph.HoldOptions{})
			}
		}
		return s.Listed(q.ctx, o.StackOptions)
	})
}

// AsyncCalls merges the stacks of async methods into trees.
func (v *View) AsyncCalls(ctx context.Context, o ...tasks.StackOptions) (*answer.AsyncCalls, error) {
	return ask(ctx, v, func(q *question) (*answer.AsyncCalls, error) {
		s, err := q.collected()
		if err != nil {
			return nil, err
		}
		return s.Calls(q.ctx, option(o))
	})
}

// pooled computes an answer by the reader of the thread pool.
func pooled[T any](ctx context.Context, v *View, compute func(ctx context.Context, r *threadpool.Reader) (T, error)) (T, error) {
	return ask(ctx, v, func(q *question) (none T, err error) {
		r, err := q.ThreadPoolReader()
		if err != nil {
			return none, err
		}
		return compute(q.ctx, r)
	})
}

// ThreadPool describes the thread pool: its workers and limits, what is queued, and whether it keeps up. Where neither the workers nor
// the queues can be read, the answer comes with that error.
func (v *View) ThreadPool(ctx context.Context, o ...ThreadPoolOptions) (*answer.ThreadPool, error) {
	return pooled(ctx, v, func(ctx context.Context, r *threadpool.Reader) (*answer.ThreadPool, error) {
		out, err := r.Describe(ctx, option(o))
		if err != nil {
			return nil, err
		}
		return unlessEmpty(out, len(out.Workers) == 0 && out.Total.Err != nil, out.Queued.Err)
	})
}

// WorkQueues lists what is queued in the thread pool.
func (v *View) WorkQueues(ctx context.Context) (*answer.WorkQueues, error) {
	return pooled(ctx, v, func(ctx context.Context, r *threadpool.Reader) (*answer.WorkQueues, error) {
		out, err := r.Queues(ctx)
		if err != nil {
			return nil, err
		}
		return unlessEmpty(out, len(out.Queues) == 0, out.Lost)
	})
}

// Timers lists the timers that are scheduled.
func (v *View) Timers(ctx context.Context) (*answer.Timers, error) {
	return pooled(ctx, v, func(ctx context.Context, r *threadpool.Reader) (*answer.Timers, error) {
		out, err := r.Timers(ctx)
		if err != nil {
			return nil, err
		}
		return unlessEmpty(out, len(out.Timers) == 0, out.Lost)
	})
}

// webbed computes an answer by the reader of web requests.
func webbed[T any](ctx context.Context, v *View, compute func(q *question, r *web.Reader, h *heap.Heap) (T, error)) (T, error) {
	return ask(ctx, v, func(q *question) (none T, err error) {
		r, err := q.WebReader()
		if err != nil {
			return none, err
		}
		h, err := q.namedHeap()
		if err != nil {
			return none, err
		}
		return found(compute(q, r, h))
	})
}

// Requests lists the web requests that the process works on: since when, by which thread or async code, and what they wait for.
func (v *View) Requests(ctx context.Context, o ...RequestOptions) (*answer.Requests, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.Requests, error) {
		o := option(o)
		o.Scan = q.scanning("looking for requests", o.Scan)
		p := web.Process{Heap: h, Walk: q.Walk, DumpTime: q.dump.file.Process().DumpTime}
		if !o.Brief {
			var err error
			p.Threads, err = q.Threads()
			q.note(err)
		}
		return r.Requests(q.ctx, p, o)
	})
}

// Messages lists the requests that the process sent by HttpClient.
func (v *View) Messages(ctx context.Context, o ...MessageOptions) (*answer.Messages, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.Messages, error) {
		o := option(o)
		o.Scan = q.scanning("looking for requests", o.Scan)
		return r.Messages(q.ctx, h, o)
	})
}

// HTTPClientOptions select what is listed of HttpClients.
type HTTPClientOptions struct {
	Brief bool // leaves out who awaits each request, since when, and which fields hold the clients
}

// HTTPClients lists the HttpClients with their pools of connections, and the requests in them.
func (v *View) HTTPClients(ctx context.Context, o ...HTTPClientOptions) (*answer.HTTPClients, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.HTTPClients, error) {
		p := web.ClientOptions{Scan: q.scanning("looking for connections", heap.ScanOptions{}), Brief: option(o).Brief}
		if !p.Brief {
			pool, err := q.ThreadPoolReader()
			if err != nil {
				return nil, err
			}
			timers, err := pool.Timers(q.ctx)
			if err != nil {
				return nil, err
			}
			p.Clock = timers.Clock
		}
		return r.Clients(q.ctx, h, p)
	})
}

// SignalR lists the hubs of ASP.NET Core SignalR with their connections and groups, and the circuits of Blazor.
func (v *View) SignalR(ctx context.Context) (*answer.SignalR, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.SignalR, error) {
		return r.SignalR(q.ctx, h, q.scanning("looking for hubs", heap.ScanOptions{}))
	})
}

// SessionOptions select what is listed of sessions.
type SessionOptions struct {
	web.SessionOptions
	Retained bool // with the memory that is freed with each
}

// Sessions lists the sessions of ASP.NET Core by user: those that requests have, and those that rest in a cache of the process.
func (v *View) Sessions(ctx context.Context, o ...SessionOptions) (*answer.Sessions, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.Sessions, error) {
		o := option(o)
		o.Scan = q.scanning("looking for sessions", o.Scan)
		p := web.Process{Heap: h, Walk: q.Walk, DumpTime: q.dump.file.Process().DumpTime}
		out, err := r.Sessions(q.ctx, p, o.SessionOptions)
		if err != nil || !o.Retained || len(out.Sessions) == 0 {
			return out, err
		}
		return out, q.retainSessions(out)
	})
}

// retainSessions adds the retained sizes of sessions.
func (q *question) retainSessions(out *answer.Sessions) error {
	holders, err := q.holders()
	if err != nil {
		return err
	}
	g := holders.Graph()
	d, err := g.Dominators(q.ctx)
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

// Redis lists the multiplexers of StackExchange.Redis, with the commands that wait for each server.
func (v *View) Redis(ctx context.Context) (*answer.Redis, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.Redis, error) {
		return r.Redis(q.ctx, h, q.scanning("looking for connections to Redis", heap.ScanOptions{}))
	})
}

// Queues lists the queues of log events of Serilog, and the queues and endpoints of MassTransit.
func (v *View) Queues(ctx context.Context) (*answer.Queues, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.Queues, error) {
		return r.Queues(q.ctx, h, q.scanning("looking for queues", heap.ScanOptions{}))
	})
}

// ObjectPools lists the pools of Microsoft.Extensions.ObjectPool.
func (v *View) ObjectPools(ctx context.Context) (*answer.ObjectPools, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.ObjectPools, error) {
		return r.ObjectPools(q.ctx, h, q.scanning("looking for pools", heap.ScanOptions{}))
	})
}

// WebSockets lists the WebSockets of servers and clients.
func (v *View) WebSockets(ctx context.Context) (*answer.WebSockets, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.WebSockets, error) {
		return r.WebSockets(q.ctx, h, q.scanning("looking for WebSockets", heap.ScanOptions{}))
	})
}

// GRPCCalls lists the calls of gRPC that the process sends and answers.
func (v *View) GRPCCalls(ctx context.Context) (*answer.GRPCCalls, error) {
	return webbed(ctx, v, func(q *question, r *web.Reader, h *heap.Heap) (*answer.GRPCCalls, error) {
		return r.GRPC(q.ctx, h, q.scanning("looking for calls of gRPC", heap.ScanOptions{}))
	})
}

// EventSources lists the event sources of the process, and who listens to them: EventListeners, sessions of EventPipe, and ETW.
func (v *View) EventSources(ctx context.Context) (*answer.EventSources, error) {
	return ask(ctx, v, func(q *question) (none *answer.EventSources, err error) {
		r, err := q.TracingReader()
		if err != nil {
			return none, err
		}
		h, err := q.namedHeap()
		if err != nil {
			return none, err
		}
		return found(r.Sources(q.ctx, h, q.scanning("looking for event sources", heap.ScanOptions{})))
	})
}

// ComWrappers lists the wrappers of System.Runtime.InteropServices.ComWrappers: managed objects for native code, and native ones for managed code.
func (v *View) ComWrappers(ctx context.Context) (*answer.ComWrappers, error) {
	return ask(ctx, v, func(q *question) (none *answer.ComWrappers, err error) {
		r, err := q.InteropReader()
		if err != nil {
			return none, err
		}
		h, err := q.namedHeap()
		if err != nil {
			return none, err
		}
		return found(r.Wrappers(q.ctx, h, q.scanning("looking for wrappers", heap.ScanOptions{})))
	})
}

// SQLPoolOptions select what is listed of pools.
type SQLPoolOptions struct {
	sqlpools.Options
	Brief bool // leaves out who uses the connections
}

// SQLPools lists the pools of connections to databases: how many are idle, what runs on the others, and who waits for one.
func (v *View) SQLPools(ctx context.Context, o ...SQLPoolOptions) (*answer.SQLPools, error) {
	return ask(ctx, v, func(q *question) (*answer.SQLPools, error) {
		o := option(o)
		r, err := q.SQLPoolReader()
		if err != nil {
			return nil, err
		}
		h, err := q.namedHeap()
		if err != nil {
			return nil, err
		}
		p := sqlpools.Process{Heap: h, Scan: q.scanning("looking for pools", heap.ScanOptions{}), Walk: q.Walk}
		if !o.Brief {
			p.Threads, err = q.Threads()
			q.note(err)
			p.Roots, err = q.RootReader()
			q.note(err)
			p.Tasks, err = q.TaskReader()
			q.note(err)
		}
		return found(r.Pools(q.ctx, p, o.Options))
	})
}

// hosted computes an answer by the reader of the host's services.
func hosted[T any](ctx context.Context, v *View, work string,
	read func(*hosting.Reader, context.Context, *heap.Heap, heap.ScanOptions) (T, error)) (T, error) {
	return ask(ctx, v, func(q *question) (none T, err error) {
		r, err := q.HostingReader()
		if err != nil {
			return none, err
		}
		h, err := q.namedHeap()
		if err != nil {
			return none, err
		}
		return found(read(r, q.ctx, h, q.scanning(work, heap.ScanOptions{})))
	})
}

// ServiceScopes lists the scopes of dependency injection, and what each will dispose.
func (v *View) ServiceScopes(ctx context.Context) (*answer.ServiceScopes, error) {
	return hosted(ctx, v, "looking for scopes", (*hosting.Reader).Scopes)
}

// Caches lists the memory caches of the program.
func (v *View) Caches(ctx context.Context) (*answer.MemoryCaches, error) {
	return hosted(ctx, v, "looking for caches", (*hosting.Reader).Caches)
}

// Hosts lists the generic hosts of the program, with the states of their services.
func (v *View) Hosts(ctx context.Context) (*answer.Hosts, error) {
	return hosted(ctx, v, "looking for hosts", func(r *hosting.Reader, ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.Hosts, error) {
		t, err := v.TaskReader()
		if err != nil {
			return nil, err
		}
		return r.Hosts(ctx, h, t, o)
	})
}

// DbContexts lists the contexts of Entity Framework Core.
func (v *View) DbContexts(ctx context.Context) (*answer.DbContexts, error) {
	return hosted(ctx, v, "looking for contexts", (*hosting.Reader).DbContexts)
}

// FlowOptions choose code. The zero value chooses all threads and all suspended async methods.
type FlowOptions struct {
	Object *target.Addr // only what flows with this Thread, ExecutionContext or async method, if not nil
	Thread *Thread      // only what flows with this thread, if not nil
}

// Flows lists what flows with threads and async methods: activities with their trace ids, log scopes, values of AsyncLocals.
func (v *View) Flows(ctx context.Context, o ...FlowOptions) (*answer.Flows, error) {
	return ask(ctx, v, func(q *question) (*answer.Flows, error) {
		o := option(o)
		b, err := q.Shapes()
		if err != nil {
			return nil, err
		}
		items, err := q.Collections()
		if err != nil {
			return nil, err
		}
		out := &answer.Flows{Flows: []answer.Flow{}}
		r := flows.New(shapes.Reading{Gaps: &out.Gaps, Binder: b}, items)
		if o.Object != nil {
			object, err := b.Objects().Proven(*o.Object)
			if err != nil {
				return nil, err
			}
			out.Flows, err = r.Of(object)
			return out, err
		}
		p := flows.Process{Walk: q.Walk, Scan: q.scanning("looking for async methods", heap.ScanOptions{})}
		if o.Thread != nil {
			p.Threads = []Thread{*o.Thread}
			return out, r.List(q.ctx, p, out)
		}
		if p.Threads, err = q.threads(); err != nil {
			return nil, err
		}
		if p.Tasks, err = q.TaskReader(); err != nil {
			return nil, err
		}
		if p.Heap, err = q.namedHeap(); err != nil {
			return nil, err
		}
		return out, r.List(q.ctx, p, out)
	})
}
