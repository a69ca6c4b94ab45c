package processcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/target"
)

// TestTriageEnd: what a collection in progress was moving is no failure, and anything else that is missing is.
func TestTriageEnd(t *testing.T) {
	moving := answer.TriageAbsent{Subject: "a", Partly: true, Moving: true, Settles: "another dump", Err: target.ErrInCollection}
	unread := answer.TriageAbsent{Subject: "b", Settles: "another dump", Err: target.ErrInCollection}
	absent := answer.TriageAbsent{Subject: "c", Partly: true, Settles: "a heap dump", Err: target.ErrNotInDump}
	for want, list := range map[int][]answer.TriageAbsent{
		cli.ExitOK:          {moving, moving},
		cli.ExitUnsupported: {moving, unread},
		cli.ExitNotInDump:   {moving, absent},
	} {
		assert.Equal(t, want, cli.ExitCode(TriageEnd(&cli.Context{}, &answer.Triage{Unknown: list}, nil)))
	}
	found := &answer.Triage{Unknown: []answer.TriageAbsent{moving}, Findings: []answer.Finding{{}}}
	assert.Equal(t, cli.ExitGate, cli.ExitCode(TriageEnd(&cli.Context{}, found, nil)))
}
