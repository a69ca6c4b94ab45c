package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestExiting checks that Environment.Exit on a thread is reported as the end of the process.
func TestExiting(t *testing.T) {
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	row := answer.WaitingThread{Thread: answer.Thread{OSID: 7}}
	row.Kind, row.Caller.S = answer.ActivityExit, "App.Stop()"
	said := crash.Exiting(rt, &answer.Waiting{Threads: []answer.WaitingThread{{}, row}})
	require.Len(t, said, 1)
	assert.Equal(t, "the process is ending: thread 0x7 called Environment.Exit in App.Stop()", said[0].Text)
}

// TestExitHandlers finds the exit handlers where each runtime keeps them, and the thread that runs one. Another
// delegate and another method take their place in the dump.
func TestExitHandlers(t *testing.T) {
	for name, in := range map[string][2]string{"net10-zoo": {"System.AppDomain", "s_domain"}, "net8-zoo": {"System.AppContext", "ProcessExit"}} {
		t.Run(name, func(t *testing.T) {
			sound := testdump.Open(t, name)
			rt, err := sound.Runtime()
			require.NoError(t, err)
			slot, delegate := exitSlot(t, rt, in[0], in[1]), aDelegate(t, sound)
			damaged := sound.Damaged(t, testdump.Words(slot, uint64(delegate.Addr)))
			calls, err := delegate.Delegate()
			require.NoError(t, err)
			var want []target.Addr
			for _, c := range calls {
				m, err := c.Method()
				require.NoError(t, err)
				want = append(want, m.Addr)
			}
			rt, err = damaged.Runtime()
			require.NoError(t, err)
			require.NotZero(t, slot)
			assert.Equal(t, want, crash.ExitHandlers(rt))

			walker, err := damaged.Walker()
			require.NoError(t, err)
			list, err := damaged.Threads()
			require.NoError(t, err)
			for i := range list {
				if list[i].Managed == nil || list[i].OS == nil {
					continue
				}
				assert.Empty(t, crash.ExitFrame(rt, walker, &list[i], nil))
				for f := range walker.Walk(t.Context(), list[i].Managed, list[i].OS.Registers, stackwalk.WalkOptions{}) {
					if md, err := f.Method(); err == nil && md != nil && f.Kind == stackwalk.FrameManaged {
						assert.Contains(t, crash.ExitFrame(rt, walker, &list[i], []target.Addr{md.Addr}), "in the list of AppContext.ProcessExit")
						return
					}
				}
			}
			t.Error("no thread has a managed frame")
		})
	}
}

// exitSlot returns the location of the delegate.
func exitSlot(t *testing.T, rt *dac.Runtime, class, field string) target.Addr {
	t.Helper()
	v := crash.CoreStatic(objects.New(rt), class, field)
	if class != "System.AppDomain" {
		return v.Location()
	}
	o, err := v.Object()
	require.NoError(t, err)
	return o.Field("ProcessExit").Location()
}

// aDelegate returns a delegate of the program for a static method.
func aDelegate(t *testing.T, d *testdump.Dump) objects.Object {
	t.Helper()
	rt, err := d.Runtime()
	require.NoError(t, err)
	for _, fact := range d.Manifest.Objects() {
		if fact.Name == "root.Delegates.Static" {
			o, err := objects.New(rt).Object(fact.Addr)
			require.NoError(t, err)
			return o
		}
	}
	t.Fatal("the program has no delegate")
	return objects.Object{}
}
