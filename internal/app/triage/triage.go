package triage

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Options selects the subjects. The zero value selects all.
type Options struct {
	NoHeap bool   `opt:"noheap" help:"leave out what takes long on a large heap: holders of memory, load contexts, whether the heap is sound, and an exception from before Main ran"`
	Brief  bool   // skip load contexts, and soundness of the heap
	Jobs   int    // number of subjects checked in parallel, at least 1
	Rules  string // text of the rules for the crash signature (docs/fleet.md); empty for the default
}

// A view is the result of checking one subject.
type view struct {
	found  []answer.Finding
	partly error // why a part of the subject could not be checked; nil if it was checked completely
	beside bool  // the subject does not apply to this process, and is neither quiet nor unknown

	workers int // workers found in the thread pool
}

// A subject is one thing to check.
type subject struct {
	name string // name for the lists of quiet and unchecked subjects
	heap bool   // it is slow on a large heap
	look func(context.Context, *Answers) (view, error)
}

// subjects are the subjects of a triage, in the order of its answer.
var subjects = []subject{
	{name: "crash", look: crashed},
	{name: "finalizer thread", look: finalizer},
	{name: "locks and blocked threads", look: waits},
	{name: "thread pool", look: pool},
	{name: "database connections", look: sqlPools},
	{name: "HTTP clients", look: httpClients},
	{name: "Redis", look: redis},
	{name: "web requests", look: webRequests},
	{name: "failed tasks", look: failedTasks},
	{name: "hosted services", look: hosts},
	{name: "type initializers", look: initializers},
	{name: "failed allocations", look: outOfMemory},
	{name: "free space of the heap", look: fragmentation},
	{name: "GC handles", look: handles},
	{name: "native memory", look: nativeMemory},
	{name: "holders of memory", heap: true, look: holders},
	{name: "soundness of the heap", heap: true, look: soundness},
	{name: "load contexts", heap: true, look: loadContexts},
}

// Triage ranks what is wrong with a process: its crash, deadlocks, starved pools, failed tasks, damage and large
// holders of memory. It lists the subjects that it checked without a finding, and those that it could not check. In a
// process with several runtimes it judges all of them. The error is ctx's, or the first subject's if no subject could be
// checked.
func Triage(ctx context.Context, p *process.Process, o Options) (*answer.Triage, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Triage, error) {
		o.Jobs = cmp.Or(o.Jobs, c.Jobs())
		out, err := look(ctx, p, o)
		if out.Triage != nil && out.others(ctx, p, o) && ctx.Err() == nil {
			err = nil
		}
		return out.Triage, err
	})
}

// Judge is Triage for answers that have been read. The error is as for Triage.
func Judge(ctx context.Context, q *Answers, o Options) (*answer.Triage, error) {
	out, err := judge(ctx, q, o)
	return out.Triage, err
}

func judge(ctx context.Context, q *Answers, o Options) (judged, error) {
	if q == nil {
		q = &Answers{}
	}
	var rules *signature.Rules
	if o.Rules != "" {
		var err error
		if rules, err = signature.ParseRules(o.Rules); err != nil {
			return judged{}, err
		}
	}
	q.rules = rules
	views, errs := make([]view, len(subjects)), make([]error, len(subjects))
	err := workers.Each(ctx, max(o.Jobs, 1), len(subjects), func(i int) {
		if s := &subjects[i]; !s.heap || !o.NoHeap {
			views[i], errs[i] = s.look(ctx, q)
		}
	})
	if err != nil {
		return judged{}, err
	}
	out := judged{Triage: &answer.Triage{Findings: []answer.Finding{}, Quiet: []string{}, Unknown: []answer.TriageAbsent{}}}
	seen := false
	for i := range subjects {
		s, v := &subjects[i], &views[i]
		v.lower(q)
		out.Findings = append(out.Findings, v.found...)
		if len(v.found) > 0 {
			out.found = append(out.found, s.name)
		}
		switch err := errs[i]; {
		case s.heap && o.NoHeap, err == errNotRead:
			out.Unknown = append(out.Unknown, answer.TriageAbsent{Subject: s.name, Reason: "not asked for"})
		case err != nil:
			out.Unknown = append(out.Unknown, unknown(s.name, err))
		case v.partly != nil:
			seen = true
			u := unknown(s.name, v.partly)
			u.Partly = true
			if moving(v.partly) {
				u.Moving, u.Reason = true, target.ErrInCollection.Error()+"; neither damage nor locks and permits left behind can be judged"
				if !ended(out.Findings) {
					u.Settles = "another dump, taken a moment later"
				}
			}
			out.Unknown = append(out.Unknown, u)
		case len(v.found) == 0 && v.beside:
		case len(v.found) == 0:
			seen = true
			out.Quiet = append(out.Quiet, s.name)
		default:
			seen = true
		}
	}
	signBy(out.Findings, q.rules)
	outOfMemoryBy(out.Findings)
	out.Findings = q.attachedBy(out.Findings)
	out.Findings = q.victims(out.Findings)
	for _, g := range q.silentCode() {
		followGates(out.Findings, g.behind, answer.FindingDependency)
	}
	workers := 0
	for i := range views {
		workers = max(workers, views[i].workers)
	}
	rank(out.Findings)
	causesFirst(out.Findings)
	memoryFirst(out.Findings)
	out.Findings = once(causeOfStarvation(out.Findings, workers))
	q.serialized(out.Findings)
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Next = q.useful(onlyOnce(f.Next))
	}
	if !seen {
		return out, cmp.Or(errs...)
	}
	return out, ctx.Err()
}

