package words

import "github.com/sosgo/sosgo/answer"

// CantBeJudged stands in the place of a conclusion that has lost a premise.
var CantBeJudged = say("can't be judged", "can't be judged: {premise}")

// Lower returns conclusions that are no stronger than their premises. One that rests on a doubtful premise is at most likely. One that rests
// on a broken premise says so in place of what it concluded, and is no finding. Lower may be called again on its result.
func Lower(list []answer.Verdict, state answer.Premises) []answer.Verdict {
	out := make([]answer.Verdict, len(list))
	for i := range list {
		out[i] = lower(list[i], state)
	}
	return out
}

func lower(v answer.Verdict, state answer.Premises) answer.Verdict {
	for _, p := range v.Rests {
		switch state[p] {
		case answer.PremiseHolds:
		case answer.PremiseBroken:
			return answer.Verdict{Statement: CantBeJudged.Of(Text(p.Broken())), Strength: answer.StrengthUnknown, Rests: v.Rests}
		default:
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
		}
	}
	return v
}
