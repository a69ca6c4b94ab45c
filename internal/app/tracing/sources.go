package tracing

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type (
	sourceAnchor struct {
		_ objects.Shape `of:"System.Diagnostics.Tracing.EventSource|System.Diagnostics.Tracing.CounterGroup"`
	}
	eventSource struct {
		_           objects.Shape    `of:"System.Diagnostics.Tracing.EventSource"`
		Name        objects.RefField `field:"m_name"`
		Enabled     objects.IntField `field:"m_eventSourceEnabled"`
		Disposed    objects.IntField `field:"m_eventSourceDisposed"`
		Level       objects.IntField `field:"m_level"`
		Keywords    objects.IntField `field:"m_matchAnyKeyword"`
		Failure     objects.RefField `field:"m_constructionException"`
		Dispatchers objects.RefField `field:"m_Dispatchers"`
		EventPipe   objects.RefField `field:"m_eventPipeProvider,optional"`
		ETW         objects.RefField `field:"m_etwProvider,optional"`
	}
	// A trimmedSource is a source in a program that was published with EventSource.IsSupported switched off. The linker
	// removed the fields for listeners.
	trimmedSource struct {
		_           objects.Shape    `of:"System.Diagnostics.Tracing.EventSource"`
		Name        objects.RefField `field:"m_name"`
		Enabled     objects.IntField `field:"m_eventSourceEnabled,optional"`
		Dispatchers objects.RefField `field:"m_Dispatchers,optional"`
		EventPipe   objects.RefField `field:"m_eventPipeProvider,optional"`
		ETW         objects.RefField `field:"m_etwProvider,optional"`
	}
	// A dispatcher sends the events of a source to a listener.
	dispatcher struct {
		_        objects.Shape    `of:"System.Diagnostics.Tracing.EventDispatcher"`
		Listener objects.RefField `field:"m_Listener"`
		Events   objects.RefField `field:"m_EventEnabled"` // bool[]; since .NET 10 a dictionary
		Next     objects.RefField `field:"m_Next"`
	}
	// A provider connects a source to EventPipe or ETW. Before .NET 8 it has the fields of providerState itself.
	provider struct {
		_        objects.Shape    `of:"System.Diagnostics.Tracing.EventProvider"`
		State    objects.RefField `field:"_eventProvider|m_eventProvider"`
		Enabled  objects.IntField `field:"m_enabled,optional"`
		Level    objects.IntField `field:"m_level,optional"`
		Keywords objects.IntField `field:"m_anyKeywordMask,optional"`
	}
	providerState struct {
		_        objects.Shape    `of:"System.Diagnostics.Tracing.EventProviderImpl"`
		Enabled  objects.IntField `field:"_enabled"`
		Level    objects.IntField `field:"_level"`
		Keywords objects.IntField `field:"_anyKeywordMask"`
	}
	pipeProvider struct {
		_      objects.Shape    `of:"System.Diagnostics.Tracing.EventPipeEventProvider"`
		Handle objects.IntField `field:"_provHandle|m_provHandle"`
	}
	counterGroup struct {
		_        objects.Shape    `of:"System.Diagnostics.Tracing.CounterGroup"`
		Source   objects.RefField `field:"_eventSource"`
		Counters objects.RefField `field:"_counters"`
		Millis   objects.IntField `field:"_pollingIntervalInMilliseconds,optional"`
		Ticks    objects.IntField `field:"_pollingInterval._ticks,optional"` // .NET 11
	}
)

// ticksInMilli is the number of TimeSpan ticks in a millisecond.
const ticksInMilli = 10_000

// A Reader reads the event sources of a process and their listeners. It is safe for concurrent use.
type Reader struct {
	rt    *dac.Runtime
	b     *objects.Binder
	items *objects.Collections
}

// New returns a Reader that binds types with b.
func New(rt *dac.Runtime, b *objects.Binder, c *objects.Collections) *Reader {
	return &Reader{rt, b, c}
}

// A search gathers the connections of a process's sources.
type search struct {
	*Reader
	g        shapes.Reading
	out      *answer.EventSources
	native   map[target.Addr]*dac.EventPipeProvider // the providers of EventPipe by address
	nativeOf error                                  // why native is empty
	handles  map[target.Addr]target.Addr            // by source: its EventPipe provider
	counters map[target.Addr]*answer.EventCounters  // by source
}

