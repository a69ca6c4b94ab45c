package crash

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
)

// overflowed reports whether the runtime reported a stack overflow.
func (d *describer) overflowed() bool {
	return len(d.out.Exceptions) > 0 && d.out.Exceptions[0].HResult == resultStackOverflow
}

// concludeOverflow reports the calls that filled the stack.
func (d *describer) concludeOverflow() {
	evidence := []answer.Statement{words.OverflowSet.Of(threadSays(d.died.Thread))}
	var where answer.Statement
	most := -1
	for i := range d.out.Stack {
		if f := &d.out.Stack[i]; f.Cycle > 0 && (most < 0 || f.Cycle*f.Repeat > d.out.Stack[most].Cycle*d.out.Stack[most].Repeat) {
			most = i
		}
	}
	if most < 0 {
		where = d.innermostCode()
	} else {
		f := &d.out.Stack[most]
		where = recursion(f, d.out.Stack[most:min(most+f.Cycle, len(d.out.Stack))])
		evidence = append(evidence, words.Rounds.Of(words.N(f.Cycle*f.Repeat), words.N(d.out.Frames), words.N(f.Repeat)))
	}
	d.blame(words.Overflowed.Of(where), answer.StrengthProved, evidence...)
}

// recursion describes a sequence of calls that a stack repeats from f on.
func recursion(f *answer.CrashFrame, round []answer.CrashFrame) answer.Statement {
	own := max(0, slices.IndexFunc(round, func(f answer.CrashFrame) bool { return f.Method.Err == nil && !answer.LibraryMethod(f.Method.S) }))
	through := answer.Statement{}
	var others []string // the round may have several calls of one method
	for i := range round {
		if name := round[i].Method.String(); name != round[own].Method.String() && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	switch {
	case len(others) == 0 && len(round) == f.Cycle: // it calls itself, perhaps in several places
	case len(others) == 1 && len(round) == f.Cycle:
		through = words.ThroughMethod.Of(words.Method(others[0]))
	case f.Cycle > 1:
		through = words.ThroughCalls.Of(words.N(f.Cycle - 1))
	}
	return words.CalledItself.Of(words.Method(round[own].Method.String()), through, sourceLine(round[own].File, round[own].Line))
}
