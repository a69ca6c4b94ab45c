// Package rows supplies the rows of queries about a process: threads, frames, tasks, requests and other sources besides
// the heap's objects. It also runs queries and expressions with them. Package query implements the language. Start with
// Query, Evaluate and Sources.
package rows

import (
	"context"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Env returns the environment for queries and expressions about a process, with this package's sources. Callers may add
// variables and select the current thread.
func Env(p *process.Process) (*query.Env, error) {
	env, err := query.NewEnv(p)
	if err != nil {
		return nil, err
	}
	env.Sources = sources(p)
	return env, nil
}

// env returns Env for an answer.
func env(c *process.Call) (*query.Env, error) {
	e, err := Env(c.Process)
	if err != nil {
		return nil, err
	}
	e.Scan = c.Scan("asking the heap", e.Scan)
	return e, nil
}

// Query answers a query in the query language, such as "from objects of Order | where Total > 100 | select count()", or
// in SQL. A malformed query gives a *query.Error.
func Query(ctx context.Context, p *process.Process, text string, o query.Options) (*answer.Query, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Query, error) {
		e, err := env(c)
		if err != nil {
			return nil, err
		}
		return query.Run(ctx, e, text, o)
	})
}

// EvaluateOptions selects the context of an expression.
type EvaluateOptions struct {
	Thread *stackwalk.Thread // the thread for registers (@rip) and thread statics
}

// Evaluate evaluates an expression in C# syntax, or several separated by commas: "Contoso.Cache.s_items.Count". A value
// that could not be computed carries the reason, and the error is the first such reason. It is query.ErrNoThread for a
// register or a thread static if o has no thread.
func Evaluate(ctx context.Context, p *process.Process, expression string, o EvaluateOptions) (*answer.Evaluations, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Evaluations, error) {
		e, err := env(c)
		if err != nil {
			return nil, err
		}
		return query.Evaluate(ctx, e.OfThread(o.Thread), expression)
	})
}

// Sources returns the sources of queries, the heap's sources first. They have columns but no rows.
func Sources() []query.Source {
	list := append(query.HeapSources(), sources(nil)...)
	for i := range list {
		list[i].Rows = nil
	}
	return list
}

// sources returns the sources of rows other than the heap's.
func sources(p *process.Process) []query.Source {
	return []query.Source{
		query.NewSource(query.Source{Name: "threads", Summary: "threads of the process", Of: []string{"System.Exception"}}, of(p, threadRows)),
		query.NewSource(query.Source{Name: "frames", Summary: "frames of the stacks of all threads"}, of(p, frameRows)),
		query.NewSource(query.Source{Name: "tasks", Summary: "tasks, and the boxes of async methods that are none",
			Of: []string{"System.Threading.Tasks.Task", "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder+StateMachineBox"}}, of(p, taskRows)),
		query.NewSource(query.Source{Name: "requests", Summary: "web requests that the process works on",
			Of: []string{"Microsoft.AspNetCore.Http.HttpContext"}}, of(p, requestRows)),
		query.NewSource(query.Source{Name: "sessions", Summary: "sessions of ASP.NET Core in the process",
			Of: []string{"Microsoft.AspNetCore.Session.DistributedSession", "Microsoft.AspNetCore.Session.DistributedSessionStore"}}, of(p, sessionRows)),
		query.NewSource(query.Source{Name: "roots", Summary: "what keeps objects alive"}, of(p, rootRows)),
		query.NewSource(query.Source{Name: "handles", Summary: "GC handles, also weak ones"}, of(p, handleRows)),
		query.NewSource(query.Source{Name: "statics", Summary: "static fields of all loaded types"}, of(p, staticRows)),
		query.NewSource(query.Source{Name: "types", Summary: "loaded types, with their objects"}, of(p, typeRows)),
		query.NewSource(query.Source{Name: "modules", Summary: "managed modules"}, of(p, moduleRows)),
	}
}

// of binds a function of a process to the process.
func of[R any](p *process.Process, rows func(context.Context, *process.Process) iter.Seq2[R, error]) func(context.Context) iter.Seq2[R, error] {
	return func(ctx context.Context) iter.Seq2[R, error] { return rows(ctx, p) }
}

