package triage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/signature"
	"github.com/sosgo/sosgo/metadata"
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
	var limits []answer.Verdict
	if len(m.Failures) > 0 && q.GCSettings != nil {
		settings, err := q.GCSettings(ctx)
		if limits = limitClauses(settings); err != nil {
			v.partly = cmp.Or(v.partly, err)
		}
	}
	for i := range m.Failures {
		a := &m.Failures[i]
		x := answer.Verdict{Kind: answer.FindingMemory, Strength: answer.StrengthRecorded, Show: []string{"analyzeoom"},
			Statement: answer.Statement{Text: fmt.Sprintf("the garbage collector could not allocate %s: %s", size(a.AllocationSize), a.Why())},
			Evidence:  []string{fmt.Sprintf("the record of heap %d, after collection %d", a.Heap, a.Collection)}}
		v.found = append(v.found, finding(answer.FindingMemory, append([]answer.Verdict{x}, limits...)...))
	}
	return v, nil
}

// outOfMemoryBy identifies allocations that failed by the largest holder of memory.
func outOfMemoryBy(list []answer.Finding) {
	var holder answer.Identity
	if i := slices.IndexFunc(list, func(f answer.Finding) bool { return f.Kind == answer.FindingHolder }); i >= 0 {
		holder = list[i].Identity
	}
	for i := range list {
		if list[i].Kind == answer.FindingMemory {
			list[i].Identity = signature.OutOfMemory(holder)
		}
	}
}

// limitClauses describes the settings that limit the heap.
func limitClauses(settings []answer.GCSetting) (out []answer.Verdict) {
	for i := range settings {
		s := &settings[i]
		if s.Unused || !strings.Contains(s.Name, "HardLimit") {
			continue
		}
		words := s.Value
		base := 0
		if s.Source == answer.GCSettingEnvironment {
			base = 16
		}
		digits := s.Value
		if base == 16 {
			digits = strings.TrimPrefix(strings.ToLower(digits), "0x")
		}
		if n, err := strconv.ParseUint(digits, base, 64); err == nil && !strings.Contains(s.Name, "Percent") {
			words = size(n)
		}
		out = append(out, answer.Verdict{Statement: answer.Statement{Text: fmt.Sprintf("the heap has a limit: %s is %s", s.Name, words)}, Strength: answer.StrengthRecorded,
			Evidence: []string{s.Key + "=" + s.Value}, Show: []string{"gc"}})
	}
	return out
}

// Free space between objects is a finding if it is at least so many bytes, and percent of its generation.
const (
	muchFree      = 32 << 20
	muchFreeShare = 50
)

// fragmentation looks at free space between objects that do not move: those of generation 2, large and pinned ones.
func fragmentation(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.FreeSpace)
	if err != nil {
		return view{}, err
	}
	v := view{partly: firstOf(list.Noted(), nil)}
	for i := range list.Generations {
		g := &list.Generations[i]
		name := freeNames[g.Generation]
		if name == "" || g.Free < muchFree || g.Share < muchFreeShare {
			continue
		}
		x := answer.Verdict{Kind: answer.FindingFragmented, Strength: answer.StrengthRecorded,
			Statement: answer.Statement{Text: fmt.Sprintf("%s of %s, %.0f%%, is free space between its objects, in %s of at most %s", size(g.Free), name, g.Share, answer.Count(int(g.Blocks), "block", "blocks"), size(g.Largest))},
			Evidence:  []string{fmt.Sprintf("its objects have %s", size(g.Objects))}}
		clauses := []answer.Verdict{x}
		for j := range g.Pins[:min(len(g.Pins), mostClauses)] {
			p := &g.Pins[j]
			clauses = append(clauses, answer.Verdict{Strength: answer.StrengthProved, Count: int(p.Objects), Show: []string{fmt.Sprintf("gcroot %x", uint64(p.Example))},
				Statement: answer.Statement{Text: fmt.Sprintf("%d %s with free space behind them can't be moved: handles pin them", p.Objects, p.Type)},
				Evidence:  []string{fmt.Sprintf("%d handles of type %s", p.Handles, p.Handle)}})
		}
		v.found = append(v.found, finding(answer.FindingFragmented, clauses...))
	}
	return v, nil
}

// freeNames are the generations whose free space counts. A collection of younger ones compacts them, or they become older.
var freeNames = map[string]string{"2": "generation 2", "large": "the large object heap", "pinned": "the pinned object heap"}

