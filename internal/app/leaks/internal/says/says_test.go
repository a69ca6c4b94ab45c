package says

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestJudge checks that only a heap that could be read is called small, and that garbage is no leak.
func TestJudge(t *testing.T) {
	text := func(l answer.Leaks) (text string) {
		l.Thresholds = answer.LeakThresholds{Share: 10, Least: 2, Bytes: 1 << 16, Small: 16 << 20}
		l.Small = l.Live.Size < l.Thresholds.Small
		for _, v := range Judge(&l) {
			text += v.Text + "\n"
		}
		return text
	}
	few := answer.HeapPart{Objects: 10, Size: 1000}
	assert.Contains(t, text(answer.Leaks{Live: few}), "does not explain high memory use")
	assert.NotContains(t, text(answer.Leaks{Live: few, Incomplete: true}), "does not explain high memory use")
	garbage := text(answer.Leaks{Live: few, Garbage: answer.HeapPart{Objects: 1, Size: 1 << 30}})
	assert.NotContains(t, garbage, "does not explain high memory use")
	assert.Contains(t, garbage, "not a leak")
	assert.Contains(t, text(answer.Leaks{Live: few, Nameless: 3}), "3 types have no names")
	large := text(answer.Leaks{Live: answer.HeapPart{Objects: 1 << 20, Size: 1 << 30}})
	assert.NotContains(t, large, "little")
	assert.Contains(t, large, "no single holder retains 2.0% of live memory (and 64.0 KB)")
}

// TestRemedies checks what frees the members of a group, and what an object's root keeps.
func TestRemedies(t *testing.T) {
	for holder, want := range map[*answer.GroupHolder]string{
		{Kind: "handles", Handle: "Strong"}:    "each has a GC handle",
		{Kind: "handles", Handle: "Pinned"}:    "each has a GC handle",
		{Kind: "finalizer queue"}:              "each awaits finalization",
		{Kind: "frame"}:                        "a running method",
		{Kind: "handles", Handle: "Dependent"}: "",
	} {
		text := EachRemedy(holder).Text
		assert.Equal(t, want == "", text == "", text)
		assert.Contains(t, text, want)
	}
	list := answer.Suspect{Kind: answer.SuspectAccumulation, Path: &answer.RootPath{Root: answer.GCRoot{Kind: "handle", Handle: "Strong", Object: 16}}}
	assert.Contains(t, Remedy(&list).Text, "until the handle is freed")
	list.Literals = true
	assert.Contains(t, Remedy(&list).Text, "String.Intern")
	list.Weak = "cached"
	assert.Contains(t, Remedy(&list).Text, "eviction rules")
	list.Kind = answer.SuspectEvent
	assert.Contains(t, Remedy(&list).Text, "unless they are removed")
}

// TestTitle checks that a title has the number of elements as an argument, and says if there are more.
func TestTitle(t *testing.T) {
	queue := &answer.PathObject{Address: 16, Type: answer.Text{S: "Queue"}}
	s := answer.Suspect{Kind: answer.SuspectObject, Point: queue, Elements: answer.Known[uint64](1)}
	assert.Equal(t, "one Queue with 1 element", Title(&s).Text)
	s.Elements.Value = 12345
	assert.Equal(t, "one Queue with 12,345 elements", Title(&s).Text)
	s.Kind, s.AtLeast = answer.SuspectCancellation, true
	says := Title(&s)
	assert.Equal(t, "at least 12,345 callbacks registered with one Queue", says.Text)
	assert.Equal(t, uint64(12345), *says.Args[1].Number)
}
