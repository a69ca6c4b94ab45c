package apptext

import (
	"fmt"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// GRPCCalls is the text of grpc: of the calls that are not done or, with all, of all; with stacks, with all frames of the async code.
func GRPCCalls(p *report.Page, a *answer.GRPCCalls, all, stacks bool) {
	if len(a.Calls) == 0 {
		none(p, len(a.Noted()), "gRPC calls")
		return
	}
	done := 0
	for i := range a.Calls {
		c := &a.Calls[i]
		if !all && c.Done.Err == nil && c.Done.Value {
			done++
			continue
		}
		p.Printf("%s %s\n", report.Hex12(c.Address), report.Escape(grpcCall(c)))
		if c.Stack != nil {
			stack(func(name, format string, args ...any) {
				p.Printf("  %-10s %s\n", name, report.Escape(fmt.Sprintf(format, args...)))
			}, c.Stack, stacks)
		}
	}
	if done > 0 {
		p.Printf("%d completed calls (-all lists them)\n", done)
	}
}

// grpcCall returns a call in words.
func grpcCall(c *answer.GRPCCall) string {
	verb, name := "sends", c.Method.String()
	if c.Server {
		verb = "answers"
	}
	if !c.URI.IsZero() {
		name = c.URI.String()
	}
	parts := []string{verb + " " + orUnknown(name)}
	if !c.Kind.IsZero() {
		parts = append(parts, c.Kind.String())
	}
	if who := c.Peer.String(); who != "" || c.Remote != "" {
		if who == "" {
			who = c.Remote
		}
		parts = append(parts, "for "+who)
	}
	if c.Deadline != nil {
		parts = append(parts, "deadline "+c.Deadline.Format(time.RFC3339))
	}
	if c.Attempt.Err == nil && c.Attempt.Value > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", c.Attempt.Value))
	}
	if c.Sent.Err == nil && c.Received.Err == nil {
		parts = append(parts, fmt.Sprintf("%d messages sent, %d received", c.Sent.Value, c.Received.Value))
	}
	switch {
	case c.Done.Err != nil:
		parts = append(parts, "done: "+answer.Absent(c.Done.Err))
	case c.Done.Value:
		parts = append(parts, strings.TrimSpace("done "+c.Status.String()))
		if !c.Detail.IsZero() {
			parts = append(parts, c.Detail.String())
		}
	}
	return strings.Join(parts, ", ")
}
