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
	if l.Incomplete {
		p.Print("Missing data may hide a leak or its holder.\n")
	}
	if l.Unproved > 0 {
		p.Printf("%s of stacks only look like references; what nothing else holds stands last. The module files of the code on these stacks would settle it.\n",
			report.Count(uint64(l.Unproved), "word", "words"))
	}
	if l.Nameless > 0 {
		p.Printf("Names of %s need module files: events, timers and other patterns of these types are not detected.\n",
			report.Count(uint64(l.Nameless), "type", "types"))
	}
	t := &l.Thresholds
	switch {
	case l.Small && l.Garbage.Size >= t.Small:
		p.Printf("\nLittle of the heap is live. %s is garbage, not a leak: a full collection would free it.\n", report.Size(l.Garbage.Size))
		smallList(p, l)
	case l.Small && l.Incomplete:
		p.Printf("\nLess than %s of the readable heap is live: its shares mean little for the process.\n", report.Size(t.Small))
		smallList(p, l)
	case l.Small:
		p.Printf("\nLess than %s is live: the heap does not explain high memory use.\n", report.Size(t.Small))
		smallList(p, l)
	case len(l.Suspects) > 0 && l.Suspects[0].Verdict == answer.VerdictSuspect:
		p.Printf("\nSuspects: each retains at least %s of live memory. That is no proof of a leak: diff with an earlier dump shows what grew.\n", report.Percent(t.Share))
	}
	if len(l.Suspects) == 0 {
		p.Printf("\nNo single holder retains %s of live memory (and %s).\n", report.Percent(t.Least), report.Size(t.Bytes))
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

func smallList(p *report.Page, l *answer.Leaks) {
	if len(l.Suspects) > 0 {
		p.Print("Largest holders of live memory (possibly normal):\n")
	}
}

// suspect writes a suspect's title, holders and contents.
func suspect(p *report.Page, s *answer.Suspect) {
	p.Printf("%s: %s bytes, %s of live memory\n", title(s), report.Commas(s.Retained), report.Percent(s.Share))
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
	switch s.Weak {
	case "cached":
		p.Print("   Held through a cache with its own eviction rules: a size limit may be missing.\n")
	case "attached":
		p.Print("   Attached to another object by a ConditionalWeakTable; collected with that object.\n")
	}
	if s.Kind == answer.SuspectGroup {
		groupHolders(p, s)
	}
	if s.Path != nil {
		what := "Held by"
		if s.Point == nil {
			what = "One is held by"
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
		p.Printf("   Most of the bytes: %s\n", strings.Join(list, ", "))
	}
}

// remedy returns why a suspect is not collected, and what would free it.
func remedy(s *answer.Suspect) string {
	switch s.Kind {
	case answer.SuspectEvent:
		return "An event keeps its handlers and their objects alive as long as its owner lives, unless they are removed (-=)."
	case answer.SuspectTimers:
		return "An active timer and its state stay alive until it is disposed."
	case answer.SuspectCancellation:
		return "A registration and its state stay alive until it or its source is disposed: dispose what Register returns."
	case answer.SuspectRootScope:
		return "Disposables resolved from the root provider live until it is disposed; a scope (CreateScope) disposes them earlier."
	case answer.SuspectWeak:
		return "A weak reference outlives its object: each uses memory and a GC handle until it is removed."
	}
	if s.Weak != "" || s.Path == nil || s.Kind == answer.SuspectGroup {
		return ""
	}
	if s.Literals {
		return "An array with a handle of its own, as the runtime uses for literals and interned strings (String.Intern); those live until the process ends."
	}
	return rootRemedy(&s.Path.Root)
}

// eachRemedy returns how long a root keeps each of many objects.
func eachRemedy(h *answer.GroupHolder) string {
	switch {
	case h.Handle == "Strong" || h.Handle == "Pinned":
		return "Each has a GC handle and lives until that is freed."
	case h.Kind == "finalizer queue":
		return "Each awaits finalization and can be collected afterwards."
	case h.Kind == "frame":
		return "A running method refers to them: they can be collected when it returns or no longer needs them."
	}
	return ""
}

// rootRemedy returns how long a root keeps what it leads to.
func rootRemedy(r *answer.GCRoot) string {
	switch r.Kind {
	case "static field":
		return "A static field keeps it alive until the program removes it or sets the field to null."
	case "thread static":
		return "A thread static keeps it alive as long as the thread lives, unless the program removes it."
	case "stack":
		return "A running method refers to it: it can be collected when the method returns or no longer needs it."
	case "finalizer":
		return "It awaits finalization and can be collected afterwards."
	case "handle":
		if r.Handle == "Strong" || r.Handle == "Pinned" {
			return "A GC handle keeps it alive until the handle is freed."
		}
	}
	return ""
}

// targetWords label the targets of each kind of suspect.
var targetWords = map[string]string{
	answer.SuspectEvent:        "Handler targets",
	answer.SuspectTimers:       "State",
	answer.SuspectCancellation: "Callback targets and state",
	answer.SuspectRootScope:    "Including",
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
		return fmt.Sprintf("%s %s owned by one %s", report.Commas(s.Members.Count), report.Escape(s.Members.Type.String()), typeOf(s.Point))
	case answer.SuspectGroup:
		return fmt.Sprintf("%s %s without a single owner", report.Commas(s.Members.Count), report.Escape(s.Members.Type.String()))
	case answer.SuspectEvent:
		return fmt.Sprintf("%s handlers of %s", elements, eventName(s))
	case answer.SuspectTimers:
		return fmt.Sprintf("%s timers that call %s", elements, report.Escape(s.Name.String()))
	case answer.SuspectCancellation:
		return fmt.Sprintf("%s callbacks registered with one %s", elements, typeOf(s.Point))
	case answer.SuspectRootScope:
		return fmt.Sprintf("%s disposables kept by the root scope of a service provider until the program ends", elements)
	case answer.SuspectWeak:
		return fmt.Sprintf("%s of %s weak references in one %s are dead", report.Commas(s.Dead), elements, typeOf(collection(s)))
	}
	if s.Elements.Err == nil {
		return fmt.Sprintf("One %s with %s", typeOf(collection(s)), report.Count(s.Elements.Value, "element", "elements"))
	}
	return "One " + typeOf(s.Point)
}

// collection returns the object that has the elements.
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
		p.Print("   Each of these holders must release them:\n")
	}
	for i := range s.Holders {
		h := &s.Holders[i]
		name := report.Escape(h.Root.String())
		if h.Object != nil {
			name = fmt.Sprintf("one %s at %s", typeOf(h.Object), report.Hex12(h.Object.Address))
		}
		p.Printf("   %.0f%% (of %s sampled) are referenced by %s\n", h.Share, report.Commas(uint64(h.Sampled)), name)
		if text := eachRemedy(h); text != "" {
			p.Printf("   %s\n", text)
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
		p.Printf("   %.0f%% are referenced by %s %s%s\n", o.Share, report.Commas(o.Count), report.Escape(o.Type.String()), together(o.Count))
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
