package tasktext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// ThreadPoolOptions select parts of the text of threadpool.
type ThreadPoolOptions struct {
	Log    bool // the hill climbing log
	Items  bool // queued work items
	Counts bool // queued work items, counted by type
}

// ThreadPool is the text of threadpool.
func ThreadPool(p *report.Page, t *answer.ThreadPool, o ThreadPoolOptions) {
	if p.SOS {
		sosThreadPool(p, t, o)
		return
	}
	switch t.Kind {
	case answer.PoolNone:
		p.Print("The process has not used its thread pool.\n")
	case answer.PoolUnknown:
		p.Print("The thread pool can't be read.\n")
		if t.Queued.Err() == nil {
			p.Printf("Queued items: %s\n", report.Commas(t.Queued.Value))
		}
	case answer.PoolNative:
		p.Print("Thread pool of the runtime itself (before .NET 6)\n\n")
	case answer.PoolWindows:
		p.Print("Thread pool of Windows\n\n")
	default:
		p.Print("Thread pool of the class library (.NET 6 and later)\n\n")
	}
	switch t.Kind {
	case answer.PoolNative, answer.PoolPortable, answer.PoolWindows:
		counters(p, t)
	}
	for i := range t.Verdicts {
		p.Verdict(&t.Verdicts[i])
	}
	if o.Log {
		hillClimbing(p, t)
	}
	if o.Items && t.Queues != nil {
		p.Print("\n")
		WorkQueues(p, t.Queues, 0)
	}
	if o.Counts && t.Queues != nil {
		itemCounts(p, t)
	}
}

// count formats a number, or the reason why it is missing.
func count(n answer.Maybe[int64]) string {
	if n.Err() != nil {
		return answer.Absent(n.Err())
	}
	return strconv.FormatInt(n.Value, 10)
}

func counters(p *report.Page, t *answer.ThreadPool) {
	idle := answer.Of(t.Total.Value-t.Running.Value, cmp.Or(t.Total.Err(), t.Running.Err()))
	p.Printf("Workers:         %s (%s busy, %s free)\n", count(t.Total), count(t.Running), count(idle))
	if t.Kind == answer.PoolWindows {
		p.Printf("Max:             %s\n", count(t.Max))
	} else {
		p.Printf("Target:          %s (min %s, max %s)\n", count(t.Goal), count(t.Min), count(t.Max))
	}
	queued := answer.Absent(t.Queued.Err())
	if t.Queued.Err() == nil {
		queued = report.Commas(t.Queued.Value)
	}
	p.Printf("Queued items:    %s\n", queued)
	if t.CPU.Err() == nil {
		p.Printf("CPU utilization: %d%%\n", t.CPU.Value)
	} else if t.Kind != answer.PoolWindows {
		p.Printf("CPU utilization: %s\n", count(t.CPU))
	}
	if t.Blocked.Err() == nil && t.Blocked.Value != 0 {
		p.Printf("Known blocked:   %s\n", count(t.Blocked))
	}
	if c := t.Ports; c != nil && c.Total+c.Min > 0 {
		p.Printf("Completion ports: %d threads (%d free; min %d, max %d)\n", c.Total, c.Free, c.Min, c.Max)
	}
	for i := range t.WaitThreads {
		p.Printf("A thread waits on %s registered handles\n", count(t.WaitThreads[i].Waits))
	}
	p.Print("\n")
}

// hillClimbing writes the log. Times are seconds before the last entry.
func hillClimbing(p *report.Page, t *answer.ThreadPool) {
	n := len(t.HillClimbing)
	if n == 0 {
		if !p.SOS {
			p.Print("\nThe hill climbing log is empty.\n")
		}
		return
	}
	p.Print("\nHill Climbing Log:\n")
	table := p.Table(report.Column{Name: "Time", Kind: report.Text, Width: 10, Right: true}, report.Column{Name: "Transition", Kind: report.Text, Width: 20},
		report.Column{Name: "#New Threads", Kind: report.Integer}, report.Column{Name: "#Samples", Kind: report.Integer},
		report.Column{Name: "Throughput", Kind: report.Text, Width: 10, Right: true})
	p.Fail(table.Header())
	for _, s := range t.HillClimbing {
		p.Fail(table.Row(fmt.Sprintf("%.2f", float64(int32(s.Ms-t.HillClimbing[n-1].Ms))/1000), s.Transition, s.Threads, s.Samples, fmt.Sprintf("%.2f", s.Throughput)))
	}
	p.Fail(table.Flush())
	if p.SOS {
		p.Print("\n")
	}
}

