package answer_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestLacks checks that a fact that could not be answered is named once, even if its error names it. A fact that no
// dump records is not a gap.
func TestLacks(t *testing.T) {
	var p answer.Process
	var gc answer.GC
	named := fmt.Errorf("command line: %w", target.ErrNotInDump)
	for _, lacks := range []func(string, error){p.Lacks, gc.Lacks} {
		lacks("command line", named)
		lacks("command line", target.ErrNotInDump)
		lacks("time", target.ErrUnsupported)
		lacks("nothing", nil)
	}
	for _, got := range []struct {
		absent []answer.AbsentFact
		noted  []error
	}{{p.Absent, p.Noted()}, {gc.Absent, gc.Noted()}} {
		if assert.Len(t, got.absent, 3) {
			assert.Equal(t, answer.AbsentFact{What: "command line", Reason: "not in the dump", Err: named}, got.absent[0])
			assert.Equal(t, "not in the dump", got.absent[1].Reason)
		}
		if assert.Len(t, got.noted, 2) {
			assert.EqualError(t, got.noted[0], "command line: not in the dump")
			assert.EqualError(t, got.noted[1], "command line: not in the dump")
		}
		assert.ErrorIs(t, errors.Join(got.noted...), target.ErrNotInDump)
	}
}
