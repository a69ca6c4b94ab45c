package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A child is a process that fork made: it has the memory of another one, and one thread with an id of its own.
type child struct{ target.Target }

func (c child) Threads() []target.Thread {
	only := c.Target.Threads()[:1:1]
	only[0].ID += 1 << 20
	return only
}

// TestForkedChild: the dump of a forked child lacks the runtime's threads. It is said so, objects are read, and nothing is concluded from threads.
func TestForkedChild(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	assert.False(t, d.Forked())
	q := firstProcess(t, (&testdump.Altered{Target: child{d.Target()}}).Open(t, d.Options()))
	assert.True(t, q.Dump().Forked())
	_, err := q.Threads()
	var lost *process.LostThreadsError
	require.ErrorAs(t, err, &lost)
	assert.True(t, lost.Forked)
	assert.Equal(t, target.ErrNotInDump, target.Kind(err))
	assert.NotEqual(t, answer.PremiseHolds, q.State(answer.AllStacks))
	h, err := q.Heap()
	require.NoError(t, err)
	n := 0
	for _, err := range h.Objects() {
		require.NoError(t, err)
		n++
	}
	assert.Positive(t, n)
	out, err := triage.Triage(t.Context(), q, triage.Options{})
	require.NoError(t, err)
	said := false
	for _, u := range out.Unknown {
		said = said || u.Err != nil && assert.ObjectsAreEqual(lost.Error(), u.Reason)
	}
	assert.True(t, said, "%+v", out.Unknown)
	for _, f := range out.Findings {
		assert.NotContains(t, []answer.FindingKind{answer.FindingCrash, answer.FindingDeadlock, answer.FindingHeld, answer.FindingAbandoned}, f.Kind, f.Text)
	}
}
