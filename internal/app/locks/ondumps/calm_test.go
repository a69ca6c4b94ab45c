package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Calm.cs, run with "moves" and with "stuck".
const (
	calmMoves = "../../../../testdata/dumps/waits/net10-calm-moves/net10-calm-moves.dmp.zst"
	calmStuck = "../../../../testdata/dumps/waits/net10-calm-stuck/net10-calm-stuck.dmp.zst"
)

// TestCalmMoves: nothing is wrong where semaphores are entered hand over hand along a list, where threads write in turn under a Mutex that a delegate releases,
// and where one thread computes the value of a Lazy, or in a static constructor, for all.
func TestCalmMoves(t *testing.T) {
	w := waitsOf(t, calmMoves)
	for i := range w.Verdicts {
		assert.Equal(t, answer.NoFinding, w.Verdicts[i].Kind, w.Verdicts[i].Text)
	}
	kinds, cells := map[string]int{}, 0
	for i := range w.Threads {
		kinds[string(w.Threads[i].Kind)]++
	}
	for i := range w.Operations {
		if w.Operations[i].Name == "Calm.Cell.Gate" {
			cells += w.Operations[i].Count
		}
	}
	assert.GreaterOrEqual(t, cells, 3, "they wait for the next cell")
	assert.Equal(t, 5, kinds[string(answer.LockLazy)])
	assert.Equal(t, 5, kinds[string(answer.LockConstructor)])
	assert.GreaterOrEqual(t, kinds[string(answer.WaitHandle)], 5, "of a Mutex")
}

// TestCalmStuck: the same code is stuck where the last of a chain waits for what nobody does. A chain of semaphores is one finding, about its last one. Each
// is named by its address, and a Mutex with its owner.
func TestCalmStuck(t *testing.T) {
	w := waitsOf(t, calmStuck)
	walk := verdictAbout(t, w, "12 more operations wait behind these")
	assert.Equal(t, answer.FindingPermits, walk.Kind)
	assert.Empty(t, walk.Severity, "thirteen suffer")
	assert.Regexp(t, `^1 suspended operation waits for SemaphoreSlim [0-9a-f]{16} \(Calm\.Cell\.Gate\), 0 of 1 may enter; Calm\.Walks\.Walk [0-9a-f]{16} likely entered it, and waits for a promise`, walk.Text)
	permits := 0
	for i := range w.Verdicts {
		v := &w.Verdicts[i]
		assert.NotContains(t, v.Text, "nobody was found who can give a permit back", "threads hold each cell")
		if v.Kind == answer.FindingPermits {
			permits++
		}
	}
	assert.Equal(t, 1+5, permits, "one of the operations, and one for each thread that waits for a cell")
	mutex := verdictAbout(t, w, "Calm.Files.mutex")
	assert.Equal(t, answer.FindingWait, mutex.Kind)
	assert.Regexp(t, `^6 threads wait for the same System\.Threading\.Mutex .*; thread \d+ "first" likely holds it; thread \d+ "first" sleeps in Calm\.Files\.First\(\)$`, mutex.Text)
	lazy := verdictAbout(t, w, "Calm.Models.never")
	assert.Equal(t, answer.FindingHeld, lazy.Kind)
	assert.Empty(t, lazy.Severity, "it waits by running")
	tables := verdictAbout(t, w, "the static constructor of Calm.Models+Tables")
	assert.Equal(t, answer.FindingHeld, tables.Kind)
	assert.Regexp(t, `^thread \d+ "look 0" runs the static constructor of Calm\.Models\+Tables, for which 5 threads wait: .*; thread \d+ "look 0" itself waits for a System\.Threading\.ManualResetEvent `, tables.Text)
	for i := range w.Verdicts {
		assert.NotContains(t, w.Verdicts[i].Text, "System.Threading.Mutex in", "no thread runs a Mutex")
	}
	require.NotEmpty(t, w.Verdicts)
}

// TestUnreadWaiters: where the IL of the code that waits is not in the dump, who completes its promise is not known, and that is no finding: the subject is read in part.
func TestUnreadWaiters(t *testing.T) {
	w := waitsOf(t, "../../../../testdata/dumps/waits/net10-unread/net10-unread.dmp.zst")
	waiting := 0
	for i := range w.Operations {
		if w.Operations[i].Name == "Shop.Core.GroupCommit.batch" {
			waiting += w.Operations[i].Count
		}
	}
	assert.Equal(t, 25, waiting)
	assert.Empty(t, w.Verdicts)
	var noted []string
	for _, err := range w.Noted() {
		noted = append(noted, err.Error())
	}
	assert.Contains(t, strings.Join(noted, "\n"), "whether the waits of 25 suspended operations end, the first in Shop.Core.H.Commit: the IL of 96 of 176 methods of Debuggee.dll is not in the dump")
}
