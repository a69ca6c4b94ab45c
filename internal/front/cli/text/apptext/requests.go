package apptext

import (
	"fmt"
	"slices"
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

// Requests is the text of requests: with stacks, with all frames of the async code.
func Requests(p *report.Page, a *answer.Requests, stacks bool) {
	if a.Now != nil && slices.ContainsFunc(a.Requests, func(r answer.Request) bool { return r.Age != "" }) {
		p.Printf("Ages as of %s (%s).\n\n", a.Now.Format("2006-01-02 15:04:05 MST"), a.Clock)
	}
	for i := range a.Requests {
		request(p, &a.Requests[i], stacks)
	}
	switch n := len(a.Requests); {
	case n == 1:
		p.Print("1 request\n")
	case n > 0:
		p.Printf("%d requests\n", n)
	case len(a.Noted()) > 0:
		p.Print("No matching requests found; some data could not be read.\n")
	case a.Others > 0:
		p.Printf("None of the %d requests matches; \"requests\" lists them.\n", a.Others)
	default:
		p.Print("No requests.\n")
	}
}

func request(p *report.Page, r *answer.Request, stacks bool) {
	p.Printf("%s %s\n", report.Escape(orUnknown(r.Method.String())), report.Escape(url(r)))
	line := func(name, format string, args ...any) {
		p.Printf("  %-10s %s\n", name, report.Escape(fmt.Sprintf(format, args...)))
	}
	line("state", "%s", state(r))
	switch {
	case r.Started != nil && r.Age != "":
		line("since", "%s (%s)", r.Started.Format("2006-01-02 15:04:05.000 MST"), r.Age)
	case r.Started != nil:
		line("since", "%s", r.Started.Format("2006-01-02 15:04:05.000 MST"))
	}
	if r.Context != 0 {
		line("context", "%s", report.Hex12(r.Context))
	}
	if from := from(r); from != "" {
		line("from", "%s", from)
	}
	if !r.Route.IsZero() || !r.Endpoint.IsZero() {
		line("route", "%s", strings.TrimSpace(r.Route.String()+"  "+r.Endpoint.String()))
	}
	if !r.User.IsZero() {
		line("user", "%s", r.User)
	}
	if !r.ID.IsZero() {
		line("id", "%s", r.ID)
	}
	if r.Trace != nil {
		trace := r.Trace.Trace.String()
		if trace == "" {
			trace = r.Trace.ID.String()
		}
		line("trace", "%s", strings.TrimSpace(trace+" "+r.Trace.Operation.String()))
	}
	for i := range r.Causes {
		name := "threw"
		if i > 0 {
			name = "caused by"
		}
		e := &r.Causes[i]
		line(name, "%s %s%s", report.Hex12(e.Object), e.Type, messageOf(e))
	}
	for _, h := range r.Headers {
		line("header", "%s: %s", h.Name, h.Value)
	}
	for _, s := range r.Scopes {
		line("scope", "%s", s)
	}
	for i := range r.Threads {
		line("thread", "%s", thread(&r.Threads[i]))
	}
	if r.Stack != nil {
		stack(line, r.Stack, stacks)
	}
	p.Print("\n")
}

// url returns the URL of a request.
func url(r *answer.Request) string {
	s := r.PathBase.String() + r.Path.String() + r.Query.String()
	if host := r.Host.String(); host != "" {
		s = r.Scheme.String() + "://" + host + s
	}
	return orUnknown(s)
}

func orUnknown(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

// state returns what the server is about.
func state(r *answer.Request) string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	add(strings.TrimSpace(r.Server + " " + r.Protocol.String()))
	add(r.State)
	if r.Begun && r.Status.Err == nil && r.Status.Value != 0 {
		add(fmt.Sprintf("status %d", r.Status.Value))
	}
	if r.Upgraded {
		add("upgraded to WebSocket or another protocol")
	}
	if r.Aborted {
		add("client disconnected")
	}
	return strings.Join(parts, ", ")
}

// from returns who a request is from, and by which connection it came.
func from(r *answer.Request) string {
	s := r.Remote
	if r.Local != "" {
		s += " to " + r.Local
	}
	if !r.Conn.IsZero() {
		s += ", connection " + r.Conn.String()
	}
	return s
}

func thread(t *answer.Worker) string {
	var s strings.Builder
	if t.Index != nil {
		fmt.Fprintf(&s, "%d", *t.Index)
	}
	fmt.Fprintf(&s, " (managed %d, OS %x)", t.ManagedID, t.OSID)
	if t.Name != "" {
		fmt.Fprintf(&s, " %q", t.Name)
	}
	if t.Does != "" {
		s.WriteString(": " + t.Does)
	}
	if !t.Method.IsZero() {
		s.WriteString(", in " + t.Method.String())
	}
	return strings.TrimSpace(s.String())
}

// stack writes what async code waits for: the methods of the program, or the outermost if none is, or all frames.
func stack(line func(string, string, ...any), s *answer.AsyncWork, all bool) {
	if !s.Reason.IsZero() {
		line("waits for", "%s", s.Reason)
	}
	name, last := "async", ""
	for i := range s.Frames {
		f := &s.Frames[i]
		last = frame(f, all)
		if last == "" || !all && answer.LibraryMethod(f.Method.String()) {
			continue
		}
		line(name, "%s", last)
		name = ""
	}
	if name != "" && last != "" {
		line(name, "%s", last)
	}
}

// frame returns the line of a frame; empty for what is no method, unless all are wanted.
func frame(f *answer.AsyncFrame, all bool) string {
	if f.AsyncPlace == nil {
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

// messageOf returns the message of an exception behind its type, or nothing.
func messageOf(e *answer.TaskException) string {
	if e.Message.IsZero() {
		return ""
	}
	return ": " + e.Message.String()
}