// NativeMemory compares malloc's memory with that of the GC heap.
type NativeMemory struct {
	Arenas uint64 // bytes that the arenas of malloc have from the system
	Blocks uint64 // bytes of blocks with mappings of their own
	Heap   uint64 // committed bytes of the GC heap
	// Counted reports whether Blocks is what malloc itself counts. Otherwise it is what looks like such blocks.
	Counted bool
	Err     error // why memory of malloc may be missing
}

// malloc's memory is a finding if it is at least so many bytes, and so many times the GC heap.
const (
	muchNative  = 256 << 20
	timesNative = 2
)

// nativeMemory looks at whether the GC heap explains the memory of the process. Most dumps lack memory of malloc, and other allocators can't be
// read: then nothing is said unless what is known is enough.
func nativeMemory(ctx context.Context, q *Questions) (view, error) {
	n, err := ask(ctx, q.Native)
	if err != nil || n == nil {
		return view{beside: true}, ctx.Err()
	}
	v := view{beside: n.Err != nil}
	all := n.Arenas + n.Blocks
	if all < muchNative || all/timesNative < n.Heap {
		return v, nil
	}
	x := answer.Verdict{Kind: answer.FindingNative, Strength: answer.StrengthRecorded, Show: []string{"memory"},
		Statement: answer.Statement{Text: fmt.Sprintf("malloc has %s, and the GC heap %s: objects do not explain the memory of the process", size(all), size(n.Heap))},
		Evidence:  []string{"arenas of malloc: " + size(n.Arenas)}}
	switch {
	case n.Counted:
		x.Evidence = append(x.Evidence, "blocks with mappings of their own, as malloc counts them: "+size(n.Blocks))
	case n.Arenas < muchNative || n.Arenas/timesNative < n.Heap:
		x.Strength = answer.StrengthLikely
		fallthrough
	case n.Blocks > 0:
		x.Evidence = append(x.Evidence, "mappings that look like blocks of malloc: "+size(n.Blocks))
	}
	v.found = append(v.found, finding(answer.FindingNative, x))
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
	if f, ok := interned(l); ok {
		v.found = append(v.found, f)
	}
	for _, list := range alike(l.Suspects) {
		v.found = append(v.found, holder(list, l))
		if len(v.found) == mostHolders {
			break
		}
	}
	return v, nil
}

// interned describes strings in the arrays in which the runtime keeps interned strings and literals, where all of them are a finding and none is for
// itself: each array has a part of them.
func interned(l *answer.Leaks) (answer.Finding, bool) {
	var n, retained uint64
	var share float64
	arrays := 0
	for i := range l.Suspects {
		s := &l.Suspects[i]
		if !s.Literals || s.Members == nil || s.Verdict == answer.VerdictSuspect {
			continue
		}
		arrays++
		n, retained, share = n+s.Members.Count, retained+s.Retained, share+s.Share
	}
	if arrays < 2 || share < internedShare || retained < internedBytes {
		return answer.Finding{}, false
	}
	x := answer.Verdict{Kind: answer.FindingHolder, Strength: answer.StrengthLikely, Show: []string{"leaks"}, Count: arrays, Sites: []answer.Site{{Does: "interned"}},
		Statement: answer.Statement{Text: fmt.Sprintf("%d strings that are interned (String.Intern) or literals hold %s, %.0f%% of what lives, in at least %d arrays; they live until the process ends", n, size(retained), share, arrays)},
		Evidence:  []string{"arrays of strings with handles of their own, as the runtime uses for these"}}
	return finding(answer.FindingHolder, x), true
}

// What strings must hold to be a finding.
const (
	internedShare = 20       // percent of what lives
	internedBytes = 16 << 20 // bytes
)

