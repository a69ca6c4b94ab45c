package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A dependent is what threads or suspended code wait for and only code of the process can give, with the calls that do.
type dependent struct {
	thing  answer.Statement
	does   string // what the calls do to it, as a verb
	object target.Addr
	on     target.Addr // the receiver of the calls
	ends   func(method string) bool
	lock   *lock
	pulse  bool // of lock
	lasts  bool // a wait for it is a fault where nobody can end it any more, unless code waits so again and again
	waits  []*wait
	ops    []*operation
}

// mostDependents is how many things that code waits for are examined, those with the most waits first.
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

// unended describes the waits that no code which can still run ends: a method that would have has failed, or no thread, suspended method or delegate leads
// to one. It concludes nothing where code can't be read.
func (g *grapher) unended(groups []*waiters, o heap.ScanOptions) ([]answer.Verdict, error) {
	waits := g.dependents()
	if len(waits) == 0 {
		return nil, nil
	}
	faults, err := g.faults(o)
	if err != nil {
		return nil, err
	}
	var out []answer.Verdict
	for i := range waits[:min(len(waits), mostDependents)] {
		d := &waits[i]
		lost := g.mayBeLost(d)
		if len(faults) == 0 && !lost {
			continue
		}
		r, err := g.s.reaching(d.sought)
		if err != nil {
			return nil, err
		}
		if r == nil || r.outside || r.calls == 0 || !d.alone(r) {
			continue
		}
		if i := slices.IndexFunc(faults, func(t answer.FaultedTask) bool {
			return g.s.found.tasks.ThrownThrough(t.Exceptions[0].Object, r.leads.Has)
		}); i >= 0 && !d.pulse {
			out = append(out, g.failure(d, &faults[i]))
		} else if lost {
			if v := g.lost(d, r, groups); v != nil {
				out = append(out, *v)
			}
		}
	}
	return out, nil
}

// faults returns the failed tasks with exceptions that nobody has looked at.
func (g *grapher) faults(o heap.ScanOptions) ([]answer.FaultedTask, error) {
	set, err := g.s.taskSet(o)
	if set == nil || err != nil {
		return nil, err
	}
	list, err := set.List(g.s.ctx, tasks.ListOptions{Faulted: true})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Faults, func(t answer.FaultedTask) bool {
		return t.Awaited || len(t.Exceptions) == 0 || t.Exceptions[0].Began.S == ""
	}), nil
}

// sought selects the calls that end the wait.
func (d *dependent) sought(method string) (target.Addr, bool) { return d.on, d.ends(method) }

// alone reports whether no thread can end the wait but those that wait themselves.
func (d *dependent) alone(r *reach) bool {
	for t := range r.threads {
		if !slices.ContainsFunc(d.waits, func(w *wait) bool { return w.thread == t }) {
			return false
		}
	}
	return true
}

// dependents groups the waits without a limit by what would end them.
func (g *grapher) dependents() (out []dependent) {
	at := map[target.Addr]int{}
	of := func(object target.Addr, make func() *dependent) *dependent {
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
		case t.cause == tasks.CausePromise && t.source != 0 && t.addr == 0:
			d = of(t.source, func() *dependent {
				d := g.dependent(t, t.source, settles)
				d.does, d.lasts = "completes it", true
				return d
			})
		case t.cause == tasks.CausePool:
			if scheduler, class, err := g.s.found.tasks.Scheduler(op.leaf); err == nil && scheduler != 0 && !answer.LibraryMethod(class) {
				d = of(scheduler, func() *dependent {
					return &dependent{thing: words.TurnOf.Of(words.Type(class)), does: "runs its tasks", on: scheduler, ends: runsTask, lasts: true}
				})
			}
		}
		if d != nil {
			d.ops = append(d.ops, op)
		}
	}
	for _, w := range g.s.waits {
		if w.join || w.more > 0 || len(w.runners) > 0 || len(w.tasks) > 0 || !w.ends.IsZero() || w.timeout >= 0 || w.library {
			continue
		}
		var d *dependent
		if c := g.s.boundedOf(w); c.collection != 0 {
			if c.items {
				d = of(c.collection, func() *dependent {
					return &dependent{thing: words.ItemIn.Of(g.addressName(c.collection)), on: c.collection, ends: endsTaking}
				})
			}
		} else if is, ok := w.signaled(); ok {
			d = of(is.object, func() *dependent {
				return &dependent{thing: g.signalThing(w), does: is.verb(), on: is.object, lock: w.lock, pulse: w.pulse, lasts: w.pulse || w.lock != nil || g.s.ownEvent(w.object),
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

// failure describes the waits that a failed task would have ended.
func (g *grapher) failure(d *dependent, t *answer.FaultedTask) answer.Verdict {
	exception := t.Exceptions[0]
	method := exception.Began.S
	if exception.Thrown.S == method {
		exception.Thrown = answer.Text{}
	}
	var says answer.Statement
	if len(d.ops) > 0 {
		says = words.OperationsWait.Of(words.N(len(d.ops)), d.thing, answer.Statement{})
	} else {
		says = words.WaitersFor.Of(g.waiting(d.waits), d.thing)
	}
	v := answer.Conclude(answer.FindingTasks, says, answer.StrengthLikely, g.evidences(d.waits)...)
	v.Statement = v.Plus(words.EnderFailed.Of(words.FailedTask.Of(words.Text(method), words.Failure(&exception))))
	v.Because(words.EndersIL.Of(words.Method(method)))
	v.Rests = words.Searched
	v.Severity, v.Count = answer.SeverityHigh, len(d.ops)+len(d.waits)
	v.Sites = append(g.sites(d.waits), answer.FailedSite(answer.Text{S: method}, t.Exceptions))
	for _, op := range d.ops {
		g.failed[op] = true
		v.Sites = append(v.Sites, answer.Site{Method: op.method, Does: string(op.thing.kind)})
	}
	v.Thing, v.Waiting = d.thing.Text, boxes(d.ops)
	v.Show = []string{"tasks -faulted", "dumpobj " + addressText(d.object)}
	if len(d.ops) > 0 {
		v.Show = append(v.Show, "dumpasync -address "+addressText(d.ops[0].box))
	} else {
		v.Show = append(v.Show, g.show(d.waits[0])...)
	}
	return v
}
