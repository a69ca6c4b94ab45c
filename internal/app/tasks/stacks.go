package tasks

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// StackOptions selects stacks and the parts of their frames. The zero value selects the stacks with an async method
// that has not completed.
type StackOptions struct {
	Address     target.Addr `opt:"address,addr" help:"only stacks with this task or box"`
	MethodTable target.Addr `opt:"methodtable,mt" help:"only stacks with objects of this type"`
	Type        string      `opt:"type" kind:"type" help:"only stacks with objects of types whose name contains this"`
	Tasks       bool        `opt:"tasks,t" help:"also stacks of tasks alone, without an async method"`
	Completed   bool        `opt:"completed,c" help:"also what has completed"`
	Waiting     bool        `opt:"waiting" help:"only stacks with an async method that is suspended at an await"`

	Any       map[target.Addr]bool // only stacks with one of these objects, unless nil
	Machines  bool                 // without F# asyncs, which have no state machines and are unknown to SOS
	Variables bool                 // with the async methods' variables
	Fields    bool                 // with fields
	// Roots, if not nil, finds what keeps the first frame of a stack alive.
	Roots func(ctx context.Context, object target.Addr) (*answer.RootPaths, error)
}

// narrows reports whether the options exclude items.
func (o *StackOptions) narrows() bool {
	return o.Address != 0 || o.Any != nil || o.MethodTable != 0 || o.Waiting || o.Type != ""
}

// matches reports whether the options select an item.
func (o *StackOptions) matches(it *item) bool {
	switch {
	case o.Address != 0 && it.addr != o.Address:
		return false
	case o.Any != nil && !o.Any[it.addr]:
		return false
	case o.MethodTable != 0 && it.kind.typ.MT.Addr != o.MethodTable:
		return false
	case o.Waiting && !(it.hasState && it.state >= 0) && !it.kind.computes():
		return false
	}
	if o.Type == "" {
		return true
	}
	n, err := it.kind.names()
	return err == nil && strings.Contains(n.full, o.Type)
}

// A selection is the part of a Set that options select.
type selection struct {
	*Set
	o StackOptions
	// live marks the items that count: all of them, or the incomplete ones.
	live []bool
	// own marks the items that nothing continues; part marks the items that only pooled boxes continue.
	own, part []bool
	todo      []int32    // reused by spread
	behind    *backEdges // built when first needed
	// wanted marks the items from which a selected item can be reached.
	wanted []bool
}

// choose determines the live items and the starts of stacks.
func (s *Set) choose(o StackOptions) *selection {
	n := len(s.items)
	c := &selection{Set: s, o: o, live: make([]bool, n), own: make([]bool, n), part: make([]bool, n)}
	for i := range s.items {
		c.live[i] = (o.Completed || !s.items[i].completed()) && !(o.Machines && s.items[i].kind.fsharp())
		c.own[i] = c.live[i]
		c.part[i] = c.live[i] && s.items[i].kind.task != nil
	}
	for i := range s.items {
		if !c.live[i] {
			continue
		}
		for _, e := range s.next(int32(i)) {
			if e.to < 0 {
				continue
			}
			c.own[e.to] = c.own[e.to] && e.to == int32(i)
			if !e.value {
				c.part[e.to] = c.part[e.to] && e.to == int32(i)
			}
		}
	}
	matching := c.live
	if o.narrows() {
		matching = c.reaching(func(i int32) bool { return o.matches(&c.items[i]) })
	}
	if o.Tasks {
		c.wanted = matching
		return c
	}
	c.wanted = c.reaching(func(i int32) bool { return c.items[i].kind.async() })
	for i := range c.wanted {
		c.wanted[i] = c.wanted[i] && matching[i]
	}
	return c
}

// reaching marks the items from which a chain of continuations leads to an item that satisfies is, including that item.
func (c *selection) reaching(is func(i int32) bool) []bool { return c.closure(is, c.backwards()) }

