package threadpool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/threadpool/internal/parts"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Options selects what is reported of the pool besides the counters.
type Options struct {
	Log   bool // the hill climbing log
	Items bool // the queued items
	Brief bool // only the counters, without the workers' activities and a verdict

	waits  ReadWaits  // what the workers wait for; nil if that is not known
	pauses ReadPauses // how long workers sleep; nil if that is not known
}

// ReadWaits returns what the threads of the process wait for (locks.Waits), which takes longer than a description of the pool.
type ReadWaits func() (*answer.Waits, error)

// ReadPauses returns for how long a thread stands in a sleep of a known time, outside of any loop of the program. The thread is known by its OS id.
type ReadPauses func(thread uint32) (length time.Duration, known bool)

// Describe describes a runtime's thread pool and records what could not be read. The error is ctx's.
func (r *Reader) Describe(ctx context.Context, o Options) (*answer.ThreadPool, error) {
	out := &answer.ThreadPool{Kind: answer.PoolNone}
	c := r.clocks()
	if !r.windows(out) {
		if found, lost := r.portable(out, c.Ticks); !found {
			r.native(out, lost)
		}
	}
	queues, err := r.Queues(ctx)
	if err != nil {
		return nil, err
	}
	out.NoteAll(queues.Noted())
	var n uint64
	for i := range queues.Queues {
		n += queues.Queues[i].Count
	}
	out.Queued = answer.Of(n, queues.Lost)
	if out.Kind == answer.PoolNone {
		unused(out)
	}
	if o.Items {
		out.Queues = queues
	}
	if o.Log {
		r.log(out, c.Ticks)
	}
	if o.Brief {
		return out, ctx.Err()
	}
	if err := r.eachTimer(ctx, out.Note, noTimer, c); err != nil {
		return nil, err
	}
	out.Clock = c.Ticks.Now()
	if out.Dequeued.Err() == nil && out.Kind == answer.PoolPortable {
		out.Dequeued.Value = c.Ticks.Widen(uint32(out.Dequeued.Value))
	}
	if err := r.workers(ctx, out); err != nil {
		return nil, err
	}
	if out.Kind != answer.PoolNone {
		out.Verdicts = append(out.Verdicts, judge(out, queues, o.waits, o.pauses))
	}
	return out, nil
}

// noCounters marks all counters as missing, with the reason.
func noCounters(out *answer.ThreadPool, err error) {
	missing := answer.Missing[int64](err)
	out.CPU, out.Total, out.Running, out.Goal, out.Min, out.Max = missing, missing, missing, missing, missing, missing
	out.Blocked, out.Requested, out.Dequeued, out.Clock = missing, missing, missing, missing
}

// unused marks the counters of a pool that was not found. A pool with queued items or unreadable queues may be in use.
func unused(out *answer.ThreadPool) {
	err := target.Unsupportedf("the process has not used its thread pool")
	switch {
	case out.Queued.Err() != nil:
		out.Kind, err = answer.PoolUnknown, out.Queued.Err()
	case out.Queued.Value > 0:
		out.Kind, err = answer.PoolUnknown, target.Unsupportedf("items are queued for a thread pool of an unknown kind")
	}
	noCounters(out, err)
}

// windowsPool returns the shape of the Windows pool and its number of threads, which is 0 unless the program uses it.
func (r *Reader) windowsPool() (*windowsPool, int64) {
	for s, err := range objects.LoadedShapes[*windowsPool](r.b) {
		if err != nil {
			continue
		}
		if n, err := s.Threads.Value().Int(); err == nil && n > 0 {
			return s, n
		}
	}
	return nil, 0
}

// windows reads the Windows pool and reports whether the process uses it. Windows decides how many threads run.
func (r *Reader) windows(out *answer.ThreadPool) bool {
	s, threads := r.windowsPool()
	if s == nil {
		return false
	}
	out.Kind = answer.PoolWindows
	noCounters(out, target.Unsupportedf("the thread pool of Windows does not record it in the process's managed memory"))
	out.Total = answer.Known(threads)
	working, err := s.Working.Value().Struct()
	if out.Running = answer.Missing[int64](err); err == nil {
		out.Running = answer.Of(working.Field("Count").Int())
	}
	out.Max = answer.Of(s.Max.Value().Int())
	out.Note(out.Running.Err())
	out.Note(out.Max.Err())
	return true
}

