package processtext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// mostFindings is how many findings have their evidence, so that they fit on a screen. The others, up to mostListed, have a line each.
const (
	mostFindings = 8
	mostListed   = 100
)

// Triage is the text of triage: the findings, what was looked at without one, and what could not be looked at.
func Triage(p *report.Page, t *answer.Triage) {
	partly := func(u answer.TriageAbsent) bool { return u.Partly }
	nothing := len(t.Findings) == 0 && len(t.Quiet) == 0 && !slices.ContainsFunc(t.Unknown, partly)
	if !nothing {
		incomplete(p, t)
	}
	switch n := len(t.Findings); {
	case nothing:
		p.Print("Nothing could be looked at.\n")
	case n == 0 && len(t.Unknown) > 0:
		p.Print("Nothing wrong was found in what could be looked at.\n")
	case n == 0:
		p.Print("Nothing wrong was found.\n")
	case n == 1:
		p.Print("1 finding:\n")
	default:
		p.Printf("%d findings, the most severe first:\n", n)
	}
	for i := range t.Findings[:min(len(t.Findings), mostFindings)] {
		p.Print("\n")
		finding(p, fmt.Sprintf("%d. ", i+1), &t.Findings[i])
	}
	for i := mostFindings; i < min(len(t.Findings), mostListed); i++ {
		if i == mostFindings {
			p.Print("\n")
		}
		headline(p, fmt.Sprintf("%d. ", i+1), &t.Findings[i])
	}
	if n := len(t.Findings) - mostListed; n > 0 {
		p.Printf("... and %d more: --json lists all\n", n)
	}
	p.Print("\n")
	if len(t.Quiet) > 0 {
		labelled(p, "Nothing found:", strings.Join(t.Quiet, ", "))
	}
	absences(p, t.Unknown)
}

// incomplete begins the page with what was not looked at, if that is at least half.
func incomplete(p *report.Page, t *answer.Triage) {
	unknown, looked := 0, len(t.Quiet)
	for i := range t.Unknown {
		switch u := &t.Unknown[i]; {
		case u.Moving:
			looked++
		case u.Err != nil:
			unknown++
		}
	}
	kinds := map[answer.FindingKind]bool{}
	for i := range t.Findings {
		kinds[t.Findings[i].Kind] = true
	}
	if all := unknown + looked + len(kinds); unknown > 0 && 2*unknown >= all {
		p.Printf("Incomplete: %d of about %d subjects were not looked at, or only in part: the end of this page says why.\n", unknown, all)
	}
}

// absences lists what could not be looked at, each reason and each advice once.
func absences(p *report.Page, list []answer.TriageAbsent) {
	var reasons, advice []string
	for i := range list {
		u := &list[i]
		key := fmt.Sprint(u.Partly, u.Reason)
		if slices.Contains(reasons, key) {
			continue
		}
		reasons = append(reasons, key)
		subjects := []string{u.Subject}
		for _, o := range list[i+1:] {
			if fmt.Sprint(o.Partly, o.Reason) == key {
				subjects = append(subjects, o.Subject)
			}
		}
		label := "Not looked at:"
		if u.Partly {
			label = "Partly read:"
		}
		labelled(p, label, strings.Join(subjects, ", ")+": "+report.Escape(u.Reason))
		if u.Settles != "" && !slices.Contains(advice, u.Settles) {
			advice = append(advice, u.Settles)
		}
	}
	for _, a := range advice {
		if !slices.ContainsFunc(advice, func(more string) bool { return more != a && strings.HasPrefix(more, a) }) { // the longer one says it, too
			labelled(p, "What would help:", report.Escape(a))
		}
	}
}

// labelled writes a sentence behind a label.
func labelled(p *report.Page, label, text string) { p.Sentence(fmt.Sprintf("%-16s ", label), 17, text) }

// headline writes a finding on a line.
func headline(p *report.Page, first string, f *answer.Finding) {
	kind := fmt.Sprintf("%s (%s)", strings.ToUpper(string(f.Kind)), f.Severity)
	p.Sentence(first, 5, fmt.Sprintf("%s: %s [%s]", p.Severe(f.Severity, kind), report.Escape(f.Text), f.Strength))
}

// Finding writes a finding, its evidence and the next commands.
func Finding(p *report.Page, f *answer.Finding) { finding(p, "", f) }

func finding(p *report.Page, first string, f *answer.Finding) {
	headline(p, first, f)
	shown := 0
	for i := range f.Clauses {
		c := &f.Clauses[i]
		if i < mostClauses && !f.Repeats(c) {
			count := ""
			if c.Count > 1 && !(len(c.Args) > 0 && c.Args[0].Start == 0 && c.Args[0].Type == answer.ArgCount) {
				count = fmt.Sprintf("%d × ", c.Count)
			}
			p.Sentence("     ", 7, fmt.Sprintf("%s%s [%s]", count, report.Escape(c.Text), c.Strength))
		}
		for _, e := range c.Evidence {
			if shown++; shown <= mostEvidence {
				p.Sentence("     - ", 7, report.Escape(e))
			}
		}
	}
	if len(f.Next) > 0 {
		p.Sentence("     next: ", 11, strings.Join(f.Next, "; "))
	}
}

// mostClauses and mostEvidence bound what a finding takes of the screen.
const (
	mostClauses  = 4
	mostEvidence = 3
)
