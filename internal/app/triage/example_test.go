package triage_test

import (
	"context"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
)

func ExampleJudge() {
	out, err := triage.Judge(context.Background(), &triage.Answers{
		Waits: triage.Got(&answer.Waits{Verdicts: []answer.Verdict{{Kind: answer.FindingDeadlock, Statement: answer.Statement{Text: "deadlock: thread 3 waits for thread 4, and 4 for 3"}, Strength: answer.StrengthProved}}}, nil),
	}, triage.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range out.Findings {
		fmt.Printf("%s (%s): %s [%s]\n", f.Kind, f.Severity, f.Text, f.Strength)
	}
	fmt.Println("all other subjects were looked at:", len(out.Unknown) == 0)
	// Output:
	// deadlock (fatal): thread 3 waits for thread 4, and 4 for 3 [proved]
	// all other subjects were looked at: false
}
