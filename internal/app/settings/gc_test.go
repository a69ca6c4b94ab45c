package settings_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/settings"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// setup is the folder of a dump of Setup.cs. Its facts.txt is the program's output.
const setup = "../../../testdata/dumps/setup/net10-setup"

func openSetup(t *testing.T) (*sosgo.View, map[string]string) {
	t.Helper()
	text, err := os.ReadFile(setup + "/facts.txt")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	require.NoError(t, err)
	facts := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		facts[name] = value
	}
	d, _ := testdump.OverlaidFile(t, setup+"/net10-setup.dmp.zst", sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	return v, facts
}

// TestGC compares the GC's figures with the program's output.
func TestGC(t *testing.T) {
	v, facts := openSetup(t)
	out, err := memory.GC(t.Context(), v.Process)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	assert.Equal(t, answer.Known(false), out.Server)
	assert.Equal(t, answer.Known(false), out.State.InCollection)
	assert.Equal(t, "none", out.State.Background.S)
	assert.Nil(t, out.State.Suspender)
	assert.True(t, strings.HasSuffix(out.Library.S, "/libcoreclr.so"))
	assert.Equal(t, facts["collections 0"], strconv.FormatUint(out.AtLeast.Value, 10), "each collection of generation 0 or an older one counts as one of 0")
	byName := map[string]uint64{}
	for _, c := range append(out.Mechanisms, out.Compactions...) {
		byName[c.Name] = c.Count
	}
	assert.EqualValues(t, 4, byName["induced compacting"], "the program asked for four")
	assert.Zero(t, byName["concurrent"])

	require.Len(t, out.Recorded, 1)
	c := out.Recorded[0]
	for name, got := range map[string]answer.Maybe[int64]{"Index": c.Index, "Generation": c.Generation, "HeapSizeBytes": c.HeapSize, "FragmentedBytes": c.Fragmented,
		"TotalCommittedBytes": c.Committed, "PromotedBytes": c.Promoted, "PinnedObjectsCount": c.Pinned, "FinalizationPendingCount": c.Finalizing,
		"MemoryLoadBytes": c.MemoryLoad, "HighMemoryLoadThresholdBytes": c.HighMemoryLoad, "TotalAvailableMemoryBytes": c.AvailableMemory} {
		require.NoError(t, got.Err(), name)
		assert.Equal(t, facts["info."+name], strconv.FormatInt(got.Value, 10), name)
	}
	assert.Equal(t, facts["info.Compacted"] == "True", c.Compacted.Value)
	assert.Equal(t, facts["info.Concurrent"] == "True", c.Concurrent.Value)
	assert.Equal(t, facts["info.PauseTimePercentage"], strconv.FormatFloat(float64(c.PauseShare.Value)/100, 'f', -1, 64))
	all, err := time.ParseDuration(strings.Replace(strings.Replace(facts["pause"], ":", "h", 1), ":", "m", 1) + "s")
	require.NoError(t, err)
	assert.Greater(t, float64(c.Pause.Value), 0.0)
	assert.Less(t, float64(c.Pause.Value), all.Seconds(), "the other collections had pauses, too")

	threads := 0
	for _, r := range out.Threads {
		if want := facts["allocated "+r.Name]; want != "" {
			threads++
			require.NoError(t, r.Allocated.Err())
			assert.Equal(t, want, strconv.FormatUint(r.Allocated.Value, 10), r.Name)
		}
	}
	assert.Equal(t, 3, threads)
	assert.EqualValues(t, 8, out.Pinned.Value, "the runtime has one, and the program seven")
	assert.Equal(t, []answer.GCSetting{
		{Name: "ConserveMemory", Value: "3", Source: answer.GCSettingEnvironment, Key: "DOTNET_GCConserveMemory"},
		{Name: "HeapHardLimit", Value: "0x10000000", Source: answer.GCSettingEnvironment, Key: "DOTNET_GCHeapHardLimit"},
	}, out.Settings)
	for _, g := range out.Generations {
		assert.NoError(t, g.Err)
	}
	assert.Len(t, out.Generations, 6)
	for _, f := range out.Absent {
		assert.ErrorIs(t, f.Err, target.ErrUnsupported, f.What)
	}
	assert.NotEmpty(t, out.Absent, "no layout has the budgets")
}

// TestGCSettings merges the sources of a setting: DOTNET_ overrides COMPlus_, and COMPlus_ overrides
// runtimeconfig.json.
func TestGCSettings(t *testing.T) {
	got := settings.GCSettings([]string{"PATH=/bin", "COMPlus_gcServer=1", "DOTNET_gcServer=0", "DOTNET_GCHighMemPercent=5A", "DOTNET_gcConcurrent", "=C:=C:\\", "", "DOTNET_gc=1", "DOTNET_TieredPGO=0"},
		[]answer.NamedValue{{Name: "System.GC.Server", Value: answer.Text{S: "true"}}, {Name: "System.GC.HighMemoryPercent", Value: answer.Text{S: "80"}}, {Name: "System.GC.RetainVM", Value: answer.Text{S: "true"}},
			{Name: "System.GC.", Value: answer.Text{S: "x"}}, {Name: "APP_PATHS"}})
	env, config := answer.GCSettingEnvironment, answer.GCSettingRuntimeConfig
	assert.Equal(t, []answer.GCSetting{
		{Name: "HighMemoryPercent", Value: "5A", Source: env, Key: "DOTNET_GCHighMemPercent"},
		{Name: "HighMemoryPercent", Value: "80", Source: config, Key: "System.GC.HighMemoryPercent", Unused: true},
		{Name: "RetainVM", Value: "true", Source: config, Key: "System.GC.RetainVM"},
		{Name: "Server", Value: "1", Source: env, Key: "COMPlus_gcServer", Unused: true},
		{Name: "Server", Value: "0", Source: env, Key: "DOTNET_gcServer"},
		{Name: "Server", Value: "true", Source: config, Key: "System.GC.Server", Unused: true},
	}, got)
}

// TestGCOfCorpus compares the kinds of GCs with the manifests, and checks that missing parts are typed.
func TestGCOfCorpus(t *testing.T) {
	testdump.Corpus(t, nil, func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		out, err := memory.GC(t.Context(), v.Process)
		if err != nil {
			assert.True(t, testdump.Typed(err), "%v", err)
			return 1
		}
		for _, f := range out.Absent {
			assert.True(t, testdump.Typed(f.Err), "%s: %v", f.What, f.Err)
		}
		for _, r := range out.Threads {
			if r.Allocated.Err() != nil {
				assert.True(t, testdump.Typed(r.Allocated.Err()))
			} else {
				assert.Less(t, r.Allocated.Value, uint64(1)<<33, "the programs are small")
			}
		}
		if d.Manifest.Environment["DOTNET_gcServer"] == "1" {
			assert.True(t, out.Server.Value)
		}
		return len(out.Threads)
	})
}

// TestGCMissingParts repeats the query, each time without one of the pieces of memory that the answer was read from.
func TestGCMissingParts(t *testing.T) {
	d := testdump.OpenWeb(t, "web-net10")
	d.Sweep(t, 100, false, func(v *sosgo.View) (any, []error, error) { return testdump.Asked(memory.GC(t.Context(), v.Process)) })
}
