package contexts_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/contexts"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// setup is a dump of the program Setup.cs beside it.
const setup = "../../../testdata/dumps/setup/net10-setup/net10-setup.dmp.zst"

func openSetup(t *testing.T) *sosgo.View {
	t.Helper()
	if _, err := os.Stat(setup); errors.Is(err, os.ErrNotExist) {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	d, _ := testdump.OverlaidFile(t, setup, sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	return v
}

// TestBlockers finds what keeps each unloading context alive, as the program arranged it. The context without a holder
// is gone.
func TestBlockers(t *testing.T) {
	out, err := contexts.LoadContexts(t.Context(), openSetup(t).Process)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	got := map[string]answer.AssemblyContext{}
	for _, c := range out.Contexts {
		got[c.Name.S] = c
	}
	require.Len(t, got, 7)
	assert.True(t, out.Contexts[0].Default)
	assert.Greater(t, len(out.Contexts[0].Assemblies), 5)
	assert.Equal(t, answer.Known(false), out.Contexts[0].Assemblies[0].Collectible)
	assert.Equal(t, answer.ContextAlive, got["alive"].State.S)
	assert.Empty(t, got["alive"].Blockers, "it was not asked to unload")
	assert.NotContains(t, got, "gone")
	for name, want := range map[string]struct {
		kind answer.BlockerKind
		text string
	}{
		"in a list":   {answer.BlockedByStatic, "static Setup.Registry.Plugins keeps Setup.Plugin"},
		"in a handle": {answer.BlockedByHandle, "strong handle"},
		"subscribed":  {answer.BlockedByStatic, "static Setup.Registry.Changed keeps System.EventHandler"},
		"runs":        {answer.BlockedByCode, "runs Setup.Plugin.Wait"},
		"its type":    {answer.BlockedByStatic, "static Setup.M.keep keeps System.RuntimeType"},
	} {
		c := got[name]
		assert.Equal(t, answer.ContextUnloading, c.State.S, name)
		assert.Equal(t, answer.Known(true), c.Collectible, name)
		assert.Equal(t, answer.Held, c.Verdict, name)
		require.Len(t, c.Assemblies, 1, name)
		assert.Equal(t, answer.Known(true), c.Assemblies[0].Collectible, name)
		found := false
		for _, b := range c.Blockers {
			found = found || b.Kind == want.kind && strings.Contains(b.Text, want.text)
			assert.Equal(t, answer.StrengthProved, b.Strength, name)
			if b.Path != nil {
				assert.Equal(t, c.Keeper, b.Path.Objects[len(b.Path.Objects)-1].Address, "%s: the path ends at the LoaderAllocator", name)
			}
		}
		assert.True(t, found, "%s: %+v", name, c.Blockers)
	}
	for _, b := range got["runs"].Blockers {
		if b.Kind == answer.BlockedByCode {
			assert.Equal(t, "plugin thread", b.Thread.Name)
		}
	}
}

// TestLoaders checks two contexts of the corpus's program. One is unloading while a static list keeps a Dog of it.
func TestLoaders(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-loaders-*"), func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		out, err := contexts.LoadContexts(t.Context(), v.Process)
		require.NoError(t, err)
		states := map[string]string{}
		checked := 0
		for _, c := range out.Contexts {
			states[c.Name.S] = c.State.S
			for _, b := range c.Blockers {
				if b.Kind == answer.BlockedByStatic {
					checked++
					assert.Contains(t, b.Text, "static Debuggee.Loaders.Scenario.s_keep keeps Debuggee.Zoo.Dog")
				}
			}
		}
		assert.Equal(t, "unloading", states["unloading"])
		assert.Equal(t, "alive", states["plugin 0"])
		assert.Equal(t, "alive", states["plugin 1"])
		return checked
	})
}

// TestTypedAbsences checks that dumps without a heap, and programs without assemblies, give typed errors and no wrong
// states.
func TestTypedAbsences(t *testing.T) {
	n := 0
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		out, err := contexts.LoadContexts(t.Context(), v.Process)
		if n++; err != nil {
			assert.True(t, testdump.Typed(err), "%v", err)
			return
		}
		for _, err := range out.Noted() {
			assert.True(t, testdump.Typed(err), "%v", err)
		}
		assert.True(t, out.Contexts[0].Default)
		for _, c := range out.Contexts {
			assert.NotEqual(t, answer.ContextUnloading, c.State.S, "none of these programs unloads one")
		}
	})
	assert.Greater(t, n, 5)
}

// TestMissingParts repeats the query, each time without one of the pieces of memory that the answer was read from.
func TestMissingParts(t *testing.T) {
	testdump.Open(t, "net10-zoo").Sweep(t, 40, false, func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(contexts.LoadContexts(t.Context(), v.Process))
	})
}

// TestCanceled checks that a canceled context ends the query with its error.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := contexts.LoadContexts(ctx, openSetup(t).Process)
	assert.ErrorIs(t, err, context.Canceled)
}

// Show what keeps unloading plugins alive.
func Example() {
	d, err := sosgo.Open(setup, sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	out, err := contexts.LoadContexts(context.Background(), view.Process)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range out.Contexts {
		if c.Name.S == "subscribed" {
			fmt.Println(c.State, c.Blockers[0].Kind)
		}
	}
	// Output: unloading static
}

// TestOldRuntimes: runtimes before .NET 8 do not record which context an assembly is in. Without another context, all are in the default one.
func TestOldRuntimes(t *testing.T) {
	for name, want := range map[string]int{"net31-zoo": 14, "win-net6-zoo": 11} {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			v, err := d.View("")
			require.NoError(t, err)
			out, err := contexts.LoadContexts(t.Context(), v.Process)
			require.NoError(t, err)
			assert.Empty(t, out.Noted())
			require.Len(t, out.Contexts, 1)
			c := &out.Contexts[0]
			assert.True(t, c.Default)
			rt, err := v.Runtime()
			require.NoError(t, err)
			modules, err := rt.KnownModules()
			require.NoError(t, err)
			assert.Equal(t, []int{want, want}, []int{len(modules), len(c.Assemblies)})
			testcase.Compared(t, 1)
		})
	}
}
