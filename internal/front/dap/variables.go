package dap

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

const (
	pageSize   = 1000 // children in a range, or shown to a client that does not page
	textLimit  = 2000 // UTF-16 code units of a string shown as a value
	mostFields = 10_000
)

func (s *session) variables(ctx context.Context, a *dap.VariablesArguments) (any, error) {
	n := s.values.get(a.VariablesReference)
	if n == nil {
		return nil, fmt.Errorf("there is no variable %d; one that was not used for long is forgotten: expand its parent again", a.VariablesReference)
	}
	if a.Start < 0 || a.Count < 0 {
		return nil, fmt.Errorf("elements %d to %d are none", a.Start, a.Start+a.Count)
	}
	p := part{named: a.Filter != "indexed", indexed: a.Filter != "named", start: a.Start, count: a.Count}
	list, err := n.children(ctx, s, p)
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = []dap.Variable{}
	}
	return dap.VariablesResponseBody{Variables: list}, nil
}

// named is a value with its name.
type named struct {
	name     string
	typ      string // declared
	stored   *answer.Stored
	evaluate string // an expression for the value, or empty
}

// variable shows a value that is stored in a frame, a field or an element.
func (s *session) variable(ctx context.Context, v *process.Process, n named) dap.Variable {
	out := dap.Variable{Name: n.name, Type: n.typ, EvaluateName: n.evaluate}
	switch value := &n.stored.Value; {
	case n.stored.Missing.Err != nil:
		out.Value = words(n.stored.Missing.Err)
	case value.Kind == answer.KindReference && value.Bits != 0:
		return s.reference(ctx, v, n, target.Addr(value.Bits))
	default:
		out.Value = storedText(n.stored)
		if !n.stored.Members.IsZero() {
			out.VariablesReference = s.values.add(members{v, n.stored.Members, n.evaluate})
		}
		if value.At != 0 {
			out.MemoryReference = reference(value.At)
		}
	}
	return out
}

// storedText formats a value on one line.
func storedText(s *answer.Stored) string {
	switch {
	case s.Missing.Err != nil:
		return words(s.Missing.Err)
	case !s.Text.Blank():
		return s.Text.Cut(textLimit)
	case s.Text.Err() != nil:
		return words(s.Text.Err())
	}
	return s.Value.Plain()
}

// reference shows a referenced object.
func (s *session) reference(ctx context.Context, v *process.Process, n named, a target.Addr) dap.Variable {
	out := dap.Variable{Name: n.name, Type: n.typ, EvaluateName: cmpText(n.evaluate, reference(a)), MemoryReference: reference(a)}
	if n.stored != nil && !n.stored.Text.Blank() {
		out.Value = storedText(n.stored)
	}
	o, of, err := asked(s, v, func(v *process.Process) (*answer.Object, error) {
		return values.Describe(ctx, v, a, values.DescribeOptions{DescribeOptions: objects.DescribeOptions{NoFields: true}})
	})
	if err != nil {
		out.Value = reference(a) + " " + words(err)
		return out
	}
	out.Type = o.Type.String()
	if o.String != nil || o.StringErr != nil {
		if out.Value == "" {
			out.Value = stringText(o)
		}
		return out
	}
	k := s.kinds.of(ctx, of, o)
	switch {
	case k.collection:
		s.showCollection(ctx, of, a, &out)
	case k.delegate:
		out.Value = s.firstCall(ctx, of, a)
	case out.Value == "" && len(o.Boxed) > 0:
		out.Value = o.Boxed.Cut(textLimit)
	}
	if o.Length != nil {
		out.IndexedVariables = clampInt(uint64(*o.Length))
	}
	out.Value = cmpText(out.Value, "{"+out.Type+"}")
	out.VariablesReference = s.values.add(&object{view: of, at: a})
	return out
}

// showCollection adds the text of a collection, or its number of elements.
func (s *session) showCollection(ctx context.Context, v *process.Process, a target.Addr, out *dap.Variable) {
	c, err := values.Items(ctx, v, a, objects.CollectionOptions{Limit: 1})
	if err != nil {
		out.Value = cmpText(out.Value, words(err))
		return
	}
	out.NamedVariables = 1 // the raw view
	if c.Text != nil {
		out.NamedVariables++
	}
	if c.Count.Err() == nil {
		out.IndexedVariables = clampInt(c.Count.Value)
		if c.Text == nil {
			out.Value = fmt.Sprintf("Count = %d", c.Count.Value)
		}
	}
}

// firstCall returns the name of the first method that a delegate calls.
func (s *session) firstCall(ctx context.Context, v *process.Process, a target.Addr) string {
	list, err := values.DelegateCalls(ctx, v, a)
	if err != nil {
		return words(err)
	}
	out := ""
	for c, err := range list {
		switch {
		case out != "":
			return out + ", …"
		case err != nil:
			out = words(err)
		default:
			out = callName(&c)
		}
	}
	return out
}

