package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestDumpAsyncOfSOS checks that dumpasync in SOS's form prints SOS's output in its order, followed by sosgo's
// additions.
func TestDumpAsyncOfSOS(t *testing.T) {
	out, errs, code := run(t, "-d", testdump.Open(t, "net10-async").Plain(), "-sos", "-c", "dumpasync")
	require.Zero(t, code, errs)
	assert.Contains(t, out, `
STACK 5
<< Awaiting: 00007fea858125f8 00007ff660176b28 System.Runtime.CompilerServices.ValueTaskAwaiter<System.Boolean> >>
  00007fea85812598 00007ff660179420 (0) Debuggee.AsyncWork.Scenario+<Stream>d__17
`)
	lines := strings.Split(out, "\n")
	require.Greater(t, len(lines), 10)
	assert.Equal(t, []string{
		"STACK 1",
		"00007fea85805bb8 00007ff65ff5f290 ( ) System.Threading.Tasks.Task<System.String>",
		"  00007fea85812620 00007ff66017b318 (0) Debuggee.AsyncWork.Scenario+<Locals>d__19",
		"  00007fea85812548 00007ff660178fe0 (0) Debuggee.AsyncWork.Scenario+<Numbers>d__18",
	}, lines[:4], "who came last comes first")

	testdump.Corpus(t, testcase.Named("*-async-*", "web-*", "net*-stacks-withheap"), func(t *testing.T, d *testdump.Dump) int {
		n := 0
		for _, options := range []string{"", "--completed", "--tasks", "--coalesce"} {
			want := strings.Split(strings.TrimRight(d.SOS(t, "dumpasync"+options+".txt"), "\n"), "\n")[1:]
			out, errs, code := run(t, "-d", d.Plain(), "--modules", d.Case.Modules, "-sos", "-c", "dumpasync "+options)
			require.Zero(t, code, errs)
			got := strings.Split(out, "\n")
			require.GreaterOrEqual(t, len(got), len(want))
			assert.Equal(t, want, got[:len(want)], options)
			n += len(want)
		}
		return n
	})
}

// TestAsyncText checks the text output for the canned async program.
func TestAsyncText(t *testing.T) {
	path := testdump.Open(t, "net10-async").Plain()
	for line, want := range map[string]string{
		"dumpasync -locals -type Gated": "STACK 1 waits for a SemaphoreSlim\n7fea858112b0 (WaitingForActivation) System.Threading.SemaphoreSlim+TaskNode\n" +
			"  7fea85811308 (0) Debuggee.AsyncWork.Scenario.Gated awaits SemaphoreSlim.WaitAsync\n      System.String name = \"gate\"\n",
		"dumpasync -roots -type Gated":  "  kept alive by static Debuggee.AsyncWork.Scenario.s_gate\n    -> 7fea85805c00 System.Threading.SemaphoreSlim\n",
		"dumpasync -fields -type Gated": "      System.Runtime.CompilerServices.TaskAwaiter <>u__1 = 00007fea85811360 = {m_task=00007fea858112b0}\n",
		"dumpasync -type Nothing":       "No matching stacks.\n",
		"dumpasync -coalesce":           "[7] 00007ff660130a30 (1) Debuggee.AsyncWork.Scenario+<Inner>d__11 awaits TaskCompletionSource.Task\n",
		"asyncstacks":                   "       5 Debuggee.AsyncWork.Scenario.Outer awaits Scenario.Middle\n       5   Debuggee.AsyncWork.Scenario.Middle awaits Scenario.Inner\n",
		"tasks":                         "       7 WaitingForActivation         7fea85806ca8 Debuggee.AsyncWork.Scenario.Inner\n",
		"tasks -faulted":                "    7fea85810a60 System.InvalidOperationException: faulted task\n1 task failed unobserved; exceptions of 0 other failed tasks were observed.\n",
		"taskstate 7fea85811918":        "Faulted (PromiseTask, HiddenState, Faulted, WaitingForActivation, CompletionReserved)\n",
	} {
		out, errs, code := run(t, "-d", path, "-sos=false", "-c", line)
		assert.Zero(t, code, "%s: %s", line, errs)
		assert.Contains(t, out, want, line)
	}
}
