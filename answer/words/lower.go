package words

import "github.com/sosgo/sosgo/answer"

// CantBeJudged stands in the place of a conclusion that has lost a premise.
var CantBeJudged = say("can't be judged", "can't be judged: the premise {premise} does not hold")

// Lower returns conclusions as strong as the premises allow that they rest on. One that rests on a doubtful premise is at most likely, and weaker by
// a step if it was no more; one that rests on a premise that does not hold is no finding and says so.
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

// weaker has the strength of a conclusion that rests on a doubtful premise.
var weaker = map[answer.Strength]answer.Strength{
	answer.StrengthRecorded: answer.StrengthLikely,
	answer.StrengthProved:   answer.StrengthLikely,
	answer.StrengthLikely:   answer.StrengthPossible,
	answer.StrengthPossible: answer.StrengthPossible,
	answer.StrengthUnknown:  answer.StrengthUnknown,
}
