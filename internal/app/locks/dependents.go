package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A dependent is what threads or suspended code wait for and only code of the process can give, with the calls that do.
type dependent struct {
	thing  answer.Statement
	kind   answer.Statement // what it is, without its name
	does   string           // what the calls do to it, as a verb
	object target.Addr
	on     target.Addr // the receiver of the calls
	ends   func(method string) bool
	lock   *lock
	pulse  bool // of lock
	lasts  bool // a wait for it is a fault where nobody can end it any more, unless code waits so again and again
	waits  []*wait
	ops    []*operation
	alike  int         // how many such things there are, each with waits of its own
	each   []dependent // these, if there are several
	reach  *reach.Callers
	fault  *answer.FaultedTask // would have ended the waits
	orphan bool                // no code has what would end the waits
	// awaited reports that others wait, without a limit, for the end of a thread that waits so: it does not wait for work on purpose.
	awaited bool
}

// mostDependents is how many things that code waits for are examined, those with the most waits first. Things alike are one where they can be examined together.
const mostDependents = 32

// channelEnds is a channel with the object through which code writes to it.
type channelEnds struct {
	_      objects.Shape    `of:"System.Threading.Channels.Channel<,>"`
	Writer objects.RefField `field:"<Writer>"`
}

// endsChannel reports whether a method gives a channel an item, or ends it.
func endsChannel(method string) bool {
	class, name, _ := strings.Cut(method, ".")
	return class == "ChannelWriter" && (strings.Contains(name, "Write") || strings.Contains(name, "Complete"))
}

// endsTaking reports whether a method gives a BlockingCollection an item, or ends it.
func endsTaking(method string) bool {
	class, name, _ := strings.Cut(method, ".")
	return strings.HasPrefix(class, "BlockingCollection") && strings.Contains(name, "Add")
}

// sought selects the calls that end the wait.
func (d *dependent) sought(method string) (target.Addr, bool) { return d.on, d.ends(method) }

// alone reports whether no thread can end the wait but those that wait themselves.
func (d *dependent) alone(r *reach.Callers) bool {
	for t := range r.Threads {
		if !d.has(t) {
			return false
		}
	}
	return true
}

// has reports whether a thread waits so.
func (d *dependent) has(t *stackwalk.Thread) bool {
	return slices.ContainsFunc(d.waits, func(w *wait) bool { return w.thread == t })
}

// merged makes one of the dependents that differ only in the object, as of the messages that wait in a queue: the code that waits, what ends the waits, and
// the kind and the name of the objects are the same.
func (g *grapher) merged(list []dependent) (out []dependent) {
	type key struct {
		place, does, kind, name string
		fault                   *answer.FaultedTask
	}
	at := map[key]int{}
	for i := range list {
		d := list[i]
		d.alike = max(d.alike, 1)
		k := key{does: d.does, kind: d.kind.Text, fault: d.fault, name: g.s.names[d.object]}
		if d.ops != nil {
			k.place, k.name = d.ops[0].method.S, "" // one promise of a method is named
		} else if k.place = g.placeOf(d.waits[0]).Text; len(d.waits[0].tasks) > 0 {
			k.name = ""
		}
		n, ok := at[k]
		if !ok || k.kind == "" || k.place == "" {
			at[k] = len(out)
			out = append(out, d)
			continue
		}
		m := &out[n]
		if m.alike == 1 {
			m.each = []dependent{*m}
		}
		m.each = append(m.each, d)
		m.waits, m.ops, m.alike = slices.Concat(m.waits, d.waits), slices.Concat(m.ops, d.ops), m.alike+d.alike
		m.thing = words.OneEach.Of(d.kind, inField(cmp.Or(g.s.names[m.object], g.s.names[d.object])))
	}
	return out
}

// together reports whether one search can show that nobody ends the waits for any of several things alike: events, with no state of their own that counts.
func (d *dependent) together() bool {
	return d.alike > 1 && len(d.ops) == 0 && !d.pulse && (d.lock == nil || d.lock.Kind == answer.LockEvent)
}