// reached marks the items to which a chain of continuations leads from an item that satisfies is, including that item.
func (c *selection) reached(is func(i int32) bool) []bool { return c.closure(is, onward{c}) }

// A direction follows the continuations of live items: onward or backwards.
type direction interface {
	// from appends the items one step from item i.
	from(list []int32, i int32) []int32
}

// closure marks the live items that satisfy is, and all items reachable from them in direction d.
func (c *selection) closure(is func(i int32) bool, d direction) []bool {
	out := make([]bool, len(c.items))
	for i := range c.items {
		if c.live[i] && !out[i] && is(int32(i)) {
			c.spread(out, int32(i), d)
		}
	}
	return out
}

// spread marks an item and all items reachable from it in direction d.
func (c *selection) spread(marks []bool, i int32, d direction) {
	marks[i] = true
	todo := d.from(c.todo[:0], i)
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !marks[i] {
			marks[i] = true
			todo = d.from(todo, i)
		}
	}
	c.todo = todo
}

// onward leads from an item to the live items that continue it.
type onward struct{ *selection }

func (c onward) from(list []int32, i int32) []int32 {
	for _, e := range c.next(i) {
		if e.to >= 0 && c.live[e.to] {
			list = append(list, e.to)
		}
	}
	return list
}

// backEdges holds the reversed edges of a Set.
type backEdges struct {
	first  []uint32
	before []int32
}

// of returns the items that item i continues.
func (b *backEdges) of(i int32) []int32 { return b.before[b.first[i]:b.first[i+1]] }

func (b *backEdges) from(list []int32, i int32) []int32 { return append(list, b.of(i)...) }

// backwards builds the reversed edges of live items.
func (c *selection) backwards() *backEdges {
	if c.behind != nil {
		return c.behind
	}
	n := len(c.items)
	b := &backEdges{first: make([]uint32, n+1)}
	each := func(visit func(from, to int32)) {
		for i := range c.items {
			if !c.live[i] {
				continue
			}
			for _, e := range c.next(int32(i)) {
				if e.to >= 0 {
					visit(int32(i), e.to)
				}
			}
		}
	}
	each(func(_, to int32) { b.first[to+1]++ })
	for i := range n {
		b.first[i+1] += b.first[i]
	}
	b.before = make([]int32, b.first[n])
	at := append([]uint32(nil), b.first...)
	each(func(from, to int32) {
		b.before[at[to]] = from
		at[to]++
	})
	c.behind = b
	return b
}

// starts iterates over the items at which stacks begin: by address, first those that no task continues, then the items
// other than tasks that nothing continues.
func (c *selection) starts(yield func(i int32, part bool) bool) {
	for i := range c.items {
		if c.part[i] && c.wanted[i] && !yield(int32(i), !c.own[i]) {
			return
		}
	}
	for i := range c.items {
		if c.own[i] && !c.part[i] && c.wanted[i] && !yield(int32(i), false) {
			return
		}
	}
	// A ring has no start. Use its first item.
	met := c.reached(func(i int32) bool { return c.own[i] || c.part[i] })
	for i := range c.items {
		if !c.live[i] || met[i] {
			continue
		}
		if c.wanted[i] && !yield(int32(i), false) {
			return
		}
		c.spread(met, int32(i), onward{c})
	}
}

// Stacks iterates over the selected stacks. It builds each stack when the iteration reaches it and records what could
// not be read.
func (s *Set) Stacks(ctx context.Context, o StackOptions) iter.Seq2[*answer.AsyncStack, error] {
	return func(yield func(*answer.AsyncStack, error) bool) {
		b := s.builder(ctx, o)
		b.starts(func(i int32, part bool) bool {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return false
			}
			s := b.stack(i, part)
			if o.Roots != nil {
				var err error
				if s.Roots, err = o.Roots(ctx, s.Frames[0].Object); err != nil {
					s.Note(err)
				} else {
					s.NoteAll(s.Roots.Noted())
				}
			}
			return yield(s, nil)
		})
	}
}

