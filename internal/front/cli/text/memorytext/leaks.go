package memorytext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Leaks is the text of leaks.
func Leaks(p *report.Page, l *answer.Leaks) {
	heapParts(p, l.Live, l.Garbage, l.Frozen, l.Incomplete)
	for i := range l.Verdicts {
		p.Printf("%s\n", report.Escape(l.Verdicts[i].Text))
	}
	switch {
	case l.Small && len(l.Suspects) > 0:
		p.Print("\nLargest holders of live memory (possibly normal):\n")
	case len(l.Suspects) > 0 && l.Suspects[0].Verdict == answer.VerdictSuspect:
		p.Print("\nSuspects:\n")
	}
	minor := l.Small
	for i := range l.Suspects {
		s := &l.Suspects[i]
		if s.Verdict != answer.VerdictSuspect && !minor {
			minor = true
			p.Print("\nSmaller, not suspects by size:\n")
		}
		p.Printf("\n%d. ", i+1)
		suspect(p, s)
	}
	if l.More > 0 {
		p.Printf("\n... and %s more\n", report.Commas(uint64(l.More)))
	}
	finalization(p, &l.Finalizers)
	for i := range l.Unknown {
		u := &l.Unknown[i]
		p.Printf("\nnot examined: %s objects of %s: %s\n", report.Commas(u.Objects), report.Escape(u.Type.String()), report.Escape(u.Reason))
	}
}

// suspect writes a suspect's title, holders and contents.
func suspect(p *report.Page, s *answer.Suspect) {
	p.Printf("%s: %s bytes, %s of live memory\n", report.Escape(s.Text), report.Commas(s.Retained), report.Percent(s.Share))
	if m := s.Members; m != nil && s.Kind == answer.SuspectAccumulation {
		p.Printf("   %s %s retain %s bytes of that.\n", report.Commas(m.Count), report.Escape(m.Type.String()), report.Commas(m.Size))
	}
	for i := range s.Locals {
		l := &s.Locals[i]
		p.Printf("   In the execution contexts of %s of them: AsyncLocal %s (%s bytes retained)\n", report.Commas(l.Count), report.Escape(l.Name), report.Commas(l.Retained))
	}
	for i := range s.Targets {
		t := &s.Targets[i]
		p.Printf("   %s: %s %s (%s bytes retained)\n", targetWords[s.Kind], report.Commas(t.Count), report.Escape(t.Type.String()), report.Commas(t.Size))
	}
	if s.Kind == answer.SuspectGroup {
		groupHolders(p, s)
	}
	if !s.Kept.IsZero() && (s.Point != nil || len(s.Holders) == 0) && s.Kind != answer.SuspectThreadStatic && s.Kind != answer.SuspectThreadLocal {
		p.Printf("   %s\n", report.Escape(s.Kept.Text))
	}
	for _, says := range []answer.Statement{s.Turnover, s.Ends} {
		if !says.IsZero() {
			p.Printf("   %s\n", report.Escape(says.Text))
		}
	}
	if !s.Chain.IsZero() {
		p.Printf("   %s\n", report.Escape(s.Chain.Text))
	}
	if s.Path != nil {
		what := "Held by"
		if s.Point == nil {
			what = "One is held by"
		}
		p.Printf("   %s %s\n", what, report.Escape(rootName(&s.Path.Root)))
		steps(p, s.Path.Objects)
	}
	if !s.Remedy.IsZero() {
		p.Printf("   %s\n", s.Remedy.Text)
	}
	if len(s.Types) > 1 || len(s.Types) == 1 && s.Types[0].Count > 1 {
		var list []string
		for i := range s.Types {
			t := &s.Types[i]
			list = append(list, fmt.Sprintf("%s %s (%s)", report.Commas(t.Count), report.Escape(t.Type.String()), report.Commas(t.Size)))
		}
		p.Printf("   Most of the bytes: %s\n", strings.Join(list, ", "))
	}
}

// targetWords label the targets of each kind of suspect.
var targetWords = map[answer.SuspectKind]string{
	answer.SuspectEvent:        "Handler targets",
	answer.SuspectTimers:       "State",
	answer.SuspectCancellation: "Callback targets and state",
	answer.SuspectRootScope:    "Including",
}

func typeOf(o *answer.PathObject) string { return report.Escape(o.Type.String()) }

func groupHolders(p *report.Page, s *answer.Suspect) {
	if len(s.Holders)+len(s.Others) > 1 {
		p.Print("   Each of these holders must release them:\n")
	}
	for i := range s.Holders {
		h := &s.Holders[i]
		name := report.Escape(h.Root.String())
		if h.Object != nil {
			name = fmt.Sprintf("one %s at %s", typeOf(h.Object), report.Hex12(h.Object.Address))
		}
		p.Printf("   %s (of %s sampled) are referenced by %s\n", report.Percent(h.Share), report.Commas(uint64(h.Sampled)), name)
		if !h.Remedy.IsZero() {
			p.Printf("   %s\n", h.Remedy.Text)
		}
		if h.Path != nil {
			p.Printf("   Held by %s\n", report.Escape(rootName(&h.Path.Root)))
			steps(p, h.Path.Objects)
		}
	}
	if len(s.Holders)+len(s.Others) == 0 {
		p.Print("   No object references most of them.\n")
	}
	for i := range s.Others {
		o := &s.Others[i]
		p.Printf("   %s are referenced by %s %s%s\n", report.Percent(o.Share), report.Commas(o.Count), report.Escape(o.Type.String()), together(o.Count))
		if o.Path != nil {
			p.Printf("   One of these is held by %s\n", report.Escape(rootName(&o.Path.Root)))
			steps(p, o.Path.Objects)
		}
	}
}

// together describes several referrers, none a holder alone.
func together(referrers uint64) string {
	if referrers == 1 {
		return ""
	}
	return " together, by none of them alone"
}

func finalization(p *report.Page, f *answer.Finalization) {
	if f.Ready > 0 {
		p.Printf("\nReady for finalization (not disposed): %s\n", report.Count(f.Ready, "object", "objects"))
		finalizable(p, f.ReadyTypes)
		for _, r := range f.Running {
			p.Printf("   The finalizer thread is in %s: the rest waits until it returns.\n", report.Escape(r.String()))
		}
	}
	if f.Dead > 0 {
		p.Printf("\nUnreachable, awaiting finalization (not disposed): %s\n", report.Count(f.Dead, "object", "objects"))
		finalizable(p, f.DeadTypes)
	}
}

func finalizable(p *report.Page, list []answer.TypeCount) {
	for i := range list {
		t := &list[i]
		p.Printf("   %s %s (%s bytes retained)\n", report.Commas(t.Count), report.Escape(t.Type.String()), report.Commas(t.Size))
	}
}
