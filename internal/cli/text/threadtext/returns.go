package threadtext

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Returns is the text of dumpstack.
func Returns(p *report.Page, r *answer.Returns) {
	for t := range report.Each(p, r.Threads) {
		threadHeading(p, &t.ThreadID)
		threadReturns(p, t)
	}
}

// AllReturns is the text of eestack.
func AllReturns(p *report.Page, r *answer.Returns) {
	for t := range report.Each(p, r.Threads) {
		p.Printf("---------------------------------------------\nThread %3d\n", t.Index)
		threadReturns(p, t)
	}
}

// returnSize is how far below its slot a return address leaves the stack pointer of
// the callee, as SOS shows it.
const returnSize = 8

func threadReturns(p *report.Page, t *answer.ThreadReturns) {
	if t.Returns == nil {
		return
	}
	if t.Current != "" {
		p.Printf("Current frame: %s\n", report.Escape(t.Current))
	}
	note := " (found by scan: each is a call that may have ended)"
	if p.SOS {
		note = ""
	}
	p.Printf("%-16s %-16s %s%s\n", "Child-SP", "RetAddr", "Caller, Callee", note)
	for r := range report.Each(p, t.Returns) {
		line := report.Hex16(r.Slot-returnSize) + " " + report.Hex16(r.IP) + " " + report.Escape(r.Method)
		if r.CalleeIn != "" {
			line += ", calling " + report.Escape(r.CalleeIn)
		}
		p.Printf("%s\n", strings.TrimRight(line, " "))
	}
}
