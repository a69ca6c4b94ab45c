package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestPassage checks how far the exceptions have come that threads handle: those that are caught have callers of the method with the handler before them. A
// thread without an exception is not in the list.
func TestPassage(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	rt, err := d.Runtime()
	require.NoError(t, err)
	list, err := d.Threads()
	require.NoError(t, err)
	p := crash.NewSubject(d.Default(), list...)
	got := map[string][2]string{}
	for i := range list {
		if list[i].Managed == nil {
			continue
		}
		if method, caller := crash.PassageOf(p, rt, &list[i]); caller != "" {
			name, _ := rt.ThreadName(list[i].Managed)
			got[name] = [2]string{method, caller}
		}
	}
	const scenario, caller = "Debuggee.Stacks.Scenario.", "System.Threading.Thread.StartCallback()"
	for name, method := range map[string]string{"catch": "InCatch()", "filter": "InFilter()", "finally": "InFinally()"} {
		assert.Equal(t, [2]string{scenario + method, caller}, got[name], name)
	}
	assert.NotContains(t, got, "deep")
}