// portable reads the pool of .NET 6 and later, and reports whether the process has it. The error is
// why that is unknown.
func (r *Reader) portable(out *answer.ThreadPool, c *ticks.Clock) (bool, error) {
	pool, err := static(r.b, "System.Threading.PortableThreadPool", func(s *portable) *objects.StaticField { return &s.Instance })
	if err != nil {
		out.Note(fmt.Errorf("the thread pool: %w", err))
		return false, err
	}
	if pool.Addr == 0 {
		return false, nil
	}
	out.Kind = answer.PoolPortable
	s, at, err := objects.BindObject[*portablePool](r.b, pool)
	if err != nil {
		out.Note(err)
		noCounters(out, err)
		return true, nil
	}
	// PortableThreadPool.ThreadCounts. Its source notes that SOS depends on this layout.
	counts, err := s.Counts.Uint(at)
	out.Running = answer.Of(int64(int16(counts)), err)
	out.Total = answer.Of(int64(int16(counts>>16)), err)
	out.Goal = answer.Of(int64(int16(counts>>32)), err)
	out.Note(err)
	for _, f := range []struct {
		to    *answer.Maybe[int64]
		field *objects.IntField
	}{{&out.CPU, &s.CPU}, {&out.Min, &s.Min}, {&out.Max, &s.Max}, {&out.Blocked, &s.Blocked}, {&out.Requested, &s.Requested}, {&out.Dequeued, &s.Dequeued}} {
		if !f.field.Has() {
			*f.to = answer.Missing[int64](target.Unsupportedf("this version of the pool does not count it"))
			continue
		}
		*f.to = answer.Of(f.field.Int(at))
		out.Note(f.to.Err())
	}
	if least, most := out.Min, out.Max; least.Err() == nil && most.Err() == nil && (least.Value < 1 || most.Value < least.Value) {
		out.Note(target.CorruptHeapf("the pool has %d threads at least and %d at most", least.Value, most.Value))
	}
	c.Note32(out.Dequeued.Value, out.Dequeued.Err())
	r.waitThreads(out, &s.Waits, at)
	r.ports(out)
	return true, nil
}

// waitThreads reads the list of threads that wait for registered handles.
func (r *Reader) waitThreads(out *answer.ThreadPool, f *objects.RefField, at objects.Instance) {
	if !f.Has() {
		return
	}
	node, err := f.Object(at)
	for n := 0; err == nil && node.Addr != 0; n++ {
		if n == limits.ManagedThreads {
			err = target.CorruptHeapf("the list of threads that wait for handles does not end")
			break
		}
		var s *waitNode
		var x objects.Instance
		if s, x, err = objects.BindObject[*waitNode](r.b, node); err != nil {
			break
		}
		var o objects.Object
		if o, err = s.Thread.Object(x); err != nil {
			break
		}
		w := answer.PoolWaitThread{Address: o.Addr}
		if t, x, err := objects.BindObject[*waitThread](r.b, o); err == nil {
			w.Waits = answer.Of(t.Count.Int(x))
		} else {
			w.Waits = answer.Missing[int64](err)
		}
		out.Note(w.Waits.Err())
		out.WaitThreads = append(out.WaitThreads, w)
		node, err = s.Next.Object(x)
	}
	out.Note(err)
}

// ports adds the completion ports that the runtime keeps beside the portable pool (.NET 6).
func (r *Reader) ports(out *answer.ThreadPool) {
	p, err := r.rt.NativePool()
	if err == nil {
		out.Ports = completionPorts(p)
	}
}

func completionPorts(p *dac.NativePool) *answer.CompletionPorts {
	return &answer.CompletionPorts{Total: int64(p.Ports.Active) + int64(p.Ports.Retired), Free: int64(p.Ports.Active) - int64(p.Ports.Working),
		MaxFree: int64(p.MaxFreePorts), Current: int64(p.Ports.Active), Min: int64(p.MinPorts), Max: int64(p.MaxPorts)}
}

// legacyQueue is the queue of the pool up to .NET 5.
type legacyQueue struct {
	_     objects.Shape       `of:"System.Threading.ThreadPoolGlobals"`
	Queue objects.StaticField `static:"workQueue"`
}

// modernQueue is the queue of the pool since .NET 6.
type modernQueue struct {
	_     objects.Shape       `of:"System.Threading.ThreadPool"`
	Queue objects.StaticField `static:"s_workQueue"`
}

