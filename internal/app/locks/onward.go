package locks

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A pace says whether something goes on by itself, and how soon.
type pace struct {
	moves bool
	timed bool          // after the time turn; else it runs
	turn  time.Duration // set if timed
	vague bool          // it sleeps for an unknown time, which may be short
	// asks reports that it waits for another process or a device, and the dump does not say since when: it may go on in a moment, or never.
	asks bool
}

// A course follows who waits for whom, up to what goes on by itself: a wait with a chain that ends there moves, too. It judges each semaphore, queue, event and
// promise once. One that is met again while it is judged is part of a circle, and does not move. Neither does what can't be read.
type course struct {
	g      *grapher
	known  map[target.Addr]pace
	open   map[target.Addr]bool // those that are being judged
	cut    map[target.Addr]bool // of those, the ones that were met again
	steps  int
	polls  func([]holder) bool       // repeating
	enders func(is signal) enderList // endersOf
}

func (g *grapher) course() *course {
	return &course{g: g, known: map[target.Addr]pace{}, open: map[target.Addr]bool{}, cut: map[target.Addr]bool{}, polls: g.repeating, enders: g.endersOf}
}

// maxSteps bounds what is judged anew because it depends on what was being judged.
const maxSteps = 1 << 10

// judged returns the pace of what is waited for, which judge determines. What does not move because it leads back to something that is being judged itself is judged
// again later.
func (c *course) judged(a target.Addr, judge func() pace) pace {
	if p, known := c.known[a]; known {
		return p
	}
	if c.open[a] {
		c.cut[a] = true
		return pace{}
	}
	c.open[a] = true
	c.steps++
	p := judge()
	delete(c.open, a)
	delete(c.cut, a)
	if p.moves || len(c.cut) == 0 || c.steps > maxSteps {
		c.known[a] = p
	}
	return p
}

// of returns the pace of a holder or taker.
func (c *course) of(h *holder) pace {
	g := c.g
	w := g.waitOf(h)
	is, signals := signal{}, false
	if w != nil && w.op == nil {
		is, signals = w.signaled()
	}
	switch {
	case w != nil && g.circled[w]:
		return pace{}
	case h.thread == nil && g.between(h.box):
		return c.iterated(h.box)
	case g.asks(h):
		return g.answers(h)
	case g.moves(h):
		turn, timed := g.turnOf(h)
		t := h.thread
		return pace{moves: true, timed: timed, turn: max(turn, 0), vague: !timed && t != nil && g.of[t] == nil && !g.runs(t) && !g.s.spinsFirst(t) && !g.transferring(t)}
	case w == nil:
		return pace{}
	case w.op != nil && w.op.thing.cause == tasks.CausePool:
		return pace{moves: true} // a worker is about to take it; whether the pool starves is another question
	case w.op != nil && w.op.thing.channel != nil && w.op.thing.writes:
		return c.channel(w.op.thing.channel)
	case w.op != nil && w.op.thing.channel != nil && w.op.thing.channel.kind == &channelKind:
		if writer := g.s.writerOf(w.op.thing.channel.object); writer != 0 {
			return c.ends(signal{answer.WaitChannel, writer})
		}
	case w.hasPermits():
		return pace{moves: true}
	case w.op != nil && w.op.thing.kind == answer.WaitPromise && w.op.thing.source != 0:
		return c.ends(signal{answer.WaitPromise, w.op.thing.source})
	case w.op != nil && w.op.thing.kind == answer.WaitOther && g.s.isSource(w.op.leaf):
		return c.ends(signal{waitSource, w.op.leaf})
	case w.lock == nil && w.byCode:
		return c.mutex(w.object)
	case len(w.tasks) > 0:
		return c.task(w)
	case signals && !w.library && !(w.lock != nil && w.lock.meets()):
		return c.ends(is)
	case w.lock == nil || w.pulse:
	case len(w.runners) == 0:
		return c.permit(w)
	default:
		return c.held(w)
	}
	return pace{}
}

// heldBit separates a lock from the pulses of the same object among what a course judges: objects begin at even addresses.
const heldBit = 1

// held returns the pace of a thread that waits for a lock with holders that are known.
func (c *course) held(w *wait) pace {
	return c.judged(w.lock.Address|heldBit, func() pace {
		out, _ := c.release(w.lock, w.runners, c.g.waiters(w.lock))
		return pace{moves: out == isMoment, asks: out == isAsking}
	})
}

