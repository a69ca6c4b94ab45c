package apptext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// DumpRequests is the text of dumprequests.
func DumpRequests(p *report.Page, a *answer.Requests) {
	n := 0
	t := p.Table(report.Column{Name: "Address", Kind: report.Pointer, Width: 7, Fit: true, Left: true}, report.Column{Name: "Method", Kind: report.Text, Fit: true},
		report.Column{Name: "Scheme", Kind: report.Text, Fit: true}, report.Column{Name: "Url", Kind: report.Text, Fit: true})
	for i := range a.Requests {
		r := &a.Requests[i]
		if r.Context == 0 {
			continue // SOS knows requests by their contexts
		}
		if n++; n == 1 {
			p.Fail(t.Header())
		}
		p.Fail(t.Row(r.Context, r.Method.String(), r.Scheme.String(), r.Path.String()+r.Query.String()))
	}
	if n == 0 {
		if !p.SOS && len(a.Noted()) > 0 {
			p.Print("No matching requests found; some data could not be read.\n")
		} else {
			p.Print("No requests found\n")
		}
		return
	}
	p.Fail(t.Flush())
	p.Printf("Found %d active requests\n", n)
}

func thread(t *answer.Worker) string {
	var s strings.Builder
	if t.Index != nil {
		fmt.Fprintf(&s, "%d", *t.Index)
	}
	fmt.Fprintf(&s, " (managed %d, OS %x)", t.ManagedID, t.OSID)
	if t.Name != "" {
		s.WriteString(" " + answer.Quote(t.Name))
	}
	if t.Does != "" {
		s.WriteString(": " + t.Does)
	}
	if !t.Method.IsZero() {
		s.WriteString(", in " + t.Method.String())
	}
	return strings.TrimSpace(s.String())
}

// stack returns what async code waits for: the methods of the program, or the outermost if none is, or all frames.
func stack(s *answer.AsyncWork, all bool) []report.Line {
	var lines []report.Line
	if !s.Reason.IsZero() {
		lines = append(lines, report.Line{Label: "waits for", Text: s.Reason.String()})
	}
	label, last := "async", ""
	for i := range s.Frames {
		f := &s.Frames[i]
		last = frame(f, all)
		if last == "" || !all && answer.LibraryMethod(f.Method.String()) {
			continue
		}
		lines = append(lines, report.Line{Label: label, Text: last})
		label = ""
	}
	if label != "" && last != "" {
		lines = append(lines, report.Line{Label: label, Text: last})
	}
	return lines
}

// frame returns the line of a frame; empty for what is no method, unless all are wanted.
func frame(f *answer.AsyncFrame, all bool) string {
	if f.Method.IsZero() {
		if !all {
			return ""
		}
		return report.Hex12(f.Object) + " " + f.AsyncName.Name.String()
	}
	at := f.Method.String()
	if all {
		at = report.Hex12(f.Object) + " " + at
	}
	if !f.Await.IsZero() {
		at += " awaits " + f.Await.String()
	}
	if f.Line > 0 {
		at += fmt.Sprintf(" [%s @ %d]", f.File, f.Line)
	}
	return at
}
