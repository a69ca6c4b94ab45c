package triage

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
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

// memoryFirst moves a failed allocation before an abort in the middle of an exception that need not be its cause: the runtime ends itself if it finds no
// memory for what it does itself. list is ranked.
func memoryFirst(list []answer.Finding) {
	at := slices.IndexFunc(list, func(f answer.Finding) bool {
		return f.Kind == answer.FindingCrash && slices.ContainsFunc(f.Clauses, func(c answer.Verdict) bool { return c.Says == words.AbortedHandling.Kind() })
	})
	memory := slices.IndexFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingMemory })
	if at < 0 || memory < at {
		return
	}
	cause := list[memory]
	cause.Severity = list[at].Severity
	list[at].Clauses = append(list[at].Clauses, answer.Conclude(answer.NoFinding, words.Follows.Of(words.Text(string(cause.Kind))), answer.StrengthPossible))
	copy(list[at+1:memory+1], list[at:memory])
	list[at] = cause
}

// causing are the kinds of findings that explain others about waits.
var causing = append(slices.Clip(starving), answer.FindingTasks, answer.FindingPromises, answer.FindingDependency)

// causesFirst moves a finding about waits before the first one that follows from it: the threads and methods that must go on first there wait in it. The cause is
// as severe then. list is ranked.
func causesFirst(list []answer.Finding) {
	causes := make([]int, len(list)) // 1 + the index of the finding that one follows from
	for i := range list {
		if len(list[i].Clauses) == 0 || !slices.Contains(starving, list[i].Kind) {
			continue
		}
		c := &list[i].Clauses[0]
		if len(c.Behind)+len(c.BehindMethods) == 0 {
			continue
		}
		for j := range list {
			if i != j && slices.Contains(causing, list[j].Kind) && explains(&list[j], c) {
				causes[i] = j + 1
				break
			}
		}
	}
	out := make([]answer.Finding, 0, len(list))
	done, listed := make([]bool, len(list)), make([]bool, len(list))
	var add func(i int, severity answer.Severity)
	add = func(i int, severity answer.Severity) {
		if done[i] {
			return
		}
		done[i] = true
		f := &list[i]
		if slices.Index(severities, severity) < slices.Index(severities, f.Severity) && severity != answer.SeverityFatal {
			f.Severity = severity
		}
		if j := causes[i] - 1; j >= 0 {
			add(j, f.Severity)
		}
		if j := causes[i] - 1; j >= 0 && listed[j] { // else each is behind the other
			by := &list[j]
			says := words.Follows.Of(words.Text(string(by.Kind)))
			if thing := by.Clauses[0].Thing; thing != "" {
				says = words.FollowsAbout.Of(words.Text(string(by.Kind)), words.Text(thing))
			}
			f.Clauses = slices.DeleteFunc(f.Clauses, func(c answer.Verdict) bool { return c.Says == words.Follows.Kind() }) // said with the thing now
			f.Clauses = append(f.Clauses, answer.Conclude(answer.NoFinding, says, answer.Weakest(f.Strength, by.Strength)))
		}
		out, listed[i] = append(out, *f), true
	}
	for i := range list {
		add(i, list[i].Severity)
	}
	copy(list, out)
}

// explains reports whether all that must go on first for a conclusion wait in a finding.
func explains(by *answer.Finding, c *answer.Verdict) bool {
	threads, methods := waitingThreads(by), map[target.Addr]bool{}
	if len(by.Clauses) > 0 {
		for _, a := range by.Clauses[0].Waiting {
			methods[a] = true
		}
	}
	return !slices.ContainsFunc(c.Behind, func(id uint32) bool { return !threads[id] }) &&
		!slices.ContainsFunc(c.BehindMethods, func(a target.Addr) bool { return !methods[a] })
}

// manyBehind is how many items for each worker wait behind a lock that most workers wait for or hold, so that it serializes the pool.
const manyBehind = 10

// serialized adds a clause to a held lock if most workers of the pool wait for it, or hold it, while many items wait for a worker: the pool runs one after the
// other, although it does not starve. list is ranked.
func (q *Answers) serialized(list []answer.Finding) {
	p, err := q.ThreadPool.get()
	if err != nil || p.Queued.Err() != nil || len(p.Workers) == 0 || p.Queued.Value < uint64(manyBehind*len(p.Workers)) ||
		slices.ContainsFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingStarved }) {
		return
	}
	for i := range list {
		f := &list[i]
		if f.Kind != answer.FindingHeld {
			continue
		}
		threads, workers := waitingThreads(f), 0
		for j := range p.Workers {
			if threads[p.Workers[j].Thread.OSID] {
				workers++
			}
		}
		if 2*workers <= len(p.Workers) {
			continue
		}
		c := answer.Conclude(answer.NoFinding, words.BehindLock.Of(words.Commas(p.Queued.Value), words.N(workers), words.N(len(p.Workers))), answer.Weakest(f.Strength, answer.StrengthLikely))
		c.Show = []string{"threadpool -wi"}
		f.Clauses, f.Next = append(f.Clauses, c), append(f.Next, c.Show...)
	}
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
