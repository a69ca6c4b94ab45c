package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the locks of one runtime. It is safe for concurrent use.
type Reader struct {
	b       *objects.Binder
	rt      *dac.Runtime
	heap    *heap.Heap
	walker  *stackwalk.Walker
	threads []stackwalk.Thread
	unread  error // why threads may be incomplete
	process target.Target
	served  func(*answer.Gaps) func([]target.Addr) string // nil if no requests are named
	texts   func(error) error                             // how reasons of missing texts are put; nil as they are
}

// NameRequests sets the function that names the request served by a chain of async methods. It gets their boxes, the
// outermost last. By default no request is named.
func (r *Reader) NameRequests(served func(*answer.Gaps) func(boxes []target.Addr) string) {
	r.served = served
}

// New returns a Reader of the locks in h. list holds the threads that may hold them or wait (see stackwalk.Threads).
// unread is the reason why list is incomplete, or nil.
func New(p target.Target, b *objects.Binder, h *heap.Heap, w *stackwalk.Walker, list []stackwalk.Thread, unread error) *Reader {
	return &Reader{process: p, b: b, rt: b.Objects().Runtime(), heap: h, walker: w, threads: list, unread: unread}
}

// Options selects locks.
type Options struct {
	All  bool `opt:"all" help:"also free locks without waiters"`
	Scan heap.ScanOptions
	// NoGraph leaves out which promises can be completed: that needs the graph of the heap.
	NoGraph bool

	// whole reports that all objects of the heap can be read, and no collection moves them.
	whole bool
	// paused reports that a collection may be under way: the program may have stood still for it.
	paused bool
	graph  func() (*graph.Graph, error)         // with all roots and references, or an error; nil if the heap is not whole
	calls  func() map[target.Addr]time.Duration // callsOf
}

// A lock is a lock with its holders and waiters.
type lock struct {
	answer.Lock
	owner    *stackwalk.Thread
	readers  []*stackwalk.Thread
	arrived  answer.Statement // of a Barrier: how many participants have arrived
	signaled bool             // of a Barrier or CountdownEvent: some signals have come
	folded   bool             // reported with the lock that it is part of
	entered  bool             // held by a thread that is not recorded yet
	pulse    bool             // more threads wait for a pulse than were found
	since    dac.TickStamp    // of a monitor or Lock: when a waiter last got it, or the first of those who wait came

	unread      bool  // not all readers of a ReaderWriterLockSlim could be searched for
	count, most int64 // a semaphore's free permits and its maximum
}

// says sets the state of the lock.
func (l *lock) says(state answer.Statement) { l.State, l.Counts = state.Text, state }

// holders returns the threads that must leave the lock before t may enter. An upgradeable reader that becomes the
// writer waits for the other readers.
func (l *lock) holders(t *stackwalk.Thread) (out []*stackwalk.Thread) {
	if l.owner != nil && l.owner != t {
		out = append(out, l.owner)
	}
	for _, r := range l.readers {
		if r != t && r != l.owner {
			out = append(out, r)
		}
	}
	return out
}

// A survey collects locks and waits. Its parts are set in this order.
type survey struct {
	r    *Reader
	ctx  context.Context
	lose func(error)
	gaps *answer.Gaps
	lost bool       // parts of the heap or of the threads could not be read
	code reach.Code // the code that can still run, and what of it makes a call
	inventory
	blockedThreads
	suspension
	naming
	found      *finds // set by find
	children   *tasks.Children
	lostPulses []lostPulse               // set by findLostPulses
	signaling  map[signal]*reach.Callers // set by signalers
}

