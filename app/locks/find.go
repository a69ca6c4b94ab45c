package locks

import (
	"strings"

	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// finds are what one walk of the heap looks for by the types and the headers of objects.
type finds struct {
	finder    *spinFinder
	tasks     *tasks.Reader
	thin      []heap.LockedObject
	spins     []heap.Object
	suspended bool          // there is an async method that has not completed
	channels  []target.Addr // channels
	promises  []target.Addr // TaskCompletionSources, also of derived classes
	carriers  []target.Addr // arrays and collections of TaskCompletionSources
	more      bool          // there are more of them than are kept
}

// maxCarriers bounds the channels, promises and carriers that are kept.
const maxCarriers = 1 << 20

// What a walk looks for in objects of a type.
const (
	probeSpin = 1 << iota
	probeAsync
	probeChannel
	probePromise
	probeCarrier
)

// A probe gathers what one worker sees.
type probe struct {
	s       *survey
	headers bool
	looked  []bool // by type number
	what    []uint8
	async   []*tasks.AsyncType
	finds
}

// Objects gathers a batch.
func (c *probe) Objects(_ *heap.Segment, batch []heap.Object) {
	rt := c.s.r.rt
	for i := range batch {
		o := &batch[i]
		if o.Free {
			continue
		}
		if c.headers {
			// The header of a segment's first object may not be stored; it holds no lock.
			if header, err := rt.ObjectHeader(o.Addr); err == nil {
				if lock, ok := rt.ThinLock(header); ok {
					c.thin = append(c.thin, heap.LockedObject{Object: *o, Lock: lock})
				}
			}
		}
		n := int(o.TypeNumber())
		if n >= len(c.looked) || !c.looked[n] {
			c.look(n, o.Type)
		}
		if c.what[n] != 0 {
			c.keep(n, o)
		}
	}
}

// keep gathers an object whose type is looked for.
func (c *probe) keep(n int, o *heap.Object) {
	what := c.what[n]
	if what&probeSpin != 0 {
		c.spins = append(c.spins, *o)
	}
	if what&probeAsync != 0 && !c.suspended {
		c.suspended = c.async[n].Suspended(o.Addr)
	}
	for _, k := range [...]struct {
		what uint8
		list *[]target.Addr
	}{{probeChannel, &c.channels}, {probePromise, &c.promises}, {probeCarrier, &c.carriers}} {
		if what&k.what == 0 {
			continue
		}
		if len(*k.list) == maxCarriers {
			c.more = true
			continue
		}
		*k.list = append(*k.list, o.Addr)
	}
}

// look determines what is looked for in objects of a type. Who needs the objects of a type that can't be read records that.
func (c *probe) look(n int, mt *dac.MethodTable) {
	for len(c.looked) <= n {
		c.looked, c.what, c.async = append(c.looked, false), append(c.what, 0), append(c.async, nil)
	}
	c.looked[n] = true
	if c.finder.places(mt) != nil {
		c.what[n] |= probeSpin
	}
	if c.async[n] = c.tasks.AsyncType(mt); c.async[n] != nil {
		c.what[n] |= probeAsync
	}
	b := c.s.r.b
	t, err := b.Objects().Type(mt.Addr)
	if err != nil {
		return
	}
	if is, err := shapes.Is[channel](b, t); is && err == nil {
		c.what[n] |= probeChannel
	}
	if is, err := shapes.Is[completionSource](b, t); is && err == nil {
		c.what[n] |= probePromise
	} else if name, err := t.ManagedName(); err == nil && strings.Contains(name, "TaskCompletionSource") && !strings.Contains(name, "AsyncStateMachineBox") {
		c.what[n] |= probeCarrier
	}
}

// Corrupt does nothing: the search for other locks reports it.
func (c *probe) Corrupt(*heap.Corruption) {}

// Reset forgets the objects.
func (c *probe) Reset() {
	c.thin, c.spins, c.suspended, c.more = c.thin[:0], c.spins[:0], false, false
	c.channels, c.promises, c.carriers = c.channels[:0], c.promises[:0], c.carriers[:0]
}

// find walks the heap once for what has no record of its own in the runtime: thin locks, SpinLocks, and what async methods wait for.
func (s *survey) find(o heap.ScanOptions) error {
	out := finds{finder: &spinFinder{r: s.r, known: map[target.Addr][]spinPlace{}}, tasks: tasks.New(s.r.b)}
	s.found = &out
	headers := s.r.rt.Check(dac.FeatureObjectHeaders)
	s.lose(headers)
	err := heap.Scan(s.ctx, s.r.heap, nil, o, func() *probe {
		return &probe{s: s, headers: headers == nil, finds: finds{finder: out.finder, tasks: out.tasks}}
	}, func(c *probe) error {
		out.thin, out.spins = append(out.thin, c.thin...), append(out.spins, c.spins...)
		out.suspended, out.more = out.suspended || c.suspended, out.more || c.more
		out.channels, out.promises, out.carriers = append(out.channels, c.channels...), append(out.promises, c.promises...), append(out.carriers, c.carriers...)
		return nil
	})
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	s.lose(err)
	return nil
}
