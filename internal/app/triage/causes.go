package triage

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
)

// starving are the kinds of findings that explain a starved thread pool if they block most of its workers.
var starving = []answer.FindingKind{answer.FindingDeadlock, answer.FindingAbandoned, answer.FindingHeld, answer.FindingPermits, answer.FindingFull, answer.FindingCircle, answer.FindingWait}

// causeOfStarvation moves the finding that blocks more than half of the pool's workers before the starvation, which
// then refers to it. list is ranked.
func causeOfStarvation(list []answer.Finding, workers int) []answer.Finding {
	at := slices.IndexFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingStarved })
	if at < 0 || len(list[at].Clauses) == 0 {
		return list
	}
	blocked := waitingThreads(&list[at])
	cause, most := -1, workers/2
	for i := range list {
		if !slices.Contains(starving, list[i].Kind) {
			continue
		}
		n := 0
		for id := range waitingThreads(&list[i]) {
			if blocked[id] {
				n++
			}
		}
		if n > most {
			cause, most = i, n
		}
	}
	if cause < 0 {
		return list
	}
	starved, by := &list[at], &list[cause]
	why := answer.Conclude(answer.NoFinding, words.Follows.Of(words.Text(string(by.Kind))), answer.Weakest(starved.Strength, by.Strength), words.WorkersOf.Of(words.N(most), words.N(workers)))
	if thing := by.Clauses[0].Thing; thing != "" {
		starved.Statement = starved.Plus(words.OfThemFor.Of(words.N(most), words.Text(thing)))
	}
	starved.Clauses = append(starved.Clauses, why)
	if by.Severity != answer.SeverityFatal {
		by.Severity = starved.Severity
	}
	if cause > at {
		moved := *by
		list = slices.Insert(slices.Delete(list, cause, cause+1), at, moved)
	}
	return list
}

// contended weakens the starvation of a pool with workers behind locks that running threads hold, if the other workers that wait are fewer than half: they
// may go on in a moment.
func (q *Answers) contended(list []answer.Finding, workers int) {
	at := slices.IndexFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingStarved })
	w, err := q.Waits.get()
	if at < 0 || err != nil || len(list[at].Clauses) == 0 {
		return
	}
	starved := &list[at]
	blocked := waitingThreads(starved)
	behind := q.entering(&starved.Clauses[0])
	for i := range w.Threads {
		if t := &w.Threads[i]; t.Soon && blocked[t.Thread.OSID] {
			behind[t.Thread.OSID] = true
		}
	}
	for i := range w.Verdicts {
		v := &w.Verdicts[i]
		if v.Says != words.HeldLock.Kind() || v.Kind != answer.NoFinding && v.Severity != answer.SeverityWarning {
			continue
		}
		for _, s := range v.Sites {
			if blocked[s.Thread] {
				behind[s.Thread] = true
			}
		}
	}
	if len(behind) > 0 && 2*(len(blocked)-len(behind)) < workers {
		starved.Severity, starved.Strength, starved.Clauses[0].Strength = answer.SeverityWarning, answer.StrengthPossible, answer.StrengthPossible
	}
}

// entering returns the OS ids of the threads among the sites of a conclusion that are in a method which enters a lock, and have not begun to wait for one:
// no list of waits has them. They are not known if some waits are not.
func (q *Answers) entering(x *answer.Verdict) map[uint32]bool {
	out := map[uint32]bool{}
	w, err := q.Waits.get()
	if err != nil || len(w.Noted()) > 0 {
		return out
	}
	for _, s := range x.Sites {
		if s.Does == string(answer.ActivityLock) && s.Thread != 0 && !slices.ContainsFunc(w.Threads, func(t answer.ThreadWait) bool { return t.Thread.OSID == s.Thread }) {
			out[s.Thread] = true
		}
	}
	return out
}

// entersLocks reports whether a pool counts as starved only because workers are seen while they enter locks: fewer than half wait for something.
func (q *Answers) entersLocks(x *answer.Verdict, workers int) bool {
	n := len(q.entering(x))
	return x.Kind == answer.FindingStarved && n > 0 && 2*(len(x.Sites)-n) < workers
}

// waitingThreads returns the OS ids of the threads at a finding's sites.
func waitingThreads(f *answer.Finding) map[uint32]bool {
	out := map[uint32]bool{}
	if len(f.Clauses) > 0 {
		for _, s := range f.Clauses[0].Sites {
			if s.Thread != 0 {
				out[s.Thread] = true
			}
		}
	}
	return out
}