// An inventory is the locks of the heap, and what they are built of.
type inventory struct {
	locks   []*lock
	byObj   map[target.Addr]*lock          // by address, without monitors
	mons    map[target.Addr]*lock          // monitors by object
	blocks  map[target.Addr]*dac.SyncBlock // by System.Threading.Lock: the sync block with this monitor (.NET 11)
	on      map[target.Addr]target.Addr    // by a monitor's object: the lock built on it
	inner   map[target.Addr]target.Addr    // by event: the lock built on it
	tasks   map[target.Addr]bool           // the events that wait for tasks
	nodes   map[target.Addr]*lock          // by task: the SemaphoreSlim that it waits for
	lazy    map[target.Addr]objects.Object // by a monitor's object: the Lazy built on it
	handles map[target.Addr]objects.Object // by SafeWaitHandle: its WaitHandle
	bounded map[target.Addr]bounded        // by SemaphoreSlim: the BlockingCollection that it is a part of
	spins   map[target.Addr]*lock          // by address
}

// newInventory returns one without locks.
func newInventory() inventory {
	return inventory{byObj: map[target.Addr]*lock{}, mons: map[target.Addr]*lock{}, blocks: map[target.Addr]*dac.SyncBlock{}, on: map[target.Addr]target.Addr{},
		nodes: map[target.Addr]*lock{}, inner: map[target.Addr]target.Addr{}, tasks: map[target.Addr]bool{}, lazy: map[target.Addr]objects.Object{},
		handles: map[target.Addr]objects.Object{}, bounded: map[target.Addr]bounded{}, spins: map[target.Addr]*lock{}}
}

// blockedThreads are the threads that wait, and what they run meanwhile.
type blockedThreads struct {
	waits   []*wait
	looked  int                                 // threads with a stack or notes that show whether they wait
	unnoted map[*stackwalk.Thread]bool          // threads without a note of a wait, where notes can be read
	unread  map[*stackwalk.Thread]bool          // threads already recorded as having an unreadable stack
	running *running                            // set by findRunning
	mutexes map[target.Addr][]holder            // by Mutex: the threads that hold it by their code
	pool    *answer.ThreadPool                  // nil unless a thread waits for a task
	items   map[target.Addr]bool                // the items queued in it
	ctors   map[target.Addr]*stackwalk.Thread   // the classes with running static constructors
	ticks   map[target.Addr][]*stackwalk.Thread // set by lastTicks
	paused  bool                                // Options.paused
	taken   *moment                             // set by moment
	frames  []stackwalk.Frame                   // the array of standOf
}

// A suspension is the suspended async methods, and what they wait for.
type suspension struct {
	set       *tasks.Set // set by taskSet
	setLost   bool
	partial   bool                                 // not all async methods of the heap could be read
	served    func([]target.Addr) string           // names the request that a chain of boxes serves; nil if none is named
	ops       []*operation                         // set by operations
	circles   [][]*answer.AsyncFrame               // async methods that await each other; set by operations
	iterators []target.Addr                        // async iterators that wait until their next element is asked for; set by operations
	goesOn    map[target.Addr]bool                 // by task or box: suspended methods that wait for nothing any more; set by operations
	standing  map[target.Addr]*operation           // by task or box: the operation in which a method stands, with the methods that await it; set by operations
	roles     map[target.Addr]channelRole          // by operation of a channel; set by readChannels
	uses      map[*lock]*semaphoreUse              // set by semaphores
	finds     map[*tasks.AwaitPoint]bool           // see findsDone
	readCalls func() map[target.Addr]time.Duration // callsOf; nil if they are not to be read
	callAges  map[target.Addr]time.Duration        // set by callAge
	sources   map[target.Addr]target.Addr          // by task of a promise that code waits for: its TaskCompletionSource; set by promiseOwners
}

// A naming is what nameObjects has found: the names of the objects that something waits for.
type naming struct {
	names   map[target.Addr]string      // by object
	classes map[target.Addr]string      // by object: the class with the field of its name
	inside  map[target.Addr]target.Addr // by object: the object with the field of its name, 0 for a static field
	alike   map[string]int              // by name: how many of the semaphores that code waits for have it
}

