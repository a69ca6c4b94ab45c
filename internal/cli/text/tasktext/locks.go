package tasktext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli/text"
	"github.com/sosgo/sosgo/internal/report"
)

// Locks is the text of locks.
func Locks(p *report.Page, l *answer.Locks) {
	for i := range l.Locks {
		lock(p, &l.Locks[i])
	}
	locks := text.Count(uint64(len(l.Locks)), "lock", "locks")
	switch {
	case l.Lost != nil:
		p.Print(locks + "; incomplete: others may exist\n")
	case l.Free > 0:
		p.Printf("%s; %d more %s free (-all)\n", locks, l.Free, text.Noun(uint64(l.Free), "is", "are"))
	default:
		p.Print(locks + "\n")
	}
}

func lock(p *report.Page, l *answer.Lock) {
	p.Printf("%s %s", report.Hex12(l.Address), l.Kind)
	switch l.Kind {
	case answer.LockMonitor, answer.LockThin:
		p.Print(" of " + report.Escape(l.Type.String()))
	case answer.LockLazy, answer.LockSpin:
		p.Print(" " + report.Escape(l.Type.String()))
	}
	if words := holds(l); words != "" {
		p.Print(": " + words)
	}
	if l.Waiters.Err == nil && l.Waiters.Value > 0 {
		p.Printf(", %d waiting (its own count)", l.Waiters.Value)
	}
	p.Print("\n")
	for i := range l.Waiting {
		w := &l.Waiting[i]
		words := "waits"
		if w.Pulse {
			words = "waits for a pulse"
		}
		if w.Timeout != nil {
			words += fmt.Sprintf(", at most %s", span(int64(*w.Timeout)))
		}
		p.Printf("    thread %s %s [%s]\n", threadName(&w.Thread), words, w.How)
	}
	for i := range l.Readers {
		p.Printf("    thread %s reads\n", threadName(&l.Readers[i]))
	}
	for i := range l.Async {
		asyncWaiter(p, &l.Async[i])
	}
}

// asyncWaiter writes who goes on when a SemaphoreSlim is released.
func asyncWaiter(p *report.Page, w *answer.AsyncWaiter) {
	words := "waits asynchronously"
	switch {
	case w.Blocked:
		words = "waits; a thread blocks on it"
	case len(w.Stack) > 0:
		words = "is awaited by " + escapedStack(w.Stack)
	}
	p.Printf("    task %s %s\n", report.Hex12(w.Task), words)
}

// escapedStack returns async methods, each but the first on a line of its own.
func escapedStack(methods []string) string {
	lines := make([]string, len(methods))
	for i, m := range methods {
		lines[i] = report.Escape(m)
	}
	return strings.Join(lines, "\n      which is awaited by ")
}

// holds returns who holds a lock.
func holds(l *answer.Lock) string {
	var words []string
	if l.State != "" {
		words = append(words, l.State)
	}
	switch {
	case l.Owner != nil:
		words = append(words, "held by thread "+threadName(l.Owner))
	case l.Held && l.OwnerID != 0:
		words = append(words, fmt.Sprintf("held by a thread that has ended (id %d)", l.OwnerID))
	case l.Held && l.State == "":
		words = append(words, "held by a thread that has ended")
	}
	if l.Recursion > 0 {
		words = append(words, fmt.Sprintf("entered %d times", l.Recursion+1))
	}
	return strings.Join(words, ", ")
}

// Waits is the text of waits.
func Waits(p *report.Page, w *answer.Waits) {
	for i := range w.Verdicts {
		verdict(p, &w.Verdicts[i])
	}
	if len(w.Verdicts) > 0 && len(w.Threads) > 0 {
		p.Print("\n")
	}
	for i := range w.Threads {
		t := &w.Threads[i]
		p.Printf("thread %s %s %s", threadName(&t.Thread), report.Escape(t.Text), report.Hex12(t.Object))
		if !t.Method.IsZero() {
			p.Print(" in " + report.Escape(t.Method.String()))
		}
		if t.File != "" {
			p.Printf(" (%s:%d)", report.Escape(t.File), t.Line)
		}
		if t.Ends != "" {
			p.Print(", " + report.Escape(t.Ends))
		}
		p.Printf(" [%s]\n", t.How)
	}
	if len(w.Threads) == 0 {
		if w.Lost != nil {
			p.Print("Waits can't be read.\n")
			return
		}
		p.Print("No thread found waiting for a lock, an event, a task or a static constructor.\n")
	}
}
