package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// Dumps of Holders.cs, run with "moves" and with "stuck".
const (
	holdersMove  = "../../../../testdata/dumps/waits/net9-holders-moves/net9-holders-moves.dmp.zst"
	holdersStuck = "../../../../testdata/dumps/waits/net9-holders-stuck/net9-holders-stuck.dmp.zst"
)

// TestHoldersMove: nothing is wrong where those who hold a permit or a monitor wait for what goes on: a reply, a source of values that a timer completes, ticks, rows of an
// iterator, an event, an item, a permit or a pulse that a thread gives; nor, with a few who wait, where they wait for a socket or a file.
func TestHoldersMove(t *testing.T) {
	w := wholeWaits(t, holdersMove)
	for i := range w.Verdicts {
		assert.Equal(t, answer.NoFinding, w.Verdicts[i].Kind, w.Verdicts[i].Text)
	}
	waiting := map[string]int{}
	for i := range w.Operations {
		waiting[w.Operations[i].Name] += w.Operations[i].Count
	}
	for _, name := range []string{"promised.slots", "replied.slots", "sourced.slots", "ticked.slots", "listed.slots", "wired.slots", "leased.pool"} {
		assert.GreaterOrEqual(t, waiting["Harbor.Gates."+name], 3, name)
	}
	entering := map[string]int{} // by what the threads' names begin with
	for i := range w.Threads {
		if row := &w.Threads[i]; strings.HasPrefix(row.Method.S, "Harbor.Desk.Serve") {
			what, _, _ := strings.Cut(row.Thread.Name, " ")
			entering[what]++
		}
	}
	for _, what := range []string{"event", "item", "permit", "pulse", "nap", "file", "socket"} {
		assert.GreaterOrEqual(t, entering[what], 3, what)
	}
}

// TestHoldersStuck: the same code is stuck where the thread that would go on has ended, the actor has to enter first, the timer was disposed of, a loop polls for what nobody
// sets, an iterator waits for what nobody completes or was dropped, and who has the permits sleeps for an hour.
func TestHoldersStuck(t *testing.T) {
	w := wholeWaits(t, holdersStuck)
	for about, says := range map[string]string{
		"Harbor.Gates.promised.slots": `likely entered it; the first of them waits for a promise in `,
		"Harbor.Gates.replied.slots":  `likely entered it; the first of them waits for an item in a channel `,
		"Harbor.Gates.sourced.slots":  `likely entered it; the first of them waits for an object of class Harbor\.Source$`,
		"Harbor.Gates.ticked.slots":   `likely entered it; the first of them waits for the next tick of a PeriodicTimer$`,
		"Harbor.Gates.listed.slots":   `likely entered it; the first of them waits for a promise in Harbor\.Gates\.never$`,
		"Harbor.Gates.leased.pool": `Harbor\.Repo\.Query [0-9a-f]{16} and 3 more likely entered it; the first of them waits for a request for its next element, and nothing that runs later leads to it: ` +
			`it was not disposed of$`,
	} {
		v := verdictAbout(t, w, "suspended operations wait for "+about)
		assert.Equal(t, answer.FindingPermits, v.Kind, about)
		assert.Regexp(t, says, v.Text)
		if about == "Harbor.Gates.ticked.slots" {
			assert.Equal(t, answer.SeverityWarning, v.Severity, "it goes on in ticks")
			continue
		}
		assert.Empty(t, v.Severity, about)
	}
	for _, name := range []string{"event", "item", "permit", "pulse"} {
		v := verdictAbout(t, w, `"`+name+` 0"`)
		assert.Equal(t, answer.FindingHeld, v.Kind, name)
		assert.Empty(t, v.Severity, name)
	}
}

// TestHoldersUnread: what has entered a semaphore is read, and not the code of what would end its waits. It is not known then whether it goes on: no more than a warning, and
// the locks are read in part. That nobody asks an iterator for its next element is read from the heap.
func TestHoldersUnread(t *testing.T) {
	for _, path := range []string{holdersMove, holdersStuck} {
		bare, _ := withoutIL(t, openCanned(t, path), "Harbor.Gate", "Harbor.Repo")
		w, err := locks.Waits(t.Context(), view(t, bare).Process, locks.Options{})
		require.NoError(t, err)
		for _, name := range []string{"promised.slots", "replied.slots", "sourced.slots"} {
			v := verdictAbout(t, w, "suspended operations wait for Harbor.Gates."+name)
			assert.Equal(t, answer.FindingPermits, v.Kind, name)
			assert.Contains(t, v.Text, " likely entered it", name)
			assert.Equal(t, answer.SeverityWarning, v.Severity, name)
		}
		if path == holdersStuck {
			assert.Empty(t, verdictAbout(t, w, "suspended operations wait for Harbor.Gates.leased.pool").Severity)
		}
		require.NotEmpty(t, w.Noted())
		assert.ErrorIs(t, w.Noted()[0], dac.ErrILMissing)
	}
}
