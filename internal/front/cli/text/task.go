package text

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TaskState is the text of a task's state, one fact per line.
func TaskState(p *report.Page, s *answer.TaskState) {
	p.Printf("%s", s.Status)
	if len(s.Names) > 0 {
		p.Printf(" (%s)", strings.Join(s.Names, ", "))
	}
	p.Print("\n")
	if s.ID.Err() == nil && s.ID.Value != 0 {
		p.Printf("id %d\n", s.ID.Value)
	}
	if s.Result != "" {
		p.Printf("result: %s\n", report.Escape(s.Result))
	}
	for i := range s.Exceptions {
		x := &s.Exceptions[i]
		p.Printf("%s %s: %s\n", report.Hex12(x.Object), report.Escape(x.Type.String()), report.Escape(x.Message.String()))
	}
	switch {
	case s.Observed:
		p.Print("exception observed\n")
	case len(s.Exceptions) > 0:
		p.Print("exception not observed\n")
	}
	if s.CancellationSource != 0 {
		p.Printf("cancellation token of %s\n", report.Hex12(s.CancellationSource))
	}
	if s.Task != 0 {
		taskWaits(p, s)
	}
}

// taskWaits writes what a task waits for, and what awaits it.
func taskWaits(p *report.Page, s *answer.TaskState) {
	what := "task of"
	if s.ID.Err() != nil {
		what = "async method"
	}
	p.Printf("%s %s\n", what, report.Escape(s.Name.String()))
	if s.At != nil {
		taskPlace(p, s.At)
	}
	for i := range s.Suspended {
		taskPlace(p, &s.Suspended[i])
	}
	switch {
	case s.WaitsOn != nil:
		p.Printf("waits for %s\n", taskLink(s.WaitsOn))
	case !s.WaitsFor.IsZero():
		p.Printf("waits for %s\n", report.Escape(s.WaitsFor.String()))
	}
	for i := range s.Then {
		p.Printf("awaited by %s\n", taskLink(&s.Then[i]))
	}
}

func taskPlace(p *report.Page, at *answer.AsyncPlace) {
	if at.Method.IsZero() {
		return
	}
	p.Printf("at %s", report.Escape(at.Method.String()))
	if !at.Await.IsZero() && at.Await.Err == nil {
		p.Printf(" awaits %s", report.Escape(at.Await.String()))
	}
	if at.File != "" {
		p.Printf(" [%s @ %d]", report.Escape(at.File), at.Line)
	}
	p.Print("\n")
}

func taskLink(l *answer.TaskLink) string {
	out := report.Hex12(l.Object) + " " + report.Escape(l.Name.String())
	if l.Status != "" {
		out += ", " + string(l.Status)
	}
	if l.Meaning != "" {
		out += ": " + l.Meaning
	}
	if l.Element {
		out += ": waits for the next element"
	}
	return out
}
