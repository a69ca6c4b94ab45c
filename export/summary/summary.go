// Package summary sums a dump up: in one line, and by signatures that hold across dumps. It is made of answers alone and reads nothing.
//
// A signature is 16 hexadecimal digits: the start of a SHA-256 of names, which have no addresses in them. The same crash in another process,
// or after a restart, has the same one; another version of the program has, as long as the names stay. A weak one is of a crash that may
// have another one elsewhere.
//
// Stability: unstable.
package summary

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/signature"
)

// AddCrash says why the process died. A process of which the dump tells no crash has no signature.
func AddCrash(s *answer.Summary, c *answer.Crash) {
	if s == nil || c == nil {
		return
	}
	s.NoteAll(c.Noted())
	s.Crashed, s.Undecided, s.Reason = !c.Alive, c.Undecided, c.Reason
	if !s.Crashed {
		return
	}
	s.Likely = c.Likely
	if len(c.Exceptions) > 0 {
		e := &c.Exceptions[0]
		if e.Type.Err == nil {
			s.Exception = e.Type.S
		}
		if e.Message != nil && e.Message.Err == nil {
			s.Message = e.Message.S
		}
	}
	id := signature.Crash(c, nil)
	s.Identity, s.Top = id.Identity, id.Frame
}

// Sign signs the crash of a summary anew, by the text of rules for signatures. An empty text stands for the default rules.
func Sign(s *answer.Summary, c *answer.Crash, rules string) error {
	if s == nil || c == nil || !s.Crashed || rules == "" {
		return nil
	}
	parsed, err := signature.ParseRules(rules)
	if err != nil {
		return err
	}
	id := signature.Crash(c, parsed)
	s.Identity, s.Top = id.Identity, id.Frame
	return nil
}

// AddLeaks adds the sizes of the heap and its largest holders.
func AddLeaks(s *answer.Summary, l *answer.Leaks) {
	if s == nil || l == nil {
		return
	}
	s.NoteAll(l.Noted())
	garbage := l.Garbage.Size
	s.Objects, s.Size, s.Garbage = &l.Live.Objects, &l.Live.Size, &garbage
	for i := range l.Suspects {
		s.Suspects = append(s.Suspects, suspect(&l.Suspects[i]))
	}
}

// mostFindings is how many findings a summary has.
const mostFindings = 10

// AddTriage adds the first findings of a triage, and notes what it could not look at.
func AddTriage(s *answer.Summary, t *answer.Triage) {
	if s == nil || t == nil {
		return
	}
	noted := len(s.Noted())
	for i := range t.Unknown {
		err := t.Unknown[i].Err
		same := func(e error) bool { return err != nil && e.Error() == err.Error() } // the crash and the heap have noted it themselves
		if !slices.ContainsFunc(s.Noted()[:noted], same) {
			s.Note(err)
		}
	}
	for i := range t.Findings[:min(len(t.Findings), mostFindings)] {
		f := &t.Findings[i]
		x := answer.FindingSummary{Kind: f.Kind, Severity: f.Severity, Text: f.Text, Strength: f.Strength, Identity: f.Identity}
		if len(f.Clauses) > 0 {
			x.Sites = f.Clauses[0].Sites
		}
		s.Findings = append(s.Findings, x)
	}
}

// suspect returns a Suspect in few words. Its signature is of its kind, what it is and what keeps it alive.
func suspect(x *answer.Suspect) answer.SuspectSummary {
	out := answer.SuspectSummary{Kind: x.Kind, Verdict: x.Verdict, Retained: x.Retained, Share: x.Share}
	holder := x.Owner
	if holder == nil {
		holder = x.Point
	}
	if holder != nil && holder.Type.Err == nil {
		out.Type = holder.Type.S
	}
	if x.Members != nil && x.Members.Type.Err == nil {
		out.Members = x.Members.Type.S
	}
	out.Identity, out.Root = signature.Suspect(x)
	return out
}
