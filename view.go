package sosgo

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A View is the process in a dump as one of its runtimes sees it. It is safe for concurrent use. Each of its own
// methods calls a function of another package; that package also has functions for related questions.
type View struct {
	*process.Process
}

// Threads returns a copy of the list of threads; see process.Process.Threads.
func (v *View) Threads() ([]stackwalk.Thread, error) {
	list, err := v.Process.Threads()
	return slices.Clone(list), err
}

// Triage lists the problems of the process by severity; see triage.Triage.
func (v *View) Triage(ctx context.Context, o triage.Options) (*answer.Triage, error) {
	return triage.Triage(ctx, v.Process, o)
}

// Crash describes why the process died; see crash.Describe.
func (v *View) Crash(ctx context.Context, o crash.Options) (*answer.Crash, error) {
	return crash.Describe(ctx, v.Process, o)
}

// Waits lists what threads and suspended async methods wait for, with the resulting chains; see locks.Waits.
func (v *View) Waits(ctx context.Context, o locks.Options) (*answer.Waits, error) {
	return locks.Waits(ctx, v.Process, o)
}

// ThreadPool describes the thread pool; see threadpool.Pool.
func (v *View) ThreadPool(ctx context.Context, o threadpool.Options) (*answer.ThreadPool, error) {
	return threadpool.Pool(ctx, v.Process, o)
}

// AsyncStacks lists the stacks of suspended async methods; see async.Stacks.
func (v *View) AsyncStacks(ctx context.Context, o async.StackOptions) (*answer.Async, error) {
	return async.Stacks(ctx, v.Process, o)
}

// Requests lists the web requests that the process is handling; see web.Requests.
func (v *View) Requests(ctx context.Context, o web.RequestOptions) (*answer.Requests, error) {
	return web.Requests(ctx, v.Process, o)
}

// Stacks lists the stacks of threads; see stacks.Stacks.
func (v *View) Stacks(ctx context.Context, o stacks.Options) (*answer.Stacks, error) {
	return stacks.Stacks(ctx, v.Process, o)
}

// HeapStats counts the objects of the heap by type; see memory.HeapStats.
func (v *View) HeapStats(ctx context.Context, o memory.HeapOptions) (*answer.Listing, error) {
	return memory.HeapStats(ctx, v.Process, o)
}

// HeapObjects lists the objects of the heap; see memory.HeapObjects.
func (v *View) HeapObjects(ctx context.Context, o memory.HeapOptions) (*answer.Listing, error) {
	return memory.HeapObjects(ctx, v.Process, o)
}

// Leaks lists what retains much of the heap; see leaks.Leaks.
func (v *View) Leaks(ctx context.Context, o leaks.Options) (*answer.Leaks, error) {
	return leaks.Leaks(ctx, v.Process, o)
}

// GCRoot lists what keeps an object alive; see memory.GCRoot.
func (v *View) GCRoot(ctx context.Context, object target.Addr, o graph.HoldOptions) (*answer.RootPaths, error) {
	return memory.GCRoot(ctx, v.Process, object, o)
}

// Retained counts the bytes that would be free without the objects of each type; see memory.Retained.
func (v *View) Retained(ctx context.Context, o graph.RetainedOptions) (*answer.Retained, error) {
	return memory.Retained(ctx, v.Process, o)
}

// Memory divides the memory of the process by use; see memorymap.Memory.
func (v *View) Memory(ctx context.Context, o memorymap.Options) (*answer.MemoryMap, error) {
	return memorymap.Memory(ctx, v.Process, o)
}

// Describe describes an object; see values.Describe.
func (v *View) Describe(ctx context.Context, object target.Addr, o values.DescribeOptions) (*answer.Object, error) {
	return values.Describe(ctx, v.Process, object, o)
}

// Resolve describes an address; see resolve.Address.
func (v *View) Resolve(ctx context.Context, a target.Addr) *answer.Address {
	return resolve.Address(ctx, v.Process, a)
}

// Query runs a query in the query language; see rows.Query.
func (v *View) Query(ctx context.Context, text string, o query.Options) (*answer.Query, error) {
	return rows.Query(ctx, v.Process, text, o)
}

// Evaluate evaluates an expression in C# syntax; see rows.Evaluate.
func (v *View) Evaluate(ctx context.Context, expression string, o rows.EvaluateOptions) (*answer.Evaluations, error) {
	return rows.Evaluate(ctx, v.Process, expression, o)
}

// DiagnoseOptions select the content of a diagnosis.
type DiagnoseOptions struct {
	Members bool // lists every member of the runtime's layout
}

// Diagnose reports everything that may prevent answers: what the dump holds and how it is read.
func (v *View) Diagnose(o DiagnoseOptions) *answer.Diagnosis { return doctor.Of(v.Process, o.Members) }
