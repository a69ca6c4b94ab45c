package web

import (
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/shapes"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/tasks"
	"github.com/sosgo/sosgo/threads"
)

// A flow is what flows with the code of a request.
type flow struct {
	request int // its number, -1 for none
	scope   objects.Object
}

// byThreads finds the threads that work on requests: by what flows in their ExecutionContext.
func (q *query) byThreads(ctx context.Context) {
	g := q.reading()
	for i := range q.p.Threads {
		t := &q.p.Threads[i]
		if t.Managed == nil || t.OS == nil || len(q.index) == 0 {
			continue
		}
		o, err := q.b.Handle(t.Managed.ExposedHandle)
		if err != nil {
			g.Note(err)
			continue
		}
		s, x := shapes.As[thread](g, o)
		if s == nil {
			continue
		}
		f := q.flowOf(&s.Context, x)
		if f.request < 0 {
			continue
		}
		r := &q.out.Requests[f.request]
		r.Threads = append(r.Threads, q.describeThread(ctx, t))
		q.scopes(r, f)
	}
}

// describeThread tells what a thread does.
func (q *query) describeThread(ctx context.Context, t *threads.Thread) answer.RequestThread {
	out := answer.RequestThread{Thread: t.Describe(&q.out.Gaps)}
	if q.p.Walk == nil {
		return out
	}
	does := t.Activity(q.p.Walk(ctx, t, stackwalk.WalkOptions{}))
	out.Does = does.Text
	if does.Caller != nil {
		name, err := stackwalk.ShortName(q.b.Objects().Runtime(), does.Caller)
		out.Method = q.out.Text(name, err)
	}
	return out
}

// flowOf is what flows in the ExecutionContext that a field refers to.
func (q *query) flowOf(f *shapes.Ref, x shapes.Instance) flow {
	none := flow{request: -1}
	g := q.reading()
	a, err := f.Addr(x)
	if err != nil || a == 0 {
		g.Note(err)
		return none
	}
	if known, ok := q.flows[a]; ok {
		return known
	}
	out := none
	if s, x := shapes.At[executionContext](g, f, x); s != nil {
		for o := range q.values(&s.Values, x) {
			q.value(&out, o)
		}
	}
	q.flows[a] = out
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

// values iterates over the values of AsyncLocals.
func (q *query) values(f *shapes.Ref, x shapes.Instance) func(func(objects.Object) bool) {
	return func(yield func(objects.Object) bool) {
		g := q.reading()
		o, err := f.Object(x)
		if err != nil || o.Addr == 0 {
			g.Note(err)
			return
		}
		if s, _ := shapes.As[noValues](g, o); s != nil {
			return
		}
		if s, x := shapes.As[fewValues](g, o); s != nil {
			for _, f := range []*shapes.Ref{&s.One, &s.Two, &s.Three, &s.Four} {
				if !f.Has() {
					continue
				}
				if o, err := f.Object(x); err != nil {
					g.Note(err)
				} else if o.Addr != 0 && !yield(o) {
					return
				}
			}
			return
		}
		if s, x := shapes.As[severalValues](g, o); s != nil {
			q.pairs(&s.Pairs, x, yield)
			return
		}
		q.manyValues(o, yield)
	}
}

// pairs passes the values of an array of pairs.
func (q *query) pairs(f *shapes.Ref, x shapes.Instance, yield func(objects.Object) bool) {
	g := q.reading()
	o, err := f.Object(x)
	if err != nil || o.Addr == 0 {
		g.Note(err)
		return
	}
	s, a, err := shapes.Elements[pair](q.b, o)
	if err != nil {
		g.Note(err)
		return
	}
	for n := range min(a.Len, limits.ContextValues) {
		if o, err := s.Value.Object(a.Instance(n)); err != nil {
			g.Note(err)
		} else if o.Addr != 0 && !yield(o) {
			return
		}
	}
}

// manyValues passes the values of a map that is a dictionary.
func (q *query) manyValues(o objects.Object, yield func(objects.Object) bool) {
	c, err := q.items.Of(o)
	if err != nil {
		q.out.Note(err)
		return
	}
	for item, err := range c.Items() {
		if err != nil {
			q.out.Note(err)
			continue
		}
		if o, err := item.Value.Object(); err == nil && !yield(o) {
			return
		}
	}
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

// A machineRef has the fields of a type of state machines that refer to objects.
type machineRef struct{ fields []*objects.Field }

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
	q.out.Note(set.Note(&q.out.Gaps))
	best := make([]int, len(q.out.Requests)) // length of the longest path so far
	for s, err := range set.Stacks(ctx, tasks.StackOptions{}) {
		if err != nil {
			return err
		}
		if !s.Part {
			q.stack(s, best)
		}
	}
	return nil
}

// stack looks for requests in one stack.
func (q *query) stack(s *answer.AsyncStack, best []int) {
	var path []int
	for i := range s.Frames {
		f := &s.Frames[i]
		path = append(path[:f.Depth], i)
		if f.State == nil || f.Again {
			continue
		}
		n := q.frameOf(f.Object)
		if n < 0 || len(path) <= best[n] || running(s) {
			continue
		}
		best[n] = len(path)
		out := &answer.RequestStack{Reason: s.Reason}
		for _, at := range path {
			out.Frames = append(out.Frames, s.Frames[at])
		}
		q.out.Requests[n].Stack = out
	}
}

// running reports whether the first frame of a stack waits for nothing: a thread runs it.
func running(s *answer.AsyncStack) bool { return s.Frames[0].State != nil && *s.Frames[0].State < 0 }

// frameOf is the request that the box of an async method belongs to, -1 for none.
func (q *query) frameOf(a target.Addr) int {
	g := q.reading()
	o, err := q.b.Objects().Object(a)
	if err != nil {
		g.Note(err)
		return -1
	}
	s, x := shapes.As[boxShape](g, o)
	if s == nil {
		return -1
	}
	f := q.flowOf(&s.Context, x)
	if f.request >= 0 {
		q.scopes(&q.out.Requests[f.request], f)
	}
	if n := q.variablesOf(s.Machine.Value(x)); n >= 0 {
		return n
	}
	return f.request
}

// variablesOf is the request that a variable of a state machine refers to, -1 for none.
func (q *query) variablesOf(v objects.Value) int {
	var t *objects.Type
	var at func(f *objects.Field) objects.Value
	if s, err := v.Struct(); err == nil {
		t, at = s.Type, s.Value
	} else if o, err := v.Object(); err == nil {
		t, at = o.Type, o.Value
	} else {
		q.out.Note(err)
		return -1
	}
	for _, f := range q.machine(t).fields {
		a, err := at(f).Addr()
		if err != nil {
			q.out.Note(err)
			continue
		}
		if n, ok := q.index[a]; ok {
			return n
		}
	}
	return -1
}

// machine has the fields of a type of state machines that refer to objects.
func (q *query) machine(t *objects.Type) *machineRef {
	if m := q.machines[t]; m != nil {
		return m
	}
	m := &machineRef{}
	fields, err := t.Fields()
	q.out.Note(err)
	for _, f := range fields {
		if !f.Static && f.ElementType != metadata.ElementValueType && f.RefersToObject() {
			m.fields = append(m.fields, f)
		}
	}
	q.machines[t] = m
	return m
}