// Describe lists the locks that are held or waited for, and records what could not be read. The error is ctx's.
func (r *Reader) Describe(ctx context.Context, o Options) (*answer.Locks, error) {
	out := &answer.Locks{Locks: []answer.Lock{}}
	out.RewordTexts(r.texts)
	s, err := r.survey(ctx, &out.Gaps, out.Lose, o.Scan)
	if err != nil {
		return nil, err
	}
	wanted := map[target.Addr]bool{}
	for _, l := range s.locks {
		if age := s.age(l); age.known {
			l.Age = answer.Known(age.least.Milliseconds())
		}
		if !o.All && !l.Held && l.Waiters.Value == 0 && !l.pulse && len(l.Waiting) == 0 && len(l.Async) == 0 {
			out.Free++
			continue
		}
		if l.owner != nil && l.Held && (l.Waiters.Value > 0 || len(l.Waiting) > 0) && s.possession([]*stackwalk.Thread{l.owner}, l) == heldUnseen {
			if l.Counts.IsZero() {
				l.says(words.OwnerById.Of())
			} else {
				l.says(words.Join("; ", l.Counts, words.OwnerById.Of()))
			}
		}
		out.Locks = append(out.Locks, l.Lock)
		wanted[l.Address] = true
	}
	if err := s.nameObjects(wanted, true, o.Scan); err != nil {
		return nil, err
	}
	for i := range out.Locks {
		out.Locks[i].Name = cmp.Or(out.Locks[i].Name, s.names[out.Locks[i].Address])
	}
	out.Locks = append(out.Locks, s.runningConstructors()...)
	return out, ctx.Err()
}

// survey collects locks and waits.
func (r *Reader) survey(ctx context.Context, g *answer.Gaps, lose func(error), o heap.ScanOptions) (*survey, error) {
	s := &survey{r: r, ctx: ctx, gaps: g, children: tasks.NewChildren(r.b, r.heap), inventory: newInventory(),
		blockedThreads: blockedThreads{unread: map[*stackwalk.Thread]bool{}}, signaling: map[signal]*reach.Callers{}}
	s.lose = func(err error) {
		s.lost = s.lost || err != nil
		lose(err)
	}
	s.lose(r.unread)
	s.monitors()
	if err := s.find(o); err != nil {
		return nil, err
	}
	s.code = reach.New(ctx, reach.Source{Binder: r.b, Heap: r.heap, Walker: r.walker, Threads: r.threads, Tasks: s.found.tasks,
		Suspended: func() (*tasks.Set, bool) { return s.set, !s.setLost }, Boxes: s.boxes, Note: s.missing})
	s.thin()
	for found, err := range objects.BoundObjects[*primitive](ctx, r.b, r.heap, nil, o) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			var obj objects.Object
			if obj, err = r.b.Objects().Of(found.Object); err == nil {
				err = s.primitive(obj)
			}
			if err != nil {
				err = fmt.Errorf("lock %016x: %w", uint64(found.Object.Addr), err)
			}
		}
		s.lose(err)
	}
	s.fold()
	s.spinLocks()
	s.blocked()
	s.unfound()
	if err := s.asynchronous(o); err != nil {
		return nil, err
	}
	return s, ctx.Err()
}

// missing records that what a conclusion may rest on is not in the dump. It passes over what is unknown for another reason.
func (s *survey) missing(err error) {
	if errors.Is(err, target.ErrNotInDump) {
		s.gaps.Note(err)
	}
}

// fold merges locks that are parts of others. The events of a CountdownEvent or Barrier show its waiters. The thread
// that creates the value of a Lazy holds the monitor of its LazyHelper.
func (s *survey) fold() {
	for _, l := range s.locks {
		outer, ok := s.inner[l.Address]
		if ok && l.Kind == answer.LockEvent && s.byObj[outer] != nil {
			s.byObj[outer].Waiters.Value += l.Waiters.Value
			l.folded = true
		}
		if l.Kind == answer.LockMonitor || l.Kind == answer.LockThin {
			s.made(l)
		}
	}
	s.locks = slices.DeleteFunc(s.locks, func(l *lock) bool { return l.folded })
}

