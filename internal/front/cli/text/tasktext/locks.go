package tasktext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Locks is the text of locks.
func Locks(p *report.Page, l *answer.Locks) {
	for i := range l.Locks {
		lock(p, &l.Locks[i])
	}
	locks := report.Count(uint64(len(l.Locks)), "lock", "locks")
	switch {
	case l.Lost != nil:
		p.Print(locks + "; incomplete: others may exist\n")
	case l.Free > 0:
		p.Printf("%s; %d more %s free (-all)\n", locks, l.Free, report.Noun(uint64(l.Free), "is", "are"))
	default:
		p.Print(locks + "\n")
	}
}

func lock(p *report.Page, l *answer.Lock) {
	p.Printf("%s %s", report.Hex12(l.Address), l.Kind)
	switch l.Kind {
	case answer.LockMonitor, answer.LockThin, answer.LockConstructor:
		p.Print(" of " + report.Escape(l.Type.String()))
	case answer.LockLazy, answer.LockSpin:
		p.Print(" " + report.Escape(l.Type.String()))
	}
	if l.Name != "" {
		p.Print(" (" + report.Escape(l.Name) + ")")
	}
	if words := holds(l); words != "" {
		p.Print(": " + words)
	}
	if l.Waiters.Err() == nil && l.Waiters.Value > 0 {
		p.Printf(", %d waiting (its own count)", l.Waiters.Value)
	}
	if l.Age.Err() == nil {
		p.Printf(", no waiter has got it for at least %s", report.Millis(l.Age.Value))
	}
	p.Print("\n")
	for i := range l.Waiting {
		w := &l.Waiting[i]
		words := "waits"
		if w.Pulse {
			words = "waits for a pulse"
		}
		if w.Timeout != nil {
			words += fmt.Sprintf(", at most %s", report.Millis(int64(*w.Timeout)))
		}
		p.Printf("    thread %s %s [%s]\n", threadName(&w.Thread), words, w.How)
	}
	for i := range l.Readers {
		p.Printf("    thread %s reads\n", threadName(&l.Readers[i]))
	}
	asyncWaiters(p, l.Async)
}

// asyncWaiters writes the code that continues when a SemaphoreSlim is released, equal waiters on one line.
func asyncWaiters(p *report.Page, list []answer.AsyncWaiter) {
	var order []string
	alike := map[string][]*answer.AsyncWaiter{}
	for i := range list {
		words := awaiter(&list[i])
		if alike[words] == nil {
			order = append(order, words)
		}
		alike[words] = append(alike[words], &list[i])
	}
	for _, words := range order {
		first := report.Hex12(alike[words][0].Task)
		if n := len(alike[words]); n > 1 {
			p.Printf("    %s tasks, the first %s, alike: each %s\n", report.Commas(uint64(n)), first, words)
			continue
		}
		p.Printf("    task %s %s\n", first, words)
	}
}

// awaiter describes what goes on when a task of WaitAsync completes.
func awaiter(w *answer.AsyncWaiter) string {
	switch {
	case w.Blocked:
		return "waits; a thread blocks on it"
	case len(w.Stack) > 0:
		return "is awaited by " + escapedStack(w.Stack)
	case w.Abandoned:
		return "is awaited by no code"
	}
	return "waits asynchronously"
}

// escapedStack returns async methods, each but the first on a line of its own.
func escapedStack(methods []string) string {
	lines := make([]string, len(methods))
	for i, m := range methods {
		lines[i] = report.Escape(m)
	}
	return strings.Join(lines, "\n      which is awaited by ")
}

// holds describes the holder of a lock.
func holds(l *answer.Lock) string {
	if l.Kind == answer.LockConstructor {
		return "run by thread " + threadName(l.Owner)
	}
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
		p.Verdict(&w.Verdicts[i])
	}
	if len(w.Verdicts) > 0 && len(w.Threads)+len(w.Operations)+len(w.Idle) > 0 {
		p.Print("\n")
	}
	for _, t := range equalThreads(w.Threads) {
		threadWait(p, t)
	}
	for i := range w.Operations {
		operation(p, &w.Operations[i])
	}
	idle(p, w.Idle)
	switch {
	case len(w.Threads)+len(w.Operations) > 0:
	case w.Lost != nil:
		p.Print("Waits can't be read.\n")
	default:
		p.Print("No thread or suspended async method found waiting for a lock, an event, a task or a static constructor.\n")
	}
}