// native reads the runtime's own pool (.NET 5 and earlier). A pool without a limit was never used. lost is why it is
// unknown whether the class library has a pool; it is the result if the runtime has no pool of its own.
func (r *Reader) native(out *answer.ThreadPool, lost error) {
	queue, unread := static(r.b, "System.Threading.ThreadPoolWorkQueue", func(s *legacyQueue) *objects.StaticField { return &s.Queue })
	if unread != nil && r.rt.Check(dac.FeatureStatics) != nil { // it may have another pool, such as the Windows one
		out.Kind = answer.PoolUnknown
		noCounters(out, unread)
		return
	}
	p, err := r.rt.NativePool()
	switch {
	case lost != nil && errors.Is(err, target.ErrUnsupported):
		out.Kind = answer.PoolPortable
		noCounters(out, lost)
		return
	case lost != nil && (err != nil || p.MinWorkers == 0):
		out.Kind = answer.PoolUnknown
		noCounters(out, lost)
		return
	case err == nil && p.MinWorkers == 0, err != nil && unread == nil && queue.Addr == 0 && (errors.Is(err, target.ErrUnsupported) || r.sinceSix()):
		return // unused, else it would be the portable pool
	case err != nil && queue.Addr == 0:
		out.Kind = answer.PoolUnknown
		out.Note(fmt.Errorf("the runtime's thread pool: %w", err))
		noCounters(out, err)
		return
	case err != nil:
		out.Kind = answer.PoolNative
		out.Note(fmt.Errorf("the runtime's thread pool: %w", err))
		noCounters(out, err)
		return
	}
	out.Kind = answer.PoolNative
	out.CPU, out.Min, out.Max = answer.Known(int64(p.CPU)), answer.Known(int64(p.MinWorkers)), answer.Known(int64(p.MaxWorkers))
	out.Running, out.Goal = answer.Known(int64(p.Workers.Working)), answer.Known(int64(p.Workers.MaxWorking))
	out.Total = answer.Known(int64(p.Workers.Active) + int64(p.Workers.Retired))
	missing := answer.Missing[int64](target.Unsupportedf("the runtime's own thread pool does not record it"))
	out.Blocked, out.Requested, out.Dequeued = missing, missing, missing
	out.Ports = completionPorts(p)
}

// sinceSix reports whether the loaded types show a class library of .NET 6 or later.
func (r *Reader) sinceSix() bool {
	for _, err := range objects.LoadedShapes[*modernQueue](r.b) {
		if err == nil {
			return true
		}
	}
	return false
}

// poolTicks adds the pool's time stamps to the clock, and notes unreadable ones in g.
func (r *Reader) poolTicks(g *answer.Gaps, c ticks.Clocks) {
	var pool answer.ThreadPool
	if _, err := r.portable(&pool, c.Ticks); err != nil {
		g.Note(fmt.Errorf("time stamps of the thread pool: %w", err))
	}
}

// transitions are the names of HillClimbing.StateOrTransition. The runtime's own pool uses the same (hillclimbing.h,
// enum HillClimbingStateTransition).
var transitions = []string{"Warmup", "Initializing", "RandomMove", "ClimbingMove", "ChangePoint", "Stabilizing", "Starvation", "ThreadTimedOut",
	"CooperativeBlocking"}

func transition(n int64) string {
	if n >= 0 && n < int64(len(transitions)) {
		return transitions[n]
	}
	return fmt.Sprintf("transition %d", n)
}

// log adds the hill climbing log.
func (r *Reader) log(out *answer.ThreadPool, c *ticks.Clock) {
	if out.Kind == answer.PoolNative {
		steps, err := r.rt.HillClimbing()
		out.Note(err)
		for _, e := range steps {
			c.Note32(int64(e.Ticks), nil)
			out.HillClimbing = append(out.HillClimbing, answer.HillClimbingStep{Ms: int64(e.Ticks), Transition: transition(int64(e.Transition)),
				Threads: int64(e.Threads), Samples: int64(e.Samples), Throughput: float64(e.Throughput)})
		}
		return
	}
	climber, err := static(r.b, "System.Threading.PortableThreadPool+HillClimbing", func(s *hillClimber) *objects.StaticField { return &s.Instance })
	if err == nil && climber.Addr != 0 {
		out.HillClimbing, err = r.steps(climber)
	}
	for _, s := range out.HillClimbing {
		c.Note32(s.Ms, nil)
	}
	if err != nil {
		out.Note(fmt.Errorf("hill climbing log: %w", err))
	}
}

// steps reads the log of a HillClimbing, a ring buffer.
func (r *Reader) steps(climber objects.Object) ([]answer.HillClimbingStep, error) {
	s, at, err := objects.BindObject[*hillClimber](r.b, climber)
	if err != nil {
		return nil, err
	}
	list, err := s.Log.Object(at)
	if err != nil {
		return nil, err
	}
	start, err := s.Start.Int(at)
	if err != nil {
		return nil, err
	}
	size, err := s.Size.Int(at)
	if err != nil {
		return nil, err
	}
	e, a, err := objects.BindElements[*hillClimbingStep](r.b, list)
	if err != nil {
		return nil, err
	}
	if start < 0 || size < 0 || size > int64(a.Len) || start > int64(a.Len) || a.Len > limits.HillClimbing {
		return nil, target.CorruptHeapf("%d entries from %d on, of %d", size, start, a.Len)
	}
	var out []answer.HillClimbingStep
	for i := range size {
		step, err := e.read(a.Instance(uint32((start + i) % int64(a.Len))))
		if err != nil {
			return out, err
		}
		out = append(out, step)
	}
	return out, nil
}