// permit returns the pace of a wait for a semaphore, the program's or a BlockingCollection's.
func (c *course) permit(w *wait) pace {
	g, l := c.g, w.lock
	if b := g.s.boundedOf(w); b.collection != 0 {
		if b.items {
			return c.ends(signal{waitItem, b.collection})
		}
		return c.collection(b.collection, g.waiters(l))
	}
	u, n := g.s.uses[l], g.waiters(l)
	if u == nil || l.count > 0 {
		return pace{}
	}
	most := crowd
	if w.op != nil {
		most = crowdAsync
	}
	if u.signals() {
		p := c.ends(signal{answer.LockSemaphore, l.Address})
		p.moves = p.moves && n < most
		return p
	}
	return c.judged(l.Address, func() pace {
		p := c.turns(l, u, n, most)
		if (p.moves || p.asks) && c.polls(u.holders) {
			return pace{}
		}
		return p
	})
}

// signals reports whether nobody who waits for a semaphore releases it or has entered it: others give the permits, as a timer does that limits a rate.
func (u *semaphoreUse) signals() bool {
	return !u.gives && !u.blindWaiters && len(u.holders)+len(u.inside) == 0
}

// waiters returns how many threads and operations wait for a lock.
func (g *grapher) waiters(l *lock) int {
	if g.atLock == nil {
		g.atLock = map[*lock]int{}
		for _, w := range g.s.waits {
			g.atLock[w.lock]++
		}
		for _, op := range g.s.ops {
			g.atLock[op.thing.lock]++
		}
	}
	return g.atLock[l]
}

// repeating reports whether a holder stands in a loop that it has begun since it entered: it may wait there for something that never happens.
func (g *grapher) repeating(holders []holder) bool {
	return slices.ContainsFunc(holders, func(h holder) bool { return g.s.repeats(&h, h.thread != nil && g.runs(h.thread)) })
}

// turns returns the pace at which a semaphore passes to those that wait, if all of its holders go on. They have had their turns briefly later if
// holders stand in delays or sleeps, or wait in turn for such; if all holders run, fewer wait than most. Where the semaphore records how many
// permits there are, each of them needs a holder: the others may be lost. Operations wait more patiently, for fewer turns than most.
func (c *course) turns(l *lock, u *semaphoreUse, waiting, most int) pace {
	if l.most < math.MaxInt32 && int64(len(u.holders)+len(u.inside)) < l.most {
		return pace{}
	}
	if len(u.holders) == 0 && slices.ContainsFunc(u.inside, func(x user) bool { return x.sure && c.of(&holder{thread: x.thread}).moves }) {
		return pace{moves: waiting < most}
	}
	return c.all(u.holders, c.g.pausing(l, waiting), most)
}

// all is turns for holders.
func (c *course) all(holders []holder, waiting, most int) pace {
	longest, timed, asks := time.Duration(0), 0, false
	for i := range holders {
		h := &holders[i]
		if h.strength != answer.StrengthLikely && !h.another {
			return pace{}
		}
		p := c.of(h)
		if p.asks {
			asks = true
			continue
		}
		if !p.moves || p.vague {
			return pace{}
		}
		if p.timed {
			longest, timed = max(longest, p.turn), timed+1
		}
	}
	switch {
	case asks:
		return pace{asks: true}
	case timed == 0:
		return pace{moves: len(holders) > 0 && waiting < most}
	}
	if slices.ContainsFunc(holders, func(h holder) bool { return h.another }) {
		timed = 1 // the others have entered other semaphores
	}
	p := round(waiting, timed, longest)
	p.moves = p.moves || most >= crowdAsync && waiting <= (most-1)*timed && p.turn <= patiently
	return p
}

// round returns the pace of what waits for its turn, if as many as timed take turns at a time.
func round(waiting, timed int, longest time.Duration) pace {
	turn := time.Duration((waiting+timed-1)/timed) * longest
	return pace{moves: turn <= briefly, timed: true, turn: turn}
}

// collection returns the pace of a full BlockingCollection that threads wait for room in: one of those that take from it again and again goes on.
func (c *course) collection(a target.Addr, waiting int) pace {
	return c.judged(a, func() pace {
		longest, timed, moving := time.Duration(0), 0, 0
		for _, h := range c.g.takersOf(a) {
			p := c.of(&h)
			if !p.moves || h.thread != nil && c.g.s.endlessBut(h.thread, func(call *tasks.Call) bool { return takes(call.Method) && call.Object == a }) {
				continue
			}
			if moving++; p.timed {
				longest, timed = max(longest, p.turn), timed+1
			}
		}
		out := pace{moves: moving > 0 && waiting < crowd}
		if timed == moving && timed > 0 {
			out.timed, out.turn = true, round(waiting, timed, longest).turn
		}
		return out
	})
}

