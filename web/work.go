package web

import (
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/shapes"
)

// A flow is what flows with the code of a request.
type flow struct {
	request int // its number, -1 for none
	scope   objects.Object
}

// byThreads finds the threads that work on requests: by what flows in their ExecutionContext.
func (q *query) byThreads(ctx context.Context) {
	for i := range q.p.Threads {
		t := &q.p.Threads[i]
		if t.Managed == nil || t.OS == nil || len(q.index) == 0 {
			continue
		}
		f := q.flowOf(q.flows.OfThread(t))
		if f.request < 0 {
			continue
		}
		r := &q.out.Requests[f.request]
		r.Threads = append(r.Threads, q.flows.Worker(ctx, q.p.Walk, t))
		q.scopes(r, f)
	}
}

// flowOf is what flows in an ExecutionContext.
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

// value notes what the value of an AsyncLocal says: the accessor of the HttpContext, an activity, or a scope of logging.
func (q *query) value(out *flow, o objects.Object) {
	g := q.reading()
	if h, x := shapes.As[contextHolder](g, o); h != nil {
		a, err := h.Context.Addr(x)
		g.Note(err)
		if n, ok := q.index[a]; ok {
			out.request = n
		}
	} else if s, _ := shapes.As[logScope](g, o); s != nil {
		out.scope = o
	} else if s, _ := shapes.As[activity](g, o); s != nil && out.request < 0 {
		out.request = q.ofActivity(o)
	}
}

// ofActivity is the request that an activity belongs to, -1 for none.
func (q *query) ofActivity(o objects.Object) int {
	for range limits.RequestScopes {
		if n, ok := q.index[o.Addr]; ok {
			return n
		}
		s, x := shapes.As[activity](q.reading(), o)
		if s == nil {
			return -1
		}
		var err error
		if o, err = s.Parent.Object(x); err != nil {
			q.out.Note(err)
			return -1
		}
	}
	return -1
}

// scopes tells what is noted with each line of the log.
func (q *query) scopes(r *answer.Request, f flow) {
	if !q.o.Scopes || f.scope.Addr == 0 || len(r.Scopes) > 0 {
		return
	}
	g := q.reading()
	o := f.scope
	for range limits.RequestScopes {
		s, x := shapes.As[logScope](g, o)
		if s == nil {
			break
		}
		if state, err := s.State.Object(x); err != nil {
			g.Note(err)
		} else if state.Addr != 0 {
			r.Scopes = append(r.Scopes, q.scope(state))
		}
		var err error
		if o, err = s.Parent.Object(x); err != nil {
			g.Note(err)
			break
		}
	}
	slices.Reverse(r.Scopes)
}

// scope is what one scope notes: the text of a string, the pairs of a dictionary, or the fields of an object that hold strings.
func (q *query) scope(o objects.Object) string {
	if o.IsString() {
		s, err := o.Text(limits.RequestText)
		q.out.Note(err)
		return s
	}
	name, err := o.Type.ManagedName()
	q.out.Note(err)
	if c, err := q.items.Of(o); err == nil {
		var parts []string
		for item, err := range c.Items() {
			if err != nil || len(parts) == limits.RequestHeaders {
				break
			}
			parts = append(parts, scopePair(item.Key.Plain(scopeText), item.Value.Plain(scopeText)))
		}
		return strings.Join(parts, ", ")
	}
	short := name[strings.LastIndexAny(name, ".+")+1:]
	var parts []string
	for f, v := range o.Fields() {
		if s, err := v.Text(scopeText); err == nil && f.Name != "_cachedToString" {
			parts = append(parts, scopePair(strings.TrimPrefix(f.Name, "_"), s))
		}
	}
	return strings.TrimSpace(short + " " + strings.Join(parts, ", "))
}

// scopeText is how many characters of a value a scope shows.
const scopeText = 200

func scopePair(key, value string) string {
	return strings.Trim(key, `"`) + "=" + strings.Trim(value, `"`)
}

// byStacks finds the async code that works on requests: stacks in which the method of the server or of the application stands
// that has the request in a variable, or with whose innermost method the request flows.
func (q *query) byStacks(ctx context.Context) error {
	if len(q.out.Requests) == 0 || q.tasks == nil {
		return nil
	}
	set, err := q.tasks.Collect(ctx, q.p.Heap, q.o.Scan)
	if err != nil {
		return err
	}
	stacks, err := q.flows.Stacks(ctx, set, len(q.out.Requests), q.methodOf)
	for i, s := range stacks {
		q.out.Requests[i].Stack = s
	}
	return err
}

// methodOf is the request that the box of an async method belongs to, if any.
func (q *query) methodOf(box objects.Object) []int {
	f := q.flowOf(q.flows.OfMethod(box))
	if f.request >= 0 {
		q.scopes(&q.out.Requests[f.request], f)
	}
	for a := range q.flows.Variables(box) {
		if n, ok := q.index[a]; ok {
			return []int{n}
		}
	}
	if f.request < 0 {
		return nil
	}
	return []int{f.request}
}
