package disguise_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/disguise"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// different are answers that differ over a disguised dump, and why.
var different = map[string]string{
	"DescribeRuntimes": "the build id is another one",
	"Images":           "the build id is another one",
	"HandlesHold":      "a thread of 11 has one handle, and an exception that is handled has none",
}

// TestAnswers compares the answers over disguised dumps with those over the dumps.
func TestAnswers(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net10-zoo-servergc", "net10-zoo-noregions", "net10-async", "net10-crash-nested", "win-net10-zoo"} {
		t.Run(name, func(t *testing.T) {
			c := testdump.Open(t, name)
			v := disguise.Open(t, c.Path, c.Options())
			compare(t, c.Dump, v)
		})
	}
}

func compare(t *testing.T, plain, disguised *sosgo.Dump) {
	a, err := plain.View("")
	require.NoError(t, err)
	b, err := disguised.View("")
	require.NoError(t, err)
	ha, err := a.Heap()
	require.NoError(t, err)
	hb, err := b.Heap()
	require.NoError(t, err)
	sa, err := ha.Stats(t.Context(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	sb, err := hb.Stats(t.Context(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	assert.Equal(t, sa.Count, sb.Count)
	assert.Equal(t, ha.Warnings(), hb.Warnings())
	ctx := reflect.ValueOf(t.Context())
	for m := range reflect.TypeFor[*sosgo.View]().Methods() {
		variadic := m.Type.NumIn() == 3 && m.Type.IsVariadic()
		if m.Type.NumIn() != 2 && !variadic || m.Type.NumOut() != 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() || different[m.Name] != "" {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			want, got := answer(t, a, m, ctx), answer(t, b, m, ctx)
			if want != got {
				w, g := bytes.Split([]byte(want), []byte("\n")), bytes.Split([]byte(got), []byte("\n"))
				for i := range w {
					if i >= len(g) || !bytes.Equal(w[i], g[i]) {
						end := min(i+6, len(w), len(g))
						t.Errorf("line %d of %d, %d:\n%s\n---\n%s", i, len(w), len(g), bytes.Join(w[max(0, i-3):end], []byte("\n")), bytes.Join(g[max(0, i-3):end], []byte("\n")))
						break
					}
				}
			}
		})
	}
}

func answer(t *testing.T, v *sosgo.View, m reflect.Method, ctx reflect.Value) string {
	out := m.Func.Call([]reflect.Value{reflect.ValueOf(v), ctx})
	if err, _ := out[1].Interface().(error); err != nil {
		return err.Error()
	}
	v0 := out[0].Interface()
	if out[0].Kind() == reflect.Func { // an iterator over values and errors
		var all []any
		for x, err := range out[0].Seq2() {
			all = append(all, x.Interface())
			if !err.IsNil() {
				all = append(all, err.Interface().(error).Error())
			}
		}
		v0 = all
	}
	text, err := json.MarshalIndent(v0, "", " ")
	require.NoError(t, err)
	return string(text)
}

// TestContendedMonitor checks that a monitor whose state is in a System.Threading.Lock is noted as unread, and is no free monitor.
func TestContendedMonitor(t *testing.T) {
	c := testdump.Open(t, "net10-stacks")
	v, err := disguise.Open(t, c.Path, c.Options()).View("")
	require.NoError(t, err)
	a, err := v.Locks(t.Context())
	require.NoError(t, err)
	var noted bool
	for _, gap := range a.Noted() {
		noted = noted || strings.Contains(gap.Error(), "System.Threading.Lock")
	}
	assert.True(t, noted, "%v", a.Noted())
}