// Sources lists the EventSources, enabled ones first, with their listeners and EventPipe providers. The error is ctx's.
func (r *Reader) Sources(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.EventSources, error) {
	out := &answer.EventSources{Sources: []answer.EventSource{}, Sessions: answer.Missing[int64](objects.ErrNoField)}
	s := &search{r, shapes.Reading{Gaps: &out.Gaps, Binder: r.b}, out, nil, nil, map[target.Addr]target.Addr{}, map[target.Addr]*answer.EventCounters{}}
	for object := range shapes.ReadObjects[*sourceAnchor](ctx, s.g, h, o) {
		if e, x, err := objects.BindObject[*trimmedSource](r.b, object); err == nil && e.trimmed() {
			out.Sources = append(out.Sources, answer.EventSource{Address: object.Addr, Name: s.g.TextAt(&e.Name, x), Type: s.g.TypeText(object), Trimmed: true,
				Enabled: answer.Known(false), Keywords: answer.Missing[answer.Hex](objects.ErrNoField), Disposed: answer.Missing[bool](objects.ErrNoField), Listeners: []answer.EventListener{}})
		} else if e, x := shapes.BindAs[*eventSource](s.g, object); e != nil {
			out.Sources = append(out.Sources, s.source(object, e, x))
		} else if c, x := shapes.BindAs[*counterGroup](s.g, object); c != nil {
			s.group(c, x)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.pipe()
	for i := range out.Sources {
		e := &out.Sources[i]
		e.Counters = s.counters[e.Address]
		if p := s.native[s.handles[e.Address]]; p != nil && e.EventPipe != nil {
			e.EventPipe.Sessions = answer.Known(sessions(p.Sessions))
		}
	}
	slices.SortStableFunc(out.Sources, func(a, b answer.EventSource) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Name.S, b.Name.S))
	})
	return out, nil
}

// trimmed reports whether the type has no field that a listener needs. A version with other names for them would still
// have one of these.
func (e *trimmedSource) trimmed() bool {
	return !e.Enabled.Has() && !e.Dispatchers.Has() && !e.EventPipe.Has() && !e.ETW.Has()
}

// rank orders sources: enabled, disabled, disposed.
func rank(e *answer.EventSource) int {
	switch {
	case e.Disposed.Value:
		return 2
	case e.Enabled.Value:
		return 0
	}
	return 1
}

func sessions(bits uint64) answer.EventSessions {
	out := answer.EventSessions{}
	for i := range 64 {
		if bits>>i&1 != 0 {
			out = append(out, i)
		}
	}
	return out
}

// source describes a source.
func (s *search) source(o objects.Object, e *eventSource, x objects.Instance) answer.EventSource {
	g := s.g
	out := answer.EventSource{Address: o.Addr, Name: g.TextAt(&e.Name, x), Type: g.TypeText(o), Enabled: g.BoolAt(&e.Enabled, x), Disposed: g.BoolAt(&e.Disposed, x),
		Level: g.EnumAt(&e.Level, x), Keywords: hex(g.IntAt(&e.Keywords, x)), Listeners: []answer.EventListener{}}
	if f := g.ObjectAt(&e.Failure, x); f.Addr != 0 {
		out.Failure = g.TypeText(f)
	}
	out.EventPipe, out.ETW = s.provider(o.Addr, &e.EventPipe, x), s.provider(0, &e.ETW, x)
	d, at := shapes.BindAt[*dispatcher](g, &e.Dispatchers, x)
	for n := 0; d != nil; n++ {
		if n == limits.EventListeners {
			g.Note(target.CorruptHeapf("event source %016x has more than %d listeners", uint64(o.Addr), n))
			break
		}
		l := answer.EventListener{Events: s.enabled(g.ObjectAt(&d.Events, at))}
		if listener := g.ObjectAt(&d.Listener, at); listener.Addr != 0 {
			l.Address, l.Type = listener.Addr, g.TypeText(listener)
		}
		// Every listener is connected to every source. A listener that never enabled the source has no list of events.
		if l.Events.Err() != nil || l.Events.Value > 0 {
			out.Listeners = append(out.Listeners, l)
		}
		d, at = shapes.BindAt[*dispatcher](g, &d.Next, at)
	}
	return out
}

func hex(n answer.Maybe[int64]) answer.Maybe[answer.Hex] {
	return answer.Of(answer.Hex(n.Value), n.Err())
}

