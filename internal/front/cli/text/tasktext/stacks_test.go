package tasktext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text/tasktext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestNoStacks checks that text without a stack says whether some may be missing.
func TestNoStacks(t *testing.T) {
	for want, missing := range map[string]error{
		"No matching stacks.\n": nil, "No matching stacks found; some data could not be read.\n": target.ErrCorrupt,
	} {
		var b strings.Builder
		var warned []error
		tasktext.Async(report.NewPage(&b, false, func(err error) { warned = append(warned, err) }), &answer.Async{Stacks: func(yield func(*answer.AsyncStack, error) bool) {
			if missing != nil {
				yield(nil, missing)
			}
		}})
		assert.Equal(t, want, b.String())
		assert.Equal(t, missing != nil, len(warned) == 1)
	}
}
