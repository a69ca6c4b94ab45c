package memorytext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// MemoryMap is the text of memory: sums by kind, what the dump counts, malloc, and the ranges if requested.
func MemoryMap(p *report.Page, m *answer.MemoryMap) {
	p.Printf("%s in %s ranges, %s of it without access; the dump holds %s\n", report.Size(m.Mappings.Size),
		report.Commas(uint64(m.Mappings.Ranges)), report.Size(m.Mappings.NoAccess), report.Size(m.Mappings.Stored))
	if m.LeftOut > 0 {
		p.Printf("%s of that were left out by sosgo shrink. They count below as if the dump held them.\n", report.Size(m.LeftOut))
	}
	if !m.Complete {
		p.Print("The dump lists files and the memory that it holds: the process may have more.\n")
	}
	p.Print("\n")
	rows := [][]string{}
	for i := range m.Kinds {
		rows = append(rows, memorySum(&m.Kinds[i], memoryName(m.Kinds[i].Kind, m.Kinds[i].Detail)))
	}
	p.Fail(report.Summary(p, []string{"Kind", "Ranges", "Mapped", "No access", "In dump", "In use", "Free", "Known by"}, append(rows, memorySum(&m.Mappings, "total"))))
	for i, c := range m.Counters {
		if i == 0 {
			p.Print("\nThe dump records:\n")
		}
		p.Printf("  %s: %s\n", report.Escape(c.Name), report.Size(c.Bytes))
	}
	nativeHeap(p, m.Native)
	memoryRanges(p, m.Ranges)
}

func memoryName(kind answer.MemoryKind, detail string) string {
	if detail != "" {
		return string(kind) + ": " + detail
	}
	return string(kind)
}

func memorySum(s *answer.MemorySum, name string) []string {
	return []string{name, report.Commas(uint64(s.Ranges)), report.Size(s.Size), report.Size(s.NoAccess), report.Size(s.Stored),
		optionalSize(s.InUse, s.Partial), optionalSize(s.Free, s.Partial), s.Known}
}

// optionalSize returns a size, with a plus if a part could not be read.
func optionalSize(n *uint64, partial bool) string {
	switch {
	case n == nil:
		return "-"
	case partial:
		return report.Size(*n) + "+"
	}
	return report.Size(*n)
}

// nativeHeap writes the sums of malloc and, if they were requested, its arenas and blocks.
func nativeHeap(p *report.Page, n *answer.NativeHeap) {
	if n == nil {
		return
	}
	p.Printf("\nmalloc of %s: %s, %s in use; %s free, %s cached, %s at the ends of arenas", report.Escape(target.BaseName(n.Library)),
		report.Count(uint64(len(n.Arenas)), "arena", "arenas"), nativeSum(n.InUse), nativeSum(n.Free), nativeSum(n.Cached), report.Size(n.Top.Bytes))
	p.Printf("; %s with mappings of their own", nativeSum(n.Mapped))
	switch {
	case n.Counted == nil:
		p.Print(" (malloc's own count is not in the dump)")
	case *n.Counted != n.Mapped:
		p.Printf(" (malloc counts %s)", nativeSum(*n.Counted))
	}
	p.Print("\n")
	for _, other := range n.Others {
		p.Printf("%s is loaded, too: its memory is not read\n", report.Escape(other))
	}
	if n.Words == nil {
		return
	}
	rows := [][]string{}
	for i := range n.Arenas {
		rows = append(rows, nativeArena(&n.Arenas[i]))
	}
	p.Print("\n")
	p.Fail(report.Summary(p, []string{"Arena", "Start", "Threads", "Heaps", "Size", "In use", "Blocks", "Free", "Blocks", "Top", "Unread"}, rows))
	rows = [][]string{}
	for i := range n.Sizes {
		s := &n.Sizes[i]
		rows = append(rows, []string{"to " + report.Size(s.UpTo), report.Commas(s.InUse.Blocks), report.Size(s.InUse.Bytes), report.Commas(s.Free.Blocks), report.Size(s.Free.Bytes)})
	}
	p.Print("\n")
	p.Fail(report.Summary(p, []string{"Block size", "In use", "", "Free", ""}, rows))
	nativeOwners(p, n)
}

func nativeArena(a *answer.NativeArena) []string {
	name, threads := "thread", "?"
	if a.Main {
		name = "main"
	}
	if a.Threads != nil {
		threads = report.Commas(*a.Threads)
	}
	return []string{name, report.Hex12(a.Start), threads, report.Commas(uint64(a.Heaps)), report.Size(a.Size), report.Size(a.InUse.Bytes), report.Commas(a.InUse.Blocks),
		report.Size(a.Free.Bytes), report.Commas(a.Free.Blocks), report.Size(a.Top), report.Size(a.Unread)}
}

// nativeOwners writes what the first words of blocks are.
func nativeOwners(p *report.Page, n *answer.NativeHeap) {
	words := []string{}
	for _, w := range [...]struct{ name, text string }{{"image", "an image"}, {"block", "another block"}, {"zero", "zero"}, {"other", "something else"}, {"unread", "not in the dump"}} {
		if s, ok := n.Words[w.name]; ok {
			words = append(words, fmt.Sprintf("%s: %s", w.text, nativeSum(s)))
		}
	}
	p.Printf("\nFirst words of blocks in use: %s\n", strings.Join(words, "; "))
	rows := [][]string{}
	for i := range n.Owners {
		o := &n.Owners[i]
		rows = append(rows, []string{report.Size(o.Bytes), report.Commas(o.Blocks), report.Hex12(o.Example), target.BaseName(o.Module) + "+" + report.Hex(o.Offset), o.Symbol})
	}
	wasteRows(p, []string{"In use", "Blocks", "Example", "First word", "Symbol"}, rows, uint64(n.More))
}

func nativeSum(s answer.NativeSum) string {
	return fmt.Sprintf("%s of %s", report.Count(s.Blocks, "block", "blocks"), report.Size(s.Bytes))
}

func memoryRanges(p *report.Page, ranges []answer.MemoryRange) {
	if ranges == nil {
		return
	}
	p.Print("\n")
	t := p.Table(
		report.Column{Name: "Start", Kind: report.Pointer, Width: 16},
		report.Column{Name: "End", Kind: report.Pointer, Width: 16},
		report.Column{Name: "Size", Kind: report.Integer, Width: 18},
		report.Column{Name: "In dump", Kind: report.Integer, Width: 14},
		report.Column{Name: "Access", Kind: report.Text, Width: 6},
		report.Column{Name: "Kind", Kind: report.Text, Width: 34},
		report.Column{Name: "File", Kind: report.Text})
	t.Header()
	for i := range ranges {
		r := &ranges[i]
		t.Row(uint64(r.Start), uint64(r.End), uint64(r.End-r.Start), r.Stored, r.Access, memoryName(r.Kind, r.Detail), report.Escape(r.Path))
	}
}
