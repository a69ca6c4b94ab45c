package objecttext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// HandlesHold is the text of gchandles -retained.
func HandlesHold(p *report.Page, h *answer.HandlesHold) {
	if h.Incomplete {
		p.Print("Incomplete (see the warnings). Of what can be read:\n")
	}
	p.Printf("%s objects live, %s bytes (%s). Freed: memory freed without the handle. Retained: memory freed without its object.\n",
		report.Commas(h.Live.Objects), report.Commas(h.Live.Size), report.Size(h.Live.Size))
	header := []string{"Freed", "Share", "Retained", "Handle", "Type", "Object", "Type of the object"}
	var rows [][]string
	below := map[int][]string{}
	for i := range h.Rows {
		r := &h.Rows[i]
		rows = append(rows, []string{report.Commas(r.Freed), report.Percent(r.Share), report.Commas(r.Retained), report.Hex12(r.Handle), r.Type,
			report.Hex12(r.Object.Address), r.Object.Type.String() + handleNote(r)})
		below[i] = handleDetails(r)
	}
	summary(p, header, rows, below)
	if h.More > 0 {
		p.Printf("... and %s more\n", report.Commas(uint64(h.More)))
	}
	handleSums(p, "Handle kind, all of them removed", h.Kinds, 0)
	handleSums(p, "Object type, their handles removed", h.Types, h.MoreTypes)
}

// summary writes a table, and below some rows the lines that belong to them.
func summary(p *report.Page, header []string, rows [][]string, below map[int][]string) {
	if len(rows) == 0 {
		p.Print("\nNo handle keeps anything alive.\n")
		return
	}
	var text strings.Builder
	p.Fail(report.Summary(&text, header, rows))
	p.Print("\n")
	row := -1 // the header
	for line := range strings.Lines(text.String()) {
		p.Print(line)
		for _, more := range below[row] {
			p.Print("        " + more + "\n")
		}
		row++
	}
}

// handleNote returns why a handle frees less than its object retains.
func handleNote(r *answer.HandleHolds) string {
	switch {
	case !r.Live:
		return " (garbage)"
	case r.Statics == 1:
		return " (table of a static field, counted separately)"
	case r.Statics > 1:
		return fmt.Sprintf(" (table of %d static fields, counted separately)", r.Statics)
	case r.Holder != "":
		return " (" + r.Holder + ")"
	case r.Same == 1:
		return " (shared with another handle)"
	case r.Same > 1:
		return fmt.Sprintf(" (shared with %d more handles)", r.Same)
	}
	return ""
}

// handleDetails returns the lines of -holds and -path.
func handleDetails(r *answer.HandleHolds) []string {
	var lines []string
	for i := range r.Types {
		t := &r.Types[i]
		lines = append(lines, fmt.Sprintf("%s bytes: %s %s", report.Commas(t.Size), report.Commas(t.Count), report.Escape(t.Type.String())))
	}
	if r.Else == nil {
		return lines
	}
	lines = append(lines, "also held by "+report.Escape(r.Else.Root.Name))
	for i := range r.Else.Objects {
		s := &r.Else.Objects[i]
		lines = append(lines, fmt.Sprintf("    -> %s %s", report.Hex12(s.Address), report.Escape(s.Type.String())))
	}
	return lines
}

func handleSums(p *report.Page, of string, sums []answer.HandleSum, more int) {
	var rows [][]string
	for i := range sums {
		s := &sums[i]
		freed := report.Commas(s.Freed)
		if s.AtLeast && s.Freed > 0 {
			freed = ">= " + freed
		}
		rows = append(rows, []string{freed, report.Percent(s.Share), report.Commas(s.Count), s.Name.String()})
	}
	if len(rows) == 0 {
		return
	}
	p.Print("\n")
	p.Fail(report.Summary(p, []string{"Freed", "Share", "Handles", of}, rows))
	if more > 0 {
		p.Printf("... and %s more\n", report.Commas(uint64(more)))
	}
}
