package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// TestCrossings checks threads that wait for what only threads in such waits would do. Crossed.cs beside the first dump says what is true of each. Each has
// a twin that goes on: another thread sets the event, pulses the monitor, releases the Mutex or runs the tasks.
func TestCrossings(t *testing.T) {
	events := []string{`"hand a" alone would set System.Threading.ManualResetEvent `, `"hand b" alone would set System.Threading.ManualResetEvent `}
	pulses := []string{`"take" holds System.Object `, ` and waits for a pulse of System.Object `, `"supply" alone would pulse System.Object `}
	mutexes := []string{`"port a" holds System.Threading.Mutex `, `"port b" holds System.Threading.Mutex `}
	scheduler := []string{`"one" blocks in Shop.Crossed.Draw until a task completes`, "its turn in the task scheduler Shop.OneThread", "no other thread, suspended method or delegate that can still run would run its tasks"}
	for name, want := range map[string][][]string{
		"net10-crossed":     {events, pulses, mutexes, scheduler},
		"net10-crossed-two": {events, pulses, mutexes},
	} {
		d, err := sosgo.Open("../../../../testdata/dumps/waits/"+name+"/"+name+".dmp.zst", sosgo.Options{Offline: true})
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		v, err := d.View("")
		require.NoError(t, err)
		w, err := locks.Waits(t.Context(), v.Process, locks.Options{})
		require.NoError(t, err)
		var dead []answer.Verdict
		for _, v := range w.Verdicts {
			if v.Kind == answer.FindingDeadlock {
				assert.Equal(t, answer.StrengthLikely, v.Strength, v.Text)
				dead = append(dead, v)
			}
		}
		require.Len(t, dead, len(want), name)
		for i := range want {
			for _, part := range want[i] {
				assert.Contains(t, dead[i].Text, part, name)
			}
		}
		var waiting []string
		for i := range w.Threads {
			waiting = append(waiting, w.Threads[i].Thread.Name)
		}
		for _, name := range []string{"helped a", "helped b", "ping", "pong", "calm take", "calm supply", "dock b"} {
			assert.Contains(t, waiting, name)
			for _, v := range dead {
				assert.False(t, strings.Contains(v.Text, `"`+name+`"`), v.Text)
			}
		}
	}
}
