package hosting_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

func open(t testing.TB, d *sosgo.Dump) (*hosting.Reader, *heap.Heap) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	items, err := v.Collections()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	return hosting.New(b, items), h
}

// TestScopes finds a scope of the provider and one for each of the web program's seven pending requests.
func TestScopes(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		r, h := open(t, d.Dump)
		out, err := r.Scopes(context.Background(), h, heap.ScanOptions{})
		require.NoError(t, err)
		assert.Empty(t, out.Noted())
		roots := 0
		for _, s := range out.Scopes {
			require.NoError(t, s.Root.Err())
			require.NoError(t, s.Disposables.Err())
			if s.Root.Value {
				roots++
				names := map[string]int64{}
				for _, c := range s.Types {
					names[c.Type.S] = c.Count
				}
				assert.EqualValues(t, 1, names["Microsoft.AspNetCore.Server.Kestrel.Core.KestrelServerImpl"])
				assert.EqualValues(t, 1, names["System.Diagnostics.DiagnosticListener"], "it is registered under two names")
			}
		}
		assert.Equal(t, 1, roots)
		assert.Len(t, out.Scopes, 8)
		return len(out.Scopes)
	})
}

// TestCaches finds the program's two cache entries: one for six hours and one without expiry.
func TestCaches(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		r, h := open(t, d.Dump)
		out, err := r.Caches(context.Background(), h, heap.ScanOptions{})
		require.NoError(t, err)
		assert.Empty(t, out.Noted())
		require.Len(t, out.Caches, 1)
		c := out.Caches[0]
		assert.Equal(t, answer.Known[int64](2), c.Count)
		assert.Equal(t, answer.Known[*int64](nil), c.Limit, "none was set")
		byKey := map[string]answer.CacheEntry{}
		for _, e := range c.Entries {
			byKey[e.Key] = e
		}
		first, second := byKey[`"cached key"`], byKey["(System.Int32) 17"]
		require.NotNil(t, first.Expires)
		assert.Equal(t, 6*time.Hour, first.Expires.Sub(first.Accessed.Value).Round(time.Minute))
		assert.Equal(t, "System.String", first.Type.S)
		assert.Nil(t, second.Expires)
		assert.Equal(t, "WebDebuggee.Customer", second.Type.S)
		for _, e := range c.Entries {
			assert.Equal(t, answer.Known[*int64](nil), e.Size, "none was given")
			assert.Equal(t, answer.Known(false), e.Expired)
			assert.Empty(t, e.Sliding)
			assert.Positive(t, e.Bytes.Value)
		}
		return len(c.Entries)
	})
}

// TestCachesOfNet6 reads entries of .NET 6, which keep their flags in one byte and an optional expiry with an offset to
// UTC.
func TestCachesOfNet6(t *testing.T) {
	d, _ := testdump.Libraries(t)
	r, h := open(t, d)
	out, err := r.Caches(t.Context(), h, heap.ScanOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Caches, 1)
	c := out.Caches[0]
	assert.Equal(t, answer.Known[int64](5), c.Size)
	require.NotNil(t, c.Limit.Value)
	assert.EqualValues(t, 100, *c.Limit.Value)
	require.Len(t, c.Entries, 2)
	day, used := c.Entries[0], c.Entries[1]
	assert.Equal(t, `"day"`, day.Key)
	assert.Equal(t, answer.Known(true), day.Expired)
	require.NotNil(t, day.Expires)
	assert.Equal(t, time.Date(2026, 1, 3, 3, 0, 0, 0, time.UTC), *day.Expires, "it was given in another zone")
	assert.Equal(t, time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), day.Accessed.Value)
	assert.Equal(t, answer.Known(false), used.Expired, "it is disposed, which is another flag")
	assert.Nil(t, used.Expires)
	assert.Equal(t, "01:00:00", used.Sliding)
}

// TestMissingParts repeats each query, each time without one of the pieces of memory that its answer was read from.
func TestMissingParts(t *testing.T) {
	scopes := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(hosting.ServiceScopes(t.Context(), v.Process))
	}
	caches := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(hosting.Caches(t.Context(), v.Process))
	}
	contexts := func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(hosting.DbContexts(t.Context(), v.Process))
	}
	d := testdump.OpenWeb(t, "web-net10")
	t.Run("scopes", func(t *testing.T) { d.Sweep(t, 200, false, scopes) })
	t.Run("caches", func(t *testing.T) { d.Sweep(t, 200, false, caches) })
	t.Run("types of caches", func(t *testing.T) { testdump.SweepLibraries(t, 60, true, caches) })
	t.Run("caches of .NET 6", func(t *testing.T) { testdump.SweepLibraries(t, 1e6, false, caches) })
	t.Run("contexts", func(t *testing.T) { testdump.SweepLibraries(t, 1e6, false, contexts) })
	t.Run("types of contexts", func(t *testing.T) { testdump.SweepLibraries(t, 60, true, contexts) })
}

// TestCanceled checks that a canceled context ends each query with its error.
func TestCanceled(t *testing.T) {
	v, err := testdump.OpenWeb(t, "web-net10").View("")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func() error{
		"scopes":   func() error { _, err := hosting.ServiceScopes(ctx, v.Process); return err },
		"caches":   func() error { _, err := hosting.Caches(ctx, v.Process); return err },
		"contexts": func() error { _, err := hosting.DbContexts(ctx, v.Process); return err },
	} {
		assert.ErrorIs(t, ask(), context.Canceled, name)
	}
}
