package memorytext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestFoldedSteps: a long list on a path takes a line, and what lies around it is all there.
func TestFoldedSteps(t *testing.T) {
	step := func(at target.Addr, typ, by string) answer.PathStep {
		return answer.PathStep{PathObject: answer.PathObject{Address: at, Type: answer.Text{S: typ}}, Edge: &answer.PathEdge{Kind: "field", Name: answer.Text{S: by}}}
	}
	list := []answer.PathStep{step(1, "Head", ""), step(2, "Node", "_first")}
	for i := range 1000 {
		list = append(list, step(target.Addr(3+i), "Node", "_next"))
	}
	list = append(list, step(0x5000, "Value", "_value"))
	var b strings.Builder
	p := report.NewPage(&b, false, func(error) {})
	steps(p, list)
	text := b.String()
	assert.Equal(t, 5, strings.Count(text, "\n"), text)
	assert.Contains(t, text, "... 999 more Node, each by ._next")
	assert.Contains(t, text, "0000000003ea Node\n")
	assert.Contains(t, text, "000000005000 Value\n")
	short := list[:5]
	b.Reset()
	steps(p, short)
	assert.Equal(t, 5, strings.Count(b.String(), "\n"))
}

// TestLongPath: of a path of 100,000 objects that can't be folded its ends are written.
func TestLongPath(t *testing.T) {
	var list []answer.PathStep
	for i := range 100_000 {
		list = append(list, answer.PathStep{PathObject: answer.PathObject{Address: target.Addr(0x1000 + i), Type: answer.Text{S: fmt.Sprintf("Node%d", i%2)}},
			Edge: &answer.PathEdge{Kind: "field", Name: answer.Text{S: "_next"}}})
	}
	var b strings.Builder
	steps(report.NewPage(&b, false, func(error) {}), list)
	text := b.String()
	assert.Equal(t, 2*shownSteps+1, strings.Count(text, "\n"))
	assert.Contains(t, text, "-> 000000001000 Node0\n")
	assert.Contains(t, text, "... 99,800 more lines; --json lists all steps\n")
	assert.True(t, strings.HasSuffix(text, "-> 00000001969f Node1\n"), text[len(text)-100:])
	b.Reset()
	steps(report.NewPage(&b, false, func(error) {}), list[:2*shownSteps+1])
	assert.Equal(t, 2*shownSteps+1, strings.Count(b.String(), "\n"), "a short one is written whole")
}

// TestDeepTrees: the lines of deep trees begin at most MostIndent levels deep.
func TestDeepTrees(t *testing.T) {
	const depth = 20_000
	rows := make([]answer.DominatorRow, depth)
	for i := range rows {
		rows[i] = answer.DominatorRow{Depth: i, Object: &answer.PathObject{Address: 1, Type: answer.Text{S: "Node"}}}
	}
	var b strings.Builder
	dominatorRows(report.NewPage(&b, false, nil), rows, true)
	assert.Less(t, b.Len(), depth*(2*report.MostIndent+60))
	b.Reset()
	d := &answer.HeapDiff{Dumps: make([]answer.DiffedDump, 2)}
	for i := range depth {
		d.Paths = append(d.Paths, answer.PathGrowth{Depth: i, Name: "Node", Change: answer.Change{Sizes: []uint64{1, 2}}})
	}
	pathGrowths(report.NewPage(&b, false, nil), d)
	assert.Less(t, b.Len(), depth*(2*report.MostIndent+100))
}

// TestGroupReferrers checks that a group is not said to be without referrers above a line that names them.
func TestGroupReferrers(t *testing.T) {
	text := func(others ...answer.GroupReferrers) string {
		var b strings.Builder
		groupHolders(report.NewPage(&b, false, func(error) {}), &answer.Suspect{Others: others})
		return b.String()
	}
	arrays := answer.GroupReferrers{Type: answer.Text{S: "System.Byte[][]"}, Count: 2, Share: 80}
	assert.Equal(t, "   No object references most of them.\n", text())
	assert.Equal(t, "   80.0% are referenced by 2 System.Byte[][] together, by none of them alone\n", text(arrays))
	arrays.Count = 1
	assert.Equal(t, "   80.0% are referenced by 1 System.Byte[][]\n", text(arrays))
}
