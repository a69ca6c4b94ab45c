package locks

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Waits describes what each thread waits for and where that leads: to cycles of threads, and to threads that block
// until a task completes. It records what could not be read. The error is ctx's.
func (r *Reader) Waits(ctx context.Context, o Options) (*answer.Waits, error) {
	out := &answer.Waits{Verdicts: []answer.Verdict{}, Threads: []answer.ThreadWait{}}
	out.RewordTexts(r.texts)
	lose := func(err error) {
		out.Note(err)
		if out.Lost == nil {
			out.Lost = err
		}
	}
	s, err := r.survey(ctx, &out.Gaps, lose, o.Scan)
	if err != nil {
		return nil, err
	}
	s.readCalls, s.paused = o.calls, o.paused
	s.code.Graph, s.code.Whole = o.graph, func() bool { return o.whole && !s.lost && !s.partial }
	if err := s.follow(o.Scan); err != nil {
		return nil, err
	}
	if err := s.operations(o.Scan); err != nil {
		return nil, err
	}
	if err := s.semaphores(); err != nil {
		return nil, err
	}
	s.promiseOwners()
	s.senders()
	s.pipeWriters()
	if err := s.forgotten(ctx, o.graph); err != nil {
		return nil, err
	}
	if err := s.findLostPulses(); err != nil {
		return nil, err
	}
	// Names of locks that only threads use do not justify a walk of the heap.
	if err := s.nameObjects(s.waitedFor(), s.found.suspended, o.Scan); err != nil {
		return nil, err
	}
	s.consumers()
	g := newGrapher(s)
	g.nodes()
	g.describe()
	out.Looked = s.looked
	var idle idleCount
	var listed []*wait
	for _, w := range s.waits {
		if w.entryIdles() {
			idle.add(entryWaits, g.rows[w.thread].Method, 0)
			for _, l := range w.leaves {
				g.counted[l.addr] = true
			}
			continue
		}
		if w.accepts() {
			idle.add(acceptsClients, g.rows[w.thread].Method, 0)
			continue
		}
		if w.libraryIdles() {
			idle.add("a library's own thread waits for work", g.rows[w.thread].Method, 0)
			continue
		}
		listed = append(listed, w)
	}
	groups := g.grouped(&idle)
	for _, w := range groups {
		out.Operations = append(out.Operations, w.OperationWait)
	}
	out.Idle = idle.sorted()
	if err := g.crossings(); err != nil {
		return nil, err
	}
	out.Verdicts = append(g.circles(), g.closed()...)
	pools, err := g.channelPools()
	if err != nil {
		return nil, err
	}
	out.Verdicts = append(out.Verdicts, pools...)
	met, err := g.meetings()
	if err != nil {
		return nil, err
	}
	unended, err := g.unended(groups, o.Scan)
	if err != nil {
		return nil, err
	}
	rest := slices.Concat(met, unended, g.lostPulses(), g.chains(), g.outsiders(groups), g.suspended(groups), g.rings(), g.abandonedWaiters(), g.standing())
	slices.SortStableFunc(rest, func(a, b answer.Verdict) int { return cmp.Or(byKind(a, b), byStrength(a, b)) })
	out.Verdicts = append(out.Verdicts, rest...)
	queued, err := g.queuedItems()
	if err != nil {
		return nil, err
	}
	out.Verdicts = append(out.Verdicts, queued...)
	g.unjudged(out)
	for _, w := range listed {
		out.Threads = append(out.Threads, *g.rows[w.thread]) // the conclusions say which of them go on soon
	}
	return out, ctx.Err()
}

// byStrength orders verdicts by strength, the strongest first.
func byStrength(a, b answer.Verdict) int {
	if a.Strength == b.Strength {
		return 0
	}
	if answer.Weakest(a.Strength, b.Strength) == b.Strength {
		return -1
	}
	return 1
}

// namedPromises is how many of the promises that threads wait for are named: one method has them in one kind of holder.
const namedPromises = 16

