package triage

import (
	"context"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/signature"
	"github.com/sosgo/sosgo/target"
)

// outOfMemory looks at allocations that the collector could not make.
func outOfMemory(ctx context.Context, q *Questions) (view, error) {
	m, err := ask(ctx, q.OutOfMemory)
	if err != nil {
		return view{}, err
	}
	v := view{}
	if m.Unread > 0 {
		v.partly = firstOf(m.Noted(), target.ErrNotInDump)
	}
	for i := range m.Failures {
		a := &m.Failures[i]
		x := answer.Verdict{Kind: answer.FindingMemory, Strength: answer.StrengthRecorded, Show: []string{"analyzeoom"},
			Text:     fmt.Sprintf("the garbage collector could not allocate %s: %s", size(a.AllocationSize), a.Reason),
			Evidence: []string{fmt.Sprintf("the record of heap %d, after collection %d", a.Heap, a.Collection)}}
		v.found = append(v.found, finding(answer.FindingMemory, x))
	}
	return v, nil
}

// holders looks at what holds much of the heap.
func holders(ctx context.Context, q *Questions) (view, error) {
	l, err := ask(ctx, q.Leaks)
	if err != nil {
		return view{}, err
	}
	v := view{}
	if l.Incomplete {
		v.partly = firstOf(l.Noted(), target.ErrNotInDump)
	}
	for i := range l.Suspects {
		s := &l.Suspects[i]
		if s.Verdict != answer.VerdictSuspect {
			continue
		}
		v.found = append(v.found, holder(s, l))
		if len(v.found) == mostHolders {
			break
		}
	}
	return v, nil
}

// mostHolders is how many holders are findings. leaks lists the others.
const mostHolders = 3

// holder describes a suspect. That it holds memory is computed from all references. That it leaks is nowhere recorded, and is not said.
func holder(s *answer.Suspect, l *answer.Leaks) answer.Finding {
	name := s.Name.S
	if p := s.Owner; p != nil {
		name = fmt.Sprintf("%s %x", p.Type, uint64(p.Address))
	} else if p := s.Point; p != nil {
		name = fmt.Sprintf("%s %x", p.Type, uint64(p.Address))
	} else if name == "" && s.Members != nil {
		name = fmt.Sprintf("%d %s", s.Members.Count, s.Members.Type)
	}
	x := answer.Verdict{Kind: answer.FindingHolder, Strength: answer.StrengthProved, Show: []string{"leaks"}}
	x.Text = fmt.Sprintf("%s holds %s, %.0f%% of what lives", name, size(s.Retained), s.Share)
	if s.Kind == answer.SuspectGroup {
		x.Text = fmt.Sprintf("%s hold %s, %.0f%% of what lives", name, size(s.Retained), s.Share)
	} else if m := s.Members; m != nil {
		x.Text += fmt.Sprintf(", most of it by %d %s", m.Count, m.Type)
	}
	x.Evidence = []string{"all references between objects, and the roots"}
	if l.Incomplete {
		x.Strength = answer.StrengthLikely
		x.Evidence = append(x.Evidence, "not all roots, objects or references can be read")
	}
	sig, root := signature.Suspect(s)
	if s.Path != nil && s.Path.Root.Conservative {
		x.Strength = answer.Weakest(x.Strength, answer.StrengthPossible)
		x.Evidence = append(x.Evidence, "the path begins at a word of a stack that only looks like a reference")
	}
	if root != "" {
		x.Text += ", kept by " + root
	}
	f := finding(answer.FindingHolder, x)
	f.Signature = sig
	if p := s.Point; p != nil {
		f.Object = p.Address
		f.Next = append(f.Next, fmt.Sprintf("gcroot %x", uint64(p.Address)))
	}
	return f
}

// loadContexts looks at load contexts that were asked to unload and stay.
func loadContexts(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.Contexts)
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for i := range list.Contexts {
		c := &list.Contexts[i]
		if c.State.S != answer.ContextUnloading || c.Verdict != answer.Held {
			continue // one that is garbage goes with the next collection
		}
		x := answer.Verdict{Kind: answer.FindingUnload, Strength: answer.StrengthProved, Show: []string{"contexts"},
			Text:     fmt.Sprintf("the load context %s was asked to unload and stays, with %s", c.Name, counted(len(c.Assemblies), "assembly", "assemblies")),
			Evidence: []string{fmt.Sprintf("AssemblyLoadContext %x", uint64(c.Address))}}
		clauses := []answer.Verdict{x}
		for j := range c.Blockers[:min(len(c.Blockers), mostClauses)] {
			b := &c.Blockers[j]
			clauses = append(clauses, answer.Verdict{Text: "it is kept: " + b.Text, Strength: b.Strength})
		}
		f := finding(answer.FindingUnload, clauses...)
		f.Object = c.Address
		v.found = append(v.found, f)
	}
	return v, nil
}

// soundness looks at whether the objects of the heap are sound.
func soundness(ctx context.Context, q *Questions) (view, error) {
	s, err := ask(ctx, q.VerifyHeap)
	if err != nil {
		return view{}, err
	}
	v := view{}
	if s.Incomplete {
		v.partly = firstOf(s.Noted(), target.ErrNotInDump)
	}
	if s.Errors == 0 {
		return v, nil
	}
	x := answer.Verdict{Kind: answer.FindingHeap, Strength: answer.StrengthProved, Count: s.Errors, Show: []string{"verifyheap"},
		Text: fmt.Sprintf("the heap is damaged: %s in %d objects", counted(s.Errors, "fault", "faults"), s.Objects)}
	for i := range s.Faults[:min(len(s.Faults), mostClauses)] {
		fault := &s.Faults[i]
		x.Evidence = append(x.Evidence, fault.Reason)
		x.Show = append(x.Show, fmt.Sprintf("listnearobj %x", uint64(fault.Object)))
	}
	v.found = append(v.found, finding(answer.FindingHeap, x))
	return v, nil
}

// counted returns a number of things in words.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// size returns a number of bytes for people, as reports do.
func size(n uint64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, units := float64(n)/unit, []string{"KB", "MB", "GB"}
	for len(units) > 1 && value >= unit-0.05 {
		value, units = value/unit, units[1:]
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}
