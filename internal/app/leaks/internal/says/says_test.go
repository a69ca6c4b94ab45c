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
		{Kind: "handles", Handle: "Strong"}:    "an object with a GC handle",
		{Kind: "handles", Handle: "Pinned"}:    "an object with a GC handle",
		{Kind: "finalizer queue"}:              "an object that awaits finalization",
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

// TestEach checks that the roots of some members are not given to all.
func TestEach(t *testing.T) {
	for want, counts := range map[string]map[string]int{
		"": {},
		"each of 8 that were followed kept by the stack of a thread":                       {"the stack of a thread": 8},
		"each of 8 that were followed kept in several ways, among them static A, static B": {"static A": 8, "static B": 8},
		"each of 8 that were followed kept in several ways, among them static A":           {"static A": 8, "static B": 3},
		"5 of 8 that were followed kept by static A":                                       {"static A": 5, "static B": 3},
	} {
		assert.Equal(t, want, Each(counts, 8).Text)
	}
}

// TestRemediesOfOwners checks that what frees an object fits what keeps it.
func TestRemediesOfOwners(t *testing.T) {
	s := &answer.Suspect{Kind: answer.SuspectObject, Path: &answer.RootPath{Root: answer.GCRoot{Kind: answer.RootStatic}}}
	for want, kept := range map[string]answer.Statement{
		"a static field keeps it alive":     And("static A", BesidesSlots),
		"each of these must release it":     And("static A", BesidesWaits),
		"until it is disposed":              ByTimer("Shop.Cart.Tick", "Shop.Cart.current"),
		"lives until the provider is dispo": ByService("Shop.Cart"),
	} {
		s.Kept = kept
		assert.Contains(t, Remedy(s).Text, want)
	}
	delays := &answer.Suspect{Kind: answer.SuspectTimers, Awaits: answer.Text{S: "Shop.Cart.Serves"}, Elements: answer.Known[uint64](200)}
	assert.Equal(t, "200 delays (Task.Delay) that Shop.Cart.Serves awaits", Title(delays).Text)
	assert.Contains(t, Remedy(delays).Text, "until it ends or is canceled")
	assert.Equal(t, "kept by a timer that calls Shop.Cart.Tick, as the value of AsyncLocal Shop.Cart.current when the timer was made", ByTimer("Shop.Cart.Tick", "Shop.Cart.current").Text)
}

// TestOneHashCode checks that a number of keys is the least where not all keys were read.
func TestOneHashCode(t *testing.T) {
	assert.Equal(t, "1,200 of 5,000 keys (Shop.Id) have one hash code: a search compares them one by one", OneHashCode(1200, 5000, 5000, "Shop.Id").Text)
	assert.Equal(t, "at least 1,200 of 200,000 keys have one hash code: a search compares them one by one", OneHashCode(1200, 131072, 200000, "").Text)
}

// TestDeadReferences checks that the numbers of a part are not said of all weak references.
func TestDeadReferences(t *testing.T) {
	s := answer.Suspect{Kind: answer.SuspectWeak, Point: &answer.PathObject{Type: answer.Text{S: "Bus"}}, Dead: 1200, Elements: answer.Known[uint64](1500)}
	assert.Equal(t, "1,200 of 1,500 weak references in one Bus are dead", Title(&s).Text)
	s.AtLeast = true
	assert.Equal(t, "1,200 of 1,500 weak references that were read in one Bus are dead", Title(&s).Text)
}