// waitedFor returns the objects that threads and suspended code wait for.
func (s *survey) waitedFor() map[target.Addr]bool {
	out := map[target.Addr]bool{}
	promises := 0
	for _, w := range s.waits {
		if w.lock != nil {
			out[w.lock.Address] = true
			if c := s.boundedOf(w); c.collection != 0 {
				out[c.collection] = true
			}
		} else if !w.join && w.outside == nil {
			out[w.object.Addr] = true
		}
		for _, l := range w.leaves {
			if a := s.sources[l.addr]; a != 0 && promises < namedPromises {
				out[a] = true
				promises++
			}
		}
	}
	for i := range s.lostPulses {
		out[s.lostPulses[i].collection.Addr] = true
	}
	named := map[string]bool{}
	for _, op := range s.ops {
		t := op.thing
		if op.idle() != "" && (t.channel == nil || t.writes) {
			continue
		}
		switch {
		case t.addr != 0:
			out[t.addr] = true
		case t.source != 0 && !t.removed && !named[op.method.S]: // the promises of one method have the same kind of holder
			out[t.source], named[op.method.S] = true, true
		}
	}
	for l := range s.uses {
		out[l.Address] = true
	}
	for _, l := range s.locks {
		if len(l.Async) >= manyBehind {
			out[l.Address] = true
		}
	}
	return out
}

// incomplete reports whether parts of the heap or of the threads could not be read.
func (s *survey) incomplete() bool { return s.lost }

func newGrapher(s *survey) *grapher {
	return &grapher{s: s, rows: map[*stackwalk.Thread]*answer.ThreadWait{}, of: map[*stackwalk.Thread]*wait{},
		circled: map[*wait]bool{}, described: map[*wait]bool{}, entered: map[*lock][]*wait{}, holding: map[target.Addr]bool{},
		takers: map[target.Addr][]holder{}, readings: map[target.Addr]readerList{}, threadsRead: map[target.Addr]threadsReading{},
		counted: map[target.Addr]bool{}, failed: map[*operation]bool{}, lostThings: map[target.Addr]bool{}, enders: map[signal]enderList{}, leases: map[target.Addr]*leaseUse{}}
}

// A grapher describes waits and where they lead.
type grapher struct {
	leases    map[target.Addr]*leaseUse // by ConcurrencyLimiter; see leasesOf
	s         *survey
	rows      map[*stackwalk.Thread]*answer.ThreadWait
	of        map[*stackwalk.Thread]*wait // what each thread waits for
	circled   map[*wait]bool              // the waits in cycles
	described map[*wait]bool              // the waits already described as blocking another thread
	ops       []*wait                     // the waits of suspended code
	entered   map[*lock][]*wait           // the waits of a semaphore's holders; nil for a holder that does not wait
	counted   map[target.Addr]bool        // what the entry point waits for, if that is normal
	holding   map[target.Addr]bool        // the suspended methods that hold, or may hold, a semaphore

	takers      map[target.Addr][]holder       // by BlockingCollection: the threads that take from it
	readings    map[target.Addr]readerList     // by channel or pipe
	threadsRead map[target.Addr]threadsReading // by channel or pipe
	iterating   map[target.Addr][]iteration    // set by iterations
	atLock      map[*lock]int                  // how many wait for it; set by waiters
	enders      map[signal]enderList
	found       func(target.Addr) bool // set by apart

	failed     map[*operation]bool  // a task that failed would have ended their waits, or nobody can
	lostThings map[target.Addr]bool // what nobody can give any more

	// The waits that are no finding because code can't be read.
	blinded      []*operation
	blindThreads []*wait
	completing   map[target.Addr]*completerList // by TaskCompletionSource: the suspended methods that complete it later
}

// byKind orders deadlocks before all others.
func byKind(a, b answer.Verdict) int {
	switch {
	case (a.Kind == answer.FindingDeadlock) == (b.Kind == answer.FindingDeadlock):
		return 0
	case a.Kind == answer.FindingDeadlock:
		return -1
	}
	return 1
}
