package acceptance_test

import (
	"slices"
	"testing"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestDeterminism runs each command alone, with one and with eight workers, and all in one session.
// The output is always the same, whatever ran before. A sample runs a third of the commands on each
// of five dumps, and each command on at least one dump.
func TestDeterminism(t *testing.T) {
	n := 0
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		from := n % 3
		n++
		t.Parallel()
		if testing.Short() && !slices.Contains(damagedDumps, d.Name) {
			t.Skip("one of each kind does")
		}
		raw := mustRaw(t, d)
		lines := slices.Concat(plainCommands(), factCommands(d))
		// With -short the race detector runs every command with eight workers.
		if !testcase.Complete() && !testing.Short() {
			lines = testcase.Sample(t, lines[from:], 3)
		}
		var alone string
		for _, line := range lines {
			first := runLines(t.Context(), raw, 1, line)
			if again := runLines(t.Context(), raw, 8, line); again != first {
				t.Errorf("%s with 8 workers prints something else, %s", line, firstDifference(first.stdout+first.stderr, again.stdout+again.stderr))
			}
			alone += first.stdout
		}
		if together := runLines(t.Context(), raw, 2, lines...).stdout; together != alone {
			t.Errorf("in one session, %s", firstDifference(alone, together))
		}
	})
}

// TestJSONDeterminism: JSON is as stable as text.
func TestJSONDeterminism(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	raw := mustRaw(t, d)
	for _, line := range plainCommands() {
		first := runArgs(t.Context(), raw, "-d", "dump", "-json", "-jobs", "1", line)
		if again := runArgs(t.Context(), raw, "-d", "dump", "-json", "-jobs", "8", line); again != first {
			t.Errorf("%s: %s", line, firstDifference(first.stdout+first.stderr, again.stdout+again.stderr))
		}
	}
}