// made records the Lazy that a monitor belongs to.
func (s *survey) made(l *lock) {
	o, ok := s.lazy[l.Address]
	if !ok {
		return
	}
	l.Kind, l.Address, l.Type = answer.LockLazy, o.Addr, s.gaps.Text(o.Type.ManagedName())
	l.says(words.ValueInTheMaking.Of())
}

// add adds a lock.
func (s *survey) add(l *lock) {
	s.locks = append(s.locks, l)
	if l.Kind == answer.LockMonitor || l.Kind == answer.LockThin {
		s.mons[l.Address] = l
	} else {
		s.byObj[l.Address] = l
	}
}

// own records the owner of a lock, given by managed thread id.
func (s *survey) own(l *lock, id uint32) {
	l.Held, l.OwnerID = true, id
	s.ownedBy(l, stackwalk.ThreadByManagedID(s.r.threads, id))
}

func (s *survey) ownedBy(l *lock, t *stackwalk.Thread) {
	if l.owner = t; t != nil {
		d := t.Describe(s.gaps)
		l.Owner = &d
	}
}

// typeOf returns the name of an object's type.
func (s *survey) typeOf(a target.Addr) answer.Text {
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		return s.gaps.Text("", err)
	}
	return s.gaps.Text(o.Type.ManagedName())
}

// monitors adds the monitors that have a sync block and are held or waited for.
func (s *survey) monitors() {
	for b, err := range s.r.rt.SyncBlocks() {
		if err != nil {
			if b.Index != 0 || !errors.Is(err, target.ErrUnsupported) { // without an index: the runtime has not created a sync block
				s.lose(err)
			}
			continue
		}
		pulse := false
		if b.Lock != 0 {
			s.blocks[b.Lock] = &b
			pulse = s.awaitsPulse(b.Lock)
		}
		if b.Object == 0 || !b.Held && b.Waiters == 0 && !pulse {
			continue
		}
		s.monitor(&b)
	}
}

// awaitsPulse reports whether threads wait for a pulse of the lock at a, as far as the lock records them.
func (s *survey) awaitsPulse(a target.Addr) bool {
	l, err := s.r.rt.ManagedLock(a)
	if err == nil && l.PulseErr != nil {
		s.lose(fmt.Errorf("who waits for a pulse: %w", l.PulseErr))
	}
	return l.Pulse > 0
}

// unfound counts, for each monitor of a Lock, the threads that wait for a pulse but were not found.
func (s *survey) unfound() {
	for a, b := range s.blocks {
		l := s.mons[b.Object]
		if l == nil {
			continue
		}
		found := uint32(0)
		for i := range l.Waiting {
			if l.Waiting[i].Pulse {
				found++
			}
		}
		if m, err := s.r.rt.ManagedLock(a); err == nil && m.Pulse > found {
			l.pulse = true
			l.says(words.WaitingForPulse.Of(words.N(m.Pulse)))
		}
	}
}

func (s *survey) monitor(b *dac.SyncBlock) *lock {
	if l := s.mons[b.Object]; l != nil {
		return l
	}
	l := &lock{since: b.Since, Lock: answer.Lock{Address: b.Object, Kind: answer.LockMonitor, Type: s.typeOf(b.Object),
		Waiters: answer.Known(int64(b.Waiters))}}
	if b.Held {
		l.Held = true
		l.Recursion = b.Recursion
		if b.Recursion > 0 {
			l.Recursion-- // the runtime counts the first entry
		}
		if s.ownedBy(l, s.ownerOf(b)); b.OwnerID == 0 && b.OwnerThread == 0 {
			l.entered = true
			l.says(words.JustEntered.Of())
		}
	}
	s.add(l)
	return l
}

func (s *survey) ownerOf(b *dac.SyncBlock) *stackwalk.Thread {
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if m := t.Managed; m != nil && (b.OwnerThread != 0 && m.Addr == b.OwnerThread || b.OwnerID != 0 && m.ManagedID == b.OwnerID) {
			return t
		}
	}
	return nil
}

