package triage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/signature"
	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// Questions are what a triage asks. Each is called once. A nil question is not asked.
type Questions struct {
	Crash       func(context.Context) (*answer.Crash, error)
	Waits       func(context.Context) (*answer.Waits, error)
	ThreadPool  func(context.Context) (*answer.ThreadPool, error)
	SQLPools    func(context.Context) (*answer.SQLPools, error)
	Redis       func(context.Context) (*answer.Redis, error)
	HTTPClients func(context.Context) (*answer.HTTPClients, error)
	Tasks       func(context.Context) (*answer.Tasks, error) // with those that failed
	Hosts       func(context.Context) (*answer.Hosts, error)
	TypeInits   func(context.Context) (*answer.Initializers, error)
	OutOfMemory func(context.Context) (*answer.OutOfMemory, error)
	Leaks       func(context.Context) (*answer.Leaks, error)
	VerifyHeap  func(context.Context) (*answer.Soundness, error)
	Contexts    func(context.Context) (*answer.LoadContexts, error)
	FreeSpace   func(context.Context) (*answer.Fragmentation, error)
	Handles     func(context.Context) (*answer.Handles, error) // all of them
	Native      func(context.Context) (*NativeMemory, error)
	GCSettings  func(context.Context) ([]answer.GCSetting, error) // asked only if an allocation failed

	rules *signature.Rules // of Options
}

// Options choose what is looked at. The zero value chooses everything.
type Options struct {
	NoHeap bool   // leaves out what takes long on a large heap: holders of memory, load contexts, and whether the heap is sound; Questions.Crash should not search it either
	Jobs   int    // subjects that are looked at together, at least 1
	Rules  string // text of the rules by which the crash is signed (docs/fleet.md); empty stands for the default
}

// A view is what looking at one subject showed.
type view struct {
	found  []answer.Finding
	partly error // why a part of the subject could not be looked at; nil if all of it was
	beside bool  // the subject means nothing for this process, and is neither quiet nor unknown

	workers int // of the thread pool, as far as they were found
}

// A subject is one thing to look at.
type subject struct {
	name string // what is quiet if nothing is found
	heap bool   // it takes long on a large heap
	look func(context.Context, *Questions) (view, error)
}

// subjects are all that a triage looks at, in the order in which its answer names them.
var subjects = []subject{
	{name: "crash", look: crash},
	{name: "finalizer thread", look: finalizer},
	{name: "locks and blocked threads", look: waits},
	{name: "thread pool", look: pool},
	{name: "database connections", look: sqlPools},
	{name: "HTTP clients", look: httpClients},
	{name: "Redis", look: redis},
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

// Of ranks what is wrong with a process. The error is the context's, or the first subject's if no subject at all could be looked at.
func Of(ctx context.Context, q Questions, o Options) (*answer.Triage, error) {
	ctx = absent.Context(ctx)
	if o.Rules != "" {
		var err error
		if q.rules, err = signature.ParseRules(o.Rules); err != nil {
			return nil, err
		}
	}
	if q.Crash != nil {
		q.Crash = once(q.Crash)
	}
	views, errs := make([]view, len(subjects)), make([]error, len(subjects))
	err := workers.Each(ctx, max(o.Jobs, 1), len(subjects), func(i int) {
		if s := &subjects[i]; !s.heap || !o.NoHeap {
			views[i], errs[i] = s.look(ctx, &q)
		}
	})
	if err != nil {
		return nil, err
	}
	out := &answer.Triage{Findings: []answer.Finding{}, Quiet: []string{}, Unknown: []answer.TriageAbsent{}}
	seen := false
	for i := range subjects {
		s, v := &subjects[i], &views[i]
		out.Findings = append(out.Findings, v.found...)
		switch err := errs[i]; {
		case s.heap && o.NoHeap, err == errNotAsked:
			out.Unknown = append(out.Unknown, answer.TriageAbsent{Subject: s.name, Reason: "not asked for"})
		case err != nil:
			out.Unknown = append(out.Unknown, unknown(s.name, err))
		case v.partly != nil:
			seen = true
			u := unknown(s.name, v.partly)
			u.Partly = true
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
	rank(out.Findings)
	workers := 0
	for i := range views {
		workers = max(workers, views[i].workers)
	}
	out.Findings = causeOfStarvation(out.Findings, workers)
	if !seen {
		return out, cmp.Or(errs...)
	}
	return out, ctx.Err()
}

// signBy signs findings by rules, unless these are the default. A crash is signed by its own subject.
func signBy(list []answer.Finding, rules *signature.Rules) {
	for i := range list {
		if f := &list[i]; rules != nil && len(f.Clauses) > 0 && len(f.Clauses[0].Sites) > 0 {
			f.Identity = signature.Finding(f.Kind, f.Clauses[0].Sites, rules)
		}
	}
}

// errNotAsked is the error of a question that is nil.
var errNotAsked = fmt.Errorf("not asked for: %w", target.ErrUnsupported)

// ask asks a question.
func ask[T any](ctx context.Context, question func(context.Context) (*T, error)) (*T, error) {
	if question == nil {
		return nil, errNotAsked
	}
	return question(ctx)
}

// once returns a question whose answer is computed once, for several subjects.
func once[T any](ask func(context.Context) (T, error)) func(context.Context) (T, error) {
	var answered sync.Once
	var out T
	var err error
	return func(ctx context.Context) (T, error) {
		answered.Do(func() { out, err = ask(ctx) })
		return out, err
	}
}

// unknown describes a subject that could not be looked at.
func unknown(subject string, err error) answer.TriageAbsent {
	return answer.TriageAbsent{Subject: subject, Reason: err.Error(), Err: err}
}

// rank orders findings: the most severe first, then by kind, then the surest, then those that concern most.
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

// finding makes a finding of clauses. Its text and strength are those of the first.
func finding(kind answer.FindingKind, clauses ...answer.Verdict) answer.Finding {
	f := answer.Finding{Kind: kind, Severity: severityOf(kind), Clauses: clauses, Next: next(kind)}
	if len(clauses) > 0 {
		c := &clauses[0]
		f.Statement, f.Strength, f.Count = c.Statement, c.Strength, c.Count
		if prefix := string(kind) + ": "; strings.HasPrefix(c.Text, prefix) {
			f.Statement = c.From(len(prefix)) // the kind stands before it
		}
		f.Identity = signature.Finding(kind, c.Sites, nil)
	}
	return f
}
