package tracing_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tracing"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

const observed = "../../../testdata/dumps/observed/net10-observed/net10-observed.dmp.zst"

func open(t *testing.T) (*sosgo.View, *testdump.Overlay) {
	t.Helper()
	if _, err := os.Stat(observed); err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	d, over := testdump.OverlaidFile(t, observed, sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	return v, over
}

// TestSources compares the enabled events of the program's sources with Observed.cs and the variables of its process.
func TestSources(t *testing.T) {
	v, _ := open(t)
	out, err := tracing.EventSources(t.Context(), v.Process)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	assert.Equal(t, answer.Known[int64](1), out.Sessions)
	sources := map[string]answer.EventSource{}
	for _, e := range out.Sources {
		sources[e.Name.S] = e
	}
	assert.Len(t, sources, 5)

	orders := sources["Shop-Orders"]
	assert.Equal(t, "Shop.OrdersSource", orders.Type.S)
	assert.Equal(t, answer.Known(true), orders.Enabled)
	assert.Equal(t, "Informational", orders.Level.S, "the session's level is above those of the listeners")
	assert.Equal(t, answer.Known[answer.Hex](3|8|0x10), orders.Keywords, "of both listeners and of the session")
	assert.Equal(t, answer.Known(true), orders.EventPipe.Enabled)
	assert.Equal(t, answer.Known[int64](4), orders.EventPipe.Level)
	assert.Equal(t, answer.Known[answer.Hex](0x10), orders.EventPipe.Keywords)
	assert.Equal(t, answer.Known(answer.EventSessions{0}), orders.EventPipe.Sessions)
	assert.Equal(t, answer.Known(false), orders.ETW.Enabled)
	listeners := map[string]int64{}
	for _, l := range orders.Listeners {
		listeners[l.Type.S] = l.Events.Value
	}
	assert.Equal(t, map[string]int64{"Shop.AuditListener": 2, "Shop.DebugListener": 1}, listeners, "each gets the messages of the source itself; the first also Late")

	assert.Equal(t, answer.Known(false), sources["Shop-Quiet"].Enabled, "its listener has disabled it")
	assert.Empty(t, sources["Shop-Quiet"].Listeners)
	assert.Equal(t, answer.Known(true), sources["Shop-Gone"].Disposed)
	assert.Equal(t, answer.Known[int64](30_000), sources["System.Runtime"].Counters.Millis)
	assert.Equal(t, answer.Known[answer.Hex](1), sources["Microsoft-Windows-DotNETRuntime"].Keywords)

	asked := map[string][]int{}
	for _, p := range out.Providers {
		asked[p.Name] = append(asked[p.Name], p.Sessions...)
	}
	assert.Equal(t, []int{0}, asked["Shop-Orders"])
	assert.Equal(t, []int{0, 0}, asked["Microsoft-Windows-DotNETRuntime"], "the runtime's own provider and that of its source")
	assert.Empty(t, asked["Microsoft-DotNETCore-SampleProfiler"])
	assert.NotContains(t, asked, "Shop-Absent")
}

// TestProviders compares the runtime's list of providers with the names of the managed sources, which proves the
// layouts.
func TestProviders(t *testing.T) {
	for _, name := range []string{"net31-zoo-withheap", "win-net6-zoo-withheap", "net8-zoo-withheap", "net9-zoo-withheap", "net10-zoo-withheap", "arm64-net10-zoo-withheap", "win-net8-zoo-withheap",
		"win-net9-zoo-withheap", "win-net10-zoo-withheap"} {
		t.Run(name, func(t *testing.T) {
			v, err := testdump.OpenCase(t, name).View("")
			require.NoError(t, err)
			out, err := tracing.EventSources(t.Context(), v.Process)
			require.NoError(t, err)
			names := map[string]bool{}
			for _, p := range out.Providers {
				names[p.Name] = true
			}
			n := 0
			for _, e := range out.Sources {
				if e.EventPipe != nil && !e.Disposed.Value {
					n++
					assert.True(t, names[e.Name.S], e.Name.S)
					if name == "net31-zoo-withheap" && e.Name.S == "Microsoft-Windows-DotNETRuntime" {
						continue // 3.1 lists the runtime's own provider of this name instead of the source's
					}
					assert.Equal(t, answer.Known(answer.EventSessions{}), e.EventPipe.Sessions, "nobody traced these processes")
				}
			}
			assert.GreaterOrEqual(t, n, 2)
			assert.True(t, names["Microsoft-DotNETCore-EventPipe"])
			assert.Equal(t, answer.Known[int64](0), out.Sessions)
		})
	}
}

// TestTrimmedSources renames fields of EventSource in the metadata. A type without any field for listeners is trimmed; a
// type without one of them is unknown.
func TestTrimmedSources(t *testing.T) {
	v, _ := open(t)
	whole, err := tracing.EventSources(t.Context(), v.Process)
	require.NoError(t, err)
	var damage []testdump.Damage
	for _, name := range []string{"m_eventSourceEnabled", "m_Dispatchers", "m_eventPipeProvider", "m_etwProvider"} {
		n := len(damage)
		for r := range v.Target().Regions() {
			b := make([]byte, r.Stored)
			if _, err := v.Target().ReadMemory(b, r.Start); err != nil {
				continue
			}
			if i := bytes.Index(b, []byte("\x00"+name+"\x00")); i >= 0 {
				damage = append(damage, testdump.Damage{At: r.Start + target.Addr(i) + 1, Bytes: []byte("x")})
			}
		}
		require.Greater(t, len(damage), n, name)
	}
	for _, one := range []bool{false, true} {
		v, over := open(t)
		over.Set(damage...)
		if one {
			over.Set(damage[0])
		}
		out, err := tracing.EventSources(t.Context(), v.Process)
		require.NoError(t, err)
		if one {
			assert.Empty(t, out.Sources)
			assert.NotEmpty(t, out.Noted(), "another layout is no trimmed program")
			continue
		}
		assert.Empty(t, out.Noted())
		assert.Len(t, out.Sources, len(whole.Sources))
		for _, e := range out.Sources {
			assert.True(t, e.Trimmed && answer.Is(e.Enabled, false), e.Name.S)
			assert.Contains(t, e.Hidden(), "switched off")
		}
	}
}

// TestDamagedProviders checks that a damaged list of providers ends, without a number of sessions.
func TestDamagedProviders(t *testing.T) {
	v, over := open(t)
	out, err := tracing.EventSources(t.Context(), v.Process)
	require.NoError(t, err)
	for i := range out.Providers {
		over.Set(testdump.Damage{At: out.Providers[i].Address + 56, Bytes: []byte{1}})
		damaged, err := tracing.EventSources(t.Context(), v.Process)
		require.NoError(t, err)
		assert.ErrorIs(t, damaged.Sessions.Err(), target.ErrCorrupt)
		assert.NotEmpty(t, damaged.Noted())
		assert.Equal(t, len(out.Sources), len(damaged.Sources))
	}
}

// TestMissingParts repeats the query, each time without one of the pieces of memory that the answer was read from.
func TestMissingParts(t *testing.T) {
	testdump.Open(t, "net10-zoo").Sweep(t, 40, false, func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(tracing.EventSources(context.Background(), v.Process))
	})
}