// thin adds the monitors that are kept in object headers. They have never been waited for.
func (s *survey) thin() {
	for _, f := range s.found.thin {
		l := &lock{Lock: answer.Lock{Address: f.Object.Addr, Kind: answer.LockThin, Type: s.typeOf(f.Object.Addr),
			Recursion: f.Lock.Recursion, Waiters: answer.Known[int64](0)}}
		s.own(l, f.Lock.Owner)
		s.add(l)
	}
}

// primitive adds a lock of the class library.
func (s *survey) primitive(o objects.Object) error {
	l := &lock{Lock: answer.Lock{Address: o.Addr, Type: s.gaps.Text(o.Type.ManagedName()), Waiters: answer.Known[int64](0)}}
	for _, read := range []func(*lock, objects.Object) (bool, error){s.managedLock, s.lazyValue, s.waitHandle, s.boundedCollection, s.semaphore, s.event, s.readerWriter, s.countdown, s.barrier} {
		is, err := read(l, o)
		if err != nil {
			return err
		}
		if is {
			if l.Kind != "" {
				s.add(l)
			}
			return nil
		}
	}
	return nil
}

// ints reads several fields and returns the first error.
func ints(at objects.Instance, fields ...*objects.IntField) ([]int64, error) {
	out := make([]int64, len(fields))
	for i, f := range fields {
		var err error
		if out[i], err = f.Int(at); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *survey) managedLock(l *lock, o objects.Object) (bool, error) {
	is, err := objects.IsShape[*managedLock](s.r.b, o.Type)
	if !is || err != nil {
		return is, err
	}
	if s.blocks[o.Addr] != nil {
		return true, nil // listed as a monitor
	}
	l.Kind = answer.LockLock
	v, err := s.r.rt.ManagedLock(o.Addr)
	l.Held, l.OwnerID, l.Recursion, l.Waiters.Value, l.since = v.Held, v.OwnerID, v.Recursion, int64(v.Waiters), v.Since
	switch {
	case err != nil || !v.Held:
	case v.OwnerID == 0:
		l.entered = true
		l.says(words.JustEntered.Of())
	case v.ManagedID:
		s.ownedBy(l, stackwalk.ThreadByManagedID(s.r.threads, v.OwnerID))
	default:
		s.ownedBy(l, s.lockOwner(v.OwnerID))
	}
	return true, err
}

// lockOwner returns the thread with the given id of the locks of .NET 9 and 10, which each thread keeps in a thread
// static.
func (s *survey) lockOwner(id uint32) *stackwalk.Thread {
	for k, err := range objects.LoadedShapes[*lockID](s.r.b) {
		if err != nil {
			s.lose(err)
			continue
		}
		var unread error
		for i := range s.r.threads {
			t := &s.r.threads[i]
			if t.Managed == nil {
				continue
			}
			own, err := k.Current.Of(t.Managed).Uint()
			if err == nil && own != 0 && uint32(own) == id {
				return t
			}
			if err != nil && unread == nil && !errors.Is(err, objects.ErrNotInitialised) {
				unread = fmt.Errorf("by which id locks identify thread %#x: %w", t.ID(), err)
			}
		}
		s.lose(unread)
	}
	return nil
}

func (s *survey) semaphore(l *lock, o objects.Object) (bool, error) {
	k, at, is, err := shapes.TryBind[*semaphore](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	l.Kind = answer.LockSemaphore
	v, err := ints(at, &k.Count, &k.Max, &k.Waiters)
	if err != nil {
		return true, err
	}
	l.says(words.MayEnter.Of(words.N(v[0])))
	if v[1] != 1<<31-1 {
		l.says(words.SomeMayEnter.Of(words.N(v[0]), words.N(v[1])))
	}
	l.Waiters.Value, l.count, l.most = v[2], v[0], v[1]
	monitor, err := k.Monitor.Addr(at)
	if err != nil {
		return true, err
	}
	s.on[monitor] = o.Addr
	node, err := k.Async.Object(at)
	seen := map[target.Addr]bool{}
	for err == nil && node.Addr != 0 {
		if seen[node.Addr] || len(seen) == limits.WorkItems {
			return true, target.CorruptHeapf("the list of asynchronous waiters does not end")
		}
		seen[node.Addr] = true
		l.Async = append(l.Async, answer.AsyncWaiter{Task: node.Addr, Abandoned: s.abandoned(node)})
		s.nodes[node.Addr] = l
		var n *waitNode
		var x objects.Instance
		if n, x, err = objects.BindObject[*waitNode](s.r.b, node); err == nil {
			node, err = n.Next.Object(x)
		}
	}
	return true, err
}

// abandoned reports whether nothing goes on when a task completes: it has no continuation, or only promises of Task.WhenAny, which other
// tasks have completed.
func (s *survey) abandoned(o objects.Object) bool {
	k, at, is, err := shapes.TryBind[*task](s.r.b, o)
	if !is || err != nil {
		return false
	}
	next, err := k.Continuation.Object(at)
	if err != nil {
		return false
	}
	then := []target.Addr{next.Addr}
	if next.Addr != 0 {
		if several, err := objects.IsShape[*list](s.r.b, next.Type); err != nil {
			return false
		} else if several {
			then = s.elements(next)
		}
	}
	return !slices.ContainsFunc(then, func(a target.Addr) bool {
		if a == 0 {
			return false
		}
		o, err := s.r.b.Objects().TrustedObject(a)
		if err != nil {
			return true
		}
		if is, err := objects.IsShape[*task](s.r.b, o.Type); !is || err != nil {
			return true // a delegate, or a method
		}
		cause, err := s.found.tasks.CauseOf(a)
		return err != nil || cause != tasks.CauseNone
	})
}

func (s *survey) event(l *lock, o objects.Object) (bool, error) {
	k, at, is, err := shapes.TryBind[*event](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	state, err := k.State.Uint(at)
	if err != nil {
		return true, err
	}
	monitor, err := k.Monitor.Addr(at)
	if err != nil {
		return true, err
	}
	if monitor != 0 {
		s.on[monitor] = o.Addr
	}
	if s.tasks[o.Addr], err = objects.IsShape[*taskEvent](s.r.b, o.Type); err != nil || s.tasks[o.Addr] {
		return true, err
	}
	l.Kind = answer.LockEvent
	l.says(words.EventNotSet.Of())
	if state&eventSet != 0 {
		l.says(words.EventSet.Of())
	}
	l.Waiters.Value = int64(state & eventWaiters)
	return true, nil
}

func (s *survey) readerWriter(l *lock, o objects.Object) (bool, error) {
	k, at, is, err := shapes.TryBind[*readerWriter](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	l.Kind = answer.LockReaderWriter
	v, err := ints(at, &k.Writer, &k.Upgrader, &k.WriteWaiters, &k.ReadWaiters, &k.UpgradeWait, &k.WriteUpgrade)
	if err != nil {
		return true, err
	}
	owners, err := k.Owners.Uint(at)
	if err != nil {
		return true, err
	}
	l.Waiters.Value = v[2] + v[3] + v[4] + v[5]
	switch {
	case v[0] > 0:
		l.says(words.HeldByWriter.Of())
		s.own(l, uint32(v[0]))
	case v[1] > 0:
		l.says(words.HeldByUpgradeable.Of())
		s.own(l, uint32(v[1]))
		return true, s.readers(l, k, at)
	case owners&readersMask != 0:
		l.Held = true
		l.says(heldBy(owners & readersMask))
		return true, s.readers(l, k, at)
	default:
		l.says(words.LockFree.Of())
	}
	return true, nil
}

func heldBy(readers uint64) answer.Statement {
	if readers == 1 {
		return words.HeldByReader.Of()
	}
	return words.HeldByReaders.Of(words.N(readers))
}

// readers finds the threads that hold a lock as readers, from their lists of entered locks.
func (s *survey) readers(l *lock, k *readerWriter, at objects.Instance) error {
	id, err := k.ID.Int(at)
	if err != nil {
		return err
	}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil {
			continue
		}
		reads, err := s.reads(k, t.Managed, id)
		if err != nil {
			l.unread = true
			s.lose(fmt.Errorf("the locks that thread %#x reads: %w", t.ID(), err))
		}
		if reads {
			l.readers = append(l.readers, t)
			l.Readers = append(l.Readers, t.Describe(s.gaps))
		}
	}
	return nil
}

// reads reports whether a thread holds the lock with the given id as a reader.
func (s *survey) reads(k *readerWriter, t *dac.Thread, id int64) (bool, error) {
	list := k.Counts.Of(t)
	if errors.Is(list.Err(), objects.ErrNotInitialised) || list.Err() == nil && list.IsNull() {
		return false, nil
	}
	node, err := list.Object()
	for range limits.HeldReaderLocks {
		if err != nil || node.Addr == 0 {
			return false, err
		}
		c, x, err := objects.BindObject[*readerCount](s.r.b, node)
		if err != nil {
			return false, err
		}
		v, err := ints(x, &c.Lock, &c.Readers)
		if err != nil {
			return false, err
		}
		if v[0] == id && v[1] > 0 {
			return true, nil
		}
		if node, err = c.Next.Object(x); err != nil {
			return false, err
		}
	}
	return false, target.CorruptHeapf("the list has no end")
}

// lazyValue records the monitor that a Lazy is built on.
func (s *survey) lazyValue(_ *lock, o objects.Object) (bool, error) {
	k, at, is, err := shapes.TryBind[*lazyValue](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	helper, err := k.Helper.Addr(at)
	if helper != 0 && err == nil {
		s.lazy[helper] = o
	}
	return true, err
}

// waitHandle records the SafeWaitHandle of a WaitHandle, to which waiting frames refer.
func (s *survey) waitHandle(_ *lock, o objects.Object) (bool, error) {
	k, at, is, err := shapes.TryBind[*waitHandle](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	safe, err := k.Safe.Addr(at)
	if safe != 0 && err == nil {
		s.handles[safe] = o
	}
	return true, err
}

// readersMask selects the reader count in ReaderWriterLockSlim._owners (READER_MASK, a constant in all versions).
const readersMask = 0x0fffffff

func (s *survey) countdown(l *lock, o objects.Object) (bool, error) {
	k, at, is, err := shapes.TryBind[*countdown](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	l.Kind = answer.LockCountdown
	v, err := ints(at, &k.Count, &k.Initial)
	if err != nil {
		return true, err
	}
	l.says(words.SignalsMissing.Of(words.N(v[0]), words.N(v[1])))
	l.signaled = v[0] < v[1]
	e, err := k.Event.Addr(at)
	s.inner[e] = o.Addr
	return true, err
}

// Barrier._currentTotalCount has the participants in its lowest 15 bits, and how many have arrived in the 15 bits from barrierCurrent on,
// the same in all versions.
const (
	barrierTotal   = 0x7fff
	barrierCurrent = 16
)

func (s *survey) barrier(l *lock, o objects.Object) (bool, error) {
	k, at, is, err := shapes.TryBind[*barrier](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	l.Kind = answer.LockBarrier
	phase, err := k.Phase.Int(at)
	if err != nil {
		return true, err
	}
	l.says(words.BarrierPhase.Of(words.N(phase)))
	if k.Total.Has() {
		n, err := k.Total.Int(at)
		if err != nil {
			return true, err
		}
		l.signaled = n>>barrierCurrent&barrierTotal > 0
		l.arrived = words.Arrived.Of(words.N(n>>barrierCurrent&barrierTotal), words.N(n&barrierTotal))
	}
	for _, f := range []*objects.RefField{&k.Odd, &k.Even} {
		e, err := f.Addr(at)
		if err != nil {
			return true, err
		}
		s.inner[e] = o.Addr
	}
	return true, nil
}
