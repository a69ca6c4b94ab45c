package dap

import (
	"context"
	"fmt"
	"iter"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// An object expands into elements, calls or the state of a task if it is a collection, delegate or task, with its
// fields in the raw view. Any other object expands into its fields.
type object struct {
	view *process.Process
	at   target.Addr
	raw  bool
}

func (n *object) children(ctx context.Context, s *session, p part) ([]dap.Variable, error) {
	o, err := values.Describe(ctx, n.view, n.at, values.DescribeOptions{Plain: true})
	if err != nil {
		return nil, err
	}
	k := kind{}
	if !n.raw {
		k = s.kinds.of(ctx, n.view, o)
	}
	switch {
	case o.ArrayErr != nil:
		return nil, o.ArrayErr
	case o.Rank > 0:
		return s.elements(ctx, p, n.array(o))
	case k.collection:
		return n.collection(ctx, s, p)
	case !p.named:
		return nil, nil
	case k.delegate:
		list, err := n.calls(ctx, s)
		return append(list, n.rawView(s)), err
	case k.task:
		list, err := n.task(ctx, s)
		return append(list, n.rawView(s)), err
	}
	return n.fields(ctx, s, o)
}

func (n *object) rawView(s *session) dap.Variable {
	return dap.Variable{Name: "Raw view", VariablesReference: s.values.add(&object{n.view, n.at, true}),
		PresentationHint: &dap.VariablePresentationHint{Kind: "virtual"}}
}

// fields lists the fields of an instance. The statics of its type are in a separate group.
func (n *object) fields(ctx context.Context, s *session, o *answer.Object) ([]dap.Variable, error) {
	var out []dap.Variable
	if len(o.Boxed) > 0 {
		out = append(out, dap.Variable{Name: "value", Value: o.Boxed.Cut(textLimit), Type: o.Type.String()})
	}
	if !o.Listed() || o.FieldsErr != nil {
		for _, w := range o.Words { // an object with unknown fields
			v := dap.Variable{Name: fmt.Sprintf("+%#x", w.Offset), Value: fmt.Sprintf("%#x", uint64(w.Value)), MemoryReference: fmt.Sprintf("%#x", uint64(w.Value))}
			if !w.Type.IsZero() {
				v = s.reference(ctx, n.view, named{name: v.Name}, target.Addr(w.Value))
			}
			out = append(out, v)
		}
		if o.Listed() && len(out) == 0 {
			return nil, o.FieldsErr
		}
		return out, nil
	}
	out = append(out, s.fields(ctx, n.view, o.Fields, reference(n.at), func(kind answer.FieldKind) bool { return kind == answer.FieldInstance })...)
	isStatic := func(kind answer.FieldKind) bool { return kind != answer.FieldInstance }
	for i := range o.Fields {
		if isStatic(o.Fields[i].Kind) {
			fields, name := o.Fields, o.Type.S
			out = append(out, dap.Variable{Name: "Static fields", VariablesReference: s.values.add(group(func(ctx context.Context, s *session) ([]dap.Variable, error) {
				return s.fields(ctx, n.view, fields, name, isStatic), nil
			})), PresentationHint: &dap.VariablePresentationHint{Kind: "class"}})
			break
		}
	}
	return out, nil
}

// calls lists the methods that a delegate calls.
func (n *object) calls(ctx context.Context, s *session) ([]dap.Variable, error) {
	list, err := values.DelegateCalls(ctx, n.view, n.at)
	if err != nil {
		return nil, err
	}
	var out []dap.Variable
	for c, err := range list {
		name := fmt.Sprintf("[%d]", len(out))
		switch {
		case err != nil:
			out = append(out, dap.Variable{Name: name, Value: words(err)})
			continue
		case len(out) == pageSize:
			return append(out, dap.Variable{Name: "[more]", Value: "dumpdelegate lists all"}), nil
		}
		method := callName(&c)
		call, view := c, n.view
		out = append(out, dap.Variable{Name: name, Value: method, VariablesReference: s.values.add(group(func(ctx context.Context, s *session) ([]dap.Variable, error) {
			return []dap.Variable{
				{Name: "Method", Value: method, MemoryReference: reference(call.Method)},
				s.reference(ctx, view, named{name: "Target"}, call.Target),
			}, nil
		}))})
	}
	return out, nil
}

func callName(c *answer.DelegateCall) string {
	if c.Missing.Err != nil {
		return cmpText(c.Name, reference(c.Method)) + " " + words(c.Missing.Err)
	}
	return c.Name
}

// task lists the state of a task, what it waits for, and its waiters.
func (n *object) task(ctx context.Context, s *session) ([]dap.Variable, error) {
	t, err := async.State(ctx, n.view, n.at)
	if err != nil {
		return nil, err
	}
	out := []dap.Variable{{Name: "Status", Value: string(t.Status)}}
	text := func(name, value string) {
		if value != "" {
			out = append(out, dap.Variable{Name: name, Value: value})
		}
	}
	if t.ID.Err() == nil && t.ID.Value != 0 {
		text("Id", fmt.Sprint(t.ID.Value))
	}
	text("Code", t.Name.String())
	text("Result", t.Result)
	if t.At != nil {
		text("At", place(t.At))
	}
	for i := range t.Suspended {
		text(fmt.Sprintf("Suspended[%d]", i), place(&t.Suspended[i]))
	}
	for i := range t.Exceptions {
		e := &t.Exceptions[i]
		out = append(out, s.reference(ctx, n.view, named{name: fmt.Sprintf("Exception[%d]", i)}, e.Object))
	}
	text("Waits for", t.WaitsFor.String())
	link := func(name string, l *answer.TaskLink) {
		v := s.reference(ctx, n.view, named{name: name}, l.Object)
		v.Value = l.Name.String()
		if more := cmpText(string(l.Status), l.Meaning); more != "" {
			v.Value += " (" + more + ")"
		}
		out = append(out, v)
	}
	if t.WaitsOn != nil {
		link("Waits on", t.WaitsOn)
	}
	for i := range t.Then {
		link(fmt.Sprintf("Then[%d]", i), &t.Then[i])
	}
	return out, nil
}

// place describes the position of an async method.
func place(p *answer.AsyncPlace) string {
	out := p.Method.String()
	if await := p.Await.String(); await != "" {
		out += " awaits " + await
	}
	if p.Line > 0 {
		out += fmt.Sprintf(" [%s @ %d]", p.File, p.Line)
	}
	if p.Missing.Err != nil {
		out += " " + words(p.Missing.Err)
	}
	return out
}

// A sequence is a list of numbered elements that can be read in part.
type sequence struct {
	length uint64
	known  bool // length is known
	// read reads at most count elements from start on.
	read func(ctx context.Context, s *session, start, count uint64) iter.Seq2[dap.Variable, error]
	also []dap.Variable // named children
}

// elements lists a part of a sequence. If there are too many elements for one list, it groups them in ranges.
func (s *session) elements(ctx context.Context, p part, q *sequence) ([]dap.Variable, error) {
	var out []dap.Variable
	if p.indexed {
		start, count := uint64(p.start), uint64(p.count)
		paged := count > 0
		if count = min(count, 10*pageSize); !paged {
			count = pageSize
		}
		n := uint64(0)
		for v, err := range q.read(ctx, s, start, count) {
			switch {
			case err != nil && ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				v = dap.Variable{Name: fmt.Sprintf("[%d]", start+n), Value: words(err)}
			}
			out = append(out, v)
			if n++; n >= count {
				break
			}
		}
		switch end := start + n; {
		case paged || n < count:
		case q.known:
			out = append(out, s.ranges(q, end, q.length)...)
		default:
			out = append(out, s.rangeOf(q, end, end+pageSize))
		}
	}
	if p.named && p.start == 0 {
		out = append(out, q.also...)
	}
	return out, nil
}

// ranges returns the elements from..to as at most pageSize ranges, nested if necessary.
func (s *session) ranges(q *sequence, from, to uint64) []dap.Variable {
	size := uint64(pageSize)
	for from < to && (to-from-1)/size+1 > pageSize {
		size *= pageSize
	}
	var out []dap.Variable
	for ; from < to; from += min(size, to-from) {
		out = append(out, s.rangeOf(q, from, min(from+size, to)))
	}
	return out
}

func (s *session) rangeOf(q *sequence, from, to uint64) dap.Variable {
	name := fmt.Sprintf("[%d..%d]", from, to-1)
	if !q.known {
		name = fmt.Sprintf("[%d..]", from)
	}
	return dap.Variable{Name: name, VariablesReference: s.values.add(&rangeNode{q, from, to})}
}

// A rangeNode is a range of a sequence's elements.
type rangeNode struct {
	of       *sequence
	from, to uint64
}

func (n *rangeNode) children(ctx context.Context, s *session, _ part) ([]dap.Variable, error) {
	if n.of.known && n.to-n.from > pageSize {
		return s.ranges(n.of, n.from, n.to), nil
	}
	q := *n.of
	q.also, q.length = nil, n.to
	list, err := s.elements(ctx, part{indexed: true, start: int(n.from), count: int(n.to - n.from)}, &q)
	if err == nil && !n.of.known && uint64(len(list)) == n.to-n.from {
		list = append(list, s.rangeOf(n.of, n.to, n.to+pageSize))
	}
	return list, err
}

// array returns the elements of an array, in the order of memory.
func (n *object) array(o *answer.Object) *sequence {
	q := &sequence{known: true}
	if o.Length != nil {
		q.length = uint64(*o.Length)
	}
	element := ""
	q.read = func(ctx context.Context, s *session, start, count uint64) iter.Seq2[dap.Variable, error] {
		return func(yield func(dap.Variable, error) bool) {
			if start >= q.length {
				return
			}
			var ao objects.ArrayOptions
			skip := start
			if o.Rank == 1 {
				low := int64(0)
				if len(o.LowerBounds) > 0 {
					low = int64(o.LowerBounds[0])
				}
				first, length := low+int64(start), int64(min(count, q.length-start))
				ao.Start, ao.Length, skip = &first, &length, 0
			}
			a, err := values.Array(ctx, n.view, n.at, ao)
			if err != nil {
				yield(dap.Variable{}, err)
				return
			}
			element = a.ElementType.String()
			for e, err := range a.Elements {
				if skip > 0 {
					skip--
					continue
				}
				if err != nil {
					if !yield(dap.Variable{}, err) {
						return
					}
					continue
				}
				index := indexText(e.Index)
				v := s.variable(ctx, n.view, named{name: index, typ: element, stored: &e.Stored, evaluate: reference(n.at) + index})
				if v.MemoryReference == "" {
					v.MemoryReference = reference(e.Address)
				}
				if !yield(v, nil) {
					return
				}
			}
		}
	}
	return q
}

func indexText(index []int32) string {
	out := "["
	for i, n := range index {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprint(n)
	}
	return out + "]"
}

// collection returns the elements of a collection, and its raw view.
func (n *object) collection(ctx context.Context, s *session, p part) ([]dap.Variable, error) {
	c, err := values.Items(ctx, n.view, n.at, objects.CollectionOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	q := &sequence{length: c.Count.Value, known: c.Count.Err() == nil, also: []dap.Variable{n.rawView(s)}}
	if c.Text != nil {
		q.also = append([]dap.Variable{{Name: "Text", Value: answer.Quote(*c.Text)}}, q.also...)
	}
	q.read = func(ctx context.Context, s *session, start, count uint64) iter.Seq2[dap.Variable, error] {
		return func(yield func(dap.Variable, error) bool) {
			c, err := values.Items(ctx, n.view, n.at, objects.CollectionOptions{Offset: start, Limit: count})
			if err != nil {
				yield(dap.Variable{}, err)
				return
			}
			for i, err := range c.Items.All() {
				if err == nil {
					if !yield(n.item(ctx, s, &i), nil) {
						return
					}
				} else if !yield(dap.Variable{}, err) {
					return
				}
			}
		}
	}
	return s.elements(ctx, p, q)
}

// item shows an element of a collection. A dictionary entry is its value named by its key, or a group of both if the
// key is an object.
func (n *object) item(ctx context.Context, s *session, i *answer.CollectionItem) dap.Variable {
	name := fmt.Sprintf("[%d]", i.Index)
	if !i.HasKey {
		return s.variable(ctx, n.view, named{name: name, stored: &i.Item})
	}
	key := i.Key
	name = "[" + storedText(&key) + "]"
	if !i.HasValue {
		return s.variable(ctx, n.view, named{name: name, stored: &key})
	}
	v := s.variable(ctx, n.view, named{name: name, stored: &i.Item})
	if key.Text.StartsQuoted() || key.Value.Kind != answer.KindReference && key.Members.IsZero() {
		return v
	}
	item := i.Item
	v.VariablesReference = s.values.add(group(func(ctx context.Context, s *session) ([]dap.Variable, error) {
		return []dap.Variable{s.variable(ctx, n.view, named{name: "Key", stored: &key}), s.variable(ctx, n.view, named{name: "Value", stored: &item})}, nil
	}))
	v.IndexedVariables, v.NamedVariables = 0, 0
	return v
}
