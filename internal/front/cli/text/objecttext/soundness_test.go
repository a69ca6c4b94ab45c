package objecttext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestSoundnessInACollection: faults that may be the collector's work are counted, and listed on demand and in SOS's form.
func TestSoundnessInACollection(t *testing.T) {
	text := func(s *answer.Soundness, sos, traces bool) string {
		var b strings.Builder
		objecttext.Soundness(report.NewPage(&b, sos, func(error) {}), s, traces)
		return b.String()
	}
	s := &answer.Soundness{Objects: 2000, Errors: 1, Faults: []answer.Fault{{Kind: "InvalidMethodTable", Reason: "no MethodTable"}}, Moving: true}
	assert.Equal(t, "2,000 objects verified. The heap can't be judged: a garbage collection was in progress.\n"+
		"Left by the collection, or damaged (-ignoregcstate lists all): 1.\n", text(s, false, false))
	for _, form := range []string{text(s, true, false), text(s, false, true)} {
		assert.Contains(t, form, "no MethodTable")
		assert.Contains(t, form, "1 errors")
	}
	s.Errors, s.Faults = 0, nil
	assert.NotContains(t, text(s, false, false), "No heap corruption")
	assert.NotContains(t, text(s, false, false), "damaged")
	assert.Contains(t, text(s, false, true), "No heap corruption detected in what could be read.\n")
}