// useful returns commands without those that are known to have nothing to show: a process without a web server serves no requests.
func (q *Answers) useful(commands []string) []string {
	list, err := q.Requests.get()
	if err != nil || list == nil || len(list.Requests) > 0 || len(list.Noted()) > 0 {
		return commands
	}
	return slices.DeleteFunc(commands, func(c string) bool { return c == "requests" })
}

// onlyOnce returns a list without what it has a second time: one method may be what waits and what others wait for.
func onlyOnce(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// ended reports whether a crash is among the findings of a triage: no later dump can be taken.
func ended(list []answer.Finding) bool {
	return slices.ContainsFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingCrash })
}

// miss records why a part of the subject could not be checked: the first of errs, as firstOf has it.
func (v *view) miss(errs ...error) {
	errs = slices.DeleteFunc(append([]error{v.partly}, errs...), func(err error) bool { return err == nil })
	v.partly = firstOf(errs, nil)
}

// unjudged returns the reason for a conclusion that can't be judged.
func unjudged(c *answer.Verdict) error {
	if atRest := words.CantBeJudged.Of(words.Text(answer.HeapAtRest.Broken())); c.Text == atRest.Text {
		return target.ErrInCollection
	}
	return target.Unsupportedf("%s", c.Text)
}

// lower makes the findings of a subject as strong as the premises of the process allow. A finding that has lost a premise can't be judged, and
// neither can its subject.
func (v *view) lower(q *Answers) {
	var kept []answer.Finding
	for _, f := range v.found {
		of := max(0, slices.IndexFunc(f.Clauses, func(c answer.Verdict) bool { return c.Says == f.Says }))
		for i, c := range f.Clauses {
			f.Clauses[i] = words.LowerOne(c, words.StateFor(&c, q.Premises.State, q.stack))
		}
		if of < len(f.Clauses) {
			if c := &f.Clauses[of]; c.Says == words.CantBeJudged.Kind() {
				v.miss(unjudged(c))
				continue
			}
			f.Strength = answer.Weakest(f.Strength, f.Clauses[of].Strength)
		}
		kept = append(kept, f)
	}
	v.found = kept
}

// findings returns the conclusions of a list that are findings. If one can't be judged, v is checked in part.
func (v *view) findings(list []answer.Verdict) []answer.Verdict {
	var out []answer.Verdict
	for _, x := range list {
		if x.Says == words.CantBeJudged.Kind() {
			v.miss(unjudged(&x))
		}
		if !slices.Contains(normal, x.Kind) {
			out = append(out, x)
		}
	}
	return out
}

// signBy signs findings by rules, unless these are the default. A crash is signed by its own subject.
func signBy(list []answer.Finding, rules *signature.Rules) {
	for i := range list {
		if f := &list[i]; rules != nil && len(f.Clauses) > 0 && len(f.Clauses[0].Sites) > 0 {
			f.Identity = signature.Finding(f.Kind, f.Clauses[0].Sites, rules)
		}
	}
}

// unknown describes a subject that could not be checked.
func unknown(subject string, err error) answer.TriageAbsent {
	return answer.TriageAbsent{Subject: subject, Reason: err.Error(), Err: err}
}

// rank orders findings by severity, kind, strength, and the number of things that they concern.
func rank(list []answer.Finding) {
	slices.SortStableFunc(list, func(a, b answer.Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
			cmp.Compare(place(a.Kind), place(b.Kind)),
			answer.CompareStrength(a.Strength, b.Strength),
			cmp.Compare(b.Count, a.Count),
		)
	})
}

// finding makes a finding of clauses. The first clause supplies its text and strength.
func finding(kind answer.FindingKind, clauses ...answer.Verdict) answer.Finding {
	f := answer.Finding{Kind: kind, Severity: severityOf(kind), Clauses: clauses, Next: next(kind)}
	if len(clauses) > 0 {
		c := &clauses[0]
		f.Statement, f.Strength, f.Count = c.Statement, c.Strength, c.Count
		f.Severity = cmp.Or(c.Severity, f.Severity)
		if prefix := string(kind) + ": "; strings.HasPrefix(c.Text, prefix) {
			f.Statement = c.From(len(prefix)) // the kind precedes it
		}
		f.Identity = signature.Finding(kind, c.Sites, nil)
	}
	return f
}
