package memorytext

import (
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

// TestGroupReferrers checks that a group is not said to be without referrers above a line that names them.
func TestGroupReferrers(t *testing.T) {
	text := func(others ...answer.GroupReferrers) string {
		var b strings.Builder
		groupHolders(report.NewPage(&b, false, func(error) {}), &answer.Suspect{Others: others})
		return b.String()
	}
	arrays := answer.GroupReferrers{Type: answer.Text{S: "System.Byte[][]"}, Count: 2, Share: 80}
	assert.Equal(t, "   No object references most of them.\n", text())
	assert.Equal(t, "   80% are referenced by 2 System.Byte[][] together, by none of them alone\n", text(arrays))
	arrays.Count = 1
	assert.Equal(t, "   80% are referenced by 1 System.Byte[][]\n", text(arrays))
}
