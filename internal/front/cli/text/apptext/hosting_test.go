package apptext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text/apptext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestChangesAreRecorded: where changes are counted, the text says that edits since the last DetectChanges are not
// among them; where none are counted, it claims nothing about them.
func TestChangesAreRecorded(t *testing.T) {
	const caveat = "edits since its last DetectChanges are not counted"
	text := func(changed answer.Maybe[int64], used bool) string {
		var b strings.Builder
		a := &answer.DbContexts{Contexts: []answer.DbContext{{Address: 1, Type: answer.Text{S: "ShopContext"}, Used: used, Tracked: answer.Known[int64](8), Changed: changed}}}
		apptext.Card(report.NewPage(&b, false, func(error) {}), a)
		return b.String()
	}
	none := text(answer.Known[int64](0), true)
	assert.Contains(t, none, "tracks 8, 0 changed")
	assert.Contains(t, none, caveat, "0 is EF Core's record, too")
	assert.Contains(t, text(answer.Known[int64](3), true), caveat)
	unknown := text(answer.Missing[int64](target.ErrNotInDump), true)
	assert.NotContains(t, unknown, "changed")
	assert.NotContains(t, unknown, caveat)
	assert.NotContains(t, text(answer.Known[int64](0), false), caveat, "an unused context has no changes to speak of")
}
