package apptext

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// GRPCCalls is the text of grpc: completed calls are only counted, unless all are wanted.
func GRPCCalls(p *report.Page, a *answer.GRPCCalls, all, stacks bool) {
	shown := *a
	if !all {
		shown.Calls = slices.DeleteFunc(slices.Clone(a.Calls), func(c answer.GRPCCall) bool { return answer.Is(c.Done, true) })
	}
	if len(a.Calls) == 0 || len(shown.Calls) > 0 {
		card(p, &shown, stacks)
	}
	if n := len(a.Calls) - len(shown.Calls); n > 0 {
		p.Printf("%s (-all lists them)\n", report.Count(uint64(n), "completed call", "completed calls"))
	}
}
