package objects_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/test/plants"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
)

// openKinds opens the dump with secrets in all kinds of places.
func openKinds(t *testing.T) *sosgo.View {
	t.Helper()
	d, _ := testdump.OverlaidFile(t, plants.Read(t, "..", "net10-kinds").Dump, sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	return v
}

// pairArrays yields the arrays of pairs of the dump.
func pairArrays(t *testing.T, v *sosgo.View) (list []objects.Array) {
	t.Helper()
	h, err := v.Heap()
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	for o, err := range h.Objects() {
		if err != nil || !o.Type.IsArray() || o.Length == 0 {
			continue
		}
		object, err := r.Of(o)
		require.NoError(t, err)
		a, err := object.Array()
		require.NoError(t, err)
		if e := a.Element(); e != nil && e.MT.IsValueType() && len(e.Pairs()) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// TestPairs shows what stands beside a key for a secret as hidden, with the key, and allocates nothing to look at other keys.
func TestPairs(t *testing.T) {
	v := openKinds(t)
	shown, others := map[string]string{}, 0
	ctx := secrets.WithMask(t.Context(), secrets.NewMasker().Text)
	for _, a := range pairArrays(t, v) {
		pairs := a.Element().Pairs()
		for i := range a.Len {
			e := a.At(i)
			if pairs[0].Name(e.Location()) == "" && !pairs[0].Key.At(e.Location()).IsNull() {
				others++
				assert.Zero(t, testing.AllocsPerRun(10, func() { pairs[0].Name(e.Location()) }))
			}
		}
		described, err := v.Array(ctx, a.Addr, objects.ArrayOptions{})
		require.NoError(t, err)
		for e, err := range described.Elements {
			require.NoError(t, err)
			for _, key := range []string{"Db:Pwd", "AppSecret", "SecretKey", "Smtp:Passwd", "Smtp:Host"} {
				if text := e.Stored.Plain(); strings.Contains(text, `"`+key+`"`) {
					shown[key] = text
				}
			}
		}
	}
	assert.Greater(t, others, 3)
	assert.Equal(t, map[string]string{"Db:Pwd": `{key="Db:Pwd", value=<hidden>}`, "AppSecret": `{Item1="AppSecret", Item2=<hidden>}`, "SecretKey": `{key="SecretKey", value=<hidden>}`},
		map[string]string{"Db:Pwd": shown["Db:Pwd"], "AppSecret": shown["AppSecret"], "SecretKey": shown["SecretKey"]})
	assert.Contains(t, shown["Smtp:Passwd"], "value=<hidden>")
	assert.Contains(t, shown["Smtp:Host"], `"host-of-smtp"`)
}
