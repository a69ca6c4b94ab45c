package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/tasks"
)

// TestOutermostSpins checks which loops around a thread's place only wait for another thread, whatever the method does before and behind them.
func TestOutermostSpins(t *testing.T) {
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
		loops, err := Around(il, 0)
		require.NoError(t, err, c.why)
		require.NotEmpty(t, loops, c.why)
		assert.Equal(t, c.want, loops.OutermostSpins(il, append(c.calls, tasks.Call{Method: "Log.Write", Offset: len(c.il)})), c.why)
		assert.False(t, Loops(nil).OutermostSpins(il, c.calls), "the thread is behind the loop")
	}
}

// TestReadsOnly checks that a loop that reads and compares is a wait, and one that stores, computes or allocates is
// work.
func TestReadsOnly(t *testing.T) {
	const nop, ret, ldsfld, stsfld, brfalse, br, add, newobj, conv = 0x00, 0x2A, 0x7E, 0x80, 0x2C, 0x2B, 0x58, 0x73, 0xFE
	const ldfld, ldloc0, stloc0, stloc1, ldlocS, stlocS = 0x7B, 0x06, 0x0A, 0x0B, 0x11, 0x13
	back := func(n int) byte { return byte(-n) }
	for name, c := range map[string]struct {
		il             []byte
		loops, follows bool
	}{
		"node = node.next":  {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brfalse, back(9), ret}, true, true},
		"n5 = n5.next.next": {[]byte{ldlocS, 5, ldfld, 1, 0, 0, 4, ldfld, 1, 0, 0, 4, stlocS, 5, br, back(16)}, true, true},
		"other = node.next": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc1, ldloc0, brfalse, back(9), ret}, true, false},
		"n6 = n5.next":      {[]byte{ldlocS, 5, ldfld, 1, 0, 0, 4, stlocS, 6, br, back(11)}, true, false},
		"n = s.next":        {[]byte{ldsfld, 1, 0, 0, 4, ldfld, 1, 0, 0, 4, stloc0, br, back(12)}, true, false},
		"n.next, no loop":   {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ret}, false, false},
		"while (!stop)":     {[]byte{nop, ldsfld, 1, 0, 0, 4, brfalse, back(7), ret}, true, false},
		"no loop":           {[]byte{ldsfld, 1, 0, 0, 4, brfalse, 0, ret}, false, false},
		"forever":           {[]byte{br, back(2)}, true, false},
		"stores":            {[]byte{ldsfld, 1, 0, 0, 4, stsfld, 2, 0, 0, 4, br, back(12)}, false, false},
		"computes":          {[]byte{ldsfld, 1, 0, 0, 4, ldsfld, 1, 0, 0, 4, add, brfalse, back(13), ret}, false, false},
		"makes objects":     {[]byte{newobj, 1, 0, 0, 6, brfalse, back(7), ret}, false, false},
		"work after loop":   {[]byte{ldsfld, 1, 0, 0, 4, brfalse, back(7), newobj, 1, 0, 0, 6, ret}, false, false},
	} {
		got, follows, err := ReadsOnly(c.il)
		require.NoError(t, err, name)
		assert.Equal(t, c.loops, got, name)
		assert.Equal(t, c.follows, follows, name)
	}
	for _, il := range [][]byte{{ldsfld, 1}, {conv}, {br}} { // cut off
		loops, _, err := ReadsOnly(il)
		require.Error(t, err)
		assert.False(t, loops)
	}
}

// FuzzReadsOnly checks that damaged IL gives an error or an answer.
func FuzzReadsOnly(f *testing.F) {
	f.Add([]byte{0x00, 0x2B, 0xFD})
	f.Add([]byte{0x45, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, il []byte) {
		if loops, _, err := ReadsOnly(il); loops && err != nil {
			t.Fatal("an answer with an error")
		}
	})
}
