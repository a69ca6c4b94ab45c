package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/tasks"
)

// TestOnlyReads checks which loops around a thread's place only wait for another thread, whatever the method does before and behind them.
func TestOnlyReads(t *testing.T) {
	const (
		nop, ldarg0, ldloc0, ldloc1, stloc0, stloc1, ldc0, ldc1, dup, pop, ret = 0x00, 0x02, 0x06, 0x07, 0x0A, 0x0B, 0x16, 0x17, 0x25, 0x26, 0x2A
		br, brfalse, brtrue, ldfld, ldsfld, stsfld, call, callvirt, add        = 0x2B, 0x2C, 0x2D, 0x7B, 0x7E, 0x80, 0x28, 0x6F, 0x58
	)
	back := func(n int) byte { return byte(-n) }
	work := []byte{ldsfld, 2, 0, 0, 4, ldc1, add, stsfld, 2, 0, 0, 4, ret}
	at := func(offset int, method string) []tasks.Call { return []tasks.Call{{Method: method, Offset: offset}} }
	for _, c := range []struct {
		why   string
		il    []byte
		calls []tasks.Call
		want  bool
	}{
		{"while (!g.Open) { }", []byte{ldarg0, callvirt, 1, 0, 0, 10, brfalse, back(8)}, at(1, "IGate.get_Open"), true},
		{"the same without optimization", []byte{nop, ldarg0, callvirt, 1, 0, 0, 10, stloc0, ldloc0, brfalse, back(11)}, at(2, "IGate.get_Open"), true},
		{"while (!done) Thread.Yield()", []byte{call, 1, 0, 0, 10, pop, ldsfld, 1, 0, 0, 4, brfalse, back(13)}, at(0, "Thread.Yield"), true},
		{"while (!done) Thread.Sleep(0)", []byte{ldc0, call, 1, 0, 0, 10, ldsfld, 1, 0, 0, 4, brfalse, back(13)}, at(1, "Thread.Sleep"), true},
		{"while (!done) Thread.Sleep(1)", []byte{ldc1, call, 1, 0, 0, 10, ldsfld, 1, 0, 0, 4, brfalse, back(13)}, at(1, "Thread.Sleep"), false},
		{"while (!done) Thread.Sleep(n)", []byte{ldloc0, call, 1, 0, 0, 10, ldsfld, 1, 0, 0, 4, brfalse, back(13)}, at(1, "Thread.Sleep"), false},
		{"while (!q.TryTake()) Thread.Yield()", []byte{ldarg0, callvirt, 1, 0, 0, 10, brfalse, back(8)}, at(1, "Jobs.TryTake"), false},
		{"while ((x = x.next) != null)", []byte{ldloc0, ldfld, 1, 0, 0, 4, dup, stloc0, brtrue, back(10)}, nil, false},
		{"y = x.next; x = y", []byte{ldloc0, ldfld, 1, 0, 0, 4, stloc1, ldloc1, stloc0, ldloc0, brtrue, back(12)}, nil, false},
		{"while (true) { while (!done) { } work(); }", []byte{ldsfld, 1, 0, 0, 4, brfalse, back(7), call, 2, 0, 0, 6, br, back(14)}, at(7, "Worker.Work"), false},
		{"a call of a delegate", []byte{ldsfld, 1, 0, 0, 4, brfalse, back(7)}, []tasks.Call{{Method: "Gate.get_Open", Offset: 0, Unknown: true}}, false},
	} {
		il := append(append([]byte{}, c.il...), work...)
		loops, err := loopsAround(il, 0)
		require.NoError(t, err, c.why)
		require.NotEmpty(t, loops, c.why)
		assert.Equal(t, c.want, onlyReads(il, loops, append(c.calls, tasks.Call{Method: "Log.Write", Offset: len(c.il)})), c.why)
		assert.False(t, onlyReads(il, nil, c.calls), "the thread is behind the loop")
	}
}