func clampInt(n uint64) int { return int(min(n, 1<<31-1)) }

// stringText returns the text of a string object, as far as it could be read.
func stringText(o *answer.Object) string {
	if o.StringErr != nil {
		return answer.Quote(o.StringStart) + " " + words(o.StringErr)
	}
	chars := uint32(0)
	if o.Length != nil {
		chars = *o.Length
	}
	return answer.Quoted(*o.String, chars).Cut(textLimit)
}

// A kind selects how objects of a type expand.
type kind struct{ collection, delegate, task bool }

// kindCache caches the kinds of types. The first object of a type determines its kind.
type kindCache struct {
	mu sync.Mutex
	m  map[kindKey]kind
}

type kindKey struct {
	view *process.Process
	mt   target.Addr
}

func (c *kindCache) of(ctx context.Context, v *process.Process, o *answer.Object) kind {
	key := kindKey{v, o.MethodTable}
	c.mu.Lock()
	k, ok := c.m[key]
	c.mu.Unlock()
	if ok || o.Length != nil || o.Free {
		return k
	}
	_, err := values.Items(ctx, v, o.Address, objects.CollectionOptions{Limit: 1})
	k.collection = !errors.Is(err, objects.ErrNotCollection)
	if !k.collection {
		_, err = values.DelegateCalls(ctx, v, o.Address)
		k.delegate = err == nil
		_, err = async.State(ctx, v, o.Address)
		k.task = err == nil
	}
	if ctx.Err() != nil {
		return k
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[kindKey]kind{}
	}
	c.m[key] = k
	return k
}

// members are the fields of an inline value type.
type members struct {
	view *process.Process
	list answer.Members
	of   string // an expression for the value, or empty
}

func (n members) children(ctx context.Context, s *session, p part) ([]dap.Variable, error) {
	if !p.named {
		return nil, nil
	}
	list := n.list.List()
	out := make([]dap.Variable, 0, len(list))
	for i := range list {
		m := named{name: list[i].Name.String(), stored: &list[i].Stored}
		if n.of != "" && isName(list[i].Name.S) {
			m.evaluate = n.of + "." + list[i].Name.S
		}
		out = append(out, s.variable(ctx, n.view, m))
	}
	return out, nil
}

// fields shows the fields that want selects. of is an expression for the containing value, or empty.
func (s *session) fields(ctx context.Context, v *process.Process, list []answer.Field, of string, want func(kind answer.FieldKind) bool) []dap.Variable {
	var out []dap.Variable
	for i := range list {
		f := &list[i]
		if !want(f.Kind) || len(out) == mostFields {
			continue
		}
		if f.Kind == answer.FieldThreadStatic {
			out = append(out, s.threadStatic(v, f))
			continue
		}
		n := named{name: f.Name.String(), typ: f.Type.String(), stored: &f.Stored}
		if of != "" && isName(f.Name.S) {
			n.evaluate = of + "." + f.Name.S
		}
		d := s.variable(ctx, v, n)
		if d.MemoryReference == "" && f.Address != nil {
			d.MemoryReference = reference(*f.Address)
		}
		if f.Kind == answer.FieldStatic {
			d.PresentationHint = &dap.VariablePresentationHint{Attributes: []string{"static"}}
		}
		out = append(out, d)
	}
	return out
}

// threadStatic shows a thread static as one value per thread.
func (s *session) threadStatic(v *process.Process, f *answer.Field) dap.Variable {
	values := f.Threads
	return dap.Variable{Name: f.Name.String(), Type: f.Type.String(), Value: "[" + answer.Count(len(values), "thread", "threads") + "]",
		PresentationHint: &dap.VariablePresentationHint{Attributes: []string{"static"}},
		VariablesReference: s.values.add(group(func(ctx context.Context, s *session) ([]dap.Variable, error) {
			out := make([]dap.Variable, 0, len(values))
			for i := range values {
				out = append(out, s.variable(ctx, v, named{name: fmt.Sprintf("thread %#x", values[i].Thread), typ: f.Type.String(), stored: &values[i].Stored}))
			}
			return out, nil
		}))}
}

// A group is a node with named children only.
type group func(ctx context.Context, s *session) ([]dap.Variable, error)

func (g group) children(ctx context.Context, s *session, p part) ([]dap.Variable, error) {
	if !p.named {
		return nil, nil
	}
	return g(ctx, s)
}

// isName reports whether a field's name is valid in an expression.
func isName(s string) bool { return s != "" && nameIn(s) == len(s) }

// nameIn returns the number of bytes at the beginning of an expression that are a name.
func nameIn(s string) int {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') && r < 0x80 {
			return i
		}
	}
	return len(s)
}
