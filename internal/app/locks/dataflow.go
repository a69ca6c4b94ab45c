package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Shapes of dataflow networks (System.Threading.Tasks.Dataflow: Base/DataflowBlock.cs, Internal/TargetCore.cs, Internal/SourceCore.cs,
// Internal/TargetRegistry.cs).
type (
	// sending is the promise of a SendAsync that a full block has postponed.
	sending struct {
		_      objects.Shape    `of:"System.Threading.Tasks.Dataflow.DataflowBlock+SendAsyncSource<>"`
		Target objects.RefField `field:"_target"`
	}
	dataflowBlock struct {
		_        objects.Shape    `of:"System.Threading.Tasks.Dataflow.BufferBlock<>|System.Threading.Tasks.Dataflow.ActionBlock<>|System.Threading.Tasks.Dataflow.TransformBlock<,>|System.Threading.Tasks.Dataflow.TransformManyBlock<,>|System.Threading.Tasks.Dataflow.BatchBlock<>|System.Threading.Tasks.Dataflow.BroadcastBlock<>"`
		Bounding objects.RefField `field:"_boundingState,optional"`
		Target   objects.RefField `field:"_target|_defaultTarget,optional"`
		Source   objects.RefField `field:"_source,optional"`
	}
	blockTarget struct {
		_        objects.Shape    `of:"System.Threading.Tasks.Dataflow.Internal.TargetCore<>|System.Threading.Tasks.Dataflow.BatchBlock<>+BatchBlockTargetCore"`
		Bounding objects.RefField `field:"_boundingState"`
		Calls    objects.IntField `field:"_numberOfOutstandingOperations,optional"`
	}
	blockBounds struct {
		_        objects.Shape    `of:"System.Threading.Tasks.Dataflow.Internal.BoundingState"`
		Capacity objects.IntField `field:"BoundedCapacity"`
		Count    objects.IntField `field:"CurrentCount"`
	}
	blockSource struct {
		_        objects.Shape    `of:"System.Threading.Tasks.Dataflow.Internal.SourceCore<>"`
		Registry objects.RefField `field:"_targetRegistry"`
		Offering objects.RefField `field:"_taskForOutputProcessing"`
	}
	blockLinks struct {
		_     objects.Shape    `of:"System.Threading.Tasks.Dataflow.Internal.TargetRegistry<>"`
		First objects.RefField `field:"_firstTarget"`
	}
	blockLink struct {
		_      objects.Shape    `of:"System.Threading.Tasks.Dataflow.Internal.TargetRegistry<>+LinkedTargetInfo"`
		Target objects.RefField `field:"Target"`
		Next   objects.RefField `field:"Next"`
	}
	// linkFilter stands between a source and a target that takes some of its items.
	linkFilter struct {
		_      objects.Shape    `of:"System.Threading.Tasks.Dataflow.DataflowBlock+FilteredLinkPropagator<>"`
		Target objects.RefField `field:"_target"`
	}
	linkCounter struct {
		_      objects.Shape    `of:"System.Threading.Tasks.Dataflow.Internal.TargetRegistry<>+NopLinkPropagator"`
		Target objects.RefField `field:"_target"`
	}
)

// taskWork is what a task runs. Blocks give their tasks themselves, or a tuple or closure with themselves.
type taskWork struct {
	_      objects.Shape    `of:"System.Threading.Tasks.Task"`
	Action objects.RefField `field:"m_action"`
	State  objects.RefField `field:"m_stateObject"`
}

// A block is a block of a dataflow network with a limit.
type block struct {
	object          objects.Object
	count, capacity int64
	calls           int64 // of its delegate, that have not ended
	offers          bool  // it has targets to offer its items to
	offering        bool  // a task does so, or is about to
	links           []blockTo
}

// A blockTo is a target of a block.
type blockTo struct {
	target   objects.Object
	filtered bool // it takes some items only
}

func (b *block) full() bool { return b.count >= b.capacity }

// readBlock reads a block. It returns nil for other objects, and for blocks without a limit.
func (s *survey) readBlock(o objects.Object) (*block, error) {
	k, x, is, err := shapes.TryBind[*dataflowBlock](s.r.b, o)
	if !is || err != nil {
		return nil, err
	}
	out := &block{object: o}
	var bounds objects.Object
	if k.Bounding.Has() {
		bounds, err = k.Bounding.Object(x)
	} else if k.Target.Has() {
		bounds, err = out.readTarget(s, &k.Target, x)
	}
	if err != nil || bounds.Addr == 0 {
		return nil, err
	}
	b, at, err := objects.BindObject[*blockBounds](s.r.b, bounds)
	if err != nil {
		return nil, err
	}
	v, err := ints(at, &b.Capacity, &b.Count)
	if err != nil {
		return nil, err
	}
	out.capacity, out.count = v[0], v[1]
	if k.Source.Has() {
		out.offers = true
		err = out.readLinks(s, &k.Source, x)
	}
	return out, err
}

// readTarget reads the calls of a block's delegate, and returns its limits.
func (b *block) readTarget(s *survey, f *objects.RefField, x objects.Instance) (none objects.Object, err error) {
	o, err := f.Object(x)
	if err != nil || o.Addr == 0 {
		return none, err
	}
	k, at, err := objects.BindObject[*blockTarget](s.r.b, o)
	if err != nil {
		return none, err
	}
	if k.Calls.Has() {
		if b.calls, err = k.Calls.Int(at); err != nil {
			return none, err
		}
	}
	return k.Bounding.Object(at)
}

// readLinks reads the targets of a block.
func (b *block) readLinks(s *survey, f *objects.RefField, x objects.Instance) error {
	o, err := f.Object(x)
	if err != nil || o.Addr == 0 {
		return err
	}
	source, at, err := objects.BindObject[*blockSource](s.r.b, o)
	if err != nil {
		return err
	}
	offering, err := source.Offering.Addr(at)
	if err != nil {
		return err
	}
	b.offering = offering != 0
	if o, err = source.Registry.Object(at); err != nil || o.Addr == 0 {
		return err
	}
	list, at, err := objects.BindObject[*blockLinks](s.r.b, o)
	if err != nil {
		return err
	}
	seen := map[target.Addr]bool{}
	for o, err = list.First.Object(at); err == nil && o.Addr != 0 && !seen[o.Addr]; {
		if len(seen) == limits.WorkItems {
			return target.Unsupportedf("more than %d links of a block", limits.WorkItems)
		}
		seen[o.Addr] = true
		var link *blockLink
		if link, at, err = objects.BindObject[*blockLink](s.r.b, o); err != nil {
			return err
		}
		to, err := s.linked(&link.Target, at)
		if err != nil {
			return err
		}
		b.links = append(b.links, to)
		if o, err = link.Next.Object(at); err != nil {
			return err
		}
	}
	return err
}

// linked returns the target of a link, through filters and counters.
func (s *survey) linked(f *objects.RefField, x objects.Instance) (out blockTo, err error) {
	for range limits.ParentChain {
		if out.target, err = f.Object(x); err != nil || out.target.Addr == 0 {
			return out, err
		}
		filter, at, is, err := shapes.TryBind[*linkFilter](s.r.b, out.target)
		if err != nil {
			return out, err
		}
		if is {
			f, x, out.filtered = &filter.Target, at, true
			continue
		}
		counter, at, is, err := shapes.TryBind[*linkCounter](s.r.b, out.target)
		if !is || err != nil {
			return out, err
		}
		f, x = &counter.Target, at
	}
	return out, target.Unsupportedf("more than %d links in one", limits.ParentChain)
}

// senders finds the blocks that suspended code waits for room in, by the promises of SendAsync.
func (s *survey) senders() {
	known := map[target.Addr]*thing{}
	for _, op := range s.ops {
		if op.thing.source == 0 {
			continue
		}
		o, err := s.r.b.Objects().TrustedObject(op.thing.source)
		if err != nil {
			continue // it stays a promise
		}
		k, x, is, err := shapes.TryBind[*sending](s.r.b, o)
		if !is {
			continue
		}
		if err == nil {
			o, err = k.Target.Object(x)
		}
		if err != nil || o.Addr == 0 {
			s.gaps.Note(err)
			continue
		}
		t, ok := known[o.Addr]
		if !ok {
			t = s.blockThing(o)
			known[o.Addr] = t
		}
		if t != nil {
			t.channel.writers++
			op.thing = t
		}
	}
}

// blockThing describes room in a block, or returns nil if it is unknown, and notes why.
func (s *survey) blockThing(o objects.Object) *thing {
	b, err := s.readBlock(o)
	if b == nil || err != nil {
		s.gaps.Note(err)
		return nil
	}
	c := &channelWait{kind: &blockKind, object: o, capacity: answer.Of[int64](b.capacity, nil), items: answer.Of[int64](b.count, nil)}
	return &thing{kind: answer.WaitBlock, cause: tasks.CauseChannelWrite, addr: o.Addr, typ: s.gaps.Text(o.Type.ManagedName()), says: words.BlockRoom.Of(s.blockType(o)),
		state: b.state(), channel: c, writes: true}
}

// blockType returns the class of a block without its namespace.
func (s *survey) blockType(o objects.Object) answer.Statement {
	return words.Type(strings.TrimPrefix(s.gaps.Text(o.Type.ManagedName()).String(), "System.Threading.Tasks.Dataflow."))
}

func (b *block) state() answer.Statement {
	return words.ItemsOfCapacity.Of(words.N(b.count), words.N(b.capacity))
}

// workers finds the code that has an item of a block, by block: suspended methods that a task of the block continues, and threads that run one.
func (s *survey) workers() map[target.Addr][]holder {
	out := map[target.Addr][]holder{}
	add := func(task target.Addr, h holder) {
		for _, b := range s.blocksOf(task) {
			if !slices.ContainsFunc(out[b], func(other holder) bool { return other.box == h.box && other.thread == h.thread }) {
				out[b] = append(out[b], h)
			}
		}
	}
	for _, op := range s.ops {
		for _, a := range op.path {
			add(a, holder{box: op.box, method: op.method, place: &answer.AsyncPlace{File: op.file, Line: op.line}, strength: answer.StrengthLikely})
		}
	}
	s.runs(0)
	for task, t := range s.running.tasks {
		add(task, holder{thread: t, method: s.innermost(t), strength: answer.StrengthLikely})
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b holder) int {
			return cmp.Or(cmp.Compare(a.box, b.box), cmp.Compare(osID(a.thread), osID(b.thread)))
		})
	}
	return out
}

