package apptext

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Messages is the text of dumphttp.
func Messages(p *report.Page, a *answer.Messages) {
	method, status := report.Column{Name: "Method", Kind: report.Text, Width: 6}, report.Column{Name: "StatusCode", Kind: report.Integer, Width: 10}
	if a.Counts != nil {
		p.Print("Statistics:\n")
		t := p.Table(report.Column{Name: "Count", Kind: report.Integer}, method, status, report.Column{Name: "Host", Kind: report.Text})
		p.Fail(t.Header())
		for i := range a.Counts {
			c := &a.Counts[i]
			p.Fail(t.Row(c.Count, c.Method, statusCell(c.Status), c.Host))
		}
	} else {
		t := p.Table(report.Column{Name: "Address", Kind: report.Pointer}, report.Column{Name: "MethodTable", Kind: report.Pointer}, method, status,
			report.Column{Name: "Uri", Kind: report.Text})
		p.Fail(t.Header())
		for i := range a.Requests {
			m := &a.Requests[i]
			p.Fail(t.Row(m.Address, m.MethodTable, m.Method.String(), statusCell(m.Status), m.URI.String()))
		}
	}
	if !p.SOS && a.Total == 0 && len(a.Noted()) > 0 {
		p.Print("No matching requests found; some data could not be read.\n")
		return
	}
	p.Printf("Total %d requests\n", a.Total)
}

func statusCell(n *int64) any {
	if n == nil {
		return ""
	}
	return *n
}

// HTTPClients is the text of httpclients: with stacks, with all frames of the async code.
func HTTPClients(p *report.Page, a *answer.HTTPClients, stacks bool) {
	if a.Clients+a.Handlers == 0 && len(a.Pools) == 0 && len(a.Noted()) > 0 {
		p.Print("No HttpClient found; some data could not be read.\n")
		return
	}
	p.Printf("%d HttpClient, %d SocketsHttpHandler, %s\n", a.Clients, a.Handlers, text.Count(uint64(len(a.Pools)), "connection pool", "connection pools"))
	for i := range a.Verdicts {
		p.Printf("%s [%s]\n", report.Escape(a.Verdicts[i].Text), a.Verdicts[i].Strength)
		for _, e := range a.Verdicts[i].Evidence {
			p.Printf("  - %s\n", report.Escape(e))
		}
	}
	for i := range a.List {
		if i == listedClients {
			p.Printf("  %s more; --json lists them\n", report.Commas(uint64(a.Clients-i)))
			break
		}
		client(p, &a.List[i])
	}
	for i := range a.Pools {
		pool(p, &a.Pools[i], stacks)
	}
}

// listedClients is how many HttpClients the text lists.
const listedClients = 20

func client(p *report.Page, c *answer.HTTPClient) {
	p.Printf("  HttpClient %s", report.Hex12(c.Address))
	if c.Name != "" {
		p.Printf(" (%s)", report.Escape(c.Name))
	}
	switch {
	case c.Handler.Err != nil:
		p.Printf(", handler %s", answer.Absent(c.Handler.Err))
	case c.Handler.Value != 0:
		p.Printf(", handler %s", report.Hex12(c.Handler.Value))
	}
	if c.Factory {
		p.Print(" of IHttpClientFactory")
	}
	if !c.Base.IsZero() {
		p.Printf(", base address %s", report.Escape(c.Base.String()))
	}
	if c.Timeout.Err == nil && c.Timeout.Value > 0 {
		p.Printf(", timeout %s", span(c.Timeout.Value))
	}
	if c.Used.Err == nil && !c.Used.Value {
		p.Print(", unused")
	}
	if c.Disposed.Value {
		p.Print(", disposed")
	}
	p.Print("\n")
}