func (e *hillClimbingStep) read(x objects.Instance) (answer.HillClimbingStep, error) {
	ticks, err := e.Ticks.Int(x)
	if err != nil {
		return answer.HillClimbingStep{}, err
	}
	why, err := e.Transition.Int(x)
	if err != nil {
		return answer.HillClimbingStep{}, err
	}
	n, err := e.Threads.Int(x)
	if err != nil {
		return answer.HillClimbingStep{}, err
	}
	samples, err := e.Samples.Int(x)
	if err != nil {
		return answer.HillClimbingStep{}, err
	}
	throughput, err := e.Throughput.Value(x).Float()
	return answer.HillClimbingStep{Ms: ticks, Transition: transition(why), Threads: n, Samples: samples, Throughput: throughput}, err
}

// MarkWorkers marks the workers of the Windows pool in out. The runtime does not mark them in its thread state. If it
// marks any thread, the process has the portable pool, and MarkWorkers reads no metadata.
func (r *Reader) MarkWorkers(out *answer.ManagedThreads) {
	if slices.ContainsFunc(r.threads, func(t stackwalk.Thread) bool { return t.Managed != nil && t.Managed.State&dac.ThreadPoolWorker != 0 }) {
		return
	}
	if s, _ := r.windowsPool(); s == nil {
		return
	}
	used, err := r.windowsWorkers()
	out.Note(err)
	for i := range out.Threads {
		if t := &out.Threads[i]; used[t.Thread.Thread] {
			t.Special = append(t.Special, threads.PurposeWorker)
		}
	}
}

// windowsWorkers returns the threads that have run work of the Windows pool.
func (r *Reader) windowsWorkers() (map[target.Addr]bool, error) {
	owners, err := r.queueOwners()
	used := make(map[target.Addr]bool, len(owners))
	for _, t := range owners {
		used[t.Managed.Addr] = true
	}
	return used, err
}

// workers describes the activities of the worker threads.
func (r *Reader) workers(ctx context.Context, out *answer.ThreadPool) error {
	out.Note(r.unread)
	var used map[target.Addr]bool
	if out.Kind == answer.PoolWindows {
		var err error
		used, err = r.windowsWorkers()
		out.Note(err)
	}
	for i := range r.threads {
		t := &r.threads[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if t.OS == nil || t.Managed == nil || t.Managed.State&dac.ThreadPoolWorker == 0 && !used[t.Managed.Addr] {
			continue
		}
		a := threads.ActivityOf(t, r.walker.Walk(ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
		if used[t.Managed.Addr] && a.Top == nil && a.Err == nil { // between callbacks no managed code is on its stack
			a.Activity, a.Text = threads.ActivityIdle, "idle (worker of the thread pool)"
		}
		if r.aside(&a) {
			continue
		}
		tasks.NamePeer(ctx, r.b, r.walker, t, &out.Gaps, &a)
		tasks.NameFile(ctx, r.b, r.walker, t, &out.Gaps, &a)
		out.Workers = append(out.Workers, answer.PoolWorker{Thread: t.Describe(&out.Gaps), Activity: *threads.DescribeActivity(t, &out.Gaps, a),
			Waits: waits(a.Activity), Idle: a.Activity == threads.ActivityIdle})
	}
	return nil
}

// aside reports whether a worker by the runtime's mark is another thread of the pool: its gate or its timers.
func (r *Reader) aside(a *threads.ThreadActivity) bool {
	if a.By == nil {
		return false
	}
	class, err := r.rt.TypeName(a.By.MethodTable, dac.NameNative)
	return err == nil && parts.NoWorker(class, a.Activity)
}

// waits reports whether an activity is waiting for something other than work.
func waits(a threads.Activity) bool {
	switch a {
	case threads.ActivitySleep, threads.ActivityLock, threads.ActivityMonitorWait, threads.ActivityEvent, threads.ActivityTask, threads.ActivityJoin,
		threads.ActivityStaticInit, threads.ActivitySocket, threads.ActivityFile, threads.ActivityConsole, threads.ActivityProcess, threads.ActivityQueue:
		return true
	}
	return false
}
