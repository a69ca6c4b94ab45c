package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestFinalizerEnters: a finalizer that waits for a lock is a finding if the lock does not pass on in a moment, and if it is not known who waits for it.
func TestFinalizerEnters(t *testing.T) {
	const id = 4
	list := []stackwalk.Thread{{OS: &target.Thread{ID: id}, Managed: &dac.Thread{OSID: id, Finalizer: true}}}
	waits := answer.ThreadWait{Thread: answer.Thread{OSID: id, Finalizer: true}, Kind: answer.LockMonitor, Object: 0x50}
	passes := waits
	passes.Soon = true
	unread := &answer.Waits{}
	unread.Note(target.ErrNotInDump)
	for name, c := range map[string]struct {
		waits *answer.Waits
		err   error
		does  answer.ActivityKind
		kind  answer.FindingKind
	}{
		"in no list":       {&answer.Waits{}, nil, answer.ActivityLock, answer.NoFinding},
		"the lock passes":  {&answer.Waits{Threads: []answer.ThreadWait{passes}}, nil, answer.ActivityLock, answer.NoFinding},
		"the lock is held": {&answer.Waits{Threads: []answer.ThreadWait{waits}}, nil, answer.ActivityLock, answer.FindingFinalizers},
		"not all read":     {unread, nil, answer.ActivityLock, answer.FindingFinalizers},
		"not read":         {nil, target.ErrNotInDump, answer.ActivityLock, answer.FindingFinalizers},
		"an event":         {&answer.Waits{}, nil, answer.ActivityEvent, answer.FindingFinalizers},
	} {
		d := &describer{out: &answer.Crash{}, waits: func() (*answer.Waits, error) { return c.waits, c.err }}
		row := answer.WaitingThread{Thread: answer.Thread{OSID: id, Finalizer: true}, ThreadActivity: answer.ThreadActivity{Kind: c.does, Text: "waits", Top: answer.Text{S: "A.Finalize()"}}}
		d.finalizing(list, &answer.Waiting{Threads: []answer.WaitingThread{row}})
		require.Len(t, d.out.Verdicts, 1, name)
		v := &d.out.Verdicts[0]
		assert.Equal(t, c.kind, v.Kind, name)
		assert.Equal(t, c.kind == answer.NoFinding, v.Facts[len(v.Facts)-1].Says == words.EntersSoon.Kind(), name)
	}
}