// equalThreads puts threads together that wait alike, in the order of the first of each.
func equalThreads(list []answer.ThreadWait) [][]*answer.ThreadWait {
	type key struct {
		text, method, file, ends, how string
		object                        target.Addr
		line                          int
	}
	var out [][]*answer.ThreadWait
	at := map[key]int{}
	for i := range list {
		t := &list[i]
		k := key{t.Text, t.Method.String(), t.File, t.Ends, t.How, t.Object, t.Line}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], t)
	}
	return out
}

// threadWait writes threads that wait alike on one line.
func threadWait(p *report.Page, list []*answer.ThreadWait) {
	t := list[0]
	if len(list) == 1 {
		p.Printf("thread %s %s", threadName(&t.Thread), report.Escape(t.Text))
	} else {
		names := make([]string, min(len(list), namedThreads))
		for i := range names {
			names[i] = threadName(&list[i].Thread)
		}
		more := ""
		if len(list) > len(names) {
			more = ", …"
		}
		p.Printf("%d threads (%s%s): each %s", len(list), strings.Join(names, ", "), more, report.Escape(t.Text))
	}
	if t.Object != 0 { // an unknown thread, or the finalizer thread
		p.Print(" " + report.Hex12(t.Object))
	}
	if t.Name != "" {
		p.Print(" (" + report.Escape(t.Name) + ")")
	}
	if t.Note != "" {
		p.Print(" (" + report.Escape(t.Note) + ")")
	}
	if !t.Method.IsZero() {
		p.Print(" in " + report.Escape(compilernames.Pretty(t.Method.String())))
	}
	if t.File != "" {
		p.Printf(" (%s:%d)", report.Escape(t.File), t.Line)
	}
	if t.Ends != "" {
		p.Print(", " + report.Escape(t.Ends))
	}
	p.Printf(" [%s]\n", t.How)
}

// namedThreads is how many of several equal threads a line names.
const namedThreads = 4

// operation writes equal waits of suspended code on one line, with the holder of what they wait for.
func operation(p *report.Page, o *answer.OperationWait) {
	p.Printf("%d × ", o.Count)
	if from := o.Caller(); from != "" {
		p.Print(report.Escape(from) + ": ")
	}
	p.Print(report.Escape(compilernames.Pretty(o.Method.String())))
	if o.File != "" {
		p.Printf(" (%s:%d)", report.Escape(o.File), o.Line)
	}
	p.Print(" " + report.Escape(o.Text))
	if o.State != "" {
		p.Print(", " + report.Escape(o.State))
	}
	p.Printf(" [first %s]\n", report.Hex12(o.First[0]))
	for i := range o.Holders {
		h := &o.Holders[i]
		p.Printf("    %s %s", report.Escape(compilernames.Pretty(h.Method.String())), report.Hex12(h.Object))
		if h.File != "" {
			p.Printf(" (%s:%d)", report.Escape(h.File), h.Line)
		}
		if o.Kind == answer.WaitPromise {
			p.Print(" completes it later")
		} else {
			p.Print(" has entered it")
		}
		if h.Waits != "" {
			p.Print(" and waits for " + report.Escape(h.Waits))
		}
		p.Printf(" [%s]\n", h.Strength)
	}
}

// idle counts the waits that are normal.
func idle(p *report.Page, list []answer.IdleWaits) {
	if len(list) == 0 {
		return
	}
	total := 0
	words := make([]string, len(list))
	for i := range list {
		total += list[i].Count
		words[i] = fmt.Sprintf("%s (%d)", list[i].Reason, list[i].Count)
	}
	p.Printf("%s normal: %s\n", report.Count(uint64(total), "wait is", "waits are"), strings.Join(words, "; "))
}

// Initializers is the text of initializers.
func Initializers(p *report.Page, a *answer.Initializers) {
	for i := range a.Failed {
		f := &a.Failed[i]
		p.Printf("%s %s\n", report.Hex12(f.MethodTable), report.Escape(f.Type.String()))
		if f.Cause != nil {
			exceptions(p, []answer.TaskException{*f.Cause})
		} else {
			p.Print("    its exception was not found\n")
		}
	}
	switch n := uint64(len(a.Failed)); {
	case n > 0:
		p.Printf("%s failed\n", report.Count(n, "type initializer", "type initializers"))
	case len(a.Noted()) > 0:
		p.Print("No failed type initializers found; some data could not be read.\n")
	default:
		p.Print("No type initializer failed.\n")
	}
}
