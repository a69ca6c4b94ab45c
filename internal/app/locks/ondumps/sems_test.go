package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// Dumps of Sems.cs, run with "moves" and with "stuck".
const (
	semsMoves = "../../../../testdata/dumps/waits/net9-sems-moves/net9-sems-moves.dmp.zst"
	semsStuck = "../../../../testdata/dumps/waits/net9-sems-stuck/net9-sems-stuck.dmp.zst"
)

// TestSemsMove: nothing is wrong where semaphores pass on: locks for each key, pools that give out what is disposed of, a lock around what one renews for
// all, a limit on methods that pause a constant number of times, and a Mutex for which threads stand by.
func TestSemsMove(t *testing.T) {
	w := waitsOf(t, semsMoves)
	assert.Empty(t, w.Verdicts)
	counts := map[string]int{}
	for i := range w.Operations {
		op := &w.Operations[i]
		counts[op.Name] += op.Count
		for _, h := range op.Holders {
			if op.Name == "Sems.Rooms+Slot.Door" || op.Name == "Sems.Badge.desk" {
				assert.Equal(t, answer.StrengthLikely, h.Strength, "%s: the code shows who has entered which", op.Name)
				assert.Len(t, op.Holders, 1, op.Name)
			}
		}
	}
	for name, want := range map[string]int{"Sems.Badge.desk": 119, "Sems.Press.two": 3, "Sems.Harbor.berths": 6, "Sems.Ferries.places": 3, "Sems.Rooms+Slot.Door": 14, "Sems.Halls+Slot.Gate": 8} {
		assert.Equal(t, want, counts[name], "%s: they wait", name)
	}
}

// TestSemsStuck: the same code is stuck where who has entered waits for what never comes, polls, or never steps down; and more than a hundred wait long where each of them
// has to pause itself.
func TestSemsStuck(t *testing.T) {
	w := waitsOf(t, semsStuck)
	require.Len(t, w.Verdicts, 8)
	for field, want := range map[string]string{
		"Sems.Rooms+Slot.Door": `; Sems\.Program\.Guest [0-9a-f]{16} likely entered it, and waits for a promise in Sems\.Never\.Comes$`,
		"Sems.Halls+Slot.Gate": `; Sems\.Program\.Visitor [0-9a-f]{16} may have entered it, and waits for a promise in Sems\.Never\.Comes$`,
		"Sems.Harbor.berths":   `; Sems\.Program\.Sailor [0-9a-f]{16} and 3 more likely entered it; the first of them waits for a promise in Sems\.Never\.Comes$`,
		"Sems.Ferries.places":  `; Sems\.Program\.Passenger [0-9a-f]{16} and 2 more likely entered it; the first of them waits for a promise in Sems\.Never\.Comes$`,
	} {
		v := verdictAbout(t, w, field)
		assert.Empty(t, v.Severity, field)
		assert.Regexp(t, want, v.Text)
	}
	for _, field := range []string{"Sems.Badge.desk", "Sems.Booth.seat", "Sems.Press.two"} {
		assert.Equal(t, answer.SeverityWarning, verdictAbout(t, w, field).Severity, field)
	}
	assert.Contains(t, verdictAbout(t, w, "System.Threading.Mutex").Text, "2 threads wait for the same System.Threading.Mutex")
}
