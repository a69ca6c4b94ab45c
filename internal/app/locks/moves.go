package locks

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
)

// What moves is not stuck: a thread or method that goes on by itself soon lets others have what it holds. All conclusions that name a holder judge it
// here.

// briefly bounds the waits after which a holder is about to go on.
const briefly = time.Second

// patiently bounds the waits of suspended operations for a semaphore with holders in short delays. They cost no thread, so that up to a hundred turns, of
// some seconds in all, are the usual moment of a semaphore that limits how many requests are made at a time, or that lets one of them renew what all use.
const patiently = 10 * time.Second

// contended is how many threads wait for a lock that does not pass from one to the other quickly, though its holder runs in a loop. If it does not,
// as many as a crowd wait for a lock that is busy. Suspended operations cost no thread: they are many before they are a crowd.
const (
	contended  = 3
	crowd      = 16
	crowdAsync = 100
)

// fewOperations is how many operations that wait for a semaphore are no longer the usual moment of a busy one.
const fewOperations = 3

// deepHolders bounds the holders that wait for each other.
const deepHolders = 8

// A release says when a thread releases a lock that others wait for.
type release uint8

const (
	isStuck  release = iota // nothing says that it does
	isLong                  // it goes on, and all who wait may not have their turns soon
	isAsking                // when another process or a device has answered, and nothing says since when it waits for that
	isBusy                  // it runs
	isMoment                // in a moment: most locks of a busy process look so now and then
)

// activityOf returns what a thread does by its stack.
func (s *survey) activityOf(t *stackwalk.Thread) threads.ThreadActivity {
	return threads.ActivityOf(t, s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
}

// runs reports whether a thread runs, or does so after a collection.
func (g *grapher) runs(t *stackwalk.Thread) bool {
	if t.OS == nil || t.Managed == nil || g.of[t] != nil {
		return false
	}
	switch g.s.activityOf(t).Activity {
	case threads.ActivityRunning, threads.ActivityRuntime, threads.ActivitySuspended, threads.ActivityCollecting:
		return true
	case threads.ActivityLock:
		return g.s.enters(t)
	}
	return false
}

// threadMoves reports whether a thread runs, stands in a short timed wait or sleep, or waits for a lock that passes in a moment. A sleep of unknown
// length may be short.
func (g *grapher) threadMoves(t *stackwalk.Thread) bool {
	if w := g.of[t]; w != nil {
		return g.entering(w) || w.isNext() || w.isShort()
	}
	if t.OS == nil || t.Managed == nil {
		return false
	}
	if a := g.s.activityOf(t); a.Activity == threads.ActivitySleep {
		length, known := g.s.sleepOf(t)
		return !known || length >= 0 && length <= briefly
	}
	return g.runs(t) || g.s.spinsFirst(t)
}

// spinsFirst reports whether a thread has just begun a wait of the class library, which spins for some microseconds before it blocks.
func (s *survey) spinsFirst(t *stackwalk.Thread) bool {
	spins := false
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if err != nil {
			return false
		}
		if f.Kind != stackwalk.FrameManaged || md == nil {
			continue
		}
		switch name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified); {
		case err != nil:
			return false
		case strings.HasPrefix(name, "System.Threading.SpinWait."):
			spins = true
		case !strings.HasPrefix(name, "System.Threading.Thread."):
			return spins && (name == "System.Threading.ManualResetEventSlim.Wait" || name == "System.Threading.SemaphoreSlim.Wait")
		}
	}
	return false
}

// isShort reports whether a wait is recorded to end within a moment.
func (w *wait) isShort() bool {
	return w.timeout >= 0 && w.how == answer.HowRecorded && time.Duration(w.timeout)*time.Millisecond <= briefly
}

// isNext reports whether a thread waits for a lock that nobody holds, or that has just been entered by a thread that is not recorded yet: it is woken next, or the lock
// has just passed.
func (w *wait) isNext() bool {
	if w.lock == nil || w.pulse || len(w.runners) > 0 {
		return false
	}
	switch w.lock.Kind {
	case answer.LockMonitor, answer.LockLock:
		return !w.lock.Held || w.lock.entered
	}
	return false
}

