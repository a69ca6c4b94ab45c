package threadpool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// neverAgain is the period of a timer that fires once (Timeout.UnsignedInfinite).
const neverAgain = math.MaxUint32

// Timers lists the scheduled timers. Stopped timers are in no queue. It records what could not be read. The error is
// ctx's.
func (r *Reader) Timers(ctx context.Context) (*answer.Timers, error) {
	out, _, err := r.TimersAt(ctx)
	return out, err
}

// TimersAt returns Timers, and the newest times that they and the pool have noted.
func (r *Reader) TimersAt(ctx context.Context) (*answer.Timers, ticks.Moment, error) {
	out := &answer.Timers{Timers: []answer.Timer{}}
	c := r.clocks()
	err := r.eachTimer(ctx, out.Lose, func(queue int, short bool, s *queuedTimer, o objects.Object) error {
		const texts = 128
		if err := offheap.Keep(ctx, "the list of all timers", offheap.SizeOf[answer.Timer]()+texts); err != nil {
			return err
		}
		t := answer.Timer{Address: o.Addr, Queue: queue, Short: short, Place: len(out.Timers)}
		if err := r.timer(&out.Gaps, &t, s, objects.InstanceOf(o)); err != nil {
			out.Lose(fmt.Errorf("timer %016x: %w", uint64(o.Addr), err))
			return nil
		}
		out.Timers = append(out.Timers, t)
		return nil
	}, c)
	if err != nil {
		return nil, ticks.Moment{}, err
	}
	r.poolTicks(&out.Gaps, c)
	now := c.Now()
	out.Clock = now.Timers
	for i := range out.Timers {
		t := &out.Timers[i]
		if t.DueIn = answer.Missing[int64](out.Clock.Err()); out.Clock.Err() == nil {
			t.DueIn = answer.Known(t.Start + int64(t.Due) - out.Clock.Value)
		}
	}
	slices.SortStableFunc(out.Timers, func(a, b answer.Timer) int { return cmp.Compare(a.Start+int64(a.Due), b.Start+int64(b.Due)) })
	return out, now, nil
}

// clocks returns the clocks of the process.
func (r *Reader) clocks() ticks.Clocks { return ticks.NewClocks(r.rt.Target().Platform()) }

// Now returns the newest times of the queues and timers, in milliseconds.
func (r *Reader) Now(ctx context.Context, g *answer.Gaps) (ticks.Moment, error) {
	c := r.clocks()
	if err := r.eachTimer(ctx, g.Note, noTimer, c); err != nil {
		return ticks.Moment{}, err
	}
	r.poolTicks(g, c)
	return c.Now(), nil
}

// noTimer passes a timer over.
func noTimer(int, bool, *queuedTimer, objects.Object) error { return nil }

