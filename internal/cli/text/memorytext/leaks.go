package memorytext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli/text"
	"github.com/sosgo/sosgo/internal/report"
)

// Leaks is the text of leaks.
func Leaks(p *report.Page, l *answer.Leaks) {
	heapParts(p, l.Live, l.Garbage, l.Frozen, l.Incomplete)
	if l.Incomplete {
		p.Print("What is missing may hide a leak, or be what holds one.\n")
	}
	if l.Nameless > 0 {
		p.Printf("The names of %s can't be read without the files of their modules: events, timers and other patterns of theirs are not found.\n",
			text.Count(uint64(l.Nameless), "type", "types"))
	}
	t := &l.Thresholds
	switch {
	case l.Small && l.Garbage.Size >= t.Small:
		p.Printf("\nLittle of the heap lives. The garbage, %s, is no leak: a collection of all generations would free it.\n", report.HumanSize(l.Garbage.Size))
		smallList(p, l)
	case l.Small && l.Incomplete:
		p.Printf("\nOf what can be read less than %s lives: shares of it say little about the process.\n", report.HumanSize(t.Small))
		smallList(p, l)
	case l.Small:
		p.Printf("\nThis heap is small: what lives takes less than %s, so that nothing in it explains a process that uses much memory.\n", report.HumanSize(t.Small))
		smallList(p, l)
	case len(l.Suspects) > 0 && l.Suspects[0].Verdict == answer.VerdictSuspect:
		p.Printf("\nSuspects: what retains at least %s of all that lives. That is no proof of a leak: an earlier dump would tell what grew (diff).\n", percent(t.Share))
	}
	if len(l.Suspects) == 0 {
		p.Printf("\nNothing retains %s of what lives (and %s) by itself.\n", percent(t.Least), report.HumanSize(t.Bytes))
	}
	minor := l.Small
	for i := range l.Suspects {
		s := &l.Suspects[i]
		if s.Verdict != answer.VerdictSuspect && !minor {
			minor = true
			p.Print("\nSmaller than that, and no suspects by their size:\n")
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
		p.Printf("\nnot looked into: %s objects of %s: %s\n", report.Commas(u.Objects), report.Escape(u.Type.String()), report.Escape(u.Reason))
	}
}

func smallList(p *report.Page, l *answer.Leaks) {
	if len(l.Suspects) > 0 {
		p.Print("Largest holders of live memory (possibly normal):\n")
	}
}

// suspect writes what was found in words, then what holds it and what it has.
func suspect(p *report.Page, s *answer.Suspect) {
	p.Printf("%s: %s bytes, %s of all that lives\n", title(s), report.Commas(s.Retained), percent(s.Share))
	if m := s.Members; m != nil && s.Kind == answer.SuspectAccumulation {
		p.Printf("   %s %s retain %s bytes of that.\n", report.Commas(m.Count), report.Escape(m.Type.String()), report.Commas(m.Size))
	}
	for i := range s.Targets {
		t := &s.Targets[i]
		p.Printf("   %s: %s %s (%s bytes retained)\n", targetWords[s.Kind], report.Commas(t.Count), report.Escape(t.Type.String()), report.Commas(t.Size))
	}
	switch s.Weak {
	case "cached":
		p.Print("   It is held through a cache, which lets go of its entries by rules of its own: a limit may be missing.\n")
	case "attached":
		p.Print("   It is attached to another object by a ConditionalWeakTable, and goes with that.\n")
	}
	if s.Kind == answer.SuspectGroup {
		groupHolders(p, s)
	}
	if s.Path != nil {
		what := "Held by"
		if s.Point == nil {
			what = "One of them is held by"
		}
		p.Printf("   %s %s\n", what, report.Escape(rootName(&s.Path.Root)))
		steps(p, s.Path.Objects)
	}
	if text := remedy(s); text != "" {
		p.Printf("   %s\n", text)
	}
	if len(s.Types) > 1 || len(s.Types) == 1 && s.Types[0].Count > 1 {
		var list []string
		for i := range s.Types {
			t := &s.Types[i]
			list = append(list, fmt.Sprintf("%s %s (%s)", report.Commas(t.Count), report.Escape(t.Type.String()), report.Commas(t.Size)))
		}
		p.Printf("   Most of its bytes: %s\n", strings.Join(list, ", "))
	}
}

// remedy says in plain words why nothing of it is collected, and what would have to happen.
func remedy(s *answer.Suspect) string {
	switch s.Kind {
	case answer.SuspectEvent:
		return "An event refers to its handlers, and these to their objects: they live as long as what has the event, unless each is taken off it (-=)."
	case answer.SuspectTimers:
		return "A timer that runs lives, with what it is given, until somebody disposes it."
	case answer.SuspectCancellation:
		return "A registration lives, with what it is given, until it is disposed or the source is: what Register returns has to be disposed."
	case answer.SuspectRootScope:
		return "What is resolved from the root provider is disposed with it; a scope (CreateScope) would dispose it earlier."
	case answer.SuspectWeak:
		return "A weak reference does not go with its object: each takes memory and a GC handle until the program takes it out."
	}
	if s.Weak != "" || s.Path == nil || s.Kind == answer.SuspectGroup {
		return ""
	}
	if s.Literals {
		return "In such an array, which a handle of its own keeps, the runtime has the literals of the program and what it interned (String.Intern). " +
			"If this is one, they live until the process ends."
	}
	return rootRemedy(&s.Path.Root)
}

// eachRemedy returns how long a root keeps each of many objects.
func eachRemedy(h *answer.GroupHolder) string {
	switch {
	case h.Handle == "Strong" || h.Handle == "Pinned":
		return "Each has a GC handle, and lives until somebody frees that."
	case h.Kind == "finalizer queue":
		return "Each waits for its finalizer, and can be collected when that has run."
	case h.Kind == "frame":
		return "A method that runs refers to them: they can be collected when that has returned, or does not need them any more."
	}
	return ""
}

// rootRemedy returns how long a root keeps what it leads to.
func rootRemedy(r *answer.GCRoot) string {
	switch r.Kind {
	case "static field":
		return "A static field leads to it: nothing of it is collected before the program takes it out, or sets the field to null."
	case "thread static":
		return "A thread static leads to it: it lives as long as the thread, unless the program takes it out."
	case "stack":
		return "A method that runs refers to it: it can be collected when that has returned, or does not need it any more."
	case "finalizer":
		return "It waits for its finalizer, and can be collected when that has run."
	case "handle":
		if r.Handle == "Strong" || r.Handle == "Pinned" {
			return "A GC handle leads to it: it lives until somebody frees the handle."
		}
	}
	return ""
}

// targetWords say what the targets of a kind of suspects are.
var targetWords = map[string]string{
	answer.SuspectEvent:        "Handlers are methods of",
	answer.SuspectTimers:       "They are given",
	answer.SuspectCancellation: "Callbacks are methods of, or given",
	answer.SuspectRootScope:    "Among them",
}

// title returns what was found in a few words.
func title(s *answer.Suspect) string {
	elements := "many"
	if s.Elements.Err == nil {
		elements = report.Commas(s.Elements.Value)
	}
	if s.AtLeast {
		elements = "at least " + elements
	}
	switch s.Kind {
	case answer.SuspectAccumulation:
		switch {
		case s.Elements.Err == nil:
			return fmt.Sprintf("%s elements in one %s", elements, typeOf(collection(s)))
		case s.Owner != nil:
			return fmt.Sprintf("%s %s in one %s", report.Commas(s.Members.Count), report.Escape(s.Members.Type.String()), typeOf(s.Owner))
		}
		return fmt.Sprintf("%s %s that one %s owns", report.Commas(s.Members.Count), report.Escape(s.Members.Type.String()), typeOf(s.Point))
	case answer.SuspectGroup:
		return fmt.Sprintf("%s %s that no single object owns", report.Commas(s.Members.Count), report.Escape(s.Members.Type.String()))
	case answer.SuspectEvent:
		return fmt.Sprintf("%s handlers of %s", elements, eventName(s))
	case answer.SuspectTimers:
		return fmt.Sprintf("%s timers that call %s", elements, report.Escape(s.Name.String()))
	case answer.SuspectCancellation:
		return fmt.Sprintf("%s callbacks registered with one %s", elements, typeOf(s.Point))
	case answer.SuspectRootScope:
		return fmt.Sprintf("%s disposables that the root scope of a service provider keeps until the program ends", elements)
	case answer.SuspectWeak:
		return fmt.Sprintf("%s of %s weak references in one %s lead to nothing any more", report.Commas(s.Dead), elements, typeOf(collection(s)))
	}
	if s.Elements.Err == nil {
		return fmt.Sprintf("One %s with %s", typeOf(collection(s)), text.Count(s.Elements.Value, "element", "elements"))
	}
	return "One " + typeOf(s.Point)
}

// collection returns the object that says how many elements it has.
func collection(s *answer.Suspect) *answer.PathObject {
	if s.Owner != nil {
		return s.Owner
	}
	return s.Point
}

func typeOf(o *answer.PathObject) string { return report.Escape(o.Type.String()) }

func eventName(s *answer.Suspect) string {
	switch {
	case s.Name.IsZero():
		return "one " + typeOf(s.Point)
	case s.Owner != nil:
		return fmt.Sprintf("the event %s of a %s", report.Escape(s.Name.String()), typeOf(s.Owner))
	}
	return "the static event " + report.Escape(s.Name.String())
}

func groupHolders(p *report.Page, s *answer.Suspect) {
	if len(s.Holders)+len(s.Others) > 1 {
		p.Print("   Each of these would have to let go of them:\n")
	}
	for i := range s.Holders {
		h := &s.Holders[i]
		name := report.Escape(h.Root.String())
		if h.Object != nil {
			name = fmt.Sprintf("one %s at %s", typeOf(h.Object), report.Hex12(h.Object.Address))
		}
		p.Printf("   %.0f%% of them (of %s looked at) are referred to by %s\n", h.Share, report.Commas(uint64(h.Sampled)), name)
		if text := eachRemedy(h); text != "" {
			p.Printf("   %s\n", text)
		}
		if h.Path != nil {
			p.Printf("   Held by %s\n", report.Escape(rootName(&h.Path.Root)))
			steps(p, h.Path.Objects)
		}
	}
	if len(s.Holders) == 0 {
		p.Print("   No object refers to most of them.\n")
	}
	for i := range s.Others {
		o := &s.Others[i]
		p.Printf("   %.0f%% of them are referred to by %s %s, a few by each\n", o.Share, report.Commas(o.Count), report.Escape(o.Type.String()))
		if o.Path != nil {
			p.Printf("   One of these is held by %s\n", report.Escape(rootName(&o.Path.Root)))
			steps(p, o.Path.Objects)
		}
	}
}

func finalization(p *report.Page, f *answer.Finalization) {
	if f.Ready > 0 {
		p.Printf("\nWaiting for the finalizer thread: %s; no Dispose has suppressed that.\n", text.Count(f.Ready, "object", "objects"))
		finalizable(p, f.ReadyTypes)
		for _, r := range f.Running {
			p.Printf("   That thread is in %s: what comes after waits until it returns.\n", report.Escape(r.String()))
		}
	}
	if f.Dead > 0 {
		p.Printf("\nIn the garbage: %s with a finalizer that has not run, for which it stays for one more collection; no Dispose has suppressed that.\n", text.Count(f.Dead, "object", "objects"))
		finalizable(p, f.DeadTypes)
	}
}

func finalizable(p *report.Page, list []answer.TypeCount) {
	for i := range list {
		t := &list[i]
		p.Printf("   %s %s (%s bytes retained)\n", report.Commas(t.Count), report.Escape(t.Type.String()), report.Commas(t.Size))
	}
}
