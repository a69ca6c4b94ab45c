package apptext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Hosts is the text of host.
func Hosts(p *report.Page, a *answer.Hosts) {
	if len(a.Hosts) == 0 {
		none(p, len(a.Noted()), "generic hosts")
		return
	}
	for i := range a.Verdicts {
		text.Verdict(p, &a.Verdicts[i])
	}
	for i := range a.Hosts {
		h := &a.Hosts[i]
		if i > 0 || len(a.Verdicts) > 0 {
			p.Print("\n")
		}
		p.Printf("Host %s: %s\n", report.Hex12(h.Address), report.Escape(h.State.String()))
		line := func(name, format string, args ...any) {
			p.Printf("    %-18s %s\n", name, report.Escape(fmt.Sprintf(format, args...)))
		}
		for _, f := range []struct {
			name string
			text answer.Text
		}{{"application", h.Application}, {"environment", h.Environment}, {"on exception", h.OnException}, {"shutdown timeout", h.ShutdownTimeout}} {
			if !f.text.IsZero() {
				line(f.name, "%s", f.text)
			}
		}
		for n := range h.Services {
			service(p, &h.Services[n])
		}
	}
}

// service writes a hosted service.
func service(p *report.Page, s *answer.HostedService) {
	state := s.State.String()
	if !s.Background {
		state = "-"
	}
	p.Printf("  %s %-11s %s\n", report.Hex12(s.Address), state, report.Escape(s.Type.String()))
	line := func(name, format string, args ...any) {
		p.Printf("      %-12s %s\n", name, report.Escape(fmt.Sprintf(format, args...)))
	}
	for _, e := range s.Exceptions {
		line("exception", "%s %s: %s", report.Hex12(e.Object), e.Type, e.Message)
	}
	if s.Stopping != nil {
		line("stopping", "the host waits for its StopAsync")
		stack(line, s.Stopping, false)
	}
}

// ServiceScopes is the text of services.
func ServiceScopes(p *report.Page, a *answer.ServiceScopes) {
	if len(a.Scopes) == 0 && a.Disposed == 0 {
		none(p, len(a.Noted()), "service scopes")
		return
	}
	for i := range a.Scopes {
		s := &a.Scopes[i]
		p.Printf("%s%s: will dispose %s%s\n", report.Hex12(s.Address), root(s), objects(s.Disposables), shared(s))
		for _, t := range s.Types {
			p.Printf("    %6d  %s %s%s\n", t.Count, report.Hex12(t.First), report.Escape(t.Type.String()), transients(s, &t))
		}
	}
	p.Printf("%s, and %d disposed\n", text.Count(uint64(len(a.Scopes)), "scope", "scopes"), a.Disposed)
}

// none reports that nothing of a kind was found, and whether some data is missing.
func none(p *report.Page, noted int, what string) {
	if noted > 0 {
		p.Printf("No %s found; some data could not be read.\n", what)
		return
	}
	p.Printf("No %s found.\n", what)
}

func root(s *answer.ServiceScope) string {
	if s.Root.Value {
		return " (root scope, lives as long as the provider)"
	}
	return ""
}

// shared returns how many scoped objects a scope shares. A root scope does not keep its singletons.
func shared(s *answer.ServiceScope) string {
	if s.Root.Value {
		return ""
	}
	return ", shares " + objects(s.Services)
}

func objects(n answer.Maybe[int64]) string {
	if n.Err == nil && n.Value == 1 {
		return "1 object"
	}
	return maybe(n) + " objects"
}

// transients returns how many objects of a type are transient. In a root scope one of them may be a singleton.
func transients(s *answer.ServiceScope, t *answer.DisposableType) string {
	switch {
	case s.Root.Value && t.Uncached > 1:
		return "  (accumulating transients, unless as many are registered)"
	case s.Root.Value || t.Uncached == 0:
		return ""
	}
	return fmt.Sprintf("  (%d transient)", t.Uncached)
}

