package ondumps_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/target"
)

// mixed is the folder of a dump with threads that wait for each other in different ways. Its program is Mixed.cs.
const mixed = "../../../../testdata/dumps/locks/net10-mixed"

// TestMixedCircles finds cycles through a monitor, a Lock and an awaited task, through Lazys, and through a static
// constructor. An upgradeable reader that waits to write is not a cycle.
func TestMixedCircles(t *testing.T) {
	d, _ := openNamed(t, mixed)
	got, err := reader(t, d).Waits(context.Background(), locks.Options{})
	require.NoError(t, err)
	for _, err := range got.Noted() { // the dump was cut without a type that has static fields, and these may name objects
		assert.ErrorIs(t, err, target.ErrNotInDump)
		assert.ErrorContains(t, err, "MethodTable")
	}
	var circles []string
	strength := map[string]answer.Strength{}
	numbers := regexp.MustCompile(`thread \d+ | [0-9a-f]{16}( \([\w.]+\))?`)
	for _, v := range got.Verdicts {
		if text, ok := strings.CutPrefix(v.Text, "deadlock: "); ok {
			text = numbers.ReplaceAllString(text, "")
			circles = append(circles, text)
			strength[text] = v.Strength
		}
	}
	gate := `"holds the gate" holds Contoso.Gate and waits for System.Threading.Lock, "holds the Lock" holds System.Threading.Lock and waits for task, ` +
		`".NET TP Worker" runs what task waits for and waits for Contoso.Gate`
	lazy := `"left" holds System.Lazy<System.String> and waits for System.Lazy<System.String>, "right" holds System.Lazy<System.String> and waits for ` +
		`System.Lazy<System.String>`
	constructor := `"holds the registry" holds Contoso.Registry and waits for the static constructor of Contoso.Opens, "constructs" runs the static ` +
		`constructor of Contoso.Opens and waits for Contoso.Registry`
	assert.Equal(t, []string{lazy, gate, constructor}, circles, "the strongest first")
	assert.Equal(t, map[string]answer.Strength{gate: answer.StrengthLikely, lazy: answer.StrengthProved, constructor: answer.StrengthLikely}, strength)
}

// TestMixedChains follows chains through every kind of wait to the thread that does not wait for another.
func TestMixedChains(t *testing.T) {
	d, names := openNamed(t, mixed)
	got, err := reader(t, d).Waits(context.Background(), locks.Options{})
	require.NoError(t, err)
	var said []string
	for _, v := range got.Verdicts {
		said = append(said, v.Text)
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{
		`"holds the stock" blocks in Contoso\.Mixed\.HoldsStock.*which thread \d+ "\.NET Long Running Task" runs; .* itself waits for the monitor of a ` +
			`Contoso\.Order.*, which thread \d+ "holds the order" holds; thread \d+ "holds the order" itself waits for a SemaphoreSlim \w+ in ` +
			`Contoso\.Mixed\.HoldsOrder \(0 of 1 may enter; it does not record who has entered\)`,
		`"waits for running code" blocks .* until a task completes: Contoso\.Mixed\.Runs, which thread \d+ "\.NET TP Worker" runs; .* which thread \d+ ` +
			`"holds the ledger" holds; .* itself waits for the end of thread \d+ "closes the ledger" in .*; thread \d+ "closes the ledger" itself ` +
			`waits for a ManualResetEventSlim`,
		`"async mutex" blocks .*: Contoso\.Mixed\.Outer awaits Contoso\.Mixed\.Nested awaits .*TaskNode, which waits for a SemaphoreSlim \(`,
		`"wait all" blocks .* until 2 tasks complete`,
		`"reads" holds a ReaderWriterLockSlim \w+( \([\w.]+\))?, for which 3 threads wait: \d+ "upgrades", \d+ "writes one", \d+ "writes two"; .* itself waits for a ManualResetEventSlim`,
		`"joins" waits for the end of thread \d+ "holds the ledger" .*; thread \d+ "holds the ledger" itself waits for the end`,
		`"writes to a channel" blocks .*: Contoso\.Mixed\.Writer, which waits for room in a channel`,
	} {
		assert.Regexp(t, want, text)
	}
	owner := map[string]string{}
	for i := range got.Threads {
		if w := &got.Threads[i]; w.Owner != nil {
			owner[names[w.Thread.ManagedID]] = names[w.Owner.ManagedID]
		}
	}
	assert.Equal(t, "reads", owner["upgrades"], "who may become the writer waits for the other readers, not for itself")
}