// span formats milliseconds.
func span(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

func pool(p *report.Page, a *answer.HTTPPool, stacks bool) {
	p.Printf("\n%s %s", report.Hex12(a.Address), report.Escape(a.Host.String()))
	if a.Port.Err != nil || a.Port.Value != 0 {
		p.Printf(":%s", maybe(a.Port))
	}
	p.Printf(" (%s)", report.Escape(a.Kind.String()))
	if a.Disposed {
		p.Print(", disposed")
	}
	p.Printf("\n  connections %s, idle %s", maybe(a.Count), maybe(a.Idle))
	if a.Opening.Err == nil {
		p.Printf(", opening %d", a.Opening.Value)
	}
	if a.Max.Err == nil && a.Max.Value < unlimited {
		p.Printf(", at most %d", a.Max.Value)
	}
	if a.HTTP2.Err == nil && a.HTTP2.Value > 0 {
		p.Printf("; HTTP/2 %d", a.HTTP2.Value)
	}
	if a.HTTP3.Err == nil && a.HTTP3.Value > 0 {
		p.Printf("; HTTP/3 %d", a.HTTP3.Value)
	}
	p.Printf("; requests in flight %d, waiting for a connection %d\n", len(a.Running), len(a.Waiting))
	for i := range a.Running {
		wait(p, "in flight", &a.Running[i], stacks)
	}
	for i := range a.Waiting {
		wait(p, "waits", &a.Waiting[i], stacks)
	}
}

// unlimited is the number of connections that stands for no limit.
const unlimited = 1<<31 - 1

func maybe(n answer.Maybe[int64]) string {
	if n.Err != nil {
		return answer.Absent(n.Err)
	}
	return strconv.FormatInt(n.Value, 10)
}

func wait(p *report.Page, what string, w *answer.HTTPWait, stacks bool) {
	if w.Request == 0 {
		return
	}
	p.Printf("  %-10s %s %s %s", what, report.Hex12(w.Request), report.Escape(w.Method.String()), report.Escape(w.URI.String()))
	if w.Age.Err == nil {
		p.Printf(" (for at least %s", span(w.Age.Value))
		if w.Timeout.Err == nil {
			p.Printf(", of %s at most", span(w.Timeout.Value))
		}
		p.Print(")")
	}
	p.Print("\n")
	if w.Stack != nil {
		stack(func(name, format string, args ...any) {
			p.Printf("    %-9s %s\n", name, report.Escape(fmt.Sprintf(format, args...)))
		}, w.Stack, stacks)
	}
}

// WebSockets is the text of websockets: with stacks, with all frames of the async code.
func WebSockets(p *report.Page, a *answer.WebSockets, stacks bool) {
	if len(a.Sockets) == 0 {
		none(p, len(a.Noted()), "WebSockets")
		return
	}
	for i := range a.Sockets {
		s := &a.Sockets[i]
		p.Printf("%s %s\n", report.Hex12(s.Address), report.Escape(socket(s)))
		if s.Stack != nil {
			stack(func(name, format string, args ...any) {
				p.Printf("  %-10s %s\n", name, report.Escape(fmt.Sprintf(format, args...)))
			}, s.Stack, stacks)
		}
	}
}

// socket returns a WebSocket in words.
func socket(s *answer.WebSocket) string {
	side := "client side"
	if s.Server.Err != nil {
		side = "side " + answer.Absent(s.Server.Err)
	} else if s.Server.Value {
		side = "server side"
	}
	parts := []string{side, orUnknown(s.State.String())}
	if !s.Protocol.IsZero() {
		parts = append(parts, "protocol "+s.Protocol.String())
	}
	for _, state := range []struct {
		flag answer.Maybe[bool]
		text string
	}{{s.SentClose, "close frame sent"}, {s.ReceivedClose, "close frame received"}, {s.Disposed, "disposed"}} {
		if state.flag.Value {
			parts = append(parts, state.text)
		}
	}
	if why := strings.TrimSpace(s.CloseStatus.String() + " " + s.CloseText.String()); why != "" {
		parts = append(parts, "closed by the peer: "+why)
	}
	return strings.Join(parts, ", ")
}