// MemoryCaches is the text of caches.
func MemoryCaches(p *report.Page, a *answer.MemoryCaches) {
	if len(a.Caches) == 0 {
		none(p, len(a.Noted()), "memory caches")
		return
	}
	for i := range a.Caches {
		c := &a.Caches[i]
		p.Printf("%s %s entries", report.Hex12(c.Address), maybe(c.Count))
		if limit := c.Limit.Value; limit != nil {
			p.Printf(", size %s (limit %d)", maybe(c.Size), *limit)
		}
		p.Print("\n")
		t := p.Table(report.Column{Name: "Entry", Kind: report.Pointer}, report.Column{Name: "Size", Kind: report.Text}, report.Column{Name: "Bytes", Kind: report.Text},
			report.Column{Name: "Last access", Kind: report.Text, Width: 23}, report.Column{Name: "Value", Kind: report.Pointer}, report.Column{Name: "Key, type, expiration", Kind: report.Text})
		if len(c.Entries) > 0 {
			p.Fail(t.Header())
		}
		for n := range c.Entries {
			e := &c.Entries[n]
			p.Fail(t.Row(e.Address, size(e), bytes(e), accessed(e), e.Value, about(e)))
		}
		p.Fail(t.Flush())
	}
}

func size(e *answer.CacheEntry) string {
	if e.Size.Err != nil {
		return answer.Absent(e.Size.Err)
	}
	if e.Size.Value == nil {
		return ""
	}
	return fmt.Sprint(*e.Size.Value)
}

func bytes(e *answer.CacheEntry) string {
	if e.Value == 0 && e.Type.Err == nil {
		return ""
	}
	return maybe(e.Bytes)
}

func accessed(e *answer.CacheEntry) string {
	if e.Accessed.Err != nil {
		return answer.Absent(e.Accessed.Err)
	}
	return e.Accessed.Value.Format(sqlTime)
}

func about(e *answer.CacheEntry) string {
	parts := []string{e.Key}
	if t := e.Type.String(); t != "" {
		parts = append(parts, t)
	} else {
		parts = append(parts, "null")
	}
	if e.Expires != nil {
		parts = append(parts, "expires "+e.Expires.Format(sqlTime))
	}
	if e.Sliding != "" {
		parts = append(parts, "expires "+e.Sliding+" after the last access")
	}
	if e.Expired.Value {
		parts = append(parts, "expired")
	}
	return strings.Join(parts, ", ")
}

// DbContexts is the text of dbcontexts.
func DbContexts(p *report.Page, a *answer.DbContexts) {
	if len(a.Contexts) == 0 {
		none(p, len(a.Noted()), "contexts of Entity Framework Core")
		return
	}
	recorded := false
	for i := range a.Contexts {
		c := &a.Contexts[i]
		p.Printf("%s %s", report.Hex12(c.Address), report.Escape(c.Type.String()))
		switch {
		case missing(c.Disposed.Err):
			p.Printf(", disposed: %s", answer.Absent(c.Disposed.Err))
		case c.Disposed.Value:
			p.Print(", disposed")
		}
		if !c.Used && len(a.Noted()) > 0 {
			p.Print(": no use found; some data could not be read\n")
			continue
		}
		if !c.Used {
			p.Print(": unused\n")
			continue
		}
		p.Printf(": tracks %s", maybe(c.Tracked))
		if c.Changed.Err == nil {
			p.Printf(", %d changed", c.Changed.Value)
			recorded = true
		}
		p.Print("\n")
		for _, e := range c.Entities {
			p.Printf("    %6d  %s %-9s %s\n", e.Count, report.Hex12(e.First), e.State, report.Escape(e.Type.String()))
		}
	}
	p.Print(text.Count(uint64(len(a.Contexts)), "context", "contexts") + "\n")
	if recorded {
		p.Print("Changes are what EF Core has recorded: edits since its last DetectChanges are not counted.\n")
	}
}