// osID returns the id of a thread for the operating system, or 0.
func osID(t *stackwalk.Thread) uint32 {
	if t == nil || t.OS == nil {
		return 0
	}
	return t.OS.ID
}

// innermost returns the innermost method of the program that a thread runs.
func (s *survey) innermost(t *stackwalk.Thread) answer.Text {
	for md := range s.methodsOf(t) {
		name, err := dac.CodeOf(s.r.rt).MethodName(md, dac.MethodQualified)
		return answer.Text{S: name, Err: err}
	}
	return answer.Text{Err: target.Unsupportedf("no method of the program")}
}

// blocksOf returns the blocks that a task belongs to: its state, what its delegate is bound to, or a field of these is a block.
func (s *survey) blocksOf(a target.Addr) (out []target.Addr) {
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		return nil
	}
	k, x, is, err := shapes.TryBind[*taskWork](s.r.b, o)
	if !is || err != nil {
		return nil
	}
	see := func(o objects.Object) {
		if is, err := objects.IsShape[*dataflowBlock](s.r.b, o.Type); is && err == nil && !slices.Contains(out, o.Addr) {
			out = append(out, o.Addr)
		}
	}
	for _, f := range []*objects.RefField{&k.State, &k.Action} {
		o, err := f.Object(x)
		if err != nil || o.Addr == 0 {
			continue
		}
		if calls, err := o.Delegate(); err == nil {
			if len(calls) != 1 || calls[0].Target == 0 {
				continue
			}
			if o, err = s.r.b.Objects().TrustedObject(calls[0].Target); err != nil {
				continue
			}
		}
		if name, err := s.r.b.Definition(o.Type); err != nil || !answer.LibraryMethod(name+".") {
			continue // the program's own code may refer to any block
		}
		see(o)
		for _, v := range o.Fields() {
			if v.Kind() != objects.KindReference || v.IsNull() {
				continue
			}
			if inner, err := v.Object(); err == nil {
				see(inner)
			}
		}
	}
	return out
}

