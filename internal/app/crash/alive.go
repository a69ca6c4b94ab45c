package crash

import (
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
)

// concludeAlive describes what a process without a crash record was doing.
func (d *describer) concludeAlive() {
	record := words.NoRecord.Of()
	if d.lostThreads() {
		record = words.RecordUnread.Of()
	}
	switch {
	case d.rt == nil:
		d.out.Undecided = true
		d.conclusion(words.CrashUnknown.Of(), answer.StrengthUnknown,
			record, words.ThreadsUnread.Of())
		return
	case d.out.Failure() != nil || d.unreadThreads():
		d.out.Undecided = true
		d.conclusion(words.CrashUnknown.Of(), answer.StrengthUnknown,
			record, words.ExceptionsUnread.Of())
	default:
		d.conclusion(words.NoCrash.Of(), answer.StrengthLikely, record, words.NoneUnhandled.Of())
	}
	d.waiting()
}

// unreadThreads reports whether the exception of a thread could not be read.
func (d *describer) unreadThreads() bool {
	list, err := d.died.list, d.died.lost
	if err != nil {
		return true
	}
	_, err = carriedBy(d.rt, list)
	return err != nil
}

// waiting describes what the threads wait for.
func (d *describer) waiting() {
	walker, err := d.walker()
	if err != nil {
		d.out.Note(err)
		return
	}
	list, unread := d.died.list, d.died.lost
	d.out.Note(unread)
	w, err := threads.Waiting(d.ctx, walker, list)
	if err != nil {
		d.out.Note(err)
		return
	}
	d.out.NoteAll(w.Noted())
	d.out.Waiting = w
	for _, circle := range w.Deadlocks {
		d.circle(w, circle)
	}
	if !d.exiting(walker, list, w) {
		d.finalizing(list, w)
	}
	if unread == nil { // an incomplete list may hide other threads
		d.returned(walker, list)
	}
}

// circle describes threads that wait for each other's monitors. It is a deadlock unless one of the waits has a limit.
func (d *describer) circle(w *answer.Waiting, circle []answer.Thread) {
	strength := answer.StrengthProved
	var ends []answer.Statement
	for i := range w.Threads {
		row := &w.Threads[i]
		if !slices.ContainsFunc(circle, func(t answer.Thread) bool { return t.OSID == row.OSID }) {
			continue
		}
		if row.How != answer.HowRecorded || row.Timeout != nil {
			strength = answer.Weakest(strength, answer.StrengthLikely)
		}
		if row.Timeout != nil {
			ends = append(ends, words.WaitsAtMost.Of(words.ThreadAndID(row.Thread), words.Duration(time.Duration(*row.Timeout)*time.Millisecond)))
		}
	}
	var names []answer.Statement
	for i := range circle {
		names = append(names, words.ThreadAndID(circle[i]))
	}
	kind, says := answer.FindingDeadlock, words.MonitorDeadlock.Of(words.Join(" -> ", names...))
	if len(ends) > 0 {
		kind, says = answer.FindingCircle, words.MonitorCircle.Of(words.Join(" -> ", names...), words.Join("", ends...))
	}
	d.finding(kind, says, strength, words.OwnersInTurn.Of())
}

// finalizing describes the finalizer thread while it runs code of the program.
func (d *describer) finalizing(list []stackwalk.Thread, w *answer.Waiting) {
	for i := range list {
		t := &list[i]
		if t.Managed == nil || !t.Managed.Finalizer {
			continue
		}
		for j := range w.Threads {
			if row := &w.Threads[j]; row.OSID == t.ID() && row.Kind != answer.ActivityIdle && row.Top.S != "" {
				where := row.Top.S
				if row.Caller.S != "" {
					where = row.Caller.S
				}
				kind, severity := finalizerKind(row.Kind, where)
				facts := []answer.Statement{words.FinalizerFrames.Of()}
				if row.Kind == answer.ActivityLock && d.passes(row.OSID) {
					kind, severity, facts = answer.NoFinding, "", append(facts, words.EntersSoon.Of())
				}
				d.finding(kind, words.FinalizerDoes.Of(words.Text(row.Text), words.Method(where)), answer.StrengthRecorded, facts...)
				last := &d.out.Verdicts[len(d.out.Verdicts)-1]
				last.Severity, last.Sites = severity, []answer.Site{{Method: row.Caller, Does: string(row.Kind)}}
			}
		}
	}
}

// passes reports whether a thread in a method that enters a lock is about to enter it: no lock has it among its waiters, or its holder goes on in a
// moment. It is not known if some waits are not.
func (d *describer) passes(thread uint32) bool {
	if d.waits == nil {
		d.waits = func() (*answer.Waits, error) { return locks.Waits(d.ctx, d.p, locks.Options{NoGraph: true}) }
	}
	w, err := d.waits()
	if err != nil || len(w.Noted()) > 0 {
		return false
	}
	at := slices.IndexFunc(w.Threads, func(t answer.ThreadWait) bool { return t.Thread.OSID == thread })
	return at < 0 || w.Threads[at].Soon
}

// ofRuntime are the methods of the finalizer thread that call nothing but the runtime: one gets the next object, the other frees a context's memory.
// Neither can hang in the code of a library.
var ofRuntime = []string{"System.GC.RunFinalizers", "System.Reflection.LoaderAllocatorScout.Finalize"}

// finalizerKind returns what it means that the finalizer thread does something in a method: a finding if it waits. What runs ends in a moment,
// mostly: the class library's finalizers run after each collection of generation 2. Native code, and the program's own, may hang by running.
func finalizerKind(does answer.ActivityKind, method string) (answer.FindingKind, answer.Severity) {
	switch does {
	case answer.ActivityRunning, answer.ActivityRuntime, answer.ActivityCollecting, answer.ActivitySuspended:
		if answer.LibraryMethod(method) {
			return answer.NoFinding, ""
		}
	case answer.ActivityNative, answer.ActivityUnknown:
		if slices.Contains(ofRuntime, strings.TrimSuffix(method, "()")) {
			return answer.NoFinding, ""
		}
	default:
		return answer.FindingFinalizers, ""
	}
	return answer.FindingFinalizers, answer.SeverityWarning
}

// threadSays names a thread.
func threadSays(t *stackwalk.Thread) answer.Statement { return words.ThreadAndID(t.Describe(nil)) }