// examined calls examine for what code waits for, mostDependents times at most: first for things alike together, and for each of them after all others unless
// it reports that it has concluded about all of them.
func (g *grapher) examined(waits []dependent, examine func(d *dependent) (all bool, err error)) error {
	var queue []dependent
	for _, d := range g.merged(waits) {
		if d.alike > 1 && !d.together() {
			queue = append(queue, d.each...)
		} else {
			queue = append(queue, d)
		}
	}
	slices.SortStableFunc(queue, func(a, b dependent) int { return cmp.Compare(len(b.ops)+len(b.waits), len(a.ops)+len(a.waits)) })
	for n := 0; n < min(len(queue), mostDependents); n++ {
		all, err := examine(&queue[n])
		if err != nil {
			return err
		}
		if !all {
			queue = append(queue, queue[n].each...)
		}
	}
	return nil
}

// inField names the field with an object in parentheses, if it is known.
func inField(name string) answer.Statement {
	if name == "" {
		return answer.Statement{}
	}
	return words.InField.Of(words.Field(name))
}

// said describes the waits.
func (g *grapher) said(d *dependent, thing answer.Statement) answer.Statement {
	if len(d.ops) == 0 {
		return words.WaitersFor.Of(g.waiting(d.waits), thing)
	}
	state := answer.Statement{}
	if t := d.ops[0].thing; !t.state.IsZero() && d.alike < 2 {
		state = words.CommaState.Of(t.state)
	}
	says := words.OperationsWait.Of(words.N(len(d.ops)), thing, state)
	if len(d.waits) > 0 {
		says = says.Plus(words.SoDoThreads.Of(words.N(len(d.waits)), g.name(d.waits[0].thread)))
	}
	return says
}

// markDescribed marks the waits as described.
func (g *grapher) markDescribed(d *dependent) {
	for _, w := range d.waits {
		g.described[w] = true
	}
	for _, op := range d.ops {
		g.failed[op] = true
	}
}

// dependents groups the waits without a limit by what would end them. With vague, waits that only IL which is missing may limit count, too.
func (g *grapher) dependents(vague bool) (out []dependent) {
	at := map[target.Addr]int{}
	of := func(object target.Addr, make func() *dependent) *dependent {
		if object == 0 {
			return nil
		}
		i, ok := at[object]
		if !ok {
			d := make()
			if d == nil {
				i = -1
			} else {
				d.object, i = object, len(out)
				out = append(out, *d)
			}
			at[object] = i
		}
		if i < 0 {
			return nil
		}
		return &out[i]
	}
	for _, op := range g.s.ops {
		t := op.thing
		if !op.own || op.limited || op.first || slices.Contains(op.library, timedWait) {
			continue
		}
		var d *dependent
		switch {
		case t.lock != nil && t.lock.count <= 0:
			d = of(t.addr, func() *dependent { return g.semaphoreOf(t.lock) })
		case t.channel != nil && t.channel.kind == &channelKind && !t.writes && t.channel.items.Value == 0:
			d = of(t.addr, func() *dependent { return g.dependent(t, g.s.writerOf(t.channel.object), endsChannel) })
		case t.addr == 0:
			d = of(g.enderOf(op.leaf, t))
		}
		if d != nil {
			d.ops = append(d.ops, op)
		}
	}
	for _, w := range g.s.waits {
		if w.join || w.more > 0 || len(w.runners) > 0 || !w.ends.IsZero() && !(vague && w.vague) || w.timeout >= 0 || w.library {
			continue
		}
		var d *dependent
		if len(w.tasks) > 0 {
			if len(w.tasks) == 1 && len(w.leaves) == 1 && !w.async && !w.ready && !w.completed && g.sameScheduler([]*wait{w}) == 0 {
				leaf := w.leaves[0]
				d = of(g.enderOf(leaf.addr, &thing{kind: kindsOfCauses[leaf.cause], cause: leaf.cause, says: w.until, source: g.s.sources[leaf.addr]}))
			}
		} else if c := g.s.boundedOf(w); c.collection != 0 {
			if c.items {
				d = of(c.collection, func() *dependent {
					return &dependent{thing: words.ItemIn.Of(g.addressName(c.collection)), does: "adds to it or completes it", on: c.collection, ends: endsTaking}
				})
				if g.endAwaited(w.thread) {
					d.awaited, d.lasts = true, true
				}
			}
		} else if is, ok := w.signaled(); ok {
			d = of(is.object, func() *dependent {
				return &dependent{thing: g.signalThing(w), kind: g.kindOf(w), does: is.verb(), on: is.object, lock: w.lock, pulse: w.pulse, lasts: w.pulse || w.lock != nil || g.s.ownHandle(w.object),
					ends: func(method string) bool { return slices.Contains(signals[is.kind], method) }}
			})
		} else if w.lock != nil && w.lock.Kind == answer.LockSemaphore && w.lock.count <= 0 {
			d = of(w.lock.Address, func() *dependent { return g.semaphoreOf(w.lock) })
		}
		if d != nil {
			d.waits = append(d.waits, w)
		}
	}
	slices.SortStableFunc(out, func(a, b dependent) int { return cmp.Compare(len(b.ops)+len(b.waits), len(a.ops)+len(a.waits)) })
	return out
}

