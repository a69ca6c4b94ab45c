package flows_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestNames names objects by the static fields that hold them, and by fields of other objects, after the other object's
// static field or type.
func TestNames(t *testing.T) {
	d, _ := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	of := map[target.Addr]string{}
	for o, err := range h.Objects() {
		require.NoError(t, err)
		name, err := rt.TypeName(o.Type.Addr, dac.NameNative)
		require.NoError(t, err)
		for _, want := range []string{"System.Net.Http.HttpConnectionPool", "System.Net.Http.HttpAuthority", "StackExchange.Redis.PhysicalConnection", "Grpc.Net.Client.Internal.GrpcMethodInfo", "Fakes.ShopContext"} {
			if name == want {
				of[o.Addr] = strings.TrimPrefix(name[strings.LastIndexByte(name, '.'):], ".")
			}
		}
	}
	ask := func(ctx context.Context, walk bool) (map[string][]string, error) {
		wanted := map[target.Addr]bool{0: true}
		for a := range of {
			wanted[a] = true
		}
		names, err := flows.Names(ctx, b, h, wanted, flows.NamesOptions{Walk: walk})
		out := map[string][]string{}
		for a, name := range names {
			out[of[a]] = append(out[of[a]], name.Text)
		}
		return out, err
	}
	got, err := ask(t.Context(), true)
	require.NoError(t, err)
	assert.Equal(t, []string{"StackExchange.Redis.PhysicalBridge.physical"}, got["PhysicalConnection"])
	assert.ElementsMatch(t, []string{"Fakes.Holder.Used", "Fakes.Holder.Unused", "Fakes.Holder.Gone"}, got["ShopContext"])
	assert.Contains(t, got["HttpConnectionPool"], "Fakes.Holder.Pool")
	assert.Contains(t, got["HttpAuthority"], "Fakes.Holder.Pool._originAuthority")
	assert.Len(t, got["GrpcMethodInfo"], 2)

	statics, err := ask(t.Context(), false)
	require.NoError(t, err)
	assert.Equal(t, []string{"Fakes.Holder.Pool"}, statics["HttpConnectionPool"])
	assert.Empty(t, statics["HttpAuthority"], "the heap is not walked")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ask(ctx, true)
	assert.ErrorIs(t, err, context.Canceled)
	none, err := flows.Names(t.Context(), b, h, nil, flows.NamesOptions{Walk: true})
	require.NoError(t, err)
	assert.Empty(t, none)
}
