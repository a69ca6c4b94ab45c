package triage

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
)

// TestCollisions checks that a thousand keys of one hash code are a finding, whatever their size, and a clause of a large holder.
func TestCollisions(t *testing.T) {
	table := answer.Suspect{Kind: answer.SuspectObject, Verdict: answer.VerdictNotable, Retained: 1 << 20, Share: 30, Point: &answer.PathObject{Address: 0x10, Type: answer.Text{S: "Shop.Table"}},
		Path: &answer.RootPath{Root: answer.GCRoot{Kind: answer.RootStatic, Name: "static Shop.Cart.all"}}}
	judge := func(colliding uint64) []answer.Finding {
		q := healthy()
		x := table
		x.Colliding, x.Chain = colliding, words.OneHashCode.Of(answer.Statement{}, words.Commas(colliding), words.Commas(2*colliding), answer.Statement{})
		q.Leaks = Got(&answer.Leaks{Small: x.Verdict != answer.VerdictSuspect, Suspects: []answer.Suspect{x}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		return out.Findings
	}
	assert.Empty(t, judge(manyCollisions-1))
	found := judge(manyCollisions)
	require.Len(t, found, 1)
	assert.Equal(t, answer.FindingCollisions, found[0].Kind)
	assert.Equal(t, "Shop.Table 10, kept by static Shop.Cart.all: 1,000 of 2,000 keys have one hash code: a search compares them one by one", found[0].Text)
	table.Verdict, table.Retained = answer.VerdictSuspect, 30<<20
	found = judge(manyCollisions)
	require.Len(t, found, 1)
	assert.Equal(t, answer.FindingHolder, found[0].Kind)
	require.Len(t, found[0].Clauses, 2)
	assert.Equal(t, "1,000 of 2,000 keys have one hash code: a search compares them one by one", found[0].Clauses[1].Text)
}