// endAwaited reports whether a thread waits, without a limit, for the end of another one or of the task that it runs.
func (g *grapher) endAwaited(t *stackwalk.Thread) bool {
	return slices.ContainsFunc(g.s.waits, func(w *wait) bool {
		return (w.join || len(w.tasks) > 0) && w.timeout < 0 && w.ends.IsZero() && slices.Contains(w.runners, t)
	})
}

// enderOf returns what alone ends the wait of a task at the end of a chain, with how to describe it: a promise, or a scheduler of the program in which the task
// is queued. The object is 0 for others.
func (g *grapher) enderOf(leaf target.Addr, t *thing) (object target.Addr, describe func() *dependent) {
	switch t.cause {
	case tasks.CausePromise:
		return t.source, func() *dependent {
			d := g.dependent(t, t.source, settles)
			d.kind, d.does, d.lasts = words.PromiseOfSource.Of(), "completes it", true
			return d
		}
	case tasks.CausePool:
		scheduler, class, err := g.s.found.tasks.Scheduler(leaf)
		if err != nil || answer.LibraryMethod(class) {
			return 0, nil
		}
		return scheduler, func() *dependent {
			return &dependent{thing: words.TurnOf.Of(words.Type(class)), does: "runs its tasks", on: scheduler, ends: runsTask, lasts: true}
		}
	}
	return 0, nil
}

// kindOf says what a thread waits for a signal of, without its name. It is the zero Statement for a pulse.
func (g *grapher) kindOf(w *wait) answer.Statement {
	switch {
	case w.pulse:
		return answer.Statement{}
	case w.lock != nil:
		return words.Text(string(w.lock.Kind))
	}
	return words.Type(g.rows[w.thread].Type.String())
}

// semaphoreOf describes a SemaphoreSlim without permits.
func (g *grapher) semaphoreOf(l *lock) *dependent {
	return &dependent{thing: g.lockText(l), does: "releases it", on: l.Address, ends: releasesPermit, lock: l, lasts: true}
}

// runsTask reports whether a method runs a task of its TaskScheduler.
func runsTask(method string) bool {
	_, name, _ := strings.Cut(method, ".")
	return name == "TryExecuteTask"
}

// signalThing names what a thread waits for a signal of.
func (g *grapher) signalThing(w *wait) answer.Statement {
	if w.pulse {
		return words.PulseOfObject.Of(g.lockOrObject(w))
	}
	if w.lock != nil {
		return g.lockName(w.lock)
	}
	return g.what(w)
}

// dependent describes what suspended code waits for, with the calls that end such waits.
func (g *grapher) dependent(t *thing, on target.Addr, ends func(string) bool) *dependent {
	if on == 0 {
		return nil
	}
	return &dependent{thing: g.thingText(t), on: on, ends: ends}
}

// writerOf returns the object through which code writes to a channel, or 0.
func (s *survey) writerOf(o objects.Object) target.Addr {
	k, x, is, err := shapes.TryBind[*channelEnds](s.r.b, o)
	if !is || err != nil {
		return 0
	}
	a, err := k.Writer.Addr(x)
	if err != nil {
		return 0
	}
	return a
}
