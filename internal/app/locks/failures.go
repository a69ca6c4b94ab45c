package locks

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// unended describes the waits that no code which can still run ends: a method that would have has failed, or no thread, suspended method or delegate leads
// to one. It concludes nothing where code can't be read.
func (g *grapher) unended(groups []*waiters, o heap.ScanOptions) ([]answer.Verdict, error) {
	waits := g.dependents(false)
	if len(waits) == 0 {
		return nil, nil
	}
	faults, err := g.faults(o)
	if err != nil {
		return nil, err
	}
	var ended, lost, others []dependent
	thrower := func(r *reach.Callers) int {
		return slices.IndexFunc(faults, func(t answer.FaultedTask) bool {
			return g.s.found.tasks.ThrownThrough(t.Exceptions[0].Object, r.Leads.Has)
		})
	}
	if err := g.examined(waits, func(d *dependent) (bool, error) {
		may := g.mayBeLost(d)
		if d.alike > 1 { // what ends the wait for any of them
			if slices.ContainsFunc(d.each, func(one dependent) bool { return !g.mayBeLost(&one) }) {
				return false, nil
			}
			r, err := g.s.code.Callers(func(method string) (target.Addr, bool) { return 0, d.ends(method) })
			if err != nil || r == nil || r.Outside || !d.alone(r) || thrower(r) >= 0 {
				return false, err
			}
		}
		if len(faults) == 0 && !may {
			return true, nil
		}
		var err error
		if d.reach, err = g.s.code.Callers(d.sought); err != nil {
			return false, err
		}
		r := d.reach
		if r == nil || r.Outside || r.Calls == 0 || !d.alone(r) {
			if may && d.alike == 1 {
				others = append(others, *d)
			}
			return false, nil
		}
		if i := thrower(r); i >= 0 && !d.pulse {
			d.fault = &faults[i]
			ended = append(ended, *d)
		} else if may {
			lost = append(lost, *d)
		}
		return true, nil
	}); err != nil {
		return nil, err
	}
	var out []answer.Verdict
	for _, d := range g.merged(ended) {
		out = append(out, g.failure(&d, d.fault))
	}
	for _, d := range g.merged(lost) {
		if v := g.lost(&d, groups); v != nil {
			out = append(out, *v)
		} else if d.alike == 1 {
			others = append(others, d)
		}
	}
	for _, d := range g.merged(g.orphans(others)) {
		out = append(out, *g.lost(&d, groups))
	}
	return out, g.s.ctx.Err()
}

// faults returns the failed tasks with exceptions that nobody has looked at.
func (g *grapher) faults(o heap.ScanOptions) ([]answer.FaultedTask, error) {
	set, err := g.s.taskSet(o)
	if set == nil || err != nil {
		return nil, err
	}
	list, err := set.List(g.s.ctx, tasks.ListOptions{Faulted: true})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Faults, func(t answer.FaultedTask) bool {
		return t.Awaited || len(t.Exceptions) == 0 || t.Exceptions[0].Began.S == ""
	}), nil
}

// failure describes the waits that a failed task would have ended.
func (g *grapher) failure(d *dependent, t *answer.FaultedTask) answer.Verdict {
	exception := t.Exceptions[0]
	method := exception.Began.S
	if exception.Thrown.S == method {
		exception.Thrown = answer.Text{}
	}
	v := answer.Conclude(answer.FindingTasks, g.said(d, d.thing), answer.StrengthLikely, g.evidencesOf(d)...)
	v.Statement = v.Plus(words.EnderFailed.Of(words.FailedTask.Of(words.Text(method), words.Failure(&exception))))
	v.Because(words.EndersIL.Of(words.Method(method)))
	v.Rests = words.Searched
	v.Severity, v.Count = answer.SeverityHigh, len(d.ops)+len(d.waits)
	v.Sites = append(g.sites(d.waits), answer.FailedSite(answer.Text{S: method}, t.Exceptions))
	g.markDescribed(d)
	for _, op := range d.ops {
		v.Sites = append(v.Sites, answer.Site{Method: op.method, Does: string(op.thing.kind)})
	}
	v.Thing, v.Waiting = d.thing.Text, boxes(d.ops)
	v.Show = []string{"tasks -faulted", "dumpobj " + addressText(d.object)}
	if len(d.ops) > 0 {
		v.Show = append(v.Show, "dumpasync -address "+addressText(d.ops[0].box))
	} else {
		v.Show = append(v.Show, g.show(d.waits[0])...)
	}
	return v
}
