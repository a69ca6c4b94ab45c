package ondumps_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// failedInitializers is a dump of Initializers.cs beside it.
const failedInitializers = "../../../../testdata/dumps/locks/net10-initializers/net10-initializers.dmp.zst"

func initializersView(t *testing.T) *sosgo.View {
	t.Helper()
	if _, err := os.Stat(failedInitializers); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(failedInitializers, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	return v
}

// TestInitializers compares the classes with a failed static constructor with what the program caught.
func TestInitializers(t *testing.T) {
	out, err := locks.Initializers(t.Context(), initializersView(t).Process)
	require.NoError(t, err)
	got := map[string]string{}
	for _, f := range out.Failed {
		require.NotNil(t, f.Cause, f.Type.S)
		got[f.Type.S] = f.Cause.Type.S + ": " + f.Cause.Message.S
	}
	text, err := os.ReadFile(strings.TrimSuffix(failedInitializers, "net10-initializers.dmp.zst") + "facts.txt")
	require.NoError(t, err)
	facts := map[string]string{}
	for line := range strings.Lines(string(text)) { // FACT what class cause
		if f := strings.SplitN(strings.TrimSpace(line), " ", 4); f[1] != "slow" {
			facts[f[1]] = f[3]
		}
	}
	assert.Equal(t, map[string]string{"Shop.Rates": facts["rates"], "Shop.Prices": facts["prices"], "Shop.Box<System.Int32>": facts["box"], "Shop.Outer+Inner": facts["inner"]}, got)
	require.Len(t, out.Verdicts, 4)
	assert.Equal(t, "the initializer of Shop.Rates failed: System.InvalidOperationException: no rates for today", out.Verdicts[0].Text)
	assert.Contains(t, out.Verdicts[3].Text, "Shop.Prices", "it failed because Rates had failed")
}

// TestRunningConstructor finds the thread that runs a static constructor and the thread that waits for it.
func TestRunningConstructor(t *testing.T) {
	out, err := locks.Locks(t.Context(), initializersView(t).Process, locks.Options{})
	require.NoError(t, err)
	names := map[answer.WaitKind]string{}
	for i := range out.Locks {
		l := &out.Locks[i]
		names[l.Kind] = l.Name
		if l.Kind != answer.LockConstructor {
			continue
		}
		assert.Equal(t, "Shop.Slow", l.Type.S)
		require.NotNil(t, l.Owner)
		assert.Equal(t, "runs Slow", l.Owner.Name)
		require.Len(t, l.Waiting, 1)
		assert.Equal(t, "waits for Slow", l.Waiting[0].Thread.Name)
	}
	assert.Equal(t, map[answer.WaitKind]string{answer.LockMonitor: "Shop.Program.gate", answer.LockConstructor: ""}, names)
}

// TestInitializersMissingParts repeats the query, each time without one of the pieces of memory that the answer was
// read from.
func TestInitializersMissingParts(t *testing.T) {
	if _, err := os.Stat(failedInitializers); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d := testdump.Dump{Case: &testcase.Case{Name: "net10-initializers", Path: failedInitializers}}
	d.Sweep(t, 60, false, func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(locks.Initializers(t.Context(), v.Process))
	})
}
