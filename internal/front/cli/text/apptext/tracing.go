package apptext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// EventSources is the text of eventsources.
func EventSources(p *report.Page, a *answer.EventSources) {
	if a.Sessions.Err == nil {
		p.Printf("%s of EventPipe\n", text.Count(uint64(a.Sessions.Value), "session", "sessions"))
	}
	if len(a.Sources) == 0 {
		none(p, len(a.Noted()), "event sources")
		return
	}
	named := map[string]bool{}
	quiet, disposed := 0, 0
	for i := range a.Sources {
		e := &a.Sources[i]
		if e.Disposed.Value {
			disposed++
			continue
		}
		if e.Enabled.Err == nil && !e.Enabled.Value && e.Failure.IsZero() {
			quiet++
			continue
		}
		named[e.Name.S] = true
		source(p, e)
	}
	for i := range a.Providers {
		r := &a.Providers[i]
		if len(r.Sessions) > 0 && !named[r.Name] {
			p.Printf("%s %s: EventPipe at %s%s\n", report.Hex12(r.Address), report.Escape(r.Name), level(answer.Known(r.Level), answer.Known(r.Keywords)), sessions(r.Sessions))
		}
	}
	p.Printf("%s that nobody listens to, %d disposed\n", text.Count(uint64(quiet), "source", "sources"), disposed)
}

func source(p *report.Page, e *answer.EventSource) {
	p.Printf("%s %s (%s)", report.Hex12(e.Address), report.Escape(e.Name.String()), report.Escape(e.Type.String()))
	switch {
	case !e.Failure.IsZero():
		p.Printf(": its constructor threw %s", report.Escape(e.Failure.String()))
	case e.Enabled.Err != nil:
		p.Printf(": %s", answer.Absent(e.Enabled.Err))
	default:
		p.Printf(": level %s, %s", report.Escape(e.Level.String()), keywords(e.Keywords))
	}
	p.Print("\n")
	for i := range e.Listeners {
		l := &e.Listeners[i]
		p.Printf("  listener %s %s: kinds of events: %s\n", report.Hex12(l.Address), report.Escape(l.Type.String()), maybe(l.Events))
	}
	for _, f := range []struct {
		name string
		side *answer.EventProvider
	}{{"EventPipe", e.EventPipe}, {"ETW", e.ETW}} {
		if s := f.side; s != nil && (s.Enabled.Err != nil || s.Enabled.Value) {
			p.Printf("  %s at %s%s\n", f.name, level(s.Level, s.Keywords), sessions(s.Sessions.Value))
		}
	}
	if c := e.Counters; c != nil && c.Millis.Err == nil && c.Millis.Value > 0 {
		p.Printf("  counters: %s, read every %s s\n", maybe(c.Count), strconv.FormatFloat(float64(c.Millis.Value)/1000, 'f', -1, 64))
	}
}

func level(n answer.Maybe[int64], k answer.Maybe[answer.Hex]) string {
	return fmt.Sprintf("level %s, %s", maybe(n), keywords(k))
}

func keywords(k answer.Maybe[answer.Hex]) string {
	switch {
	case k.Err != nil:
		return "keywords " + answer.Absent(k.Err)
	case k.Value == 0:
		return "all keywords"
	}
	return fmt.Sprintf("keywords %#x", uint64(k.Value))
}

func sessions(list answer.EventSessions) string {
	if len(list) == 0 {
		return ""
	}
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = strconv.Itoa(n)
	}
	return ", session " + strings.Join(names, ", ")
}
