package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
)

// reports are programs that show what people reported in public: the first finding of each, and a part of its text.
var reports = []struct {
	program, scenario string
	finding           answer.FindingKind
	says              string
}{
	{"BadBuckets", "trial", answer.FindingSpin, "in a loop of Tags.Table.Find that ends only at null or at a key that it searches, and the 2 Tags.Entry that it follows by Next form a circle without that key"},
	{"CctorTasks", "trial", answer.FindingDeadlock, `"encoder" runs the static constructor of Codec.Tables and waits for 40 tasks`},
	{"DelayLeak", "trial", answer.FindingHolder, "40,000 timers that call System.Threading.Tasks.Task+DelayPromise.TimerCallback"},
	{"DynamicTypes", "trial", answer.FindingAssemblies, "3,000 assemblies were made at run time (Reflection.Emit)"},
	{"FinalizerLock", "trial", answer.FindingDeadlock, `(finalizer) runs finalizers and waits for System.Object`},
	{"LinkedTokens", "trial", answer.FindingHolder, "60,000 System.Threading.CancellationTokenSource+Linked1CancellationTokenSource, kept by static Gateway.Lifetime.Stopping"},
	{"NestedGate", "trial", answer.FindingDeadlock, `"saver", in Vault.Store.Save, has likely entered Vault.Store.Gate (SemaphoreSlim) and waits for it once more`},
	{"NoExit", "trial", answer.FindingEnding, "Main has returned; foreground threads keep the process alive"},
	{"SchedulerBlock", "trial", answer.FindingDeadlock, `waits for its turn in the task scheduler Turns.Single`},
	{"ThreadSlots", "trial", answer.FindingHolder, "kept by thread static Search.PerThread.slots in 12 threads"},
	{"TimerFlow", "trial", answer.FindingHolder, "kept by a timer that calls Site.Pool.Prune(System.Object), as the value of AsyncLocal Site.Ambient.Current when the timer was made"},
	{"UiBlock", "trial", answer.FindingDeadlock, `"ui" blocks in Desk.Form.Click until a task completes: Desk.Form.LoadAsync, which can go on`},
	{"WaitAllInLock", "trial", answer.FindingDeadlock, `"exporter" holds System.Object `},
	{"WeakTableCycle", "trial", answer.FindingHolder, "300 Meta.Extra, kept by static Meta.Shapes.Root"},
	{"AsyncThrow", "crash", answer.FindingCrash, "System.FormatException was not caught: The input string '3x' was not in a correct format, in Debuggee.dll!Import.M.Parse(System.String)"},
	{"SixThrow", "crash", answer.FindingCrash, "System.AggregateException was not caught; caused by System.FormatException: file 0 has no header, in Debuggee.dll!Batch.M.Work(Int32)"},
	{"SmallStack", "crash", answer.FindingCrash, "the stack overflowed: Graph.Node.get_Name() called itself through 2 other calls"},
}

// TestReports checks the first finding of each program.
func TestReports(t *testing.T) {
	for _, c := range reports {
		t.Run(c.program, func(t *testing.T) {
			out, err := triage.Triage(t.Context(), newTrial(t, c.program+".cs").open(t, c.scenario, c.scenario).Process, triage.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, out.Findings)
			assert.Equal(t, c.finding, out.Findings[0].Kind)
			assert.Contains(t, out.Findings[0].Text, c.says)
		})
	}
}