// rowsOf returns a row for each item of a list.
func rowsOf[T, R any](list iter.Seq2[T, error], row func(T) R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for item, err := range list {
			if err != nil {
				if !yield(*new(R), err) {
					return
				}
				continue
			}
			if !yield(row(item), nil) {
				return
			}
		}
	}
}

// listed yields errs and then the items of a list.
func listed[T any](list []T, errs ...error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, err := range errs {
			if err != nil && !yield(*new(T), err) {
				return
			}
		}
		for _, item := range list {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// textOf returns a column with t.
func textOf(t answer.Text) query.Opt[string] { return query.SomeOr(t.S, t.Err) }

// orNull returns a column with s, or null if s is empty.
func orNull(s string) query.Opt[string] { return query.SomeIf(s, s != "") }

// textOrNull returns a column with t, or null if t is empty and readable.
func textOrNull(t answer.Text) query.Opt[string] {
	if t.Err == nil {
		return orNull(t.S)
	}
	return query.Unread[string](t.Err)
}

// lineOrNull returns a column with a line number, or null if it is unknown.
func lineOrNull(n int) query.Opt[uint64] { return query.SomeIf(uint64(max(n, 0)), n > 0) }

// addressOrNull returns a column with an address, or null if a is 0.
func addressOrNull(a target.Addr) query.Opt[target.Addr] { return query.SomeIf(a, a != 0) }

type threadRow struct {
	Index     query.Opt[int64]       `row:"index" doc:"number among the threads of the OS"`
	OSID      query.Opt[target.Addr] `row:"osid" doc:"OS id"`
	ManagedID query.Opt[uint64]      `row:"managed" doc:"managed id, null for a thread that never ran managed code"`
	Name      query.Opt[string]      `row:"name" doc:"name"`
	User      query.Opt[float64]     `row:"user" doc:"processor time of its own code, in seconds"`
	Kernel    query.Opt[float64]     `row:"kernel" doc:"processor time of the system for it, in seconds"`
	Exception query.Opt[query.Ref]   `row:"exception,object" doc:"exception thrown last"`
	Thread    query.Opt[target.Addr] `row:"thread,hidden" doc:"address of the runtime's Thread"`
	IP        query.Opt[target.Addr] `row:"ip,hidden" doc:"instruction pointer"`
	SP        query.Opt[target.Addr] `row:"sp,hidden" doc:"stack pointer"`
}

func threadRows(_ context.Context, p *process.Process) iter.Seq2[threadRow, error] {
	list, err := p.Threads()
	return rowsOf(listed(list, err), func(t stackwalk.Thread) threadRow {
		row := newThreadRow(t)
		user, kernel := threads.Times(p.Target(), &t)
		row.User, row.Kernel = query.SomeOr(float64(user.Value), user.Err()), query.SomeOr(float64(kernel.Value), kernel.Err())
		return row
	})
}

func newThreadRow(t stackwalk.Thread) threadRow {
	row := threadRow{Index: query.SomeIf(int64(t.Index), t.Index >= 0), Name: query.SomeOr(t.Name())}
	if t.OS != nil {
		row.OSID = query.Some(target.Addr(t.ID()))
		row.IP, row.SP = register(t.OS.Registers.IP()), register(t.OS.Registers.SP())
	}
	if m := t.Managed; m != nil {
		row.Thread = query.Some(m.Addr)
		row.ManagedID = query.Some(uint64(m.ManagedID))
		if m.Unknown != nil {
			row.ManagedID = query.Unread[uint64](target.ErrUnsupported)
		}
		row.Exception = query.SomeOr(query.Ref(m.LastThrown), m.LastThrownError)
	}
	return row
}

// register returns a column with the value of a register.
func register(a target.Addr, known bool) query.Opt[target.Addr] {
	if !known {
		return query.Unread[target.Addr](target.ErrNotInDump)
	}
	return query.Some(a)
}

type frameRow struct {
	Thread     target.Addr            `row:"thread" doc:"OS id of the thread"`
	Number     uint64                 `row:"frame" doc:"number of the frame, 0 is the innermost"`
	Method     query.Opt[string]      `row:"method" doc:"managed method; null for other frames"`
	File       query.Opt[string]      `row:"file" doc:"source file"`
	Line       query.Opt[uint64]      `row:"line" doc:"line of the source file"`
	Kind       string                 `row:"kind,hidden" doc:"managed, explicit or native"`
	Module     query.Opt[string]      `row:"module,hidden" doc:"file name of the module"`
	IP         query.Opt[target.Addr] `row:"ip,hidden" doc:"instruction pointer"`
	SP         query.Opt[target.Addr] `row:"sp,hidden" doc:"stack pointer"`
	MethodDesc query.Opt[target.Addr] `row:"md,hidden" doc:"MethodDesc"`
	Name       query.Opt[string]      `row:"name,hidden" doc:"the method, or the class of an explicit frame"`
}

func frameRows(ctx context.Context, p *process.Process) iter.Seq2[frameRow, error] {
	return func(yield func(frameRow, error) bool) {
		list, err := p.Threads()
		if err != nil && !yield(frameRow{}, err) {
			return
		}
		for i := range list {
			if !framesOf(ctx, p, &list[i], yield) {
				return
			}
		}
	}
}

// framesOf yields the frames of a managed thread. An early end of the walk is an error of the sequence.
func framesOf(ctx context.Context, p *process.Process, t *stackwalk.Thread, yield func(frameRow, error) bool) bool {
	if t.Managed == nil || t.OS == nil {
		return true
	}
	var gaps answer.Gaps
	d := threads.NewDescriber(threads.DescribeOptions{Source: true}, &gaps)
	n := uint64(0)
	for f := range p.Walk(ctx, t, stackwalk.WalkOptions{}) {
		a := d.Frame(&f)
		row := frameRow{
			Thread: target.Addr(t.ID()), Number: n, File: orNull(a.File), Line: lineOrNull(a.Line), Kind: string(a.Kind), Module: orNull(a.Module),
			IP: query.SomeOr(a.IP.Value, a.IP.Err()), SP: query.SomeOr(a.SP.Value, a.SP.Err()), MethodDesc: addressOrNull(a.MethodDesc), Name: textOf(a.Method),
		}
		if f.Kind == stackwalk.FrameManaged {
			row.Method = textOf(a.Method)
		}
		if a.Method.IsZero() {
			row.Name = orNull(a.Class)
		}
		n++
		if !yield(row, nil) || a.Err.Err != nil && !yield(frameRow{}, a.Err.Err) {
			return false
		}
	}
	return ctx.Err() == nil
}

type taskRow struct {
	Task   query.Ref              `row:"task,object" doc:"the object"`
	Status string                 `row:"status" doc:"value of Task.Status; Pooled for a box that is no task"`
	Method query.Opt[string]      `row:"method" doc:"the async method, null for other tasks"`
	State  query.Opt[int64]       `row:"state" doc:"number of the await at which it is suspended; negative if it is not; null without an async method"`
	Awaits query.Opt[string]      `row:"awaits" doc:"the method whose result is awaited, null if the code does not show it"`
	Name   query.Opt[string]      `row:"name,hidden" doc:"the state machine, or the type with the method that a task runs"`
	Flags  query.Opt[target.Addr] `row:"flags,hidden" doc:"m_stateFlags"`
	File   query.Opt[string]      `row:"file,hidden" doc:"source file of the await"`
	Line   query.Opt[uint64]      `row:"line,hidden" doc:"line of the source file"`
}

func taskRows(ctx context.Context, p *process.Process) iter.Seq2[taskRow, error] {
	r, err := tasks.Of(p)
	if err != nil {
		return listed[taskRow](nil, err)
	}
	h, err := p.Heap()
	if err != nil {
		return listed[taskRow](nil, err)
	}
	set, err := r.Collect(ctx, h, heap.ScanOptions{Jobs: p.Dump().Jobs()})
	if err != nil {
		return listed[taskRow](nil, err)
	}
	return func(yield func(taskRow, error) bool) {
		var gaps answer.Gaps
		if err := set.Note(&gaps); err != nil && !yield(taskRow{}, err) {
			return
		}
		for _, err := range slices.Concat(gaps.Noted(), h.Warnings()) {
			if !yield(taskRow{}, err) {
				return
			}
		}
		for row, err := range rowsOf(set.Each(ctx), newTaskRow) {
			if !yield(row, err) {
				return
			}
		}
	}
}

func newTaskRow(f *answer.AsyncFrame) taskRow {
	row := taskRow{Task: query.Ref(f.Object), Status: string(f.Status), Name: textOf(f.AsyncName.Name)}
	if f.Kind == answer.AsyncPooled {
		row.Status = string(answer.StatusPooled)
	} else {
		row.Flags = query.Some(target.Addr(f.Flags))
	}
	if f.State != nil {
		row.State = query.Some(int64(*f.State))
	}
	if p := &f.AsyncPlace; !p.Method.IsZero() {
		row.Method, row.Awaits, row.File, row.Line = textOf(p.Method), orNull(p.Await.S), orNull(p.File), lineOrNull(p.Line)
	}
	return row
}

type requestRow struct {
	Context    query.Ref         `row:"context,object" doc:"its HttpContext, null while it is still being read"`
	Method     query.Opt[string] `row:"method" doc:"GET, POST …"`
	Path       query.Opt[string] `row:"path" doc:"the path"`
	Query      query.Opt[string] `row:"query" doc:"the query, with its question mark"`
	Status     query.Opt[int64]  `row:"status" doc:"status code of the response so far"`
	State      query.Opt[string] `row:"state" doc:"what the server is doing"`
	Route      query.Opt[string] `row:"route,hidden" doc:"pattern of its route"`
	User       query.Opt[string] `row:"user,hidden" doc:"name of the authenticated user"`
	Host       query.Opt[string] `row:"host,hidden" doc:"the header Host"`
	Protocol   query.Opt[string] `row:"protocol,hidden" doc:"version of HTTP"`
	Connection query.Opt[string] `row:"connection,hidden" doc:"id of the connection"`
	Server     string            `row:"server,hidden" doc:"Kestrel, IIS, HTTP.sys, features or unknown"`
	Exception  query.Ref         `row:"exception,hidden" doc:"exception that the application threw"`
}

func requestRows(ctx context.Context, p *process.Process) iter.Seq2[requestRow, error] {
	r, err := web.Of(p)
	if err != nil {
		return listed[requestRow](nil, err)
	}
	h, err := p.Heap()
	if err != nil {
		return listed[requestRow](nil, err)
	}
	out, err := r.Requests(ctx, p, h, web.RequestOptions{Brief: true, Scan: heap.ScanOptions{Jobs: p.Dump().Jobs()}})
	if err != nil {
		return listed[requestRow](nil, err)
	}
	return rowsOf(listed(out.Requests, out.Noted()...), func(r answer.Request) requestRow { return newRequestRow(&r) })
}

func newRequestRow(r *answer.Request) requestRow {
	return requestRow{
		Context: query.Ref(r.Context), Method: textOrNull(r.Method), Path: textOrNull(r.Path), Query: textOrNull(r.Query),
		Status: query.SomeOr(r.Status.Value, r.Status.Err()), State: orNull(r.State), Route: textOrNull(r.Route), User: textOrNull(r.User),
		Host: textOrNull(r.Host), Protocol: textOrNull(r.Protocol), Connection: textOrNull(r.Conn), Server: r.Server, Exception: query.Ref(r.Exception),
	}
}

type sessionRow struct {
	Key      query.Opt[string] `row:"key" doc:"key under which it rests"`
	User     query.Opt[string] `row:"user" doc:"name of its user, of its request or one of its values"`
	Bytes    int64             `row:"bytes" doc:"bytes of its data in this process"`
	Values   int64             `row:"values" doc:"number of its values"`
	Requests int64             `row:"requests" doc:"requests that have it"`
	Entry    query.Ref         `row:"entry,object" doc:"its cache entry, null if it does not rest in this process"`
	Session  query.Ref         `row:"session" doc:"the first DistributedSession with its key"`
	ID       query.Opt[string] `row:"id,hidden" doc:"ISession.Id"`
	Store    query.Ref         `row:"store,hidden" doc:"the IDistributedCache in which it rests"`
}

func sessionRows(ctx context.Context, p *process.Process) iter.Seq2[sessionRow, error] {
	out, err := web.Sessions(ctx, p, web.SessionOptions{})
	if err != nil {
		return listed[sessionRow](nil, err)
	}
	return rowsOf(listed(out.Sessions, out.Noted()...), func(s answer.Session) sessionRow { return newSessionRow(&s) })
}

func newSessionRow(s *answer.Session) sessionRow {
	row := sessionRow{Key: textOrNull(s.Key), User: textOrNull(s.User), Bytes: s.Bytes, Values: int64(len(s.Values) + s.MoreValues),
		ID: textOrNull(s.ID), Store: query.Ref(s.Store)}
	if s.Rests != nil {
		row.Entry = query.Ref(s.Rests.Entry)
	}
	for i := range s.Live {
		if s.Live[i].Request != 0 {
			row.Requests++
		}
		if i == 0 {
			row.Session = query.Ref(s.Live[0].Address)
		}
	}
	return row
}

type rootRow struct {
	Kind   string                 `row:"kind" doc:"handle, finalizer, stack or thread statics"`
	Object query.Ref              `row:"object,object" doc:"the object that it refers to"`
	Root   query.Opt[target.Addr] `row:"root" doc:"where the reference is; null for a register"`
	Handle query.Opt[string]      `row:"handle,hidden" doc:"type of a handle"`
	Thread query.Opt[target.Addr] `row:"thread,hidden" doc:"OS id of its thread"`
	Pinned bool                   `row:"pinned,hidden" doc:"whether the object can't be moved"`
}

func rootRows(ctx context.Context, p *process.Process) iter.Seq2[rootRow, error] {
	return rowsOf(p.Roots(ctx), newRootRow)
}

func newRootRow(r graph.Root) rootRow {
	row := rootRow{Kind: r.Kind.String(), Object: query.Ref(r.Object), Root: addressOrNull(r.Address), Pinned: r.Pinned}
	if r.Kind == graph.RootHandle {
		row.Handle = query.Some(r.Handle.String())
	}
	if r.Thread != nil {
		row.Thread = query.Some(target.Addr(r.Thread.ID()))
	}
	return row
}

type handleRow struct {
	Handle    target.Addr          `row:"handle" doc:"the handle"`
	Kind      string               `row:"kind" doc:"its type"`
	Object    query.Ref            `row:"object,object" doc:"the object that it refers to, null for none"`
	Secondary query.Opt[query.Ref] `row:"secondary,hidden" doc:"second object of a dependent handle"`
}

func handleRows(_ context.Context, p *process.Process) iter.Seq2[handleRow, error] {
	h, err := p.Heap()
	if err != nil {
		return listed[handleRow](nil, err)
	}
	return rowsOf(h.Handles(), func(x heap.Handle) handleRow {
		return handleRow{Handle: x.Addr, Kind: x.Type.String(), Object: query.Ref(x.Object),
			Secondary: query.SomeIf(query.Ref(x.Extra), x.Type == heap.HandleDependent)}
	})
}

type staticRow struct {
	Type    query.Opt[string]      `row:"type" doc:"type that declares the field"`
	Field   query.Opt[string]      `row:"field" doc:"name of the field"`
	Value   query.Value            `row:"value,object" doc:"its value"`
	Kind    string                 `row:"kind,hidden" doc:"static, threadStatic or rva"`
	Thread  query.Opt[target.Addr] `row:"thread,hidden" doc:"OS id of the thread of a thread static"`
	Address query.Opt[target.Addr] `row:"address,hidden" doc:"where it is stored"`
}

func staticRows(ctx context.Context, p *process.Process) iter.Seq2[staticRow, error] {
	r, err := p.Objects()
	if err != nil {
		return listed[staticRow](nil, err)
	}
	return rowsOf(r.Statics(ctx, objects.StaticsOptions{}), newStaticRow)
}

func newStaticRow(s answer.StaticField) staticRow {
	row := staticRow{Type: textOf(s.DeclaringType), Field: textOf(s.Name), Value: storedValue(&s.Stored), Kind: string(s.Kind)}
	if s.Thread != nil {
		row.Thread = query.Some(target.Addr(s.Thread.OSID))
	}
	if s.Address != nil {
		row.Address = query.Some(*s.Address)
	}
	return row
}

// storedValue returns the value of a field.
func storedValue(s *answer.Stored) query.Value {
	if s.Missing.Err != nil {
		return query.Failed(s.Missing.Err)
	}
	switch x := s.Value; x.Kind {
	case answer.KindBool:
		return query.Bool(x.Bits != 0)
	case answer.KindInt:
		return query.Int(x.Int())
	case answer.KindUint, answer.KindChar:
		return query.Uint(x.Bits)
	case answer.KindFloat:
		return query.Float(x.Float())
	case answer.KindReference:
		return query.Object(target.Addr(x.Bits))
	case answer.KindStruct:
		return query.Text(s.Text.String())
	case answer.KindPointer, answer.KindByRef:
		return query.Address(target.Addr(x.Bits))
	}
	return query.Failed(target.Unsupportedf("a value that is not known"))
}

type typeRow struct {
	MethodTable target.Addr       `row:"mt" doc:"its MethodTable"`
	Name        query.Opt[string] `row:"name" doc:"its name"`
	Count       query.Opt[uint64] `row:"count,count" doc:"objects of exactly this type"`
	Size        query.Opt[uint64] `row:"size,count" doc:"their bytes"`
	BaseSize    uint64            `row:"basesize,hidden" doc:"bytes of an object without its elements"`
	Assembly    query.Opt[string] `row:"assembly,hidden" doc:"simple name of its assembly"`
}

func typeRows(ctx context.Context, p *process.Process) iter.Seq2[typeRow, error] {
	rt, err := p.Runtime()
	if err != nil {
		return listed[typeRow](nil, err)
	}
	h, err := p.Heap()
	if err != nil {
		return listed[typeRow](nil, err)
	}
	list := heap.LoadedTypes(ctx, rt, h, heap.LoadedTypesOptions{Scan: heap.ScanOptions{Jobs: p.Dump().Jobs()}})
	assembly := assemblies(rt)
	return rowsOf(list, func(t answer.LoadedType) typeRow {
		return typeRow{MethodTable: t.MethodTable, Name: textOf(t.Name), Count: count(t.Count), Size: count(t.Size), BaseSize: uint64(t.BaseSize),
			Assembly: assembly(t.MethodTable)}
	})
}

// assemblies returns a function that names the assembly of a type.
func assemblies(rt *dac.Runtime) func(mt target.Addr) query.Opt[string] {
	known := map[*dac.Module]query.Opt[string]{}
	return func(mt target.Addr) query.Opt[string] {
		t, err := rt.MethodTable(mt)
		if err != nil {
			return query.Unread[string](err)
		}
		m, err := rt.TrustedModule(t.Module)
		if err != nil {
			return query.Unread[string](err)
		}
		name, ok := known[m]
		if !ok {
			name = query.SomeOr(m.SimpleName())
			known[m] = name
		}
		return name
	}
}

// count returns a column with a number, or target.ErrNotInDump if n is nil.
func count(n *uint64) query.Opt[uint64] {
	if n == nil {
		return query.Unread[uint64](target.ErrNotInDump)
	}
	return query.Some(*n)
}

type moduleRow struct {
	Module   target.Addr       `row:"module" doc:"address of the Module"`
	Name     query.Opt[string] `row:"name" doc:"path of the file"`
	Version  query.Opt[string] `row:"version" doc:"file version"`
	Size     uint64            `row:"size,count" doc:"bytes of the image"`
	Dynamic  bool              `row:"dynamic,hidden" doc:"whether Reflection.Emit made it"`
	Assembly target.Addr       `row:"assembly,hidden" doc:"address of the Assembly"`
}

func moduleRows(ctx context.Context, p *process.Process) iter.Seq2[moduleRow, error] {
	rt, err := p.Runtime()
	if err != nil {
		return listed[moduleRow](nil, err)
	}
	list, err := rt.DescribeAssemblies(ctx, func(string) bool { return true })
	if err != nil {
		return listed[moduleRow](nil, err)
	}
	return rowsOf(list, func(m *answer.LoadedModule) moduleRow {
		return moduleRow{Module: m.Module, Name: textOf(m.Name), Version: textOf(m.Version), Size: m.Size, Dynamic: m.Dynamic, Assembly: m.Assembly}
	})
}
