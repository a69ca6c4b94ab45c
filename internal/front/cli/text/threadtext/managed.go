package threadtext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// ManagedThreads is the text of clrthreads: a table of the threads or, if requested, of their activities. times begins
// each line of the table with processor times.
func ManagedThreads(p *report.Page, l *answer.ManagedThreads, times bool) {
	threadCounts(p, &l.Counts)
	if len(l.Threads) > 0 && l.Threads[0].Activity != nil {
		activities(p, l.Threads)
		return
	}
	t := p.Columns(4, 4, 8, -16, 8, -11, -33, -16, -5, -3, 0)
	indent := 108
	if times {
		indent += timesWidth
	}
	p.Printf("%*s%s\n", indent, "", "Lock  ")
	if times {
		timesHead(p)
	}
	_ = t.Row("DBG", "ID", "OSID", "ThreadOBJ", "State", "GC Mode", "GC Alloc Context", "Domain", "Count", "Apt", "Exception")
	for i := range l.Threads {
		th := &l.Threads[i]
		id, object, context := managedID(&th.Thread), report.Hex16(th.Thread.Thread), report.Hex16(th.AllocPointer.Value)+":"+report.Hex16(th.AllocLimit.Value)
		if th.Thread.Thread == 0 { // the dump does not have it
			id, object = "?", "?"
		}
		if th.AllocPointer.Err() != nil || th.AllocLimit.Err() != nil || th.Thread.Thread == 0 {
			context = "?"
		}
		if times {
			timesOf(p, th.User, th.Kernel)
		}
		_ = t.Row(index(&th.Thread), id, fmt.Sprintf("%x", th.OSID), object,
			absentOr(th.State.Err(), fmt.Sprintf("%x", uint64(th.State.Value))), orAbsent(&th.GCMode), context,
			absentOr(th.Domain.Err(), report.Hex16(th.Domain.Value)), lockCount(th), orAbsent(&th.Apartment), notes(p, th))
	}
	for i := range l.Threads {
		if times {
			noTimes(p, &l.Threads[i].Thread, l.Threads[i].NoTimes)
		}
	}
	if l.Special != nil {
		specialThreads(p, l.Special)
	}
}

// managedID returns the managed id of a thread. All threads that run managed code have one; a NativeAOT program does
// not record it.
func managedID(t *answer.Thread) string {
	if t.ManagedID == 0 && t.Thread != 0 {
		return "?"
	}
	return strconv.FormatUint(uint64(t.ManagedID), 10)
}

// orAbsent returns a text, or why it is missing.
func orAbsent(t *answer.Text) string { return absentOr(t.Err, t.S) }

// absentOr returns text, or the reason if err is not nil.
func absentOr(err error, text string) string {
	if err != nil {
		return answer.Absent(err)
	}
	return text
}

func threadCounts(p *report.Page, counts *answer.Maybe[answer.ThreadCounts]) {
	t, n := p.Columns(-17, 0), &counts.Value
	for _, l := range []struct {
		label string
		n     uint32
	}{
		{"ThreadCount:", n.Threads}, {"UnstartedThread:", n.Unstarted}, {"BackgroundThread:", n.Background},
		{"PendingThread:", n.Pending}, {"DeadThread:", n.Dead},
	} {
		_ = t.Row(l.label, absentOr(counts.Err(), strconv.FormatUint(uint64(l.n), 10)))
	}
	_ = t.Row("Hosted Runtime:", "no") // CoreCLR's hosts have no interface that takes the threads over
}

func lockCount(t *answer.ManagedThread) string {
	if t.LockCount == nil {
		return "-00001"
	}
	return strconv.FormatUint(uint64(*t.LockCount), 10)
}

// notes returns the last column: what the thread is for, and its exception. Outside SOS's form the thread's name ends
// it.
func notes(p *report.Page, t *answer.ManagedThread) string {
	var b strings.Builder
	for _, s := range t.Special {
		b.WriteString("(" + s + ") ")
	}
	switch {
	case t.ExceptionError != nil:
		b.WriteString(answer.Absent(t.ExceptionError))
	case t.Exception != nil:
		b.WriteString(thrown(p, t.Exception))
		if t.Nested {
			b.WriteString(" (nested exceptions)")
		}
	}
	if !p.SOS && t.Name != "" {
		if s := b.String(); s != "" && !strings.HasSuffix(s, " ") {
			b.WriteByte(' ')
		}
		b.WriteString(answer.Quote(t.Name))
	}
	return b.String()
}

func thrown(p *report.Page, x *answer.ThrownObject) string {
	name, at := objectType(p, x.Type), report.Hex16(x.Address)
	if x.Address == 0 { // a crash report has the type alone
		return name
	}
	if name == invalidObject {
		at = "(" + at + ")"
	}
	return name + " " + at
}

func specialThreads(p *report.Page, l *answer.SpecialThreads) {
	p.Print("\n")
	if !l.Named {
		p.Print("-special not supported.\n")
		return
	}
	t := p.Columns(4, 8, 0)
	_ = t.Row("", "OSID", "Special thread type")
	for _, th := range l.Threads {
		_ = t.Row(strconv.Itoa(th.Index), fmt.Sprintf("%x", th.OSID), th.Kind)
	}
}

// activities lists threads with what they do.
func activities(p *report.Page, threads []answer.ManagedThread) {
	rows := make([][]string, len(threads))
	for i := range threads {
		t := &threads[i]
		a := t.Activity
		rows[i] = []string{index(&t.Thread), strconv.FormatUint(uint64(t.ManagedID), 10), fmt.Sprintf("%x", t.OSID),
			t.Name, a.Text, orNone(a.Top), orNone(a.Caller)}
	}
	p.Fail(report.Summary(p, []string{"DBG", "ID", "OSID", "Name", "Activity", "Top frame", "Called by"}, rows))
}

func orNone(t answer.Text) string {
	if t.IsZero() {
		return "<none>"
	}
	return t.String()
}
