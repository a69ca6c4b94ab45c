package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// TestBoards: threads that take turns in a library, without a loop while they have its lock, are no finding, though each calls it in a loop without an end; nor is it one that Main
// waits for the end of a thread which has its turn in a moment.
func TestBoards(t *testing.T) {
	w := wholeWaits(t, "../../../../testdata/dumps/waits/net9-boards/net9-boards.dmp.zst")
	for i := range w.Verdicts {
		assert.Equal(t, answer.NoFinding, w.Verdicts[i].Kind, w.Verdicts[i].Text)
	}
	soon := 0
	for i := range w.Threads {
		if w.Threads[i].Soon {
			soon++
		}
	}
	require.Equal(t, 4, soon)
}