// alike groups the suspects that are findings: those of one signature are one, as the parts of a cache in several dictionaries are. What one holds is
// no part of what another of them does.
func alike(suspects []answer.Suspect) (out [][]*answer.Suspect) {
	at := map[string]int{}
	share := map[string]float64{}
	for i := range suspects {
		s := &suspects[i]
		if s.Verdict != answer.VerdictSuspect {
			continue
		}
		id, _ := signature.Suspect(s)
		one := (s.Kind == answer.SuspectAccumulation || s.Kind == answer.SuspectObject) && s.Point != nil && s.Path != nil && id.Signature != "" && len(s.Locals) == 0
		if k, ok := at[id.Signature]; ok && one && share[id.Signature]+s.Share <= 100 && !slices.ContainsFunc(out[k], func(o *answer.Suspect) bool { return leadsThrough(s, o) || leadsThrough(o, s) }) {
			share[id.Signature] += s.Share
			out[k] = append(out[k], s)
			continue
		}
		if one {
			at[id.Signature], share[id.Signature] = len(out), s.Share
		}
		out = append(out, []*answer.Suspect{s})
	}
	return out
}

// leadsThrough reports whether the path to a suspect leads through another one.
func leadsThrough(s, other *answer.Suspect) bool {
	return slices.ContainsFunc(s.Path.Objects, func(step answer.PathStep) bool { return step.Address == other.Point.Address })
}

// mostHolders is how many holders are findings. leaks lists the others.
const mostHolders = 3

// holder describes a suspect. That it holds memory is computed from all references. That it leaks is nowhere recorded, and is not said.
func holder(list []*answer.Suspect, l *answer.Leaks) answer.Finding {
	s := list[0]
	retained, share := s.Retained, s.Share
	for _, other := range list[1:] {
		retained, share = retained+other.Retained, share+other.Share
	}
	name := s.Name.S
	if p := cmp.Or(s.Owner, s.Point); len(list) > 1 {
		name = fmt.Sprintf("%d %s", len(list), p.Type)
	} else if p := s.Owner; p != nil {
		name = fmt.Sprintf("%s %x", p.Type, uint64(p.Address))
	} else if p := s.Point; p != nil {
		name = fmt.Sprintf("%s %x", p.Type, uint64(p.Address))
	} else if name == "" && s.Members != nil {
		name = fmt.Sprintf("%d %s", s.Members.Count, s.Members.Type)
	}
	x := answer.Verdict{Kind: answer.FindingHolder, Strength: answer.StrengthProved, Show: []string{"leaks"}}
	held := fmt.Sprintf(" %s, %.0f%% of what lives", size(retained), share)
	switch m := members(s); {
	case s.Kind == answer.SuspectGroup:
		x.Text = name + " hold" + held
	case s.Kind == answer.SuspectTimers && s.Elements.Err == nil:
		x.Text = fmt.Sprintf("%d timers that call %s hold%s", s.Elements.Value, metadata.PrettyMethod(name), held)
		if s.AtLeast {
			x.Text = "at least " + x.Text
		}
	case s.Kind == answer.SuspectEvent && s.Elements.Err == nil && m != nil:
		x.Text = fmt.Sprintf("%d handlers%s hold%s, with %d %s", s.Elements.Value, eventWords(s, name), held, m.Count, m.Type)
	default:
		x.Text = name + " holds" + held
		if len(list) > 1 {
			x.Text, x.Count = name+" hold"+held, len(list)
		}
		if m != nil {
			n := m.Count
			for _, other := range list[1:] {
				if more := members(other); more != nil {
					n += more.Count
				}
			}
			x.Text += fmt.Sprintf(", most of it by %d %s", n, m.Type)
		}
	}
	x.Text += localWords(s)
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
	switch {
	case strings.HasPrefix(root, "static "+timerQueue+"."):
		x.Text += ", kept by the timer queue (" + timerQueue + ")"
	case root == "stack":
		x.Text += ", kept by " + s.Path.Root.Words()
	case root != "":
		x.Text += ", kept by " + root
	}
	f := finding(answer.FindingHolder, x)
	f.Identity = sig
	if p := s.Point; p != nil {
		f.Object = p.Address
		f.Next = append(f.Next, fmt.Sprintf("gcroot %x", uint64(p.Address)))
	}
	return f
}

// localWords names the AsyncLocal whose values retain most of a suspect's bytes, if one does.
func localWords(s *answer.Suspect) string {
	if len(s.Locals) == 0 || 2*s.Locals[0].Retained < s.Retained {
		return ""
	}
	return fmt.Sprintf(", %s of it held by AsyncLocal %s in the execution contexts of %d of them", size(s.Locals[0].Retained), s.Locals[0].Name, s.Locals[0].Count)
}

