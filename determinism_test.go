package sosgo_test

import (
	"slices"
	"testing"

	"github.com/sosgo/sosgo/internal/testdump"
)

// TestDeterminism runs each command alone, twice, and with one and eight
// workers: it prints the same bytes each time.
func TestDeterminism(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		t.Parallel()
		if testing.Short() && !slices.Contains(damagedDumps, d.Name) {
			t.Skip("one of each kind does")
		}
		raw := mustRaw(t, d)
		for _, line := range slices.Concat(plainCommands(), factCommands(d)) {
			first := runLines(t.Context(), raw, 1, line)
			for _, jobs := range []int{1, 8} {
				if again := runLines(t.Context(), raw, jobs, line); again != first {
					t.Errorf("%s with %d workers prints something else, %s", line, jobs, firstDifference(first.stdout+first.stderr, again.stdout+again.stderr))
				}
			}
		}
	})
}

// TestSessionKeepsNothing runs all commands in one session and each alone: what
// one has read does not change what another prints.
func TestSessionKeepsNothing(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		t.Parallel()
		if testing.Short() && !slices.Contains(damagedDumps, d.Name) {
			t.Skip("one of each kind does")
		}
		raw := mustRaw(t, d)
		lines := slices.Concat(plainCommands(), factCommands(d))
		var alone string
		for _, line := range lines {
			alone += runLines(t.Context(), raw, 2, line).stdout
		}
		if together := runLines(t.Context(), raw, 2, lines...).stdout; together != alone {
			t.Error(firstDifference(alone, together))
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