// fullBlock concludes who would make room in a full block: the code that has its items, or the code behind the full blocks that it is linked to.
func (g *grapher) fullBlock(v *answer.Verdict, c *channelWait) bool {
	workers := g.s.workers()
	o := c.object
	for seen := map[target.Addr]bool{}; !seen[o.Addr]; {
		seen[o.Addr] = true
		b, err := g.s.readBlock(o)
		if b == nil || err != nil {
			return false // who takes from it is not known
		}
		name := words.ThisBlock.Of()
		if len(seen) > 1 {
			if !b.full() {
				return false
			}
			name = words.ObjectOfType.Of(g.s.blockType(o), g.addressName(o.Addr))
			v.Statement = v.Plus(words.BlockLinked.Of(name, b.state()))
			v.Show = append(v.Show, "dumpobj "+addressText(o.Addr))
		}
		if list := workers[o.Addr]; len(list) > 0 {
			return g.worked(v, name, list, c.writers)
		}
		switch {
		case b.calls > 0, b.offering, !b.offers:
			return false // its turn comes, or what it does is not known
		case len(b.links) == 0:
			return g.unlinked(v, &channelWait{kind: &blockKind, object: o}, name)
		}
		next := slices.IndexFunc(b.links, func(to blockTo) bool { n, err := g.s.readBlock(to.target); return err != nil || n != nil && n.full() })
		if next < 0 {
			return g.declined(v, b, name)
		}
		o = b.links[next].target
	}
	return true
}