// eachTimer calls visit for the timers of each queue, and adds the time stamps of queues and timers to c. It calls lose
// with the reason if timers are missing. An error of visit ends it.
func (r *Reader) eachTimer(ctx context.Context, lose func(error), visit func(queue int, short bool, s *queuedTimer, o objects.Object) error, c ticks.Clocks) error {
	list, err := static(r.b, "System.Threading.TimerQueue", func(s *timerQueues) *objects.StaticField { return &s.Instances })
	if err != nil {
		lose(fmt.Errorf("timer queues: %w", err))
	}
	if list.Addr == 0 {
		return ctx.Err()
	}
	n := 0
	for o, err := range refs(list) {
		var s *timerQueue
		var at objects.Instance
		if err == nil {
			s, at, err = objects.BindObject[*timerQueue](r.b, o)
		}
		if err != nil {
			lose(fmt.Errorf("timer queue: %w", err))
			continue
		}
		if s.Started.Has() {
			c.NoteTimer(s.Started.Int(at))
		}
		check := r.newTimerCheck(o)
		whole := true
		for _, short := range []bool{true, false} {
			first := &s.Long
			if short {
				first = &s.Short
			}
			check.last = 0
			err := r.chain(ctx, first, at, func(s *queuedTimer, o objects.Object) error {
				if err := check.timer(short, s, objects.InstanceOf(o)); err != nil {
					lose(fmt.Errorf("timer %016x: %w", uint64(o.Addr), err))
				}
				c.NoteTimer(s.Start.Int(objects.InstanceOf(o)))
				return visit(n, short, s, o)
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, target.ErrLimit) {
				return err
			}
			whole = whole && err == nil
			lose(err)
		}
		if whole {
			lose(check.count())
		}
		n++
	}
	return nil
}

// chain follows the timers of one list.
func (r *Reader) chain(ctx context.Context, first *objects.RefField, at objects.Instance, visit func(*queuedTimer, objects.Object) error) error {
	o, err := first.Object(at)
	seen := map[target.Addr]bool{}
	for err == nil && o.Addr != 0 && ctx.Err() == nil {
		if seen[o.Addr] || len(seen) == limits.WorkItems {
			return target.CorruptHeapf("timer %016x repeats in its queue, or there are too many", uint64(o.Addr))
		}
		seen[o.Addr] = true
		if err := offheap.Keep(ctx, "the list of all timers", 2*offheap.SizeOf[target.Addr]()); err != nil {
			return err
		}
		var s *queuedTimer
		var x objects.Instance
		if s, x, err = objects.BindObject[*queuedTimer](r.b, o); err != nil {
			break
		}
		if err := visit(s, o); err != nil {
			return err
		}
		o, err = s.Next.Object(x)
	}
	if err != nil {
		return fmt.Errorf("timer queue: %w", err)
	}
	return nil
}

// timer reads one timer.
func (r *Reader) timer(g *answer.Gaps, t *answer.Timer, s *queuedTimer, at objects.Instance) error {
	due, err := s.Due.Uint(at)
	if err != nil {
		return err
	}
	period, err := s.Period.Uint(at)
	if err != nil {
		return err
	}
	if t.Start, err = s.Start.Int(at); err != nil {
		return err
	}
	t.Due = uint32(due)
	if p := uint32(period); p != neverAgain && p != 0 {
		t.Period = &p
	}
	if s.Running.Has() {
		if t.Running, err = s.Running.Int(at); err != nil {
			return err
		}
	}
	var callback objects.Object
	if callback, err = s.Callback.Object(at); err != nil {
		return err
	}
	if callback.Addr == 0 {
		return target.CorruptHeapf("it has no callback")
	}
	t.Callback = callback.Addr
	var c call
	if t.Method, c = r.call(g, callback); !c.static {
		t.OnTarget = c.on
	}
	v := s.State.Value(at)
	t.State, t.StateType, t.StateLine = r.value(g, v)
	t.Kind = answer.TimerPlain
	if state, err := v.Object(); err == nil {
		r.purpose(g, t, state)
	}
	if t.Method.S == "System.Timers.Timer.MyTimerCallback" {
		t.Kind = answer.TimerComponent
		if calls, _ := callback.Delegate(); len(calls) == 1 {
			t.Owner = calls[0].Target
		}
	}
	return nil
}

// Shapes of objects for which the class library creates timers.
type (
	delay struct {
		_ objects.Shape `of:"System.Threading.Tasks.Task+DelayPromise"`
	}
	waitAsync struct {
		_ objects.Shape `of:"System.Threading.Tasks.Task+CancellationPromise<>"`
	}
)

// purpose determines the purpose of a timer from the argument of its callback.
func (r *Reader) purpose(g *answer.Gaps, t *answer.Timer, state objects.Object) {
	if is, _ := objects.IsShape[*delay](r.b, state.Type); is {
		t.Kind, t.Owner, t.Awaits = answer.TimerDelay, state.Addr, r.awaitedBy(g, state)
		return
	}
	if is, _ := objects.IsShape[*waitAsync](r.b, state.Type); is {
		t.Kind, t.Owner, t.Awaits = answer.TimerWaitAsync, state.Addr, r.awaitedBy(g, state)
		return
	}
	if is, _ := objects.IsShape[*tokenSource](r.b, state.Type); is {
		t.Kind, t.Owner = answer.TimerCancellation, state.Addr
		source, err := r.tokenSource(g, state)
		g.Note(err)
		t.Cancels = source
		return
	}
	s, at, err := objects.BindObject[*periodicState](r.b, state)
	if err != nil {
		return
	}
	t.Kind, t.Owner = answer.TimerPeriodic, state.Addr
	if !s.Continuation.Has() {
		return
	}
	next, err := s.Continuation.Object(at)
	if err != nil {
		t.Awaits = g.Text("", err)
	} else if next.Addr != 0 {
		t.Awaits = r.continuation(g, next)
	}
}

// awaitedBy names what runs when a task completes, or returns "".
func (r *Reader) awaitedBy(g *answer.Gaps, o objects.Object) answer.Text {
	var w answer.WorkItem
	if err := r.taskStatus(g, &w, o); err != nil {
		return g.Text("", err)
	}
	return w.Continuation
}

// tokenCallbacks bounds the listed callbacks of a CancellationTokenSource.
const tokenCallbacks = 16

// tokenSource describes a CancellationTokenSource. Before .NET 6 its callbacks are in several lists.
func (r *Reader) tokenSource(g *answer.Gaps, o objects.Object) (*answer.TokenSource, error) {
	s, at, err := objects.BindObject[*tokenSource](r.b, o)
	if err != nil {
		return nil, err
	}
	out := &answer.TokenSource{Address: o.Addr, Type: typeText(g, o)}
	state, err := s.State.Int(at)
	if err != nil {
		return nil, err
	}
	out.State = tokenState(state, s.Partitions.Has())
	if s.Registrations.Has() {
		list, err := s.Registrations.Object(at)
		if err != nil || list.Addr == 0 {
			return out, err
		}
		return out, r.registered(g, out, list)
	}
	if !s.Partitions.Has() {
		return out, nil
	}
	list, err := s.Partitions.Object(at)
	if err != nil || list.Addr == 0 {
		return out, err
	}
	for part, err := range refs(list) {
		if err == nil {
			err = r.registered(g, out, part)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// tokenState describes the state of a CancellationTokenSource. The constants begin at 1 if the callbacks are in
// partitions, and at 0 in later versions.
func tokenState(n int64, partitions bool) answer.TokenState {
	if partitions {
		n--
	}
	switch n {
	case 0:
		return answer.TokenNotCanceled
	case 1:
		return answer.TokenCanceling
	case 2:
		return answer.TokenCanceled
	}
	return answer.TokenState(fmt.Sprintf("state %d", n))
}

// registered adds the callbacks of a list.
func (r *Reader) registered(g *answer.Gaps, out *answer.TokenSource, list objects.Object) error {
	s, at, err := objects.BindObject[*registrations](r.b, list)
	if err != nil {
		return err
	}
	o, err := s.Callbacks.Object(at)
	var mark target.Addr // a visited node: visiting it again shows a ring
	for steps := uint64(1); err == nil && o.Addr != 0; steps++ {
		if o.Addr == mark || steps > limits.TokenCallbacks {
			return target.CorruptHeapf("the callbacks of CancellationTokenSource %016x do not end", uint64(out.Address))
		}
		if steps&(steps-1) == 0 {
			mark = o.Addr
		}
		n, x, bad := objects.BindObject[*callbackNode](r.b, o)
		if bad != nil {
			return bad
		}
		if out.Total++; len(out.Callbacks) < tokenCallbacks {
			out.Callbacks = append(out.Callbacks, r.cancellationTarget(g, o, n, x))
		}
		o, err = n.Next.Object(x)
	}
	return err
}

func (r *Reader) cancellationTarget(g *answer.Gaps, o objects.Object, n *callbackNode, at objects.Instance) answer.CancellationTarget {
	out := answer.CancellationTarget{Node: o.Addr}
	if err := r.setMethod(g, &out.Method, &n.Callback, at); err != nil {
		out.Method = g.Text("", err)
	}
	out.State, out.Type, out.Text = r.value(g, n.State.Value(at))
	return out
}
