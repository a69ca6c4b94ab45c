package apptext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// sessionText bounds the characters of a value that are written; the document has them all.
const sessionText = 128

// Sessions is the text of sessions.
func Sessions(p *report.Page, a *answer.Sessions, values bool) {
	for i := range a.Stores {
		s := &a.Stores[i]
		p.Printf("store %s %s: ", report.Hex12(s.Address), report.Escape(s.Type.String()))
		if !s.Here {
			p.Print("sessions rest outside of the process; those between two requests are not in the dump\n")
			continue
		}
		p.Printf("%s sessions rest here", maybe(*s.Sessions))
		if s.Others.Err == nil && s.Others.Value > 0 {
			p.Printf(", and %s that are no sessions", text.Count(uint64(s.Others.Value), "entry", "entries"))
		}
		p.Print("\n")
	}
	if len(a.Sessions) == 0 {
		none(p, len(a.Noted()), "sessions")
		return
	}
	users(p, a)
	for i := range a.Sessions {
		session(p, &a.Sessions[i], values)
	}
}

// users is the table of users.
func users(p *report.Page, a *answer.Sessions) {
	columns := []report.Column{{Name: "Sessions", Kind: report.Integer}, {Name: "Requests", Kind: report.Integer}, {Name: "Bytes", Kind: report.Integer}}
	if a.Retained != nil {
		columns = append(columns, report.Column{Name: "Retained", Kind: report.Integer})
	}
	t := p.Table(append(columns, report.Column{Name: "User", Kind: report.Text})...)
	p.Fail(t.Header())
	for i := range a.Users {
		u := &a.Users[i]
		cells := []any{uint64(u.Sessions), uint64(u.Requests), uint64(u.Bytes)}
		if u.Retained != nil {
			cells = append(cells, uint64(*u.Retained))
		}
		name := u.User.String()
		if name == "" {
			name = "(no name)"
		}
		p.Fail(t.Row(append(cells, name)...))
	}
	p.Fail(t.Flush())
}

// session is one session.
func session(p *report.Page, s *answer.Session, values bool) {
	p.Printf("session %s, %s", report.Escape(s.Key.String()), text.Count(uint64(s.Bytes), "byte", "bytes"))
	if s.Retained != nil {
		p.Printf(", retains %s", text.Count(uint64(*s.Retained), "byte", "bytes"))
	}
	if s.User.S != "" {
		from := "of the request"
		if name, ok := strings.CutPrefix(s.UserFrom, "value "); ok {
			from = "by its value " + name
		}
		p.Printf(", user %s (%s)", report.Escape(s.User.S), report.Escape(from))
	}
	p.Print("\n")
	for i := range s.Live {
		l := &s.Live[i]
		p.Printf("  %s %s", report.Hex12(l.Address), report.Escape(l.State.String()))
		if l.Request == 0 {
			p.Print(", of no request")
		} else {
			p.Printf(", request %s %s %s", report.Hex12(l.Request), report.Escape(l.Method.String()), report.Escape(l.Path.String()))
		}
		if l.New.Value {
			p.Print(", new")
		}
		p.Print("\n")
	}
	if r := s.Rests; r != nil {
		p.Printf("  %s at rest, %s", report.Hex12(r.Entry), text.Count(uint64(r.Bytes), "byte", "bytes"))
		if r.Accessed.Err == nil {
			p.Printf(", last access %s", r.Accessed.Value.Format(sqlTime))
		}
		if r.Sliding != "" {
			p.Printf(", expires %s after the last access", r.Sliding)
		}
		if r.Expires != nil {
			p.Printf(", expires %s", r.Expires.Format(sqlTime))
		}
		p.Print("\n")
	}
	if len(s.Values) == 0 {
		return
	}
	var names []string
	for i := range s.Values {
		v := &s.Values[i]
		if values {
			p.Printf("    %s = %s (%s)\n", report.Escape(v.Name), report.Escape(report.CutEnd(v.Text, sessionText)), text.Count(uint64(v.Bytes), "byte", "bytes"))
		}
		names = append(names, fmt.Sprintf("%s (%d)", v.Name, v.Bytes))
	}
	if !values {
		p.Printf("    values: %s\n", report.Escape(strings.Join(names, ", ")))
	}
	if s.MoreValues > 0 {
		p.Printf("    and %s\n", text.Count(uint64(s.MoreValues), "other value", "other values"))
	}
}