// takersOf returns the threads and the suspended methods that take from a collection again and again.
func (g *grapher) takersOf(a target.Addr) []holder {
	list, known := g.takers[a]
	if !known {
		list = slices.Concat(g.s.takers(a), g.suspendedTakers(a))
		g.takers[a] = list
	}
	return list
}

// channel returns the pace of a full channel or pipe that operations wait for room in: one of those that read it goes on, and all who wait have had their
// turn briefly later. What does not read in a loop counts only while it stands in a short delay.
func (c *course) channel(q *channelWait) pace {
	if q.kind == &blockKind {
		return pace{}
	}
	return c.judged(q.object.Addr, func() pace {
		g := c.g
		readers, _ := g.readersOf(q)
		longest, timed, runs := time.Duration(0), 0, false
		for i := range readers {
			h := &readers[i]
			if g.receives(h, q) {
				runs = true
				continue
			}
			p := c.of(h)
			length, known := g.pauseOf(h)
			pauses := known && length <= briefly // by itself
			switch {
			case !p.moves, !pauses && !(h.again && c.sure(h)), g.s.repeats(h, false):
			case p.timed:
				longest, timed = max(longest, p.turn), timed+1
			default:
				runs = true
			}
		}
		if timed > 0 {
			if p := round(q.writers, timed, longest); p.moves {
				return p
			}
		}
		if !runs {
			runs, _ = g.readingOf(q)
		}
		return pace{moves: runs}
	})
}

// sure reports whether a suspended method that is in no operation goes on soon for sure: all operations could be read, and the thread pool has workers for it.
func (c *course) sure(h *holder) bool {
	s := c.g.s
	return s.standing[h.box] != nil || !s.partial && (s.pool == nil || len(s.pool.Verdicts) == 0)
}

// A readerList has the suspended methods that have read a queue, and whether others may have.
type readerList struct {
	list    []holder
	unknown bool
}

// readersOf returns the suspended methods that have read a channel or pipe, and whether others may have.
func (g *grapher) readersOf(q *channelWait) ([]holder, bool) {
	r, known := g.readings[q.object.Addr]
	if !known {
		r.list, r.unknown = g.readers(q)
		g.readings[q.object.Addr] = r
	}
	return r.list, r.unknown
}

// A threadsReading says whether a thread that moves reads a queue, and whether that is sure.
type threadsReading struct{ reads, sure bool }

// readingOf is reading, once for each channel or pipe.
func (g *grapher) readingOf(q *channelWait) (reads, sure bool) {
	r, known := g.threadsRead[q.object.Addr]
	if !known {
		r.reads, r.sure = g.reading(q)
		g.threadsRead[q.object.Addr] = r
	}
	return r.reads, r.sure
}

// enumerates reports whether a method returns the items of a queue one after the other.
func enumerates(method string) bool {
	return strings.HasSuffix(method, ".ReadAllAsync") || strings.HasSuffix(method, ".GetConsumingEnumerable")
}

// readsAgain reports whether a loop around the await of a suspended method calls what reads, or goes through what such a call has returned. last is the offset of the
// last place at which the method reads: of a call, or of the loop that goes through items. A loop that begins behind it does something else.
func (s *survey) readsAgain(m *tasks.Suspended, reads func(tasks.Call) bool) (again bool, last int) {
	p, err := s.found.tasks.AwaitOf(m.Object)
	if err != nil || p == nil {
		p = &tasks.AwaitPoint{}
	}
	loops, err := ilflow.Around(p.Code, p.At)
	if err != nil {
		loops = nil
	}
	for _, call := range slices.Concat(m.Calls, m.Later) {
		if !reads(call) {
			continue
		}
		through := -1 // where the outermost loop through the items that a call has returned begins
		for start, end := range loops {
			switch {
			case start <= call.Offset && call.Offset < end:
				again = true
			case start > call.Offset && enumerates(call.Method) && nextIn(p, start, end) && (through < 0 || start < through):
				again, through = true, start
			}
		}
		last = max(last, call.Offset, through)
	}
	return again, last
}

// nextIn reports whether a part of a suspended method's code asks for the next item of a sequence.
func nextIn(p *tasks.AwaitPoint, start, end int) bool {
	for in, err := range metadata.Instructions(p.Code) {
		if err != nil || in.Offset >= end {
			break
		}
		if in.Offset >= start && in.Kind == metadata.OperandMethod && strings.Contains(p.Member(in.Token()), ".MoveNext") {
			return true
		}
	}
	return false
}

