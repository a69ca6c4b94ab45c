package triage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/contexts"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Answers holds the input of a triage: answers of other packages about one process. The zero Answers is empty.
type Answers struct {
	Crash       Part[*answer.Crash]
	Waits       Part[*answer.Waits]
	ThreadPool  Part[*answer.ThreadPool]
	SQLPools    Part[*answer.SQLPools]
	Redis       Part[*answer.Redis]
	Requests    Part[*answer.Requests] // that the process serves
	HTTPClients Part[*answer.HTTPClients]
	Tasks       Part[*answer.Tasks] // including failed ones
	Hosts       Part[*answer.Hosts]
	TypeInits   Part[*answer.Initializers]
	OutOfMemory Part[*answer.OutOfMemory]
	GCSettings  Part[[]answer.GCSetting]
	FreeSpace   Part[*answer.Fragmentation]
	Handles     Part[*answer.Handles] // of all types
	Native      Part[*memorymap.Native]
	Leaks       Part[*answer.Leaks]
	VerifyHeap  Part[*answer.Soundness]
	Contexts    Part[*answer.LoadContexts]

	Taken    time.Time                      // when the dump was taken; zero if that is unknown
	Premises answer.Premises                // of the process; nil if all of them hold
	Stacks   map[uint32]answer.PremiseState // of threads by OS id; nil if Premises says it for all of them

	rules    *signature.Rules // of Options
	fieldsTo func(context.Context, []target.Range) ([]memorymap.PointerField, error)
	timers   func(context.Context) (*answer.Timers, error)

	overwritten func(context.Context, []answer.Fault) []answer.Verdict // about the object that faults of the heap lead to
}

// stack returns the state of the stack of a thread.
func (q *Answers) stack(thread uint32) answer.PremiseState {
	if state, ok := q.Stacks[thread]; ok {
		return state
	}
	return q.Premises.State(answer.StackComplete)
}

// A Part is one answer with its error. The zero Part was not read.
type Part[T any] struct {
	value T
	err   error
	read  bool
}

// Got returns the Part of an answer that was read.
func Got[T any](value T, err error) Part[T] { return Part[T]{value, err, true} }

// errNotRead is the error of a Part that was not read.
var errNotRead = fmt.Errorf("not asked for: %w", target.ErrUnsupported)

func (p Part[T]) get() (T, error) {
	if !p.read {
		return p.value, errNotRead
	}
	return p.value, p.err
}

// Get returns the answer and its error. The error of a Part that was not read is target.ErrUnsupported.
func (p Part[T]) Get() (T, error) { return p.get() }

// Read reads the answers about a process. Each Part has its own error. The error is ctx's.
func Read(ctx context.Context, p *process.Process, o Options) (*Answers, error) {
	return process.Answer(ctx, p, func(ctx context.Context, _ *process.Call) (*Answers, error) {
		return read(process.WithoutNotes(ctx), p, o) // the triage names what could not be read
	})
}

func read(ctx context.Context, p *process.Process, o Options) (*Answers, error) {
	a := &Answers{Premises: p.Premises(), Taken: p.Target().Process().DumpTime, fieldsTo: func(ctx context.Context, to []target.Range) ([]memorymap.PointerField, error) {
		return memorymap.PointerFields(ctx, p, to)
	}, timers: func(ctx context.Context) (*answer.Timers, error) { return threadpool.Timers(ctx, p) }, overwritten: func(ctx context.Context, faults []answer.Fault) []answer.Verdict {
		return memory.OverwrittenObject(ctx, p, faults)
	}}
	if a.Premises[answer.StackComplete] != answer.PremiseHolds {
		a.Stacks = p.StackStates() // Premises has the error of a list that is cut
	}
	waits := sync.OnceValues(func() (*answer.Waits, error) { return locks.Waits(ctx, p, locks.Options{NoGraph: o.NoHeap}) })
	steps := []func(){
		func() { a.Waits = Got(waits()) },
		func() { a.Crash = Got(crash.Describe(ctx, p, crash.Options{NoHeap: o.NoHeap, Waits: waits})) },
		func() {
			a.ThreadPool = Got(threadpool.Pool(ctx, p, threadpool.Options{Items: true}, waits, locks.Pauses(ctx, p)))
		},
		func() { a.SQLPools = Got(sqlpools.SQLPools(ctx, p, sqlpools.Options{})) },
		func() { a.HTTPClients = Got(clients(ctx, p)) },
		func() { a.Redis = Got(web.Redis(ctx, p)) },
		func() { a.Requests = Got(readServed(ctx, p)) },
		func() { a.Tasks = Got(async.Tasks(ctx, p, tasks.ListOptions{Faulted: true})) },
		func() { a.Hosts = Got(hosting.Hosts(ctx, p)) },
		func() { a.TypeInits = Got(locks.Initializers(ctx, p)) },
		func() { a.OutOfMemory = Got(memory.OutOfMemory(ctx, p)) },
		func() { a.GCSettings = Got(memory.GCSettings(p)) },
		func() { a.FreeSpace = Got(memory.Fragmentation(ctx, p)) },
		func() { a.Handles = Got(memory.Handles(ctx, p)) },
		func() { a.Native = Got(memorymap.NativeMemory(ctx, p)) },
	}
	if !o.NoHeap {
		_, _ = p.Graph(ctx, graph.Options{Census: true}) // one walk for all; the answers that use the graph report its error
		steps = append(steps, func() { a.Leaks = Got(leaks.Leaks(ctx, p, leaks.Options{})) })
		if !o.Brief {
			steps = append(steps,
				func() { a.VerifyHeap = Got(memory.Soundness(ctx, p)) },
				func() { a.Contexts = Got(contexts.LoadContexts(ctx, p)) })
		}
	}
	return a, workers.Each(ctx, max(o.Jobs, 1), len(steps), func(i int) { steps[i]() })
}

// clients reads the HttpClients. The code behind requests and their ages take long: they are read if requests wait for a connection or an answer.
func clients(ctx context.Context, p *process.Process) (*answer.HTTPClients, error) {
	list, err := web.HTTPClients(ctx, p, web.ClientOptions{Brief: true})
	if err != nil || !slices.ContainsFunc(list.Pools, func(p answer.HTTPPool) bool { return len(p.Waiting)+len(p.Running) > 0 }) {
		return list, err
	}
	return web.HTTPClients(ctx, p, web.ClientOptions{Unnamed: true})
}
