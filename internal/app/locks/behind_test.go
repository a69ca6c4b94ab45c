package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestOthersBehind: a wait for a thread that waits itself is behind that thread, so that its finding follows from the one about that thread.
func TestOthersBehind(t *testing.T) {
	first, second := &stackwalk.Thread{OS: &target.Thread{ID: 7}}, &stackwalk.Thread{OS: &target.Thread{ID: 8}}
	held := &lock{Lock: answer.Lock{Kind: answer.LockMonitor, Held: true}}
	waits := []*wait{{thread: first, serves: "the finalizers", runners: []*stackwalk.Thread{second}, how: answer.HowRecorded, timeout: -1}, {thread: second, lock: held, how: answer.HowRecorded, timeout: -1}}
	g := newGrapher(&survey{gaps: &answer.Gaps{}, blockedThreads: blockedThreads{waits: waits}, suspension: suspension{uses: map[*lock]*semaphoreUse{}}})
	g.nodes()
	for _, w := range waits {
		g.rows[w.thread] = &answer.ThreadWait{Type: answer.Text{S: "System.Object"}, Object: 1}
	}
	out := g.others()
	require.Len(t, out, 1)
	assert.Equal(t, []uint32{8}, out[0].Behind)
}
