package triage

import (
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/process"
)

// A judged is a triage of one runtime, with the names of the subjects that have findings.
type judged struct {
	*answer.Triage
	found []string
}

// look is Triage of one runtime.
func look(ctx context.Context, p *process.Process, o Options) (judged, error) {
	answers, err := Read(ctx, p, o)
	if err != nil {
		return judged{}, err
	}
	return judge(ctx, answers, o)
}

// others adds what is wrong with the other runtimes of the process. It reports whether a subject of one was checked.
func (j *judged) others(ctx context.Context, p *process.Process, o Options) (seen bool) {
	this, err := p.Instance()
	if err != nil {
		return false
	}
	for _, other := range p.Dump().Processes() {
		inst, err := other.Instance()
		if err != nil || inst == this {
			continue
		}
		its, err := look(ctx, other, o)
		if err != nil {
			j.Unknown = append(j.Unknown, answer.TriageAbsent{Subject: "runtime " + inst.Title(), Reason: err.Error(), Err: err})
			continue
		}
		seen = true
		j.add(&its, inst.Title(), inst.Index)
	}
	if seen {
		rank(j.Findings)
	}
	return seen
}

// add adds what is wrong with another runtime. A subject is quiet if it is for all runtimes.
func (j *judged) add(its *judged, title string, index int) {
	for _, f := range its.Findings {
		if f.Kind == answer.FindingNative && slices.ContainsFunc(j.Findings, func(g answer.Finding) bool { return g.Kind == f.Kind }) {
			continue // malloc's memory belongs to the whole process
		}
		if f.Kind == answer.FindingCrash && !j.outranked(&f) {
			continue
		}
		f.Statement = f.Plus(words.OfRuntime.Of(words.Text(title)))
		f.Next = append([]string{fmt.Sprintf("runtimes %d", index)}, f.Next...)
		j.Findings = append(j.Findings, f)
	}
	var missing []string
	for _, u := range its.Unknown {
		missing = append(missing, u.Subject)
		if u.Err != nil { // the others were not asked for
			u.Subject = fmt.Sprintf("%s (runtime #%d)", u.Subject, index)
			j.Unknown = append(j.Unknown, u)
		}
	}
	j.Quiet = slices.DeleteFunc(j.Quiet, func(name string) bool { return slices.Contains(its.found, name) || slices.Contains(missing, name) })
	j.found = append(j.found, its.found...)
}

// outranked reports whether f is the one to explain the crash, and removes another explanation then. A process dies once: what names the cause
// explains it, and the surer of two such.
func (j *judged) outranked(f *answer.Finding) bool {
	i := slices.IndexFunc(j.Findings, func(g answer.Finding) bool { return g.Kind == answer.FindingCrash })
	if i < 0 {
		return true
	}
	own := &j.Findings[i]
	if !namesCause(f) || namesCause(own) && answer.CompareStrength(f.Strength, own.Strength) >= 0 {
		return false
	}
	j.Findings = slices.Delete(j.Findings, i, i+1)
	return true
}

// namesCause reports whether a crash is explained by more than the dump's record, which is its first clause.
func namesCause(f *answer.Finding) bool { return len(f.Clauses) > 0 && f.Says != f.Clauses[0].Says }
