package locks

import (
	"strings"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// finds holds the objects that a walk of the heap selects by type or header.
type finds struct {
	finder    *spinFinder
	tasks     *tasks.Reader
	thin      []heap.LockedObject
	spins     []heap.Object
	suspended bool          // an async method has not completed
	channels  []target.Addr // channels
	promises  []target.Addr // TaskCompletionSources, also of derived classes
	carriers  []target.Addr // arrays and collections of TaskCompletionSources
}

// maxCarriers bounds each list of channels, promises and carriers.
const maxCarriers = 1 << 20

// Flags of what is searched for in objects of a type.
const (
	probeSpin = 1 << iota
	probeAsync
	probeChannel
	probePromise
	probeCarrier
)

// A probe gathers the finds of one worker.
type probe struct {
	types *probeTypes
	finds
}

// probeTypes caches what is searched for in each type. It is safe for concurrent use.
type probeTypes struct {
	s     *survey
	known sync.Map // of *probeType by MethodTable
}

type probeType struct {
	what  uint8
	async *tasks.AsyncType
}

// Objects gathers a batch.
func (c *probe) Objects(_ *heap.Segment, batch []heap.Object) {
	for i := range batch {
		if o := &batch[i]; !o.Free {
			c.keep(c.types.of(o.Type), o)
		}
	}
}

// keep gathers an object of a type that is searched for.
func (c *probe) keep(t *probeType, o *heap.Object) {
	if t.what&probeSpin != 0 {
		c.spins = append(c.spins, *o)
	}
	if t.what&probeAsync != 0 && !c.suspended {
		c.suspended = t.async.Suspended(o.Addr)
	}
	for _, k := range [...]struct {
		what uint8
		list *[]target.Addr
	}{{probeChannel, &c.channels}, {probePromise, &c.promises}, {probeCarrier, &c.carriers}} {
		if t.what&k.what != 0 && len(*k.list) < maxCarriers {
			*k.list = append(*k.list, o.Addr)
		}
	}
}

// of returns what is searched for in objects of a type.
func (p *probeTypes) of(mt *dac.MethodTable) *probeType {
	if t, ok := p.known.Load(mt); ok {
		return t.(*probeType)
	}
	t, _ := p.known.LoadOrStore(mt, p.look(mt))
	return t.(*probeType)
}

// look determines what is searched for in objects of a type. An unreadable type is recorded by the code that uses its
// objects.
func (p *probeTypes) look(mt *dac.MethodTable) *probeType {
	found, b := p.s.found, p.s.r.b
	out := &probeType{async: found.tasks.AsyncType(mt)}
	if found.finder.places(mt) != nil {
		out.what |= probeSpin
	}
	if out.async != nil {
		out.what |= probeAsync
	}
	t, err := b.Objects().TrustedType(mt.Addr)
	if err != nil {
		return out
	}
	if is, err := objects.IsShape[*channel](b, t); is && err == nil {
		out.what |= probeChannel
	}
	if is, err := objects.IsShape[*completionSource](b, t); is && err == nil {
		out.what |= probePromise
	} else if name, err := t.ManagedName(); err == nil && strings.Contains(name, "TaskCompletionSource") && !strings.Contains(name, "AsyncStateMachineBox") {
		out.what |= probeCarrier
	}
	return out
}

// Corrupt does nothing: the search for other locks reports it.
func (c *probe) Corrupt(*heap.Corruption) {}

// Reset forgets the objects.
func (c *probe) Reset() {
	c.spins, c.suspended = c.spins[:0], false
	c.channels, c.promises, c.carriers = c.channels[:0], c.promises[:0], c.carriers[:0]
}

// find walks the heap for what the runtime does not record: thin locks, SpinLocks, and what async methods wait for.
func (s *survey) find(o heap.ScanOptions) error {
	out := finds{finder: &spinFinder{r: s.r, known: map[target.Addr][]spinPlace{}}, tasks: tasks.New(s.r.b)}
	s.found = &out
	s.lose(s.r.rt.Check(dac.FeatureObjectHeaders))
	census, err := s.r.heap.Census(s.ctx, o)
	if err == nil {
		out.thin = census.Thin
		types := &probeTypes{s: s}
		err = heap.Select(s.ctx, s.r.heap, func(mt *dac.MethodTable) bool { return types.of(mt).what != 0 }, o, func() *probe { return &probe{types: types} }, out.add)
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	s.lose(err)
	return nil
}

// add adds what a worker gathered.
func (f *finds) add(c *probe) error {
	f.spins = append(f.spins, c.spins...)
	f.suspended = f.suspended || c.suspended
	f.channels, f.promises, f.carriers = append(f.channels, c.channels...), append(f.promises, c.promises...), append(f.carriers, c.carriers...)
	return nil
}