// worked concludes which code has items of a full block. It returns false if that code goes on: the block is full by design then, as long as what sends
// is faster.
func (g *grapher) worked(v *answer.Verdict, block answer.Statement, list []holder, waiting int) bool {
	if g.keepsUp(list, waiting) {
		return false
	}
	moving := slices.ContainsFunc(list, func(h holder) bool { return h.thread != nil && g.takesOn(h) })
	if moving && waiting < crowd {
		return false
	}
	stalled := slices.IndexFunc(list, func(h holder) bool {
		if h.thread != nil {
			return !g.takesOn(h)
		}
		op := g.s.standing[h.box]
		return op != nil && op.stalls()
	})
	if stalled < 0 && !moving {
		return false // it waits for a server or for a time
	}
	h, wait := &list[max(stalled, 0)], answer.Statement{}
	switch op := g.s.standing[h.box]; {
	case h.thread == nil && op != nil:
		wait = words.AndWaitsFor.Of(g.thingText(op.thing))
	case h.thread != nil && g.waitOf(h) != nil:
		wait = words.AndWaitsFor.Of(g.what(g.waitOf(h)))
	}
	consumer := g.holderName(h)
	v.Strength, v.Statement = answer.StrengthLikely, v.Plus(words.BlockWorks.Of(consumer, block, wait))
	if v.Because(words.BlockState.Of(consumer)); moving {
		v.Severity = answer.SeverityWarning // there is room soon
	}
	v.Show = append(v.Show, g.showHolder(h)...)
	return true
}

// unlinked concludes that nothing takes items from a full block. It returns false if a method may receive from it.
func (g *grapher) unlinked(v *answer.Verdict, c *channelWait, block answer.Statement) bool {
	readers, unknown := g.readers(c)
	if len(readers) > 0 {
		return g.worked(v, block, readers, c.writers)
	}
	reads, sure := g.reading(c)
	v.Statement = v.Plus(words.BlockUnlinked.Of(block))
	if unknown || !sure {
		v.Strength = answer.StrengthPossible // it may receive from this block
	}
	return !reads
}

// declined concludes that the filters of a block's links have declined the item that it offers: the block keeps it, and all behind it.
func (g *grapher) declined(v *answer.Verdict, b *block, name answer.Statement) bool {
	if slices.ContainsFunc(b.links, func(to blockTo) bool { return !to.filtered }) {
		return false // it is about to go on
	}
	v.Strength, v.Statement = answer.StrengthLikely, v.Plus(words.BlockDeclined.Of(name, words.N(len(b.links))))
	return true
}