func (s *Set) builder(ctx context.Context, o StackOptions) *builder {
	return &builder{ctx: ctx, hide: secrets.MaskOf(ctx), selection: s.choose(o), seen: make([]int32, len(s.items)), words: map[Flags]string{}, others: map[target.Addr]int32{}}
}

// A builder builds stacks one after another.
type builder struct {
	*selection
	ctx    context.Context
	hide   mask
	number int32                 // number of the stack
	seen   []int32               // by item: the number of the last stack that contains it
	others map[target.Addr]int32 // the same for objects that are not items
	words  map[Flags]string
	steps  []step
	slab   []answer.AsyncFrame // backs the frames; the frames of one stack are consecutive
}

// A step is a frame still to be built.
type step struct {
	addr  target.Addr
	item  int32 // -1 for other objects
	depth int32
	value bool
}

// stack builds the stack that begins with item i.
func (b *builder) stack(i int32, part bool) *answer.AsyncStack {
	b.number++
	out := &answer.AsyncStack{Part: part, Frames: b.slab[len(b.slab):]}
	b.steps = append(b.steps[:0], step{b.items[i].addr, i, 0, false})
	for len(b.steps) > 0 {
		at := b.steps[len(b.steps)-1]
		b.steps = b.steps[:len(b.steps)-1]
		if len(out.Frames) == limits.AsyncFrames {
			out.More = true
			out.Note(target.Unsupportedf("the stack of %v has more than %d frames", b.items[i].addr, limits.AsyncFrames))
			break
		}
		b.frame(out, at)
	}
	b.slab = out.Frames
	out.Frames = slices.Clip(out.Frames)
	b.down(out, i)
	return out
}

// slabFrames is how many frames are allocated at once. Most stacks have few.
const slabFrames = 256

// frame adds a frame and queues those that follow it.
func (b *builder) frame(out *answer.AsyncStack, at step) {
	if len(out.Frames) == cap(out.Frames) {
		out.Frames = append(make([]answer.AsyncFrame, 0, max(slabFrames, 2*len(out.Frames))), out.Frames...)
	}
	out.Frames = append(out.Frames, answer.AsyncFrame{Depth: int(at.depth), Object: at.addr, Value: at.value})
	f := &out.Frames[len(out.Frames)-1]
	if at.item < 0 {
		f.Again = b.others[at.addr] == b.number
		b.others[at.addr] = b.number
		b.describeOther(&out.Gaps, f)
		return
	}
	f.Again = b.seen[at.item] == b.number
	b.seen[at.item] = b.number
	b.describe(&out.Gaps, f, at.item)
	f.Left = !b.live[at.item]
	if f.Again || f.Left {
		return
	}
	next := b.next(at.item)
	for n := len(next) - 1; n >= 0; n-- {
		if b.o.Machines && next[n].to >= 0 && b.items[next[n].to].kind.fsharp() {
			continue
		}
		b.steps = append(b.steps, step{next[n].addr, next[n].to, at.depth + 1, next[n].value})
	}
}

// describe fills in the frame of an item.
func (b *builder) describe(g *answer.Gaps, f *answer.AsyncFrame, i int32) {
	it := &b.items[i]
	if it.kind.fsharp() {
		b.describeFSharp(g, f, it)
		return
	}
	f.MethodTable = it.kind.typ.MT.Addr
	f.AsyncName = *b.r.nameOf(g, it.kind, it.addr)
	switch {
	case it.kind.box != nil:
		f.Kind = answer.AsyncMethod
	case it.kind.pooled != nil:
		f.Kind = answer.AsyncPooled
	default:
		f.Kind = answer.AsyncTask
	}
	if it.kind.task != nil {
		f.Flags, f.Status, f.Words = answer.Hex(it.flags), it.flags.Status(), b.wordsOf(it.flags)
	}
	if it.kind.runtimeAsync {
		f.Suspended, f.Saved = b.r.suspended(g, it.kind, it.addr, b.o.Variables, b.hide)
	}
	if !it.kind.machine() {
		b.fields(g, f, it)
		return
	}
	if it.hasState {
		f.State = &it.state
	}
	x, m, err := b.r.machineOf(it.kind, it.addr)
	if errors.Is(err, errCleared) {
		f.AsyncPlace = *m.place(b.r, 0, false)
		b.fields(g, f, it)
		return
	}
	if err != nil {
		g.Note(err)
		return
	}
	f.AsyncPlace = *m.place(b.r, it.state, it.hasState)
	if b.o.Variables {
		f.Variables = b.r.variables(g, m, x, b.hide)
	}
	b.fields(g, f, it)
}