// enabled counts the events that a listener gets: the true elements of a bool[] or the true values of a dictionary.
func (s *search) enabled(o objects.Object) answer.Maybe[int64] {
	if o.Addr == 0 {
		return answer.Known[int64](0)
	}
	c, err := s.items.Of(o)
	if err != nil {
		s.g.Note(err)
		return answer.Of[int64](0, err)
	}
	n, lost := int64(0), error(nil)
	for item, err := range c.Items() {
		var is bool
		if err == nil {
			is, err = item.Value.Bool()
		}
		if err != nil {
			s.g.Note(err)
			lost = err
		} else if is {
			n++
		}
	}
	return answer.Of(n, lost)
}

// provider describes a connection of a source, and records the handle of EventPipe's provider if source is not 0. It
// returns nil for a null field.
func (s *search) provider(source target.Addr, f *objects.RefField, x objects.Instance) *answer.EventProvider {
	g := s.g
	p, at := shapes.BindAt[*provider](g, f, x)
	if p == nil {
		return nil
	}
	out := &answer.EventProvider{Sessions: answer.Missing[answer.EventSessions](objects.ErrNoField)}
	state := g.ObjectAt(&p.State, at)
	if n, in := shapes.BindAs[*pipeProvider](g, state); n != nil && source != 0 {
		if h := g.IntAt(&n.Handle, in); h.Err() == nil && h.Value != 0 {
			s.handles[source] = target.Addr(h.Value)
		}
	}
	if p.Enabled.Has() {
		out.Enabled, out.Level, out.Keywords = g.BoolAt(&p.Enabled, at), g.IntAt(&p.Level, at), hex(g.IntAt(&p.Keywords, at))
		return out
	}
	i, in := shapes.BindAs[*providerState](g, state)
	if i == nil {
		return nil
	}
	out.Enabled, out.Level, out.Keywords = g.BoolAt(&i.Enabled, in), g.IntAt(&i.Level, in), hex(g.IntAt(&i.Keywords, in))
	return out
}

// group records how often the counters of a source are read.
func (s *search) group(c *counterGroup, x objects.Instance) {
	g := s.g
	out := &answer.EventCounters{Count: answer.Missing[int64](objects.ErrNoField)}
	if list := g.ObjectAt(&c.Counters, x); list.Addr != 0 {
		var n uint64
		l, err := s.items.Of(list)
		if err == nil {
			n, err = l.Count()
		}
		g.Note(err)
		out.Count = answer.Of(int64(n), err)
	}
	out.Millis = g.IntAt(&c.Millis, x)
	if !c.Millis.Has() {
		ticks := g.IntAt(&c.Ticks, x)
		out.Millis = answer.Of(ticks.Value/ticksInMilli, ticks.Err())
	}
	if at := g.PointerAt(&c.Source, x); at.Err() == nil && at.Value != 0 {
		s.counters[at.Value] = out
	}
}

// triedProviders is how many sources are tried until one has a provider in EventPipe's list. .NET Core 3.1 keeps one
// provider per name there, so the source for the runtime's events has no provider in the list.
const triedProviders = 8

// pipe reads the providers of EventPipe, from the handle of any source.
func (s *search) pipe() {
	if len(s.handles) == 0 {
		return
	}
	handles := slices.Compact(slices.Sorted(maps.Values(s.handles)))
	var list []dac.EventPipeProvider
	var failed error
	for _, one := range handles[:min(len(handles), triedProviders)] {
		var err error
		if list, err = s.rt.EventPipeProviders(one); err == nil {
			failed = nil
			break
		}
		failed = cmp.Or(failed, err)
	}
	if failed != nil {
		s.out.Sessions = answer.Missing[int64](failed)
		s.g.Note(failed)
		return
	}
	s.native = make(map[target.Addr]*dac.EventPipeProvider, len(list))
	var all uint64
	for i := range list {
		p := &list[i]
		s.native[p.Addr] = p
		all |= p.Sessions
		s.out.Providers = append(s.out.Providers, answer.EventPipeProvider{Address: p.Addr, Name: p.Name, Sessions: sessions(p.Sessions), Level: int64(p.Level), Keywords: answer.Hex(p.Keywords)})
	}
	s.out.Sessions = answer.Known(int64(len(sessions(all))))
}
