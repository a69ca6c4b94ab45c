package words

import "github.com/sosgo/sosgo/answer"

// CantBeJudged replaces a conclusion if a premise does not hold.
var CantBeJudged = say("can't be judged", "can't be judged: the premise {premise} does not hold")

// Lower returns the conclusions with the strength that their premises allow. With a doubtful premise, a conclusion is
// at most likely, and one step weaker if it was likely or less. With a broken premise it becomes CantBeJudged, which
// is no finding.
func Lower(list []answer.Verdict, state answer.Premises) []answer.Verdict {
	out := make([]answer.Verdict, len(list))
	for i := range list {
		out[i] = lower(list[i], state)
	}
	return out
}

func lower(v answer.Verdict, state answer.Premises) answer.Verdict {
	doubtful := false
	for _, p := range v.Rests {
		switch state[p] {
		case answer.PremiseHolds:
		case answer.PremiseBroken:
			return answer.Verdict{Statement: CantBeJudged.Of(Text(string(p))), Strength: answer.StrengthUnknown, Rests: v.Rests}
		default:
			doubtful = true
		}
	}
	if doubtful {
		v.Strength = weaker[v.Strength]
	}
	return v
}

// weaker maps a strength to the strength under a doubtful premise.
var weaker = map[answer.Strength]answer.Strength{
	answer.StrengthRecorded: answer.StrengthLikely,
	answer.StrengthProved:   answer.StrengthLikely,
	answer.StrengthLikely:   answer.StrengthPossible,
	answer.StrengthPossible: answer.StrengthPossible,
	answer.StrengthUnknown:  answer.StrengthUnknown,
}