// sosThreadPool writes SOS's form, which calls every pool except Windows's own portable.
func sosThreadPool(p *report.Page, t *answer.ThreadPool, o ThreadPoolOptions) {
	if t.Total.Err() != nil {
		p.Print("Failed to obtain ThreadPool data.\n")
	} else {
		sosCounters(p, t)
	}
	if o.Log {
		hillClimbing(p, t)
	}
	if o.Items && t.Queues != nil {
		sosItems(p, t.Queues)
	}
	if o.Counts && t.Queues != nil {
		itemCounts(p, t)
	}
}

func sosCounters(p *report.Page, t *answer.ThreadPool) {
	kind := "Portable"
	if t.Kind == answer.PoolWindows {
		kind = "Windows"
	}
	p.Printf("Using the %s thread pool.\n\n", kind)
	for _, row := range []struct{ label, value string }{
		{"CPU utilization:", count(t.CPU) + "%"}, {"Workers Total:", count(t.Total)}, {"Workers Running:", count(t.Running)},
		{"Workers Idle:", strconv.FormatInt(t.Total.Value-t.Running.Value, 10)}, {"Worker Min Limit:", count(t.Min)}, {"Worker Max Limit:", count(t.Max)},
	} {
		p.Printf("%-17s %s\n", row.label, row.value)
	}
	p.Print("\n")
	if c := t.Ports; c != nil {
		p.Printf("%-19s %d\n%-19s %d\n%-19s %d\n", "Completion Total:", c.Total, "Completion Free:", c.Free, "Completion MaxFree:", c.MaxFree)
		p.Printf("%-25s %d\n%-25s %d\n%-25s %d\n\n", "Completion Current Limit:", c.Current, "Completion Min Limit:", c.Min, "Completion Max Limit:", c.Max)
	}
}

// sosItems lists the items like SOS's -wi, which labels local queues like the global one.
func sosItems(p *report.Page, q *answer.WorkQueues) {
	table := p.Table(report.Column{Name: "Queue", Kind: report.Text, Width: 17}, report.Column{Name: "Object", Kind: report.Pointer, Left: true},
		report.Column{Name: "Type", Kind: report.TypeName})
	headed := false
	for _, queue := range q.Queues {
		name := "[Global]"
		if queue.Kind == answer.QueueHighPriority {
			name = "[Global high-pri]"
		}
		for _, item := range inArrays(queue.Items) {
			if !headed {
				p.Fail(table.Header())
				headed = true
			}
			p.Fail(table.Row(name, uint64(item.Address), item.Type.String()))
		}
	}
	p.Fail(table.Flush())
	p.Print("\n")
}

// inArrays returns the items in the order of their arrays, as SOS lists them. A queue may begin anywhere in its
// array.
func inArrays(items []answer.WorkItem) []answer.WorkItem {
	list := slices.Clone(items)
	slices.SortStableFunc(list, func(a, b answer.WorkItem) int { return a.Slot - b.Slot })
	return list
}

// An itemCount counts the items of a type.
type itemCount struct {
	mt      target.Addr
	name    string
	n, size uint64
}

// itemCounts counts the items by type, like dumpheap -stat. Types of equal size keep the order of first occurrence.
func itemCounts(p *report.Page, t *answer.ThreadPool) {
	var total itemCount
	var list []*itemCount
	byType := map[target.Addr]*itemCount{}
	for i := range t.Queues.Queues {
		for _, item := range inArrays(t.Queues.Queues[i].Items) {
			c := byType[item.MethodTable]
			if c == nil {
				c = &itemCount{mt: item.MethodTable, name: item.Type.String()}
				byType[item.MethodTable] = c
				list = append(list, c)
			}
			c.n, total.n = c.n+1, total.n+1
			c.size, total.size = c.size+item.Size, total.size+item.Size
		}
	}
	if total.n == 0 {
		if !p.SOS || t.Kind != answer.PoolNative {
			p.Print("No queued work items.\n")
		}
		return
	}
	slices.SortStableFunc(list, func(a, b *itemCount) int { return cmp.Compare(a.size, b.size) })
	p.Print("Statistics:\n")
	table := p.Table(report.Column{Name: "MT", Kind: report.Pointer, Fit: true}, report.Column{Name: "Count", Kind: report.Integer, Fit: true},
		report.Column{Name: "TotalSize", Kind: report.Integer, Fit: true}, report.Column{Name: "Class Name", Kind: report.TypeName})
	p.Fail(table.Header())
	for _, c := range list {
		p.Fail(table.Row(uint64(c.mt), c.n, c.size, c.name))
	}
	p.Fail(table.Flush())
	p.Printf("Total %s objects, %s bytes\n", report.Commas(total.n), report.Commas(total.size))
}

