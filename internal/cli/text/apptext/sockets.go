package apptext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

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
