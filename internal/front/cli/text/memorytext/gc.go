package memorytext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// GC is the text of gc.
func GC(p *report.Page, a *answer.GC) {
	gcFact(p, "Collector:", gcKind(a))
	gcFact(p, "State:", gcState(a))
	for _, t := range a.State.Waited {
		gcFact(p, "", "waits for "+text.Thread(&t)+", which runs managed code")
	}
	if n := gcNumber(a.AtLeast); a.AtLeast.Err() == nil && a.AtLeast.Value > 0 {
		gcFact(p, "Collections:", "at least "+n)
	}
	gcFact(p, "Mechanisms:", gcCounts(a.Mechanisms))
	gcFact(p, "Compacted for:", gcCounts(a.Compactions))
	if a.Pinned.Err() == nil && a.AsyncPinned.Err() == nil {
		gcFact(p, "Pinned:", fmt.Sprintf("%s, and %s for overlapped I/O", report.Count(a.Pinned.Value, "handle", "handles"), report.Commas(a.AsyncPinned.Value)))
	}
	for _, f := range a.Failures {
		size := ""
		if f.Sized() {
			size = " of " + report.Size(f.AllocationSize)
		}
		gcFact(p, "Failed:", fmt.Sprintf("an allocation%s in heap %d: %s; analyzeoom describes it", size, f.Heap, f.Reason))
	}
	gcSettings(p, a.Settings)
	gcGenerations(p, a.Generations)
	for i := range a.Recorded {
		gcRecord(p, &a.Recorded[i])
	}
	gcThreads(p, a)
	if len(a.Absent) > 0 {
		p.Print("\nNot answered:\n")
	}
	for _, f := range a.Absent {
		p.Printf("  %s: %s\n", f.What, report.Escape(f.Reason))
	}
}

// gcFact writes a line, unless it is empty.
func gcFact(p *report.Page, label, value string) {
	if value != "" {
		p.Printf("%-14s %s\n", label, report.Escape(value))
	}
}

func gcNumber(n answer.Maybe[uint64]) string {
	if n.Err() != nil {
		return answer.Absent(n.Err())
	}
	return report.Commas(n.Value)
}

