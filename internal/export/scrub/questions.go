package scrub

import (
	"context"
	"encoding/json"
	"io"
	"reflect"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/contexts"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/internal/app/modules"
	"github.com/sosgo/sosgo/internal/app/settings"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
)

// A question is asked about the original dump. The native memory that its answer reads stays in the new one, so that the
// question has the same answer there.
type question func(ctx context.Context, p *process.Process) (any, error)

// as makes a question of a function with options.
func as[A, O any](f func(context.Context, *process.Process, O) (A, error), o O) question {
	return func(ctx context.Context, p *process.Process) (any, error) { return f(ctx, p, o) }
}

// plain makes a question of a function without options.
func plain[A any](f func(context.Context, *process.Process) (A, error)) question {
	return func(ctx context.Context, p *process.Process) (any, error) { return f(ctx, p) }
}

// structure has the questions that a scrubbed dump answers. Objects stay in any case.
var structure = []question{
	plain(modules.DescribeRuntimes), plain(modules.EEVersion), as(modules.Images, image.ListOptions{}), as(modules.Assemblies, nil),
	as(stacks.ManagedThreads, stacks.ManagedOptions{ManagedOptions: threads.ManagedOptions{Special: true}}), plain(stacks.OSThreads),
	plain(memory.RuntimeHeaps), as(memory.Generations, memory.GenerationsOptions{}),
	func(ctx context.Context, p *process.Process) (any, error) { return memory.Handles(ctx, p) },
	as(stacks.SyncBlocks, threads.SyncBlockOptions{All: true}),
	func(ctx context.Context, p *process.Process) (any, error) { return modules.Domains(ctx, p) },
	as(locks.ThreadPool, threadpool.Options{}), as(stacks.Stacks, stacks.Options{}),
	as(stacks.Stacks, stacks.Options{StackOptions: threads.StackOptions{Native: true}}),
	as(stacks.AllStackObjects, threads.ObjectOptions{}), returnAddresses, exceptions,
	as(memory.Exceptions, memory.HeapOptions{}), as(memory.Finalizers, heap.FinalizerOptions{}), as(crash.Describe, crash.Options{}),
	as(triage.Triage, triage.Options{NoHeap: true}), as(locks.Locks, locks.Options{}), as(locks.Waits, locks.Options{}),
	as(async.Tasks, tasks.ListOptions{}), as(memorymap.Memory, memorymap.Options{}), plain(contexts.LoadContexts), plain(threadpool.Timers),
	as(settings.Process, settings.ProcessOptions{}), plain(locks.Initializers),
	func(ctx context.Context, p *process.Process) (any, error) { return memory.StressLog(ctx, p, 0) },
	as(values.Statics, objects.StaticsOptions{}),
	func(_ context.Context, p *process.Process) (any, error) { return doctor.Of(p, doctor.Options{}), nil },
	plain(memory.OutOfMemory), as(web.Requests, web.RequestOptions{}), as(async.Stacks, async.StackOptions{}), as(stacks.Profile, threads.ProfileOptions{}),
}

// reasons has further questions that a shrunk dump answers, with texts and numbers of objects.
var reasons = []question{
	as(triage.Triage, triage.Options{}), as(leaks.Leaks, leaks.Options{}), as(memory.Retained, graph.RetainedOptions{}),
	as(memory.Dominators, graph.TreeOptions{}), as(memory.HeapStats, memory.HeapOptions{}), as(web.Messages, web.MessageOptions{}),
	as(web.HTTPClients, web.ClientOptions{}), as(sqlpools.SQLPools, sqlpools.Options{}), plain(hosting.DbContexts), plain(hosting.Caches),
	as(flows.Flows, flows.Options{}), plain(web.GRPCCalls), plain(hosting.Hosts), plain(web.ObjectPools), plain(web.Redis), plain(hosting.ServiceScopes),
	plain(web.SignalR), as(web.Sessions, web.SessionOptions{}), plain(web.Sockets), as(async.Calls, tasks.StackOptions{}), plain(threadpool.WorkQueues),
	plain(web.Queues), as(stacks.Stacks, stacks.Options{StackOptions: threads.StackOptions{Arguments: true, Locals: true}}),
	as(stacks.ParallelStacks, threads.ParallelOptions{}), plain(memory.GC), as(memory.VerifyHeap, memory.HeapOptions{}),
}

// returnAddresses lists the addresses on the stack of each thread.
func returnAddresses(ctx context.Context, p *process.Process) (any, error) {
	return eachThread(p, func(t *stackwalk.Thread) (any, error) {
		return stacks.ReturnAddresses(ctx, p, t, threads.ReturnOptions{})
	})
}

// exceptions describes the exceptions of all threads, with those that they were handling.
func exceptions(ctx context.Context, p *process.Process) (any, error) {
	return eachThread(p, func(t *stackwalk.Thread) (any, error) {
		return crash.Exception(ctx, p, t, crash.ExceptionOptions{Nested: true})
	})
}

func eachThread(p *process.Process, ask func(*stackwalk.Thread) (any, error)) (any, error) {
	list, err := p.Threads()
	if err != nil {
		return nil, err
	}
	var out []any
	for i := range list {
		if a, err := ask(&list[i]); err == nil {
			out = append(out, a)
		}
	}
	return out, nil
}

// exercise asks questions and reads their answers to the end. An answer that fails reads what it can.
func exercise(ctx context.Context, d *process.Dump, runtime string, questions []question) {
	p, _ := d.Process(runtime) // the process keeps the error
	for _, ask := range questions {
		if a, err := ask(ctx, p); err == nil {
			drain(reflect.ValueOf(a))
		}
	}
}

// drain reads an answer with all its lists, as its JSON does.
func drain(v reflect.Value) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
	case v.Kind() == reflect.Func && v.Type().CanSeq2():
		for row, err := range v.Seq2() {
			if err.IsNil() {
				drain(row)
			}
		}
	case v.Type() == reflect.TypeFor[[]any]():
		for i := range v.Len() {
			drain(v.Index(i))
		}
	default:
		_ = json.NewEncoder(io.Discard).Encode(v.Interface())
	}
}