// WorkQueues is the text of threadpoolqueue. It writes at most limit items of each queue; 0 means all.
func WorkQueues(p *report.Page, q *answer.WorkQueues, limit int) {
	if p.SOS {
		sosQueues(p, q)
		return
	}
	switch {
	case len(q.Queues) == 0 && q.Lost != nil:
		p.Print("No queue can be read.\n")
		return
	case len(q.Queues) == 0:
		p.Print("There are no queues: nothing was ever queued.\n")
		return
	}
	var total uint64
	for i := range q.Queues {
		total += q.Queues[i].Count
		workQueue(p, &q.Queues[i], limit)
	}
	p.Printf("%s in %s\n", report.Count(total, "item", "items"), report.Count(uint64(len(q.Queues)), "queue", "queues"))
}

func workQueue(p *report.Page, q *answer.WorkQueue, limit int) {
	if q.Count == 0 && q.Kind != answer.QueueGlobal {
		return
	}
	title := string(q.Kind) + " queue"
	switch {
	case q.Owner != nil:
		title += " of thread " + threadName(q.Owner)
	case q.Kind == answer.QueueLocal:
		title += " of an unknown worker"
		if q.OwnerErr != nil {
			title += " (" + report.Escape(q.OwnerErr.Error()) + ")"
		}
	case q.Kind == answer.QueueAssignable:
		title += " " + strconv.Itoa(q.Number)
	}
	p.Printf("%s %s: %s items\n", title, report.Hex12(q.Address), report.Commas(q.Count))
	for i := range q.Items {
		if limit > 0 && i == limit {
			p.Printf("    … and %s more (-limit 0 for all)\n", report.Commas(q.Count-uint64(i)))
			break
		}
		p.Printf("    %s %s\n", report.Hex12(q.Items[i].Address), itemWords(&q.Items[i]))
	}
	p.Print("\n")
}

// itemWords formats an item on one line.
func itemWords(i *answer.WorkItem) string {
	var b strings.Builder
	switch {
	case i.Kind == answer.ItemOther || i.Method.IsZero():
		b.WriteString(report.Escape(i.Type.String()))
		if !i.Method.IsZero() {
			b.WriteString(": " + report.Escape(i.Method.String()))
		}
	default:
		b.WriteString(string(i.Kind) + " " + report.Escape(i.Method.String()))
	}
	if len(i.State) > 0 {
		b.WriteString(" (" + report.Escape(i.State.Cut(lineChars)) + ")")
	} else if !i.StateType.IsZero() {
		b.WriteString(" (" + report.Escape(i.StateType.String()) + " " + report.Hex12(i.StateObject) + ")")
	}
	if i.Status != "" {
		b.WriteString(", " + string(i.Status))
	}
	if !i.Continuation.IsZero() {
		b.WriteString(", then " + report.Escape(i.Continuation.String()))
	}
	return b.String()
}

// lineChars is the maximum number of characters of a string on a line.
const lineChars = 80

// threadName names a thread for people.
func threadName(t *answer.Thread) string {
	words := fmt.Sprintf("%#x", t.OSID)
	if t.Index != nil {
		words = fmt.Sprintf("%d (%#x)", *t.Index, t.OSID)
	} else if t.OSID == 0 {
		words = fmt.Sprintf("managed id %d (no OS thread)", t.ManagedID)
	}
	if t.Name != "" {
		words += " " + answer.Quote(t.Name)
	}
	return words
}

// sosQueues writes SOS's form. It describes items of three types and prints only the type of others.
func sosQueues(p *report.Page, q *answer.WorkQueues) {
	tasks, work := map[string]int{}, map[string]int{}
	p.Print("global work item queue________________________________\n")
	list := func(local bool) {
		for _, queue := range q.Queues {
			if (queue.Kind == answer.QueueLocal) != local {
				continue
			}
			for _, item := range inArrays(queue.Items) {
				sosItem(p, &item, tasks, work)
			}
		}
	}
	list(false)
	p.Print("\nlocal per thread work items_____________________________________\n")
	list(true)
	p.Print("\n")
	sosSummary(p, "Task ", tasks)
	sosSummary(p, "Work ", work)
}

func sosItem(p *report.Page, i *answer.WorkItem, tasks, work map[string]int) {
	name := report.Escape(i.Method.String())
	switch {
	case !i.Plain:
		p.Printf("0x%016X %s\n", uint64(i.Address), report.Escape(i.Type.String()))
	case i.Kind == answer.ItemTask:
		tasks[name]++
		p.Printf("0x%016X Task | %s\n", uint64(i.Address), name)
	default:
		work[name]++
		p.Printf("0x%016X Work | %s\n", uint64(i.Address), name)
	}
}

// sosSummary counts methods in ascending order of frequency.
func sosSummary(p *report.Page, kind string, counts map[string]int) {
	total := 0
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[a]-counts[b], strings.Compare(a, b)) })
	for _, name := range names {
		p.Printf(" %4d %s %s\n", counts[name], kind, name)
		total += counts[name]
	}
	if total > 0 {
		p.Printf(" ----\n %4d\n\n", total)
	}
}
