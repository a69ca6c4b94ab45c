package triage

import (
	"unicode/utf16"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
)

// once returns ranked findings with one for all that differ in nothing but the objects and threads: they are of one kind, at the same code, and have the same cause. It is the
// first of them, and says how many more there are.
func once(list []answer.Finding) (out []answer.Finding) {
	type alike struct {
		kind      answer.FindingKind
		severity  answer.Severity
		strength  answer.Strength
		signature string
		says      string
	}
	out = make([]answer.Finding, 0, len(list))
	at, more := map[alike]int{}, map[int]int{}
	for i := range list {
		f := &list[i]
		k := alike{f.Kind, f.Severity, f.Strength, f.Signature, withoutObjects(&f.Statement)}
		first, known := at[k]
		if !known || f.Signature == "" { // without one, nothing says at which code it is
			at[k] = len(out)
			out = append(out, *f)
			continue
		}
		out[first].Count = max(out[first].Count, 1) + max(f.Count, 1)
		more[first]++
	}
	for i, n := range more {
		out[i].Statement = out[i].Plus(words.MoreAlike.Of(words.N(n)))
	}
	return out
}

// withoutObjects returns a statement's text with marks in place of objects, addresses and threads.
func withoutObjects(s *answer.Statement) string {
	text := utf16.Encode([]rune(s.Text))
	out, at := "", 0
	for i := range s.Args {
		a := &s.Args[i]
		switch a.Type {
		case answer.ArgObject, answer.ArgAddress, answer.ArgThread:
			if at <= a.Start && a.End <= len(text) {
				out += string(utf16.Decode(text[at:a.Start])) + "\x00"
				at = a.End
			}
		}
	}
	return out + string(utf16.Decode(text[at:]))
}