// eventWords names the event of a suspect with handlers. Its owner's name leads to it, unless it is static.
func eventWords(s *answer.Suspect, owner string) string {
	switch {
	case s.Name.S == "":
		return " of " + owner
	case s.Owner == nil:
		return " of the event " + s.Name.S
	}
	return fmt.Sprintf(" of the event %s of %s", s.Name.S, owner)
}

// timerQueue is the class whose static field leads to all active timers.
const timerQueue = "System.Threading.TimerQueue"

// members returns what a suspect holds most: its members, or the objects of handlers, timers or registrations.
func members(s *answer.Suspect) *answer.TypeCount {
	if s.Members == nil && len(s.Targets) > 0 {
		return &s.Targets[0]
	}
	return s.Members
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
			Statement: answer.Statement{Text: fmt.Sprintf("the load context %s was asked to unload and stays, with %s", c.Name, answer.Count(len(c.Assemblies), "assembly", "assemblies"))},
			Evidence:  []string{fmt.Sprintf("AssemblyLoadContext %x", uint64(c.Address))}}
		clauses := []answer.Verdict{x}
		for j := range c.Blockers[:min(len(c.Blockers), mostClauses)] {
			b := &c.Blockers[j]
			clauses = append(clauses, answer.Verdict{Statement: answer.Statement{Text: "it is kept: " + b.Text}, Strength: b.Strength})
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
		Statement: answer.Statement{Text: fmt.Sprintf("the heap is damaged: %s in %d objects", answer.Count(s.Errors, "fault", "faults"), s.Objects)}}
	for i := range s.Faults[:min(len(s.Faults), mostClauses)] {
		fault := &s.Faults[i]
		x.Evidence = append(x.Evidence, fault.Reason)
		x.Show = append(x.Show, fmt.Sprintf("listnearobj %x", uint64(fault.Object)))
	}
	v.found = append(v.found, finding(answer.FindingHeap, x))
	return v, nil
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

// GC handles of one type, to objects of one type, are a finding if they are so many. Healthy processes have less than two thousand of all types
// together; a ConditionalWeakTable has a Dependent handle for each of its keys.
const muchHandles = 10_000

// handles looks at GC handles that are made and not freed.
func handles(ctx context.Context, q *Questions) (view, error) {
	list, err := ask(ctx, q.Handles)
	if err != nil {
		return view{}, err
	}
	type alike struct {
		handle string
		mt     target.Addr
	}
	v := view{partly: firstOf(list.Noted(), nil)} // what is noted later are names and sizes, which do not count
	if list.Handles == nil {
		return v, nil
	}
	counts := map[alike]*answer.TypeCount{}
	for h, err := range list.Handles {
		if err != nil {
			v.partly = cmp.Or(v.partly, err)
			continue
		}
		k := alike{h.Type, h.MethodTable}
		c := counts[k]
		if c == nil {
			c = &answer.TypeCount{MethodTable: h.MethodTable, Type: h.ObjectType}
			counts[k] = c
		}
		c.Count++
		c.Size += h.Size
	}
	for k, c := range counts {
		if c.Count < muchHandles {
			continue
		}
		objects := "objects of " + c.Type.String()
		if k.mt == 0 {
			objects = "objects whose types can't be read"
		}
		x := answer.Verdict{Kind: answer.FindingHandles, Strength: answer.StrengthRecorded, Count: int(c.Count), Show: []string{"gchandles -type " + k.handle},
			Statement: answer.Statement{Text: fmt.Sprintf("%d %s handles refer to %s%s", c.Count, k.handle, objects, handleWords[k.handle])},
			Evidence:  []string{fmt.Sprintf("the handle table; the objects have %s themselves", size(c.Size))},
			Sites:     []answer.Site{{Method: c.Type, Does: k.handle}}}
		f := finding(answer.FindingHandles, x)
		f.Next = append(slices.Clone(x.Show), f.Next...)
		v.found = append(v.found, f)
	}
	slices.SortStableFunc(v.found, func(a, b answer.Finding) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return v, ctx.Err()
}

// handleWords say what many handles of a type do.
var handleWords = map[string]string{
	"Strong":    ", and keep them alive until GCHandle.Free is called",
	"Pinned":    ", and pin them until GCHandle.Free is called",
	"Dependent": ": each keeps another object alive as long as it lives, as a ConditionalWeakTable does",
	"WeakShort": "; they keep nothing alive, and each costs time in a collection",
	"WeakLong":  "; they keep nothing alive, and each costs time in a collection",
}