// transfers reports whether a thread reads or writes a file, or writes to the console. Under load many are seen so, though each ends soon; a write to a
// pipe without a reader looks alike. A read of what can't seek, a pipe or a device, may wait for who writes to it.
func (s *survey) transfers(t *stackwalk.Thread) bool {
	a := s.activityOf(t)
	if a.By == nil || a.Activity != threads.ActivityFile && a.Activity != threads.ActivityConsole {
		return false
	}
	name, err := a.By.Name()
	name = compilernames.Declaring(name) // of a call of native code, too
	if err == nil && slices.ContainsFunc([]string{"Write", "Flush", "PWrite", "FSync"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return true
	}
	tasks.NameFile(s.ctx, s.r.b, s.r.walker, t, s.gaps, &a)
	return a.Text == threads.UsesFile
}

// transferring is transfers for a thread that waits for nothing that is known.
func (g *grapher) transferring(t *stackwalk.Thread) bool {
	return t.OS != nil && t.Managed != nil && g.of[t] == nil && g.s.transfers(t)
}

// moves reports whether a holder of a semaphore goes on, or is about to: it runs, sleeps, stands in a short timed wait, or reads or writes a file; or a
// worker does for it.
func (g *grapher) moves(h *holder) bool {
	if h.thread != nil {
		return g.threadMoves(h.thread) || g.transferring(h.thread)
	}
	op := g.s.standing[h.box]
	switch {
	case op == nil:
		return !g.between(h.box) // what it awaits has completed
	case op.thing.cause == tasks.CauseRunning:
		t := g.s.runs(op.leaf)
		return t != nil && (g.threadMoves(t) || g.transferring(t))
	case op.thing.cause == tasks.CauseFile:
		return true
	}
	length, known := g.pauseOf(h)
	return known && length <= briefly
}

// runsFor reports whether what a holder waits for runs on a thread that waits for nothing that is known.
func (g *grapher) runsFor(h *holder) bool {
	op := g.s.standing[h.box]
	if h.thread != nil || op == nil || op.thing.cause != tasks.CauseRunning {
		return false
	}
	t := g.s.runs(op.leaf)
	return t != nil && g.of[t] == nil
}

// heldBy judges a lock, or nil for a static constructor, by the threads that hold it: no holder may be about to release it.
func (g *grapher) heldBy(l *lock, holders []*stackwalk.Thread, waiting int) (answer.FindingKind, answer.Severity, release) {
	c := g.course()
	if l != nil {
		c.open[l.Address|heldBit] = true // a chain that comes back to it does not move
	}
	out, recorded := c.release(l, holders, waiting)
	unread := slices.ContainsFunc(holders, g.s.codeUnread)
	switch {
	case recorded && out == isStuck:
		return answer.FindingHeld, "", out
	case recorded && out == isBusy:
		return answer.FindingHeld, answer.SeverityWarning, out
	case recorded:
		return answer.NoFinding, "", out
	case out < isMoment && unread && !slices.ContainsFunc(holders, func(t *stackwalk.Thread) bool { return !g.threadMoves(t) && !g.transferring(t) }):
		if l != nil {
			g.blindThreads = append(g.blindThreads, g.waitsFor(l)...)
		}
		return answer.NoFinding, "", isMoment // its code would say for how long
	case out <= isLong && unread:
		return answer.FindingHeld, answer.SeverityWarning, out // what it waits for may go on
	case out <= isLong:
		return answer.FindingHeld, "", out
	case out == isBusy, out == isAsking && waiting >= manyTurns:
		return answer.FindingHeld, answer.SeverityWarning, out
	}
	return answer.NoFinding, "", out
}

// release judges a lock, or nil for a static constructor, by the threads that hold it. recorded reports that the runtime's note of when a thread that waited last
// got it decides: for too long nobody has, or it has just been passed on.
func (c *course) release(l *lock, holders []*stackwalk.Thread, waiting int) (out release, recorded bool) {
	out = isMoment
	for _, t := range holders {
		out = min(out, c.releases(t, waiting, 0))
	}
	age := c.g.s.waited(l)
	switch {
	case age.least >= longWait && waiting < contended && out >= isBusy:
		return isBusy, true
	case age.least >= longWait, age.least >= standWait && waiting >= contended && out < isMoment:
		return isStuck, true
	case out <= isStuck || age.most == 0 || time.Duration(waiting)*age.most > longWait:
		return out, false
	case out == isAsking: // nothing says that the device or the other process answers soon
		return isAsking, true
	}
	return isMoment, true
}

// codeUnread reports whether a thread has code of the program without its IL.
func (s *survey) codeUnread(t *stackwalk.Thread) bool {
	if t.OS == nil || t.Managed == nil {
		return false
	}
	_, err := s.code.Frames()
	return errors.Is(err, dac.ErrILMissing) && s.code.Partly(t)
}

// waitsFor returns the waits for a lock.
func (g *grapher) waitsFor(l *lock) (out []*wait) {
	for _, w := range g.s.waits {
		if w.lock == l {
			out = append(out, w)
		}
	}
	return out
}

// releases judges a thread that holds a lock. One that runs moves on, unless it is in a loop that has no way out or only reads; if no loop has begun
// since it entered, it is out in a moment. So is one that goes on soon, if all who wait have their turn within a second. One that waits for a lock itself goes on
// when that lock is released.
func (c *course) releases(t *stackwalk.Thread, waiting, depth int) release {
	g := c.g
	w := g.of[t]
	if w != nil {
		if w.isNext() {
			return isMoment
		}
		if w.lock != nil && !w.pulse && !g.circled[w] && len(w.runners) > 0 {
			if depth == deepHolders {
				return isStuck
			}
			out := isMoment
			for _, next := range w.runners {
				out = min(out, c.releases(next, waiting, depth+1))
			}
			return out
		}
	}
	runs := w == nil && g.runs(t)
	if p := c.of(&holder{thread: t}); !p.moves && !p.asks && !runs {
		return isStuck
	}
	section, h := g.s.sectionOf(t)
	p := c.of(&h)
	soon := p.moves && !p.vague && !runs && (!p.timed && waiting < crowd || p.timed && p.turn <= briefly && time.Duration(waiting)*p.turn <= briefly)
	switch {
	case p.asks && section != sectionLoops && section != sectionSpins:
		return isAsking
	case section != sectionStraight && g.s.endless(t), waiting >= contended && section == sectionSpins, !p.moves && !runs:
		return isStuck
	case !soon && !runs:
		return isLong
	case waiting < contended, section == sectionStraight && (soon || waiting < crowd), section == sectionUnknown && soon:
		return isMoment
	}
	return isBusy
}

// soon notes that threads get the lock that they wait for in a moment.
func (g *grapher) soon(alike []*wait) {
	for _, w := range alike {
		g.rows[w.thread].Soon = true
	}
}

// passing reports whether a thread that runs holds a lock which the class library uses itself, as in a SemaphoreSlim: it does for a few instructions.
func (g *grapher) passing(l *lock, w *wait) bool {
	_, inner := g.s.on[l.Address]
	if !inner || len(w.runners) != 1 || w.runners[0].OS == nil || g.of[w.runners[0]] != nil {
		return false
	}
	t := w.runners[0]
	return g.s.activityOf(t).Activity == threads.ActivityNative || !g.idles(t) && g.threadMoves(t)
}

// entering reports whether a thread waits for a lock which the class library uses itself, as in a SemaphoreSlim. It gets the lock soon, even where a
// waiter that was woken holds it, unless the holder has ended.
func (g *grapher) entering(w *wait) bool {
	if w.lock == nil || len(w.runners) == 1 && w.runners[0].OS == nil {
		return false
	}
	_, inner := g.s.on[w.lock.Address]
	return inner
}
