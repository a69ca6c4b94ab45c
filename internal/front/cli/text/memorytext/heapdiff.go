package memorytext

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// HeapDiff is the text of diff: the dumps, then generations, types and paths that changed.
func HeapDiff(p *report.Page, d *answer.HeapDiff) {
	var rows [][]string
	for i := range d.Dumps {
		u := &d.Dumps[i]
		more := ""
		if u.Unread > 0 {
			more = "+"
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), report.Commas(u.Objects) + more, report.Size(u.Size) + more, report.Size(u.Free) + more,
			report.Size(u.Committed), filepath.Base(u.File)})
	}
	p.Fail(report.Summary(p, []string{"", "Objects", "Size", "Free", "Committed", "Dump"}, rows))
	for i := range d.Dumps {
		if why := d.Dumps[i].Unrelated; why != "" {
			p.Printf("\nwarning: dump %d seems to be of another program: %s\n", i+1, report.Escape(why))
		}
	}
	p.Printf("\nfrom 1 to %d: %s objects, %s", len(d.Dumps), signed(d.Objects.CountChange), signedSize(d.Objects.SizeChange))
	if before := d.Objects.Sizes[0]; before > 0 {
		p.Printf(" (%+.1f%%)", 100*float64(d.Objects.SizeChange)/float64(before))
	}
	p.Print("\n")
	growths(p, d, "Gen", d.Generations)
	growths(p, d, "Type", d.Types)
	if d.MoreTypes > 0 {
		p.Printf("... and %s more\n", report.Commas(uint64(d.MoreTypes)))
	}
	if len(d.Types) == 0 {
		p.Print("\nno type changed within the given limits\n")
	}
	growthSuspects(p, d)
	pathGrowths(p, d)
	if s := d.Same; s != nil {
		p.Printf("\nOf %s objects (%s) in dump 1, %s (%s) have the same address and type in dump %d.\n", report.Commas(s.Of.Objects), report.Size(s.Of.Size),
			report.Commas(s.Same.Objects), report.Size(s.Same.Size), len(d.Dumps))
	}
}

// growthSuspects writes the holders with the largest growth.
func growthSuspects(p *report.Page, d *answer.HeapDiff) {
	if len(d.Suspects) == 0 {
		return
	}
	p.Print("\nLargest growth of live memory:\n")
	for i := range d.Suspects {
		s := &d.Suspects[i]
		p.Printf("%d. %s, %s objects, %s of the growth", i+1, signedSize(s.SizeChange), signed(s.CountChange), report.Percent(s.Share))
		if s.Growing {
			p.Print(", growing with each dump")
		}
		p.Printf("\n   held by %s\n", report.Escape(strings.Join(s.Path, " -> ")))
	}
}

func growths(p *report.Page, d *answer.HeapDiff, title string, list []answer.Growth) {
	var rows [][]string
	for i := range list {
		g := &list[i]
		name := g.Name.String()
		if g.Assembly != "" {
			name += " (" + g.Assembly + ")"
		}
		rows = append(rows, changeRow(d, &g.Change, name))
	}
	changeTable(p, d, title, rows)
}

// changeTable writes rows of changeRow.
func changeTable(p *report.Page, d *answer.HeapDiff, title string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	header := []string{"Change", "Objects", "Sizes", title}
	if len(d.Dumps) > 2 {
		header = []string{"Change", "Objects", "Sizes", "Grows", title}
	}
	p.Print("\n")
	p.Fail(report.Summary(p, header, rows))
}

func changeRow(d *answer.HeapDiff, c *answer.Change, name string) []string {
	var sizes []string
	for _, s := range c.Sizes {
		sizes = append(sizes, report.Size(s))
	}
	row := []string{signedSize(c.SizeChange), signed(c.CountChange), strings.Join(sizes, " -> ")}
	if len(d.Dumps) > 2 {
		grows := ""
		if c.Growing {
			grows = "always"
		}
		row = append(row, grows)
	}
	return append(row, name)
}

func pathGrowths(p *report.Page, d *answer.HeapDiff) {
	var rows [][]string
	for i := range d.Paths {
		g := &d.Paths[i]
		rows = append(rows, changeRow(d, &g.Change, report.Indent(g.Depth, 2)+g.Name))
	}
	changeTable(p, d, "Held by", rows)
	if d.MorePaths > 0 {
		p.Printf("... and %s more\n", report.Commas(uint64(d.MorePaths)))
	}
}

func signed(n int64) string {
	if n < 0 {
		return "-" + report.Commas(uint64(-n))
	}
	return "+" + report.Commas(uint64(n))
}

func signedSize(n int64) string {
	switch {
	case n < 0:
		return "-" + report.Size(uint64(-n))
	case n == 0:
		return report.Size(0)
	}
	return "+" + report.Size(uint64(n))
}
