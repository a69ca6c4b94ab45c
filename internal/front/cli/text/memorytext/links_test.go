package memorytext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestNoLinks: that nothing refers to an object is said where all could be read.
func TestNoLinks(t *testing.T) {
	text := func(l *answer.Links) string {
		var b strings.Builder
		Links(report.NewPage(&b, false, func(error) {}), l)
		return b.String()
	}
	for _, referrers := range []bool{true, false} {
		l := &answer.Links{Referrers: referrers}
		assert.NotContains(t, text(l), "readable")
		l.Note(target.ErrNotInDump)
		assert.Contains(t, text(l), "readable")
	}
}
