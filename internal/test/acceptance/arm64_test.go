package acceptance_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// net31ARM64 is the zoo on .NET Core 3.1.2 for ARM64. Its structures with locks are larger than on
// x64, and explicit frames hold other registers.
const net31ARM64 = "testdata/dumps/arm64/net31-arm64/"

// TestNet31OnARM64 compares a process of .NET Core 3.1 on ARM64 with its program's output: objects,
// types, threads and stacks.
func TestNet31OnARM64(t *testing.T) {
	facts, err := os.ReadFile(net31ARM64 + "facts.txt")
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(net31ARM64+"net31-arm64.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	rt, err := d.Runtime()
	require.NoError(t, err)
	assert.Empty(t, rt.ForeignLayout())
	h, err := d.Heap()
	require.NoError(t, err)
	objects, types := 0, 0
	for line := range strings.Lines(string(facts)) {
		words := strings.Fields(strings.TrimPrefix(line, "FACT "))
		switch {
		case len(words) == 3 && words[0] == "type":
			name, err := rt.TypeName(hexadecimal(t, words[2]), dac.NameManaged)
			require.NoError(t, err, line)
			assert.Equal(t, testdump.ManagedName(words[1]), name)
			types++
		case len(words) >= 4 && strings.HasPrefix(words[0], "root") && strings.HasPrefix(words[1], "0x"):
			at := hexadecimal(t, words[1])
			o, err := h.ObjectAt(at)
			require.NoError(t, err, line)
			name, err := rt.TypeName(o.Type.Addr, dac.NameManaged)
			require.NoError(t, err, line)
			assert.Equal(t, testdump.ManagedName(strings.Join(words[2:len(words)-1], " ")), name, line)
			generation, err := strconv.Atoi(strings.TrimPrefix(words[len(words)-1], "gen"))
			require.NoError(t, err, line)
			assert.True(t, sameGeneration(h.Segment(at).Generation(at), generation), line)
			objects++
		}
	}
	assert.Greater(t, objects, 50)
	assert.Greater(t, types, 10)

	w, err := d.Walker()
	require.NoError(t, err)
	threads, err := d.Threads()
	require.NoError(t, err)
	var ids []uint32
	var stack []string
	for i := range threads {
		th := &threads[i]
		if th.Managed == nil {
			continue
		}
		ids = append(ids, th.Managed.ManagedID)
		if name, err := th.Name(); err != nil || name != "zoo worker" {
			continue
		}
		for f := range w.Walk(t.Context(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
			require.NoError(t, f.Err)
			name, err := f.Name()
			require.NoError(t, err)
			if f.Kind == stackwalk.FrameExplicit {
				name = strings.TrimSpace("[" + f.Explicit.Class + "] " + name)
			}
			stack = append(stack, name)
		}
	}
	assert.Equal(t, []uint32{1, 2, 3, 4, 5, 6}, ids)
	assert.Equal(t, []string{
		"[HelperMethodFrame] System.Threading.Thread.SleepInternal(Int32)",
		"System.Threading.Thread.Sleep(Int32)",
		"Debuggee.Zoo.Scenario.Wait(Debuggee.Zoo.Everything)",
		"Debuggee.Zoo.Scenario+<>c__DisplayClass1_0.<Run>b__1()",
		"System.Threading.ThreadHelper.ThreadStart_Context(System.Object)",
		"System.Threading.ExecutionContext.RunInternal(System.Threading.ExecutionContext, System.Threading.ContextCallback, System.Object)",
		"System.Threading.ThreadHelper.ThreadStart()",
		"[GCFrame]",
		"[DebuggerU2MCatchHandlerFrame]",
	}, stack)
}

func hexadecimal(t *testing.T, text string) target.Addr {
	a, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	require.NoError(t, err)
	return target.Addr(a)
}