func gcKind(a *answer.GC) string {
	kind, heap := "workstation", "segments"
	switch {
	case a.Server.Err() != nil:
		kind = answer.Absent(a.Server.Err())
	case a.Server.Value:
		kind = "server"
	}
	switch {
	case a.Regions.Err() != nil:
		heap = answer.Absent(a.Regions.Err())
	case a.Regions.Value:
		heap = "regions"
	}
	parts := []string{kind, heap}
	if a.Heaps.Err() != nil {
		parts = append(parts, "heaps "+answer.Absent(a.Heaps.Err()))
	} else {
		parts = append(parts, report.Count(uint64(a.Heaps.Value), "heap", "heaps"))
	}
	if a.DATAS.Err() == nil {
		parts = append(parts, fmt.Sprintf("dynamic adaptation (DATAS) mode %d", a.DATAS.Value))
	}
	if name := a.Library.S; name != "" {
		parts = append(parts, "in "+name[strings.LastIndexAny(name, `/\`)+1:])
	}
	return strings.Join(parts, ", ")
}

func gcState(a *answer.GC) string {
	s := &a.State
	var parts []string
	switch {
	case s.InCollection.Err() != nil:
		parts = append(parts, "collection "+answer.Absent(s.InCollection.Err()))
	case s.InCollection.Value:
		parts = append(parts, "a collection was changing the heap")
	default:
		parts = append(parts, "no collection was changing the heap")
	}
	switch {
	case s.Background.Err != nil:
		parts = append(parts, "background collection "+answer.Absent(s.Background.Err))
	case s.Background.S != "none":
		parts = append(parts, "a background collection was "+s.Background.S)
	}
	if s.Suspender != nil {
		parts = append(parts, text.Thread(s.Suspender)+" has suspended, or was suspending, the other threads")
	}
	return strings.Join(parts, "; ")
}

// gcCounts lists the counters that are not 0. The text is empty where nothing is counted.
func gcCounts(list []answer.GCCount) string {
	var parts []string
	for _, c := range list {
		if c.Count > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", c.Name, report.Commas(c.Count)))
		}
	}
	if list != nil && parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func gcSettings(p *report.Page, list []answer.GCSetting) {
	if len(list) > 0 {
		p.Print("\nSettings as written:\n")
	}
	for _, s := range list {
		unused := ""
		if s.Unused {
			unused = ", overridden"
		}
		p.Printf("  %-26s %s (%s%s)\n", report.Escape(s.Name), report.Escape(s.Value), report.Escape(s.Key), unused)
	}
}

func gcGenerations(p *report.Page, list []answer.GenerationSize) {
	if len(list) == 0 {
		return
	}
	p.Print("\n")
	t := p.Table(report.Column{Name: "Generation", Kind: report.Text, Width: 10}, report.Column{Name: "Committed", Kind: report.Integer, Width: 14},
		report.Column{Name: "Objects", Kind: report.Integer, Width: 14}, report.Column{Name: "Free", Kind: report.Integer, Width: 14}, report.Column{Name: "Fragmented", Kind: report.Text})
	p.Fail(t.Header())
	shared := slices.ContainsFunc(list, func(g answer.GenerationSize) bool { return g.Generation == answer.Ephemeral && g.Committed > 0 })
	for i := range list {
		g := &list[i]
		var committed any = g.Committed
		if shared && g.Committed == 0 && (g.Generation == "0" || g.Generation == "1" || g.Generation == "2") {
			committed = nil // it has no segment of its own
		}
		share := ""
		if all := g.Live + g.Free; all > 0 {
			share = report.Share(g.Free, all)
		}
		if g.Incomplete || g.Partial {
			share += " (incomplete)"
		}
		p.Fail(t.Row(g.Generation, committed, g.Live, g.Free, share))
	}
	p.Fail(t.Flush())
}

func gcRecord(p *report.Page, c *answer.GCRecord) {
	words := []string{"blocking"}
	if c.Concurrent.Value {
		words[0] = "background"
	}
	if c.Compacted.Value {
		words = append(words, "compacting")
	}
	p.Printf("\nCollection %s (%s, asked for by the program): generation %s, %s\n", gcInt(c.Index), report.Hex12(c.Address), gcInt(c.Generation), strings.Join(words, ", "))
	pause := answer.Absent(c.Pause.Err())
	if c.Pause.Err() == nil {
		pause = fmt.Sprintf("%.3f ms", 1000*float64(c.Pause.Value))
	}
	share := answer.Absent(c.PauseShare.Err())
	if c.PauseShare.Err() == nil {
		share = fmt.Sprintf("%.2f%%", float64(c.PauseShare.Value)/100)
	}
	p.Printf("  pause %s, %s of the time so far; heap %s, free %s, committed %s, survived %s\n", pause, share, gcSize(c.HeapSize), gcSize(c.Fragmented), gcSize(c.Committed), gcSize(c.Promoted))
	p.Printf("  pinned objects %s, awaiting finalization %s; the collector may use %s; memory load %s, high from %s on\n", gcInt(c.Pinned), gcInt(c.Finalizing), gcSize(c.AvailableMemory),
		gcSize(c.MemoryLoad), gcSize(c.HighMemoryLoad))
	for _, g := range c.Sizes {
		if g.Before.Value != 0 || g.After.Value != 0 || g.Before.Err() != nil || g.After.Err() != nil {
			p.Printf("  generation %-7s %s before, %s after with %s free\n", g.Generation, gcSize(g.Before), gcSize(g.After), gcSize(g.FragmentedAfter))
		}
	}
}

func gcInt(n answer.Maybe[int64]) string {
	if n.Err() != nil {
		return answer.Absent(n.Err())
	}
	return fmt.Sprint(n.Value)
}

func gcSize(n answer.Maybe[int64]) string {
	if n.Err() != nil {
		return answer.Absent(n.Err())
	}
	return report.Size(uint64(max(0, n.Value)))
}

func gcThreads(p *report.Page, a *answer.GC) {
	if len(a.Threads) == 0 {
		return
	}
	p.Print("\n")
	t := p.Table(report.Column{Name: "Allocated", Kind: report.Text, Width: 18}, report.Column{Name: "Left", Kind: report.Integer, Width: 8}, report.Column{Name: "Thread", Kind: report.Text})
	p.Fail(t.Header())
	for i := range a.Threads {
		r := &a.Threads[i]
		p.Fail(t.Row(gcNumber(r.Allocated), r.Left, text.Thread(&r.Thread)))
	}
	p.Fail(t.Flush())
	if a.Left.Err() == nil {
		p.Printf("%s left in allocation contexts\n", report.Size(a.Left.Value))
	}
}
