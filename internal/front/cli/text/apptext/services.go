package apptext

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// SignalR is the text of signalr.
func SignalR(p *report.Page, a *answer.SignalR) {
	if len(a.Hubs)+len(a.Circuits) == 0 {
		none(p, len(a.Noted()), "SignalR hubs")
		return
	}
	for i := range a.Hubs {
		hub(p, &a.Hubs[i])
	}
	for i := range a.Circuits {
		c := &a.Circuits[i]
		p.Printf("circuit %s %s%s\n", report.Hex12(c.Address), report.Escape(c.ID.String()), report.Escape(circuitState(c)))
	}
}

func hub(p *report.Page, h *answer.SignalRHub) {
	users := map[string]int{}
	for i := range h.Connections {
		if u := h.Connections[i].User.S; u != "" {
			users[u]++
		}
	}
	p.Printf("%s %s: %s, %s, %s\n", report.Hex12(h.Address), report.Escape(h.Hub.String()), text.Count(uint64(len(h.Connections)+h.More), "connection", "connections"),
		text.Count(uint64(len(users)), "user", "users"), text.Count(uint64(len(h.Groups)), "group", "groups"))
	for i := range h.Connections {
		c := &h.Connections[i]
		parts := []string{c.ID.String()}
		if c.User.S != "" {
			parts = append(parts, "user "+c.User.S)
		}
		if !c.Protocol.IsZero() {
			parts = append(parts, c.Protocol.String())
		}
		if c.Aborted.Value {
			parts = append(parts, "aborted")
		}
		if c.Waiting.Value > 0 {
			parts = append(parts, text.Count(uint64(c.Waiting.Value), "message waits", "messages wait")+" to be written")
		}
		p.Printf("  %s %s\n", report.Hex12(c.Address), report.Escape(strings.Join(parts, ", ")))
	}
	groups := slices.Clone(h.Groups)
	slices.SortStableFunc(groups, func(a, b answer.SignalRGroup) int { return cmp.Compare(b.Connections.Value, a.Connections.Value) })
	for i := range groups {
		p.Printf("  group %s: %s\n", report.Escape(groups[i].Name.String()), maybe(groups[i].Connections))
	}
}

func circuitState(c *answer.BlazorCircuit) string {
	var out string
	switch {
	case c.Connected.Err == nil && c.Connected.Value:
		out = ", connection " + c.Connection.String()
	case c.Connected.Err == nil:
		out = ", disconnected"
	}
	if c.Disposed.Value {
		out += ", disposed"
	}
	return out
}

// Redis is the text of redis.
func Redis(p *report.Page, a *answer.Redis) {
	if len(a.Multiplexers) == 0 {
		none(p, len(a.Noted()), "multiplexers of StackExchange.Redis")
		return
	}
	for i := range a.Verdicts {
		p.Printf("%s [%s]\n", report.Escape(a.Verdicts[i].Text), a.Verdicts[i].Strength)
	}
	for i := range a.Multiplexers {
		m := &a.Multiplexers[i]
		p.Printf("%s ConnectionMultiplexer", report.Hex12(m.Address))
		if m.SyncTimeouts.Err == nil && m.AsyncTimeouts.Err == nil {
			p.Printf(", timeouts so far %d synchronous, %d asynchronous", m.SyncTimeouts.Value, m.AsyncTimeouts.Value)
		}
		if m.Disposed.Value {
			p.Print(", disposed")
		}
		p.Print("\n")
		for n := range m.Connections {
			c := &m.Connections[n]
			p.Printf("  %s %s: %s, to be sent %s, sent and unanswered %s\n", report.Hex12(c.Address), report.Escape(c.Name.String()), report.Escape(c.State.String()),
				maybe(c.Backlog.Count), maybe(c.Sent.Count))
			for _, q := range []*answer.RedisQueue{&c.Backlog, &c.Sent} {
				if q.First == 0 {
					continue
				}
				p.Printf("    first %s %s", report.Hex12(q.First), report.Escape(q.Command.String()))
				if q.Since != nil {
					p.Printf(", since %s", q.Since.Format(sqlTime))
				}
				p.Print("\n")
			}
		}
	}
}

// ObjectPools is the text of objectpools.
func ObjectPools(p *report.Page, a *answer.ObjectPools) {
	if len(a.Pools) == 0 {
		none(p, len(a.Noted()), "pools of Microsoft.Extensions.ObjectPool")
		return
	}
	t := p.Table(report.Column{Name: "Address", Kind: report.Pointer}, report.Column{Name: "Kept", Kind: report.Text, Width: 6}, report.Column{Name: "Most", Kind: report.Text, Width: 6},
		report.Column{Name: "Objects", Kind: report.Text})
	p.Fail(t.Header())
	for i := range a.Pools {
		o := &a.Pools[i]
		of := o.Of.String()
		if o.Name != "" {
			of = fmt.Sprintf("%s (%s)", of, o.Name)
		}
		p.Fail(t.Row(o.Address, maybe(o.Retained), maybe(o.Max), of))
	}
}

// Queues is the text of queues.
func Queues(p *report.Page, a *answer.Queues) {
	if len(a.Queues) == 0 {
		none(p, len(a.Noted()), "queues of Serilog or MassTransit")
		return
	}
	for i := range a.Queues {
		q := &a.Queues[i]
		p.Printf("%s %s", report.Hex12(q.Address), report.Escape(q.Type.String()))
		if !q.Name.IsZero() {
			p.Printf(" (%s)", report.Escape(q.Name.String()))
		}
		sep := ": "
		for _, f := range []struct {
			name string
			n    answer.Maybe[int64]
		}{{"queued", q.Items}, {"of at most", q.Capacity}, {"dropped so far", q.Dropped}, {"being consumed", q.Active}, {"at most so far", q.Most}, {"handed out so far", q.Begun}} {
			if kept(f.n) {
				p.Printf("%s%s %s", sep, f.name, maybe(f.n))
				sep = ", "
			}
		}
		if q.Blocks.Err == nil && q.Blocks.Value {
			p.Print("; who logs waits while it is full")
		}
		p.Print("\n")
	}
}