// joinGoesOn reports whether a thread waits for the end of a thread that goes on, perhaps through others that do nothing but wait for the next. One that waits for
// what is made once goes on while it is made, and so does one at a Barrier while all goes on that is to arrive there.
func (g *grapher) joinGoesOn(w *wait) bool {
	for seen := map[*wait]bool{}; w.join && len(w.runners) == 1 && !seen[w] && !g.circled[w]; {
		seen[w] = true
		t := w.runners[0]
		next := g.of[t]
		if next != nil && next.join {
			w = next
			continue
		}
		switch {
		case next == nil || g.circled[next] || g.described[next]:
		case next.lock != nil && next.lock.Kind == answer.LockLazy && len(next.runners) == 1:
			kind, _ := g.madeBy(next.runners[0], g.waiters(next.lock), isLazy)
			return kind == answer.NoFinding
		case next.lock != nil && next.lock.meets():
			return g.arrives(next)
		}
		return g.goesOn(t, func(*tasks.Call) bool { return false })
	}
	return false
}

// arrives reports whether all threads go on that can still end a wait for a Barrier or CountdownEvent, and there are some.
func (g *grapher) arrives(w *wait) bool {
	is, ok := w.signaled()
	if !ok {
		return false
	}
	r, err := g.s.signalers(is)
	if err != nil || r == nil {
		return false
	}
	list := g.signalersOf(w, r)
	arriving := func(c *tasks.Call) bool { return slices.Contains(signals[is.kind], c.Method) }
	return len(list) > 0 && !slices.ContainsFunc(list, func(t *stackwalk.Thread) bool { return !g.goesOn(t, arriving) })
}

// goesOn reports whether a thread runs, or gets on soon, and is in no loop without a way out, but for one with a call that useful selects.
func (g *grapher) goesOn(t *stackwalk.Thread, useful func(*tasks.Call) bool) bool {
	return t.OS != nil && g.course().of(&holder{thread: t}).moves && !g.s.endlessBut(t, useful)
}

// kernelHolders finds the threads that are past a wait for a Semaphore of the operating system and release it later. The semaphore does not record them.
func (s *survey) kernelHolders(semaphore target.Addr) []holder {
	return s.pastWaits(givesKernel, func(around *tasks.Around) *tasks.Call { return pastKernelWait(around, semaphore) })
}

// pastWaits finds the threads in a method that calls WaitOne and is past such a call, as past decides, once each.
func (s *survey) pastWaits(leaves func(method string) bool, past func(*tasks.Around) *tasks.Call) (out []holder) {
	known := map[target.Addr]*methodCalls{}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil || s.ctx.Err() != nil {
			continue
		}
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if f.Kind != stackwalk.FrameManaged || err != nil || md == nil {
				continue // a holder that is not found does not move
			}
			m, err := s.calls(f.Runtime, md, known, entersKernel)
			if err != nil || !m.own || len(m.list) == 0 {
				continue
			}
			around, err := s.around(t, &f, md)
			if err != nil {
				continue
			}
			if in := past(around); in != nil {
				h := s.threadHolder(t, &f, m)
				h.entered, h.given = in.Offset, givenBy(leaves, in.Object, around.Before, around.Later)
				out = append(out, h)
				break
			}
		}
	}
	return out
}

// entersKernel and givesKernel report whether a method may enter or release a Semaphore of the operating system.
func entersKernel(method string) bool { return method == "WaitHandle.WaitOne" }
func givesKernel(method string) bool  { return method == "Semaphore.Release" }

// pastKernelWait returns the call by which a method has entered a Semaphore of the operating system that it releases later, or nil.
func pastKernelWait(around *tasks.Around, semaphore target.Addr) *tasks.Call {
	in := pastHandle(around, semaphore, givesKernel)
	if in == nil || !slices.ContainsFunc(around.Later, func(c tasks.Call) bool { return givesKernel(c.Method) && c.Object == semaphore }) {
		return nil
	}
	return in
}

// pastHandle returns the last call by which a method has entered a handle of the operating system that it has not left since, or nil.
func pastHandle(around *tasks.Around, handle target.Addr, leaves func(method string) bool) (in *tasks.Call) {
	for i := range around.Before {
		switch c := &around.Before[i]; {
		case in != nil && in.Releaser && c.Through == "" && givesBack(c.Method): // a guard is disposed of
			in = nil
		case c.Object != handle:
		case entersKernel(c.Method):
			in = c
		case leaves(c.Method):
			in = nil
		}
	}
	return in
}

// passesOn reports whether a Semaphore of the operating system passes from one thread to the next: all that were found to have entered it take turns.
func (g *grapher) passesOn(semaphore target.Addr, waiting int) bool {
	holders := g.s.kernelHolders(semaphore)
	return g.course().all(holders, waiting, crowd).moves && !g.repeating(holders)
}