// describeOther fills in the frame of an object that is not a task.
func (b *builder) describeOther(g *answer.Gaps, f *answer.AsyncFrame) {
	f.Kind = answer.AsyncOther
	k, err := b.r.kindOf(f.Object)
	if err != nil {
		g.Note(err)
		missing := answer.Text{Err: err}
		f.AsyncName = answer.AsyncName{Type: missing, Name: missing, SOS: missing}
		return
	}
	f.MethodTable = k.typ.MT.Addr
	f.AsyncName = *b.r.nameOf(g, k, f.Object)
	if name, err := b.r.b.Definition(k.typ); err == nil {
		f.Meaning = meanings[name]
	}
	if k.computation != nil && k.computation.result != nil {
		f.Meaning = blockedWords
	}
}

// meanings describes the effect of continuations that are not tasks, by class.
var meanings = map[string]string{
	"System.Threading.Tasks.Task+SetOnInvokeMres":    "a thread blocked until then (Task.Wait, Result)",
	"System.Threading.Tasks.Task+SetOnCountdownMres": "a thread blocked until then (Task.WaitAll)",
}

// fields adds the fields of the state machine or task.
func (b *builder) fields(g *answer.Gaps, f *answer.AsyncFrame, it *item) {
	if !b.o.Fields {
		return
	}
	f.Fields = b.r.fieldList(g, it, b.hide)
}

// nameOf returns the name of an object, and notes in g what could not be read.
func (r *Reader) nameOf(g *answer.Gaps, k *kind, a target.Addr) *answer.AsyncName {
	if k.task != nil && !k.machine() {
		action, err := k.task.Action.Addr(objects.InstanceAt(a))
		g.Note(err)
		if err == nil && action != 0 {
			n := r.actionName(k, action)
			g.Note(n.err)
			return n.name
		}
	}
	if k.computes() {
		if user, of, err := r.userCode(k.computation, objects.InstanceAt(a)); err == nil && user != 0 {
			return of.answerName()
		}
	}
	if sentinel, err := r.completionSentinel(); err == nil && sentinel == a {
		return completedName
	}
	return k.answerName()
}

// completedName is the name of the object that replaces a continuation that has run.
var completedName = &answer.AsyncName{Type: answer.Text{S: "System.Object"}, Name: answer.Text{S: "TaskCompletionSentinel"}, SOS: answer.Text{S: "TaskCompletionSentinel"}}

// wordsOf returns the flags as SOS prints them.
func (b *builder) wordsOf(f Flags) string {
	w, ok := b.words[f]
	if !ok {
		w = f.words()
		b.words[f] = w
	}
	return w
}

// Listed returns the selected stacks as an answer. Tasks that could not be read are missing rows at the start of the
// list. Listed fails if no part of the heap can be read.
func (s *Set) Listed(ctx context.Context, o StackOptions) (*answer.Async, error) {
	if s.failure != nil {
		return nil, s.failure
	}
	out := &answer.Async{Never: s.never()}
	out.NoteAll(s.errs)
	out.Stacks = answer.NewRows(&out.Gaps, func(yield func(*answer.AsyncStack, error) bool) error {
		for _, err := range s.lost {
			if !yield(nil, err) {
				return nil
			}
		}
		s.Stacks(ctx, o)(yield)
		return nil
	})
	return out, nil
}
