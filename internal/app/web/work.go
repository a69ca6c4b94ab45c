package web

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
)

// A flow is the request data in an ExecutionContext.
type flow struct {
	request int // the request's index, or -1
	scope   objects.Object
}

// byThreads finds the threads that work on requests, by the values in their ExecutionContexts, or by the HttpContext in the variables of their frames:
// without an IHttpContextAccessor, tracing or a scope of logging nothing of a request flows.
func (q *query) byThreads(ctx context.Context) {
	list, err := q.p.Threads()
	q.out.Note(err)
	for i := range list {
		t := &list[i]
		if t.Managed == nil || t.OS == nil || len(q.index) == 0 {
			continue
		}
		f := q.flowOf(q.flows.OfThread(t))
		if f.request < 0 {
			f.request = q.onStack(ctx, t)
		}
		if f.request < 0 {
			continue
		}
		r := &q.out.Requests[f.request]
		r.Threads = append(r.Threads, q.flows.Worker(ctx, q.p, t))
		q.scopes(r, f)
	}
}

// onStack returns the index of the request with the only HttpContext that frames of a thread refer to, or -1.
func (q *query) onStack(ctx context.Context, t *stackwalk.Thread) int {
	w, err := q.p.Walker()
	if err != nil {
		return -1
	}
	found := -1
	for root := range w.Roots(ctx, t.Managed, t.OS.Registers) {
		n, ok := q.index[root.Object]
		if !ok || n == found || q.out.Requests[n].Context != root.Object {
			continue
		}
		if found >= 0 {
			return -1 // it looks at several
		}
		found = n
	}
	return found
}

// flowOf returns the request data in an ExecutionContext.
func (q *query) flowOf(o objects.Object) flow {
	out := flow{request: -1}
	if o.Addr == 0 {
		return out
	}
	if known, ok := q.known[o.Addr]; ok {
		return known
	}
	for v := range q.flows.Values(o) {
		q.value(&out, v)
	}
	q.known[o.Addr] = out
	return out
}

// value records an AsyncLocal's value: the accessor of the HttpContext, an activity or a logging scope.
func (q *query) value(out *flow, o objects.Object) {
	g := q.reading()
	if h, x := shapes.BindAs[*contextHolder](g, o); h != nil {
		a, err := h.Context.Addr(x)
		g.Note(err)
		if n, ok := q.index[a]; ok {
			out.request = n
		}
	} else if q.flows.IsScope(o) {
		out.scope = o
	} else if q.flows.IsActivity(o) && out.request < 0 {
		out.request = q.ofActivity(o)
	}
}

// ofActivity returns the index of the request that an activity belongs to, or -1.
func (q *query) ofActivity(o objects.Object) int {
	for a := range q.flows.Activities(o) {
		if n, ok := q.index[a.Addr]; ok {
			return n
		}
	}
	return -1
}

// scopes adds the values of the logging scopes.
func (q *query) scopes(r *answer.Request, f flow) {
	if q.o.Scopes && f.scope.Addr != 0 && len(r.Scopes) == 0 {
		r.Scopes = q.flows.Scopes(f.scope)
	}
}

// byStacks finds the async code that works on requests. Its stacks have a server or application method with the request
// in a variable, or the request flows with the innermost method.
func (q *query) byStacks(ctx context.Context) error {
	if len(q.out.Requests) == 0 || q.tasks == nil {
		return nil
	}
	set, err := q.tasks.Collect(ctx, q.h, q.o.Scan)
	if err != nil {
		return err
	}
	stacks, err := q.flows.Stacks(ctx, set, len(q.out.Requests), q.methodOf)
	for i, s := range stacks {
		q.out.Requests[i].Stack = s
	}
	return err
}

// methodOf returns the request that an async method's box belongs to, if any.
func (q *query) methodOf(box objects.Object) (held, awaited []int) {
	f := q.flowOf(q.flows.OfMethod(box))
	if f.request >= 0 {
		q.scopes(&q.out.Requests[f.request], f)
	}
	for a := range q.flows.Variables(box) {
		if n, ok := q.index[a]; ok {
			return []int{n}, nil
		}
	}
	if f.request < 0 {
		return nil, nil
	}
	return []int{f.request}, nil
}
