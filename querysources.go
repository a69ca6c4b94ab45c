package sosgo

import (
	"context"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/web"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Asked is what package query asks about: the process as the runtime sees it, with the sources of rows beside the heap's. The
// caller may add variables, and choose the current thread.
func (v *View) Asked(o graph.Options) (*query.Process, error) {
	rt, err := v.Runtime()
	if err != nil {
		return nil, err
	}
	reader, err := v.Objects()
	if err != nil {
		return nil, err
	}
	collections, err := v.Collections()
	if err != nil {
		return nil, err
	}
	return &query.Process{
		Collections: collections,
		Runtime:     rt, Objects: reader, Heap: v.Heap,
		Holders: func(ctx context.Context) (*graph.Holders, error) { return v.Holders(ctx, o) },
		Sources: v.sources(),
		Scan:    heap.ScanOptions{Jobs: v.dump.Jobs()},
	}, nil
}

// sources are the sources of rows beside the heap's.
func (v *View) sources() []query.Source {
	return []query.Source{v.threadSource(), v.frameSource(), v.taskSource(), v.requestSource(), v.rootSource(), v.handleSource(), v.staticSource(),
		v.typeSource(), v.moduleSource()}
}

// QuerySources are what queries can ask for with from, with the columns of each and without their rows: those of the heap first.
func QuerySources() []query.Source {
	list := append(query.HeapSources(), (*View)(nil).sources()...)
	for i := range list {
		list[i].Rows = nil
	}
	return list
}

// rowsOf makes rows of a list.
func rowsOf[T any](list iter.Seq2[T, error], row func(T) []query.Value) iter.Seq2[[]query.Value, error] {
	return func(yield func([]query.Value, error) bool) {
		for item, err := range list {
			if err != nil {
				if !yield(nil, err) {
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

// listed is a list with an error in front.
func listed[T any](list []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err != nil && !yield(*new(T), err) {
			return
		}
		for _, item := range list {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func textOf(t answer.Text) query.Value { return query.TextOr(t.S, t.Err) }

// orNull is null for an empty text.
func orNull(s string) query.Value {
	if s == "" {
		return query.Null()
	}
	return query.Text(s)
}

func (v *View) threadSource() query.Source {
	return query.Source{
		Name: "threads", Summary: "threads of the process", Object: 4, Of: []string{"System.Exception"},
		Columns: []query.Column{
			{Name: "index", Summary: "number among the threads of the OS"},
			{Name: "osid", Summary: "OS id"},
			{Name: "managed", Summary: "managed id, null for a thread that never ran managed code"},
			{Name: "name", Summary: "name"},
			{Name: "exception", Summary: "what it threw last"},
			{Name: "thread", Summary: "address of the runtime's Thread", Hidden: true},
			{Name: "ip", Summary: "instruction pointer", Hidden: true},
			{Name: "sp", Summary: "stack pointer", Hidden: true},
		},
		Rows: func(context.Context) iter.Seq2[[]query.Value, error] {
			list, err := v.Threads()
			return rowsOf(listed(list, err), threadRow)
		},
	}
}

func threadRow(t Thread) []query.Value {
	row := []query.Value{query.Null(), query.Null(), query.Null(), query.TextOr(t.Name()), query.Null(), query.Null(), query.Null(), query.Null()}
	if t.Index >= 0 {
		row[0] = query.Int(int64(t.Index))
	}
	if t.OS != nil {
		row[1] = query.Address(target.Addr(t.ID()))
		row[6], row[7] = registerOr(t.OS.Registers.IP()), registerOr(t.OS.Registers.SP())
	}
	if t.Managed != nil {
		row[5] = query.Address(t.Managed.Addr)
		if row[2] = query.Uint(uint64(t.Managed.ManagedID)); t.Managed.Native {
			row[2] = query.Failed(target.ErrUnsupported)
		}
		row[4] = lastException(t.Managed)
	}
	return row
}

func registerOr(a target.Addr, known bool) query.Value {
	if !known {
		return query.Failed(target.ErrNotInDump)
	}
	return query.Address(a)
}

func lastException(t *dac.Thread) query.Value {
	if t.LastThrownError != nil {
		return query.Failed(t.LastThrownError)
	}
	return query.Object(t.LastThrown)
}

func (v *View) frameSource() query.Source {
	return query.Source{
		Name: "frames", Summary: "frames of the stacks of all threads", Object: -1,
		Columns: []query.Column{
			{Name: "thread", Summary: "OS id of the thread"},
			{Name: "frame", Summary: "number of the frame, 0 is the innermost"},
			{Name: "method", Summary: "the managed method; null for other frames"},
			{Name: "file", Summary: "source file"},
			{Name: "line", Summary: "line in it"},
			{Name: "kind", Summary: "managed, explicit or native", Hidden: true},
			{Name: "module", Summary: "file name of the module", Hidden: true},
			{Name: "ip", Summary: "instruction pointer", Hidden: true},
			{Name: "sp", Summary: "stack pointer", Hidden: true},
			{Name: "md", Summary: "MethodDesc", Hidden: true},
			{Name: "name", Summary: "the method, or the class of an explicit frame", Hidden: true},
		},
		Rows: v.frameRows,
	}
}

func (v *View) frameRows(ctx context.Context) iter.Seq2[[]query.Value, error] {
	return func(yield func([]query.Value, error) bool) {
		list, err := v.Threads()
		if err != nil && !yield(nil, err) {
			return
		}
		for i := range list {
			if !v.framesOf(ctx, &list[i], yield) {
				return
			}
		}
	}
}

// framesOf yields the frames of a thread that is managed; what ends a walk early is an error of the list.
func (v *View) framesOf(ctx context.Context, t *Thread, yield func([]query.Value, error) bool) bool {
	if t.Managed == nil || t.OS == nil {
		return true
	}
	var gaps answer.Gaps
	d := stackwalk.NewDescriber(stackwalk.DescribeOptions{Source: true}, &gaps)
	n := int64(0)
	for f := range v.Walk(ctx, t, stackwalk.WalkOptions{}) {
		a := d.Frame(&f)
		row := []query.Value{query.Address(target.Addr(t.ID())), query.Int(n), textOf(a.Method), orNull(a.File), query.Null(), query.Text(a.Kind),
			orNull(a.Module), addressOr(a.IP), addressOr(a.SP), query.Null(), textOf(a.Method)}
		if f.Kind != stackwalk.FrameManaged {
			row[2] = query.Null()
		}
		if a.Method.IsZero() {
			row[10] = orNull(a.Class)
		}
		if a.Line > 0 {
			row[4] = query.Int(int64(a.Line))
		}
		if a.MethodDesc != 0 {
			row[9] = query.Address(a.MethodDesc)
		}
		n++
		if !yield(row, nil) || a.Err.Err != nil && !yield(nil, a.Err.Err) {
			return false
		}
	}
	return ctx.Err() == nil
}

func addressOr(a answer.Maybe[target.Addr]) query.Value {
	if a.Err != nil {
		return query.Failed(a.Err)
	}
	return query.Address(a.Value)
}

func (v *View) taskSource() query.Source {
	return query.Source{
		Name: "tasks", Summary: "tasks, and the boxes of async methods that are none", Object: 0,
		Of: []string{"System.Threading.Tasks.Task", "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder+StateMachineBox"},
		Columns: []query.Column{
			{Name: "task", Summary: "the object"},
			{Name: "status", Summary: "what Task.Status says; Pooled for a box that is no task"},
			{Name: "method", Summary: "the async method, null for other tasks"},
			{Name: "state", Summary: "number of the await at which it is suspended; negative if it is not; null without an async method"},
			{Name: "awaits", Summary: "the method whose result is awaited, null if the code does not tell"},
			{Name: "name", Summary: "the state machine, or the type with the method that a task runs", Hidden: true},
			{Name: "flags", Summary: "m_stateFlags", Hidden: true},
			{Name: "file", Summary: "source file of the await", Hidden: true},
			{Name: "line", Summary: "line in it", Hidden: true},
		},
		Rows: v.taskRows,
	}
}

func (v *View) taskRows(ctx context.Context) iter.Seq2[[]query.Value, error] {
	r, err := v.TaskReader()
	if err != nil {
		return listed[[]query.Value](nil, err)
	}
	h, err := v.Heap()
	if err != nil {
		return listed[[]query.Value](nil, err)
	}
	set, err := r.Collect(ctx, h, heap.ScanOptions{Jobs: v.dump.Jobs()})
	if err != nil {
		return listed[[]query.Value](nil, err)
	}
	return func(yield func([]query.Value, error) bool) {
		var gaps answer.Gaps
		if err := set.Note(&gaps); err != nil && !yield(nil, err) {
			return
		}
		for _, err := range slices.Concat(gaps.Noted(), h.Warnings()) {
			if !yield(nil, err) {
				return
			}
		}
		for row, err := range rowsOf(set.Each(ctx), taskRow) {
			if !yield(row, err) {
				return
			}
		}
	}
}

func taskRow(f *answer.AsyncFrame) []query.Value {
	row := []query.Value{query.Object(f.Object), query.Text(f.Status), query.Null(), query.Null(), query.Null(), textOf(f.AsyncName.Name), query.Null(),
		query.Null(), query.Null()}
	if f.Kind == answer.AsyncPooled {
		row[1] = query.Text("Pooled")
	} else {
		row[6] = query.Address(target.Addr(f.Flags))
	}
	if f.State != nil {
		row[3] = query.Int(int64(*f.State))
	}
	if p := f.AsyncPlace; p != nil {
		row[2], row[4], row[7] = textOf(p.Method), orNull(p.Await.S), orNull(p.File)
		if p.Line > 0 {
			row[8] = query.Int(int64(p.Line))
		}
	}
	return row
}

func (v *View) requestSource() query.Source {
	return query.Source{
		Name: "requests", Summary: "web requests that the process works on", Object: 0, Of: []string{"Microsoft.AspNetCore.Http.HttpContext"},
		Columns: []query.Column{
			{Name: "context", Summary: "its HttpContext, null while it is still being read"},
			{Name: "method", Summary: "GET, POST …"},
			{Name: "path", Summary: "the path"},
			{Name: "query", Summary: "the query, with its question mark"},
			{Name: "status", Summary: "status code of the response so far"},
			{Name: "state", Summary: "what the server is about"},
			{Name: "route", Summary: "pattern of its route", Hidden: true},
			{Name: "user", Summary: "name of the authenticated user", Hidden: true},
			{Name: "host", Summary: "the header Host", Hidden: true},
			{Name: "protocol", Summary: "version of HTTP", Hidden: true},
			{Name: "connection", Summary: "id of the connection", Hidden: true},
			{Name: "server", Summary: "Kestrel, IIS, HTTP.sys, features or unknown", Hidden: true},
			{Name: "exception", Summary: "what the application threw", Hidden: true},
		},
		Rows: v.requestRows,
	}
}

func (v *View) requestRows(ctx context.Context) iter.Seq2[[]query.Value, error] {
	r, err := v.WebReader()
	if err != nil {
		return listed[[]query.Value](nil, err)
	}
	h, err := v.Heap()
	if err != nil {
		return listed[[]query.Value](nil, err)
	}
	p := web.Process{Heap: h, Walk: v.Walk, DumpTime: v.dump.Target().Process().DumpTime}
	out, err := r.Requests(ctx, p, web.RequestOptions{Brief: true, Scan: heap.ScanOptions{Jobs: v.dump.Jobs()}})
	if err != nil {
		return listed[[]query.Value](nil, err)
	}
	return func(yield func([]query.Value, error) bool) {
		for _, err := range out.Noted() {
			if !yield(nil, err) {
				return
			}
		}
		for i := range out.Requests {
			if !yield(requestRow(&out.Requests[i]), nil) {
				return
			}
		}
	}
}

func requestRow(r *answer.Request) []query.Value {
	status := query.Failed(r.Status.Err)
	if r.Status.Err == nil {
		status = query.Int(r.Status.Value)
	}
	return []query.Value{query.Object(r.Context), unlessNone(r.Method), unlessNone(r.Path), unlessNone(r.Query), status, orNull(r.State), unlessNone(r.Route),
		unlessNone(r.User), unlessNone(r.Host), unlessNone(r.Protocol), unlessNone(r.Conn), query.Text(r.Server), query.Object(r.Exception)}
}

// unlessNone is null for a text that is empty and not missing.
func unlessNone(t answer.Text) query.Value {
	if t.Err == nil {
		return orNull(t.S)
	}
	return query.Failed(t.Err)
}

func (v *View) rootSource() query.Source {
	return query.Source{
		Name: "roots", Summary: "what keeps objects alive", Object: 1,
		Columns: []query.Column{
			{Name: "kind", Summary: "handle, finalizer, stack or thread statics"},
			{Name: "object", Summary: "the object that it refers to"},
			{Name: "root", Summary: "where the reference is; null for a register"},
			{Name: "handle", Summary: "type of a handle", Hidden: true},
			{Name: "thread", Summary: "OS id of its thread", Hidden: true},
			{Name: "pinned", Summary: "whether the object can't be moved", Hidden: true},
		},
		Rows: func(ctx context.Context) iter.Seq2[[]query.Value, error] {
			list := v.Roots(ctx)
			return func(yield func([]query.Value, error) bool) {
				for r, err := range list {
					if err != nil {
						if !yield(nil, err) {
							return
						}
						continue
					}
					row := []query.Value{query.Text(r.Kind.String()), query.Object(r.Object), query.Null(), query.Null(), query.Null(), query.Bool(r.Pinned)}
					if r.Address != 0 {
						row[2] = query.Address(r.Address)
					}
					if r.Kind.String() == "handle" {
						row[3] = query.Text(r.Handle.String())
					}
					if r.Thread != nil {
						row[4] = query.Address(target.Addr(r.Thread.ID()))
					}
					if !yield(row, nil) {
						return
					}
				}
			}
		},
	}
}

func (v *View) handleSource() query.Source {
	return query.Source{
		Name: "handles", Summary: "GC handles, also weak ones", Object: 2,
		Columns: []query.Column{
			{Name: "handle", Summary: "the handle"},
			{Name: "kind", Summary: "its type"},
			{Name: "object", Summary: "the object that it refers to, null for none"},
			{Name: "secondary", Summary: "second object of a dependent handle", Hidden: true},
		},
		Rows: func(context.Context) iter.Seq2[[]query.Value, error] {
			h, err := v.Heap()
			if err != nil {
				return listed[[]query.Value](nil, err)
			}
			return rowsOf(h.Handles(), func(x heap.Handle) []query.Value {
				row := []query.Value{query.Address(x.Addr), query.Text(x.Type.String()), query.Object(x.Object), query.Null()}
				if x.Type == heap.HandleDependent {
					row[3] = query.Object(target.Addr(x.Extra))
				}
				return row
			})
		},
	}
}

func (v *View) staticSource() query.Source {
	return query.Source{
		Name: "statics", Summary: "static fields of all loaded types", Object: 2,
		Columns: []query.Column{
			{Name: "type", Summary: "type that declares the field"},
			{Name: "field", Summary: "name of the field"},
			{Name: "value", Summary: "what it holds"},
			{Name: "kind", Summary: "static, threadStatic or rva", Hidden: true},
			{Name: "thread", Summary: "OS id of the thread of a thread static", Hidden: true},
			{Name: "address", Summary: "where it is stored", Hidden: true},
		},
		Rows: v.staticRows,
	}
}

func (v *View) staticRows(ctx context.Context) iter.Seq2[[]query.Value, error] {
	r, err := v.Objects()
	if err != nil {
		return listed[[]query.Value](nil, err)
	}
	return rowsOf(r.Statics(ctx, objects.StaticsOptions{}), func(s answer.StaticField) []query.Value {
		row := []query.Value{textOf(s.DeclaringType), textOf(s.Name), storedValue(&s.Stored), query.Text(s.Kind), query.Null(), query.Null()}
		if s.Thread != 0 {
			row[4] = query.Address(target.Addr(s.Thread))
		}
		if s.Address != nil {
			row[5] = query.Address(*s.Address)
		}
		return row
	})
}

// storedValue is what a place holds.
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

func (v *View) typeSource() query.Source {
	return query.Source{
		Name: "types", Summary: "loaded types, with their objects", Object: -1,
		Columns: []query.Column{
			{Name: "mt", Summary: "its MethodTable"},
			{Name: "name", Summary: "its name"},
			{Name: "count", Summary: "objects of exactly this type", Count: true},
			{Name: "size", Summary: "their bytes", Count: true},
			{Name: "basesize", Summary: "bytes of an object without its elements", Hidden: true},
			{Name: "assembly", Summary: "simple name of its assembly", Hidden: true},
		},
		Rows: func(ctx context.Context) iter.Seq2[[]query.Value, error] {
			rt, err := v.Runtime()
			if err != nil {
				return listed[[]query.Value](nil, err)
			}
			h, err := v.Heap()
			if err != nil {
				return listed[[]query.Value](nil, err)
			}
			list := heap.LoadedTypes(ctx, rt, h, heap.LoadedTypesOptions{Scan: heap.ScanOptions{Jobs: v.dump.Jobs()}})
			assembly := assemblies(rt)
			return rowsOf(list, func(t answer.LoadedType) []query.Value {
				return []query.Value{query.Address(t.MethodTable), textOf(t.Name), countOr(t.Count), countOr(t.Size), query.Uint(uint64(t.BaseSize)),
					assembly(t.MethodTable)}
			})
		},
	}
}

// assemblies returns a function that names the assembly of a type.
func assemblies(rt *dac.Runtime) func(mt target.Addr) query.Value {
	known := map[*dac.Module]query.Value{}
	return func(mt target.Addr) query.Value {
		t, err := rt.MethodTable(mt)
		if err != nil {
			return query.Failed(err)
		}
		m, err := rt.TrustedModule(t.Module)
		if err != nil {
			return query.Failed(err)
		}
		v, ok := known[m]
		if !ok {
			name, err := m.SimpleName()
			if v = query.Text(name); err != nil {
				v = query.Failed(err)
			}
			known[m] = v
		}
		return v
	}
}

func countOr(n *uint64) query.Value {
	if n == nil {
		return query.Failed(target.ErrNotInDump)
	}
	return query.Uint(*n)
}

func (v *View) moduleSource() query.Source {
	return query.Source{
		Name: "modules", Summary: "managed modules", Object: -1,
		Columns: []query.Column{
			{Name: "module", Summary: "address of the Module"},
			{Name: "name", Summary: "path of the file"},
			{Name: "version", Summary: "file version"},
			{Name: "size", Summary: "bytes of the image", Count: true},
			{Name: "dynamic", Summary: "whether Reflection.Emit made it", Hidden: true},
			{Name: "assembly", Summary: "address of the Assembly", Hidden: true},
		},
		Rows: func(ctx context.Context) iter.Seq2[[]query.Value, error] {
			rt, err := v.Runtime()
			if err != nil {
				return listed[[]query.Value](nil, err)
			}
			list, err := rt.DescribeAssemblies(ctx, func(string) bool { return true })
			if err != nil {
				return listed[[]query.Value](nil, err)
			}
			return rowsOf(list, func(m answer.LoadedModule) []query.Value {
				return []query.Value{query.Address(m.Module), textOf(m.Name), textOf(m.Version), query.Uint(m.Size), query.Bool(m.Dynamic), query.Address(m.Assembly)}
			})
		},
	}
}
