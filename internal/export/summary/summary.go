// Package summary sums up a dump in one line, with signatures that are comparable across dumps. It works on
// answers, and does not read the dump. Start at AddCrash, AddLeaks and AddTriage.
//
// A signature is 16 hexadecimal digits: the start of a SHA-256 of names without addresses. The same crash in
// another process or after a restart has the same signature, and so has another version of the program while
// the names stay. A weak signature may differ for the same crash in another dump.
package summary

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/target"
)

// AddCrash adds why the process died. Without a crash in the dump there is no signature.
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

// Sign signs the crash of a summary anew with a text of rules. An empty text means the default rules.
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

// mostFindings is the largest number of findings in a summary.
const mostFindings = 10

// AddTriage adds the first findings of a triage, and notes what was not checked.
func AddTriage(s *answer.Summary, t *answer.Triage) {
	if s == nil || t == nil {
		return
	}
	noted := len(s.Noted())
	for i := range t.Unknown {
		err := t.Unknown[i].Err
		same := func(e error) bool { return err != nil && e.Error() == err.Error() } // already noted with the crash or the heap
		if !slices.ContainsFunc(s.Noted()[:noted], same) {
			s.Note(err)
		}
	}
	s.NoteOnce(target.ErrInCollection)
	for i := range t.Findings[:min(len(t.Findings), mostFindings)] {
		f := &t.Findings[i]
		x := answer.FindingSummary{Kind: f.Kind, Severity: f.Severity, Text: f.Text, Strength: f.Strength, Identity: f.Identity}
		if len(f.Clauses) > 0 {
			x.Sites = f.Clauses[0].Sites
		}
		s.Findings = append(s.Findings, x)
	}
}

// suspect returns a Suspect in few words. Its signature covers its kind, its type and what keeps it alive.
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
