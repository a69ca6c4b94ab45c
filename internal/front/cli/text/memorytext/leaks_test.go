package memorytext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestLeaksSmall: that a heap is small is said of one that could be read, and garbage is no leak.
func TestLeaksSmall(t *testing.T) {
	text := func(l answer.Leaks) string {
		var b strings.Builder
		l.Thresholds = answer.LeakThresholds{Share: 10, Least: 2, Bytes: 1 << 16, Small: 16 << 20}
		l.Small = l.Live.Size < l.Thresholds.Small
		Leaks(report.NewPage(&b, false, func(error) {}), &l)
		return b.String()
	}
	few := answer.HeapPart{Objects: 10, Size: 1000}
	assert.Contains(t, text(answer.Leaks{Live: few}), "does not explain high memory use")
	missing := text(answer.Leaks{Live: few, Incomplete: true})
	assert.NotContains(t, missing, "does not explain high memory use")
	assert.True(t, strings.HasPrefix(missing, "Incomplete"), "that comes first")
	garbage := text(answer.Leaks{Live: few, Garbage: answer.HeapPart{Objects: 1, Size: 1 << 30}})
	assert.NotContains(t, garbage, "does not explain high memory use")
	assert.Contains(t, garbage, "not a leak")
	assert.Contains(t, text(answer.Leaks{Live: few, Nameless: 3}), "Names of 3 types")
	assert.NotContains(t, text(answer.Leaks{Live: answer.HeapPart{Objects: 1 << 20, Size: 1 << 30}}), "small")
}

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

// TestLeaksRemedies: a holder of each object of a group is followed by what would release it.
func TestLeaksRemedies(t *testing.T) {
	text := func(s answer.Suspect) string {
		var b strings.Builder
		suspect(report.NewPage(&b, false, func(error) {}), &s)
		return b.String()
	}
	name := func(s string) answer.Text { return answer.Text{S: s} }
	members := &answer.TypeCount{Type: name("Contoso.State"), Count: 600, Size: 1 << 20}
	for holder, want := range map[*answer.GroupHolder]string{
		{Kind: "handles", Handle: "Strong", Root: name("strong handle")}:       "Each has a GC handle",
		{Kind: "handles", Handle: "Pinned", Root: name("pinned handle")}:       "Each has a GC handle",
		{Kind: "finalizer queue", Root: name("finalizer queue")}:               "Each awaits finalization",
		{Kind: "frame", Root: name("Contoso.Program.Main()")}:                  "A running method",
		{Kind: "handles", Handle: "Dependent", Root: name("dependent handle")}: "",
	} {
		out := text(answer.Suspect{Kind: answer.SuspectGroup, Members: members, Holders: []answer.GroupHolder{*holder}})
		assert.Contains(t, out, "are referenced by "+holder.Root.S+"\n")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if want == "" {
			assert.Len(t, lines, 2, out)
			continue
		}
		require.Len(t, lines, 3, out)
		assert.Contains(t, lines[2], want)
	}

	list := answer.Suspect{Kind: answer.SuspectAccumulation, Point: &answer.PathObject{Address: 16, Type: name("System.Object[]")},
		Members: &answer.TypeCount{Type: name("System.String"), Count: 1000, Size: 1 << 20},
		Path:    &answer.RootPath{Root: answer.GCRoot{Kind: "handle", Handle: "Strong", Object: 16}}}
	assert.Contains(t, text(list), "until the handle is freed")
	list.Literals = true
	assert.Contains(t, text(list), "String.Intern")
	assert.NotContains(t, text(list), "until the handle is freed")
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
