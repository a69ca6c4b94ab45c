package words

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
)

// CantBeJudged stands in the place of a conclusion that has lost a premise.
var CantBeJudged = say("can't be judged", "can't be judged: {premise}")

// LowerOne returns a conclusion with its premises (Premises), and no stronger than these. A conclusion that rests on a doubtful premise is at
// most likely. One that rests on a broken premise says so in place of what it concluded, and is no finding.
//
// state returns the state of a premise: for the whole process, as process.Process.State does, or for one piece of evidence, as the reader
// knows it. LowerOne may be called again on its result, with the same state or another one.
func LowerOne(v answer.Verdict, state func(answer.Premise) answer.PremiseState) answer.Verdict {
	v.Rests = Premises(v)
	for _, p := range v.Rests {
		switch state(p) {
		case answer.PremiseHolds:
		case answer.PremiseBroken:
			broken := answer.Conclude(answer.NoFinding, CantBeJudged.Of(Text(p.Broken())), answer.StrengthUnknown)
			broken.Rests = v.Rests
			return broken
		default:
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
		}
	}
	return v
}

// StateFor returns the states of premises for one conclusion. Where it names threads, the stacks that are its evidence are theirs: stack returns
// the state of a thread's stack, by the thread's OS id. state returns the states for the process.
func StateFor(v *answer.Verdict, state func(answer.Premise) answer.PremiseState, stack func(thread uint32) answer.PremiseState) func(answer.Premise) answer.PremiseState {
	named := map[uint32]bool{}
	for _, list := range append([]answer.Statement{v.Statement}, v.Facts...) {
		for i := range list.Args {
			if a := &list.Args[i]; a.Type == answer.ArgThread {
				named[a.OSID] = true
			}
		}
	}
	return func(p answer.Premise) answer.PremiseState {
		if p != answer.StackComplete || len(named) == 0 || named[0] || len(named) < v.Count {
			return state(p) // one of the threads is not known by its OS id
		}
		worst := answer.PremiseHolds
		for id := range named {
			worst = max(worst, stack(id))
		}
		return worst
	}
}

// Premises returns what a conclusion rests on: the premises of its kind of sentence, and those in Rests. A kind without a row in the table
// rests on all premises. A text that this package did not make has those in Rests alone.
func Premises(v answer.Verdict) []answer.Premise {
	kind, declared := restsOn()[v.Says]
	if !declared && v.Says != "" {
		kind = answer.AllPremises()
	}
	out := slices.Clone(kind)
	for _, p := range v.Rests {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Declared reports whether a kind of sentence declares what a conclusion of that kind rests on.
func Declared(says string) bool {
	_, ok := restsOn()[says]
	return ok
}
