package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Holders.cs, run with "moves" and with "stuck".
const (
	holdersMove  = "../../../../testdata/dumps/waits/net9-holders-moves/net9-holders-moves.dmp.zst"
	holdersStuck = "../../../../testdata/dumps/waits/net9-holders-stuck/net9-holders-stuck.dmp.zst"
)

// TestHoldersMove: nothing is wrong where those who hold a permit or a monitor wait for what goes on: a reply, a source of values that a timer completes, ticks, rows of an
// iterator, an event, an item, a permit or a pulse that a thread gives; nor, with a few who wait, where they wait for a socket or a file. A thread that sleeps for a time which is
// not read before it completes a promise is no more than a warning.
func TestHoldersMove(t *testing.T) {
	w := wholeWaits(t, holdersMove)
	for i := range w.Verdicts {
		if w.Verdicts[i].Kind == answer.NoFinding {
			continue // said of a lock that passes on
		}
		assert.Contains(t, w.Verdicts[i].Text, "Harbor.Gates.promised.slots")
		assert.Equal(t, answer.SeverityWarning, w.Verdicts[i].Severity)
	}
	waiting := map[string]int{}
	for i := range w.Operations {
		waiting[w.Operations[i].Name] += w.Operations[i].Count
	}
	for _, name := range []string{"promised.slots", "replied.slots", "sourced.slots", "ticked.slots", "listed.slots", "wired.slots", "leased.pool"} {
		assert.GreaterOrEqual(t, waiting["Harbor.Gates."+name], 3, name)
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
